//! Serves the files of a folder as publishers should: with validators, compression and correct media types, and with only the new
//! entries for a client that requests that (RFC 3229). Nothing outside the folder is served.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::Hasher as _;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use percent_encoding::percent_decode_str;
use siphasher::sip::SipHasher13;
use tokio::sync::watch;

use super::http_server::{ServedAnswer, ServedRequest};
use crate::demo::{accepts_gzip, gzip, names};
use crate::io::regular_files;
use backissue_core::publish::{GENERATOR_MARK, SUBSCRIPTION_NAME};

/// Maximum size of a served file, in bytes (SPEC 0, `BODY_MAX`).
const FILE_BYTES_MAX: u64 = 32 * 1024 * 1024;
/// Minimum size in bytes of a body that is compressed.
const GZIP_BYTES_MIN: usize = 512;
/// Maximum number of earlier versions, of all files together, whose entries are remembered.
const VERSIONS_MAX: usize = 1_000;
/// Number of bytes at the start of an XML file in which its format is searched for.
const START_BYTES: usize = 2_048;
/// Media types by the extension of a file.
const TYPES: [(&str, &str); 14] = [
    ("atom", "application/atom+xml; charset=utf-8"),
    ("rss", "application/rss+xml"),
    ("rdf", "application/rdf+xml"),
    ("xml", "application/xml"),
    ("json", "application/feed+json"),
    ("opml", "text/x-opml"),
    ("html", "text/html; charset=utf-8"),
    ("txt", "text/plain; charset=utf-8"),
    ("css", "text/css"),
    ("png", "image/png"),
    ("jpg", "image/jpeg"),
    ("svg", "image/svg+xml"),
    ("mp3", "audio/mpeg"),
    ("ogg", "audio/ogg"),
];

/// A folder of files, and the versions that were served from it.
#[derive(Debug)]
pub struct FolderSite {
    root: PathBuf,
    /// Hashes of the entries of served documents, by entity tag.
    versions: watch::Sender<BTreeMap<String, BTreeSet<u64>>>,
}

/// A file that may be served.
struct FoundFile {
    bytes: Vec<u8>,
    changed: SystemTime,
    media_type: &'static str,
}

impl FolderSite {
    /// Opens a folder.
    pub fn open(folder: &Path) -> io::Result<Self> {
        let root = folder.canonicalize()?;
        if !root.is_dir() {
            return Err(io::Error::from(io::ErrorKind::NotADirectory));
        }
        Ok(Self { root, versions: watch::Sender::default() })
    }

    /// Returns the paths of the subscription documents in the folder and in its folders, as addresses without the host.
    pub fn feeds(&self) -> io::Result<Vec<String>> {
        let mut feeds = Vec::new();
        for place in std::fs::read_dir(&self.root)? {
            let place = place?;
            let name = place.file_name().to_string_lossy().into_owned();
            if name == SUBSCRIPTION_NAME {
                feeds.push(format!("/{name}"));
            } else if place.path().join(SUBSCRIPTION_NAME).is_file() {
                feeds.push(format!("/{name}/{SUBSCRIPTION_NAME}"));
            }
        }
        feeds.sort_unstable();
        Ok(feeds)
    }

    /// Answers a request.
    pub fn answer(&self, request: &ServedRequest) -> ServedAnswer {
        if !is_local_host(request.header("host")) {
            // A web page could let a name of its own point to this machine, to read what is served here.
            return ServedAnswer::plain(
                421,
                "this server answers only as 127.0.0.1 or localhost\n",
            );
        }
        if !matches!(request.method.as_str(), "GET" | "HEAD") {
            let mut refused = ServedAnswer::plain(405, "only GET and HEAD are allowed\n");
            refused.headers.push(("allow".to_owned(), "GET, HEAD".to_owned()));
            return refused;
        }
        if request.path() == "/" {
            return self.list();
        }
        match self.find(request.path()) {
            Some(found) => self.deliver(request, found),
            None => ServedAnswer::plain(404, "there is no such file\n"),
        }
    }

