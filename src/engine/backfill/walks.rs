//! Steps of a walk through a feed's archives. A walk starts after a successful poll or at the user's request. The walk queues each
//! archive after all polls of its site, requests and classifies it, writes it with its entries, and then continues with the next
//! archive.
//!
//! The archives to fetch are listed in the feed's [`backissue_core::history::HistoryRecord`], which is written together with the
//! entries. A walk can be cancelled at any time; after the feed's next successful poll, a new walk fetches the remaining archives.

use std::sync::Arc;

use chrono::{DateTime, Utc};

use super::archive_response::{Archive, OtherDocument, classify_archive, policy, wants_rest, way};
use super::walk_stage::{self, Backfill, HistoryAction, WalkStage};
use super::{brought, copies};
use crate::engine::feeds::subscription::{HistoryCommit, Subscription};
use crate::engine::politeness::host_queue::Waiting;
use crate::engine::politeness::rate_limits::note_network;
use crate::engine::poll::fetch::{FetchId, Fetched, Purpose};
use crate::engine::poll::poll_log::PollCause;
use crate::engine::poll::poll_stage::ReadArchive;
use crate::engine::poll::start_fetches;
use crate::engine::request::{Event, NoticeLevel, NoticeOffer};
use crate::engine::state::Engine;
use crate::engine::store_work::Job;
use backissue_core::feed::FeedDocument;
use backissue_core::feed::opml::subscription_list::FeedSource;
use backissue_core::feed::text::counted_words;
use backissue_core::history::walk::archive_walk::ArchiveRequest;
use backissue_core::history::{
    Adaptor, ArchiveFailure, ArchiveWalk, Arrival, FeedKey, HistoryRecord, Merging, Mode, Next,
    Nodes, WalkNotice,
};
use backissue_core::schedule::Wait;

/// Starts a walk after a successful poll (SPEC C.8, C.9). The walk requests archives only if `with_archives` is `true`. `archive`
/// is an archive that the poll read before the subscription document; it is always stored and not requested again.
pub fn checked(
    engine: &mut Engine,
    now: DateTime<Utc>,
    feed: FeedKey,
    archive: Option<Box<ReadArchive>>,
    with_archives: bool,
) {
    if engine.offline || (!with_archives && archive.is_none()) {
        return;
    }
    let (mode, way) = (policy(engine, feed).mode, way(engine, feed));
    let Some(subscription) = engine.feeds.get_mut(&feed) else { return };
    Arc::make_mut(&mut subscription.history).adapt(way.as_ref());
    Arc::make_mut(&mut subscription.history).apply_check(mode, now);
    if subscription.history == subscription.stored_history {
        // One copy in memory is enough.
        subscription.history = Arc::clone(&subscription.stored_history);
    }
    let has_work = subscription.history.has_work() || archive.is_some();
    let begun = Begun { action: None, archive, asks: with_archives };
    if has_work {
        begin_with(engine, now, feed, begun);
    }
}

/// Starts a walk with the user's action, or passes the action to the walk under way.
pub fn begin(
    engine: &mut Engine,
    now: DateTime<Utc>,
    feed: FeedKey,
    action: Option<HistoryAction>,
) {
    begin_with(engine, now, feed, Begun { action, archive: None, asks: true });
}

/// Input for a new walk, or for the walk under way.
struct Begun {
    action: Option<HistoryAction>,
    archive: Option<Box<ReadArchive>>,
    /// `true` if the walk may send requests.
    asks: bool,
}

fn begin_with(engine: &mut Engine, now: DateTime<Utc>, feed: FeedKey, begun: Begun) {
    let Begun { action, archive, asks } = begun;
    let source = engine.feeds.get(&feed).map(|feed| FeedSource::of(&feed.record.url));
    if let Some(why) = source.and_then(FeedSource::without_history) {
        if action.is_some() {
            engine.say(why);
        }
        return;
    }
    if let Some(backfill) = engine.backfills.get_mut(&feed) {
        backfill.asked |= action.is_some();
        backfill.asks |= asks;
        backfill.actions.extend(action);
        backfill.read_before = archive.or(backfill.read_before.take());
        return go_on(engine, now, feed);
    }
    let backfill = Backfill {
        read_before: archive,
        asked: action.is_some(),
        actions: action.into_iter().collect(),
        ..Backfill::new(asks)
    };
    engine.backfills.insert(feed, backfill);
    engine.store(Job::ReadNodes(feed));
}

