//! What an answer means for a feed, as a table over statuses and bodies (SPEC D.2).

use super::fetching::{Answer, AnswerBody, Fetched};
use crate::feed::{FeedDocument, Kind, NewLocation};
use crate::schedule;

/// What a poll's answer means.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// A feed document to merge.
    Document(Box<FeedDocument>),
    /// Nothing changed (304).
    NotModified,
    /// The publisher ended the feed (410, or an empty redirect document).
    Gone,
    /// Nothing can be used: how the schedule sees it, and why as a sentence fragment.
    Failed(schedule::Failure, String),
}

/// Judges the end of a fetch.
pub fn judge(fetched: Fetched) -> Verdict {
    let conditional = fetched.conditional;
    match fetched.result {
        Err(failure) => Verdict::Failed(failure.for_schedule(), failure.to_string()),
        Ok(answer) => judge_answer(answer, conditional),
    }
}

fn judge_answer(answer: Answer, conditional: bool) -> Verdict {
    match answer.status {
        200 | 203 => judge_body(answer.body),
        204 | 205 => unreadable("the answer is empty"),
        304 if conditional => Verdict::NotModified,
        304 => unreadable("answered 304 although nothing was known of the feed"),
        410 => Verdict::Gone,
        status => Verdict::Failed(
            schedule::Failure::Status(status),
            format!("answered {}", status_words(status)),
        ),
    }
}

fn judge_body(body: AnswerBody) -> Verdict {
    match body {
        // A document that breaks off is a failure and never merged in part (SPEC G.30).
        AnswerBody::Document(document) if document.is_truncated() => {
            unreadable("the document is cut off")
        }
        AnswerBody::Document(document) => match document.kind {
            Kind::Atom | Kind::Rss | Kind::Rdf | Kind::Json => Verdict::Document(document),
            Kind::Redirect => match &document.new_location {
                Some(NewLocation::Gone) => Verdict::Gone,
                Some(NewLocation::At(url)) => unreadable(format!("the feed has moved to {url}")),
                None => unreadable("not a feed"),
            },
            Kind::None => unreadable(not_a_feed(&document)),
        },
        AnswerBody::Page { title: Some(title), .. } => {
            unreadable(format!("not a feed but the page '{title}'"))
        }
        AnswerBody::Page { title: None, .. } => unreadable("not a feed but a web page"),
        AnswerBody::Empty | AnswerBody::Unread => unreadable("the answer is empty"),
    }
}

/// A good status with nothing usable behind it.
fn unreadable(why: impl Into<String>) -> Verdict {
    Verdict::Failed(schedule::Failure::Unreadable, why.into())
}

/// Why a document is no feed, by its first flaw.
pub fn not_a_feed(document: &FeedDocument) -> String {
    document
        .flaws
        .first()
        .map_or_else(|| "not a feed".into(), |flaw| format!("not a feed ({})", flaw.reason))
}

/// A status with its usual words.
pub fn status_words(status: u16) -> String {
    let words = match status {
        400 => "Bad Request",
        401 => "Unauthorized: it needs credentials",
        402 => "Payment Required",
        403 => "Forbidden",
        404 => "Not Found",
        408 => "Request Timeout",
        410 => "Gone",
        429 => "Too Many Requests",
        451 => "Unavailable For Legal Reasons",
        500 => "Internal Server Error",
        502 => "Bad Gateway",
        503 => "Service Unavailable",
        504 => "Gateway Timeout",
        _ => "",
    };
    if words.is_empty() { status.to_string() } else { format!("{status} {words}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::fetching::AnswerHeaders;

    fn fetched(status: u16, body: AnswerBody) -> Fetched {
        let answer = Answer {
            status,
            url: "https://a.example/".into(),
            public: true,
            received: chrono::DateTime::UNIX_EPOCH,
            headers: AnswerHeaders::default(),
            body,
        };
        Fetched {
            started: chrono::DateTime::UNIX_EPOCH,
            wire_bytes: 0,
            hops: vec![],
            conditional: false,
            result: Ok(answer),
        }
    }

    fn document(kind: Kind) -> AnswerBody {
        AnswerBody::Document(Box::new(FeedDocument { kind, ..FeedDocument::default() }))
    }

    fn check(status: u16, body: AnswerBody, conditional: bool, expected: &str) {
        let fetched = Fetched { conditional, ..fetched(status, body) };
        let found = match judge(fetched) {
            Verdict::Document(_) => "document".to_owned(),
            Verdict::NotModified => "not modified".into(),
            Verdict::Gone => "gone".into(),
            Verdict::Failed(_, why) => why,
        };
        assert!(found.contains(expected), "{status}: {found}");
    }

    #[test]
    fn each_answer_gets_its_verdict() {
        check(200, document(Kind::Rss), false, "document");
        check(200, document(Kind::None), false, "not a feed");
        check(200, AnswerBody::Empty, false, "empty");
        check(
            200,
            AnswerBody::Page { title: Some("Sign in".into()), candidates: vec![] },
            false,
            "page 'Sign in'",
        );
        check(204, AnswerBody::Unread, false, "empty");
        check(206, document(Kind::Rss), false, "answered 206");
        check(304, AnswerBody::Unread, true, "not modified");
        check(304, AnswerBody::Unread, false, "304 although");
        check(403, AnswerBody::Unread, false, "answered 403 Forbidden");
        check(404, AnswerBody::Unread, false, "answered 404 Not Found");
        check(410, AnswerBody::Unread, false, "gone");
        check(500, AnswerBody::Unread, false, "answered 500 Internal Server Error");
    }
}
