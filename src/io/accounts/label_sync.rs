//! The labels of an account, merged with the server's and changed on either side. Labels are compared when everything is, and when one
//! was changed here, because the server needs a request for each of them.

use std::collections::{BTreeMap, BTreeSet};

use super::connection::SyncFailure;
use super::session::{Session, check_cancelled};
use crate::engine::entries::account_state::FeedSync;
use crate::engine::entries::entry_filters::FILTERS_MAX;
use crate::engine::request::Request;
use crate::io::store::FeedLabels;
use backissue_core::accounts::ItemId;
use backissue_core::accounts::greader::label_stream;
use backissue_core::accounts::marks::{AgreedLabel, KnownLabel};
use backissue_core::history::{EntryKey, FeedKey};

type Ids = BTreeSet<ItemId>;
type List = (fn(&AgreedLabel) -> &Ids, fn(&mut AgreedLabel) -> &mut Ids);
/// The lists of a label, to read and to change.
const LISTS: [List; 3] = [
    (|label| &label.entries, |label| &mut label.entries),
    (|label| &label.sent, |label| &mut label.sent),
    (|label| &label.held, |label| &mut label.held),
];

/// Labels of the whole account.
#[derive(Debug, Default)]
struct AccountLabels {
    entries: BTreeMap<ItemId, EntryKey>,
    labels: BTreeMap<String, KnownLabel>,
}

impl AccountLabels {
    fn add(&mut self, feed: FeedLabels) {
        self.entries.extend(feed.entries);
        for (name, label) in feed.labels {
            let all = self.labels.entry(name).or_default();
            all.local.extend(label.local);
            all.agreed.entries.extend(label.agreed.entries);
            all.agreed.sent.extend(label.agreed.sent);
            all.agreed.held.extend(label.agreed.held);
        }
    }

    fn keys<'i>(&self, ids: impl IntoIterator<Item = &'i ItemId>) -> Vec<EntryKey> {
        ids.into_iter().filter_map(|id| self.entries.get(id).copied()).collect()
    }
}

/// Merges the labels of both sides, and sends those that were changed here.
pub(super) fn sync_labels(session: &mut Session<'_>) -> Result<(), SyncFailure> {
    if !session.server.has_labels() {
        return Ok(());
    }
    let mine = read(session)?;
    let held = mine.labels.values().map(|label| label.agreed.held.len());
    session.line.held_marks = held.fold(session.line.held_marks, usize::saturating_add);
    let is_wanted =
        |known: Option<&KnownLabel>| session.whole || known.is_some_and(KnownLabel::is_changed);
    if !session.whole && !mine.labels.values().any(KnownLabel::is_changed) {
        return Ok(());
    }
    let there = session.server.tags()?;
    let names: BTreeSet<&String> = there.labels.iter().chain(mine.labels.keys()).collect();
    let names = names.into_iter().filter(|name| !there.folders.contains(*name));
    let names: Vec<&String> = names.filter(|name| is_wanted(mine.labels.get(*name))).collect();
    for (done, name) in names.iter().take(FILTERS_MAX).enumerate() {
        check_cancelled(session.hand)?;
        (session.progress)("comparing labels", done, names.len());
        let is_there = there.labels.contains(*name);
        sync_label(session, &mine, name, is_there)?;
    }
    Ok(())
}