/// Continues a walk after the archives that were fetched earlier were read from the store.
pub fn nodes_loaded(engine: &mut Engine, now: DateTime<Utc>, feed: FeedKey, mut nodes: Nodes) {
    let (Some(backfill), Some(subscription)) =
        (engine.backfills.get_mut(&feed), engine.feeds.get_mut(&feed))
    else {
        return;
    };
    if backfill.stage != WalkStage::Loading {
        return;
    }
    if nodes.check_invariant(&subscription.history).is_err() {
        // The store lost records of archives, so fetch all archives again. The entries are kept.
        Arc::make_mut(&mut subscription.history).reread(&mut nodes);
    }
    (backfill.nodes, backfill.stage) = (nodes, WalkStage::Ready);
    go_on(engine, now, feed);
}

/// Takes the next step of a walk: applies the user's actions, then requests the next archive or ends the walk.
fn go_on(engine: &mut Engine, now: DateTime<Utc>, feed: FeedKey) {
    if engine.backfills.get(&feed).is_some_and(|backfill| backfill.copy.is_some()) {
        // What a poll found meanwhile is requested after the next one.
        return;
    }
    if keep_read_archive(engine, now, feed).is_some() {
        return;
    }
    let is_over = |backfill: &Backfill| backfill.stage == WalkStage::Ready && !backfill.asks;
    if engine.backfills.get(&feed).is_some_and(is_over) {
        return rest(engine, feed, None);
    }
    let policy = policy(engine, feed);
    let held_up = is_held_up(engine, now, feed);
    let (Some(backfill), Some(subscription)) =
        (engine.backfills.get_mut(&feed), engine.feeds.get_mut(&feed))
    else {
        return;
    };
    if backfill.stage != WalkStage::Ready {
        return;
    }
    let record = Arc::make_mut(&mut subscription.history);
    let (page, refused) =
        walk_stage::grant(record, &mut backfill.nodes, &mut backfill.actions, &policy);
    if refused.is_some() && !record.has_work() {
        // No request follows, so show only the reason, and no notice at the end of the walk.
        backfill.asked = false;
    }
    engine.events.extend(refused.map(Event::info));
    if backfill.nodes.are_touched() {
        // A poll may write the history record at any time, so write the changed archives before the next request.
        backfill.actions.extend(page.map(|_| HistoryAction::Page));
        let job = write(feed, &subscription.history, backfill, None);
        return engine.store(job);
    }
    if let Some(page) = page.filter(|_| !held_up) {
        return wait_for(engine, now, feed, page, true);
    }
    // If history is switched off for the feed, continue anyway, so that the entry list shows that it is off.
    if held_up && policy.mode != Mode::Off {
        let why = "its archives are requested after its next successful poll";
        let told = backfill.asked.then(|| why.to_owned());
        return rest(engine, feed, told);
    }
    let mut walk = ArchiveWalk { record, nodes: &mut backfill.nodes, policy: &policy };
    match walk.next(now) {
        Next::Fetch(request) if wants_rest(engine, feed, &request.url, now) => {
            let asked = engine.backfills.get(&feed).is_some_and(|backfill| backfill.asked);
            let why = "the host of its archives asked for fewer requests".to_owned();
            rest(engine, feed, asked.then_some(why));
        }
        Next::Fetch(request) => wait_for(engine, now, feed, request, false),
        Next::Busy => {}
        Next::Rest(notice) => rest(engine, feed, notice.map(WalkNotice::text)),
    }
}

/// Stores an archive that a poll read as the subscription document, as if the walk had requested the archive (SPEC C.2 rule 3).
/// Returns `None` if there is none to store.
fn keep_read_archive(engine: &mut Engine, now: DateTime<Utc>, feed: FeedKey) -> Option<()> {
    let backfill = engine.backfills.get_mut(&feed)?;
    let subscription = engine.feeds.get_mut(&feed)?;
    if backfill.stage != WalkStage::Ready {
        return None;
    }
    let ReadArchive { asked, fetched, epoch, by_previous } = *backfill.read_before.take()?;
    let waits = Arc::make_mut(&mut subscription.history).expect_read(
        &backfill.nodes,
        &asked,
        epoch,
        by_previous,
    );
    let (started, wire_bytes) = (fetched.started, fetched.wire_bytes);
    waits.then(|| answered(engine, now, feed, classify_archive(fetched), started, wire_bytes))
}

