//! `backissue set`: changes the settings of a feed and recalculates the time of its next poll at once.

use super::move_feed;
use crate::cli::args_set::SetArgs;
use crate::cli::commands::plan;
use crate::cli::context::CommandContext;
use crate::cli::session::Failure;
use crate::cli::{Done, lookup};
use crate::engine::feeds::chosen_settings::Chosen;
use crate::engine::feeds::setting_row::FeedSettingRow;
use crate::engine::feeds::setting_table::FEED_SETTINGS;
use crate::engine::poll::learn;
use crate::engine::request::Request;
use crate::engine::state::Engine;
use crate::io::clock;
use backissue_core::feed::Zone;

/// Runs `backissue set`.
pub(in crate::cli) fn run(desk: &CommandContext, args: &SetArgs) -> Result<Done, Failure> {
    let now = clock::now();
    let engine = desk.engine()?;
    let feed = lookup::find_subscription(&engine, &args.feed)?;
    if args.settings.is_empty() && args.address.is_none() {
        let sentence = "nothing to set: name a setting, such as --pace more or --min 30m";
        return Err(Failure::new(sentence));
    }
    let zone = learn::zone_of(engine.zone);
    set_all(args, &mut Chosen::default(), &zone)?;
    // The address comes first, because it may fail; then nothing is changed.
    let moved = args.address.as_ref().map(|address| move_feed::run(desk, feed, address));
    let moved = moved.transpose()?.unwrap_or(Done::All);
    if args.settings.is_empty() {
        return Ok(moved);
    }
    let args = args.clone();
    // Only the named settings change, starting from the current values, so that concurrent changes to other settings survive.
    let change = move |engine: &Engine| {
        let before = engine.feeds.get(&feed).map(|feed| feed.record.chosen()).unwrap_or_default();
        let mut chosen = before.clone();
        // Cannot fail, because the same call succeeded above.
        set_all(&args, &mut chosen, &zone).ok();
        (Request::Set(feed, Box::new(chosen.clone())), (before, chosen))
    };
    // If the new settings need a learned plan, it is learned after the next poll.
    let (engine, before, chosen) =
        desk.ask_about(change, |engine, _, (before, chosen)| (engine.clone(), before, chosen))?;
    desk.wait_until_kept()?;
    desk.put(&plan::plan_words(&engine, feed, now));
    let changes = list_changes(&before, &chosen);
    if changes.is_empty() {
        desk.put("nothing changed: the settings already have these values");
    }
    for change in changes {
        desk.put(&format!("changed: {change}"));
    }
    Ok(moved)
}

/// Applies the settings named on the command line to `chosen`. The error explains which value is invalid.
fn set_all(args: &SetArgs, chosen: &mut Chosen, zone: &Zone) -> Result<(), Failure> {
    for (setting, given) in &args.settings {
        setting.set_flag(chosen, given, zone).map_err(Failure::new)?;
    }
    Ok(())
}

/// Lists the settings that changed, as in `pace: normal → more`.
fn list_changes(before: &Chosen, after: &Chosen) -> Vec<String> {
    let told = |row: &FeedSettingRow| {
        let (before, after) = (row.told(before), row.told(after));
        (before != after).then(|| format!("{}: {before} → {after}", row.name))
    };
    FEED_SETTINGS.iter().filter_map(told).collect()
}
