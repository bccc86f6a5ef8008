//! Reads lists of addresses, one a line: plain ones, and the `urls` files of newsboat and newsraft.
//!
//! | line | means |
//! | --- | --- |
//! | `https://a.example/feed` | a feed |
//! | `https://a.example/feed news "long reads"` | newsboat: with tags |
//! | `"https://a.example/feed" "~My title" "!"` | newsboat: with a title; `!`, which hides it there, is left out |
//! | `https://a.example/feed "My title"` | newsraft: with a title |
//! | `@ News` | newsraft: the feeds below belong to a section, which becomes a tag |
//! | `# …` | a comment |
//!
//! Words in double quotes may hold blanks, and `\n`, `\r`, `\t`, `\"` and `\\`. A word that begins with `#` begins a comment.
//!
//! What makes a feed of a search or of a program (`query:`, `exec:`, `filter:`, `$(…)`, `` `…` ``) cannot be taken: it is named with its
//! line.

use std::collections::BTreeSet;

use super::subscription_list::{BadOutline, Opml, OpmlFeed, normal_tag, normal_tags};
use crate::feed::logins::without_logins;
use crate::feed::text::one_line;

/// Longest part of a line that is named.
const NAMED_CHARS_MAX: usize = 80;

/// Whether bytes are a list of addresses rather than OPML: no markup begins them.
pub fn is_url_list(bytes: &[u8]) -> bool {
    let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let first = text.iter().find(|byte| !byte.is_ascii_whitespace());
    // UTF-16 begins with a mark of its own, and is OPML's affair.
    first.is_some_and(|byte| *byte != b'<' && byte.is_ascii_graphic())
}

/// Reads a list of addresses. What cannot be taken is among the bad lines.
pub fn read_urls(text: &str) -> Opml {
    let lines: Vec<Line<'_>> = (1..).zip(text.lines()).filter_map(read_line).collect();
    let titled = is_newsraft(&lines);
    let mut read = Opml::default();
    let mut section = None;
    let mut seen = BTreeSet::new();
    for line in lines {
        match line.content {
            Content::Section(name) => section = normal_tag(name),
            Content::Foreign(reason) => {
                // It is told, and a list may come from anywhere.
                let text = one_line(&without_logins(line.text), NAMED_CHARS_MAX);
                read.bad.push(BadOutline { text, reason: reason.to_owned(), line: line.number });
            }
            Content::Feed { address, words, .. } => {
                if seen.insert(address.clone()) {
                    read.outlines.push(feed(address, &words, section.as_deref(), titled));
                }
            }
        }
    }
    read
}

/// A line that is neither empty nor a comment.
struct Line<'t> {
    number: usize,
    text: &'t str,
    content: Content<'t>,
}

enum Content<'t> {
    /// The feeds below belong to it.
    Section(&'t str),
    /// An address with what stands behind it.
    Feed { address: String, is_quoted: bool, words: Vec<Word> },
    /// Something else, and why it cannot be taken.
    Foreign(&'static str),
}

/// A word behind an address.
struct Word {
    text: String,
    quoted: bool,
}

fn read_line((number, line): (usize, &str)) -> Option<Line<'_>> {
    let text = line.trim().trim_start_matches('\u{feff}');
    if text.is_empty() || text.starts_with('#') {
        return None;
    }
    let content = if let Some(section) = text.strip_prefix('@') {
        // Behind the name newsraft has settings.
        let end = section.find(['<', '{', '[']).unwrap_or(section.len());
        Content::Section(section.get(..end).unwrap_or_default().trim())
    } else {
        let (Word { text: address, quoted: is_quoted }, rest) = next_word(text);
        foreign(&address).map_or_else(
            || Content::Feed { address, is_quoted, words: words(rest) },
            Content::Foreign,
        )
    };
    Some(Line { number, text, content })
}

/// Why the first word of a line can be no address of a feed here.
fn foreign(address: &str) -> Option<&'static str> {
    let starts = |prefix: &str| address.starts_with(prefix);
    if starts("query:") {
        Some("a query is no feed: / searches here, and Ctrl-s keeps a search")
    } else if starts("exec:") || starts("$(") || address.contains('`') {
        Some("the output of a program cannot be subscribed to")
    } else if starts("filter:") {
        Some("a feed that a program filters cannot be subscribed to: m makes a filter here")
    } else if starts("file:") || starts("/") {
        Some("a file cannot be subscribed to, only http and https addresses")
    } else if address.contains("://") || address.contains('.') || starts("localhost") {
        None
    } else {
        Some("it is no address")
    }
}

