//! Reads a response: its relevant headers, and its body, which is decoded while it arrives, within limits (SPEC D.1, D.8, G.31).
//!
//! Only decoded bytes are kept, and never more than the limits allow, so that no response can exhaust memory.

use std::fmt;
use std::io::{self, Write};

use backissue_core::feed::candidates::{Candidate, feeds_in_link_header, refresh_address};
use backissue_core::feed::page_feeds::{PageFeeds, read_page_feeds};
use backissue_core::feed::text::one_line;
use backissue_core::feed::{self, Kind, Origin};
use backissue_core::schedule::announces_limit;
use brotli_decompressor::DecompressorWriter;
use flate2::write::GzDecoder;
use flate2::{Decompress, FlushDecompress, Status};
use reqwest::StatusCode;
use reqwest::header::{self, HeaderMap, HeaderName};
use url::Url;

use crate::engine::poll::fetch::{self, AnswerBody, AnswerHeaders, FetchFailure};

/// Number of decoded bytes above which the compression ratio is checked (SPEC 0, `RATIO_MAX`).
const RATIO_FROM_BYTES: usize = 1024 * 1024;
/// Size of the decoding buffer, bytes.
const STEP_BYTES: usize = 16 * 1024;
/// Number of bytes at the start of a body that are needed to recognise its encoding.
const MARK_BYTES: usize = 5;
/// Texts that an uncompressed document may start with.
const MARKUP: [&[u8]; 6] = [b"<?xml", b"<rss ", b"<feed", b"<!DOC", b"<!doc", b"<html"];
const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];
/// Maximum number of members in a gzip body.
const GZIP_MEMBERS_MAX: usize = 10_000;
/// Maximum length of an encoding name in a message, in characters.
const NAME_CHARS_MAX: usize = 60;

/// Limits on the body of a response (SPEC 0).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BodyLimits {
    /// Maximum size as received, bytes.
    pub wire_max: usize,
    /// Maximum size after decoding, bytes.
    pub body_max: usize,
    /// Maximum ratio of decoded to received bytes.
    pub ratio_max: usize,
}

impl Default for BodyLimits {
    fn default() -> Self {
        Self { wire_max: 16 * 1024 * 1024, body_max: 32 * 1024 * 1024, ratio_max: 200 }
    }
}

impl BodyLimits {
    fn too_large(self, excess: Excess) -> FetchFailure {
        let Self { wire_max, body_max, ratio_max } = self;
        FetchFailure::TooLarge(match excess {
            Excess::Wire => format!("more than {}", Bytes(wire_max)),
            Excess::Decoded => format!("more than {} when decompressed", Bytes(body_max)),
            Excess::Ratio => format!("it decompresses to more than {ratio_max} times its size"),
        })
    }
}

/// A body that is being received and decoded.
///
/// A gzip stream is decoded even if `Content-Encoding` does not announce it, an uncompressed body that is announced as compressed
/// is accepted, and a body that is encoded twice is rejected. Unknown encodings are ignored.
pub struct Decoding {
    announced: Announced,
    /// Encodings in `Content-Encoding` that are unknown.
    unknown: Vec<String>,
    limits: BodyLimits,
    wire_bytes: usize,
    stage: BodyDecoder,
}

/// The encoding that `Content-Encoding` announces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Announced {
    /// No encoding or gzip. The first bytes of the body decide which of the two it is.
    PlainOrGzip,
    /// zlib, or the raw deflate stream that some servers send instead.
    Deflate,
    Brotli,
}

enum BodyDecoder {
    /// Too few bytes so far to recognise the encoding.
    Unseen(Vec<u8>),
    Plain(DecodedBytes),
    Gzip(Box<GzipMembers>),
    Deflate(InflateStream),
    Brotli(Box<DecompressorWriter<DecodedBytes>>),
}

impl Decoding {
    /// Starts decoding a body with this `Content-Encoding`.
    pub fn new(encoding: &str, limits: BodyLimits) -> Result<Self, FetchFailure> {
        let names = encoding.split(',').map(|name| name.trim().to_ascii_lowercase());
        let names = names.filter(|name| !matches!(name.as_str(), "" | "identity"));
        let (known, unknown): (Vec<_>, Vec<_>) =
            names.partition(|name| encoding_of(name).is_some());
        let announced = match known.as_slice() {
            [] => Announced::PlainOrGzip,
            [name] => encoding_of(name).unwrap_or(Announced::PlainOrGzip),
            _ => {
                let encoding = one_line(encoding, NAME_CHARS_MAX);
                return Err(FetchFailure::Encoding(format!("it is encoded twice ({encoding})")));
            }
        };
        let stage = BodyDecoder::Unseen(Vec::new());
        Ok(Self { announced, unknown, limits, wire_bytes: 0, stage })
    }

