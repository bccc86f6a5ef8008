//! Contents of an OPML subscription list: feeds with their tags, settings and sources.
//!
//! The folders that contain a feed form one tag, with the folder names joined by `/` (`garden/fruit`). Each value of the `category`
//! attribute is another tag. Values are separated by commas, and `/garden/fruit` means the same as `garden/fruit`. When a list is
//! written, the first tag of a feed becomes nested folders and its other tags become the `category` attribute, which cannot contain
//! tags with commas. If a feed has such a tag, all its tags after the first are repeated in the `bi:tag-list` attribute, one per
//! line.
//!
//! The settings that this program stores for a feed are attributes in the namespace [`NAMESPACE`] (`bi:pace="more"`).
//!
//! Where the document of a feed comes from: an address of the web, a file, or a program, written as in newsboat.
//!
//! | address | document |
//! | --- | --- |
//! | `https://a.example/feed` | the response |
//! | `file:///home/me/feed.xml` | the file |
//! | `exec:COMMAND ARGS` | the standard output of the command |
//! | `filter:COMMAND ARGS:https://a.example/feed` | the output of the command, which reads the response on its standard input |

use std::collections::BTreeMap;
use std::fmt;

use crate::feed::address::without_logins;
use crate::feed::text::one_line;

/// Namespace of this program's attributes, usually bound to the prefix `bi`.
pub(crate) const NAMESPACE: &str = "tag:backissue.example,2026:opml";

/// Name of the attribute for tags that contain commas and therefore cannot be in `category`.
pub(in crate::feed) const TAG_LIST: &str = "tag-list";

/// Maximum length of a folder or tag name, in characters.
const TAG_CHARS_MAX: usize = 200;

/// Maximum number of nested folders in a tag.
const TAG_PARTS_MAX: usize = 32;

/// Contents of an OPML document.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Opml {
    /// Title of the list.
    pub title: Option<String>,
    /// Feeds in document order, without duplicate URLs.
    pub outlines: Vec<OpmlFeed>,
    /// Feeds of newsboat that are made by a search in the other feeds.
    pub queries: Vec<NewsboatQuery>,
    /// Outlines that should be feeds but have no usable URL.
    pub bad: Vec<BadOutline>,
    /// Parts of the document that were repaired or skipped, in line order.
    pub flaws: Vec<OpmlFlaw>,
    /// Position where a truncated document ends. [`Opml::outlines`] contains the feeds before this position.
    pub broken: Option<OpmlFlaw>,
}

impl Opml {
    /// Returns a message for each part of the list that cannot be imported.
    pub fn left_out(&self) -> Vec<String> {
        let bad =
            self.bad.iter().map(|bad| format!("line {}: {} ({})", bad.line, bad.reason, bad.text));
        let broken = self.broken.iter().map(|broken| {
            format!(
                "line {}: the list is cut off; everything before that was imported",
                broken.line
            )
        });
        bad.chain(broken).collect()
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OpmlFeed {
    /// Absolute `http` or `https` URL.
    pub xml_url: String,
    /// URL of the feed's website, as stated.
    pub html_url: Option<String>,
    /// Title on one line, or `None` if the list states no title.
    pub title: Option<String>,
    /// Tags in the form that [`normal_tag`] returns, without duplicates.
    pub tags: Vec<String>,
    /// Values of the attributes in this program's namespace, by name without prefix. See [`is_setting_name`].
    pub settings: BTreeMap<String, String>,
}

/// A feed of newsboat that is made by a search in the other feeds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewsboatQuery {
    pub name: String,
    /// Filter expression of newsboat.
    pub expression: String,
    /// Number of the line, from 1.
    pub line: usize,
}

/// A part of a subscription list that should be a feed but was skipped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadOutline {
    /// Name of the outline for display.
    pub text: String,
    /// Reason why the part was skipped, as a sentence fragment such as "has no feed address".
    pub reason: String,
    /// Number of the line in which the skipped part starts, from 1.
    pub line: usize,
}

