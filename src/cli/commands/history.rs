//! `backissue history` shows a feed's archives and gaps, and fetches more of the history on request; `backissue plan` explains when
//! a feed is polled next.

use std::collections::BTreeSet;
use std::sync::Arc;

use backissue_core::feed::text::{counted_words, one_line};
use backissue_core::history::timeline::Timeline;
use backissue_core::history::walk::adaptor::document_name;
use backissue_core::history::{
    Adaptor, ArchiveNode, FeedKey, Gap, GapKind, HistoryStatus, NodeState, Nodes,
};
use backissue_core::schedule::learning::{LearnedPlan, Publications, learned_json};
use backissue_core::schedule::{self, Plan};
use backissue_core::simulate::{timeline_text, timelines_svg};
use backissue_core::words;
use chrono::{DateTime, Utc};
use serde_json::{Map, Value, Value as Json, json};

use crate::cli::args::{HistoryArgs, PlanArgs};
use crate::cli::commands::simulate::svg_file;
use crate::cli::context::{CommandContext, sentences};
use crate::cli::session::Failure;
use crate::cli::{Done, json, lookup};
use crate::engine::backfill::archive_response::policy;
use crate::engine::backfill::elsewhere::{self, OlderSource, SourceKind};
use crate::engine::backfill::history_requests;
use crate::engine::backfill::walk_stage::HistoryAction;
use crate::engine::entries::ahead_work::AheadPart;
use crate::engine::entries::page_fetches;
use crate::engine::feeds::subscription::Subscription;
use crate::engine::poll::learn;
use crate::engine::request::Request;
use crate::engine::settings::ONLY_BY_HAND;
use crate::engine::start_external::source_words;
use crate::engine::state::{Engine, is_under_way};
use crate::io::clock;
use crate::io::loop_handle::Waited;

/// Maximum length of a title above a figure, in characters.
const TITLE_MAX: usize = 40;

/// Runs `backissue history`.
pub(in crate::cli) fn run(context: &CommandContext, args: &HistoryArgs) -> Result<Done, Failure> {
    let actions = [
        (args.go_on, HistoryAction::Continue),
        (args.retry, HistoryAction::Retry),
        (args.reread, HistoryAction::Reread),
    ];
    let feed = lookup::find_subscription(&context.engine()?, &args.feed)?;
    let wanted = actions.into_iter().filter_map(|(wanted, action)| wanted.then_some(action));
    let mut requests: Vec<Request> = wanted.map(|action| Request::History(feed, action)).collect();
    requests.extend(args.archives.as_ref().map(|name| {
        let adaptor = Adaptor::ALL.into_iter().find(|adaptor| adaptor.word() == name);
        let copy = || Request::ReadCopy(feed, name.clone());
        adaptor.map_or_else(copy, |adaptor| Request::ReadElsewhere(feed, adaptor))
    }));
    requests.extend(args.forget.clone().map(|name| Request::ForgetCopy(feed, name)));
    let asked = !requests.is_empty();
    let said = if asked { ask_and_wait(context, feed, requests)? } else { None };
    let now = clock::now();
    let engine = context.engine()?;
    let Some(subscription) = engine.feeds.get(&feed) else { return Ok(Done::All) };
    let (nodes, damaged) = context.look(move |store| store.readable_nodes(feed))?;
    let gaps: Vec<Gap> = history_requests::of_feed(&engine, subscription, now)
        .into_iter()
        .map(|(_, gap)| gap)
        .collect();
    if args.figure {
        draw_figure(context, &engine, subscription, gaps.iter(), args)?;
    } else if args.json {
        context.put(&json::text(&whole_json(&engine, subscription, &nodes, now)));
    } else {
        print_history(context, &engine, subscription, &nodes, &gaps, now);
        if let Some(said) = said {
            context.put(&said);
        }
    }
    let failing = |gap: &Gap| matches!(gap.kind(), GapKind::Unavailable | GapKind::Unreadable);
    let done = if asked && gaps.iter().any(failing) { Done::WithFailures } else { Done::All };
    Ok(done.and(context.tell_left_out(damaged, "archive", "archives")))
}

/// Requests the actions on the history, waits until they are done, and returns the last message about them.
fn ask_and_wait(
    context: &CommandContext,
    feed: FeedKey,
    requests: Vec<Request>,
) -> Result<Option<String>, Failure> {
    if context.options.offline {
        return Err(Failure::new("archives cannot be fetched with --offline"));
    }
    let feeds = BTreeSet::from([feed]);
    let asked = feeds.clone();
    let was_busy = context.inspect(move |engine| is_under_way(engine, &asked))?;
    let mut said = None;
    for request in requests {
        let told = context.ask(request)?;
        said = sentences(&told).pop().or(said);
    }
    let waited = context.follow(
        move |engine, events, notes| {
            notes.extend(sentences(events));
            !is_under_way(engine, &feeds)
        },
        |sentence| said = Some(sentence),
    )?;
    match waited {
        Waited::Done => Ok(said),
        Waited::Cancelled => {
            if !was_busy {
                context.ask(Request::StopPolls(vec![feed]))?;
            }
            Err(Failure::new("interrupted; what was fetched is saved"))
        }
    }
}

