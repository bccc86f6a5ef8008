//! What the keeper of the store is asked to do: each kind of work, what it is answered with, and whose failure it is.

use std::ops::Range;

use chrono::{DateTime, Utc};

use super::error::StoreError;
use super::open::Store;
use crate::engine::entries::entry_filters::RuleWish;
use crate::engine::entries::full_text::FullText;
use crate::engine::external_command::CommandLine;
use crate::engine::feeds::subscription::Commit;
use crate::engine::feeds::subscription::FeedState;
use crate::engine::feeds::subscription::HistoryCommit;
use crate::engine::feeds::subscription::SubscriptionRecord;
use crate::engine::msg::HistoryNews;
use crate::engine::msg::Msg;
use crate::filters::EntryFilter;
use crate::history::{EntryKey, FeedKey, Flag, Merged};
use crate::search::Matching;
use crate::ui::panes::entry_list::RowsWanted;
use crate::ui::panes::saved_searches::SavedSearch;
use crate::ui::reader::reading_position::TextPlace;

/// Work for the keeper.
#[derive(Debug)]
pub enum Job {
    /// One feed goes on as another; answered by [`Msg::Absorbed`].
    Absorb { from: FeedKey, into: FeedKey },
    /// What a poll changed; answered by [`Msg::Committed`].
    Commit(Box<Commit>),
    /// What an archive, a page or a wish changed of a history; answered by [`HistoryNews::Kept`].
    KeepHistory(Box<HistoryCommit>),
    /// The archives of a feed, behind all writes; answered by [`HistoryNews::Nodes`].
    Nodes(FeedKey),
    /// Withdrawn entries are brought back; answered by [`HistoryNews::Restored`].
    Restore(FeedKey, Vec<u32>),
    /// The state of a feed before a request goes out; not answered.
    SaveState(FeedKey, Box<FeedState>),
    /// When a feed was tried last.
    SaveTry(FeedKey, DateTime<Utc>),
    /// The lasting part of subscriptions; answered by [`Msg::RecordsSaved`].
    SaveRecords(Vec<(FeedKey, SubscriptionRecord)>),
    /// Marks on entries; answered by [`Msg::Marked`].
    Mark { keys: Vec<EntryKey>, flag: Flag, value: bool },
    /// A mark on all entries of the open list, by its number; answered by [`Msg::Marked`].
    MarkList { list: u64, flag: Flag, value: bool },
    /// The same once it is known which entries those are.
    MarkListed { keys: Vec<EntryKey>, flag: Flag, value: bool },
    /// Rows of the open list; answered by [`Msg::RowsLoaded`].
    Rows(RowsWanted),
    /// One entry with its text; answered by [`Msg::EntryLoaded`].
    Entry(EntryKey),
    /// Where the reader left an entry.
    SavePlace(EntryKey, Option<TextPlace>),
    /// The page that an entry links to.
    SaveFullText(EntryKey, Box<FullText>),
    /// An entry for a command; answered by [`Msg::PipeRead`].
    ForPipe(EntryKey, CommandLine),
    /// New entries, behind all writes; answered by [`Msg::NewsRead`].
    News(Vec<(FeedKey, Range<u32>)>),
    /// The last polls of a feed; answered by [`Msg::PollsLoaded`].
    Polls(FeedKey),
    /// When a feed published; answered by [`Msg::PublicationsLoaded`].
    Publications(FeedKey),
    /// Unread entries since an instant; answered by [`Msg::TodayCounted`].
    CountToday(DateTime<Utc>),
    /// The searches that are saved.
    SaveSearches(Vec<SavedSearch>),
    /// How many unread entries searches find; answered by [`Msg::FoundCounted`].
    CountFound(Vec<(u32, Matching)>),
    /// The reader's rules; answered by [`Msg::RulesSaved`].
    SaveRules(Vec<EntryFilter>),
    /// What is to be done with the entries of a rule; answered by [`Msg::Ruled`].
    Rule(Box<RuleWish>),
    /// Which tags are folded.
    SaveFolded(std::collections::BTreeSet<String>),
    /// What the rules hit; answered by [`Msg::RuledCounted`].
    CountRuled,
    /// The backup of a day, if there is none; beside everything else, and not answered if it can be written.
    BackUp(chrono::NaiveDate),
    /// What was written before is durable now, or not.
    Synced(Result<(), StoreError>),
    /// Finish what was handed in and stop.
    Stop,
}

