//! The content of an OPML list of subscriptions: feeds with their tags and settings.
//!
//! The folders around a feed are one tag, their names joined with `/` (`garden/fruit`). Each value of the attribute
//! `category` is a further tag; values are separated by commas, and `/garden/fruit` means the same as `garden/fruit`.
//! In the other direction the first tag becomes nested folders and the others `category`. Tags with a comma cannot be
//! written there, so all further tags are then repeated, one a line, in `bi:tag-list`.
//!
//! The program's own settings are attributes of the namespace [`NAMESPACE`] (`bi:pace="more"`).

use std::collections::BTreeMap;
use std::fmt;

use crate::feed::logins::without_logins;
use crate::feed::text::one_line;

/// The namespace of our own attributes, usually bound to the prefix `bi`.
pub const NAMESPACE: &str = "tag:backissue.example,2026:opml";

/// The setting for further tags that `category` cannot contain.
pub(in crate::feed) const TAG_LIST: &str = "tag-list";

/// Longest name of a folder or tag, in characters.
const TAG_CHARS_MAX: usize = 200;

/// How many folders within folders a tag keeps.
const TAG_PARTS_MAX: usize = 32;

/// The content of an OPML document.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Opml {
    /// The title of the list.
    pub title: Option<String>,
    /// The feeds in document order, each address once.
    pub outlines: Vec<OpmlFeed>,
    /// Outlines that should be a feed but have no usable address.
    pub bad: Vec<BadOutline>,
    /// What was repaired or skipped, by line.
    pub flaws: Vec<OpmlFlaw>,
    /// Where the document breaks off. The feeds before that are in `outlines`.
    pub broken: Option<OpmlFlaw>,
}

impl Opml {
    /// Describes what cannot be subscribed to, line by line.
    pub fn left_out(&self) -> Vec<String> {
        let bad =
            self.bad.iter().map(|bad| format!("line {}: {} ({})", bad.line, bad.reason, bad.text));
        let broken = self.broken.iter().map(|broken| {
            format!(
                "line {}: the list breaks off; what comes before that was imported",
                broken.line
            )
        });
        bad.chain(broken).collect()
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OpmlFeed {
    /// Absolute, `http` or `https`.
    pub xml_url: String,
    /// The site the feed belongs to, as stated.
    pub html_url: Option<String>,
    /// On one line; absent if the document has no more than the address.
    pub title: Option<String>,
    /// As [`normal_tag`] yields them, each once.
    pub tags: Vec<String>,
    /// Our own attributes by local name; see [`is_setting_name`].
    pub settings: BTreeMap<String, String>,
}

/// An outline that was skipped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadOutline {
    /// Its name as shown.
    pub text: String,
    /// Why, as a fragment: "has no feed address".
    pub reason: String,
    /// The line its tag starts in, from 1.
    pub line: usize,
}

/// Something wrong with the document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpmlFlaw {
    /// From 1.
    pub line: usize,
    /// A sentence without its full stop.
    pub reason: String,
}

/// The error for bytes that are no OPML document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotOpml {
    /// What they are instead, as far as can be told.
    pub found: String,
    /// The line that shows it, from 1.
    pub line: usize,
}

impl fmt::Display for NotOpml {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "this is no OPML document: {} (line {})", self.found, self.line)
    }
}

impl std::error::Error for NotOpml {}

/// Normalises a tag: without logins, its parts trimmed, empty ones left out, joined with `/`. `None` means that nothing is left.
pub fn normal_tag(tag: &str) -> Option<String> {
    let tag = without_logins(tag);
    let parts = tag.split('/').map(|part| one_line(&without_logins(part), TAG_CHARS_MAX));
    let parts: Vec<String> = parts.filter(|part| !part.is_empty()).take(TAG_PARTS_MAX).collect();
    (!parts.is_empty()).then(|| parts.join("/"))
}

/// Tags in the form they are kept in, each once.
pub fn normal_tags<'a>(typed: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let mut tags: Vec<String> = Vec::new();
    for tag in typed.into_iter().filter_map(normal_tag) {
        if !tags.contains(&tag) {
            tags.push(tag);
        }
    }
    tags
}

/// Whether a setting of this name can be written: lower-case letters, digits and `-`, a letter
/// first.
pub fn is_setting_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
        && name != TAG_LIST
}
