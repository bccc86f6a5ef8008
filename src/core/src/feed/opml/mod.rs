//! Reads and writes subscription lists in OPML, and reads URL lists.

mod read_opml;
mod read_urls;
pub mod subscription_list;

pub(in crate::feed) use read_opml::read_list_feed;

pub use read_opml::read_opml;
pub use read_urls::{is_url_list, read_urls};

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use subscription_list::{NAMESPACE, Opml, OpmlFeed, TAG_LIST, is_setting_name, normal_tag};

use crate::feed::outgoing::escaped_attribute;
use crate::{InputFlaw, flaw};

/// Reads a subscription list: OPML, or a list with one URL per line. Returns an error, as a sentence fragment, if the input is not
/// a subscription list or if it is truncated before its first feed. `titled` is for [`read_urls`].
pub fn read_list(bytes: &[u8], titled: Option<bool>) -> Result<Opml, InputFlaw> {
    if is_url_list(bytes) {
        if bytes.contains(&0) {
            return Err("it is no text: use OPML or a list of addresses, one per line".into());
        }
        let read = read_urls(&String::from_utf8_lossy(bytes), titled);
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

/// Returns what [`read_urls`] needs to know of the list in a file with this name: newsboat's list, where titles have a `~`, is called
/// `urls`. `None` if the name says nothing.
pub fn titled_in(path: &Path) -> Option<bool> {
    path.ends_with("urls").then_some(false)
}

/// Writes a subscription list as an OPML document. Each folder is written at the position of its first feed. [`read_opml()`]
/// reads the same feeds, tags and settings from the document, but feeds with the same folder are next to each other.
pub fn write_opml(title: &str, feeds: &[OpmlFeed]) -> String {
    let mut root = Folder::default();
    for feed in feeds {
        root.add(feed);
    }
    let mut text = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<opml version=\"2.0\" xmlns:bi=\"{NAMESPACE}\">\n\
         \x20 <head>\n    <title>{}</title>\n  </head>\n  <body>\n",
        escaped_attribute(title)
    );
    root.write(&mut text, 2);
    text.push_str("  </body>\n</opml>\n");
    text
}

/// A folder of the OPML document. The `body` is represented as a folder without a name.
#[derive(Default)]
struct Folder<'a> {
    items: Vec<FolderItem<'a>>,
    /// Index of each subfolder in `items`, by name.
    folders: BTreeMap<String, usize>,
}

enum FolderItem<'a> {
    Feed(&'a OpmlFeed),
    Folder(String, Folder<'a>),
}

impl<'a> Folder<'a> {
    fn add(&mut self, feed: &'a OpmlFeed) {
        let path = feed.tags.iter().find_map(|tag| normal_tag(tag)).unwrap_or_default();
        let mut folder = self;
        for name in path.split('/').filter(|name| !name.is_empty()) {
            let next = folder.items.len();
            let at = *folder.folders.entry(name.to_owned()).or_insert(next);
            if at == next {
                folder.items.push(FolderItem::Folder(name.to_owned(), Folder::default()));
            }
            let Some(FolderItem::Folder(_, inner)) = folder.items.get_mut(at) else { return };
            folder = inner;
        }
        folder.items.push(FolderItem::Feed(feed));
    }

    fn write(&self, text: &mut String, depth: usize) {
        let indent = "  ".repeat(depth);
        for items in &self.items {
            match items {
                FolderItem::Feed(feed) => {
                    text.push_str(&indent);
                    write_feed(text, feed);
                }
                FolderItem::Folder(name, folder) => {
                    let name = escaped_attribute(name);
                    // Writing to a `String` cannot fail.
                    let _ = writeln!(text, "{indent}<outline text=\"{name}\" title=\"{name}\">");
                    folder.write(text, depth + 1);
                    let _ = writeln!(text, "{indent}</outline>");
                }
            }
        }
    }
}

fn write_feed(text: &mut String, feed: &OpmlFeed) {
    text.push_str("<outline");
    let mut attribute = |name: &str, value: &str| {
        let _ = write!(text, " {name}=\"{}\"", escaped_attribute(value));
    };
    attribute("type", "rss");
    attribute("text", feed.title.as_deref().unwrap_or(&feed.xml_url));
    if let Some(title) = &feed.title {
        attribute("title", title);
    }
    attribute("xmlUrl", &feed.xml_url);
    if let Some(html_url) = &feed.html_url {
        attribute("htmlUrl", html_url);
    }
    let further: Vec<String> = feed.tags.iter().filter_map(|tag| normal_tag(tag)).skip(1).collect();
    if !further.is_empty() {
        let plain = further.iter().filter(|tag| !tag.contains(',')).cloned();
        attribute("category", &plain.collect::<Vec<String>>().join(","));
    }
    if further.iter().any(|tag| tag.contains(',')) {
        attribute(&format!("bi:{TAG_LIST}"), &further.join("\n"));
    }
    for (name, value) in feed.settings.iter().filter(|(name, _)| is_setting_name(name)) {
        attribute(&format!("bi:{name}"), value);
    }
    text.push_str("/>\n");
}

#[cfg(test)]
mod opml_tests;
