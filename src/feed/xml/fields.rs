//! Which element says what: the tables of all formats, and the choice where several say the same.

use chrono::{DateTime, Utc};

use super::names::Ns;
use super::tree::Element;
use crate::feed::dates::date::parse_date;
use crate::feed::flaws::Flaws;

/// What can be said of a feed or an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::feed) enum Field {
    Id,
    Title,
    /// Of a feed: its subtitle.
    Summary,
    Content,
    Published,
    Updated,
    Language,
    Rights,
    Generator,
    Author,
    Category,
    Attachment,
    Duration,
}

/// Number of fields.
const FIELDS: usize = 13;

/// An element, the field it fills, and its rank among those that fill it: the lowest one that says
/// anything counts.
pub(in crate::feed) type Row = (Ns, &'static str, Field, u8);

/// Elements of the head section.
pub(in crate::feed) const HEAD: &[Row] = &[
    (Ns::Atom, "id", Field::Id, 0),
    (Ns::Rss, "title", Field::Title, 0),
    (Ns::Atom, "title", Field::Title, 1),
    (Ns::Dc, "title", Field::Title, 2),
    (Ns::Itunes, "title", Field::Title, 3),
    (Ns::Rss, "description", Field::Summary, 0),
    (Ns::Atom, "subtitle", Field::Summary, 1),
    (Ns::Atom, "tagline", Field::Summary, 2),
    (Ns::Dc, "description", Field::Summary, 3),
    (Ns::Rss, "abstract", Field::Summary, 3),
    (Ns::Itunes, "summary", Field::Summary, 4),
    (Ns::Itunes, "subtitle", Field::Summary, 5),
    (Ns::Rss, "pubdate", Field::Published, 0),
    (Ns::Atom, "published", Field::Published, 1),
    (Ns::DcTerms, "issued", Field::Published, 2),
    (Ns::DcTerms, "created", Field::Published, 3),
    (Ns::Atom, "updated", Field::Updated, 0),
    (Ns::Rss, "lastbuilddate", Field::Updated, 1),
    (Ns::Atom, "modified", Field::Updated, 2),
    (Ns::DcTerms, "modified", Field::Updated, 3),
    (Ns::Rss, "updated", Field::Updated, 4),
    (Ns::Dc, "date", Field::Updated, 5),
    (Ns::Rss, "language", Field::Language, 0),
    (Ns::Dc, "language", Field::Language, 1),
    (Ns::Rss, "copyright", Field::Rights, 0),
    (Ns::Atom, "rights", Field::Rights, 0),
    (Ns::Atom, "copyright", Field::Rights, 1),
    (Ns::Dc, "rights", Field::Rights, 2),
    (Ns::Rss, "generator", Field::Generator, 0),
    (Ns::Atom, "generator", Field::Generator, 0),
    (Ns::Rss, "managingeditor", Field::Author, 0),
    (Ns::Rss, "author", Field::Author, 0),
    (Ns::Atom, "author", Field::Author, 0),
    (Ns::Dc, "creator", Field::Author, 1),
    (Ns::Itunes, "author", Field::Author, 2),
];

/// Elements of an entry.
pub(in crate::feed) const ENTRY: &[Row] = &[
    (Ns::Rss, "guid", Field::Id, 0),
    (Ns::Atom, "id", Field::Id, 1),
    (Ns::Rss, "id", Field::Id, 2),
    (Ns::Rss, "title", Field::Title, 0),
    (Ns::Atom, "title", Field::Title, 1),
    (Ns::Dc, "title", Field::Title, 2),
    (Ns::Media, "title", Field::Title, 3),
    (Ns::Itunes, "title", Field::Title, 4),
    (Ns::Rss, "description", Field::Summary, 0),
    (Ns::Atom, "summary", Field::Summary, 1),
    (Ns::Dc, "description", Field::Summary, 2),
    (Ns::DcTerms, "abstract", Field::Summary, 3),
    (Ns::Rss, "abstract", Field::Summary, 3),
    (Ns::Rss, "summary", Field::Summary, 4),
    (Ns::Itunes, "summary", Field::Summary, 5),
    (Ns::Itunes, "subtitle", Field::Summary, 6),
    (Ns::Media, "description", Field::Summary, 7),
    (Ns::Content, "encoded", Field::Content, 0),
    (Ns::Atom, "content", Field::Content, 1),
    (Ns::Xhtml, "body", Field::Content, 2),
    (Ns::Xhtml, "div", Field::Content, 3),
    (Ns::Rss, "fullitem", Field::Content, 4),
    (Ns::Rss, "content", Field::Content, 5),
    (Ns::Rss, "body", Field::Content, 6),
    (Ns::Rss, "pubdate", Field::Published, 0),
    (Ns::Atom, "published", Field::Published, 1),
    (Ns::Atom, "issued", Field::Published, 2),
    (Ns::DcTerms, "issued", Field::Published, 3),
    (Ns::Dc, "date", Field::Published, 4),
    (Ns::DcTerms, "created", Field::Published, 5),
    (Ns::Atom, "created", Field::Published, 6),
    (Ns::Atom, "pubdate", Field::Published, 7),
    (Ns::Rss, "published", Field::Published, 8),
    (Ns::Rss, "date", Field::Published, 9),
    (Ns::Atom, "updated", Field::Updated, 0),
    (Ns::Atom, "modified", Field::Updated, 1),
    (Ns::DcTerms, "modified", Field::Updated, 2),
    (Ns::Rss, "updated", Field::Updated, 3),
    (Ns::Rss, "modified", Field::Updated, 4),
    (Ns::Rss, "lastbuilddate", Field::Updated, 5),
    (Ns::Rss, "author", Field::Author, 0),
    (Ns::Atom, "author", Field::Author, 0),
    (Ns::Dc, "creator", Field::Author, 1),
    (Ns::Itunes, "author", Field::Author, 2),
    (Ns::Rss, "category", Field::Category, 0),
    (Ns::Atom, "category", Field::Category, 0),
    (Ns::Dc, "subject", Field::Category, 0),
    (Ns::Media, "category", Field::Category, 0),
    (Ns::Rss, "enclosure", Field::Attachment, 0),
    (Ns::Media, "content", Field::Attachment, 0),
    (Ns::Media, "group", Field::Attachment, 0),
    (Ns::Itunes, "duration", Field::Duration, 0),
];

/// How many elements of one list-like field are kept.
const LIST_MAX: usize = 100;

/// An element chosen for a field, with its rank and, where the field is a date, the date it states.
#[derive(Debug, Clone, Copy)]
struct Choice<'t, 'a> {
    element: Element<'t, 'a>,
    rank: u8,
    date: Option<DateTime<Utc>>,
}

/// The elements chosen for the fields.
#[derive(Debug, Default)]
pub(in crate::feed) struct Chosen<'t, 'a> {
    single: [Option<Choice<'t, 'a>>; FIELDS],
    lists: Vec<(Field, Element<'t, 'a>)>,
}

impl<'t, 'a> Chosen<'t, 'a> {
    /// Adds the elements directly inside `parent`. Of two of one rank the first counts.
    pub(in crate::feed) fn add(
        &mut self,
        parent: Element<'t, 'a>,
        table: &[Row],
        flaws: &mut Flaws,
    ) {
        for element in parent.children() {
            let row = table.iter().find(|(ns, local, _, _)| element.is(*ns, local));
            let Some((_, _, field, rank)) = row else { continue };
            if element.is(Ns::Media, "group") {
                self.add_group(element, table, flaws);
            }
            if is_list(*field) {
                if self.lists.len() < LIST_MAX {
                    self.lists.push((*field, element));
                }
                continue;
            }
            self.offer(*field, *rank, element, flaws);
        }
    }

    /// The texts that stand once for a group of files.
    fn add_group(&mut self, group: Element<'t, 'a>, table: &[Row], flaws: &mut Flaws) {
        for element in group.children() {
            let row = table
                .iter()
                .find(|(ns, local, field, _)| element.is(*ns, local) && !is_list(*field));
            if let Some((_, _, field, rank)) = row {
                self.offer(*field, *rank, element, flaws);
            }
        }
    }

    fn offer(&mut self, field: Field, rank: u8, element: Element<'t, 'a>, flaws: &mut Flaws) {
        let Some(slot) = self.single.get_mut(field as usize) else { return };
        if slot.is_some_and(|best| best.rank <= rank) {
            return;
        }
        let date = is_date(field).then(|| read_date(element, flaws)).flatten();
        let says_something = if is_date(field) { date.is_some() } else { !element.is_blank() };
        if says_something {
            *slot = Some(Choice { element, rank, date });
        }
    }

    fn choice(&self, field: Field) -> Option<Choice<'t, 'a>> {
        self.single.get(field as usize).copied().flatten()
    }

    /// The element chosen for a field.
    pub(in crate::feed) fn get(&self, field: Field) -> Option<Element<'t, 'a>> {
        Some(self.choice(field)?.element)
    }

    /// The date chosen for a field.
    pub(in crate::feed) fn date(&self, field: Field) -> Option<DateTime<Utc>> {
        self.choice(field)?.date
    }

    /// All elements of a field that may be there many times.
    pub(in crate::feed) fn all(&self, field: Field) -> impl Iterator<Item = Element<'t, 'a>> + '_ {
        self.lists.iter().filter(move |(at, _)| *at == field).map(|(_, element)| *element)
    }
}

const fn is_list(field: Field) -> bool {
    matches!(field, Field::Author | Field::Category | Field::Attachment)
}

const fn is_date(field: Field) -> bool {
    matches!(field, Field::Published | Field::Updated)
}

fn read_date(element: Element<'_, '_>, flaws: &mut Flaws) -> Option<DateTime<Utc>> {
    let text = element.text();
    let date = parse_date(&text);
    if date.is_none() && !text.trim().is_empty() {
        flaws.add(element.raw(), &text, "not a date");
    }
    date
}
