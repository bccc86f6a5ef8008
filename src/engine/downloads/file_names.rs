//! Section `[downloads]` of the configuration, and the names of downloaded files: the user's template, filled with texts of the
//! publisher that cannot leave the folder.

use backissue_core::feed::characters::is_hidden;
use backissue_core::feed::text::one_line;
use backissue_core::{InputFlaw, flaw};
use chrono::{DateTime, Utc};
use chrono_tz::Tz;

use super::record::Download;
use crate::engine::external_command::ExternalCommand;

/// Maximum length of one part of a path in bytes. File systems allow 255; the rest is for a number, the extension and `.part`.
const PART_BYTES_MAX: usize = 200;
/// Maximum length of an extension, in characters.
const EXTENSION_MAX: usize = 5;
/// Maximum number of parts of a path below the folder.
const PARTS_MAX: usize = 8;
/// Placeholders of a template.
const PLACES: [&str; 4] = ["{feed}", "{date}", "{title}", "{name}"];
/// Name of a file or folder whose texts are empty.
const NAMELESS: &str = "untitled";

/// The template of file names, checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NameTemplate(String);

impl Default for NameTemplate {
    fn default() -> Self {
        Self("{feed}/{date} {title}".to_owned())
    }
}

impl NameTemplate {
    /// Checks a template. The error is a sentence.
    pub fn new(text: &str) -> Result<Self, InputFlaw> {
        let mut rest = text;
        while let Some((_, after)) = rest.split_once('{') {
            let Some((name, behind)) = after.split_once('}') else {
                return Err(flaw!("'{text}': a brace is not closed"));
            };
            if !PLACES.iter().any(|place| place.trim_matches(['{', '}']) == name) {
                let known = PLACES.join(", ");
                return Err(flaw!("'{text}': {{{name}}} is not one of {known}"));
            }
            rest = behind;
        }
        let parts: Vec<&str> = text.split('/').map(str::trim).collect();
        if parts.iter().any(|part| matches!(*part, "" | "." | "..")) || parts.len() > PARTS_MAX {
            return Err(flaw!(
                "'{text}' must be a path below the folder, such as {{feed}}/{{date}} {{title}}"
            ));
        }
        if text.contains(|char: char| char.is_control()) {
            return Err(flaw!("'{}' contains a control character", text.escape_debug()));
        }
        Ok(Self(text.to_owned()))
    }
}

/// Returns the path of a file below the folder for downloads: the template with the texts of the download, and an extension. If
/// `is_taken` says that a path is taken, a number is added.
pub fn file_path(
    template: &NameTemplate,
    download: &Download,
    zone: Tz,
    is_taken: impl Fn(&str) -> bool,
) -> String {
    let extension = extension(&download.url, download.media_type.as_deref());
    let parts: Vec<String> =
        template.0.split('/').map(|part| safe_part(&filled(part, download, zone))).collect();
    let stem = parts.join("/");
    let path = |number: u32| match number {
        1 => format!("{stem}.{extension}"),
        number => format!("{stem} ({number}).{extension}"),
    };
    let numbered = (1..=u32::MAX).map(path).find(|path| !is_taken(path));
    numbered.unwrap_or_else(|| path(1))
}

fn filled(part: &str, download: &Download, zone: Tz) -> String {
    let name = url_name(&download.url);
    let name = name.rsplit_once('.').map_or(name.as_str(), |(stem, _)| stem);
    // Each text is put in its place once, so that a brace in a title is not a placeholder.
    let mut text = String::new();
    let mut rest = part;
    while let Some((before, after)) = rest.split_once('{') {
        text.push_str(before);
        let (place, behind) = after.split_once('}').unwrap_or((after, ""));
        match place {
            "feed" => text.push_str(&without_slashes(&download.feed_title)),
            "date" => text.push_str(&day(download.date, zone)),
            "title" => text.push_str(&without_slashes(&download.title)),
            _ => text.push_str(&without_slashes(name)),
        }
        rest = behind;
    }
    text.push_str(rest);
    text
}

fn day(date: DateTime<Utc>, zone: Tz) -> String {
    date.with_timezone(&zone).format("%Y-%m-%d").to_string()
}

