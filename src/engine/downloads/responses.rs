//! What to request for a file of which a part is there, and what the answer means (RFC 9110 §14, SPEC D.10).

use super::record::FileVersion;
use crate::engine::poll::classify_response::status_words;
use backissue_core::feed::text::one_line;

/// Maximum length of a validator that is sent back, in bytes. Longer ones are ignored.
const VALIDATOR_MAX: usize = 1024;

/// The range to request of a file of which a part is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RangeRequest {
    /// Number of bytes that are there.
    pub from: u64,
    /// `If-Range`: the server sends the whole file if this does not describe it any more.
    pub if_range: Option<String>,
}

/// The parts of a response that matter for a download.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FileAnswer {
    /// HTTP status.
    pub status: u16,
    /// `ETag`.
    pub etag: Option<String>,
    /// `Last-Modified`.
    pub last_modified: Option<String>,
    /// `Content-Length`.
    pub length: Option<u64>,
    /// `Content-Range`.
    pub range: Option<String>,
    /// `Content-Type`.
    pub content_type: Option<String>,
    /// `Content-Encoding`.
    pub encoding: Option<String>,
}

/// What the answer to a request for a file means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DownloadVerdict {
    /// The body continues the part that is there.
    Continue(FileVersion),
    /// The body is the whole file.
    Whole(FileVersion),
    /// The part that is there is the whole file.
    Complete,
    /// The part belongs to another version, or the server does not understand the range: request the whole file.
    StartOver,
    /// Try again later. Contains the reason as a sentence fragment.
    Retry(String),
    /// The file cannot be had. Contains the reason as a sentence fragment.
    Refused(String),
}

/// Returns the range to request of a file of which `received` bytes are there; `None` to request the whole file, because nothing is
/// there, or nothing would tell whether the file changed.
pub fn range_request(received: u64, version: &FileVersion) -> Option<RangeRequest> {
    if received == 0 {
        return None;
    }
    let strong = version.etag.as_ref().filter(|etag| !etag.starts_with("W/"));
    let if_range = strong.or(version.last_modified.as_ref()).cloned();
    // Without a validator for `If-Range`, the headers of the answer must show that the file is the same.
    let is_known = if_range.is_some() || version.etag.is_some() || version.size.is_some();
    is_known.then_some(RangeRequest { from: received, if_range })
}

/// Decides what an answer means. `asked` is the range that was requested, `version` what the part belongs to, and `bytes_max` the
/// maximum size of a file.
pub fn classify(
    answer: &FileAnswer,
    asked: Option<&RangeRequest>,
    version: &FileVersion,
    wanted_type: Option<&str>,
    bytes_max: u64,
) -> DownloadVerdict {
    match (answer.status, asked) {
        (206, Some(asked)) => continued(answer, asked, version, bytes_max),
        (416, Some(asked)) => beyond_the_end(answer, asked, version),
        (200 | 203, _) => whole(answer, wanted_type, bytes_max),
        // A range that was not requested.
        (206 | 416, None) => DownloadVerdict::Refused(status_words(answer.status)),
        (408 | 425 | 429 | 500..=599, _) => DownloadVerdict::Retry(status_words(answer.status)),
        (status, _) => DownloadVerdict::Refused(status_words(status)),
    }
}

fn continued(
    answer: &FileAnswer,
    asked: &RangeRequest,
    version: &FileVersion,
    bytes_max: u64,
) -> DownloadVerdict {
    let Some(ContentRange::Part { from, size, .. }) = content_range(answer) else {
        return DownloadVerdict::StartOver;
    };
    let differs = |before: &Option<String>, now: &Option<String>| {
        before.is_some() && now.is_some() && before != now
    };
    let changed = differs(&version.etag, &answer.etag)
        || (version.etag.is_none() && differs(&version.last_modified, &answer.last_modified))
        || (version.size.is_some() && size.is_some() && version.size != size);
    // Without `If-Range`, the server did not compare anything.
    let is_compared = asked.if_range.is_some()
        || (version.etag.is_some() && version.etag == answer.etag)
        || (version.size.is_some() && version.size == size);
    if from != asked.from || changed || !is_compared || is_encoded(answer).is_some() {
        return DownloadVerdict::StartOver;
    }
    if let Some(why) = too_large(size, bytes_max) {
        return DownloadVerdict::Refused(why);
    }
    DownloadVerdict::Continue(FileVersion { size: size.or(version.size), ..stated(answer) })
}