    fn list(&self) -> ServedAnswer {
        let feeds = self.feeds().unwrap_or_default();
        let lines: String = feeds.into_iter().map(|feed| feed + "\n").collect();
        ServedAnswer::plain(200, lines)
    }

    /// Reads the file at a path of an address; `None` if there is none that may be served.
    fn find(&self, path: &str) -> Option<FoundFile> {
        let path = percent_decode_str(path).decode_utf8().ok()?;
        let mut file = self.root.clone();
        for part in path.strip_prefix('/')?.split('/') {
            let is_name =
                !part.is_empty() && !part.starts_with('.') && !part.contains(['\\', '\0']);
            if !is_name {
                return None;
            }
            file.push(part);
        }
        // Resolve links first, so that no link leads out of the folder.
        let file = file.canonicalize().ok().filter(|file| file.starts_with(&self.root))?;
        let open = regular_files::open(&file).ok()?;
        let about = open.metadata().ok()?;
        if about.len() > FILE_BYTES_MAX {
            return None;
        }
        let mut bytes = Vec::new();
        open.take(FILE_BYTES_MAX).read_to_end(&mut bytes).ok()?;
        let extension = file.extension().and_then(|extension| extension.to_str());
        let media_type = media_type(extension.unwrap_or_default(), &bytes);
        Some(FoundFile { bytes, changed: about.modified().ok()?, media_type })
    }

    fn deliver(&self, request: &ServedRequest, found: FoundFile) -> ServedAnswer {
        let FoundFile { bytes, changed, media_type } = found;
        let tag = format!("\"{:016x}\"", hash(&bytes));
        let entries = split(&bytes);
        let mut headers = vec![
            ("etag".to_owned(), tag.clone()),
            ("last-modified".to_owned(), httpdate::fmt_http_date(changed)),
            ("cache-control".to_owned(), cache_control(&bytes).to_owned()),
            ("vary".to_owned(), "accept-encoding, a-im".to_owned()),
        ];
        let known = request.header("if-none-match");
        if is_unchanged(known, request.header("if-modified-since"), &tag, changed) {
            return ServedAnswer { status: 304, headers, body: Vec::new() };
        }
        let delta = entries.as_ref().and_then(|entries| self.delta(request, known?, entries));
        if let Some(entries) = &entries {
            self.remember(tag, entries);
        }
        headers.push(("content-type".to_owned(), media_type.to_owned()));
        let (status, body) = match delta {
            Some(delta) => {
                headers.push(("im".to_owned(), "feed".to_owned()));
                (226, delta)
            }
            None => (200, bytes),
        };
        let mut answer = ServedAnswer { status, headers, body };
        if answer.body.len() >= GZIP_BYTES_MIN && accepts_gzip(request.header("accept-encoding")) {
            compress(&mut answer);
        }
        answer
    }

    /// Returns the document with only those entries that the client's version does not contain. Returns `None` if the client did
    /// not request that, or if its version is not known.
    fn delta(
        &self,
        request: &ServedRequest,
        known: &str,
        entries: &Entries<'_>,
    ) -> Option<Vec<u8>> {
        let asks = request.header("a-im")?;
        asks.split(',').find(|name| {
            name.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case("feed")
        })?;
        let versions = self.versions.borrow();
        let (_, before) = versions.iter().find(|(tag, _)| known.contains(tag.as_str()))?;
        let new = entries.list.iter().filter(|entry| !before.contains(&hash(entry.as_bytes())));
        let new: String = new.copied().collect();
        Some(format!("{}{new}{}", entries.head, entries.end).into_bytes())
    }

    fn remember(&self, tag: String, entries: &Entries<'_>) {
        let hashes = entries.list.iter().map(|entry| hash(entry.as_bytes())).collect();
        self.versions.send_modify(|versions| {
            if versions.len() >= VERSIONS_MAX {
                versions.clear();
            }
            versions.insert(tag, hashes);
        });
    }
}

