//! `backissue import`: adds subscriptions from lists and from the files of other readers, without any request.

use super::newsboat_config::ConfigTaken;
use super::{report, sources};
use crate::cli::Done;
use crate::cli::args_changes::ImportArgs;
use crate::cli::context::CommandContext;
use crate::cli::session::Failure;
use crate::engine::feeds::addition::{Imported, MoveIn};
use crate::engine::feeds::import::{searches_in, subscriptions_in};
use crate::engine::moving::forecast::{Forecast, forecast, refused as refused_feeds};
use crate::engine::request::Request;
use crate::engine::state::Engine;
use backissue_core::feed::text::counted_words;
use backissue_core::other_readers::library::Library;

/// Hint at the next steps after an import.
const NEXT: &str =
    "; 'backissue poll' fetches what is due, 'backissue undo --yes' reverts the import";

/// What is imported, and where it comes from.
pub(super) struct Source {
    /// What was found.
    pub library: Library,
    /// Whether it is of another reader, not a plain list.
    pub is_reader: bool,
}

/// Runs `backissue import`.
pub(in crate::cli) fn run(desk: &CommandContext, args: &ImportArgs) -> Result<Done, Failure> {
    let Source { library, is_reader } = sources::find(desk, args)?;
    let Library { list: read, entries: known, config, is_outgoing } = library;
    for left_out in read.left_out() {
        desk.tell(&left_out);
    }
    for flaw in &read.flaws {
        desk.tell(&format!("line {}: {}", flaw.line, flaw.reason));
    }
    let (mut searches, refused) = searches_in(&read);
    for sentence in &refused {
        desk.tell(sentence);
    }
    let config = ConfigTaken::of(desk, config);
    searches.extend(config.searches.iter().cloned());
    let is_cut = read.broken.is_some();
    let bad = read.bad.len();
    let left_out = report::LeftOut { feeds: bad, searches: refused.len(), config: &config };
    let subscriptions = subscriptions_in(&read);
    let filters = config.filters.clone();
    let moved = MoveIn { subscriptions, searches, filters, known };
    let look = move |engine: &Engine| {
        let moved = if is_outgoing { moved.with_secrets(engine) } else { moved };
        let (all, not_taken) = (forecast(engine, &moved), refused_feeds(engine, &moved));
        (all, not_taken, moved)
    };
    let (all, not_taken, moved) = desk.inspect(look)?;
    if args.dry_run {
        tell_not_taken(desk, &not_taken);
        let bad = bad.saturating_add(not_taken.len());
        desk.put(&format!(
            "{} would be imported, {} could not be read",
            would_be(&all),
            bad.saturating_add(refused.len())
        ));
        if is_reader {
            report::print(desk, &all, None, &left_out);
        }
        return Ok(Done::All);
    }
    let (imported, is_login_lost) = move_in(desk, moved)?;
    let bad = [imported.bad.len(), bad, refused.len()].iter().sum::<usize>();
    let saved = match all.searches.taken {
        0 => String::new(),
        saved => format!(", {} saved", counted_words(saved, "search", "searches")),
    };
    desk.put(&format!(
        "{} added, {} already subscribed, {bad} could not be read{saved}{}",
        imported.added.len(),
        imported.known.len(),
        if imported.added.is_empty() { "" } else { NEXT }
    ));
    if is_reader {
        let noted = desk.inspect(|engine| engine.elsewhere.clone())?;
        report::print(desk, &all, Some(&noted), &left_out);
    }
    let nothing = imported.added.is_empty() && imported.known.is_empty() && saved.is_empty();
    let whole = bad == 0 && !is_cut && !is_login_lost;
    match (nothing, whole) {
        (true, false) => Err(Failure::new("nothing was imported")),
        (_, true) => Ok(Done::All),
        (false, false) => Ok(Done::WithFailures),
    }
}

/// Names the addresses that cannot be subscribed to.
fn tell_not_taken(desk: &CommandContext, not_taken: &[(String, String)]) {
    for (address, why) in not_taken {
        desk.tell(&format!("{address}: {why}"));
    }
}

/// Says what would be imported.
fn would_be(all: &Forecast) -> String {
    let feeds = counted_words(all.feeds.taken, "subscription", "subscriptions");
    match all.searches.taken {
        0 => feeds,
        searches => format!("{feeds} and {}", counted_words(searches, "search", "searches")),
    }
}

/// Takes everything over and waits until it is durable. Returns what was imported, and whether a login could not be saved.
fn move_in(desk: &CommandContext, moved: MoveIn) -> Result<(Imported, bool), Failure> {
    let has_marks = !moved.known.is_empty();
    let request = Request::MoveIn(Box::new(moved));
    let imported = desk.ask_and_inspect(request, |engine, _| engine.imported.clone())?;
    let imported = imported.unwrap_or_default();
    let mut is_login_lost = false;
    for login in &imported.logins {
        is_login_lost |= desk.tell_login(login.clone())?;
    }
    desk.wait_until_subscribed()?;
    desk.follow(|engine, _, _: &mut Vec<()>| !engine.filters.is_any_pending(), |()| {})?;
    // A login that could not be saved is reported already, and no reason to report the import as failed.
    if has_marks && !is_login_lost {
        desk.wait_until_kept()?;
    }
    tell_not_taken(desk, &imported.bad);
    Ok((imported, is_login_lost))
}