/// Checks whether archives may not be requested now because backissue is offline, the feed fails, or the feed's host asked for a
/// wait. Copies at another host do not depend on the feed.
fn is_held_up(engine: &Engine, now: DateTime<Utc>, feed: FeedKey) -> bool {
    let Some(subscription) = engine.feeds.get(&feed) else { return true };
    if subscription.history.adaptor() == Some(Adaptor::InternetArchive) {
        return engine.offline;
    }
    let facts = &subscription.state.facts;
    let waits = [facts.host_wait, facts.retry_after];
    let is_held = |wait: &Wait| !(engine.polls_by_itself && wait.is_turn());
    let waits = waits.into_iter().flatten().filter(is_held);
    let left_alone = waits.filter_map(|wait| wait.end()).any(|end| now < end);
    engine.offline || subscription.is_failing() || left_alone
}

/// Queues a request for an archive or a page behind all polls of its site.
fn wait_for(
    engine: &mut Engine,
    now: DateTime<Utc>,
    feed: FeedKey,
    request: ArchiveRequest,
    paging: bool,
) {
    let Some(backfill) = engine.backfills.get_mut(&feed) else { return };
    let url = request.url.clone();
    (backfill.stage, backfill.paging) = (WalkStage::Waiting, paging);
    backfill.request = Some(request);
    let waiting = Waiting { url, purpose: Purpose::Archive(feed), cause: PollCause::Due };
    engine.host_queue.enqueue(waiting, &engine.settings.network);
    start_fetches::start(engine, now);
}

/// Handles the result of a request for an archive or a page.
pub fn fetched(
    engine: &mut Engine,
    now: DateTime<Utc>,
    id: FetchId,
    waiting: &Waiting,
    feed: FeedKey,
    fetched: Fetched,
) {
    let mine = engine.backfills.get(&feed).is_some_and(|backfill| backfill.fetch == Some(id));
    if !mine || !engine.feeds.contains_key(&feed) {
        return start_fetches::start(engine, now);
    }
    let (started, wire_bytes) = (fetched.started, fetched.wire_bytes);
    if let Some(subscription) = engine.feeds.get_mut(&feed) {
        Arc::make_mut(&mut subscription.history).count_redirects(fetched.hops.len());
    }
    let is_offline = note_network(engine, now, &waiting.url, &fetched, None);
    let judged = if is_offline { Err(ArchiveFailure::Offline) } else { classify_archive(fetched) };
    answered(engine, now, feed, judged, started, wire_bytes);
    start_fetches::start(engine, now);
}

/// Applies the response to an archive request to the feed's history, and writes the changes.
fn answered(
    engine: &mut Engine,
    now: DateTime<Utc>,
    feed: FeedKey,
    judged: Result<Archive, ArchiveFailure>,
    started: DateTime<Utc>,
    wire_bytes: u64,
) {
    let policy = policy(engine, feed);
    let (Some(backfill), Some(subscription)) =
        (engine.backfills.get_mut(&feed), engine.feeds.get_mut(&feed))
    else {
        return;
    };
    if backfill.copy.is_some() {
        return copy_answered(engine, now, feed, judged, (started, wire_bytes));
    }
    let record = Arc::make_mut(&mut subscription.history);
    (backfill.fetch, backfill.request, backfill.merging) = (None, None, None);
    let (mut document, mut trouble) = (None, None);
    match judged {
        Ok(Archive { other: Some(other), .. }) => {
            let mut walk = ArchiveWalk { record, nodes: &mut backfill.nodes, policy: &policy };
            match other {
                OtherDocument::Listing(captures) => walk.listed(captures, started),
                OtherDocument::Robots(text) => walk.robots_arrived(&text, started),
            }
        }
        Ok(Archive { url, public, document: came, other: None }) => {
            let arrival =
                Arrival { url: &url, public, fetched_at: started, wire_bytes, document: &came };
            let merging = if backfill.paging {
                let taken = record.page_arrived(&arrival);
                backfill.merging = taken.merging.is_some().then_some(taken.more);
                if taken.merging.is_none() {
                    record.page_failed(now);
                    trouble = Some("the older page could not be read".to_owned());
                }
                taken.merging
            } else {
                let mut walk = ArchiveWalk { record, nodes: &mut backfill.nodes, policy: &policy };
                let merging = walk.arrived(&arrival);
                backfill.merging = merging.is_some().then_some(false);
                merging
            };
            document = merging.map(|merging| (came, merging));
        }
        Err(failure) if backfill.paging => {
            record.page_failed(now);
            trouble = Some(format!("the older page could not be fetched: {failure}"));
        }
        Err(failure) => {
            let offline = failure == ArchiveFailure::Offline;
            ArchiveWalk { record, nodes: &mut backfill.nodes, policy: &policy }
                .failed(&failure, now);
            if offline {
                return rest(engine, feed, None);
            }
        }
    }
    let job = write(feed, &subscription.history, backfill, document);
    if let Some(trouble) = trouble {
        engine.complain(trouble);
    }
    engine.store(job);
}

