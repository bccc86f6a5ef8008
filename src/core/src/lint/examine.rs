//! Runs all checks of one document and collects their findings in a report.

use chrono::{DateTime, Utc};

use super::lint_input::LintInput;
use super::polls::{self, Polls};
use super::report::LintReport;
use super::table::Findings;
use super::{dates, document, entries, flaws, hints, history, oddities};
use crate::feed::{self, Origin};
use crate::schedule::CacheState;

/// Parses a document and reports how readers will interpret it.
///
/// `now` separates past dates from future ones and determines the week for which example polls are listed.
pub fn examine(bytes: &[u8], origin: &Origin<'_>, now: DateTime<Utc>) -> LintReport {
    examine_answer(bytes, origin, None, now)
}

/// Does the same as [`examine`], for a document from a server that states a cache lifetime.
pub(super) fn examine_answer(
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
    let exhibit = LintInput {
        document: &document,
        sightings: &sightings,
        breaches: &breaches,
        size: bytes.len(),
        url: origin.url,
        cache,
        now,
    };
    let mut findings = Findings::default();
    document::check(&exhibit, &mut findings);
    flaws::check(&document.flaws, &mut findings);
    let mut expected: Option<Polls> = None;
    if document.kind.is_feed() {
        hints::check(&exhibit, &mut findings);
        expected = polls::check(&exhibit, &mut findings);
        history::check(&exhibit, &mut findings);
        entries::check(&exhibit, &mut findings);
        dates::check(&exhibit, &mut findings);
        oddities::check_format(&exhibit, &mut findings);
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
