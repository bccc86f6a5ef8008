//! Texts that could control a terminal, and a feed document full of them.

use super::rss::rss;

/// Texts that affect a terminal, or whose width on the screen is hard to determine.
pub(crate) const HOSTILE: [&str; 12] = [
    "\u{1b}[2J\u{1b}]0;owned\u{7}",
    "&#27;[31mred&#x1b;]52;c;aGk=&#7;",
    "\u{9b}31m\u{90}q\u{9c}",
    "\u{202e}txt.exe\u{202c}\u{2066}in\u{2069}\u{200f}",
    "a\u{0}b\u{8}\u{8}\u{7f}c\rd\u{b}\u{c}",
    "z\u{200b}e\u{200d}r\u{2060}o\u{feff}",
    "e\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}",
    "\u{1f468}\u{200d}\u{1f469}\u{200d}\u{1f467}\u{200d}\u{1f466}\u{1f3fd}\u{1f1e9}\u{1f1ea}\u{1f1eb}",
    "\u{fdfd}\u{1242b}\u{e0041}\u{e0042}\u{e007f}",
    "\u{2028}line\u{2029}paragraph\u{85}next",
    "漢\u{ff9f}ｶﾞ\u{3099}\u{1160}\u{115f}",
    "\u{fffe}\u{10ffff}\u{fff9}\u{206a}\u{61c}",
];

/// Returns an RSS document with these texts in every place that a publisher controls.
pub(crate) fn hostile_document() -> String {
    let items: Vec<(String, String, String)> = HOSTILE
        .iter()
        .enumerate()
        .map(|(number, text)| {
            let markup = format!(
                "<p>{text}</p><pre>{text}</pre><a href=\"https://a.example/{text}\" title=\"{text}\">{text}</a>\
                 <table><tr><td>{text}</td></tr></table><img src=\"x.png\" alt=\"{text}\">"
            );
            (format!("id-{number}-{text}"), format!("{text} {number}"), markup)
        })
        .collect();
    let entries: Vec<(&str, &str, i64, &str)> = items
        .iter()
        .zip(1..)
        .map(|((id, title, markup), hours)| (id.as_str(), title.as_str(), hours, markup.as_str()))
        .collect();
    rss(&HOSTILE.concat(), &entries)
}