/// Requests the next document of the copy that is being read, or ends the walk.
pub(super) fn go_on_in_copy(engine: &mut Engine, now: DateTime<Utc>, feed: FeedKey) {
    match copies::next(engine, now, feed) {
        Some(request) => wait_for(engine, now, feed, request, false),
        None => rest(engine, feed, None),
    }
}

/// Applies the response to a request for a document of a copy, and writes the changes.
fn copy_answered(
    engine: &mut Engine,
    now: DateTime<Utc>,
    feed: FeedKey,
    judged: Result<Archive, ArchiveFailure>,
    received: (DateTime<Utc>, u64),
) {
    let is_offline = matches!(judged, Err(ArchiveFailure::Offline));
    let document = copies::answered(engine, now, feed, judged, received);
    let (Some(backfill), Some(subscription)) =
        (engine.backfills.get_mut(&feed), engine.feeds.get(&feed))
    else {
        return;
    };
    (backfill.fetch, backfill.request) = (None, None);
    backfill.merging = document.is_some().then_some(false);
    if is_offline {
        return rest(engine, feed, None);
    }
    let job = write(feed, &subscription.history, backfill, document);
    engine.store(job);
}

/// Returns the job that writes the changes of a walk. The walk continues when the changes are durable.
fn write(
    feed: FeedKey,
    record: &Arc<HistoryRecord>,
    backfill: &mut Backfill,
    document: Option<(Box<FeedDocument>, Merging)>,
) -> Job {
    backfill.stage = WalkStage::Writing;
    let nodes = backfill.nodes.take_touched();
    let commit = HistoryCommit { feed, record: Arc::clone(record), nodes, document };
    Job::KeepHistory(Box::new(commit))
}

/// Continues a walk after its changes were written.
pub fn kept(engine: &mut Engine, now: DateTime<Utc>, feed: FeedKey, new: u32) {
    let added = engine.newest_of(feed, new);
    let policy = policy(engine, feed);
    let Some(subscription) = engine.feeds.get_mut(&feed) else { return };
    let Some(backfill) = engine.backfills.get_mut(&feed) else { return };
    if backfill.stage != WalkStage::Writing {
        return;
    }
    backfill.stage = WalkStage::Ready;
    if backfill.merging.is_some() {
        let (archives, recovered) = backfill.fetched;
        backfill.fetched = (archives.saturating_add(1), recovered.saturating_add(new));
        engine.poll_run.archives = engine.poll_run.archives.saturating_add(1);
        engine.poll_run.recovered = engine.poll_run.recovered.saturating_add(new);
        if subscription.history.adaptor().is_some() || backfill.copy.is_some() {
            backfill.brought.extend(added.clone());
        }
    }
    if backfill.copy.is_some() {
        if backfill.merging.take().is_some() {
            copies::merged(engine, feed, added);
        }
        return go_on_in_copy(engine, now, feed);
    }
    match (backfill.merging.take(), backfill.paging) {
        (Some(more), true) => {
            backfill.paging = false;
            let more = Arc::make_mut(&mut subscription.history).page_merged(new, more);
            let end = if more { "" } else { " · the last page" };
            engine.say(format!("older page: {}{end}", counted_words(new, "entry", "entries")));
        }
        (Some(_), false) => {
            let record = Arc::make_mut(&mut subscription.history);
            ArchiveWalk { record, nodes: &mut backfill.nodes, policy: &policy }.merged(new);
        }
        (None, _) => backfill.paging = false,
    }
    go_on(engine, now, feed);
}

