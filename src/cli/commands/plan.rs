//! `backissue plan`: explains when a feed is polled next. The feed is a subscription, or a document together with a file of facts
//! about the feed.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use chrono_tz::Tz;
use serde_json::{Map, Value as Json, json};

use crate::cli::args::PlanArgs;
use crate::cli::context::CommandContext;
use crate::cli::publisher::parse;
use crate::cli::session::Failure;
use crate::cli::{Done, json, lookup};
use crate::engine::entries::ahead::{self, AheadPart};
use crate::engine::external::feed_sources::source_words;
use crate::engine::poll::{learn, plans};
use crate::engine::settings::ONLY_BY_HAND;
use crate::engine::state::Engine;
use crate::io::{clock, console};
use crate::view;
use backissue_core::feed::{self, Origin};
use backissue_core::history::FeedKey;
use backissue_core::schedule::learning::{LearnedPlan, Publications, learned_json};
use backissue_core::schedule::{self, Facts, Plan, PlanStep, Value, duration_words};

/// Number of future polls in the `learned` part of the JSON output.
const POLLS_TOLD: usize = 5;

/// Error for arguments that name neither a feed nor a document.
const USAGE: &str = "name a feed, or a document and its facts with --document and --facts";

/// Runs `backissue plan --document`, which needs no store and no network.
pub(in crate::cli) fn run_alone(args: &PlanArgs) -> Result<Done, Failure> {
    match (&args.document, &args.facts) {
        (Some(document), Some(facts)) => of_document(args, document, facts),
        (Some(_) | None, _) => Err(Failure::new(USAGE)),
    }
}

/// Runs `backissue plan` for a subscription.
pub(in crate::cli) fn run(desk: &CommandContext, args: &PlanArgs) -> Result<Done, Failure> {
    let Some(typed) = &args.feed else { return Err(Failure::new(USAGE)) };
    let now = clock::now();
    let mut engine = desk.engine()?;
    let feed = lookup::find_subscription(&engine, typed)?;
    let publications = desk.look(move |store| store.publications(feed))?;
    let learned = learn_rhythm(&publications, &mut engine, feed, now);
    let Some(subscription) = engine.feeds.get(&feed) else { return Ok(Done::All) };
    let coming = plans::following(subscription, engine.salt, args.next.unwrap_or(0), now);
    if args.json {
        let mut answer = Map::new();
        let record = &subscription.record;
        answer.insert("number".into(), json!(feed));
        answer.insert("url".into(), json!(record.url));
        answer.insert("title".into(), json!(record.shown_title()));
        let plan = plans::explained(&engine, feed, now);
        if let Some(Json::Object(fields)) = plan.as_ref().map(schedule::plan_json) {
            answer.extend(fields);
        }
        let facts = &subscription.state.facts;
        let sentence = plan
            .as_ref()
            .map(|plan| schedule::plan_sentence(facts, &plan.decision(), now, engine.zone));
        answer.insert("sentence".into(), json!(sentence));
        if let Some(plan) = &learned {
            answer.insert("learned".into(), learned_fields(&engine, feed, plan, now));
        }
        if args.next.is_some() {
            answer.insert("next_polls".into(), coming.iter().map(short_json).collect());
        }
        desk.put(&json::text(&Json::Object(answer)));
        return Ok(Done::All);
    }
    desk.put(&plan_words(&engine, feed, now));
    if let Some(source) = source_words(&subscription.record.url) {
        desk.put(&source);
    }
    if !engine.settings.poll.automatic {
        desk.put(ONLY_BY_HAND);
    }
    for (part, used) in ahead::used_words(&engine, feed, now) {
        let what = match part {
            AheadPart::Texts => "full texts are fetched ahead after each poll",
            AheadPart::Pictures => "pictures are fetched ahead after each poll",
            AheadPart::Files => "attached files of new entries are added to the downloads",
        };
        desk.put(&format!("{what}: {used}"));
    }
    if let Some(plan) = &learned {
        let why = learn::why_not_followed(&engine, feed, plan);
        let why = why.map(|why| format!(" (not followed: {why})")).unwrap_or_default();
        desk.put(&format!("{}{why}", plan.rhythm.sentence()));
    }
    if !coming.is_empty() {
        desk.put("if nothing changes:");
    }
    for plan in &coming {
        let when = plan.next_poll.map_or_else(
            || "never".to_owned(),
            |at| format!("{}, {}", view::minute(at, engine.zone), plans::wait_words(at, now)),
        );
        desk.put(&format!("  {when} ({})", plans::settled_words(plan.settled_by)));
    }
    Ok(Done::All)
}