/// A fault in an OPML document that was repaired or skipped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpmlFlaw {
    /// Number of the line that contains the fault, from 1.
    pub line: usize,
    /// Description of the fault: a sentence without its full stop.
    pub reason: String,
}

/// The error for input that is not an OPML document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotOpml {
    /// Description of what the input is instead of OPML.
    pub found: String,
    /// Number of the line that shows that the input is not OPML, from 1.
    pub line: usize,
}

impl fmt::Display for NotOpml {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "this is not an OPML document: {} (line {})", self.found, self.line)
    }
}

impl std::error::Error for NotOpml {}

/// Normalises a tag. Removes logins and empty parts, trims the parts and joins them with `/`. Returns `None` if no part remains.
pub fn normal_tag(tag: &str) -> Option<String> {
    let tag = without_logins(tag);
    let parts = tag.split('/').map(|part| one_line(&without_logins(part), TAG_CHARS_MAX));
    let parts: Vec<String> = parts.filter(|part| !part.is_empty()).take(TAG_PARTS_MAX).collect();
    (!parts.is_empty()).then(|| parts.join("/"))
}

/// Normalises tags and removes duplicates.
pub fn normal_tags<'a>(typed: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let mut tags: Vec<String> = Vec::new();
    for tag in typed.into_iter().filter_map(normal_tag) {
        if !tags.contains(&tag) {
            tags.push(tag);
        }
    }
    tags
}

/// Checks whether a setting name can be written as an attribute: lower-case letters, digits and `-`, starting with a letter.
pub fn is_setting_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
        && name != TAG_LIST
}

/// Writes tags as a line that [`read_tags`] reads.
pub fn write_tags(tags: &[String]) -> String {
    let quoted = |tag: &String| {
        if tag.contains(',') || tag.starts_with('"') {
            format!("\"{}\"", tag.replace('"', "\"\""))
        } else {
            tag.clone()
        }
    };
    tags.iter().map(quoted).collect::<Vec<String>>().join(", ")
}

/// Reads a line of tags, in normal form and without duplicates.
pub fn read_tags(line: &str) -> Vec<String> {
    normal_tags(split_tags(line).iter().map(String::as_str))
}

/// Splits a line at its commas, except commas inside quotation marks. Removes the quotation marks around a tag; a minus may
/// precede them. Inside them, two quotation marks are read as one. A quotation mark without a closing one is kept as text.
pub fn split_tags(line: &str) -> Vec<String> {
    let mut parts = Vec::new();
    let mut rest = line;
    loop {
        let (minus, tag) = match rest.trim_start() {
            trimmed if trimmed.starts_with("-\"") => ("-", trimmed.trim_start_matches('-')),
            trimmed => ("", trimmed),
        };
        let (part, after) = if let Some((tag, after)) = quoted_tag(tag) {
            (format!("{minus}{tag}"), after)
        } else {
            let (part, after) =
                rest.split_once(',').map_or((rest, None), |(part, after)| (part, Some(after)));
            (part.trim().to_owned(), after)
        };
        parts.push(part);
        match after {
            Some(after) => rest = after,
            None => return parts,
        }
    }
}

/// Reads a tag in quotes. Returns it and what follows the comma after it, if there is one; `None` if this is not such a tag.
fn quoted_tag(text: &str) -> Option<(String, Option<&str>)> {
    let (mut tag, mut rest) = (String::new(), text.strip_prefix('"')?);
    loop {
        let (piece, after) = rest.split_once('"')?;
        tag.push_str(piece);
        if let Some(further) = after.strip_prefix('"') {
            tag.push('"');
            rest = further;
            continue;
        }
        let after = after.trim_start();
        return match after.strip_prefix(',') {
            None if !after.is_empty() => None,
            further => Some((tag.trim().to_owned(), further)),
        };
    }
}