/// Restores the history that the store has, because a later one could not be written, and ends the walk of the feed.
pub fn not_kept(engine: &mut Engine, feed: FeedKey) {
    engine.backfills.remove(&feed);
    engine.host_queue.drop_waiting(|purpose| *purpose == Purpose::Archive(feed));
    let Some(subscription) = engine.subscription_mut(feed) else { return };
    let shown =
        std::mem::replace(&mut subscription.history, Arc::clone(&subscription.stored_history));
    let is_listed = shown.gaps != subscription.history.gaps;
    if subscription.history.asking.is_some() {
        Arc::make_mut(&mut subscription.history).asking = None;
    }
    if is_listed {
        engine.tell(Event::ListsChanged);
    }
}

/// Ends a walk: writes the history record and shows the notice, if there is one.
fn rest(engine: &mut Engine, feed: FeedKey, notice: Option<String>) {
    rest_offering(engine, feed, notice, None);
}

fn rest_offering(
    engine: &mut Engine,
    feed: FeedKey,
    notice: Option<String>,
    offer: Option<NoticeOffer>,
) {
    let Some(mut backfill) = engine.backfills.remove(&feed) else { return };
    engine.host_queue.drop_waiting(|purpose| *purpose == Purpose::Archive(feed));
    let Some(subscription) = engine.feeds.get_mut(&feed) else { return };
    Arc::make_mut(&mut subscription.history).asking = None;
    let record = subscription.history.clone();
    let title = subscription.record.shown_title().to_owned();
    let mut offer = offer;
    let notice = notice.or_else(|| {
        let missing = match &backfill.copy {
            Some(url) => copies::still_missing(subscription, url),
            None => record.still_missing(),
        };
        missing.filter(|_| backfill.asked && backfill.brought.is_empty())
    });
    let entries = std::mem::take(&mut backfill.brought);
    let has_some = !entries.is_empty();
    let brought = Some(entries).filter(|_| backfill.asked && (has_some || notice.is_none()));
    let brought =
        brought.and_then(|entries| brought::words(engine, feed, entries, backfill.copy.as_deref()));
    if has_some && brought.is_some() {
        offer = offer.or(Some(NoticeOffer::Undo));
    }
    let notice = [brought, notice]
        .into_iter()
        .flatten()
        .reduce(|brought, notice| format!("{brought}; {notice}"));
    if let Some(text) = notice {
        let text = format!("{title}: {text}");
        engine.events.push(Event::Notice { level: NoticeLevel::Info, text, offer });
    }
    let nodes = backfill.nodes.take_touched();
    let (archives, new) = backfill.fetched;
    if archives > 0 || backfill.asked {
        engine.tell_when_durable(feed, Event::WalkEnded { feed, archives, new });
    }
    let commit = HistoryCommit { feed, record, nodes, document: None };
    engine.store(Job::KeepHistory(Box::new(commit)));
}

/// Stops a walk at the user's request. The archives that were not requested become a gap (SPEC C.8, G3). Pending writes continue.
pub fn stop(engine: &mut Engine, now: DateTime<Utc>, feed: FeedKey) {
    let copy = engine.backfills.get(&feed).and_then(|backfill| backfill.copy.clone());
    if let Some(subscription) = engine.feeds.get_mut(&feed) {
        let history = Arc::make_mut(&mut subscription.history);
        match copy.and_then(|url| history.copies.iter_mut().find(|copy| copy.url == url)) {
            Some(copy) => copy.record.stop(now),
            None => history.stop(now),
        }
    }
    rest_offering(engine, feed, Some("stopped".to_owned()), Some(NoticeOffer::MoreHistory));
}

/// Describes the progress of a walk under way.
pub fn progress(engine: &Engine, subscription: &Subscription) -> Option<String> {
    let backfill = engine.backfills.get(&subscription.key)?;
    if backfill.paging {
        return Some("loading an older page".to_owned());
    }
    let copy = backfill.copy.as_ref();
    let copy = copy.and_then(|url| subscription.history.copies.iter().find(|it| it.url == *url));
    let run = copy.map_or(&subscription.history.run, |copy| &copy.record.run);
    if run.documents == 0 {
        return None;
    }
    let most = policy(engine, subscription.key).run_documents;
    let asked = run.documents;
    let what = if copy.is_some() { "reading document" } else { "fetching archive" };
    Some(format!("{what} {asked} of at most {most}"))
}
