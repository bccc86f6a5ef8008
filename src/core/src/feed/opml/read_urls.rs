//! Reads lists with one URL per line: plain lists, and the `urls` files of newsboat and newsraft.
//!
//! | line | means |
//! | --- | --- |
//! | `https://a.example/feed` | a feed |
//! | `https://a.example/feed news "long reads"` | newsboat: with tags |
//! | `"https://a.example/feed" "~My title" "!"` | newsboat: with a title; `!` hides the feed there and makes it quiet here |
//! | `https://a.example/feed "My title"` | newsraft: with a title |
//! | `@ News` | newsraft: the feeds below belong to a section, which becomes a tag |
//! | `exec:COMMAND`, `filter:COMMAND:URL`, `file:///PATH` | newsboat: a feed from a program or a file, with tags |
//! | `# …` | a comment |
//!
//! Words in double quotes may contain blanks and the escapes `\n`, `\r`, `\t`, `\"` and `\\`. A word that begins with `#` begins a
//! comment.
//!
//! `query:NAME:EXPRESSION` is a search of newsboat in the other feeds; see [`Opml::queries`].
//!
//! Commands of newsraft and of bookmarks (`$(…)`, `` `…` ``) are not supported and are reported with their line numbers.

use std::collections::{BTreeMap, BTreeSet};

use super::subscription_list::{
    BadOutline, FeedSource, NewsboatQuery, Opml, OpmlFeed, normal_tag, normal_tags,
};
use crate::feed::address::without_logins;
use crate::feed::text::one_line;

/// Maximum length of an unsupported line that is quoted in a message, in characters.
const NAMED_CHARS_MAX: usize = 80;

/// Checks whether bytes are a URL list rather than OPML. A URL list does not begin with markup.
pub fn is_url_list(bytes: &[u8]) -> bool {
    let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let first = text.iter().find(|byte| !byte.is_ascii_whitespace());
    // Bytes that begin with a UTF-16 byte order mark are treated as OPML.
    first.is_some_and(|byte| *byte != b'<' && byte.is_ascii_graphic())
}

