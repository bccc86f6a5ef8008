//! `backissue set`: what the reader chooses for a feed; planned at once.

use super::plan;
use crate::cli::args::{Options, SetArgs};
use crate::cli::session::{self, Failure};
use crate::cli::{Done, lookup};
use crate::engine::durations::{interval_minutes, interval_text};
use crate::engine::effect::Effect;
use crate::engine::event::Event;
use crate::engine::feeds::interval_rules;
use crate::engine::feeds::subscription::Chosen;
use crate::engine::feeds::tags::normal_tags;
use crate::engine::input::Input;
use crate::engine::poll::learn;
use crate::engine::request::Request;
use crate::engine::settings::HistoryMode;
use crate::engine::store_work::Stored;
use crate::engine::update::update;
use crate::feed::Zone;
use crate::history::Adaptor;
use crate::io::{clock, console};
use crate::schedule::Pace;

/// What takes a setting of a feed away again, so that the configured one counts.
const AUTO: &str = "auto";

/// Runs the command.
pub(in crate::cli) fn run(options: &Options, args: &SetArgs) -> Result<Done, Failure> {
    let now = clock::now();
    let (mut store, mut engine) = session::looked_at(options, now)?;
    let feed = lookup::subscription(&engine, &args.feed)?;
    let Some(subscription) = engine.feeds.get(&feed) else { return Ok(Done::All) };
    let before = subscription.record.chosen();
    if args.is_empty() {
        let sentence = "nothing is to be set: name a setting, like --pace more or --min 30m";
        return Err(Failure::new(sentence));
    }
    let chosen =
        chosen(before.clone(), args, &learn::zone_of(engine.zone)).map_err(Failure::new)?;
    let request = Request::Set(feed, Box::new(chosen.clone()));
    let output = update(&mut engine, now, Input::Request(request));
    for event in output.events {
        if let Event::Refused(why) = event {
            return Err(Failure::new(why));
        }
    }
    for effect in output.effects {
        // What is to be learned is learned after the next poll.
        if let Effect::Store(work) = effect
            && !work.job.is_read()
            && let Some(Stored { result: Err(why), .. }) = store.perform(*work)
        {
            return Err(Failure::new(why));
        }
    }
    store.sync()?;
    console::put(&plan::told(&engine, feed, now));
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
        chosen.tags = normal_tags(args.tags.iter().map(String::as_str));
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