    /// Returns the failure to report if the decoded body turns out not to be a document. Returns `None` if all encodings of the
    /// body were known.
    pub fn unknown_encoding(&self) -> Option<FetchFailure> {
        let names = one_line(&self.unknown.join(", "), NAME_CHARS_MAX);
        let why = format!(
            "it uses the encoding '{names}', which backissue did not request and cannot read"
        );
        (!self.unknown.is_empty()).then_some(FetchFailure::Encoding(why))
    }

    /// Rejects a body whose `Content-Length` exceeds the limit.
    pub fn check_length(&self, length: Option<u64>) -> Result<(), FetchFailure> {
        let max = u64::try_from(self.limits.wire_max).unwrap_or(u64::MAX);
        match length {
            Some(length) if length > max => Err(self.limits.too_large(Excess::Wire)),
            Some(_) | None => Ok(()),
        }
    }

    /// Number of bytes received so far.
    pub fn wire_bytes(&self) -> u64 {
        u64::try_from(self.wire_bytes).unwrap_or(u64::MAX)
    }

    /// Number of bytes decoded so far.
    pub fn decoded_bytes(&self) -> usize {
        match &self.stage {
            BodyDecoder::Unseen(seen) => seen.len(),
            BodyDecoder::Plain(sink) => sink.decoded.len(),
            BodyDecoder::Gzip(members) => members.decoder.get_ref().decoded.len(),
            BodyDecoder::Deflate(decoder) => decoder.sink.decoded.len(),
            BodyDecoder::Brotli(decoder) => decoder.get_ref().decoded.len(),
        }
    }

    /// Decodes the next received bytes.
    pub fn decode_chunk(&mut self, wire: &[u8]) -> Result<(), FetchFailure> {
        self.wire_bytes = self.wire_bytes.saturating_add(wire.len());
        if self.wire_bytes > self.limits.wire_max {
            return Err(self.limits.too_large(Excess::Wire));
        }
        if let BodyDecoder::Unseen(seen) = &mut self.stage {
            seen.extend_from_slice(wire);
            if seen.len() < MARK_BYTES {
                return Ok(());
            }
            let seen = std::mem::take(seen);
            self.stage = self.choose_decoder(&seen);
            return self.step(&seen);
        }
        self.step(wire)
    }

    /// Chooses the decoder according to the first bytes of a body.
    fn choose_decoder(&self, seen: &[u8]) -> BodyDecoder {
        let sink = DecodedBytes::within(self.limits);
        let is_plain = MARKUP.iter().any(|start| seen.starts_with(start));
        match if is_plain { Announced::PlainOrGzip } else { self.announced } {
            Announced::PlainOrGzip if seen.starts_with(&GZIP_MAGIC) => {
                BodyDecoder::Gzip(Box::new(GzipMembers {
                    decoder: GzDecoder::new(sink),
                    members: 1,
                    ended: false,
                }))
            }
            Announced::PlainOrGzip => BodyDecoder::Plain(sink),
            Announced::Deflate => BodyDecoder::Deflate(InflateStream {
                stream: Decompress::new(is_zlib(seen)),
                ended: false,
                sink,
            }),
            Announced::Brotli => {
                BodyDecoder::Brotli(Box::new(DecompressorWriter::new(sink, STEP_BYTES)))
            }
        }
    }

    fn step(&mut self, wire: &[u8]) -> Result<(), FetchFailure> {
        let wire_bytes = self.wire_bytes;
        let taken = match &mut self.stage {
            BodyDecoder::Unseen(_) => Ok(()),
            BodyDecoder::Plain(sink) => sink.set_received(wire_bytes).write_all(wire),
            BodyDecoder::Gzip(members) => {
                members.decoder.get_mut().set_received(wire_bytes);
                members.decode_chunk(wire)
            }
            BodyDecoder::Deflate(decoder) => {
                decoder.sink.set_received(wire_bytes);
                decoder.decode_chunk(wire)
            }
            BodyDecoder::Brotli(decoder) => {
                decoder.get_mut().set_received(wire_bytes);
                decoder.write_all(wire)
            }
        };
        taken.map_err(|error| match excess(&error) {
            Some(excess) => self.limits.too_large(excess),
            None => FetchFailure::Encoding(error.to_string()),
        })
    }

