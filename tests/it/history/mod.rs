//! Tests of feed histories without network, store and clock: a simulated feed reader keeps entries in memory, walks the archives
//! that the test's publisher serves, and can crash at any step.

#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    reason = "the numbers of a test are small"
)]

pub mod actions;
pub mod claims;
pub mod completeness;
pub mod elsewhere;
pub mod hostile;
pub mod journeys;
pub mod overruns;
pub mod program;
pub mod properties;
pub mod published_press;
pub mod publisher;
pub mod publishing;
pub mod scenarios;
pub mod simulation;
pub mod spec_examples;

use std::collections::BTreeMap;

use backissue_core::feed::identity::identity_hash;
use backissue_core::feed::{FeedDocument, Origin, parse};
use backissue_core::history::kept::Position;
use backissue_core::history::merge::{set_withdrawn, withdraw};
use backissue_core::history::overrun::OverrunVerdict;
use backissue_core::history::{
    ArchiveFailure, ArchiveWalk, Arrival, Counters, DocumentKind, DocumentPlace, EntryBody, Flags,
    Gap, GapKey, HistoryRecord, IndexRow, KeptEntry, Known, KnownEntry, Merged, Merging, Next,
    Nodes, Polled, PreviousText, WalkNotice, WalkPolicy, merge_as,
};
use chrono::{DateTime, TimeDelta, Utc};

/// A publisher's answer to a request.
#[derive(Clone)]
pub enum Answer {
    /// A document, and the address it was served from.
    Document(String, Box<FeedDocument>),
    /// An error status.
    Status(u16),
    /// The request times out.
    Timeout,
}

/// The publisher: a function that answers the request for an address.
pub type Web<'w> = dyn FnMut(&str) -> Answer + 'w;

/// Returns the answer of a publisher who serves these bytes at an address.
pub fn document(url: &str, bytes: &[u8]) -> Answer {
    let origin = Origin { url: Some(url), content_type: None };
    Answer::Document(url.to_owned(), Box::new(parse(bytes, &origin)))
}

/// A simulated feed reader with one subscription.
pub struct Reader {
    pub url: String,
    pub record: HistoryRecord,
    pub nodes: Nodes,
    pub policy: WalkPolicy,
    pub now: DateTime<Utc>,
    pub rows: Vec<IndexRow>,
    pub kept: Vec<KeptEntry>,
    pub bodies: Vec<EntryBody>,
    pub counters: Counters,
    /// Every requested address in order, without the requests for the subscription document.
    pub requests: Vec<String>,
    /// Number of times that each archive was merged, by address.
    pub applied: BTreeMap<String, u32>,
    /// Numbers of the steps at which the feed reader crashes and loses everything it has not written, in descending order.
    pub crashes: Vec<u32>,
    steps: u32,
}

impl Reader {
    pub fn of(url: &str) -> Self {
        Self {
            url: url.to_owned(),
            record: HistoryRecord::default(),
            nodes: Nodes::default(),
            policy: WalkPolicy::default(),
            now: DateTime::from_timestamp(1_772_600_000, 0).unwrap(),
            rows: Vec::new(),
            kept: Vec::new(),
            bodies: Vec::new(),
            counters: Counters::default(),
            requests: Vec::new(),
            applied: BTreeMap::new(),
            crashes: Vec::new(),
            steps: 0,
        }
    }

    pub fn pass(&mut self, hours: i64) {
        self.now += TimeDelta::hours(hours);
    }

    /// Polls the feed and walks its archives as far as the history mode allows.
    pub fn poll(&mut self, web: &mut Web<'_>) -> Option<WalkNotice> {
        let (url, document) = match web(&self.url.clone()) {
            Answer::Document(url, document) => (url, document),
            Answer::Status(_) | Answer::Timeout => return None,
        };
        self.take(&url, &document, true);
        self.record.apply_check(self.policy.mode, self.now);
        self.walk(web)
    }

    /// Processes a subscription document as if it came from a poll; `whole` is false if it is only a part of the document.
    pub fn take(&mut self, url: &str, document: &FeedDocument, whole: bool) -> OverrunVerdict {
        let requested = self.url.clone();
        let polled = Polled {
            requested: &requested,
            answered: url,
            public: true,
            fetched_at: self.now,
            whole,
            proven: true,
            verifies: None,
            document,
        };
        self.record.apply_poll(&polled);
        let verdict = self.record.compare_windows(&polled, false);
        let place = DocumentPlace { position: Position::Subscription, fetched_at: self.now };
        let mut merging = Merging::at(place);
        merging.recent = self.record.windows.past.iter().flatten().copied().collect();
        self.merge(document, &merging);
        if whole && self.record.kind == DocumentKind::Complete {
            let change = withdraw(document, &self.rows, self.counters);
            self.mark(&change.flags, change.counters);
            if !change.withdrawn.is_empty() {
                self.record.withdrawn = change.withdrawn;
            }
        }
        self.write();
        verdict
    }

    pub fn undo_withdrawal(&mut self) {
        let change = set_withdrawn(&self.record.withdrawn, false, &self.rows, self.counters);
        self.mark(&change.flags, change.counters);
    }

    fn mark(&mut self, flags: &BTreeMap<u32, Flags>, counters: Counters) {
        for (seq, flags) in flags {
            self.rows[*seq as usize].flags = *flags;
        }
        self.counters = counters;
    }