/// Draws the timeline of a feed, as text or as SVG.
fn draw_figure<'g>(
    context: &CommandContext,
    engine: &Engine,
    feed: &Subscription,
    gaps: impl Iterator<Item = &'g Gap>,
    args: &HistoryArgs,
) -> Result<(), Failure> {
    let (key, zone) = (feed.key, engine.zone);
    let counts = context.look(move |store| store.month_counts(key, zone))?;
    let timeline = Timeline::of(&counts, gaps, zone);
    let title = one_line(feed.record.shown_title(), TITLE_MAX);
    let title = format!("{title}: {}", describe_standing(engine, feed));
    match &args.svg {
        None => context.put(&timeline_text(&timeline, &title)),
        Some(path) => {
            let picture = timelines_svg(&[(title, timeline)]);
            let file = svg_file(path, args.force);
            context.write_file(&file, &mut |out| out.write_all(picture.as_bytes()))?;
        }
    }
    Ok(())
}

fn print_history(
    context: &CommandContext,
    engine: &Engine,
    feed: &Subscription,
    nodes: &Nodes,
    gaps: &[Gap],
    now: DateTime<Utc>,
) {
    context.put(&format!("{} '{}' {}", feed.key, feed.record.shown_title(), feed.record.url));
    context.put(&format!("  {}", describe_standing(engine, feed)));
    for (_, node) in list_archives(nodes) {
        let span = node.span.map_or_else(String::new, |(newest, oldest)| {
            format!("  {} to {}", oldest.format("%Y-%m-%d"), newest.format("%Y-%m-%d"))
        });
        // The singular is padded to the same width, to align the addresses in one column.
        let entries = counted_words(node.entries, "entry  ", "entries");
        context.put(&format!("  {entries:>13}{span}  {}", document_name(&node.url)));
    }
    for gap in gaps {
        let said = backissue_core::history::GapLines::new(gap, now, engine.zone);
        context.put(&format!("  ┄┄┄ {} · {}", gap.text(), said.next));
    }
    for gap in feed.history.gaps.values().filter(|gap| !gap.is_shown()) {
        context.put(&format!("  ┄┄┄ {} · you hid this gap", gap.text()));
    }
    let there = feed.state.history_there.as_ref();
    let there = there.filter(|_| history_requests::history_account(feed).is_some());
    for gap in there.iter().flat_map(|there| &there.gaps) {
        context.put(&format!("  ┄┄┄ there: {gap}"));
    }
    for source in elsewhere::sources(engine, feed) {
        let word = match &source.kind {
            SourceKind::Adaptor(adaptor) if !source.is_chosen => adaptor.word(),
            SourceKind::Copy(_) => {
                context.put(&format!("  {}; {}", source.name, source.cost));
                continue;
            }
            SourceKind::Adaptor(_) | SourceKind::OtherCopy => continue,
        };
        let command = format!("backissue history {} --archives {word}", feed.key);
        context.put(&format!("  perhaps more from {}: {command}", source.name));
    }
}

/// Describes the state of the history and how far back it goes.
pub(in crate::cli) fn describe_standing(engine: &Engine, feed: &Subscription) -> String {
    let state =
        history_requests::standing(engine, feed).unwrap_or_else(|| "not read yet".to_owned());
    // The text for a partial history already contains the number of archives read, so it is not repeated.
    let is_partial = matches!(feed.history.status(), HistoryStatus::Partial { .. });
    match (describe_reach(feed), feed.history.reaches) {
        (Some(_), Some(at)) if is_partial => format!("{state}, back to {}", at.format("%Y")),
        (Some(_), None) if is_partial => state,
        (Some(reach), _) => format!("{state}: {reach}"),
        (None, _) => state,
    }
}

/// Describes the extent of the history, as in `14 archives back to 2009`.
fn describe_reach(feed: &Subscription) -> Option<String> {
    let record = &feed.history;
    let many = if record.archives == 1 { "archive" } else { "archives" };
    let back = record.reaches.map(|at| format!(" back to {}", at.format("%Y")));
    (record.archives > 0).then(|| format!("{} {many}{}", record.archives, back.unwrap_or_default()))
}

/// Returns the addresses of the archives, newest first. An archive with several addresses is listed once.
fn list_archives(nodes: &Nodes) -> Vec<(&str, &ArchiveNode)> {
    let is_one =
        |node: &ArchiveNode| !matches!(node.state, NodeState::AliasOf(_) | NodeState::Empty);
    let mut archives: Vec<(&str, &ArchiveNode)> =
        nodes.iter().filter(|(_, node)| is_one(node)).collect();
    archives.sort_by_key(|(_, node)| (std::cmp::Reverse(node.epoch), node.depth));
    archives
}