/// The part is as long as the file, or longer.
fn beyond_the_end(
    answer: &FileAnswer,
    asked: &RangeRequest,
    version: &FileVersion,
) -> DownloadVerdict {
    let size = match content_range(answer) {
        Some(ContentRange::Beyond { size }) => Some(size),
        Some(ContentRange::Part { .. }) | None => None,
    };
    let is_whole = size == Some(asked.from) && version.size.is_none_or(|known| known == asked.from);
    let is_same = version.etag.is_none() || answer.etag.is_none() || version.etag == answer.etag;
    if is_whole && is_same { DownloadVerdict::Complete } else { DownloadVerdict::StartOver }
}

fn whole(answer: &FileAnswer, wanted_type: Option<&str>, bytes_max: u64) -> DownloadVerdict {
    if let Some(encoding) = is_encoded(answer) {
        return DownloadVerdict::Refused(format!("the server compresses the file ({encoding})"));
    }
    let sent = answer.content_type.as_deref().unwrap_or_default().to_ascii_lowercase();
    let wanted = wanted_type.unwrap_or_default().to_ascii_lowercase();
    let is_media = ["audio/", "video/"].iter().any(|kind| wanted.starts_with(kind));
    if is_media && sent.starts_with("text/html") {
        return DownloadVerdict::Refused(
            "the server sends a web page instead of the file".to_owned(),
        );
    }
    if let Some(why) = too_large(answer.length, bytes_max) {
        return DownloadVerdict::Refused(why);
    }
    DownloadVerdict::Whole(FileVersion { size: answer.length, ..stated(answer) })
}

/// Returns why a file is too large, as a sentence fragment.
pub fn too_large(size: Option<u64>, bytes_max: u64) -> Option<String> {
    size.filter(|&size| size > bytes_max)
        .map(|_| format!("it is larger than [downloads] max_mb = {} allows", bytes_max / 1_000_000))
}

fn stated(answer: &FileAnswer) -> FileVersion {
    let short = |text: &Option<String>| text.clone().filter(|text| text.len() <= VALIDATOR_MAX);
    FileVersion {
        etag: short(&answer.etag),
        last_modified: short(&answer.last_modified),
        size: None,
    }
}

/// Returns the encoding of the body, which was not requested.
fn is_encoded(answer: &FileAnswer) -> Option<String> {
    let encoding = answer.encoding.as_deref().unwrap_or_default().trim().to_ascii_lowercase();
    (!encoding.is_empty() && encoding != "identity").then(|| one_line(&encoding, 40))
}

/// A `Content-Range` in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ContentRange {
    /// `bytes 5-9/10`
    Part { from: u64, to: u64, size: Option<u64> },
    /// `bytes */10`
    Beyond { size: u64 },
}

