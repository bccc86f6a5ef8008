//! What the screen waits for: polls that the user requested together, numbers that the store counts, external commands, and a
//! list of subscriptions that is read from a file. The module also stores keys that wait until the screen shows what an earlier
//! key opens.

use std::collections::{BTreeSet, VecDeque};

use backissue_core::history::{EntryKey, FeedKey};
use chrono::{DateTime, Utc};

use crate::engine::external_command::ExternalCommand;
use crate::engine::external_run::RunPurpose;
use crate::engine::feeds::addition::Subscribe;
use crate::engine::poll::poll_log::{PollOutcome, PollResult};
use crate::engine::store_work::UnreadCounts;
use crate::ui::keys::command_table::KeyStep;
use crate::ui::keys::key::Key;
use crate::ui::keys::key_bindings::Keymap;

/// Polls that the user requested together.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AskedPolls {
    /// Feeds whose results are pending.
    pub(in crate::ui) open: BTreeSet<FeedKey>,
    /// Number of feeds that are polled.
    pub(in crate::ui) polled: usize,
    /// Number of requested feeds that were not polled.
    pub(in crate::ui) left_out: usize,
    /// Number of new entries in all results so far.
    pub(in crate::ui) new: u32,
    /// Number of feeds that had new entries.
    pub(in crate::ui) with_new: usize,
    /// Number of polls that failed.
    pub(in crate::ui) failed: usize,
    /// Title of the feed that the message names: the only feed, or the last feed that had new entries.
    pub(in crate::ui) title: String,
    /// Message of the import that started these polls. `None` if they were not started by an import.
    pub(in crate::ui) import: Option<String>,
    /// Reason for the failure of the last failed poll.
    pub(in crate::ui) why: Option<String>,
}

impl AskedPolls {
    /// Creates the record for polls of the feeds in `open`. `left_out` is the number of requested feeds that are not polled.
    pub(in crate::ui) fn of(open: BTreeSet<FeedKey>, left_out: usize) -> Self {
        Self { polled: open.len(), open, left_out, ..Self::default() }
    }

    /// Adds the result of a poll, if it is one of these polls.
    pub(in crate::ui) fn take(&mut self, result: &PollResult, title: &str) {
        if !self.open.remove(&result.feed) {
            return;
        }
        let failed = result.outcome == PollOutcome::Failed;
        self.failed = self.failed.saturating_add(usize::from(failed));
        self.new = self.new.saturating_add(result.new);
        self.with_new = self.with_new.saturating_add(usize::from(result.new > 0));
        if result.new > 0 || self.polled == 1 {
            title.clone_into(&mut self.title);
        }
        if failed {
            self.why.clone_from(&result.reason);
        }
    }

    /// Summarizes the results of these polls in one line.
    pub(in crate::ui) fn words(&self, keys: &Keymap) -> String {
        let title = &self.title;
        if self.polled == 1 && self.failed == 1 && self.import.is_none() {
            let why = self.why.as_deref().unwrap_or("it could not be read");
            return format!("{title}: {why}");
        }
        let news = match (self.new, self.polled, self.with_new) {
            (0, polled, _) if polled == self.failed => "none could be read".to_owned(),
            (0, 1, _) => format!("nothing new in {title} (checked just now)"),
            (0, polled, _) => format!("nothing new in {polled} feeds"),
            (new, _, 1) => format!("{new} new in {title}"),
            (new, _, feeds) => format!("{new} new in {feeds} feeds"),
        };
        let failed = (self.failed > 0)
            .then(|| format!("{} failed: {}", self.failed, keys.words("{attention} shows which")));
        let left_out = match self.left_out {
            0 => None,
            1 => Some(keys.words("1 not polled now: {plan} on it shows why")),
            more => {
                let why = keys.words("select one and press {plan} to see why");
                Some(format!("{more} not polled now: {why}"))
            }
        };
        [self.import.clone(), Some(news), failed, left_out]
            .into_iter()
            .flatten()
            .collect::<Vec<_>>()
            .join(" · ")
    }
}

/// Numbers that the store counts, and whether new ones are pending.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Counted {
    /// Last numbers that the store returned.
    pub value: UnreadCounts,
    /// `true` while requested numbers are pending.
    pub(in crate::ui) waiting: bool,
    /// Set if the numbers may have changed after the pending request, so that they must be requested again. `true` if the numbers
    /// of the saved searches must be requested again too.
    again: Option<bool>,
}

impl Counted {
    /// Checks whether the numbers may be requested now. `searches` is `true` if the numbers of the saved searches are included.
    /// While an earlier request is pending, returns `false`, and [`Self::end`] later returns what must be requested again.
    pub(in crate::ui) fn begin(&mut self, searches: bool) -> bool {
        if self.waiting {
            self.again = self.again.max(Some(searches));
        }
        !std::mem::replace(&mut self.waiting, true)
    }

