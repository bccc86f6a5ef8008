//! `backissue parse`: prints the parsed content of a document. Uses no store and no network.

use std::io::Read;

use crate::cli::args::ParseArgs;
use crate::cli::session::Failure;
use crate::cli::{Done, json};
use crate::io::console;
use crate::io::system::words::system_words;
use backissue_core::feed::address::without_logins;
use backissue_core::feed::report::report;
use backissue_core::feed::text::counted_words;
use backissue_core::feed::{self, FeedDocument, Origin};

/// Maximum size of a document, bytes (SPEC 0, `BODY_MAX`).
const DOCUMENT_BYTES_MAX: u64 = 32 * 1024 * 1024;

/// Runs `backissue parse`. The exit status is 1 if the document is not a feed (UX 5).
pub(in crate::cli) fn run(args: &ParseArgs) -> Result<Done, Failure> {
    let bytes = read_file(&args.file)?;
    let (url, content_type) = (args.url.as_deref().map(without_logins), args.content_type.clone());
    let document = read_apart(move || {
        let origin = Origin { url: url.as_deref(), content_type: content_type.as_deref() };
        feed::parse(&bytes, &origin)
    })?;
    if args.json {
        console::put(&json::text(&report(&document)));
    } else {
        print_document(&document);
    }
    Ok(if document.kind == feed::Kind::None { Done::WithFailures } else { Done::All })
}

/// Parses a document on a separate thread, so that a panic in a library is caught and prints nothing.
pub(in crate::cli) fn read_apart<T: Send + 'static>(
    reading: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Failure> {
    let thread = std::thread::Builder::new().name("parse".into()).spawn(reading);
    let read = thread.ok().and_then(|thread| thread.join().ok());
    read.ok_or_else(|| Failure::new("the document could not be read"))
}

/// Reads a file, or standard input for `-`.
pub(in crate::cli) fn read_file(file: &str) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    let read = if file == "-" {
        std::io::stdin().take(DOCUMENT_BYTES_MAX).read_to_end(&mut bytes)
    } else {
        std::fs::File::open(file)
            .and_then(|file| file.take(DOCUMENT_BYTES_MAX).read_to_end(&mut bytes))
    };
    read.map_err(|error| {
        Failure::new(format!("'{}' cannot be read: {}", without_logins(file), system_words(&error)))
    })?;
    Ok(bytes)
}

/// Prints a short summary of the document.
fn print_document(document: &FeedDocument) {
    let title = document.head.title.as_deref().unwrap_or("(no title)");
    console::put(&format!(
        "{} ({}), {}: {title}",
        document.kind.word(),
        document.role.word(),
        counted_words(document.entries.len(), "entry", "entries")
    ));
    for entry in &document.entries {
        let date =
            entry.published.or(entry.updated).map(|at| at.format("%Y-%m-%d %H:%M").to_string());
        let title = entry.title.as_deref().unwrap_or("(no title)");
        console::put(&format!("  {:16}  {title}", date.unwrap_or_default()));
    }
    for flaw in &document.flaws {
        console::put(&format!("  ! {}: {} ({})", flaw.element, flaw.reason, flaw.text));
    }
}