    /// Finishes decoding and returns the whole body.
    pub fn finish(mut self) -> Result<Vec<u8>, FetchFailure> {
        if let BodyDecoder::Unseen(seen) = &self.stage {
            let seen = seen.clone();
            self.stage = self.choose_decoder(&seen);
            self.step(&seen)?;
        }
        let limits = self.limits;
        // The decoders report a truncated stream only as a general error at the end, so the error is replaced here.
        let cut = |error: io::Error| {
            excess(&error).map_or(FetchFailure::CutOff, |excess| limits.too_large(excess))
        };
        let empty = self.wire_bytes == 0;
        let decoded = match self.stage {
            _ if empty => Vec::new(),
            BodyDecoder::Unseen(seen) => seen,
            BodyDecoder::Plain(sink) => sink.decoded,
            BodyDecoder::Gzip(members) => members.decoder.finish().map_err(cut)?.decoded,
            BodyDecoder::Deflate(decoder) if !decoder.ended => return Err(FetchFailure::CutOff),
            BodyDecoder::Deflate(decoder) => decoder.sink.decoded,
            BodyDecoder::Brotli(mut decoder) => {
                decoder.close().map_err(cut)?;
                decoder.into_inner().unwrap_or_else(|sink| sink).decoded
            }
        };
        let twice = decoded.starts_with(&GZIP_MAGIC);
        if twice {
            Err(FetchFailure::Encoding("it is compressed twice".into()))
        } else {
            Ok(decoded)
        }
    }
}

impl fmt::Debug for Decoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Decoding")
            .field("announced", &self.announced)
            .field("wire_bytes", &self.wire_bytes)
            .field("decoded_bytes", &self.decoded_bytes())
            .finish_non_exhaustive()
    }
}

/// Decodes a complete body.
pub fn decode(wire: &[u8], encoding: &str, limits: BodyLimits) -> Result<Vec<u8>, FetchFailure> {
    let mut decoding = Decoding::new(encoding, limits)?;
    decoding.decode_chunk(wire)?;
    decoding.finish()
}

/// Checks whether a `deflate` body has the zlib format (RFC 1950 §2.2), as HTTP requires. A raw deflate stream cannot start with
/// these bytes: its first block would be a stored block with a bit set in the padding.
fn is_zlib(seen: &[u8]) -> bool {
    let [first, second, ..] = *seen else { return true };
    first & 0x0f == 8 && u16::from_be_bytes([first, second]).is_multiple_of(31)
}

/// Returns the encoding for a lowercase name, if it is supported.
fn encoding_of(name: &str) -> Option<Announced> {
    match name {
        "gzip" | "x-gzip" => Some(Announced::PlainOrGzip),
        "deflate" => Some(Announced::Deflate),
        "br" => Some(Announced::Brotli),
        _ => None,
    }
}

/// The state of decoding a gzip stream with one or more members (RFC 1952 §2.2). Trailing bytes that are not a member are
/// ignored.
struct GzipMembers {
    decoder: GzDecoder<DecodedBytes>,
    /// Number of gzip members started so far.
    members: usize,
    ended: bool,
}

impl GzipMembers {
    fn decode_chunk(&mut self, mut wire: &[u8]) -> io::Result<()> {
        while !self.ended && !wire.is_empty() {
            let read = self.decoder.write(wire)?;
            wire = wire.get(read..).unwrap_or_default();
            if read > 0 {
                continue;
            }
            // The current gzip member is complete. Decoding ends unless another member follows.
            self.ended = !GZIP_MAGIC.starts_with(wire) && !wire.starts_with(&GZIP_MAGIC);
            if !self.ended {
                self.begin_member()?;
            }
        }
        Ok(())
    }

    fn begin_member(&mut self) -> io::Result<()> {
        self.members = self.members.saturating_add(1);
        if self.members > GZIP_MEMBERS_MAX {
            return Err(io::Error::other(format!("more than {GZIP_MEMBERS_MAX} gzip members")));
        }
        let limits = self.decoder.get_ref().limits;
        let empty = GzDecoder::new(DecodedBytes::within(limits));
        let decoder = std::mem::replace(&mut self.decoder, empty);
        self.decoder = GzDecoder::new(decoder.finish()?);
        Ok(())
    }
}