    pub fn desk(&mut self) -> ArchiveWalk<'_> {
        ArchiveWalk { record: &mut self.record, nodes: &mut self.nodes, policy: &self.policy }
    }

    /// Walks the archives until there is nothing left to request.
    pub fn walk(&mut self, web: &mut Web<'_>) -> Option<WalkNotice> {
        let mut told = None;
        loop {
            let now = self.now;
            let request = match self.desk().next(now) {
                Next::Fetch(request) => request,
                Next::Rest(notice) => {
                    self.write();
                    return notice.or(told);
                }
                Next::Busy => panic!("no request is running"),
            };
            self.requests.push(request.url.clone());
            let answer = web(&request.url);
            if self.crashed() {
                // The crash lost the answer, so the same request is made again and counted only once.
                self.requests.pop();
                continue;
            }
            told = told.or_else(|| self.answer(&answer));
            self.now += TimeDelta::seconds(2);
        }
    }

    /// Processes the answer to the last archive request.
    fn answer(&mut self, answer: &Answer) -> Option<WalkNotice> {
        let now = self.now;
        let failure = match answer {
            Answer::Document(url, document) => {
                let arrival =
                    Arrival { url, public: true, fetched_at: now, wire_bytes: 1_000, document };
                let merging = self.desk().arrived(&arrival);
                let new = merging.map(|merging| self.merge(document, &merging).new);
                if new.is_some() {
                    *self.applied.entry(url.clone()).or_default() += 1;
                }
                self.write();
                if !self.crashed()
                    && let Some(new) = new
                {
                    self.desk().merged(new);
                }
                return None;
            }
            Answer::Status(status) => ArchiveFailure::Status { status: *status, retry_after: None },
            Answer::Timeout => ArchiveFailure::Unanswered("no response within 20 s".into()),
        };
        self.desk().failed(&failure, now);
        self.write();
        None
    }

    /// Counts a step, and checks whether the feed reader crashes at it and loses everything it has not written.
    fn crashed(&mut self) -> bool {
        self.steps += 1;
        if self.crashes.last() != Some(&self.steps) {
            return false;
        }
        self.crashes.pop();
        self.reopen();
        true
    }

    /// Converts the history record and the archive nodes to the stored form and back, as a restart does.
    pub fn reopen(&mut self) {
        let record = rmp_serde::to_vec_named(&self.record).unwrap();
        self.record = rmp_serde::from_slice(&record).unwrap();
        let nodes: Vec<u8> = rmp_serde::to_vec_named(&self.nodes).unwrap();
        self.nodes = rmp_serde::from_slice(&nodes).unwrap();
    }

    /// Marks all archive nodes as written and checks their invariants.
    fn write(&mut self) {
        self.nodes.take_touched();
        assert_eq!(self.nodes.check_invariant(&self.record), Ok(()));
    }

    pub fn merge(&mut self, document: &FeedDocument, merging: &Merging) -> Merged {
        let mut known = Known::new();
        for (seq, (row, kept)) in (0_u32..).zip(self.rows.iter().zip(&self.kept)) {
            let found = KnownEntry { seq, row: *row, kept: kept.clone() };
            known.entry(row.identity).or_default().push(found);
        }
        let merged = merge_as(document, merging, &self.record.tombstones, &known, self.counters);
        for (&seq, entry) in &merged.entries {
            let place = seq as usize;
            if place == self.rows.len() {
                self.rows.push(entry.row);
                self.kept.push(entry.kept.clone());
                self.bodies.push(EntryBody::default());
            }
            (self.rows[place], self.kept[place]) = (entry.row, entry.kept.clone());
            if let Some(body) = &entry.body {
                let former = std::mem::replace(&mut self.bodies[place], body.clone());
                let text = former.text().map(str::to_owned);
                let previous =
                    text.map(|text| PreviousText { text, at: self.now, ..PreviousText::default() });
                self.bodies[place].previous = previous.map(Box::new);
            }
            assert_eq!(entry.row.identity, identity_hash(&entry.kept.id));
        }
        self.counters = merged.counters;
        let sum = |counts: fn(Flags) -> bool| {
            self.rows.iter().filter(|row| counts(row.flags)).count() as u32
        };
        assert_eq!(self.counters.total, sum(Flags::is_live));
        assert_eq!(self.counters.unread, sum(Flags::is_unread));
        merged
    }

    /// Returns the rows of the entry list as the user sees it, newest first: each entry as the last part of its ID, each gap as its
    /// kind.
    pub fn list(&self) -> Vec<String> {
        let mut rows: Vec<(i64, u8, usize, String)> = Vec::new();
        for (seq, (row, kept)) in self.rows.iter().zip(&self.kept).enumerate() {
            if row.flags.is_shown() {
                let id = kept.id.rsplit([':', '/']).next().unwrap_or_default();
                rows.push((-row.listed, 0, seq, id.to_owned()));
            }
        }
        for (number, (_, gap)) in self.record.shown_gaps(false, self.now).iter().enumerate() {
            rows.push((-gap.listed().timestamp(), 1, number, format!("{:?}", gap.kind())));
        }
        rows.sort();
        rows.into_iter().map(|(_, _, _, name)| name).collect()
    }

    pub fn gaps(&self) -> Vec<(GapKey, Gap)> {
        self.record.shown_gaps(false, self.now)
    }

    pub fn standing(&self) -> String {
        self.record.status().text()
    }

    /// Returns the IDs of all entries that are not removed or withdrawn, sorted.
    pub fn ids(&self) -> Vec<&str> {
        let live = self.rows.iter().zip(&self.kept).filter(|(row, _)| row.flags.is_live());
        let mut ids: Vec<&str> = live.map(|(_, kept)| kept.id.as_str()).collect();
        ids.sort_unstable();
        ids
    }

    pub fn text(&self, id: &str) -> Option<&str> {
        let place = self.kept.iter().position(|kept| kept.id.ends_with(id))?;
        self.bodies[place].text()
    }
}