fn whole_json(engine: &Engine, feed: &Subscription, nodes: &Nodes, now: DateTime<Utc>) -> Value {
    let gaps = feed.history.gaps.values().map(|gap| json::gap(feed, gap));
    let paused = history_requests::of_feed(engine, feed, now).into_iter().map(|(_, gap)| gap);
    let paused = paused.filter(|gap| gap.kind() == GapKind::Interrupted);
    let gaps: Vec<Value> = gaps.chain(paused.map(|gap| json::gap(feed, &gap))).collect();
    let archive = |(key, node): (&str, &ArchiveNode)| {
        json!({
            "url": node.url,
            "key": key,
            "state": if node.state == NodeState::Superseded { "superseded" } else { "applied" },
            "previous": node.prev,
            "entries": node.entries,
            "newest": json::time(node.span.map(|span| span.0)),
            "oldest": json::time(node.span.map(|span| span.1)),
            "fetched_at": json::time(Some(node.fetched_at)),
        })
    };
    let run = &feed.history.run;
    json!({
        "number": feed.key,
        "url": feed.record.url,
        "title": feed.record.shown_title(),
        "history": json::history(engine, feed, now),
        "mode": policy(engine, feed.key).mode.word(),
        "archives": list_archives(nodes).into_iter().map(archive).collect::<Vec<_>>(),
        "gaps": gaps,
        "last_run": {
            "requests": run.documents,
            "fetched": run.fetched,
            "entries": run.entries,
            "new": run.new,
        },
        "elsewhere": elsewhere::sources(engine, feed).iter().map(source_json).collect::<Vec<_>>(),
    })
}

fn source_json(source: &OlderSource) -> Value {
    let name = match &source.kind {
        SourceKind::Adaptor(adaptor) => Some(adaptor.word()),
        SourceKind::Copy(url) => Some(url.as_str()),
        SourceKind::OtherCopy => None,
    };
    let OlderSource { name: text, cost, is_chosen, .. } = source;
    json!({ "source": name, "text": text, "cost": cost, "chosen": is_chosen })
}

/// Number of future polls in the `learned` part of the JSON output.
const POLLS_TOLD: usize = 5;

/// Runs `backissue plan` for a subscription.
pub(in crate::cli) fn run_plan(context: &CommandContext, args: &PlanArgs) -> Result<Done, Failure> {
    let now = clock::now();
    let mut engine = context.engine()?;
    let feed = lookup::find_subscription(&engine, &args.feed)?;
    let publications = context.look(move |store| store.publications(feed))?;
    let learned = learn_rhythm(&publications, &mut engine, feed, now);
    let Some(subscription) = engine.feeds.get(&feed) else { return Ok(Done::All) };
    let coming = learn::following(subscription, engine.salt, args.next.unwrap_or(0), now);
    if args.json {
        let mut answer = Map::new();
        let record = &subscription.record;
        answer.insert("number".into(), json!(feed));
        answer.insert("url".into(), json!(record.url));
        answer.insert("title".into(), json!(record.shown_title()));
        let plan = learn::explained(&engine, feed, now);
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
        context.put(&json::text(&Json::Object(answer)));
        return Ok(Done::All);
    }
    context.put(&plan_words(&engine, feed, now));
    if let Some(source) = source_words(&subscription.record.url) {
        context.put(&source);
    }
    if !engine.settings.poll.automatic {
        context.put(ONLY_BY_HAND);
    }
    for (part, used) in page_fetches::used_words(&engine, feed, now) {
        let what = match part {
            AheadPart::Texts => "full texts are fetched ahead after each poll",
            AheadPart::Pictures => "pictures are fetched ahead after each poll",
            AheadPart::Files => "attached files of new entries are added to the downloads",
        };
        context.put(&format!("{what}: {used}"));
    }
    if publications.is_empty() && subscription.record.feed_settings.is_polled_by_server() {
        context.put(&format!(
            "nothing was learned: the server of its account polls it, and says only when entries are dated; to poll it here, too: backissue set {feed} --poll-here on"
        ));
    } else if let Some(plan) = &learned {
        let why = learn::why_not_followed(&engine, feed, plan);
        let why = why.map(|why| format!(" (not followed: {why})")).unwrap_or_default();
        context.put(&format!("{}{why}", plan.rhythm.sentence()));
    }
    if !coming.is_empty() {
        context.put("if nothing changes:");
    }
    for plan in &coming {
        let when = plan.next_poll.map_or_else(
            || "never".to_owned(),
            |at| format!("{}, {}", words::minute(at, engine.zone), words::until_words(at, now)),
        );
        context.put(&format!("  {when} ({})", plan.settled_by.in_words()));
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
        let coming = learn::following(subscription, engine.salt, POLLS_TOLD, now);
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
    if let Some(plan) = learn::explained(engine, feed, now) {
        lines.extend(schedule::plan_lines(&subscription.state.facts, &plan, now, engine.zone));
    }
    lines.join("\n")
}
