//! What the reader can ask of a feed's history: more, again, anew, or not to see a gap.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::{archive_response, walks};
use crate::engine::effect::Effect;
use crate::engine::event::Event;
use crate::engine::feeds::subscription::HistoryCommit;
use crate::engine::state::Engine;
use crate::engine::store_work::Job;
use crate::engine::undo::Step;
use crate::history::walk::archive_walk::ArchiveRequest;
use crate::history::{
    DocumentKind, FeedKey, Gap, GapKey, GapKind, GoOn, HistoryRecord, Nodes, Via, WalkPolicy,
};

/// What a reader can ask of a feed's history.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum HistoryAction {
    /// Go on at a gap: ask again, or continue.
    GoOn(GapKey),
    /// Go on at every gap that can be asked at.
    Everywhere,
    /// Go on where a limit ended a walk, or load the next older page.
    Continue,
    /// Ask again for what could not be had.
    Retry,
    /// The next older page of a paged feed.
    Page,
    /// Forget which archives were fetched and read all of them again; entries stay.
    Reread,
}

/// Grants wishes on a record: answers with a page to ask for, and with why nothing can be done for one of them.
pub(in crate::engine) fn grant(
    record: &mut HistoryRecord,
    nodes: &mut Nodes,
    feed_settings: &mut Vec<HistoryAction>,
    policy: &WalkPolicy,
) -> (Option<ArchiveRequest>, Option<String>) {
    let mut refused = None;
    let mut page = None;
    for wish in std::mem::take(feed_settings) {
        let granted = match wish {
            HistoryAction::GoOn(key) => record.go_on(key, nodes),
            HistoryAction::Everywhere => record.go_on_everywhere(nodes),
            HistoryAction::Continue => go_on_where(record, nodes, |kind| {
                matches!(kind, GapKind::Limit | GapKind::Interrupted | GapKind::Paged)
            }),
            HistoryAction::Retry => go_on_where(record, nodes, |kind| {
                matches!(kind, GapKind::Unavailable | GapKind::Unreadable | GapKind::Loop)
            }),
            HistoryAction::Page => GoOn::Page,
            HistoryAction::Reread => {
                record.reread(nodes);
                GoOn::Walking
            }
        };
        match granted {
            GoOn::Walking => {}
            GoOn::Page => {
                page = next_page(record, policy);
                if page.is_none() {
                    refused = Some("there is no older page".to_owned());
                }
            }
            GoOn::Nothing => refused = Some("there is nothing to ask for".to_owned()),
        }
    }
    (page, refused)
}

/// Goes on at gaps of some kinds; hidden ones too.
fn go_on_where(
    record: &mut HistoryRecord,
    nodes: &Nodes,
    wanted: impl Fn(GapKind) -> bool,
) -> GoOn {
    let kept = record.gaps.iter().map(|(key, gap)| (*key, gap.kind()));
    let rests = record.frontiers.iter().filter(|next| next.gap.is_none());
    let rests = rests.map(|next| (GapKey::archive(&next.edge.key), GapKind::Interrupted));
    let keys: Vec<(GapKey, GapKind)> =
        kept.chain(rests).filter(|(_, kind)| wanted(*kind)).collect();
    let mut answer = GoOn::Nothing;
    for (key, _) in keys {
        match record.go_on(key, nodes) {
            GoOn::Nothing => {}
            granted @ (GoOn::Walking | GoOn::Page) => answer = granted,
        }
    }
    answer
}

/// The next older page; where the last one was reached, from the first one's link again.
fn next_page(record: &mut HistoryRecord, policy: &WalkPolicy) -> Option<ArchiveRequest> {
    if let Ok(Some(request)) = record.next_page(policy) {
        return Some(request);
    }
    record.begin_paging();
    record.next_page(policy).ok().flatten()
}

/// Asks for more of a feed's history: at one gap, or wherever something is missing. A walk under way is stopped.
pub fn more(
    engine: &mut Engine,
    now: DateTime<Utc>,
    feed: FeedKey,
    gap: Option<GapKey>,
) -> Vec<Effect> {
    let Some(subscription) = engine.feeds.get(&feed) else { return Vec::new() };
    let title = subscription.record.shown_title().to_owned();
    if engine.offline {
        engine.say("backissue was started with --offline");
        return Vec::new();
    }
    if gap.is_none() && engine.backfills.contains_key(&feed) {
        return walks::stop(engine, now, feed);
    }
    let record = &subscription.history;
    let action = match gap {
        Some(key) => HistoryAction::GoOn(key),
        None if record.kind == DocumentKind::Paged && !record.archived => HistoryAction::Page,
        None if record.missing() == 0 => {
            let text = format!("{title}: {}", record.status().text());
            engine.say(text);
            return Vec::new();
        }
        None => HistoryAction::Everywhere,
    };
    engine.say(format!("{title}: asking for older entries"));
    walks::begin(engine, now, feed, Some(action))
}

