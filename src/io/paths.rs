//! Paths that the user types: expands `~`, completes paths on Tab, and writes subscriptions or entries to a file.

use std::io;
use std::path::Path;

use super::named_files::{self, FileKind, NamedFile};
use super::store::Texts;
use super::system::system_words;
use crate::engine::entries::entry_view::{EntryView, FeedOfEntry};
use crate::engine::request::Input;
use crate::ui::update::ScreenInput;
use crate::view::panes::entry_lines;
use backissue_core::feed::text::counted_words;
use backissue_core::history::EntryKey;

/// Maximum number of names in a folder that are compared with the typed path for completion.
const PATHS_MAX: usize = 20_000;

/// Expands a leading `~` to the home folder.
pub fn expand_home(path: &str) -> String {
    let home = std::env::var("HOME").unwrap_or_default();
    match path.strip_prefix('~') {
        Some(rest) if !home.is_empty() && (rest.is_empty() || rest.starts_with('/')) => {
            format!("{home}{rest}")
        }
        Some(_) | None => path.to_owned(),
    }
}

/// Returns a path that was typed or dropped. Terminals write the path of a dropped file in quotes, with backslashes, or as an
/// address.
pub(super) fn dropped_path(typed: &str) -> String {
    let plain = expand_home(typed.trim());
    if std::fs::exists(&plain).unwrap_or(false) {
        return plain;
    }
    let words = shell_words::split(&plain).unwrap_or_default();
    let word = if let [word] = words.as_slice() { word.clone() } else { plain };
    let address = url::Url::parse(&word).ok().filter(|url| url.scheme() == "file");
    let path = address.and_then(|url| url.to_file_path().ok());
    path.and_then(|path| path.into_os_string().into_string().ok()).unwrap_or(word)
}

/// Returns the longest unambiguous completion of a typed path.
pub(super) fn complete_path(typed: &str) -> Option<String> {
    let (folder, begun) =
        typed.rsplit_once('/').map_or(("", typed), |(folder, begun)| (folder, begun));
    let prefix = typed.strip_suffix(begun).unwrap_or_default();
    let place = match (folder, prefix) {
        ("", "") => ".".to_owned(),
        ("", _) => "/".to_owned(),
        (folder, _) => expand_home(folder),
    };
    let mut found: Vec<String> = Vec::new();
    for entry in std::fs::read_dir(place).ok()?.flatten().take(PATHS_MAX) {
        let name = entry.file_name().to_string_lossy().into_owned();
        let hidden = name.starts_with('.') && !begun.starts_with('.');
        if name.starts_with(begun) && !hidden && !name.contains(char::is_control) {
            let is_folder = std::fs::metadata(entry.path()).is_ok_and(|file| file.is_dir());
            found.push(if is_folder { format!("{name}/") } else { name });
        }
    }
    found.sort_unstable();
    let first = found.first()?.clone();
    let agreed = found.iter().fold(first, |agreed, other| {
        let same = agreed.chars().zip(other.chars()).take_while(|(a, b)| a == b);
        same.map(|(char, _)| char).collect()
    });
    (agreed.len() > begun.len()).then(|| format!("{prefix}{agreed}"))
}

fn not_written(path: &str, error: &io::Error) -> ScreenInput {
    if Path::new(&expand_home(path)).is_dir() {
        return Input::Trouble(format!("'{path}' is a folder: add the name of a file")).into();
    }
    Input::Trouble(format!("'{path}' cannot be written: {}", system_words(error))).into()
}

/// Writes the subscriptions to a file. Returns an input that reports the result to the screen.
pub(super) fn export(path: &str, text: &str) -> ScreenInput {
    let file = NamedFile { path: expand_home(path), kind: FileKind::Opml, force: false };
    match named_files::write(&file, &mut |file| file.write_all(text.as_bytes())) {
        Ok(()) => ScreenInput::Told(format!("the subscriptions were written to {path}")),
        Err(error) => not_written(path, &error),
    }
}

/// Writes entries to a Markdown file, in their order. Returns an input that reports the result to the screen.
pub(super) fn save_entries(
    path: &str,
    texts: &Texts,
    entries: &[(EntryKey, FeedOfEntry)],
) -> ScreenInput {
    let mut written = Vec::new();
    for &(key, ref feed) in entries {
        let Some(entry) = texts.entry(key) else {
            let why = format!(
                "'{path}' is not written: the record of entry {key} is lost; run 'backissue doctor'"
            );
            return Input::Trouble(why).into();
        };
        let view = EntryView::new(entry, feed.clone()).outgoing();
        written.push(entry_lines::markdown(&view));
    }
    let file = NamedFile { path: expand_home(path), kind: FileKind::Markdown, force: false };
    let text = written.join("\n---\n\n");
    match named_files::write(&file, &mut |file| file.write_all(text.as_bytes())) {
        Ok(()) => {
            let entries = counted_words(entries.len(), "entry", "entries");
            ScreenInput::Told(format!("{entries} written to {path}"))
        }
        Err(error) => not_written(path, &error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dropped_paths_are_found_in_every_form() {
        let folder = tempfile::tempdir().unwrap();
        let odd = folder.path().join("it's \\ \"1\".opml");
        std::fs::write(&odd, "").unwrap();
        assert_eq!(dropped_path(odd.to_str().unwrap()), odd.to_str().unwrap());
        for (dropped, path) in [
            ("'/a b/c.opml' ", "/a b/c.opml"),
            ("\"/a b/c.opml\"", "/a b/c.opml"),
            ("'/a/it'\\''s'", "/a/it's"),
            ("/a\\ b/\\(c\\).opml ", "/a b/(c).opml"),
            ("file:///a%20b/c.opml", "/a b/c.opml"),
            ("'file:///a%20b/c.opml'", "/a b/c.opml"),
            ("/a b/c.opml", "/a b/c.opml"),
            ("/a/it's", "/a/it's"),
        ] {
            assert_eq!(dropped_path(dropped), path, "{dropped}");
        }
    }

    #[test]
    fn path_is_completed_to_the_shared_prefix() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["feeds-old.opml", "feeds-new.opml", ".hidden"] {
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        std::fs::create_dir(folder.path().join("lists")).unwrap();
        let at = |name: &str| format!("{}/{name}", folder.path().display());
        for (typed, completed) in [
            ("f", Some("feeds-")),
            ("feeds-o", Some("feeds-old.opml")),
            ("l", Some("lists/")),
            ("feeds-", None),
            ("x", None),
            (".h", Some(".hidden")),
        ] {
            assert_eq!(complete_path(&at(typed)), completed.map(at), "{typed}");
        }
        assert_eq!(complete_path("/no/such/folder/x"), None);
        assert_eq!(expand_home("a~b"), "a~b");
    }
}
