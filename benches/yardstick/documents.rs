//! The feeds that the publisher serves, which are the same in every run and have word frequencies as in a natural language.

use std::fmt::Write as _;
use std::io::Write as _;

use chrono::{DateTime, TimeDelta, Utc};
use flate2::Compression;
use flate2::write::GzEncoder;

/// Number of different words; words with lower numbers are more common.
const VOCABULARY: f64 = 100_000.0;
/// Number of words per text; an entry with its markup has about 1.2 kB.
const WORDS_A_TEXT: u64 = 135;

/// A word that occurs in three entries.
pub(crate) const RARE: &str = "quartzite";
/// A word that occurs in one entry in ten.
pub(crate) const COMMON: &str = "harbour";
/// A word that occurs in every entry.
pub(crate) const EVERYWHERE: &str = "evening";

/// Returns a feed document, compressed as a server would send it. Each edition adds an entry and drops the oldest one.
pub(crate) fn feed(number: u32, entries: u32, edition: u32, now: DateTime<Utc>) -> Vec<u8> {
    let mut out = String::new();
    let rss = number.is_multiple_of(2);
    let start = if rss {
        "<rss version=\"2.0\" xmlns:content=\"http://purl.org/rss/1.0/modules/content/\"><channel>\
         <link>https://site.example/</link><description>Made up</description>"
    } else {
        "<feed xmlns=\"http://www.w3.org/2005/Atom\"><id>urn:feed</id><updated>2026-03-02T10:00:00Z</updated>"
    };
    write!(out, "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n{start}<title>Feed {number}</title>")
        .unwrap();
    let newest = entries + edition;
    for entry in (newest - entries..newest).rev() {
        let age = i64::from(newest - entry) * 7 * 60 + i64::from(number % 400);
        write_entry(&mut out, rss, number, entry, now - TimeDelta::minutes(age));
    }
    out.push_str(if rss { "</channel></rss>" } else { "</feed>" });
    let mut compressed = GzEncoder::new(Vec::new(), Compression::new(5));
    compressed.write_all(out.as_bytes()).unwrap();
    compressed.finish().unwrap()
}

fn write_entry(out: &mut String, rss: bool, feed: u32, entry: u32, at: DateTime<Utc>) {
    let mut chance = Chance(u64::from(feed) << 32 | u64::from(entry) | 1 << 63);
    let title: Vec<String> = (0..6).map(|_| word(chance.zipf())).collect();
    let (title, text) = (title.join(" "), text(&mut chance, feed, entry));
    let link = format!("https://site.example/{feed}/{entry}");
    if rss {
        writeln!(
            out,
            "<item><title>{title}</title><link>{link}</link><guid>{link}</guid><pubDate>{}</pubDate>\
             <content:encoded><![CDATA[{text}]]></content:encoded></item>",
            at.to_rfc2822()
        )
    } else {
        let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
        writeln!(
            out,
            "<entry><title>{title}</title><id>{link}</id><link href=\"{link}\"/><updated>{}</updated>\
             <content type=\"html\">{text}</content></entry>",
            at.to_rfc3339()
        )
    }
    .unwrap();
}

fn text(chance: &mut Chance, feed: u32, entry: u32) -> String {
    let mut text = format!("<p>{EVERYWHERE} ");
    for place in 0..WORDS_A_TEXT {
        text.push_str(&word(chance.zipf()));
        text.push_str(if place % 45 == 44 { ".</p>\n<p>" } else { " " });
    }
    if entry % 10 == 3 {
        text.push_str(COMMON);
    }
    if entry == 1 && feed.is_multiple_of(7) && feed < 22 {
        text.push_str(RARE);
    }
    write!(text, " <a href=\"https://site.example/{feed}/{entry}/more\">more</a></p>").unwrap();
    text
}

/// Returns the word with this rank; rank 1 is the most common word. Words consist of letters, and common words are shorter.
fn word(rank: u64) -> String {
    let mut rest = rank.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut word = String::new();
    for _ in 0..3 + rank.ilog2() / 3 {
        word.push(char::from(b'a' + (rest % 26) as u8));
        rest /= 26;
    }
    word
}

/// A pseudo-random number generator that returns the same numbers in every run.
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// Returns a random rank; the word of rank n is about n times rarer than the most common word.
    fn zipf(&mut self) -> u64 {
        let share = (self.next() >> 11) as f64 / (1_u64 << 53) as f64;
        (VOCABULARY.powf(share) as u64).max(1)
    }
}
