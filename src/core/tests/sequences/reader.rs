//! The model of the program: it polls, decides and walks with the functions of `history`, and keeps entries in memory.

use std::collections::BTreeSet;

use backissue_core::feed::FeedDocument;
use backissue_core::history::kept::Position;
use backissue_core::history::kind::{Subscribed, TakesOver, subscribed, takes_over};
use backissue_core::history::merge::withdraw;
use backissue_core::history::overrun::OverrunVerdict;
use backissue_core::history::polled::{KnownFeed, Route, judge_route};
use backissue_core::history::{
    ArchiveFailure, ArchiveWalk, Arrival, Counters, DocumentKind, DocumentPlace, HistoryRecord,
    IndexRow, KeptEntry, Known, KnownEntry, Merging, Mode, Next, Nodes, Polled, WalkPolicy,
    merge_as,
};

use super::publisher::{Answer, FEED, Publisher};

#[derive(Clone)]
pub(super) struct Reader {
    pub record: HistoryRecord,
    pub nodes: Nodes,
    pub rows: Vec<IndexRow>,
    pub kept: Vec<KeptEntry>,
    counters: Counters,
    /// Ids of all entries in documents that were read.
    pub read: BTreeSet<String>,
    answered: String,
    followed: bool,
    id: Option<String>,
    /// Number of requests for archives.
    pub requests: u32,
    /// The last document, if its validators are sent.
    last: Option<Box<FeedDocument>>,
}

impl Reader {
    pub(super) fn new() -> Self {
        Self {
            record: HistoryRecord::default(),
            nodes: Nodes::default(),
            rows: Vec::new(),
            kept: Vec::new(),
            counters: Counters::default(),
            read: BTreeSet::new(),
            answered: String::new(),
            followed: false,
            id: None,
            requests: 0,
            last: None,
        }
    }

    /// Polls the feed and walks its archives.
    #[expect(clippy::too_many_lines, reason = "one poll, step by step as the program does it")]
    pub(super) fn poll(&mut self, publisher: &Publisher) {
        let conditional = !self.answered.is_empty();
        let Answer::Document(mut url, mut document, mut delta) = publisher.feed(FEED, conditional)
        else {
            return;
        };
        let feed = KnownFeed {
            url: FEED,
            answered: &self.answered,
            id: self.id.as_deref(),
            windows: &self.record.windows,
            is_read: conditional,
        };
        if self.last.as_ref() == Some(&document) && url == FEED {
            // 304: the publisher recognizes the validators of the last document.
            self.record.apply_check(Mode::Auto, publisher.now);
            self.walk(publisher);
            return;
        }
        let route = Route { answered: &url, is_redirected: url != FEED, permanent: None };
        let belonging = judge_route(&feed, &route, &document);
        if !belonging.is_read {
            self.record.not_read();
            return;
        }
        let polled = Polled {
            requested: FEED,
            answered: FEED,
            public: true,
            fetched_at: publisher.now,
            whole: !delta,
            proven: belonging.is_proven,
            verifies: None,
            document: &document,
        };
        let mut trial = self.record.clone();
        trial.apply_poll(&polled);
        let mut verifies = None;
        if conditional && trial.compare_windows(&polled, true) == OverrunVerdict::Verify {
            verifies = delta.then(|| u32::try_from(document.entries.len()).unwrap());
            let Answer::Document(plain_url, plain, is_delta) = publisher.feed(FEED, false) else {
                return;
            };
            (url, document, delta) = (plain_url, plain, is_delta);
        }
        let mut requested = FEED.to_owned();
        let mut naming = None;
        if let Subscribed::FollowOnce(to) = subscribed(&document, &[FEED, &url]) {
            let was_followed = std::mem::replace(&mut self.followed, true);
            let found = match publisher.feed(&to, false) {
                Answer::Document(_, found, _) => Some(found),
                Answer::Failed(_) | Answer::CutOff => None,
            };
            let is_it = |found: &FeedDocument| {
                takes_over((FEED, &document), (&to, found)) == TakesOver::Yes
            };
            match found.filter(|found| is_it(found)) {
                Some(found) => {
                    if !was_followed {
                        self.record.read_elsewhere();
                        naming = Some((document, self.record.epoch));
                    }
                    (requested, url, document) = (to.clone(), to, found);
                }
                None if was_followed => {
                    self.record.current_not_read();
                    self.merge(&document, &Merging::at(place(publisher)));
                    return;
                }
                None => {}
            }
        } else {
            self.followed = false;
        }
        let polled = Polled {
            requested: &requested,
            answered: &url,
            public: true,
            fetched_at: publisher.now,
            whole: !delta,
            proven: belonging.is_proven,
            verifies,
            document: &document,
        };
        self.record.apply_poll(&polled);
        self.record.compare_windows(&polled, false);
        self.answered.clone_from(&url);
        self.id = document.head.id.clone().or(self.id.take());
        let merging = Merging::at(place(publisher));
        self.merge(&document, &merging);
        if !delta && self.record.kind == DocumentKind::Complete {
            let change = withdraw(&document, &self.rows, self.counters);
            for (seq, flags) in change.flags {
                self.rows[seq as usize].flags = flags;
            }
            self.counters = change.counters;
        }
        self.last = Some(document).filter(|_| url == FEED && !delta);
        self.record.apply_check(Mode::Auto, publisher.now);
        if let Some((naming, epoch)) = naming
            && self.record.expect_read(&self.nodes, FEED, epoch, true)
        {
            self.arrive(publisher, FEED, &naming);
        }
        self.walk(publisher);
    }

