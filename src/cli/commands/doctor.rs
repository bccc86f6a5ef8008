//! `backissue doctor` checks the configuration, the terminal and the store; `backissue backup` and `backissue restore` write
//! subscriptions, entries, marks and configuration to one file, and read them back from it.

use std::io::{self, IsTerminal, Write};
use std::path::Path;

use backissue_core::feed::text::counted_words;

use crate::cli::args::{BackupArgs, DoctorArgs, Options, RestoreArgs};
use crate::cli::context::CommandContext;
use crate::cli::session::{self, Failure};
use crate::cli::{Done, owner};
use crate::io::config::config_watch;
use crate::io::named_files::{FileKind, NamedFile};
use crate::io::private_files::replace_private;
use crate::io::search::{CatchUp, IndexError, SearchIndex};
use crate::io::store::{Health, Store, StoreError, Texts, damaged_folders, discard_damaged};
use crate::io::system::system_words;
use crate::io::terminal::Terminal;
use crate::io::{clock, console, regular_files};
use crate::ui::settings::ScreenSettings;
use crate::ui::theme::colours::Colours;

/// Checks the user's configuration and terminal. Returns `true` if neither has a problem.
pub(in crate::cli) fn describe_surroundings(options: &Options) -> bool {
    let (configured, usual) = (session::check_configuration(options), ScreenSettings::default());
    match &configured {
        Ok(read) if read.notes.is_empty() => console::put("configuration: no errors found"),
        Ok(read) => {
            for note in &read.notes {
                console::put(&format!("configuration: {note}"));
            }
        }
        Err(failure) => console::put(&format!("configuration: {}", failure.sentence)),
    }
    describe_looks(options, configured.as_ref().map_or(&usual, |read| &read.screen));
    configured.is_ok_and(|read| read.notes.is_empty())
}

/// Runs `backissue doctor` in the process that has the store open. The exit status is 1 if a check fails.
pub(in crate::cli) fn run(context: &CommandContext, args: &DoctorArgs) -> Result<Done, Failure> {
    let (health, home, texts) =
        context.look(|store| Ok((store.check(false), store.folder().to_owned(), store.texts())))?;
    report_damaged(&home, args.discard_damaged, &|line| context.put(line))?;
    let health = match health {
        Err(StoreError::Corrupted(why)) => {
            tell_damage(&why, &|line| context.put(line));
            return Ok(Done::WithFailures);
        }
        health => health?,
    };
    let good = report_health(&health, &home, false, &|line| context.put(line));
    let found = index_found(&home, texts, false, &|line| context.put(line))?;
    Ok(if good && !found { Done::All } else { Done::WithFailures })
}

/// Checks a store that no other process has open. If the arguments request it, also repairs the store and compacts its files. If
/// the store is not writable, a temporary copy is checked and nothing is repaired.
pub(in crate::cli) fn check_store(mut store: Store, args: &DoctorArgs) -> Result<Done, Failure> {
    let home = store.folder().to_owned();
    let repair = args.repair && !store.only_reads();
    let health = match store.check(repair) {
        // When the store is opened again, its index is filled from the pack.
        Err(StoreError::Corrupted(_)) if repair => {
            drop(store);
            store = Store::open(&home)?;
            store.check(true)?
        }
        Err(StoreError::Corrupted(why)) => {
            tell_damage(&why, &console::put);
            return Ok(Done::WithFailures);
        }
        health => health?,
    };
    if health.is_pack_damaged && repair {
        store.compact(|_, _| ())?;
        store = Store::open(&home)?;
    }
    report_damaged(&home, args.discard_damaged, &console::put)?;
    let good = report_health(&health, &home, args.repair, &console::put);
    let found = index_found(&home, store.texts(), repair, &console::put)?;
    if args.repair && store.only_reads() {
        return Err(Failure::new("the store is not writable, so nothing was repaired"));
    }
    if args.compact {
        session::compact_store(store)?;
    }
    Ok(if good && !found { Done::All } else { Done::WithFailures })
}

/// Reports that the database files are damaged.
fn tell_damage(why: &str, put: &dyn Fn(&str)) {
    put(&format!("store: its files are damaged: {why}"));
    put("'backissue doctor --repair' copies the intact data to new files");
}

/// Lists the damaged files that an earlier repair kept, and deletes them if `discard` is set.
fn report_damaged(folder: &Path, discard: bool, put: &dyn Fn(&str)) -> Result<(), Failure> {
    if discard {
        for gone in discard_damaged(folder)? {
            put(&format!("store: {} was deleted", gone.path.display()));
        }
        return Ok(());
    }
    for kept in damaged_folders(folder) {
        put(&format!("store: damaged files are kept in {}", kept.path.display()));
        if !kept.told.is_empty() {
            put(&format!("  {}", kept.told));
        }
        put("  'backissue doctor --discard-damaged' deletes them");
    }
    Ok(())
}

