//! `backissue set`: what the reader chooses for a feed; planned at once.

use super::plan;
use crate::cli::Done;
use crate::cli::args::Options;
use crate::cli::args::SetArgs;
use crate::cli::lookup;
use crate::cli::session;
use crate::cli::session::Failure;
use crate::engine::durations::interval_minutes;
use crate::engine::durations::interval_text;
use crate::engine::effect::Effect;
use crate::engine::feeds::feed_settings;
use crate::engine::feeds::interval_rules;
use crate::engine::feeds::subscription::Chosen;
use crate::engine::learn;
use crate::engine::settings::HistoryMode;
use crate::feed::Zone;
use crate::history::Adaptor;
use crate::io::{clock, console};
use crate::schedule::Pace;
use crate::ui::overlays::edit_dialog;

/// What takes a setting of a feed away again, so that the configured one counts.
const AUTO: &str = "auto";

/// Runs the command.
pub(in crate::cli) fn run(options: &Options, args: &SetArgs) -> Result<Done, Failure> {
    let now = clock::now();
    let (mut store, mut model) = session::looked_at(options, now)?;
    let feed = lookup::subscription(&model, &args.feed)?;
    let Some(subscription) = model.feeds.get(&feed) else { return Ok(Done::All) };
    let before = subscription.record.chosen();
    if args.is_empty() {
        let sentence = "nothing is to be set: name a setting, like --pace more or --min 30m";
        return Err(Failure::new(sentence));
    }
    let chosen = chosen(before.clone(), args, &learn::zone_of(model.zone)).map_err(Failure::new)?;
    let effects =
        feed_settings::change(&mut model, now, feed, chosen.clone()).map_err(Failure::new)?;
    for effect in effects {
        if let Effect::SaveRecords(records) = &effect {
            store.save_records(records)?;
        } else if let Effect::KeepHistory(commit) = &effect {
            store.keep_history(commit)?;
        }
    }
    store.sync()?;
    console::put(&plan::told(&model, feed, now));
    let changes = changes(&before, &chosen);
    if changes.is_empty() {
        console::put("nothing was changed: it was so before");
    }
    for change in changes {
        console::put(&format!("changed: {change}"));
    }
    Ok(Done::All)
}

/// What is chosen after the arguments.
fn chosen(mut chosen: Chosen, args: &SetArgs, zone: &Zone) -> Result<Chosen, String> {
    let wishes = &mut chosen.wishes;
    if let Some(word) = &args.pace {
        wishes.pace = Pace::ALL.into_iter().find(|pace| pace.word() == word);
    }
    for (target, typed) in [
        (&mut wishes.min_minutes, &args.min),
        (&mut wishes.max_minutes, &args.max),
        (&mut wishes.fixed_minutes, &args.every),
    ] {
        if let Some(typed) = typed {
            *target = if typed == AUTO { None } else { Some(interval_minutes(typed)?) };
        }
    }
    if let Some(word) = &args.history {
        wishes.history = HistoryMode::ALL.into_iter().find(|mode| mode.word() == word);
    }
    if let Some(word) = &args.learn {
        wishes.learn = (word != AUTO).then(|| word == "on");
    }
    if !args.rules.is_empty() {
        wishes.rules = interval_rules::read_rules(&args.rules.join(";"), zone)?;
    }
    if let Some(word) = &args.archives {
        wishes.archives = Adaptor::ALL.into_iter().find(|adaptor| adaptor.word() == word);
    }
    let on = |word: &Option<String>, before| word.as_ref().map_or(before, |word| word == "on");
    wishes.ignore_cache_lifetime = on(&args.ignore_cache_lifetime, wishes.ignore_cache_lifetime);
    wishes.ignore_skips = on(&args.ignore_skips, wishes.ignore_skips);
    wishes.full_text = on(&args.full_text, wishes.full_text);
    if let Some(title) = &args.title {
        let title = title.trim();
        chosen.own_title = (!title.is_empty()).then(|| title.to_owned());
    }
    if !args.tags.is_empty() {
        chosen.tags = edit_dialog::tags(args.tags.iter().map(String::as_str));
    }
    Ok(chosen)
}

/// What changed, one fragment each: `pace: normal → more`.
fn changes(before: &Chosen, after: &Chosen) -> Vec<String> {
    let values = |chosen: &Chosen| {
        let wishes = &chosen.wishes;
        let span = |minutes: Option<u32>| minutes.map_or_else(|| AUTO.into(), interval_text);
        let switch = |on: bool| String::from(if on { "on" } else { "off" });
        [
            ("title", chosen.own_title.clone().unwrap_or_else(|| "the publisher's".into())),
            ("tags", if chosen.tags.is_empty() { "none".into() } else { chosen.tags.join(", ") }),
            ("pace", wishes.pace.map_or_else(|| "as configured".into(), |pace| pace.word().into())),
            ("min", span(wishes.min_minutes)),
            ("max", span(wishes.max_minutes)),
            ("every", span(wishes.fixed_minutes)),
            (
                "history",
                wishes.history.map_or_else(|| "as configured".into(), |mode| mode.word().into()),
            ),
            ("learn", wishes.learn.map_or_else(|| "as configured".into(), switch)),
            (
                "rules",
                Some(interval_rules::rules_text(&wishes.rules))
                    .filter(|text| !text.is_empty())
                    .unwrap_or_else(|| "none".into()),
            ),
            ("archives", wishes.archives.map_or("none", Adaptor::word).into()),
            ("ignore-cache-lifetime", switch(wishes.ignore_cache_lifetime)),
            ("ignore-skips", switch(wishes.ignore_skips)),
            ("full-text", switch(wishes.full_text)),
        ]
    };
    let pairs = values(before).into_iter().zip(values(after));
    pairs
        .filter(|((_, before), (_, after))| before != after)
        .map(|((name, before), (_, after))| format!("{name}: {before} → {after}"))
        .collect()
}