    /// Stores the numbers that the store returned. A search that was not counted keeps its number. Returns `None` if nothing must
    /// be requested again, and otherwise whether the numbers of the saved searches are included.
    pub(in crate::ui) fn end(&mut self, counts: UnreadCounts) -> Option<bool> {
        let UnreadCounts { dated, portion, found } = counts;
        (self.value.dated, self.value.portion) = (dated, portion);
        self.value.found.extend(found);
        self.waiting = false;
        self.again.take()
    }
}

/// An own command whose program is running, or waits until its entry has been read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunningSequence {
    /// Number that identifies the sequence when the program ends.
    pub(in crate::ui) id: u32,
    /// Name of the own command.
    pub(in crate::ui) name: String,
    /// The entry for which the program runs.
    pub(in crate::ui) entry: EntryKey,
    /// The steps after the one that runs the program.
    pub(in crate::ui) rest: VecDeque<KeyStep>,
}

/// An external command that starts when an entry has been read from the store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WaitingRun {
    /// Entry to read.
    pub(in crate::ui) key: EntryKey,
    /// Command that receives the entry.
    pub(in crate::ui) command: ExternalCommand,
    /// Link of the text that the command receives instead of the entry's own link.
    pub(in crate::ui) link: Option<String>,
    /// Purpose of the run.
    pub(in crate::ui) purpose: RunPurpose,
}

/// Keys and pasted texts that wait, oldest first, and the time since which the first one has waited.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TypedAhead {
    pub(in crate::ui) inputs: VecDeque<Typed>,
    pub(in crate::ui) since: Option<DateTime<Utc>>,
    /// `true` if a key changed the arrangement of the panes, so that their sizes are unknown until the screen is drawn again.
    pub(in crate::ui) is_unmeasured: bool,
}

impl TypedAhead {
    /// Checks whether any key or pasted text waits.
    pub fn is_waiting(&self) -> bool {
        !self.inputs.is_empty()
    }
}

/// A key or a pasted text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Typed {
    Key(Key),
    Pasted(String),
}

/// A list of subscriptions that was read from a file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ImportedList {
    /// Feeds to subscribe to.
    pub wanted: Vec<Subscribe>,
    /// Names and queries of searches to save.
    pub searches: Vec<(String, String)>,
    /// Lines of the file that were rejected, each with the reason.
    pub refused: Vec<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(feed: u32, new: u32, failed: Option<&str>) -> PollResult {
        let outcome = if failed.is_some() { PollOutcome::Failed } else { PollOutcome::Read };
        let empty = PollResult::empty(FeedKey(feed), outcome, failed.map(str::to_owned));
        PollResult { new, ..empty }
    }

    #[test]
    fn poll_results_are_summed_up_in_one_line() {
        for (results, left_out, said) in [
            (vec![result(1, 3, None)], 0, "3 new in Feed 1"),
            (vec![result(1, 0, None)], 0, "nothing new in Feed 1 (checked just now)"),
            (vec![result(1, 0, Some("no answer"))], 0, "Feed 1: no answer"),
            (vec![result(1, 0, None), result(2, 2, None)], 0, "2 new in Feed 2"),
            (
                vec![result(1, 1, None), result(2, 2, None), result(3, 0, Some("gone"))],
                4,
                "3 new in 2 feeds · 1 failed: ! shows which · 4 not polled now: select one and press i to see why",
            ),
            (
                vec![result(1, 0, None), result(2, 0, Some("gone"))],
                1,
                "nothing new in 2 feeds · 1 failed: ! shows which · 1 not polled now: i on it shows why",
            ),
        ] {
            let open = results.iter().map(|result| result.feed).collect();
            let mut asked = AskedPolls::of(open, left_out);
            for result in &results {
                asked.take(result, &format!("Feed {}", result.feed.0));
                asked.take(result, "told twice");
            }
            assert_eq!(asked.words(&Keymap::default()), said);
        }
    }
}

#[cfg(test)]
mod counted_tests {
    use crate::ui::state::pending::*;

    #[test]
    fn change_during_a_count_starts_one_more_count() {
        let counts = |dated, found: &[(u32, u32)]| UnreadCounts {
            dated,
            portion: 0,
            found: found.iter().copied().collect(),
        };
        let mut count = Counted::default();
        assert!(count.begin(false));
        assert!(!count.begin(true) && !count.begin(false), "an answer is on its way");
        assert_eq!(count.end(counts(3, &[(7, 2)])), Some(true), "all are asked for again");
        assert!(count.begin(false));
        assert_eq!(count.end(counts(4, &[])), None);
        assert_eq!(count.value, counts(4, &[(7, 2)]), "the search was not counted again");
    }
}
