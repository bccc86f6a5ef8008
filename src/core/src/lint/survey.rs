//! Runs all checks of one document, and the survey of a publisher's chain of archives. The caller fetches the documents in the
//! order and within the limits of a reader's archive walk ([`ArchiveWalk`]); nothing is stored.

use std::collections::BTreeSet;
use std::fmt::Display;

use chrono::{DateTime, Utc};

use super::delivery::{self, Delivered};
use super::document;
use super::hints::{self, Polls};
use super::history::{self, ChainDocument, ChainNeighbours};
use super::report::{Chain, LintReport};
use super::table::{self, Findings, Level, LintFinding, LintInput, Topic};
use crate::feed::text::counted_words;
use crate::feed::{self, DocumentRole, Origin};
use crate::history::address::canonical;
use crate::history::{
    ArchiveFailure, ArchiveRequest, ArchiveWalk, Arrival, Gap, GapKind, HistoryRecord, Limit, Next,
    Nodes, Polled, Reason, WalkPolicy,
};
use crate::schedule::CacheState;

/// The survey of a feed. It returns the next archive to fetch, accepts the result, and finally returns the report.
#[derive(Debug)]
pub struct Survey {
    verdict: LintReport,
    record: HistoryRecord,
    nodes: Nodes,
    policy: WalkPolicy,
    met: Vec<ChainDocument>,
    ids: BTreeSet<String>,
    asked: Option<ArchiveRequest>,
    now: DateTime<Utc>,
}

impl Survey {
    /// Starts a survey with the document that was found at the given address.
    pub fn begin(delivered: &Delivered<'_>, now: DateTime<Utc>) -> Self {
        let origin = origin(delivered);
        let document = feed::parse(delivered.bytes, &origin);
        let cache = CacheState::of_document(&delivered.headers.times, now);
        let mut verdict = examine_answer(delivered.bytes, &origin, Some(cache), now);
        let mut findings = Findings::default();
        delivery::check(
            delivered,
            document.kind,
            document.role == DocumentRole::Archive,
            &mut findings,
        );
        verdict.findings.extend(findings.into_list());
        put_place(&mut verdict.findings, delivered.answered);
        // The publisher runs the survey of its own feed, so no consent is needed.
        let mut record = HistoryRecord { old_form_confirmed: true, ..HistoryRecord::default() };
        if document.kind.is_feed() {
            record.apply_poll(&Polled {
                verifies: None,
                requested: delivered.asked,
                answered: delivered.answered,
                public: delivered.public,
                fetched_at: now,
                whole: true,
                proven: true,
                document: &document,
            });
        }
        Self {
            verdict,
            record,
            nodes: Nodes::default(),
            policy: WalkPolicy::default(),
            met: vec![ChainDocument::new(delivered.asked, delivered.answered, false, &document)],
            ids: document.entries.iter().map(|entry| entry.id.clone()).collect(),
            asked: None,
            now,
        }
    }

    /// Returns the next archive to request; `None` if the walk has ended.
    pub fn next(&mut self, now: DateTime<Utc>) -> Option<ArchiveRequest> {
        self.now = now;
        match self.walk().next(now) {
            Next::Fetch(request) => {
                self.asked = Some(request.clone());
                Some(request)
            }
            Next::Busy | Next::Rest(_) => None,
        }
    }

    /// Applies and checks a received archive.
    pub fn arrived(&mut self, delivered: &Delivered<'_>, now: DateTime<Utc>) {
        let Some(asked) = self.asked.take() else { return };
        let document = feed::parse(delivered.bytes, &origin(delivered));
        let loops = self.record.is_own(&canonical(delivered.answered));
        let arrival = Arrival {
            url: delivered.answered,
            public: delivered.public,
            fetched_at: now,
            wire_bytes: delivered.wire_bytes,
            document: &document,
        };
        let taken = self.walk().arrived(&arrival).is_some();
        let mut findings = Findings::default();
        delivery::check(delivered, document.kind, true, &mut findings);
        if taken {
            let here = ChainDocument::new(&asked.url, delivered.answered, true, &document);
            self.compare(delivered, &asked, &here, &document, &mut findings);
            let before = self.ids.len();
            self.ids.extend(document.entries.iter().map(|entry| entry.id.clone()));
            let new = self.ids.len().saturating_sub(before);
            self.met.push(here);
            self.walk().merged(u32::try_from(new).unwrap_or(u32::MAX));
        } else if !loops && document.kind.is_feed() && !document.is_truncated() {
            findings.say(table::SECOND_ADDRESS, &asked.url, &[]);
        }
        self.add_findings(findings, delivered.answered);
    }

