//! Reads and writes subscription lists in OPML, and reads URL lists.

pub mod feed_source;
mod list_feed;
#[cfg(test)]
mod opml_tests;
mod outline;
mod read_opml;
mod read_urls;
pub mod subscription_list;
pub mod tag_line;
mod write_opml;

pub(in crate::feed) use list_feed::read_list_feed;
pub use read_opml::read_opml;
pub use read_urls::{is_url_list, read_urls};
pub use write_opml::write_opml;

use crate::{InputFlaw, flaw};
use subscription_list::Opml;

/// Reads a subscription list: OPML, or a list with one URL per line. Returns an error, as a sentence fragment, if the input is not
/// a subscription list or if it is truncated before its first feed.
pub fn read_list(bytes: &[u8]) -> Result<Opml, InputFlaw> {
    if is_url_list(bytes) {
        if bytes.contains(&0) {
            return Err("it is no text: use OPML or a list of addresses, one per line".into());
        }
        let read = read_urls(&String::from_utf8_lossy(bytes));
        let is_newsboat = |text: &str| {
            let text = text.trim_start_matches('"');
            ["query:", "$("].iter().any(|begin| text.starts_with(begin))
        };
        let has_any = !read.outlines.is_empty() || !read.queries.is_empty();
        return if has_any || read.bad.iter().any(|bad| is_newsboat(&bad.text)) {
            Ok(read)
        } else {
            Err("it contains no feed: use OPML or a list of addresses, one per line".into())
        };
    }
    let read = read_opml(bytes).map_err(|error| error.to_string())?;
    match &read.broken {
        Some(broken) if read.outlines.is_empty() => {
            Err(flaw!("it is cut off in line {}, before the first feed", broken.line))
        }
        Some(_) | None => Ok(read),
    }
}