/// Returns a file name for something with this title.
pub fn title_name(title: &str, extension: &str) -> String {
    format!("{}.{extension}", safe_part(&without_slashes(title)))
}

fn without_slashes(text: &str) -> String {
    text.replace(['/', '\\'], "-")
}

/// Makes one part of a path harmless: no control or hidden characters, none that other systems refuse, no leading dot or dash, and
/// not too long.
fn safe_part(text: &str) -> String {
    let line = one_line(text, PART_BYTES_MAX);
    let kept = line.chars().filter(|char| !char.is_control() && !is_hidden(*char));
    let kept: String =
        kept.map(|char| if ":*?\"<>|".contains(char) { '-' } else { char }).collect();
    let kept = kept.trim_start_matches(['.', '-', '~', ' ']);
    let end = kept.floor_char_boundary(PART_BYTES_MAX);
    let kept = kept.get(..end).unwrap_or_default().trim_end_matches(['.', ' ']);
    if kept.is_empty() { NAMELESS.to_owned() } else { kept.to_owned() }
}

/// Returns the last part of the path of an address, decoded.
fn url_name(address: &str) -> String {
    let url = url::Url::parse(address).ok();
    let name = url.and_then(|url| Some(url.path_segments()?.next_back()?.to_owned()));
    let name = name.unwrap_or_default();
    percent_encoding::percent_decode_str(&name).decode_utf8_lossy().into_owned()
}

/// Returns the extension of a file: the one in its address if it looks like one, or else the usual one of the media type.
fn extension(address: &str, media_type: Option<&str>) -> String {
    let name = url_name(address);
    let written = name.rsplit_once('.').map(|(_, end)| end.to_ascii_lowercase());
    let is_extension = |end: &String| {
        (1..=EXTENSION_MAX).contains(&end.chars().count())
            && end.chars().all(|char| char.is_ascii_alphanumeric())
            && end.chars().any(|char| char.is_ascii_alphabetic())
            // A script that sends the file.
            && !["php", "asp", "aspx", "jsp", "cgi", "html", "htm"].contains(&end.as_str())
    };
    let kind = media_type.unwrap_or_default().split(';').next().unwrap_or_default().trim();
    written.filter(is_extension).unwrap_or_else(|| usual_extension(kind).to_owned())
}

fn usual_extension(media_type: &str) -> &'static str {
    match media_type.to_ascii_lowercase().as_str() {
        "audio/mp4" | "audio/x-m4a" | "audio/m4a" => "m4a",
        "audio/ogg" | "application/ogg" => "ogg",
        "audio/opus" => "opus",
        "audio/aac" => "aac",
        "audio/flac" | "audio/x-flac" => "flac",
        "audio/wav" | "audio/x-wav" => "wav",
        "video/mp4" => "mp4",
        "video/webm" => "webm",
        "video/quicktime" => "mov",
        "application/pdf" => "pdf",
        "application/epub+zip" => "epub",
        "application/zip" => "zip",
        "image/jpeg" => "jpg",
        "image/png" => "png",
        kind if kind.starts_with("audio/") => "mp3",
        kind if kind.starts_with("video/") => "mp4",
        _ => "bin",
    }
}

/// Player that is used if none is configured. The leading `!` gives it the terminal, so that its keys work.
pub const USUAL_PLAYER: &str = "!mpv {link}";

/// Section `[downloads]` of the configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DownloadSettings {
    /// Folder for the files; `~/` at its start is the home folder.
    pub folder: String,
    /// Template of the names of files below the folder.
    pub name: NameTemplate,
    /// Maximum number of files that are received at once; one of each site.
    pub parallel: usize,
    /// Maximum speed of all downloads together, in bytes per second; `None` for no limit.
    pub rate: Option<u64>,
    /// Maximum size of a file, in megabytes.
    pub max_mb: u64,
    /// Command that plays a file.
    pub player: Option<ExternalCommand>,
    /// How long a file is kept after it was played to its end, in minutes; `None` for ever.
    pub keep_played_minutes: Option<u32>,
}

impl DownloadSettings {
    /// Returns the maximum size of a file, in bytes.
    pub const fn bytes_max(&self) -> u64 {
        self.max_mb.saturating_mul(1_000_000)
    }
}