fn sync_label(
    session: &mut Session<'_>,
    mine: &AccountLabels,
    name: &str,
    is_there: bool,
) -> Result<(), SyncFailure> {
    let known = mine.labels.get(name).cloned().unwrap_or_default();
    // An unknown label could list all entries.
    let remote = if is_there { list(session, name)? } else { BTreeSet::new() };
    let mut merged = known.merged(&remote, |id| mine.entries.contains_key(id));
    let arrived: Vec<&ItemId> = merged.local.difference(&known.local).collect();
    let removed: Vec<&ItemId> = known.local.difference(&merged.local).collect();
    if !arrived.is_empty() || !removed.is_empty() {
        for (set, ids) in [(true, &arrived), (false, &removed)] {
            change_here(session, name, mine.keys(ids.iter().copied()), set)?;
        }
        let now = read(session)?.labels.remove(name).unwrap_or_default().local;
        // What could not be labelled here, for instance because there are too many labels, is not to be removed there.
        let missing: Vec<ItemId> =
            arrived.into_iter().filter(|id| !now.contains(*id)).cloned().collect();
        for id in missing {
            merged.agreed.entries.remove(&id);
            merged.local.remove(&id);
        }
    }
    let changes = merged.to_send();
    let all: BTreeSet<ItemId> = changes.iter().flat_map(|(_, ids)| ids).cloned().collect();
    merged.agreed.sent.clone_from(&all);
    // Written before it is sent: if this process dies, the next sync knows that the server may have it.
    agree(session, mine, name, &known.agreed, &merged.agreed)?;
    if all.is_empty() {
        return Ok(());
    }
    for (set, ids) in &changes {
        for batch in ids.chunks(session.server.marks_a_request()) {
            check_cancelled(session.hand)?;
            session.server.label(name, *set, batch)?;
            session.line.sent = session.line.sent.saturating_add(count(batch.len()));
        }
    }
    let is_there = session.server.tags()?.labels.contains(name);
    let remote = if is_there { list(session, name)? } else { BTreeSet::new() };
    let checked = merged.merged(&remote, |id| mine.entries.contains_key(id));
    let untaken =
        checked.to_send().iter().flat_map(|(_, ids)| ids).filter(|id| all.contains(*id)).count();
    session.line.untaken = session.line.untaken.saturating_add(count(untaken));
    // What arrived in between stays for the next sync.
    let mut agreed = AgreedLabel { sent: BTreeSet::new(), ..merged.agreed.clone() };
    for id in all.difference(&checked.to_send().into_iter().flat_map(|(_, ids)| ids).collect()) {
        if remote.contains(id) {
            agreed.entries.insert(id.clone());
        } else {
            agreed.entries.remove(id);
        }
    }
    agree(session, mine, name, &merged.agreed, &agreed)
}

fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

fn list(session: &mut Session<'_>, name: &str) -> Result<BTreeSet<ItemId>, SyncFailure> {
    let listed = session.server.ids(&label_stream(name), false, None)?;
    Ok(listed.ids.into_iter().collect())
}

fn read(session: &Session<'_>) -> Result<AccountLabels, SyncFailure> {
    let feeds: Vec<FeedKey> = session.streams.values().copied().collect();
    Ok(session.hand.look(move |store| {
        let mut labels = AccountLabels::default();
        for feed in feeds {
            labels.add(store.synced_labels(feed)?);
        }
        Ok(labels)
    })?)
}

fn change_here(
    session: &mut Session<'_>,
    name: &str,
    keys: Vec<EntryKey>,
    set: bool,
) -> Result<(), SyncFailure> {
    if keys.is_empty() {
        return Ok(());
    }
    session.line.marked = session.line.marked.saturating_add(count(keys.len()));
    let request = Request::SyncLabel { name: name.to_owned(), keys, set };
    session.ask(request)?;
    Ok(session.hand.wait_until_durable()?)
}

/// Writes what both sides have now, for the feeds of which it changed.
fn agree(
    session: &mut Session<'_>,
    mine: &AccountLabels,
    name: &str,
    before: &AgreedLabel,
    now: &AgreedLabel,
) -> Result<(), SyncFailure> {
    if before == now {
        return Ok(());
    }
    let mut feeds: BTreeMap<FeedKey, AgreedLabel> = BTreeMap::new();
    let all = [before, now].into_iter();
    let all = all.flat_map(|it| it.entries.iter().chain(&it.sent).chain(&it.held));
    for key in mine.keys(all) {
        feeds.entry(key.feed).or_default();
    }
    for (ids, list) in LISTS {
        for id in ids(now) {
            if let Some(label) = mine.entries.get(id).and_then(|key| feeds.get_mut(&key.feed)) {
                list(label).insert(id.clone());
            }
        }
    }
    let at = session.at;
    let syncs = feeds.into_iter().map(|(feed, label)| FeedSync {
        labels: BTreeMap::from([(name.to_owned(), label)]),
        ..FeedSync::new(feed, at)
    });
    session.write(syncs.collect())
}
