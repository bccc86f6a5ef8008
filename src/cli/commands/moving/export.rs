//! `backissue export`: writes all subscriptions as OPML 2.0.

use crate::cli::Done;
use crate::cli::args::ExportArgs;
use crate::cli::commands::feeds::tell_lost;
use crate::cli::context::CommandContext;
use crate::cli::session::Failure;
use crate::engine::feeds::export::subscriptions_text;
use crate::io::named_files::{FileKind, NamedFile};
use backissue_core::feed::text::counted_words;

/// Runs `backissue export`. The output file is written completely or not at all.
pub(in crate::cli) fn run(desk: &CommandContext, args: &ExportArgs) -> Result<Done, Failure> {
    let saved = desk.look(|store| store.subscriptions())?;
    let text = subscriptions_text(saved.iter().map(|saved| &saved.record));
    match args.file.as_deref().filter(|path| path.as_os_str() != "-") {
        None => desk.put(text.trim_end()),
        Some(path) => {
            let path = path.to_string_lossy().into_owned();
            let file = NamedFile { path, kind: FileKind::Opml, force: args.force };
            desk.write_file(&file, &mut |file| file.write_all(text.as_bytes()))?;
            let feeds = counted_words(saved.len(), "subscription", "subscriptions");
            desk.tell(&format!("{feeds} written to {}", file.path));
        }
    }
    tell_lost(desk)
}
