//! `backissue import`: adds subscriptions from OPML or a list of addresses, without any request.

use crate::cli::Done;
use crate::cli::args::ImportArgs;
use crate::cli::commands::import_from;
use crate::cli::context::CommandContext;
use crate::cli::session::Failure;
use crate::engine::feeds::import::{searches_in, subscriptions_in};
use crate::engine::request::Request;
use crate::engine::save_searches::with_new;
use backissue_core::feed::logins::without_logins;
use backissue_core::feed::opml::read_list;
use backissue_core::feed::text::counted_words;

/// Hint at the next steps after an import.
const NEXT: &str = "; 'backissue poll' fetches what is due, 'backissue undo' reverts the import";

/// Runs `backissue import`.
pub(in crate::cli) fn run(desk: &CommandContext, args: &ImportArgs) -> Result<Done, Failure> {
    if let Some(reader) = args.from {
        return import_from::run(desk, args, reader);
    }
    let path = args.file.as_deref().unwrap_or("-");
    let file = without_logins(path);
    let bytes = desk
        .read_file(path)
        .map_err(|why| Failure::new(format!("'{file}' cannot be imported: {why}")))?;
    import_list(desk, &file, &bytes, args.dry_run)
}

/// Imports a subscription list that was read from a file with this name.
pub(in crate::cli) fn import_list(
    desk: &CommandContext,
    file: &str,
    bytes: &[u8],
    dry_run: bool,
) -> Result<Done, Failure> {
    let read = read_list(bytes)
        .map_err(|why| Failure::new(format!("'{file}' cannot be imported: {why}")))?;
    for left_out in read.left_out() {
        desk.tell(&left_out);
    }
    for flaw in &read.flaws {
        desk.tell(&format!("line {}: {}", flaw.line, flaw.reason));
    }
    if dry_run {
        desk.put(&format!(
            "{} would be imported, {} could not be read",
            counted_words(read.outlines.len(), "subscription", "subscriptions"),
            read.bad.len()
        ));
        return Ok(Done::All);
    }
    let (searches, refused) = searches_in(&read);
    for sentence in &refused {
        desk.tell(sentence);
    }
    let saved = save_searches(desk, searches)?;
    let request = Request::Import(subscriptions_in(&read));
    let imported = desk.ask_and_inspect(request, |engine, _| engine.imported.clone())?;
    let imported = imported.unwrap_or_default();
    let mut is_login_lost = false;
    for login in imported.logins {
        is_login_lost |= desk.tell_login(login)?;
    }
    desk.wait_until_subscribed()?;
    for (address, why) in &imported.bad {
        desk.tell(&format!("{address}: {why}"));
    }
    let bad = [imported.bad.len(), read.bad.len(), refused.len()].iter().sum::<usize>();
    desk.put(&format!(
        "{} added, {} already subscribed, {bad} could not be read{saved}{}",
        imported.added.len(),
        imported.known.len(),
        if imported.added.is_empty() { "" } else { NEXT }
    ));
    let nothing = imported.added.is_empty() && imported.known.is_empty() && saved.is_empty();
    let whole = bad == 0 && read.broken.is_none() && !is_login_lost;
    match (nothing, whole) {
        (true, false) => Err(Failure::new("nothing was imported")),
        (_, true) => Ok(Done::All),
        (false, false) => Ok(Done::WithFailures),
    }
}

/// Saves searches, each given by its name and query. Returns what to print about it.
fn save_searches(
    desk: &CommandContext,
    searches: Vec<(String, String)>,
) -> Result<String, Failure> {
    let (list, before) = desk.inspect(move |engine| {
        (with_new(&engine.saved_searches, searches), engine.saved_searches.len())
    })?;
    let added = list.len().saturating_sub(before);
    if added == 0 {
        return Ok(String::new());
    }
    desk.change(Request::SaveSearches(list))?;
    Ok(format!(", {} saved", counted_words(added, "search", "searches")))
}
