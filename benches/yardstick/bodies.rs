//! The HTML of the generated entries: 1 to 5 kB of what articles consist of.

use std::fmt::Write as _;

use super::documents::{COMMON, EVERYWHERE, RARE};
use super::words::{Chance, capitalized};

/// Minimum length of the HTML, in bytes.
const SHORTEST: u64 = 1000;
/// Maximum length of the HTML before its last two blocks, in bytes.
const LONGEST: u64 = 4100;

/// Returns the HTML of an entry, which is also well-formed XML.
pub(crate) fn body(chance: &mut Chance, feed: u32, entry: u32) -> String {
    let spread = LONGEST - SHORTEST;
    let wanted = (SHORTEST + chance.below(spread).max(chance.below(spread))) as usize;
    let mut out = String::with_capacity(6000);
    if chance.percent(40) {
        write_image(&mut out, chance, feed, entry);
    }
    write!(out, "<p>This {EVERYWHERE} ").unwrap();
    write_words(&mut out, chance);
    out.push_str(".</p>\n");
    while out.len() < wanted {
        match chance.below(20) {
            0 => write_heading(&mut out, chance),
            1 => write_list(&mut out, chance),
            2 => write_quote(&mut out, chance),
            3 => write_code(&mut out, chance),
            4 if chance.percent(50) => write_image(&mut out, chance, feed, entry),
            _ => write_paragraph(&mut out, chance),
        }
    }
    out.push_str("<p>");
    if entry % 10 == 3 {
        write!(out, "{COMMON} ").unwrap();
    }
    if entry == 1 && feed.is_multiple_of(7) && feed < 22 {
        write!(out, "{RARE} ").unwrap();
    }
    write!(out, "<a href=\"https://site.example/{feed}/{entry}/more\">more</a></p>").unwrap();
    out
}

fn write_paragraph(out: &mut String, chance: &mut Chance) {
    out.push_str("<p>");
    for place in 0..2 + chance.below(4) {
        out.push_str(if place == 0 { "" } else { " " });
        write_sentence(out, chance);
    }
    out.push_str("</p>\n");
}

fn write_heading(out: &mut String, chance: &mut Chance) {
    let level = 2 + chance.below(2);
    write!(out, "<h{level}>{}", capitalized(chance.topic())).unwrap();
    for _ in 0..=chance.below(4) {
        write!(out, " {}", chance.topic()).unwrap();
    }
    writeln!(out, "</h{level}>").unwrap();
}

fn write_list(out: &mut String, chance: &mut Chance) {
    let name = if chance.percent(75) { "ul" } else { "ol" };
    writeln!(out, "<{name}>").unwrap();
    for _ in 0..2 + chance.below(4) {
        out.push_str("<li>");
        write_sentence(out, chance);
        out.push_str("</li>\n");
    }
    writeln!(out, "</{name}>").unwrap();
}

fn write_quote(out: &mut String, chance: &mut Chance) {
    out.push_str("<blockquote>");
    write_paragraph(out, chance);
    out.push_str("</blockquote>\n");
}

fn write_code(out: &mut String, chance: &mut Chance) {
    writeln!(out, "<pre><code>fn {}() -&gt; usize {{", chance.topic()).unwrap();
    for _ in 0..2 + chance.below(4) {
        let [name, call, argument] = std::array::from_fn(|_| chance.topic());
        let number = chance.below(1000);
        writeln!(out, "    let {name} = {call}(&amp;{argument}, {number});").unwrap();
    }
    out.push_str("}\n</code></pre>\n");
}

fn write_image(out: &mut String, chance: &mut Chance, feed: u32, entry: u32) {
    let (name, height) = (chance.below(10_000), 500 + chance.below(400));
    let [subject, place] = std::array::from_fn(|_| chance.topic());
    write!(
        out,
        "<figure><img src=\"https://site.example/{feed}/{entry}/{name}.jpg\" width=\"1200\" height=\"{height}\" \
         alt=\"{subject} {place}\"/><figcaption>"
    )
    .unwrap();
    write_sentence(out, chance);
    out.push_str("</figcaption></figure>\n");
}

fn write_sentence(out: &mut String, chance: &mut Chance) {
    out.push_str(&capitalized(chance.word()));
    out.push(' ');
    write_words(out, chance);
    out.push('.');
}

/// Writes the words of a sentence, a few of them in markup.
fn write_words(out: &mut String, chance: &mut Chance) {
    for place in 0..5 + chance.below(14) {
        out.push_str(match chance.below(40) {
            _ if place == 0 => "",
            0..3 => ", ",
            3 => " &amp; ",
            _ => " ",
        });
        let word = chance.word();
        match chance.below(80) {
            0 | 1 => {
                let (site, page, topic) =
                    (chance.below(5000), chance.below(10_000), chance.topic());
                let link = format!("https://site{site}.example/{page}.html?a=1&amp;b=2");
                write!(out, "<a href=\"{link}\">{word} {topic}</a>")
            }
            2 => write!(out, "<em>{word}</em>"),
            3 => write!(out, "<strong>{word}</strong>"),
            4 => write!(out, "<code>{word}</code>"),
            5 => write!(out, "{word}&#8217;s"),
            _ => out.write_str(word),
        }
        .unwrap();
    }
}
