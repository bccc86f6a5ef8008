//! `backissue backup` and `backissue restore`: write subscriptions, entries, marks and configuration to one file, and
//! read them back from the file.

use std::io::{self, Write};

use crate::cli::Done;
use crate::cli::args::Options;
use crate::cli::args_background::{BackupArgs, RestoreArgs};
use crate::cli::context::CommandContext;
use crate::cli::owner;
use crate::cli::session::{self, Failure};
use crate::io::named_files::{FileKind, NamedFile};
use crate::io::private_files::replace_private;
use crate::io::regular_files;
use crate::io::search::SearchIndex;
use crate::io::store::{Store, StoreError};
use crate::io::system::words::system_words;
use crate::io::{clock, console};
use backissue_core::feed::text::counted_words;

/// Maximum size of a configuration file that a backup includes, bytes.
const CONFIGURATION_MAX: usize = 1024 * 1024;

/// Runs `backissue backup`. The backup file is written completely or not at all.
pub(in crate::cli) fn back_up(desk: &CommandContext, args: &BackupArgs) -> Result<Done, Failure> {
    let path = args.file.to_string_lossy().into_owned();
    let file = NamedFile { path, kind: FileKind::Backup, force: args.force };
    let (source, feeds) =
        desk.look(|store| Ok((store.backup_source(), store.subscriptions()?.len())))?;
    let configuration = read_configuration(desk);
    let (mut records, mut bytes) = (0, 0);
    desk.write_file(&file, &mut |file| {
        let mut counted = CountedFile { file, bytes: 0 };
        let written =
            source.write_whole(&mut counted, configuration.as_deref(), &|| !desk.is_closed());
        records = written.map_err(io::Error::other)?.records;
        bytes = counted.bytes;
        Ok(())
    })?;
    desk.tell(&format!(
        "{} ({}) written to {}: {} kB",
        counted_words(feeds, "subscription", "subscriptions"),
        counted_words(records, "record", "records"),
        file.path,
        bytes / 1000
    ));
    Ok(Done::All)
}

/// A writer that counts the bytes that it writes to a file.
struct CountedFile<'a> {
    file: &'a mut dyn Write,
    bytes: usize,
}

impl Write for CountedFile<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes)?;
        self.bytes = self.bytes.saturating_add(written);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// Returns the text of the user's configuration file, if there is one.
fn read_configuration(desk: &CommandContext) -> Option<String> {
    let path = session::config_file(&desk.options)?;
    let bytes = desk.read_file(path.to_str()?).ok()?;
    String::from_utf8(bytes).ok().filter(|text| text.len() <= CONFIGURATION_MAX)
}

/// Runs `backissue restore`. The current content of the data folder is kept under another name.
pub(in crate::cli) fn restore(options: &Options, args: &RestoreArgs) -> Result<Done, Failure> {
    let path = &args.file;
    let open = || {
        regular_files::open(path).map_err(|error| {
            Failure::new(format!("{} cannot be read: {}", path.display(), system_words(&error)))
        })
    };
    // Checks the backup before any other process has to close the store.
    open()?;
    let data = session::data_dir(options)?;
    // The process that has the store open closes it until the restore is done.
    let mut borrowed = owner::borrow_store(options)?;
    let aside = format!("store-before-{}", clock::precise_now().format("%Y%m%d-%H%M%S%.3f"));
    let backup = borrowed.when_free(|| {
        Store::restore_backup(&data, open()?, &aside).map_err(|error| {
            if let StoreError::Backup(why) = error {
                return Failure::new(format!("{} cannot be restored: {why}", path.display()));
            }
            error.into()
        })
    })?;
    // The old search index does not match the restored entries. An empty index replaces it, which the reader fills again.
    SearchIndex::make_empty(&data).map_err(|error| Failure::new(error.to_string()))?;
    let mut store = borrowed.when_free(|| session::open_store(options))?;
    store.hold_unsent()?;
    store.sync()?;
    let feeds = store.subscriptions()?.len();
    drop(store);
    drop(borrowed);
    let feeds = counted_words(feeds, "subscription", "subscriptions");
    console::tell(&format!("{feeds} restored to {}", data.display()));
    if data.join(&aside).exists() {
        console::tell(&format!(
            "  the previous data is kept in {}; delete it when you no longer need it",
            data.join(&aside).display()
        ));
    }
    if let Some(text) = backup.configuration {
        put_configuration(options, &text)?;
    }
    Ok(Done::All)
}

/// Writes the configuration of the backup. An existing configuration file is not changed, because it is newer than the backup.
fn put_configuration(options: &Options, text: &str) -> Result<(), Failure> {
    let Some(path) = session::config_file(options) else { return Ok(()) };
    if path.exists() {
        if std::fs::read_to_string(&path).is_ok_and(|there| there != text) {
            console::tell(&format!(
                "  {} differs from the one in the backup and was not changed",
                path.display()
            ));
        }
        return Ok(());
    }
    let cannot = |error: io::Error| Failure::unwritten(path.display(), &error);
    path.parent().map_or(Ok(()), std::fs::create_dir_all).map_err(cannot)?;
    replace_private(&path, text.as_bytes()).map_err(cannot)?;
    console::tell(&format!("  the configuration was written to {}", path.display()));
    Ok(())
}
