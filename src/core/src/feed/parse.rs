//! Parses the bytes of a feed in any format into a [`FeedDocument`].

use url::Url;

use super::document::{FeedDocument, Kind};
use super::encoding::decode;
use super::flaws::{Flaw, Flaws, TOO_DEEP, TOO_MANY_ENTRIES};
use super::json_feed;
use super::opml::read_list_feed;
use super::xml::feed_rs_reader::read_with_feed_rs;
use super::xml::xml_feed;

/// Where a document comes from, as far as known.
#[derive(Debug, Clone, Copy, Default)]
pub struct Origin<'a> {
    /// URL of the document after redirects. Relative links are resolved against it.
    pub url: Option<&'a str>,
    /// `Content-Type` of the HTTP response. Its charset takes precedence over the charset declared in the document.
    pub content_type: Option<&'a str>,
}

/// Parses a document. Parsing never fails: input that is not a feed gets the kind [`super::Kind::None`] and a flaw that explains
/// why. The flaws list all dropped and repaired parts (SPEC A).
pub fn parse(bytes: &[u8], origin: &Origin<'_>) -> FeedDocument {
    let mut flaws = Flaws::default();
    let url = origin.url.and_then(|url| Url::parse(url.trim()).ok());
    let text = decode::decode(bytes, origin.content_type, &mut flaws);
    let text = text.trim_start_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
    let mut document = if text.is_empty() {
        flaws.add("document", "", "empty");
        FeedDocument::default()
    } else if text.starts_with('{') {
        json_feed::read_json_feed(text, url.as_ref(), &mut flaws)
    } else {
        xml_feed::read_xml_feed(text, url.as_ref(), &mut flaws)
    };
    if document.kind == Kind::None
        && text.starts_with('<')
        && let Some(list) = read_list_feed(bytes, &mut flaws)
    {
        document = list;
    }
    // feed-rs has no limits, so it does not get JSON, whose size can grow by a factor of 100 in memory.
    if document.kind == Kind::None
        && !text.starts_with('{')
        && let Some(read) = read_with_feed_rs(bytes, &mut flaws)
    {
        document = read;
    }
    if let Some(gap) = document.mean_gap() {
        let flaw = document.hints.ttl_like_seconds(gap);
        document.hints.flaws.extend(flaw);
    }
    document.flaws = flaws.into_list();
    // Flaws about exceeded limits are also stored with the feed, so that users see that entries or elements were left out.
    let is_limit = |flaw: &&Flaw| [TOO_MANY_ENTRIES, TOO_DEEP].contains(&flaw.reason.as_str());
    document.hints.flaws.extend(document.flaws.iter().filter(is_limit).cloned());
    document
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_that_the_limits_refuse_is_not_parsed_without_limits() {
        let deep = format!(
            "{{\"version\":\"https://jsonfeed.org/version/1.1\",\"x\":{}1",
            "[".repeat(300)
        );
        let item = "{\"id\":\"1\",\"title\":\"Frost\"}";
        let list = format!("\"items\":[{item}]}}");
        let text = format!("{deep}{},{list}", "]".repeat(300));
        let document = parse(text.as_bytes(), &Origin::default());
        assert_eq!((document.kind, document.entries.len()), (Kind::None, 0));
    }
}