fn content_range(answer: &FileAnswer) -> Option<ContentRange> {
    let text = answer.range.as_deref()?.trim();
    let (unit, rest) = text.split_once([' ', '='])?;
    let (range, size) = rest.split_once('/')?;
    if !unit.eq_ignore_ascii_case("bytes") {
        return None;
    }
    let size = match size.trim() {
        "*" => None,
        digits => Some(digits.parse().ok()?),
    };
    if range.trim() == "*" {
        return Some(ContentRange::Beyond { size: size? });
    }
    let (from, to) = range.split_once('-')?;
    let (from, to): (u64, u64) = (from.trim().parse().ok()?, to.trim().parse().ok()?);
    let is_sound = from <= to && size.is_none_or(|size| to < size);
    is_sound.then_some(ContentRange::Part { from, to, size })
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAX: u64 = 1_000_000_000;

    fn version(etag: Option<&str>, last_modified: Option<&str>, size: Option<u64>) -> FileVersion {
        let text = |text: Option<&str>| text.map(str::to_owned);
        FileVersion { etag: text(etag), last_modified: text(last_modified), size }
    }

    fn answer(status: u16, range: Option<&str>, etag: Option<&str>) -> FileAnswer {
        let text = |text: Option<&str>| text.map(str::to_owned);
        FileAnswer { status, range: text(range), etag: text(etag), ..FileAnswer::default() }
    }

    #[test]
    fn a_range_is_requested_only_if_a_change_would_be_noticed() {
        for (received, version, expected) in [
            (0, version(Some("\"a\""), None, Some(9)), None),
            (5, version(None, None, None), None),
            (5, version(Some("\"a\""), Some("Mon"), None), Some(Some("\"a\""))),
            (5, version(Some("W/\"a\""), Some("Mon"), None), Some(Some("Mon"))),
            (5, version(Some("W/\"a\""), None, None), Some(None)),
            (5, version(None, None, Some(9)), Some(None)),
        ] {
            let expected = expected.map(|if_range: Option<&str>| RangeRequest {
                from: received,
                if_range: if_range.map(str::to_owned),
            });
            assert_eq!(range_request(received, &version), expected, "{version:?}");
        }
    }

    #[test]
    fn a_part_is_continued_only_in_the_same_version() {
        let known = version(Some("\"a\""), None, Some(10));
        let weak = version(Some("W/\"a\""), None, None);
        let size = version(None, None, Some(10));
        let dated = version(None, Some("Mon"), None);
        for (version, range, etag, continues) in [
            (&known, "bytes 5-9/10", Some("\"a\""), true),
            (&known, "bytes 5-9/10", None, true),
            (&known, "bytes 5-9/*", Some("\"a\""), true),
            (&known, "bytes 5-9/10", Some("\"b\""), false),
            (&known, "bytes 5-9/11", Some("\"a\""), false),
            (&known, "bytes 4-9/10", Some("\"a\""), false),
            (&known, "bytes 5-10/10", Some("\"a\""), false),
            (&known, "items 5-9/10", Some("\"a\""), false),
            (&known, "", Some("\"a\""), false),
            (&weak, "bytes 5-9/10", Some("W/\"a\""), true),
            (&weak, "bytes 5-9/10", None, false),
            (&size, "bytes 5-9/10", None, true),
            (&size, "bytes 5-9/*", None, false),
            (&dated, "bytes 5-9/10", None, true),
        ] {
            let asked = range_request(5, version);
            let verdict =
                classify(&answer(206, Some(range), etag), asked.as_ref(), version, None, MAX);
            let is_continued = matches!(verdict, DownloadVerdict::Continue(_));
            assert_eq!(is_continued, continues, "{range} {etag:?}: {verdict:?}");
            assert!(is_continued || verdict == DownloadVerdict::StartOver, "{verdict:?}");
        }
    }

    #[test]
    fn a_range_beyond_the_end_means_complete_or_another_file() {
        let known = version(Some("\"a\""), None, Some(10));
        for (received, range, etag, expected) in [
            (10, Some("bytes */10"), None, DownloadVerdict::Complete),
            (10, Some("bytes */10"), Some("\"b\""), DownloadVerdict::StartOver),
            (10, Some("bytes */8"), None, DownloadVerdict::StartOver),
            (12, Some("bytes */10"), None, DownloadVerdict::StartOver),
            (10, None, None, DownloadVerdict::StartOver),
        ] {
            let asked = range_request(received, &known);
            let verdict = classify(&answer(416, range, etag), asked.as_ref(), &known, None, MAX);
            assert_eq!(verdict, expected, "{received} {range:?} {etag:?}");
        }
    }

    #[test]
    fn other_answers_start_over_or_end_or_wait() {
        let known = version(Some("\"a\""), None, Some(10));
        let asked = range_request(5, &known);
        let ask =
            |answer: &FileAnswer| classify(answer, asked.as_ref(), &known, Some("audio/mpeg"), MAX);
        assert!(
            matches!(ask(&answer(200, None, None)), DownloadVerdict::Whole(_)),
            "ranges are ignored"
        );
        for status in [408, 429, 500, 503] {
            assert!(
                matches!(ask(&answer(status, None, None)), DownloadVerdict::Retry(_)),
                "{status}"
            );
        }
        for status in [204, 401, 403, 404, 410, 304] {
            assert!(
                matches!(ask(&answer(status, None, None)), DownloadVerdict::Refused(_)),
                "{status}"
            );
        }
        let page = FileAnswer { content_type: Some("text/html".into()), ..answer(200, None, None) };
        assert!(matches!(ask(&page), DownloadVerdict::Refused(why) if why.contains("web page")));
        let zipped = FileAnswer { encoding: Some("gzip".into()), ..answer(200, None, None) };
        assert!(matches!(ask(&zipped), DownloadVerdict::Refused(why) if why.contains("(gzip)")));
        let large = FileAnswer { length: Some(MAX + 1), ..answer(200, None, None) };
        assert!(
            matches!(ask(&large), DownloadVerdict::Refused(why) if why.contains("max_mb = 1000"))
        );
        let unasked = answer(206, Some("bytes 0-9/10"), None);
        assert!(matches!(classify(&unasked, None, &known, None, MAX), DownloadVerdict::Refused(_)));
    }
}