/// Reports the state of the store. Returns `true` if no errors remain.
fn report_health(health: &Health, folder: &Path, repair: bool, put: &dyn Fn(&str)) -> bool {
    put(&format!(
        "store: {}, {}, {} kB in {}",
        counted_words(health.feeds, "subscription", "subscriptions"),
        counted_words(health.entries, "entry", "entries"),
        health.disk_bytes / 1000,
        folder.display()
    ));
    for finding in &health.findings {
        let repaired = if finding.repaired { " (repaired)" } else { "" };
        put(&format!("  {}{repaired}", finding.text));
    }
    let stays = health.findings.iter().any(|finding| !finding.repaired);
    if health.findings.is_empty() {
        put("store: no errors found");
    } else if stays && !repair {
        put("'backissue doctor --repair' repairs what can be repaired");
    }
    !stays
}

/// Reports on the terminal and the themes that can be used.
fn describe_looks(options: &Options, screen: &ScreenSettings) {
    let (appearance, _) =
        config_watch::appearance(screen, session::config_file(options).as_deref());
    let colours = match appearance.colours {
        Colours::None => "no colours",
        Colours::Sixteen => "16 colours",
        Colours::Many => "256 colours",
        Colours::True => "16 million colours",
    };
    let links = if appearance.hyperlinks { "hyperlinks" } else { "no hyperlinks" };
    let size = crossterm::terminal::size().ok().filter(|_| io::stdout().is_terminal());
    match size {
        Some((columns, rows)) => {
            let pictures = Terminal::graphics(screen.image_protocol).protocol.word();
            console::put(&format!(
                "terminal: {columns} x {rows}, {colours}, {links}, pictures: {pictures}"
            ));
        }
        None => console::put("terminal: none"),
    }
    let shown = appearance.theme().map_or("", |theme| theme.name.as_str());
    let all: Vec<&str> = appearance.themes.iter().map(|theme| theme.name.as_str()).collect();
    console::put(&format!("theme: {shown}; available: {}", all.join(", ")));
}

/// Checks the search index. With `repair`, rebuilds a damaged index and brings it up to date with the store. Returns `true` if an
/// error remains; it is not an error that new entries are missing from the index.
fn index_found(
    data: &Path,
    texts: Texts,
    repair: bool,
    put: &dyn Fn(&str),
) -> Result<bool, Failure> {
    let failed = |error: IndexError| Failure::new(error.to_string());
    let damaged = SearchIndex::damage(data);
    let mut wrong = false;
    match &damaged {
        Some(why) if repair => {
            SearchIndex::make_empty(data).map_err(failed)?;
            put(&format!("  the search index is damaged ({why}) (rebuilt)"));
        }
        Some(why) => {
            put(&format!(
                "  the search index is damaged ({why}): 'backissue doctor --repair' rebuilds it"
            ));
            wrong = true;
        }
        None => {}
    }
    if wrong {
        return Ok(true);
    }
    // Without a repair, write nothing, because the reader may be running.
    let open = if repair { SearchIndex::open } else { SearchIndex::open_to_read };
    let mut catch_up = CatchUp::new(open(data).map_err(failed)?, texts);
    if repair {
        catch_up.everything(&mut |_| true).map_err(failed)?;
        catch_up.commit().map_err(failed)?;
    }
    let state = catch_up.state();
    let lag = match state.missing {
        0 => "up to date".to_owned(),
        missing => format!(
            "{} not indexed yet; the reader will index them",
            counted_words(missing, "entry", "entries")
        ),
    };
    put(&format!(
        "search: {} indexed, {} kB, {lag}",
        counted_words(state.indexed, "entry", "entries"),
        state.disk_bytes / 1000
    ));
    Ok(false)
}

/// Maximum size of a configuration file that a backup includes, bytes.
const CONFIGURATION_MAX: usize = 1024 * 1024;

/// Runs `backissue backup`. The backup file is written completely or not at all.
pub(in crate::cli) fn back_up(
    context: &CommandContext,
    args: &BackupArgs,
) -> Result<Done, Failure> {
    let path = args.file.to_string_lossy().into_owned();
    let file = NamedFile { path, kind: FileKind::Backup, force: args.force };
    let (source, feeds) =
        context.look(|store| Ok((store.backup_source(), store.subscriptions()?.len())))?;
    let configuration = read_configuration(context);
    let (mut records, mut bytes) = (0, 0);
    context.write_file(&file, &mut |file| {
        let mut counted = CountedFile { file, bytes: 0 };
        let written =
            source.write_whole(&mut counted, configuration.as_deref(), &|| !context.is_closed());
        records = written.map_err(io::Error::other)?.records;
        bytes = counted.bytes;
        Ok(())
    })?;
    context.tell(&format!(
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
fn read_configuration(context: &CommandContext) -> Option<String> {
    let path = session::config_file(&context.options)?;
    let bytes = context.read_file(path.to_str()?).ok()?;
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
    // Check the backup before any other process has to close the store.
    open()?;
    let data = session::data_dir(options)?;
    // The process that has the store open closes it until the restore is finished.
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
