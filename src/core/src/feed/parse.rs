//! Parses the bytes of a feed in any format into a [`FeedDocument`].

use url::Url;

use super::document::FeedDocument;
use super::encoding::decode;
use super::flaws::{Flaw, Flaws, TOO_DEEP, TOO_MANY_ENTRIES};
use super::json_feed;
use super::xml::xml_feed;

/// Where a document came from, as far as it is known.
#[derive(Debug, Clone, Copy, Default)]
pub struct Origin<'a> {
    /// Address of the document after redirects: what relative links are resolved against.
    pub url: Option<&'a str>,
    /// `Content-Type` of the HTTP answer: its charset outranks the document's own statement.
    pub content_type: Option<&'a str>,
}

/// Parses a document. It never fails: what is no feed has the kind [`super::Kind::None`] and a flaw that says
/// why. The flaws list what was dropped or repaired (SPEC A).
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
    if let Some(gap) = document.mean_gap() {
        document.hints.note_suspicious_ttl(gap);
    }
    document.flaws = flaws.into_list();
    // What a limit left out is kept with the feed, so that its reader is told of it.
    let is_limit = |flaw: &&Flaw| [TOO_MANY_ENTRIES, TOO_DEEP].contains(&flaw.reason.as_str());
    document.hints.flaws.extend(document.flaws.iter().filter(is_limit).cloned());
    document
}
