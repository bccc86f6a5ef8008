//! One sync of an account: takes its turn, pulls what is new, sends the marks of this side, and writes a line to the log.

use std::time::Duration;

use tokio::sync::Semaphore;

use super::account_file::{AccountFile, ApiKind};
use super::connection::SyncFailure;
use super::reconcile;
use super::session::{Progress, Session, SyncWish, check_cancelled};
use crate::engine::entries::account_state::SyncProgress;
use crate::engine::request::Request;
use crate::io::clock;
use crate::io::loop_handle::LoopHandle;
use crate::io::store::SyncLine;

/// The turn to sync.
static TURN: Semaphore = Semaphore::const_new(1);
/// Interval between checks whether another sync has ended.
const TURN_LOOK: Duration = Duration::from_millis(50);

/// Syncs an account and writes a line to its log, also if the sync fails.
pub fn sync(
    hand: &LoopHandle,
    file: &AccountFile,
    name: &str,
    wish: SyncWish,
    progress: &Progress<'_>,
) -> Result<SyncLine, SyncFailure> {
    // One sync at a time: a command waits for the sync of the reader and then does its own.
    let _turn = loop {
        if let Ok(turn) = TURN.try_acquire() {
            break turn;
        }
        check_cancelled(hand)?;
        std::thread::sleep(TURN_LOOK);
    };
    let accounts = file.read().map_err(SyncFailure::other)?;
    let account = accounts.into_iter().find(|account| account.name == name);
    let account = account.ok_or_else(|| {
        SyncFailure::other(format!("there is no account '{name}': see 'backissue account list'"))
    })?;
    let shown = |what: &str, done: usize, all: usize| {
        progress(what, done, all);
        let (account, what) = (name.to_owned(), what.to_owned());
        let shown = (all > 0).then_some(SyncProgress { account, what, done, all });
        show_progress(hand, shown);
    };
    let mut session = Session::begin(hand, file, account, wish, &shown)?;
    let started = clock::instant();
    let result = run(&mut session);
    show_progress(hand, None);
    let usage = session.server.usage();
    let line = SyncLine {
        at: clock::now(),
        ms: u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX),
        requests: usage.requests,
        sent_bytes: usage.sent,
        received_bytes: usage.received,
        failure: result.as_ref().err().map(|failure| failure.text.clone()),
        ..session.line
    };
    if session.server.login_changed {
        let login = session.server.account().login.clone();
        file.keep_login(name, login.as_deref()).map_err(SyncFailure::other)?;
    }
    let line = SyncLine { held: session.state.held.len(), ..line };
    let (name, kept, skipped) = (name.to_owned(), line.clone(), session.state.skipped);
    let (whole_at, unread_start) = (session.state.whole_at, session.state.unread_start);
    let (changes, held) = (session.state.changes, session.state.held);
    let refused = session.state.refused;
    let noted = hand.look(move |store| {
        store.change_account_state(&name, |state| {
            state.log.push(kept);
            (state.skipped, state.whole_at) = (skipped, whole_at);
            (state.unread_start, state.changes) = (unread_start, changes);
            (state.held, state.refused) = (held, refused);
            Some(())
        })
    });
    result.and_then(|()| Ok(noted.map(|()| line)?))
}

/// Shows in the reader how far a sync is.
fn show_progress(hand: &LoopHandle, progress: Option<SyncProgress>) {
    hand.do_later(move |host| {
        host.ask(Request::SyncProgress(progress), false);
    });
}

/// Pulls and sends.
fn run(session: &mut Session<'_>) -> Result<(), SyncFailure> {
    let changed_here = reconcile::read_streams(session)?;
    if session.whole || changed_here {
        reconcile::compare_feeds(session)?;
    }
    match session.server.kind() {
        ApiKind::GoogleReader => session.sync_by_lists()?,
        ApiKind::Miniflux => session.sync_by_changes()?,
    }
    if session.whole {
        session.state.whole_at = Some(session.at);
    }
    Ok(())
}
