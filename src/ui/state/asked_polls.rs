//! Polls that the user requested together: which of them are pending, and the results of the others.

use std::collections::BTreeSet;

use crate::engine::poll::poll_results::{PollOutcome, PollResult};
use crate::ui::keys::key_bindings::Keymap;
use backissue_core::history::FeedKey;

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
