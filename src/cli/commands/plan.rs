//! `backissue plan`: explains when a feed is polled next.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use serde_json::{Map, Value as Json, json};

use crate::cli::args::PlanArgs;
use crate::cli::context::CommandContext;
use crate::cli::session::Failure;
use crate::cli::{Done, json, lookup};
use crate::engine::entries::ahead;
use crate::engine::entries::ahead_work::AheadPart;
use crate::engine::external::feed_sources::source_words;
use crate::engine::poll::{learn, plans};
use crate::engine::settings::ONLY_BY_HAND;
use crate::engine::state::Engine;
use crate::io::clock;
use backissue_core::history::FeedKey;
use backissue_core::schedule::learning::{LearnedPlan, Publications, learned_json};
use backissue_core::schedule::{self, Plan};
use backissue_core::words;

/// Number of future polls in the `learned` part of the JSON output.
const POLLS_TOLD: usize = 5;

/// Runs `backissue plan` for a subscription.
pub(in crate::cli) fn run(desk: &CommandContext, args: &PlanArgs) -> Result<Done, Failure> {
    let now = clock::now();
    let mut engine = desk.engine()?;
    let feed = lookup::find_subscription(&engine, &args.feed)?;
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
    if publications.is_empty() && subscription.record.feed_settings.is_polled_by_server() {
        desk.put(&format!(
            "nothing was learned: the server of its account polls it, and says only when entries are dated; to poll it here, too: backissue set {feed} --poll-here on"
        ));
    } else if let Some(plan) = &learned {
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
            |at| format!("{}, {}", words::minute(at, engine.zone), words::until_words(at, now)),
        );
        desk.put(&format!("  {when} ({})", plan.settled_by.in_words()));
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
        lines.extend(schedule::plan_lines(&subscription.state.facts, &plan, now, engine.zone));
    }
    lines.join("\n")
}