impl Default for DownloadSettings {
    fn default() -> Self {
        Self {
            folder: "~/Podcasts".to_owned(),
            name: NameTemplate::default(),
            parallel: 2,
            rate: None,
            max_mb: 4_000,
            player: ExternalCommand::typed(USUAL_PLAYER).ok(),
            keep_played_minutes: Some(7 * 24 * 60),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::downloads::progress::sample;

    fn path(
        template: &str,
        title: &str,
        feed: &str,
        url: &str,
        media_type: Option<&str>,
    ) -> String {
        let mut download = sample(1, url);
        download.title = title.to_owned();
        download.feed_title = feed.to_owned();
        download.media_type = media_type.map(str::to_owned);
        file_path(&NameTemplate::new(template).unwrap(), &download, Tz::UTC, |_| false)
    }

    #[test]
    fn texts_of_publishers_stay_in_the_folder() {
        let mp3 = "https://a.example/e/1.mp3";
        for (title, feed, expected) in [
            ("One", "Show", "Show/2026-03-02 One.mp3"),
            ("../../etc/passwd", "..", "untitled/2026-03-02 ..-..-etc-passwd.mp3"),
            ("a/b\\c", "/etc", "etc/2026-03-02 a-b-c.mp3"),
            ("{feed} {title}", "{date}", "{date}/2026-03-02 {feed} {title}.mp3"),
            ("a\u{1b}[2Jb\nc\u{202e}d", "x\0y", "xy/2026-03-02 a[2Jb cd.mp3"),
            ("Why? <b> \"x\": *|", ".hidden", "hidden/2026-03-02 Why- -b- -x-- --.mp3"),
            ("", "", "untitled/2026-03-02.mp3"),
            ("~root", "~root", "root/2026-03-02 ~root.mp3"),
        ] {
            assert_eq!(path("{feed}/{date} {title}", title, feed, mp3, None), expected, "{title}");
        }
    }

    #[test]
    fn long_names_are_cut_between_characters() {
        let long =
            path("{feed}/{title}", &"ä".repeat(500), &"ö".repeat(500), "https://a/x.mp3", None);
        for part in long.split('/') {
            assert!(part.len() <= PART_BYTES_MAX + 4, "{}", part.len());
        }
        assert!(long.ends_with("ä.mp3"), "{long}");
    }

    #[test]
    fn extension_comes_from_the_address_or_the_type() {
        for (url, kind, expected) in [
            ("https://a.example/e/1.MP3?x=.exe", None, "mp3"),
            ("https://a.example/e/1", Some("audio/x-m4a"), "m4a"),
            ("https://a.example/play.php?id=1", Some("audio/mpeg; charset=x"), "mp3"),
            ("https://a.example/v1.20260302", Some("video/mp4"), "mp4"),
            ("https://a.example/", None, "bin"),
            ("https://a.example/a%2F..%2Fb.mp3", None, "mp3"),
        ] {
            let named = path("{title}", "T", "F", url, kind);
            assert_eq!(named, format!("T.{expected}"), "{url}");
        }
        assert_eq!(path("{name}", "T", "F", "https://a/x/a%2F..%2Fb.mp3", None), "a-..-b.mp3");
    }

    #[test]
    fn a_taken_name_gets_a_number() {
        let download = sample(1, "https://a.example/1.mp3");
        let taken = ["T.mp3", "T (2).mp3"];
        let template = NameTemplate::new("T").unwrap();
        let path = file_path(&template, &download, Tz::UTC, |path| taken.contains(&path));
        assert_eq!(path, "T (3).mp3");
    }

    #[test]
    fn a_template_that_leaves_the_folder_is_refused() {
        for (text, why) in [
            ("{nothing}", "is not one of {feed}, {date}, {title}, {name}"),
            ("{feed", "a brace is not closed"),
            ("../{title}", "must be a path below the folder"),
            ("/{title}", "must be a path below the folder"),
            ("", "must be a path below the folder"),
            ("{feed}/", "must be a path below the folder"),
            ("a\u{1b}", "control character"),
        ] {
            let told = NameTemplate::new(text).unwrap_err();
            assert!(told.contains(why), "{text}: {told}");
        }
        assert_eq!(NameTemplate::new("{feed}/{date} {title}"), Ok(NameTemplate::default()));
    }
}