/// Reads the words behind an address. What newsraft sets for a feed ends them, as a comment does.
fn words(rest: &str) -> Vec<Word> {
    let mut words = Vec::new();
    let mut rest = rest;
    while !rest.is_empty() && !rest.starts_with(['#', '<', '{', '[']) {
        let (word, behind) = next_word(rest);
        words.push(word);
        rest = behind;
    }
    words
}

/// Reads the first word of a text, as newsboat does, and returns what is behind it. Quotes that are not closed end with the
/// line.
fn next_word(text: &str) -> (Word, &str) {
    let Some(inner) = text.strip_prefix('"') else {
        let (word, behind) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        return (Word { text: word.to_owned(), quoted: false }, behind.trim_start());
    };
    let mut word = Word { text: String::new(), quoted: true };
    let mut chars = inner.chars();
    while let Some(char) = chars.next().filter(|char| *char != '"') {
        let escaped = if char == '\\' { chars.next() } else { Some(char) };
        word.text.extend(match (char, escaped) {
            ('\\', Some('n')) => Some('\n'),
            ('\\', Some('r')) => Some('\r'),
            ('\\', Some('t')) => Some('\t'),
            (_, escaped) => escaped,
        });
    }
    (word, chars.as_str().trim_start())
}

/// Whether a quoted word is a title and no tag. newsraft alone has sections; without them a list in which every feed has one
/// quoted word that no other has is taken for its.
fn is_newsraft(lines: &[Line<'_>]) -> bool {
    let mut titles = BTreeSet::new();
    let mut feeds = 0_usize;
    for line in lines {
        match &line.content {
            Content::Section(_) => return true,
            Content::Foreign(_) => {}
            // newsboat writes quotes around addresses.
            Content::Feed { is_quoted: true, .. } => return false,
            Content::Feed { words, .. } => {
                feeds = feeds.saturating_add(1);
                let [Word { text, quoted: true }] = words.as_slice() else { return false };
                if text.starts_with(['~', '!']) || !titles.insert(text) {
                    return false;
                }
            }
        }
    }
    feeds > 1
}

fn feed(address: String, words: &[Word], section: Option<&str>, titled: bool) -> OpmlFeed {
    let mut title = None;
    let mut tags: Vec<&str> = section.into_iter().collect();
    for Word { text, quoted } in words {
        match text.strip_prefix('~') {
            Some(named) => title = Some(named),
            None if titled && *quoted => title = Some(text),
            // It hides the feed from newsboat's list: here nothing is hidden.
            None if text.starts_with('!') => {}
            None => tags.push(text),
        }
    }
    let title = title.map(|title| without_logins(title.trim())).filter(|title| !title.is_empty());
    OpmlFeed { xml_url: address, title, tags: normal_tags(tags), ..OpmlFeed::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Address, title and tags of each feed.
    fn feeds(text: &str) -> Vec<(String, Option<String>, Vec<String>)> {
        let read = read_urls(text);
        read.outlines.into_iter().map(|feed| (feed.xml_url, feed.title, feed.tags)).collect()
    }

    fn feed(
        address: &str,
        title: Option<&str>,
        tags: &[&str],
    ) -> (String, Option<String>, Vec<String>) {
        let tags = tags.iter().map(ToString::to_string).collect();
        (address.to_owned(), title.map(str::to_owned), tags)
    }

    const NEWSBOAT: &str = "# my feeds\n\
        https://a.example/feed\n\
        \n\
        https://b.example/rss news \"long reads\" \"~The B\"\n\
        https://c.example/atom \"~C, alone\" \"!\" news # kept\n\
        \"query:Unread:unread = \\\"yes\\\"\"\n\
        exec:~/bin/feed.sh news\n\
        filter:~/bin/f.py:https://d.example/ \"~D\"\n\
        file:///feeds/x.xml\n\
        https://a.example/feed again\n";

    #[test]
    fn the_urls_file_of_newsboat_is_read_and_what_cannot_be_taken_is_named() {
        assert_eq!(
            feeds(NEWSBOAT),
            [
                feed("https://a.example/feed", None, &[]),
                feed("https://b.example/rss", Some("The B"), &["news", "long reads"]),
                feed("https://c.example/atom", Some("C, alone"), &["news"]),
            ]
        );
        let bad = read_urls(NEWSBOAT).bad;
        let lines: Vec<usize> = bad.iter().map(|bad| bad.line).collect();
        assert_eq!(lines, [6, 7, 8, 9]);
        assert!(bad[0].reason.starts_with("a query is no feed"), "{bad:?}");
        assert!(bad[1].reason.starts_with("the output of a program"), "{bad:?}");
    }

    #[test]
    fn words_in_quotes_are_read_as_newsboat_reads_them() {
        for (line, expected) in [
            ("\"https://q.example/feed\"", feed("https://q.example/feed", None, &[])),
            (
                "\"https://q.example/two\" \"tag one\" two",
                feed("https://q.example/two", None, &["tag one", "two"]),
            ),
            (
                "\"https://q.example/feed with space\"three",
                feed("https://q.example/feed with space", None, &["three"]),
            ),
            (
                r#"https://q.example/ "~She said \"hello\"" "a\\b" "c\td" "\e""#,
                feed("https://q.example/", Some("She said \"hello\""), &["a\\b", "c d", "e"]),
            ),
            ("https://q.example/six#six six", feed("https://q.example/six#six", None, &["six"])),
            ("https://q.example/ #six six", feed("https://q.example/", None, &[])),
            ("https://q.example/ a#b \"#c\"# d", feed("https://q.example/", None, &["a#b", "#c"])),
            ("\"https://q.example/\" \"open end", feed("https://q.example/", None, &["open end"])),
            ("https://q.example/ \"\" \"! hidden\" \"\\", feed("https://q.example/", None, &[])),
        ] {
            assert_eq!(feeds(line), [expected], "{line}");
        }
        for line in
            ["\"exec:a b\" c", "`feed.sh`", "\"query:All:x = \\\"y\\\"\"", "\"file:///x\"", "\"\""]
        {
            let read = read_urls(line);
            assert_eq!((read.outlines.len(), read.bad.len()), (0, 1), "{line}");
        }
    }

    #[test]
    fn the_feeds_file_of_newsraft_has_titles_and_sections() {
        let text = "https://top.example/ \"Top\"\n\
            @ News < reload-period 60\n\
            https://a.example/feed \"A, daily\" < item-limit 3\n\
            https://b.example/feed\n\
            @ Science {\"bold\"}\n\
            https://c.example/feed \"C\"\n\
            $(cat feed.xml) \"Local\"\n";
        assert_eq!(
            feeds(text),
            [
                feed("https://top.example/", Some("Top"), &[]),
                feed("https://a.example/feed", Some("A, daily"), &["News"]),
                feed("https://b.example/feed", None, &["News"]),
                feed("https://c.example/feed", Some("C"), &["Science"]),
            ]
        );
        assert_eq!(read_urls(text).bad.len(), 1);
        let titled = "https://a.example/ \"One\"\nhttps://b.example/ \"Two\"\n";
        assert_eq!(feeds(titled)[1], feed("https://b.example/", Some("Two"), &[]));
        let quoted = "\"https://a.example/\" \"one\"\nhttps://b.example/ \"two\"\n";
        assert_eq!(feeds(quoted)[1], feed("https://b.example/", None, &["two"]));
        let tagged = "https://a.example/ \"one\"\nhttps://b.example/ \"one\"\n";
        assert_eq!(feeds(tagged)[1], feed("https://b.example/", None, &["one"]));
    }

    #[test]
    fn a_plain_list_is_a_list_of_feeds() {
        let text = "\u{feff}a.example/feed\r\nhttps://b.example/\r\nnonsense\r\n";
        assert_eq!(
            feeds(text),
            [feed("a.example/feed", None, &[]), feed("https://b.example/", None, &[])]
        );
        let bad = read_urls(text).bad;
        assert_eq!((bad[0].line, bad[0].reason.as_str()), (3, "it is no address"));
    }

    #[test]
    fn markup_is_no_list_of_addresses() {
        for (bytes, expected) in [
            (&b"<?xml version='1.0'?><opml/>"[..], false),
            (b"\xef\xbb\xbf \n <opml/>", false),
            (b"\xff\xfe<\0", false),
            (b"", false),
            (b"# feeds\n", true),
            (b"https://a.example/", true),
        ] {
            assert_eq!(is_url_list(bytes), expected, "{bytes:?}");
        }
    }
}