    fn compare(
        &self,
        delivered: &Delivered<'_>,
        asked: &ArchiveRequest,
        here: &ChainDocument,
        document: &feed::FeedDocument,
        findings: &mut Findings,
    ) {
        let by = canonical(&asked.by);
        let newer = self.met.iter().rev().find(|met| met.answered == by);
        if let (Some(newer), Some(subscription)) = (newer.or(self.met.last()), self.met.first()) {
            let links = ChainNeighbours { document, here, newer, subscription, before: &self.met };
            history::check_chain(&links, findings);
        }
        let sightings = feed::find_oddities(delivered.bytes, &origin(delivered));
        let found = feed::find_breaches(delivered.bytes, &origin(delivered));
        let input = LintInput {
            document,
            sightings: &sightings,
            breaches: &found,
            size: delivered.bytes.len(),
            url: Some(delivered.answered),
            cache: None,
            now: self.now,
        };
        let mut own = Findings::default();
        if document.role == DocumentRole::Archive {
            history::check(&input, &mut own);
        }
        document::check_entries(&input, &mut own);
        document::check_format(&input, &mut own);
        // Notes and findings about the `self` link were already reported by the checks of the chain, so they are not
        // repeated for each document.
        let known =
            |finding: &LintFinding| finding.level == Level::Note || finding.element == "self";
        for finding in own.into_list().into_iter().filter(|finding| !known(finding)) {
            findings.put(LintFinding { topic: Topic::Archives, ..finding });
        }
    }

    /// Records a failed archive request.
    pub fn failed(&mut self, failure: &ArchiveFailure, now: DateTime<Utc>) {
        self.asked = None;
        self.walk().failed(failure, now);
        if *failure == ArchiveFailure::Offline {
            self.policy.run_documents = 0;
        }
    }

    /// Checks the answer to a second request for the subscription document, which contained the validators of the first response,
    /// and `A-IM: feed` if one of them was an `ETag`.
    pub fn repeated(&mut self, delivered: &Delivered<'_>, requested_delta: bool) {
        let mut findings = Findings::default();
        delivery::repeated(delivered, requested_delta, &mut findings);
        let place = self.met.first().map(|met| met.answered.clone()).unwrap_or_default();
        self.add_findings(findings, &place);
    }

    /// Returns the report on the feed and its archives.
    pub fn into_report(mut self) -> LintReport {
        let archives = self.record.archives;
        let gaps: Vec<Gap> =
            self.record.gaps.values().filter(|gap| gap.kind() != GapKind::Paged).cloned().collect();
        let is_whole = gaps.is_empty() && !self.record.has_work();
        for gap in &gaps {
            let mut findings = Findings::default();
            explain_end(gap, &mut findings);
            let newer = &gap.edge.newer.url;
            let place = if newer.is_empty() { &gap.edge.url } else { newer };
            self.add_findings(findings, place);
        }
        if archives > 0 {
            let back = self.record.reaches.map(|at| at.format(", back to %Y-%m-%d").to_string());
            let end = if is_whole { "; the oldest one was reached" } else { "" };
            let back = back.unwrap_or_default();
            let parts: [&dyn Display; 4] = [&archives, &self.record.run.entries, &back, &end];
            let mut findings = Findings::default();
            findings.say(table::CHAIN.of("chain"), "", &parts);
            let place = self.met.first().map(|met| met.answered.clone()).unwrap_or_default();
            self.add_findings(findings, &place);
        }
        let mut verdict = self.verdict;
        verdict.findings = once_each(verdict.findings);
        verdict.findings.sort_by_key(|finding| finding.topic);
        verdict.chain = Some(Chain {
            archives,
            entries: self.record.run.entries,
            oldest: self.record.reaches,
            is_whole,
        });
        verdict
    }

    const fn walk(&mut self) -> ArchiveWalk<'_> {
        ArchiveWalk { record: &mut self.record, nodes: &mut self.nodes, policy: &self.policy }
    }

    fn add_findings(&mut self, findings: Findings, place: &str) {
        let mut found = findings.into_list();
        put_place(&mut found, place);
        self.verdict.findings.extend(found);
    }
}