/// Learns a plan from the times at which a feed published, and passes the plan to the engine, which then applies it.
pub(in crate::cli) fn learn_rhythm(
    publications: &Publications,
    engine: &mut Engine,
    feed: FeedKey,
    now: DateTime<Utc>,
) -> Option<Arc<LearnedPlan>> {
    let subscription = engine.feeds.get(&feed)?;
    let terms = learn::terms(engine, subscription);
    let plan = schedule::learning::learn(publications, &terms, now).map(Arc::new);
    if let Some(plan) = &plan {
        learn::remember(engine, now, feed, plan);
    }
    plan
}

/// Returns the learned plan as JSON, with the next poll times and whether polls follow this plan.
fn learned_fields(engine: &Engine, feed: FeedKey, plan: &LearnedPlan, now: DateTime<Utc>) -> Json {
    let Some(subscription) = engine.feeds.get(&feed) else { return Json::Null };
    let mut answer = learned_json(plan, subscription.state.facts.settings.pace);
    if let Json::Object(fields) = &mut answer {
        let why = learn::why_not_followed(engine, feed, plan);
        fields.insert("followed".into(), json!(why.is_none()));
        fields.insert("not_followed_because".into(), json!(why));
        let coming = plans::following(subscription, engine.salt, POLLS_TOLD, now);
        let times = coming.iter().map(|plan| json::time(plan.next_poll));
        fields.insert("next_polls".into(), times.collect());
    }
    answer
}

/// Returns a future plan as JSON, without its explanation.
fn short_json(plan: &Plan) -> Json {
    let told = ["next_poll", "kind", "binding_minutes", "settled_by"];
    let whole = schedule::plan_json(plan);
    let fields = whole.as_object().into_iter().flatten();
    let told = fields.filter(|(name, _)| told.contains(&name.as_str()));
    told.map(|(name, value)| (name.clone(), value.clone())).collect()
}

/// Returns a feed's title and its plan as text.
pub(in crate::cli) fn plan_words(engine: &Engine, feed: FeedKey, now: DateTime<Utc>) -> String {
    let Some(subscription) = engine.feeds.get(&feed) else { return String::new() };
    let mut lines = vec![subscription.record.shown_title().to_owned()];
    if let Some(plan) = plans::explained(engine, feed, now) {
        lines.extend(plan_sentences(&subscription.state.facts, &plan, now, engine.zone));
    }
    lines.join("\n")
}

/// Describes a plan in sentences: the time of the next poll and the reason, then each step of the calculation. Times include
/// seconds.
fn plan_sentences(facts: &Facts, plan: &Plan, now: DateTime<Utc>, zone: Tz) -> Vec<String> {
    let mut lines =
        vec![format!("{}.", schedule::plan_sentence(facts, &plan.decision(), now, zone))];
    lines.extend(plan.steps.iter().map(|step| step_line(step, zone)));
    let flaws = plan.flaws.iter();
    lines
        .extend(flaws.map(|flaw| format!("  ! {} '{}': {}", flaw.element, flaw.text, flaw.reason)));
    lines
}

/// Formats one step of the calculation: its stage, the value before and after the step, and the reason.
fn step_line(step: &PlanStep, zone: Tz) -> String {
    let words = |value: Value| match value {
        Value::Seconds(seconds) => duration_words(seconds),
        Value::At(at) => at.with_timezone(&zone).format("%a %-d %b %H:%M:%S").to_string(),
    };
    let values = match (step.before, step.after) {
        (Some(before), Some(after)) if before != after => {
            format!("{} → {}: ", words(before), words(after))
        }
        (_, Some(after)) => format!("{}: ", words(after)),
        (_, None) => String::new(),
    };
    let stage = plans::stage_words(step.stage);
    format!("  {stage:<15} {values}{}", step.reason)
}

/// Computes a plan from a document and a file of facts. The current time is used only if the facts contain no time.
fn of_document(args: &PlanArgs, document: &str, facts: &str) -> Result<Done, Failure> {
    let (bytes, facts) = (parse::read_file(document)?, parse::read_file(facts)?);
    let read = parse::read_apart(move || feed::parse(&bytes, &Origin::default()))?;
    let facts = String::from_utf8(facts)
        .map_err(|_| Failure::new("the facts of the feed cannot be read: they are not UTF-8"))?;
    let clock = clock::now();
    if args.json {
        let answer = schedule::plan_document(read.hints, &facts, &read.flaws, clock);
        console::put(&json::text(&answer.map_err(Failure::new)?));
    } else {
        let stated = schedule::read_facts(read.hints, &facts, clock).map_err(Failure::new)?;
        let mut plan = schedule::decide(&stated.facts, stated.now, stated.u);
        plan.add_document_flaws(&read.flaws);
        console::put(&plan_sentences(&stated.facts, &plan, stated.now, Tz::UTC).join("\n"));
    }
    let is_feed = read.kind != feed::Kind::None;
    Ok(if is_feed { Done::All } else { Done::WithFailures })
}
