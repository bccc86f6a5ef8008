//! Tests that unreachable hosts are attributed either to a missing network or to broken feeds.

use super::*;
use crate::engine::poll::fetch::{AnswerBody, AnswerHeaders, FetchFailure, ServerAnswer};

fn at(seconds: i64) -> DateTime<Utc> {
    DateTime::UNIX_EPOCH + TimeDelta::days(20_000) + TimeDelta::seconds(seconds)
}

fn fetched(result: Result<ServerAnswer, FetchFailure>) -> Fetched {
    Fetched { started: at(0), wire_bytes: 0, hops: vec![], conditional: false, result }
}

/// A [`Reachability`] that gets the result of one fetch per second.
#[derive(Default)]
struct Told {
    reachability: Reachability,
    seconds: i64,
    feeds: u32,
}

impl Told {
    /// Records that the host of the next feed was not found. `failures` is the number of earlier failures of this feed.
    fn not_found(&mut self, failures: u32, under_way: &[&str]) -> Sign {
        self.feeds += 1;
        self.seconds += 1;
        let mut before = FeedState::default();
        before.facts.failures = failures;
        let url = format!("https://host{}.example/", self.feeds);
        let fetched = fetched(Err(FetchFailure::Name("it".into())));
        let feed = Some((FeedKey(self.feeds), &before));
        let sites = under_way.iter().copied();
        self.reachability.note(at(self.seconds), &url, &fetched, feed, sites)
    }

    /// Records a response from a working host.
    fn answers(&mut self) {
        let answer = ServerAnswer {
            status: 304,
            url: "https://good.example/".into(),
            public: true,
            received: at(self.seconds),
            headers: AnswerHeaders::default(),
            body: AnswerBody::Unread,
        };
        let fetched = fetched(Ok(answer));
        let sign =
            self.reachability.note(at(self.seconds), "https://good.example/", &fetched, None, []);
        assert_eq!(sign, Sign::Online);
    }

    fn is_offline(&self) -> bool {
        self.reachability.offline_since.is_some()
    }
}

#[test]
fn recent_answer_outweighs_three_hosts_not_found() {
    let mut told = Told::default();
    told.answers();
    for _ in 0..10 {
        assert_eq!(told.not_found(0, &[]), Sign::Unclear);
    }
    told.seconds += 120;
    assert_eq!(told.not_found(0, &[]), Sign::Unclear, "those before spoke against no network");
    assert_eq!(told.not_found(0, &[]), Sign::Unclear);
    let Sign::Offline(suspects) = told.not_found(0, &[]) else {
        panic!("three while none answers")
    };
    assert_eq!(suspects.len(), 12, "what was lost while the network went is given back too");
}

#[test]
fn feed_that_already_failed_is_no_evidence_of_offline() {
    let mut told = Told::default();
    for _ in 0..5 {
        assert_eq!(told.not_found(1, &[]), Sign::Unclear);
    }
    assert!(!told.is_offline());
    told.not_found(0, &[]);
    told.not_found(0, &[]);
    assert!(!told.is_offline());
    told.not_found(0, &[]);
    assert!(told.is_offline());
}

#[test]
fn requests_in_flight_delay_the_offline_verdict() {
    let mut told = Told::default();
    let others = ["slow.example"];
    assert_eq!(told.not_found(0, &others), Sign::Unclear);
    assert_eq!(told.not_found(0, &others), Sign::Unclear);
    assert_eq!(told.not_found(0, &others), Sign::Doubtful);
    assert!(!told.is_offline());
    told.answers();
    assert_eq!(told.not_found(0, &others), Sign::Unclear);
    let mut told = Told::default();
    for _ in 0..3 {
        told.not_found(0, &others);
    }
    assert!(matches!(told.not_found(0, &[]), Sign::Offline(_)), "the last one failed as well");
}