fn origin<'a>(delivered: &Delivered<'a>) -> Origin<'a> {
    Origin { url: Some(delivered.answered), content_type: delivered.headers.content_type }
}

fn put_place(findings: &mut [LintFinding], place: &str) {
    for finding in findings {
        finding.place.get_or_insert_with(|| place.to_owned());
    }
}

/// Adds a finding that explains why the walk ended at a gap. The finding refers to the document that contains the link.
fn explain_end(gap: &Gap, findings: &mut Findings) {
    let (rule, part): (_, &dyn Display) = match &gap.reason {
        Reason::Status(404 | 410) if gap.edge.stated_missing => (table::STATED_MISSING, &""),
        Reason::Status(status) => (table::ARCHIVE_REFUSED, status),
        Reason::Unanswered(why) => (table::NO_ANSWER, why),
        Reason::Blocked(why) => (table::UNFOLLOWED, why),
        Reason::TooLarge(why) => (table::ARCHIVE_TOO_LARGE, why),
        Reason::Unreadable(why) => (table::UNREADABLE_ARCHIVE, why),
        Reason::Loop => (table::LOOP, &""),
        Reason::Limit { limit: Limit::NothingNew, .. } => (table::NOTHING_NEW, &""),
        Reason::Limit { fetched, .. } => (table::CHECK_ENDED, fetched),
        Reason::Overrun { .. } | Reason::Paged | Reason::Interrupted => return,
    };
    findings.say(rule, &gap.edge.url, &[part]);
}

/// Merges equal findings about several archives: keeps the first and adds the number of the others.
fn once_each(findings: Vec<LintFinding>) -> Vec<LintFinding> {
    let alike = |one: &LintFinding, other: &LintFinding| {
        one.topic == other.topic
            && (one.level, &one.element, &one.message)
                == (other.level, &other.element, &other.message)
            && one.place != other.place
    };
    let mut kept: Vec<(LintFinding, usize)> = Vec::new();
    for finding in findings {
        match kept.iter_mut().find(|(known, _)| alike(known, &finding)) {
            Some((_, more)) => *more = more.saturating_add(1),
            None => kept.push((finding, 0)),
        }
    }
    let told = |(finding, more): (LintFinding, usize)| match more {
        0 => finding,
        more => {
            let documents = counted_words(more, "more document", "more documents");
            let message = format!("{} (and in {documents})", finding.message);
            LintFinding { message, ..finding }
        }
    };
    kept.into_iter().map(told).collect()
}

/// Parses a document and reports how readers will interpret it.
///
/// `now` separates past dates from future ones and determines the week for which example polls are listed.
pub fn examine(bytes: &[u8], origin: &Origin<'_>, now: DateTime<Utc>) -> LintReport {
    examine_answer(bytes, origin, None, now)
}

/// Does the same as [`examine`], for a document from a server that states a cache lifetime.
fn examine_answer(
    bytes: &[u8],
    origin: &Origin<'_>,
    cache: Option<CacheState>,
    now: DateTime<Utc>,
) -> LintReport {
    let document = feed::parse(bytes, origin);
    let sightings =
        if document.kind.is_feed() { feed::find_oddities(bytes, origin) } else { Vec::new() };
    let breaches =
        if document.kind.is_feed() { feed::find_breaches(bytes, origin) } else { Vec::new() };
    let input = LintInput {
        document: &document,
        sightings: &sightings,
        breaches: &breaches,
        size: bytes.len(),
        url: origin.url,
        cache,
        now,
    };
    let mut findings = Findings::default();
    document::check(&input, &mut findings);
    document::check_flaws(&document.flaws, &mut findings);
    let mut expected: Option<Polls> = None;
    if document.kind.is_feed() {
        hints::check(&input, &mut findings);
        expected = hints::check_polls(&input, &mut findings);
        history::check(&input, &mut findings);
        document::check_entries(&input, &mut findings);
        document::check_dates(&input, &mut findings);
        document::check_format(&input, &mut findings);
    }
    LintReport {
        kind: document.kind,
        role: document.role,
        title: document.head.title.clone(),
        entries: document.entries.len(),
        url: origin.url.map(str::to_owned),
        chain: None,
        polls: expected,
        findings: findings.into_list(),
    }
}
