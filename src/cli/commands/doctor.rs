//! `backissue doctor`: checks the configuration, the terminal and the store.

use std::io::IsTerminal;
use std::path::Path;

use crate::cli::args::Options;
use crate::cli::args_background::DoctorArgs;
use crate::cli::context::CommandContext;
use crate::cli::session::{self, Failure};
use crate::cli::{Done, upkeep};
use crate::io::config::themes;
use crate::io::console;
use crate::io::search::{CatchUp, IndexError, SearchIndex};
use crate::io::store::{Health, Store, StoreError, Texts, damaged_folders, discard_damaged};
use crate::io::terminal::Terminal;
use crate::ui::settings::ScreenSettings;
use crate::ui::theme::colours::Colours;
use backissue_core::feed::text::counted_words;

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
pub(in crate::cli) fn run(desk: &CommandContext, args: &DoctorArgs) -> Result<Done, Failure> {
    let (health, home, texts) =
        desk.look(|store| Ok((store.check(false), store.folder().to_owned(), store.texts())))?;
    report_damaged(&home, args.discard_damaged, &|line| desk.put(line))?;
    let health = match health {
        Err(StoreError::Corrupted(why)) => {
            tell_damage(&why, &|line| desk.put(line));
            return Ok(Done::WithFailures);
        }
        health => health?,
    };
    let good = report_health(&health, &home, false, &|line| desk.put(line));
    let found = index_found(&home, texts, false, &|line| desk.put(line))?;
    Ok(if good && !found { Done::All } else { Done::WithFailures })
}

/// Checks a store that no other process has open. If the arguments request it, also repairs the store and compacts its files. If
/// the store is not writable, a temporary copy is checked and nothing is repaired.
pub(in crate::cli) fn check_store(mut store: Store, args: &DoctorArgs) -> Result<Done, Failure> {
    let home = store.folder().to_owned();
    let repair = args.repair && !store.only_reads();
    let health = match store.check(repair) {
        // Opened again, the index is filled from the pack.
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
        upkeep::compact_store(store)?;
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
    let (appearance, _) = themes::appearance(screen, session::config_file(options).as_deref());
    let colours = match appearance.colours {
        Colours::None => "no colours",
        Colours::Sixteen => "16 colours",
        Colours::Many => "256 colours",
        Colours::True => "16 million colours",
    };
    let links = if appearance.hyperlinks { "hyperlinks" } else { "no hyperlinks" };
    let size = crossterm::terminal::size().ok().filter(|_| std::io::stdout().is_terminal());
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
    // Without a repair nothing is written: the reader may be running.
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
