//! Contents of an OPML subscription list: feeds with their tags and settings.
//!
//! The folders that contain a feed form one tag, with the folder names joined by `/` (`garden/fruit`). Each value of the `category`
//! attribute is another tag. Values are separated by commas, and `/garden/fruit` means the same as `garden/fruit`. When a list is
//! written, the first tag of a feed becomes nested folders and its other tags become the `category` attribute, which cannot contain
//! tags with commas. If a feed has such a tag, all its tags after the first are repeated in the `bi:tag-list` attribute, one per
//! line.
//!
//! The settings that this program stores for a feed are attributes in the namespace [`NAMESPACE`] (`bi:pace="more"`).

use std::collections::BTreeMap;
use std::fmt;

use crate::feed::logins::without_logins;
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
