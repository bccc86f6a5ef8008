//! The feeds that the publisher serves, which are the same in every run and resemble the feeds of real publishers: RSS and Atom,
//! with and without summaries, with HTML in each of the usual encodings, and some podcasts.

use std::fmt::Write as _;
use std::io::Write as _;

use chrono::{DateTime, TimeDelta, Utc};
use flate2::Compression;
use flate2::write::GzEncoder;

use super::bodies::body;
use super::words::{Chance, capitalized};

/// A word that occurs in three entries.
pub(crate) const RARE: &str = "quartzite";
/// A word that occurs in one entry in ten.
pub(crate) const COMMON: &str = "harbour";
/// A word that occurs in every entry.
pub(crate) const EVERYWHERE: &str = "evening";

/// Length of a summary, in bytes, at most.
const SUMMARY: usize = 260;

const RSS_START: &str = "<rss version=\"2.0\" xmlns:content=\"http://purl.org/rss/1.0/modules/content/\" \
     xmlns:dc=\"http://purl.org/dc/elements/1.1/\" \
     xmlns:itunes=\"http://www.itunes.com/dtds/podcast-1.0.dtd\"><channel>\
     <link>https://site.example/</link><description>Made up</description>";
const ATOM_START: &str = "<feed xmlns=\"http://www.w3.org/2005/Atom\"><id>urn:feed</id>\
     <updated>2026-03-02T10:00:00Z</updated>";

/// Returns a feed document, compressed as a server would send it. Each edition adds an entry and drops the oldest one.
pub(crate) fn feed(number: u32, entries: u32, edition: u32, now: DateTime<Utc>) -> Vec<u8> {
    let style = Style::of(number);
    let mut out = String::with_capacity(entries as usize * 5000);
    let start = if style.rss { RSS_START } else { ATOM_START };
    out.push_str("<?xml version=\"1.0\" encoding=\"utf-8\"?>\n");
    writeln!(out, "{start}<title>Feed {number}</title>").unwrap();
    let newest = entries + edition;
    for number_of_entry in (newest - entries..newest).rev() {
        let age = i64::from(newest - number_of_entry) * 7 * 60 + i64::from(number % 400);
        let entry = Entry::of(number, number_of_entry, now - TimeDelta::minutes(age));
        if style.rss {
            style.write_item(&mut out, &entry);
        } else {
            style.write_atom_entry(&mut out, &entry);
        }
    }
    out.push_str(if style.rss { "</channel></rss>" } else { "</feed>" });
    let mut compressed = GzEncoder::new(Vec::new(), Compression::new(5));
    compressed.write_all(out.as_bytes()).unwrap();
    compressed.finish().unwrap()
}

/// How HTML is written into a document.
#[derive(Debug, Clone, Copy)]
enum Encoding {
    Escaped,
    Cdata,
    /// As elements of an Atom document.
    Xhtml,
}

/// The choices of a feed's publisher, which apply to all entries of the feed.
#[derive(Debug)]
struct Style {
    rss: bool,
    encoding: Encoding,
    /// Whether each entry has a summary besides its text.
    summary: bool,
    podcast: bool,
    author: String,
}

impl Style {
    fn of(feed: u32) -> Self {
        let mut chance = Chance::new(feed, u32::MAX);
        let rss = chance.percent(62);
        let encoding = match (rss, chance.below(100)) {
            (true, 0..65) => Encoding::Cdata,
            (false, 0..25) => Encoding::Xhtml,
            _ => Encoding::Escaped,
        };
        let summary = chance.percent(if rss { 60 } else { 45 });
        let podcast = rss && chance.percent(10);
        let author = format!("{} {}", capitalized(chance.topic()), capitalized(chance.topic()));
        Self { rss, encoding, summary, podcast, author }
    }

    fn write_item(&self, out: &mut String, entry: &Entry) {
        let Entry { title, link, html, .. } = entry;
        write!(
            out,
            "<item><title>{title}</title><link>{link}</link><guid>{link}</guid><pubDate>{}</pubDate>\
             <dc:creator>{}</dc:creator>",
            entry.at.to_rfc2822(),
            self.author
        )
        .unwrap();
        for category in &entry.categories {
            write!(out, "<category>{category}</category>").unwrap();
        }
        if self.podcast {
            let seconds = entry.seconds;
            write!(
                out,
                "<enclosure url=\"{link}.mp3\" length=\"{}\" type=\"audio/mpeg\"/>\
                 <itunes:duration>{}:{:02}</itunes:duration>",
                seconds * 16_000,
                seconds / 60,
                seconds % 60
            )
            .unwrap();
        }
        if self.summary {
            write!(out, "<description>{}</description>", self.encoded(&summary(html))).unwrap();
            write!(out, "<content:encoded>{}</content:encoded>", self.encoded(html)).unwrap();
        } else {
            write!(out, "<description>{}</description>", self.encoded(html)).unwrap();
        }
        out.push_str("</item>\n");
    }

    fn write_atom_entry(&self, out: &mut String, entry: &Entry) {
        let Entry { title, link, html, .. } = entry;
        write!(
            out,
            "<entry><title>{title}</title><id>{link}</id><link href=\"{link}\"/><updated>{}</updated>\
             <author><name>{}</name></author>",
            entry.at.to_rfc3339(),
            self.author
        )
        .unwrap();
        for category in &entry.categories {
            write!(out, "<category term=\"{category}\"/>").unwrap();
        }
        if self.summary {
            write!(out, "<summary>{}</summary>", summary(html)).unwrap();
        }
        let kind = if matches!(self.encoding, Encoding::Xhtml) { "xhtml" } else { "html" };
        let text = self.encoded(html);
        writeln!(out, "<content type=\"{kind}\">{text}</content></entry>").unwrap();
    }

    /// Returns the HTML as it is written into the document.
    fn encoded(&self, html: &str) -> String {
        match self.encoding {
            Encoding::Cdata => format!("<![CDATA[{html}]]>"),
            Encoding::Escaped => {
                html.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
            }
            Encoding::Xhtml => {
                format!("<div xmlns=\"http://www.w3.org/1999/xhtml\">{html}</div>")
            }
        }
    }
}

/// An entry, independent of the format of its feed.
#[derive(Debug)]
struct Entry {
    title: String,
    link: String,
    at: DateTime<Utc>,
    categories: Vec<&'static str>,
    /// Duration if the feed is a podcast.
    seconds: u64,
    html: String,
}

impl Entry {
    fn of(feed: u32, number: u32, at: DateTime<Utc>) -> Self {
        let mut chance = Chance::new(feed, number);
        let mut title = capitalized(chance.topic());
        for _ in 0..3 + chance.below(6) {
            write!(title, " {}", chance.word()).unwrap();
        }
        title.push_str(if chance.percent(5) { " &amp; more" } else { "" });
        Self {
            title,
            link: format!("https://site.example/{feed}/{number}"),
            at,
            categories: (0..chance.below(4)).map(|_| chance.topic()).collect(),
            seconds: 600 + chance.below(4800),
            html: body(&mut chance, feed, number),
        }
    }
}

/// Returns the first words of the HTML without its tags. Character references stay, so this is both HTML and XML.
fn summary(html: &str) -> String {
    let mut text = String::with_capacity(SUMMARY + 100);
    for piece in html.split('<') {
        text.push_str(piece.split_once('>').map_or(piece, |(_, text)| text));
        if text.len() > SUMMARY {
            break;
        }
    }
    let end = text.match_indices([' ', '\n']).map(|(at, _)| at).take_while(|at| *at <= SUMMARY);
    text.truncate(end.last().unwrap());
    text.push_str(" …");
    text
}
