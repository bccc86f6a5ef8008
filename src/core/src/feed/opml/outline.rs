//! Decides whether an OPML outline is a feed or a folder, based on its attributes.

use url::Url;

use super::feed_source::FeedSource;
use crate::feed::address::without_feed_scheme;
use crate::feed::logins::without_logins;
use crate::feed::text::one_line;
use crate::feed::xml::references::resolve;
use crate::feed::xml::tree::XmlElement;

/// Meaning of an outline.
pub(in crate::feed) enum OutlineMeaning {
    Folder,
    /// A folder if the outline contains other outlines. Otherwise a feed that cannot be used, for the reason given.
    FolderIfFilled(&'static str),
    /// A feed, with the normalized form of its address.
    Feed(String),
    /// A feed whose URL cannot be used, with the reason.
    Unusable(String),
}

/// Determines the meaning of an outline from its attributes.
pub(in crate::feed) fn read_meaning(attributes: &[(String, String)]) -> OutlineMeaning {
    let kind = find_attribute(attributes, "type").unwrap_or_default().trim().to_ascii_lowercase();
    let is_feed = matches!(kind.as_str(), "rss" | "atom" | "feed" | "json" | "rss1" | "rdf");
    let written = find_attribute(attributes, "xmlurl")
        .or_else(|| find_attribute(attributes, "url").filter(|_| is_feed));
    let Some(written) = written.map(str::trim).filter(|written| !written.is_empty()) else {
        return match kind.as_str() {
            "link" => OutlineMeaning::FolderIfFilled("is a link, not a feed"),
            "include" => OutlineMeaning::FolderIfFilled("refers to another list"),
            _ if is_feed || find_attribute(attributes, "xmlurl").is_some() => {
                OutlineMeaning::FolderIfFilled("has no feed address")
            }
            _ => OutlineMeaning::Folder,
        };
    };
    // A command keeps its blanks, which may be within quotes.
    if FeedSource::of(written) != FeedSource::Web && !written.contains(char::is_control) {
        return OutlineMeaning::Feed(written.to_owned());
    }
    match Url::parse(&without_feed_scheme(written)) {
        Ok(url) if matches!(url.scheme(), "http" | "https") && url.has_host() => {
            OutlineMeaning::Feed(url.into())
        }
        Ok(url) => {
            OutlineMeaning::Unusable(format!("has an address with the scheme {}", url.scheme()))
        }
        Err(_) => OutlineMeaning::Unusable(format!(
            "has no usable address: {}",
            one_line(&without_logins(written), 120)
        )),
    }
}

/// Reads the attributes of an outline and resolves character references in their values. Attribute names without a prefix are
/// converted to lower case.
pub(in crate::feed) fn read_attributes(outline: XmlElement<'_, '_>) -> Vec<(String, String)> {
    let lower =
        |key: &str| if key.contains(':') { key.to_owned() } else { key.to_ascii_lowercase() };
    outline.raw_attributes().iter().map(|(key, value)| (lower(key), resolve(value))).collect()
}

/// Extracts the known attributes from an outline tag with misplaced quotes. The value of an attribute ends at a quote only if text
/// that can follow an attribute comes after it.
pub(in crate::feed) fn salvage_attributes(tag: &str) -> Vec<(String, String)> {
    const NAMES: [&str; 5] = ["text", "title", "xmlUrl", "htmlUrl", "category"];
    let value = |name: &str| {
        ['"', '\''].into_iter().find_map(|quote| {
            let (_, after) = tag.split_once(&format!(" {name}={quote}"))?;
            let ends = after.match_indices(quote).map(|(at, _)| at);
            let may_follow = |at: &usize| {
                after.get(at + 1..).is_some_and(|rest| {
                    rest.is_empty() || rest.starts_with([' ', '/', '>', '\n', '\t', '\r'])
                })
            };
            let value = ends.into_iter().find(may_follow).and_then(|end| after.get(..end))?;
            Some((name.to_ascii_lowercase(), resolve(value)))
        })
    };
    NAMES.into_iter().filter_map(value).collect()
}

/// Returns the value of the first attribute with this name.
pub(in crate::feed) fn find_attribute<'a>(
    attributes: &'a [(String, String)],
    name: &str,
) -> Option<&'a str> {
    attributes.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
}
