//! Tables that map the elements of all feed formats to fields, and the choice among several elements that fill the same field.

use chrono::{DateTime, Utc};

use super::names::Ns;
use super::tree::XmlElement;
use crate::feed::dates::date::{DateOrder, order_of, parse_date, read_date};
use crate::feed::flaws::{AMBIGUOUS_DATE, Flaws, NOT_A_DATE};

/// A field of a feed or an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::feed) enum FeedField {
    Id,
    Title,
    /// Summary of an entry, or subtitle of a feed.
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

const FIELDS: usize = 13;

/// Namespace and name of an element, the field that the element fills, and its rank. Of the non-blank elements for a field, the one
/// with the lowest rank is used.
pub(in crate::feed) type FieldRow = (Ns, &'static str, FeedField, u8);

/// Elements that fill the fields of a feed's head section.
pub(in crate::feed) const HEAD: &[FieldRow] = &[
    (Ns::Atom, "id", FeedField::Id, 0),
    (Ns::Rss, "title", FeedField::Title, 0),
    (Ns::Atom, "title", FeedField::Title, 1),
    (Ns::Dc, "title", FeedField::Title, 2),
    (Ns::Itunes, "title", FeedField::Title, 3),
    (Ns::Rss, "description", FeedField::Summary, 0),
    (Ns::Atom, "subtitle", FeedField::Summary, 1),
    (Ns::Atom, "tagline", FeedField::Summary, 2),
    (Ns::Dc, "description", FeedField::Summary, 3),
    (Ns::Rss, "abstract", FeedField::Summary, 3),
    (Ns::Itunes, "summary", FeedField::Summary, 4),
    (Ns::Itunes, "subtitle", FeedField::Summary, 5),
    (Ns::Rss, "pubdate", FeedField::Published, 0),
    (Ns::Atom, "published", FeedField::Published, 1),
    (Ns::DcTerms, "issued", FeedField::Published, 2),
    (Ns::DcTerms, "created", FeedField::Published, 3),
    (Ns::Atom, "updated", FeedField::Updated, 0),
    (Ns::Rss, "lastbuilddate", FeedField::Updated, 1),
    (Ns::Atom, "modified", FeedField::Updated, 2),
    (Ns::DcTerms, "modified", FeedField::Updated, 3),
    (Ns::Rss, "updated", FeedField::Updated, 4),
    (Ns::Dc, "date", FeedField::Updated, 5),
    (Ns::Rss, "language", FeedField::Language, 0),
    (Ns::Dc, "language", FeedField::Language, 1),
    (Ns::Rss, "copyright", FeedField::Rights, 0),
    (Ns::Atom, "rights", FeedField::Rights, 0),
    (Ns::Atom, "copyright", FeedField::Rights, 1),
    (Ns::Dc, "rights", FeedField::Rights, 2),
    (Ns::Rss, "generator", FeedField::Generator, 0),
    (Ns::Atom, "generator", FeedField::Generator, 0),
    (Ns::Rss, "managingeditor", FeedField::Author, 0),
    (Ns::Rss, "author", FeedField::Author, 0),
    (Ns::Atom, "author", FeedField::Author, 0),
    (Ns::Dc, "creator", FeedField::Author, 1),
    (Ns::Itunes, "author", FeedField::Author, 2),
];

/// Elements that fill the fields of an entry.
pub(in crate::feed) const ENTRY: &[FieldRow] = &[
    (Ns::Rss, "guid", FeedField::Id, 0),
    (Ns::Atom, "id", FeedField::Id, 1),
    (Ns::Rss, "id", FeedField::Id, 2),
    (Ns::Rss, "title", FeedField::Title, 0),
    (Ns::Atom, "title", FeedField::Title, 1),
    (Ns::Dc, "title", FeedField::Title, 2),
    (Ns::Media, "title", FeedField::Title, 3),
    (Ns::Itunes, "title", FeedField::Title, 4),
    (Ns::Rss, "description", FeedField::Summary, 0),
    (Ns::Atom, "summary", FeedField::Summary, 1),
    (Ns::Dc, "description", FeedField::Summary, 2),
    (Ns::DcTerms, "abstract", FeedField::Summary, 3),
    (Ns::Rss, "abstract", FeedField::Summary, 3),
    (Ns::Rss, "summary", FeedField::Summary, 4),
    (Ns::Itunes, "summary", FeedField::Summary, 5),
    (Ns::Itunes, "subtitle", FeedField::Summary, 6),
    (Ns::Media, "description", FeedField::Summary, 7),
    (Ns::Content, "encoded", FeedField::Content, 0),
    (Ns::Atom, "content", FeedField::Content, 1),
    (Ns::Xhtml, "body", FeedField::Content, 2),
    (Ns::Xhtml, "div", FeedField::Content, 3),
    (Ns::Rss, "fullitem", FeedField::Content, 4),
    (Ns::Rss, "content", FeedField::Content, 5),
    (Ns::Rss, "body", FeedField::Content, 6),
    (Ns::Rss, "payload", FeedField::Content, 7),
    (Ns::Rss, "pubdate", FeedField::Published, 0),
    (Ns::Atom, "published", FeedField::Published, 1),
    (Ns::Atom, "issued", FeedField::Published, 2),
    (Ns::DcTerms, "issued", FeedField::Published, 3),
    (Ns::Dc, "date", FeedField::Published, 4),
    (Ns::DcTerms, "created", FeedField::Published, 5),
    (Ns::Atom, "created", FeedField::Published, 6),
    (Ns::Atom, "pubdate", FeedField::Published, 7),
    (Ns::Rss, "published", FeedField::Published, 8),
    (Ns::Rss, "date", FeedField::Published, 9),
    (Ns::Atom, "updated", FeedField::Updated, 0),
    (Ns::Atom, "modified", FeedField::Updated, 1),
    (Ns::DcTerms, "modified", FeedField::Updated, 2),
    (Ns::Rss, "updated", FeedField::Updated, 3),
    (Ns::Rss, "modified", FeedField::Updated, 4),
    (Ns::Rss, "lastbuilddate", FeedField::Updated, 5),
    (Ns::Rss, "author", FeedField::Author, 0),
    (Ns::Atom, "author", FeedField::Author, 0),
    (Ns::Dc, "creator", FeedField::Author, 1),
    (Ns::Itunes, "author", FeedField::Author, 2),
    (Ns::Rss, "category", FeedField::Category, 0),
    (Ns::Atom, "category", FeedField::Category, 0),
    (Ns::Dc, "subject", FeedField::Category, 0),
    (Ns::Media, "category", FeedField::Category, 0),
    (Ns::Rss, "enclosure", FeedField::Attachment, 0),
    (Ns::Media, "content", FeedField::Attachment, 0),
    (Ns::Media, "group", FeedField::Attachment, 0),
    (Ns::Podcast, "alternateenclosure", FeedField::Attachment, 0),
    (Ns::Podcast, "transcript", FeedField::Attachment, 0),
    (Ns::Podcast, "chapters", FeedField::Attachment, 0),
    (Ns::Itunes, "duration", FeedField::Duration, 0),
    (Ns::Other, "full-text", FeedField::Content, 8),
    (Ns::Prism, "publicationdate", FeedField::Published, 10),
    (Ns::Prism, "coverdate", FeedField::Published, 11),
];

/// Maximum number of elements kept for fields with several values, such as authors.
const LIST_MAX: usize = 100;

/// The element chosen for a field, with its rank and, for a date field, its date.
#[derive(Debug, Clone, Copy)]
struct FieldChoice<'t, 'a> {
    element: XmlElement<'t, 'a>,
    rank: u8,
    date: Option<DateTime<Utc>>,
}

/// The elements chosen for the fields of a head section or entry.
#[derive(Debug, Default)]
pub(in crate::feed) struct ChosenElements<'t, 'a> {
    /// Whether numeric dates in this document start with the day or with the month.
    order: Option<DateOrder>,
    single: [Option<FieldChoice<'t, 'a>>; FIELDS],
    lists: Vec<(FeedField, XmlElement<'t, 'a>)>,
}

impl<'t, 'a> ChosenElements<'t, 'a> {
    /// Creates an object without elements. `order` states whether numeric dates in the document start with the day or with the
    /// month.
    pub(in crate::feed) fn with_order(order: Option<DateOrder>) -> Self {
        Self { order, ..Self::default() }
    }

    /// Considers the children of `parent` for the fields in `table`. Of two elements with the same rank, the first is used.
    pub(in crate::feed) fn add(
        &mut self,
        parent: XmlElement<'t, 'a>,
        table: &[FieldRow],
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

    /// Considers the texts in a `media:group`, which apply to all files of the group.
    fn add_group(&mut self, group: XmlElement<'t, 'a>, table: &[FieldRow], flaws: &mut Flaws) {
        for element in group.children() {
            let row = table
                .iter()
                .find(|(ns, local, field, _)| element.is(*ns, local) && !is_list(*field));
            if let Some((_, _, field, rank)) = row {
                self.offer(*field, *rank, element, flaws);
            }
        }
    }

    fn offer(
        &mut self,
        field: FeedField,
        rank: u8,
        element: XmlElement<'t, 'a>,
        flaws: &mut Flaws,
    ) {
        let Some(slot) = self.single.get_mut(field as usize) else { return };
        if slot.is_some_and(|best| best.rank <= rank) {
            return;
        }
        let date = is_date(field).then(|| read_stated_date(element, self.order, flaws)).flatten();
        // An Atom `content` element that is empty may refer to an external file.
        let has_source = || field == FeedField::Content && element.attribute("src").is_some();
        let says_something =
            if is_date(field) { date.is_some() } else { !element.is_blank() || has_source() };
        if says_something {
            *slot = Some(FieldChoice { element, rank, date });
        }
    }

    fn choice(&self, field: FeedField) -> Option<FieldChoice<'t, 'a>> {
        self.single.get(field as usize).copied().flatten()
    }

    /// Returns the element chosen for a field.
    pub(in crate::feed) fn get(&self, field: FeedField) -> Option<XmlElement<'t, 'a>> {
        Some(self.choice(field)?.element)
    }

    /// Returns the date chosen for a field.
    pub(in crate::feed) fn date(&self, field: FeedField) -> Option<DateTime<Utc>> {
        self.choice(field)?.date
    }

    /// Returns all elements that fill a field with several values.
    pub(in crate::feed) fn all(
        &self,
        field: FeedField,
    ) -> impl Iterator<Item = XmlElement<'t, 'a>> + '_ {
        self.lists.iter().filter(move |(at, _)| *at == field).map(|(_, element)| *element)
    }
}

const fn is_list(field: FeedField) -> bool {
    matches!(field, FeedField::Author | FeedField::Category | FeedField::Attachment)
}

const fn is_date(field: FeedField) -> bool {
    matches!(field, FeedField::Published | FeedField::Updated)
}

fn read_stated_date(
    element: XmlElement<'_, '_>,
    order: Option<DateOrder>,
    flaws: &mut Flaws,
) -> Option<DateTime<Utc>> {
    let text = element.text();
    let date = read_date(&text, order);
    if date.is_none() && !text.trim().is_empty() {
        flaws.add(element.raw(), &text, NOT_A_DATE);
    }
    if date.is_some_and(|date| date.is_ambiguous) {
        flaws.add_once(element.raw(), &text, AMBIGUOUS_DATE);
    }
    date.map(|date| date.at)
}

/// Determines whether numeric dates of entries and head sections start with the day or with the month.
pub(in crate::feed) fn find_date_order(
    parents: &[XmlElement<'_, '_>],
    table: &[FieldRow],
) -> Option<DateOrder> {
    let is_dated = |element: &XmlElement<'_, '_>| {
        table.iter().any(|(ns, local, field, _)| is_date(*field) && element.is(*ns, local))
    };
    let dated = parents.iter().flat_map(|parent| parent.children()).filter(is_dated);
    let texts: Vec<_> = dated.map(XmlElement::text).collect();
    order_of(texts.iter().map(AsRef::as_ref))
}

/// Reads the `LASTMOD` attribute of a CDF channel or item.
pub(in crate::feed) fn read_last_modified(
    element: XmlElement<'_, '_>,
    flaws: &mut Flaws,
) -> Option<DateTime<Utc>> {
    let stated = element.attribute("lastmod").filter(|_| element.ns() == Ns::Rss)?;
    let date = parse_date(&stated);
    if date.is_none() && !stated.is_empty() {
        flaws.add("lastmod", &stated, NOT_A_DATE);
    }
    date
}