    fn walk(&mut self, publisher: &Publisher) {
        let policy = WalkPolicy::default();
        loop {
            let mut walk =
                ArchiveWalk { record: &mut self.record, nodes: &mut self.nodes, policy: &policy };
            let Next::Fetch(request) = walk.next(publisher.now) else { return };
            self.requests += 1;
            let failure = match publisher.archive(&request.url) {
                Answer::Document(url, document, _) => {
                    self.arrive(publisher, &url, &document);
                    continue;
                }
                Answer::Failed(status) => ArchiveFailure::Status { status, retry_after: None },
                Answer::CutOff => ArchiveFailure::Unreadable("it is cut off".to_owned()),
            };
            let mut walk =
                ArchiveWalk { record: &mut self.record, nodes: &mut self.nodes, policy: &policy };
            walk.failed(&failure, publisher.now);
        }
    }

    fn arrive(&mut self, publisher: &Publisher, url: &str, document: &FeedDocument) {
        let policy = WalkPolicy::default();
        let arrival =
            Arrival { url, public: true, fetched_at: publisher.now, wire_bytes: 1_000, document };
        let mut walk =
            ArchiveWalk { record: &mut self.record, nodes: &mut self.nodes, policy: &policy };
        let Some(merging) = walk.arrived(&arrival) else { return };
        let new = self.merge(document, &merging);
        ArchiveWalk { record: &mut self.record, nodes: &mut self.nodes, policy: &policy }
            .merged(new);
    }

    fn merge(&mut self, document: &FeedDocument, merging: &Merging) -> u32 {
        self.read.extend(document.entries.iter().map(|entry| entry.id.clone()));
        let mut merging = merging.clone();
        if merging.place.position == Position::Subscription {
            (merging.recent, merging.previous) = self.record.windows.before(document);
            merging.moves = self.record.moves;
        }
        let mut known = Known::new();
        for (seq, (row, kept)) in (0_u32..).zip(self.rows.iter().zip(&self.kept)) {
            let found = KnownEntry { seq, row: *row, kept: kept.clone() };
            known.entry(row.identity).or_default().push(found);
        }
        let merged = merge_as(document, &merging, &self.record.tombstones, &known, self.counters);
        for (seq, entry) in merged.entries {
            let place = seq as usize;
            if place == self.rows.len() {
                self.rows.push(entry.row);
                self.kept.push(entry.kept);
            } else {
                (self.rows[place], self.kept[place]) = (entry.row, entry.kept);
            }
        }
        self.record.moves |= merged.moves;
        self.counters = merged.counters;
        merged.new
    }

    pub(super) fn header(&self) -> String {
        self.record.status().text()
    }
}

fn place(publisher: &Publisher) -> DocumentPlace {
    DocumentPlace { position: Position::Subscription, fetched_at: publisher.now }
}