/// A document written by `backissue publish`, divided at its entries.
struct Entries<'a> {
    head: &'a str,
    list: Vec<&'a str>,
    end: &'a str,
}

/// Divides a document at its entries. Returns `None` if it was not written by `backissue publish`.
fn split(bytes: &[u8]) -> Option<Entries<'_>> {
    const START: &str = "<entry>\n";
    const END: &str = "</entry>\n";
    let text = std::str::from_utf8(bytes).ok().filter(|text| text.contains(GENERATOR_MARK))?;
    let (mut rest, mut entries) = (text, Vec::new());
    let head = match text.find(START) {
        // Entries that are missing in a complete document are no longer part of the feed, which a delta cannot express.
        Some(first) => text.get(..first).filter(|head| !head.contains("<fh:complete/>"))?,
        None => text.strip_suffix("</feed>\n")?,
    };
    rest = rest.get(head.len()..)?;
    while rest.starts_with(START) {
        let length = rest.find(END)? + END.len();
        entries.push(rest.get(..length)?);
        rest = rest.get(length..)?;
    }
    Some(Entries { head, list: entries, end: rest })
}

/// Checks whether the client has the current version. The date is used only if the client sends no entity tags (RFC 9110 section
/// 13.1.3).
fn is_unchanged(known: Option<&str>, since: Option<&str>, tag: &str, changed: SystemTime) -> bool {
    match (known, since.and_then(|since| httpdate::parse_http_date(since).ok())) {
        (Some(known), _) => names(known, tag),
        // The date has no fractions of a second.
        (None, Some(since)) => {
            changed.duration_since(since).map_or(true, |later| later.as_secs() == 0)
        }
        (None, None) => false,
    }
}

/// An archive rarely changes, and a subscription document may change at any time.
fn cache_control(bytes: &[u8]) -> &'static str {
    let start = bytes.get(..START_BYTES.min(bytes.len())).unwrap_or_default();
    let is_archive = String::from_utf8_lossy(start).contains("<fh:archive/>");
    if is_archive { "max-age=86400" } else { "no-cache" }
}

fn media_type(extension: &str, bytes: &[u8]) -> &'static str {
    let extension = extension.to_ascii_lowercase();
    let start = bytes.get(..START_BYTES.min(bytes.len())).unwrap_or_default();
    let start = String::from_utf8_lossy(start);
    let of = |extension: &str| {
        let found = TYPES.iter().find(|(known, _)| *known == extension);
        found.map_or("application/octet-stream", |(_, kind)| *kind)
    };
    if extension != "xml" {
        return of(&extension);
    }
    let roots = [("<rss", "rss"), ("<feed", "atom"), ("<rdf:RDF", "rdf")];
    let root = roots.iter().find(|(root, _)| start.contains(root));
    of(root.map_or("xml", |(_, extension)| extension))
}

fn compress(answer: &mut ServedAnswer) {
    let Some(body) = gzip(&answer.body) else { return };
    answer.body = body;
    // The tag identifies the uncompressed bytes, so it becomes weak (RFC 9110 section 8.8.1).
    for (_, tag) in answer.headers.iter_mut().filter(|(name, _)| name == "etag") {
        *tag = format!("W/{tag}");
    }
    answer.headers.push(("content-encoding".to_owned(), "gzip".to_owned()));
}

/// Checks whether a request names this machine.
fn is_local_host(host: Option<&str>) -> bool {
    let name = host.unwrap_or_default();
    let name = name.rsplit_once(':').map_or(name, |(name, _)| name);
    name.eq_ignore_ascii_case("localhost") || name == "127.0.0.1"
}

fn hash(bytes: &[u8]) -> u64 {
    let mut hasher = SipHasher13::new();
    hasher.write(bytes);
    hasher.finish()
}

#[cfg(test)]
#[path = "folder_site_tests.rs"]
mod tests;