impl Job {
    /// Whether it is done at once: what reads, and what is too small a thing to sync the disk for.
    pub(super) const fn is_read(&self) -> bool {
        matches!(
            self,
            Self::Rows(_)
                | Self::Entry(_)
                | Self::Polls(_)
                | Self::Publications(_)
                | Self::SavePlace(..)
                | Self::SaveFullText(..)
                | Self::ForPipe(..)
                | Self::CountToday(_)
                | Self::CountFound(_)
                | Self::CountRuled
        )
    }
}

/// Whose failure it is to be told as.
#[derive(Debug, Clone, Copy)]
pub(super) enum Concerns {
    Poll(FeedKey),
    History(FeedKey),
    Records,
    Rows(u64),
    Entry(EntryKey),
    Rhythm(FeedKey),
    News,
    /// A change that can be taken back, or that a rule waits for.
    Change,
    /// What is to be kept and nobody waits for.
    Keeping,
    /// What was only to be shown.
    Nobody,
}

impl Concerns {
    pub(super) const fn of(job: &Job) -> Self {
        match job {
            Job::Commit(commit) => Self::Poll(commit.feed),
            Job::KeepHistory(commit) => Self::History(commit.feed),
            Job::Nodes(feed) => Self::History(*feed),
            Job::SaveRecords(_) => Self::Records,
            Job::Rows(wanted) => Self::Rows(wanted.list),
            Job::Entry(key) => Self::Entry(*key),
            Job::Publications(feed) => Self::Rhythm(*feed),
            Job::News(_) => Self::News,
            Job::Absorb { .. }
            | Job::Restore(..)
            | Job::Mark { .. }
            | Job::MarkList { .. }
            | Job::MarkListed { .. }
            | Job::SaveRules(_)
            | Job::Rule(_) => Self::Change,
            Job::SaveState(..)
            | Job::SaveTry(..)
            | Job::SavePlace(..)
            | Job::SaveFullText(..)
            | Job::SaveSearches(_)
            | Job::SaveFolded(_) => Self::Keeping,
            Job::Polls(_)
            | Job::CountToday(_)
            | Job::ForPipe(..)
            | Job::CountFound(_)
            | Job::CountRuled
            | Job::BackUp(_)
            | Job::Synced(_)
            | Job::Stop => Self::Nobody,
        }
    }

    /// How a failure is told: whoever waits for an answer must not wait for ever.
    pub(super) fn told(self, error: &StoreError) -> Msg {
        let why = error.to_string();
        match self {
            Self::Poll(feed) => Msg::CommitFailed { feed, why },
            Self::History(feed) => Msg::History(feed, HistoryNews::Failed(why)),
            Self::Records => Msg::RecordsNotSaved(why),
            Self::Rows(list) => Msg::RowsFailed(list, why),
            Self::Entry(key) => Msg::EntryFailed(key, why),
            // Nothing is lost but what could be learned.
            Self::Rhythm(feed) => Msg::PublicationsLoaded(feed, None),
            Self::News => Msg::NewsRead(Err(why)),
            Self::Change => Msg::StoreFailed(why),
            Self::Keeping => Msg::Unsaved(why),
            Self::Nobody => Msg::Trouble(why),
        }
    }
}

