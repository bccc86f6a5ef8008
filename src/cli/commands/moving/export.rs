//! `backissue export`: writes all subscriptions as OPML 2.0, the state of all entries, or chosen entries.

use std::io;

use super::{export_entries, export_state};
use crate::cli::Done;
use crate::cli::args::ExportArgs;
use crate::cli::commands::feeds::tell_lost;
use crate::cli::context::CommandContext;
use crate::cli::session::Failure;
use crate::engine::feeds::export::subscriptions_text;
use crate::io::named_files::{FileKind, NamedFile};
use backissue_core::feed::text::counted_words;

/// Writes a piece of an export: one or several lines without the last line end.
pub(super) type WritePiece<'a> = dyn FnMut(&str) -> io::Result<()> + 'a;

/// Runs `backissue export`.
pub(in crate::cli) fn run(desk: &CommandContext, args: &ExportArgs) -> Result<Done, Failure> {
    if args.state {
        return export_state::run(desk, args);
    }
    if args.starred || args.entries.is_some() || !args.numbers.is_empty() {
        return export_entries::run(desk, args);
    }
    let saved = desk.look(|store| store.subscriptions())?;
    let text = subscriptions_text(saved.iter().map(|saved| &saved.record));
    let path = write(desk, args, FileKind::Opml, &mut |put| put(text.trim_end()))?;
    if let Some(path) = path {
        let feeds = counted_words(saved.len(), "subscription", "subscriptions");
        desk.tell(&format!("{feeds} written to {path}"));
    }
    tell_lost(desk)
}

/// Writes an export to standard output, or to a file completely or not at all. Returns the path of the file.
pub(super) fn write(
    desk: &CommandContext,
    args: &ExportArgs,
    kind: FileKind,
    export: &mut dyn FnMut(&mut WritePiece<'_>) -> io::Result<()>,
) -> Result<Option<String>, Failure> {
    let Some(path) = args.file.as_deref().filter(|path| path.as_os_str() != "-") else {
        let mut put = |text: &str| {
            desk.put(text);
            Ok(())
        };
        export(&mut put).map_err(|error| Failure::new(error.to_string()))?;
        return Ok(None);
    };
    let path = path.to_string_lossy().into_owned();
    let file = NamedFile { path, kind, force: args.force };
    desk.write_file(&file, &mut |file| {
        export(&mut |text| {
            file.write_all(text.as_bytes())?;
            file.write_all(b"\n")
        })
    })?;
    Ok(Some(file.path))
}

/// Turns a failure within [`write`] into an error of the file.
pub(super) fn in_file(failure: Failure) -> io::Error {
    io::Error::other(failure.sentence)
}