/// Does one thing with a feed's history.
pub fn begin(
    engine: &mut Engine,
    now: DateTime<Utc>,
    feed: FeedKey,
    action: HistoryAction,
) -> Vec<Effect> {
    if engine.feeds.contains_key(&feed) && !engine.offline {
        walks::begin(engine, now, feed, Some(action))
    } else {
        Vec::new()
    }
}

/// Hides a gap; that can be undone.
pub fn dismiss(engine: &mut Engine, feed: FeedKey, gap: GapKey) -> Vec<Effect> {
    let Some(effects) = hide(engine, feed, gap) else {
        engine.say("it goes away by itself when the history has been fetched");
        return Vec::new();
    };
    engine.undo.push(Step::Dismissed { feed, gap });
    engine.say("this gap is not shown any more · u undo");
    effects
}

/// Hides a gap, if there is such a one.
pub fn hide(engine: &mut Engine, feed: FeedKey, gap: GapKey) -> Option<Vec<Effect>> {
    let subscription = engine.feeds.get_mut(&feed)?;
    subscription.history.dismiss(gap).then(|| changed(engine, feed))
}

/// Shows a gap again that was hidden.
pub fn show_again(engine: &mut Engine, feed: FeedKey, gap: GapKey) -> Vec<Effect> {
    let Some(subscription) = engine.feeds.get_mut(&feed) else { return Vec::new() };
    subscription.history.show_again(gap);
    changed(engine, feed)
}

/// The reader chose where older entries are looked for that the publisher does not offer, or nowhere: what was under way is
/// dropped. What is to be asked for is asked for after the feed's next good check.
pub fn adapt(engine: &mut Engine, feed: FeedKey) -> Vec<Effect> {
    walks::drop_walk(engine, feed);
    let way = archive_response::way(engine, feed);
    let Some(subscription) = engine.feeds.get_mut(&feed) else { return Vec::new() };
    if subscription.state.facts.last_ok.is_none() {
        return Vec::new();
    }
    subscription.history.adapt(way.as_ref());
    changed(engine, feed)
}

/// A gap was hidden or shown: the record is written now, or with the archive that is under way.
fn changed(engine: &mut Engine, feed: FeedKey) -> Vec<Effect> {
    let mut effects = Vec::new();
    if !engine.backfills.contains_key(&feed)
        && let Some(subscription) = engine.feeds.get(&feed)
    {
        let record = subscription.history.clone();
        let commit = HistoryCommit { feed, record, nodes: Vec::new(), document: None };
        effects.push(Effect::store(Job::KeepHistory(Box::new(commit))));
    }
    engine.tell(Event::ListsChanged);
    effects
}

/// What a gap is, why it is there and what happens next, as paragraphs.
pub fn explained(gap: &Gap, zone: chrono_tz::Tz) -> Vec<String> {
    let when = |at: DateTime<Utc>| at.with_timezone(&zone).format("%-d %B %Y at %H:%M").to_string();
    let mut said = vec![format!("{}.", gap.text())];
    said.extend(gap.advice().map(|advice| format!("{advice}.")));
    if !gap.edge.url.is_empty() {
        said.push(format!("It should be at {}", gap.edge.url));
    }
    if gap.edge.via != Via::Link {
        said.push(
            "The publisher does not offer it; you chose to look for it there (e).".to_owned(),
        );
    }
    if let Some(at) = gap.last_try {
        let times =
            if gap.tries > 1 { format!(", {} times in all", gap.tries) } else { String::new() };
        said.push(format!("Asked for last on {}{times}.", when(at)));
    }
    said.push(format!("First noticed on {}.", when(gap.first_seen)));
    said.push(match (gap.kind(), gap.retry_at) {
        (GapKind::Unavailable | GapKind::Unreadable, Some(at)) => {
            format!("It is asked for again by itself after {}, when the feed has been checked. Enter or H asks now.", when(at))
        }
        (GapKind::Unavailable | GapKind::Unreadable, None) => {
            "It is not asked for again by itself. Enter or H asks now.".to_owned()
        }
        (GapKind::Limit, _) => "Nothing more is fetched by itself. Enter or H goes on.".to_owned(),
        (GapKind::Loop, _) => {
            "The publisher's archives lead in a circle. Enter or H reads the link again.".to_owned()
        }
        (GapKind::Overrun, _) => {
            "Nothing can be asked for: the feed does not offer what has left it.".to_owned()
        }
        (GapKind::Paged, _) if gap.edge.url.is_empty() => {
            "No older page is known. Enter or H looks again from the first page.".to_owned()
        }
        (GapKind::Paged, _) => "Enter or H loads one older page.".to_owned(),
        (GapKind::Interrupted, _) => {
            "It goes on by itself after the feed's next check. Enter or H goes on now.".to_owned()
        }
    });
    said.push("D hides this line; u takes that back.".to_owned());
    said
}