/// Reads a URL list. Words in quotation marks are titles if `titled`, as in newsraft, and otherwise tags, as in newsboat; `None` finds
/// out by the lines. Unsupported lines are listed in [`Opml::bad`].
pub fn read_urls(text: &str, titled: Option<bool>) -> Opml {
    let lines: Vec<Line<'_>> = (1..).zip(text.lines()).filter_map(read_line).collect();
    let titled = titled.unwrap_or_else(|| is_newsraft(&lines));
    let mut read = Opml::default();
    let mut section = None;
    let mut seen = BTreeSet::new();
    for line in lines {
        match line.content {
            Content::Section(name) => section = normal_tag(name),
            Content::Foreign(reason) => {
                // The text of the line is displayed, and the list may come from an untrusted source.
                let text = one_line(&without_logins(line.text), NAMED_CHARS_MAX);
                read.bad.push(BadOutline { text, reason: reason.to_owned(), line: line.number });
            }
            Content::Query { name, expression } => {
                read.queries.push(NewsboatQuery { name, expression, line: line.number });
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
    /// Name of the section to which the feeds on the following lines belong.
    Section(&'t str),
    /// A feed: its URL and the words that follow the URL.
    Feed { address: String, is_quoted: bool, words: Vec<Word> },
    /// A search of newsboat in the other feeds.
    Query { name: String, expression: String },
    /// Unsupported content, with the reason why it is not supported.
    Foreign(&'static str),
}

/// A word after the URL on a line.
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
        // In newsraft, settings in brackets can follow the name of a section.
        let end = section.find(['<', '{', '[']).unwrap_or(section.len());
        Content::Section(section.get(..end).unwrap_or_default().trim())
    } else {
        let (Word { text: address, quoted: is_quoted }, rest) = next_word(text);
        let query = address.strip_prefix("query:").and_then(|query| query.split_once(':'));
        match (query, foreign(&address)) {
            (Some((name, expression)), _) => {
                let name = one_line(name, NAMED_CHARS_MAX);
                Content::Query { name, expression: expression.to_owned() }
            }
            (None, Some(reason)) => Content::Foreign(reason),
            (None, None) => Content::Feed { address, is_quoted, words: words(rest) },
        }
    };
    Some(Line { number, text, content })
}

/// Returns the reason why the first word of a line is not supported as a feed URL, or `None` if it is.
fn foreign(address: &str) -> Option<&'static str> {
    let starts = |prefix: &str| address.starts_with(prefix);
    if starts("query:") {
        Some("a query needs a name: query:NAME:EXPRESSION")
    } else if FeedSource::of(address) != FeedSource::Web {
        None
    } else if starts("$(") || address.contains('`') {
        Some("write a feed that a program makes as exec:COMMAND")
    } else if starts("/") {
        Some("write the address of a file as file:///PATH")
    } else if address.contains("://") || address.contains('.') || starts("localhost") {
        None
    } else {
        Some("it is not an address")
    }
}

/// Reads the words after a URL, up to newsraft settings in brackets or a comment.
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

/// Reads the first word of a text by the rules of newsboat. Returns the word and the text after it. A missing closing quote is
/// assumed at the end of the line.
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

/// Checks whether a list was written for newsraft, where quoted words are titles and not tags. This is the case if the list has
/// sections, which only newsraft has, or if every feed has exactly one quoted word and all these words are different.
fn is_newsraft(lines: &[Line<'_>]) -> bool {
    let mut titles = BTreeSet::new();
    let mut feeds = 0_usize;
    for line in lines {
        match &line.content {
            Content::Section(_) => return true,
            Content::Query { .. } | Content::Foreign(_) => {}
            // A quoted URL occurs only in lists for newsboat.
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
    let mut settings = BTreeMap::new();
    for Word { text, quoted } in words {
        match text.strip_prefix('~') {
            Some(named) => title = Some(named),
            None if titled && *quoted => title = Some(text),
            // In newsboat a word that begins with `!` hides the feed: its entries are only in searches.
            None if text.starts_with('!') => {
                settings.insert("quiet".to_owned(), "on".to_owned());
            }
            None => tags.push(text),
        }
    }
    let title = title.map(|title| without_logins(title.trim())).filter(|title| !title.is_empty());
    let tags = normal_tags(tags);
    OpmlFeed { xml_url: address, title, tags, settings, ..OpmlFeed::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads `text`, and returns the URL, title and tags of each feed.
    fn feeds(text: &str) -> Vec<(String, Option<String>, Vec<String>)> {
        let read = read_urls(text, None);
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
    fn newsboat_urls_are_read_and_skipped_lines_named() {
        assert_eq!(
            feeds(NEWSBOAT),
            [
                feed("https://a.example/feed", None, &[]),
                feed("https://b.example/rss", Some("The B"), &["news", "long reads"]),
                feed("https://c.example/atom", Some("C, alone"), &["news"]),
                feed("exec:~/bin/feed.sh", None, &["news"]),
                feed("filter:~/bin/f.py:https://d.example/", Some("D"), &[]),
                feed("file:///feeds/x.xml", None, &[]),
            ]
        );
        assert_eq!(read_urls(NEWSBOAT, None).bad, []);
        let expression = "unread = \"yes\"".to_owned();
        let query = NewsboatQuery { name: "Unread".into(), expression, line: 6 };
        assert_eq!(read_urls(NEWSBOAT, None).queries, [query]);
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
            ("\"exec:a 'b c'\" d", feed("exec:a 'b c'", None, &["d"])),
        ] {
            assert_eq!(feeds(line), [expected], "{line}");
        }
        for line in ["`feed.sh`", "query:unread", "/x.xml", "$(feed.sh)", "\"\""] {
            let read = read_urls(line, None);
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
        assert_eq!(read_urls(text, None).bad.len(), 1);
        let titled = "https://a.example/ \"One\"\nhttps://b.example/ \"Two\"\n";
        assert_eq!(feeds(titled)[1], feed("https://b.example/", Some("Two"), &[]));
        let quoted = "\"https://a.example/\" \"one\"\nhttps://b.example/ \"two\"\n";
        assert_eq!(feeds(quoted)[1], feed("https://b.example/", None, &["two"]));
        let tagged = "https://a.example/ \"one\"\nhttps://b.example/ \"one\"\n";
        assert_eq!(feeds(tagged)[1], feed("https://b.example/", None, &["one"]));
        let different = "https://a.example/ \"tag one\"\nhttps://b.example/ \"two\"\n";
        let read = read_urls(different, Some(false));
        let said = read.outlines.iter().map(|feed| (feed.title.as_deref(), feed.tags.join(",")));
        assert_eq!(said.collect::<Vec<_>>(), [(None, "tag one".into()), (None, "two".into())]);
    }

    #[test]
    fn a_plain_list_is_a_list_of_feeds() {
        let text = "\u{feff}a.example/feed\r\nhttps://b.example/\r\nnonsense\r\n";
        assert_eq!(
            feeds(text),
            [feed("a.example/feed", None, &[]), feed("https://b.example/", None, &[])]
        );
        let bad = read_urls(text, None).bad;
        assert_eq!((bad[0].line, bad[0].reason.as_str()), (3, "it is not an address"));
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