/// Source of a feed's document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FeedSource<'a> {
    /// A response to a request for the address.
    Web,
    /// A file.
    File,
    /// The output of a command line.
    Program(&'a str),
    /// The output of a command line that reads the response to a request.
    Filter {
        /// Command line.
        command: &'a str,
        /// Address of the response, with `http:` or `https:`; empty if it is missing.
        url: &'a str,
    },
}

impl<'a> FeedSource<'a> {
    /// Returns the source that an address names.
    pub fn of(address: &'a str) -> Self {
        if address.starts_with("file:") {
            return Self::File;
        }
        if let Some(command) = address.strip_prefix("exec:") {
            return Self::Program(command.trim());
        }
        let Some(filter) = address.strip_prefix("filter:") else { return Self::Web };
        let begins = [":http://", ":https://"].into_iter().filter_map(|begin| filter.find(begin));
        let (command, url) = begins.min().map_or((filter, ""), |at| filter.split_at(at));
        Self::Filter { command: command.trim(), url: url.strip_prefix(':').unwrap_or_default() }
    }

    /// Returns the part of an address that is requested over the network.
    pub fn web_part(address: &'a str) -> Option<&'a str> {
        match Self::of(address) {
            Self::Web => Some(address),
            Self::Filter { url, .. } => Some(url),
            Self::File | Self::Program(_) => None,
        }
    }

    /// Checks whether a program of the user makes the document.
    pub const fn is_program(self) -> bool {
        matches!(self, Self::Program(_) | Self::Filter { .. })
    }

    /// Returns the reason that a feed from this source has no history, or `None` for a feed of the web.
    pub const fn without_history(self) -> Option<&'static str> {
        match self {
            Self::Web => None,
            Self::File => Some("a file has no archives"),
            Self::Program(_) | Self::Filter { .. } => Some("a program has no archives"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn written_tags_are_read_back() {
        for tags in [
            &["a", "b c"][..],
            &["a, b", "c"],
            &["c", "a,b"],
            &["say \"x\""],
            &["\"x\""],
            &["a, \"b\"", "c"],
            &[],
        ] {
            let tags: Vec<String> = tags.iter().map(|tag| (*tag).to_owned()).collect();
            assert_eq!(read_tags(&write_tags(&tags)), tags, "{}", write_tags(&tags));
        }
    }

    #[test]
    fn odd_lines_are_split_at_their_commas() {
        for (line, tags) in [
            ("", &[][..]),
            (" a ,, b,", &["a", "b"]),
            ("\"a, b", &["\"a", "b"]),
            ("\"a\" b, c", &["\"a\" b", "c"]),
            ("x, \"a, b\" , -\"c, d\"", &["x", "a, b", "-c, d"]),
        ] {
            assert_eq!(read_tags(line), tags, "{line}");
        }
    }

    #[test]
    fn source_of_a_feed_follows_from_its_address() {
        let filter = |command, url| FeedSource::Filter { command, url };
        for (address, source, web) in [
            ("https://a.example/", FeedSource::Web, Some("https://a.example/")),
            ("executive.example", FeedSource::Web, Some("executive.example")),
            ("file:///f.xml", FeedSource::File, None),
            ("exec: a.sh 'b c'", FeedSource::Program("a.sh 'b c'"), None),
            ("exec:curl https://a.example/", FeedSource::Program("curl https://a.example/"), None),
            (
                "filter:sed s:a:b: :https://a.example/?u=http://b.example/",
                filter("sed s:a:b:", "https://a.example/?u=http://b.example/"),
                Some("https://a.example/?u=http://b.example/"),
            ),
            ("filter:f.py", filter("f.py", ""), Some("")),
        ] {
            assert_eq!((FeedSource::of(address), FeedSource::web_part(address)), (source, web));
            assert_eq!(source.without_history().is_none(), source == FeedSource::Web);
        }
    }
}