/// Does one piece of work.
#[expect(clippy::too_many_lines, reason = "a table: an arm for each kind of work")]
pub(super) fn perform(store: &mut Store, job: Job) -> Result<Option<Msg>, StoreError> {
    Ok(match job {
        Job::Commit(commit) => {
            let feed = commit.feed;
            let merged = store.commit(&commit)?;
            Some(Msg::Committed {
                feed,
                counters: merged.counters,
                new: merged.new,
                edited: merged.edited,
                known: merged.known,
                withdrawn: merged.withdrawn,
            })
        }
        Job::SaveTry(feed, at) => {
            store.save_try(feed, at)?;
            None
        }
        Job::KeepHistory(commit) => {
            let feed = commit.feed;
            let Merged { counters, new, edited, .. } = store.keep_history(&commit)?;
            Some(Msg::History(feed, HistoryNews::Kept { counters, new, edited }))
        }
        Job::Nodes(feed) => {
            Some(Msg::History(feed, HistoryNews::Nodes(Box::new(store.nodes(feed)?))))
        }
        Job::Restore(feed, withdrawn) => {
            let marked = store.restore(feed, &withdrawn)?;
            Some(Msg::History(feed, HistoryNews::Restored(marked)))
        }
        Job::SaveState(feed, state) => {
            store.save_state(feed, &state)?;
            None
        }
        Job::SaveRecords(records) => {
            store.save_records(&records)?;
            Some(Msg::RecordsSaved)
        }
        Job::Absorb { from, into } => {
            let counters = store.absorb(from, into)?;
            Some(Msg::Absorbed { into, counters })
        }
        Job::Mark { keys, flag, value } => {
            let marked = store.mark(&keys, flag, value)?;
            Some(Msg::Marked { flag, value, whole_list: false, marked })
        }
        Job::MarkListed { keys, flag, value } => {
            let marked = store.mark(&keys, flag, value)?;
            Some(Msg::Marked { flag, value, whole_list: true, marked })
        }
        Job::Rows(wanted) => Some(Msg::RowsLoaded(store.rows_wanted(&wanted)?)),
        Job::Entry(key) => Some(match store.read_entry(key)? {
            Ok(entry) => Msg::EntryLoaded(Box::new(entry)),
            Err(why) => Msg::EntryFailed(key, why),
        }),
        Job::Polls(feed) => Some(Msg::PollsLoaded(feed, store.poll_log(feed)?)),
        Job::Publications(feed) => {
            let publications = Some(std::sync::Arc::new(store.publications(feed)?));
            Some(Msg::PublicationsLoaded(feed, publications))
        }
        Job::CountToday(since) => Some(Msg::TodayCounted(store.unread_since(since)?)),
        Job::SaveSearches(searches) => {
            store.save_searches(&searches)?;
            None
        }
        Job::ForPipe(key, command) => Some(match store.read_entry(key)? {
            Ok(entry) => Msg::PipeRead(Box::new(entry), command),
            Err(why) => Msg::EntryFailed(key, why),
        }),
        Job::News(ranges) => Some(Msg::NewsRead(Ok(store.news(&ranges)?))),
        Job::SaveFullText(key, full) => {
            store.save_full_text(key, &full)?;
            None
        }
        Job::SavePlace(key, place) => {
            store.save_place(key, place)?;
            None
        }
        Job::CountFound(wanted) => Some(Msg::FoundCounted(store.count_found(&wanted)?)),
        Job::SaveRules(rules) => {
            store.save_rules(&rules)?;
            Some(Msg::RulesSaved)
        }
        Job::Rule(wish) => Some(Msg::Ruled(Box::new(store.rule(&wish)?))),
        Job::SaveFolded(folded) => {
            store.save_folded(&folded)?;
            None
        }
        Job::CountRuled => Some(Msg::RuledCounted(store.count_ruled()?)),
        // The keeper does these itself; it hands a mark on a list on as one on the entries that it lists by then.
        Job::MarkList { .. } | Job::BackUp(_) | Job::Synced(_) | Job::Stop => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_a_change_waits_for_is_told_as_its_failure() {
        let error = StoreError::Failed("no room".into());
        let told = |job: &Job| Concerns::of(job).told(&error);
        let key = EntryKey { feed: FeedKey(1), seq: 0 };
        let mark = Job::Mark { keys: vec![key], flag: Flag::Read, value: true };
        for job in [mark, Job::SaveRules(Vec::new()), Job::Restore(FeedKey(1), Vec::new())] {
            assert!(matches!(told(&job), Msg::StoreFailed(_)), "{job:?}");
        }
        for job in [Job::Polls(FeedKey(1)), Job::CountToday(DateTime::UNIX_EPOCH), Job::CountRuled]
        {
            assert!(matches!(told(&job), Msg::Trouble(_)), "{job:?}");
        }
        for job in [Job::SavePlace(key, None), Job::SaveSearches(Vec::new())] {
            assert!(matches!(told(&job), Msg::Unsaved(_)), "{job:?}");
        }
        let Msg::NewsRead(Err(why)) = told(&Job::News(Vec::new())) else { panic!("it is told") };
        assert!(why.contains("no room"), "{why}");
    }
}
