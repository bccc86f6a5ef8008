//! A publisher whose history is republished: a seed determines its entries, their markup, edits, deletions and new IDs, and which of
//! its archives cannot be fetched.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use chrono::{DateTime, SecondsFormat, TimeDelta, Utc};

use super::publisher::Chance;
use super::{Answer, document};

pub const FEED: &str = "https://press.example/blog/feed.atom";
/// The namespaces of the publisher's documents.
const ROOT: &str = "<feed xmlns='http://www.w3.org/2005/Atom' xmlns:fh='http://purl.org/syndication/history/1.0' \
                    xmlns:at='http://purl.org/atompub/tombstones/1.0' xmlns:media='http://search.yahoo.com/mrss/' \
                    xmlns:itunes='http://www.itunes.com/dtds/podcast-1.0.dtd' xml:lang='fa'>";

/// What the publisher offers of its history.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Offer {
    /// Archives of this number of entries.
    Archives(usize),
    /// One document with everything.
    Complete,
    /// Only the newest entries.
    Window,
}

/// An entry of the publisher.
struct Item {
    date: DateTime<Utc>,
    /// What the entry looks like.
    look: u64,
    /// Number of edits.
    edits: u32,
    has_new_id: bool,
    deleted: Option<DateTime<Utc>>,
}

/// The publisher.
pub struct Press {
    pub chance: Chance,
    pub offer: Offer,
    window: usize,
    items: Vec<Item>,
    /// Numbers of the archives that answer with 403.
    pub refused: BTreeSet<usize>,
}

impl Press {
    pub fn new(seed: u64) -> Self {
        let mut chance = Chance(seed);
        let offer = match chance.below(5) {
            0 => Offer::Complete,
            1 => Offer::Window,
            _ => Offer::Archives(1 + chance.below(25) as usize),
        };
        let window = 3 + chance.below(20) as usize;
        Self { chance, offer, window, items: Vec::new(), refused: BTreeSet::new() }
    }

    /// Publishes entries, and edits, deletes and renames a few of the newest ones. Returns the time at which all that happened.
    pub fn publish(&mut self, count: usize) -> DateTime<Utc> {
        let mut date = self
            .items
            .last()
            .map_or_else(|| DateTime::from_timestamp(1_600_000_000, 0).unwrap(), |item| item.date);
        for _ in 0..count {
            let (scale, amount) = (self.chance.below(4), self.chance.below(50) as i64);
            date += match scale {
                0 => TimeDelta::zero(),
                1 => TimeDelta::minutes(amount),
                _ => TimeDelta::hours(amount * 4),
            };
            let look = self.chance.next();
            self.items.push(Item { date, look, edits: 0, has_new_id: false, deleted: None });
        }
        let now = date + TimeDelta::hours(1);
        let first = self.items.len().saturating_sub(self.window);
        for item in self.items.iter_mut().skip(first) {
            match self.chance.below(24) {
                0 => item.edits += 1,
                // Nobody can tell that a deleted entry with a new ID is one of which only the old ID is known.
                1 if !item.has_new_id => item.deleted = Some(now),
                // Readers recognise an entry with a new ID by its link and title.
                2 if item.deleted.is_none() => item.has_new_id = has_link_and_title(item.look),
                _ => {}
            }
        }
        if let Offer::Archives(size) = self.offer {
            let archives = self.items.len() / size;
            if archives > 0 && self.chance.below(3) == 0 {
                self.refused.insert(self.chance.below(archives as u64) as usize);
            }
        }
        now
    }

    pub fn answer(&self, url: &str) -> Answer {
        if url == FEED {
            return document(url, self.subscription().as_bytes());
        }
        let number = url.rsplit('/').next().and_then(|name| name.strip_suffix(".atom"));
        let number: Option<usize> = number.and_then(|number| number.parse().ok());
        match (number, self.offer) {
            (Some(number), _) if self.refused.contains(&number) => Answer::Status(403),
            (Some(number), Offer::Archives(size)) => {
                document(url, self.archive(number, size).as_bytes())
            }
            _ => Answer::Status(404),
        }
    }

    fn subscription(&self) -> String {
        let mut xml = self.head(self.items.len());
        let archived = match self.offer {
            Offer::Archives(size) => {
                let archives = self.items.len() / size;
                if archives > 0 {
                    write!(xml, "<link rel='prev-archive' href='{}.atom'/>", archives - 1).unwrap();
                }
                archives * size
            }
            Offer::Complete => {
                xml.push_str("<fh:complete/>");
                0
            }
            Offer::Window => usize::MAX,
        };
        let first = archived.min(self.items.len().saturating_sub(self.window));
        for (number, item) in self.items.iter().enumerate().skip(first) {
            if let Some(when) = item.deleted {
                let when = date(when);
                write!(xml, "<at:deleted-entry ref='{}' when='{when}'/>", id(number, item))
                    .unwrap();
            }
        }
        for (number, item) in self.items.iter().enumerate().skip(first).rev() {
            if item.deleted.is_none() {
                xml.push_str(&entry(number, item));
            }
        }
        xml + "</feed>"
    }

    /// Writes an archive with the first copy of each entry.
    fn archive(&self, number: usize, size: usize) -> String {
        let mut xml = self.head((number + 1) * size);
        write!(xml, "<fh:archive/><link rel='current' href='{FEED}'/>").unwrap();
        if number > 0 {
            write!(xml, "<link rel='prev-archive' href='{}.atom'/>", number - 1).unwrap();
        }
        for (place, item) in self.items.iter().enumerate().skip(number * size).take(size) {
            let first = Item {
                date: item.date,
                look: item.look,
                edits: 0,
                has_new_id: false,
                deleted: None,
            };
            xml.push_str(&entry(place, &first));
        }
        xml + "</feed>"
    }