/// The state of decoding a deflate stream. Trailing bytes are ignored.
struct InflateStream {
    stream: Decompress,
    ended: bool,
    sink: DecodedBytes,
}

impl InflateStream {
    fn decode_chunk(&mut self, mut wire: &[u8]) -> io::Result<()> {
        let mut step = vec![0; STEP_BYTES];
        while !self.ended {
            let before = (self.stream.total_in(), self.stream.total_out());
            let status = self.stream.decompress(wire, &mut step, FlushDecompress::None)?;
            let count = |now: u64, before: u64| usize::try_from(now - before).unwrap_or(usize::MAX);
            let read = count(self.stream.total_in(), before.0);
            let made = count(self.stream.total_out(), before.1);
            self.sink.write_all(step.get(..made).unwrap_or_default())?;
            wire = wire.get(read..).unwrap_or_default();
            self.ended = status == Status::StreamEnd;
            if (read, made) == (0, 0) {
                break;
            }
        }
        Ok(())
    }
}

/// Collects decoded bytes and fails once they exceed the limits.
struct DecodedBytes {
    decoded: Vec<u8>,
    wire_bytes: usize,
    limits: BodyLimits,
}

impl DecodedBytes {
    const fn within(limits: BodyLimits) -> Self {
        Self { decoded: Vec::new(), wire_bytes: 0, limits }
    }

    /// Sets the number of bytes received so far.
    const fn set_received(&mut self, wire_bytes: usize) -> &mut Self {
        self.wire_bytes = wire_bytes;
        self
    }
}

impl Write for DecodedBytes {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let after = self.decoded.len().saturating_add(bytes.len());
        if after > self.limits.body_max {
            return Err(io::Error::other(Excess::Decoded));
        }
        if after > RATIO_FROM_BYTES && after > self.wire_bytes.saturating_mul(self.limits.ratio_max)
        {
            return Err(io::Error::other(Excess::Ratio));
        }
        self.decoded.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The size limit that a body exceeded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("too large")]
enum Excess {
    Wire,
    Decoded,
    Ratio,
}

fn excess(error: &io::Error) -> Option<Excess> {
    error.get_ref().and_then(|inner| inner.downcast_ref::<Excess>()).copied()
}

/// Displays a number of bytes, in KiB or MiB if the number is large enough.
struct Bytes(usize);

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            bytes if bytes >= 1 << 20 => write!(f, "{} MiB", bytes >> 20),
            bytes if bytes >= 1 << 10 => write!(f, "{} KiB", bytes >> 10),
            bytes => write!(f, "{bytes} bytes"),
        }
    }
}

/// Maximum number of headers about rate limits that are read.
const RATE_LIMITS_MAX: usize = 16;
/// Maximum length of such a header, in characters.
const RATE_LIMIT_CHARS_MAX: usize = 500;

/// The response header that names the instance manipulation, which marks a delta (RFC 3229 §10.5.2).
const IM: HeaderName = HeaderName::from_static("im");
/// The response header with the entity tag of the version that a delta is based on (RFC 3229 §10.5.1).
const DELTA_BASE: HeaderName = HeaderName::from_static("delta-base");

pub(super) fn answer_headers(status: StatusCode, headers: &HeaderMap) -> AnswerHeaders {
    let bytes = |name: HeaderName| headers.get(name).map(|value| value.as_bytes().to_vec());
    AnswerHeaders {
        etag: bytes(header::ETAG),
        last_modified: bytes(header::LAST_MODIFIED),
        content_type: joined_header(headers, &header::CONTENT_TYPE),
        cache_control: joined_header(headers, &header::CACHE_CONTROL),
        expires: joined_header(headers, &header::EXPIRES),
        date: joined_header(headers, &header::DATE),
        age: joined_header(headers, &header::AGE),
        retry_after: joined_header(headers, &header::RETRY_AFTER),
        rate_limits: rate_limits(headers),
        im: joined_header(headers, &IM),
        delta_base: joined_header(headers, &DELTA_BASE),
        vary: joined_header(headers, &header::VARY),
        www_authenticate: joined_header(headers, &header::WWW_AUTHENTICATE),
        link: joined_header(headers, &header::LINK),
        wall: fetch::named_by_headers(status.as_u16(), |name| {
            joined_header(headers, &HeaderName::from_static(name))
        }),
    }
}

