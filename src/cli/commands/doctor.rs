//! `backissue doctor`: checks configuration, terminal and store.

use std::io::IsTerminal;

use super::search;
use crate::cli::args::{DoctorArgs, Options};
use crate::cli::session::{self, Failure};
use crate::cli::{Done, upkeep};
use crate::io::config::themes;
use crate::io::console;
use crate::io::search::{CatchUp, IndexError, SearchIndex};
use crate::io::store::Store;
use crate::io::terminal::Terminal;
use crate::ui::settings::ScreenSettings;
use crate::ui::theme::colours::Colours;

/// Runs the command: status 1 if something is wrong and was not put right.
pub(in crate::cli) fn run(options: &Options, args: &DoctorArgs) -> Result<Done, Failure> {
    let (configured, usual) = (session::read_configuration(options), ScreenSettings::default());
    match &configured {
        Ok(read) if read.notes.is_empty() => console::put("configuration: good"),
        Ok(read) => {
            for note in &read.notes {
                console::put(&format!("configuration: {note}"));
            }
        }
        Err(failure) => console::put(&format!("configuration: {}", failure.sentence)),
    }
    let misthemed = looks_found(options, configured.as_ref().map_or(&usual, |read| &read.screen));
    let mut store = session::open_store(options)?;
    let health = store.check(args.repair)?;
    console::put(&format!(
        "store: {} subscriptions, {} entries, {} kB in {}",
        health.feeds,
        health.entries,
        health.disk_bytes / 1000,
        session::data_dir(options)?.display()
    ));
    for finding in &health.findings {
        console::put(&format!(
            "  {}{}",
            finding.text,
            if finding.repaired { " (put right)" } else { "" }
        ));
    }
    if health.findings.is_empty() {
        console::put("store: every record reads, every sum equals its recount");
    } else if health.findings.iter().any(|finding| !finding.repaired) && !args.repair {
        console::put("'backissue doctor --repair' puts right what can be put right");
    }
    let found = index_found(&store, args.repair)?;
    if args.compact {
        upkeep::compact_store(store)?;
    }
    let misconfigured = configured.map_or(true, |read| !read.notes.is_empty());
    let wrong = misconfigured
        || misthemed
        || found
        || health.findings.iter().any(|finding| !finding.repaired);
    Ok(if wrong { Done::WithFailures } else { Done::All })
}

/// Looks at the terminal and at the themes; says whether a theme cannot be used.
fn looks_found(options: &Options, screen: &ScreenSettings) -> bool {
    let (appearance, troubles) =
        themes::appearance(screen, session::config_file(options).as_deref());
    let colours = match appearance.colours {
        Colours::None => "no colours",
        Colours::Sixteen => "16 colours",
        Colours::Many => "256 colours",
        Colours::True => "all colours",
    };
    let links = if appearance.hyperlinks { "hyperlinks" } else { "no hyperlinks" };
    let size = crossterm::terminal::size().ok().filter(|_| std::io::stdout().is_terminal());
    match size {
        Some((columns, rows)) => {
            let pictures = Terminal::graphics(screen.image_protocol).protocol.word();
            console::put(&format!(
                "terminal: {columns} x {rows}, {colours}, {links}, pictures by {pictures}"
            ));
        }
        None => console::put("terminal: none here"),
    }
    let shown = appearance.theme().map_or("", |theme| theme.name.as_str());
    let all: Vec<&str> = appearance.themes.iter().map(|theme| theme.name.as_str()).collect();
    console::put(&format!("theme: {shown}, of {}", all.join(", ")));
    for trouble in &troubles {
        console::put(&format!("  {trouble}"));
    }
    !troubles.is_empty()
}

/// Looks at the search index; with `repair` it is made anew if its files are damaged, and brought in line with the
/// store. Says whether something stays wrong; lagging behind is no fault.
fn index_found(store: &Store, repair: bool) -> Result<bool, Failure> {
    let failed = |error: IndexError| Failure::new(error.to_string());
    let folder = store.folder();
    let damaged = SearchIndex::damage(folder);
    let mut wrong = false;
    match &damaged {
        Some(why) if repair => {
            SearchIndex::make_anew(folder).map_err(failed)?;
            console::put(&format!("  the search index is damaged ({why}) (made anew)"));
        }
        Some(why) => {
            console::put(&format!(
                "  the search index is damaged ({why}): 'backissue doctor --repair' makes it anew"
            ));
            wrong = true;
        }
        None => {}
    }
    if wrong {
        return Ok(true);
    }
    let index = SearchIndex::open(folder).map_err(failed)?;
    let mut catch_up = CatchUp::new(index, store.texts()).map_err(failed)?;
    if repair {
        search::catch_up(&mut catch_up)?;
    }
    let state = catch_up.state();
    let lag = match state.missing {
        0 => "in line with the store".to_owned(),
        missing => format!("{missing} entries behind, taken in when the reader runs"),
    };
    console::put(&format!(
        "search: {} entries indexed, {} kB, {lag}",
        state.indexed,
        state.disk_bytes / 1000
    ));
    Ok(false)
}