    fn head(&self, items: usize) -> String {
        let newest = self.items.iter().take(items).map(|item| item.date).max();
        let updated = newest.map(date).unwrap_or_default();
        format!(
            "{ROOT}<id>tag:press.example,2020:feed</id><title>روزنامه &amp; Press</title><updated>{updated}</updated>"
        )
    }
}

fn date(at: DateTime<Utc>) -> String {
    at.to_rfc3339_opts(SecondsFormat::AutoSi, true)
}

fn id(number: usize, item: &Item) -> String {
    let kind = if item.has_new_id { "new" } else { "old" };
    match item.look % 3 {
        0 => format!("tag:press.example,2020:{kind}/{number}"),
        1 => format!("https://press.example/blog/{kind}?n={number}&amp;x=1"),
        _ => format!("{kind} {number} ü"),
    }
}

fn has_link_and_title(look: u64) -> bool {
    let mut look = Chance(look);
    look.below(6) < 4 && look.below(9) > 0
}

/// Writes an entry, whose look decides everything about it.
fn entry(number: usize, item: &Item) -> String {
    let mut look = Chance(item.look);
    let mut xml = format!("<entry><id>{}</id>", id(number, item));
    let title = match look.below(6) {
        0 => format!("<title type='text'>{number}: a &lt;b> &amp;amp; \"c\"</title>"),
        1 => format!("<title type='html'>{number} &lt;i>and&lt;/i> &amp;amp; more</title>"),
        2 => format!("<title>שלום {number} עולם</title>"),
        3 => format!(
            "<title type='xhtml'><div xmlns='http://www.w3.org/1999/xhtml'>X<sub>{number}</sub></div></title>"
        ),
        4 => String::new(),
        _ => "<title>Open thread</title>".to_owned(),
    };
    xml.push_str(&title);
    if look.below(9) > 0 {
        write!(xml, "<link href='{number}/ä%20b?a=1&amp;b=2'/>").unwrap();
    }
    if look.below(3) == 0 {
        write!(xml, "<link rel='replies' type='text/html' href='{number}#comments'/>").unwrap();
    }
    let edited = item.date + TimeDelta::minutes(i64::from(item.edits));
    match look.below(8) {
        0 => {}
        1 | 2 => write!(xml, "<published>{}</published>", date(item.date)).unwrap(),
        3 => write!(xml, "<updated>{}</updated>", date(edited)).unwrap(),
        _ => write!(
            xml,
            "<published>{}</published><updated>{}</updated>",
            date(item.date),
            date(edited)
        )
        .unwrap(),
    }
    if look.below(2) == 0 {
        xml.push_str("<author><name>Ada &amp; Grüß Gott</name></author><category term='a/b &lt; c'/><category term='ب'/>");
    }
    let edits = item.edits;
    let content = match look.below(7) {
        0 => String::new(),
        1 => format!("<content>plain &lt;p {number}.{edits} &amp;lt; text</content>"),
        2 => format!(
            "<content type='xhtml' xml:lang='he' xml:base='/base/'><div xmlns='http://www.w3.org/1999/xhtml' dir='rtl'>\
             <p class='a&quot;b'>שלום {number}.{edits} &amp; <em>x</em> ]]&gt; &lt;tag&gt;</p><img src='p.png' alt=''/><br/></div></content>"
        ),
        3 => format!(
            "<content type='html'>&lt;p>{number}.{edits} &lt;a href=\"../x?a=1&amp;amp;b\">x&lt;/a>&#13;&#10;\t  two&lt;/p></content>"
        ),
        4 => format!(
            "<content type='html'><![CDATA[<p dir=\"rtl\">مرحبا {number}.{edits} &amp; &lt;b&gt; 🐎</p><pre>a\n  b</pre>]]></content>"
        ),
        5 => format!("<content type='html'>&lt;![CDATA[{number}.{edits}]]&gt; &#xFFFE;x</content>"),
        _ => format!("<content src='https://press.example/{number}.html' type='text/html'/>"),
    };
    xml.push_str(&content);
    if look.below(3) == 0 {
        xml.push_str("<summary type='html'>&lt;b>short&lt;/b> &amp;amp; sweet</summary>");
    }
    for file in 0..look.below(4) {
        xml.push_str(&attached_file(&mut look, number, file));
    }
    xml + "</entry>"
}

/// Writes one attached file of an entry.
fn attached_file(look: &mut Chance, number: usize, file: u64) -> String {
    match look.below(5) {
        0 => format!(
            "<link rel='enclosure' type='audio/mpeg' length='123{file}' href='https://press.example/{number}-{file}.mp3?a&amp;b'/>"
        ),
        1 => format!(
            "<link rel='enclosure' type='image/png' href='https://press.example/{number}-{file}.png'/>"
        ),
        2 => format!(
            "<media:content url='https://press.example/{number}-{file}.mp4' fileSize='99' duration='{}'/>",
            60 + file
        ),
        3 => format!("<link rel='enclosure' href='https://press.example/{number}-{file}'/>"),
        _ => format!(
            "<link rel='enclosure' href='https://press.example/{number}-{file}.ogg'/><itunes:duration>1:02:0{file}</itunes:duration>"
        ),
    }
}