/// Returns the headers that announce rate limits, each in a line of its own.
fn rate_limits(headers: &HeaderMap) -> Option<String> {
    let lines = headers.keys().filter(|name| announces_limit(name.as_str())).filter_map(|name| {
        let value = joined_header(headers, name)?;
        Some(format!("{name}: {}", one_line(&value, RATE_LIMIT_CHARS_MAX)))
    });
    let lines: Vec<String> = lines.take(RATE_LIMITS_MAX).collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

/// Joins all lines of a header with commas (RFC 9110 §5.3).
pub(super) fn joined_header(headers: &HeaderMap, name: &HeaderName) -> Option<String> {
    let lines: Vec<String> = headers
        .get_all(name)
        .iter()
        .map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned())
        .collect();
    (!lines.is_empty()).then(|| lines.join(", "))
}

/// Parses a decoded body. The content determines the kind of document, not the `Content-Type` (SPEC D.1).
pub fn read_body(bytes: &[u8], url: &str, content_type: Option<&str>) -> AnswerBody {
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return AnswerBody::Empty;
    }
    let document = feed::parse(bytes, &Origin { url: Some(url), content_type });
    if document.kind == Kind::None && looks_like_html(bytes, content_type) {
        let PageFeeds { title, named: candidates, leads } = read_page_feeds(bytes, url);
        return AnswerBody::Page { title, candidates, leads };
    }
    AnswerBody::Document(Box::new(document))
}

/// The `Link` and `Refresh` headers of a response, which may lead from a web page to its feeds.
pub(super) struct PageHeaders {
    link: String,
    refresh: String,
}

impl PageHeaders {
    pub(super) fn read(headers: &HeaderMap) -> Self {
        let read = |name| joined_header(headers, &name).unwrap_or_default();
        Self { link: read(header::LINK), refresh: read(header::REFRESH) }
    }

    /// Adds the feeds that these headers name to a body that is not a document, after the references found in the page itself.
    pub(super) fn add_to(&self, body: AnswerBody, url: &str) -> AnswerBody {
        let named = feeds_in_link_header(&self.link, url);
        let base = Url::parse(url).ok();
        let refresh = base.and_then(|base| refresh_address(&self.refresh, &base, url));
        let is_document = is_readable(&body) && body != AnswerBody::Empty;
        let (title, mut candidates, mut leads) =
            if let AnswerBody::Page { title, candidates, leads } = body {
                (title, candidates, leads)
            } else if is_document || (named.is_empty() && refresh.is_none()) {
                return body;
            } else {
                Default::default()
            };
        let (general, named): (Vec<_>, Vec<_>) = named.into_iter().partition(Candidate::is_general);
        leads.stated.extend(general.into_iter().map(|candidate| candidate.url));
        for candidate in named {
            if candidates.iter().all(|known: &Candidate| known.url != candidate.url) {
                candidates.push(candidate);
            }
        }
        leads.refresh = leads.refresh.or(refresh);
        AnswerBody::Page { title, candidates, leads }
    }
}

/// Checks whether a body was parsed successfully: as a document, or as a page with a title or a link to a feed.
pub(super) fn is_readable(body: &AnswerBody) -> bool {
    match body {
        AnswerBody::Document(document) => document.kind != Kind::None,
        AnswerBody::Page { title, candidates, .. } => title.is_some() || !candidates.is_empty(),
        AnswerBody::Article(article) => article.is_ok(),
        AnswerBody::Picture(_)
        | AnswerBody::Listing(_)
        | AnswerBody::Robots(_)
        | AnswerBody::Empty
        | AnswerBody::Unread => true,
    }
}

fn looks_like_html(bytes: &[u8], content_type: Option<&str>) -> bool {
    let head = bytes.get(..bytes.len().min(2048)).unwrap_or_default().to_ascii_lowercase();
    let marks: [&[u8]; 4] = [b"<!doctype html", b"<html", b"<head", b"<body"];
    if memchr::memmem::find(&head, b"<opml").is_some() {
        return false;
    }
    let marked = marks.iter().any(|mark| memchr::memmem::find(&head, mark).is_some());
    marked || content_type.is_some_and(|text| text.to_ascii_lowercase().contains("html"))
}

#[cfg(test)]
#[path = "body_tests.rs"]
mod tests;
