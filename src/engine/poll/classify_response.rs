//! Classifies a response by its status and body (SPEC D.2). A 401 response says which kinds of login its server accepts (RFC 9110
//! §11.6.1).

use backissue_core::feed::text::one_line;
use backissue_core::feed::{FeedDocument, Kind, NewLocation, REMOVED_CONTROLS};
use backissue_core::schedule;

use super::fetch::{
    AnswerBody, AnswerHeaders, FetchFailure, Fetched, Hop, RequestKind, ServerAnswer,
};
use super::poll_request::{Again, Sent};
use crate::engine::feeds::subscription::Obstacle;
use crate::engine::politeness::host_queue::site_of;

/// Meaning of the response to a poll.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// A feed document to merge.
    Document(Box<FeedDocument>),
    /// A delta with only new and changed entries (226, SPEC D.7). The delta is merged; entries that it does not contain are not
    /// withdrawn.
    Delta(Box<FeedDocument>),
    /// Nothing changed (304).
    NotModified,
    /// The publisher ended the feed (410, or an empty redirect document).
    Gone,
    /// The poll failed because the response is not usable or there is none.
    Failed(Trouble),
    /// A server other than the publisher's responded, such as a captive portal (511). This does not count as a failure of the feed
    /// (SPEC D.2).
    NotCounted(Trouble),
}

/// Reason that a response is not usable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trouble {
    /// Kind of failure, as input for the schedule.
    pub failure: schedule::PollFailure,
    /// Reason that the response is not usable, as a sentence fragment.
    pub why: String,
    /// Kind of obstacle, if the user has a specific remedy.
    pub obstacle: Option<Obstacle>,
}

/// Classifies the result of a fetch, given the request that was sent.
pub fn classify_response(fetched: Fetched, sent: &Sent) -> Verdict {
    let Fetched { hops, conditional, result, .. } = fetched;
    match result {
        Err(failure) => Verdict::Failed(Trouble {
            failure: failure.for_schedule(),
            why: failure.to_string(),
            obstacle: obstacle_of(&failure),
        }),
        Ok(answer) => classify_answer(answer, &hops, conditional, sent),
    }
}

/// Returns the obstacle behind a failure, if the user has a specific remedy.
fn obstacle_of(failure: &FetchFailure) -> Option<Obstacle> {
    let is_insecure = matches!(failure, FetchFailure::Insecure { .. });
    let is_blocked = matches!(failure, FetchFailure::Blocked(_));
    is_insecure.then_some(Obstacle::Insecure).or(is_blocked.then_some(Obstacle::Blocked))
}

fn classify_answer(answer: ServerAnswer, hops: &[Hop], conditional: bool, sent: &Sent) -> Verdict {
    if let Some(wall) = answer.bot_wall() {
        let failure = match answer.status {
            200..=299 => schedule::PollFailure::Unreadable,
            status => schedule::PollFailure::Status(status),
        };
        let why = format!("answered {}", wall.words(&status_words(answer.status)));
        return Verdict::Failed(Trouble { failure, why, obstacle: Some(Obstacle::BotWall) });
    }
    match answer.status {
        200 | 203 => classify_body(answer, hops, sent),
        204 | 205 => unreadable("the response is empty"),
        226 if is_delta(&answer.headers, sent) => {
            let verdict = classify_body(answer, hops, sent);
            if let Verdict::Document(document) = verdict {
                Verdict::Delta(document)
            } else {
                verdict
            }
        }
        226 => unreadable("answered 226 with a delta that does not match the request"),
        304 if conditional => Verdict::NotModified,
        304 => unreadable("answered 304 although no validators were sent"),
        // A 410 ends the feed only if it comes from the stored address without redirects, like an empty `newLocation` (SPEC D.2,
        // D.5).
        410 if hops.is_empty() => Verdict::Gone,
        410 => unreadable(format!(
            "{}, reached through a redirect, says that the feed has ended; the feed itself may still exist",
            answer.url
        )),
        511 => Verdict::NotCounted(Trouble {
            failure: schedule::PollFailure::Status(511),
            why: SIGN_IN_WANTED.into(),
            obstacle: Some(Obstacle::LoginPage),
        }),
        status @ (301..=303 | 307 | 308) => Verdict::Failed(Trouble {
            failure: schedule::PollFailure::Status(status),
            why: format!("answered {status} and asked backissue to wait"),
            obstacle: None,
        }),
        status => Verdict::Failed(Trouble {
            failure: schedule::PollFailure::Status(status),
            why: format!("answered {}", answer_words(&answer)),
            obstacle: None,
        }),
    }
}

fn classify_body(answer: ServerAnswer, hops: &[Hop], sent: &Sent) -> Verdict {
    match answer.body {
        // A truncated document is a failure and is never merged in part (SPEC G.30).
        AnswerBody::Document(document) if document.is_truncated() => {
            unreadable("the document is cut off")
        }
        AnswerBody::Document(document) => match document.kind {
            Kind::Atom | Kind::Rss | Kind::Rdf | Kind::Json | Kind::Opml => {
                Verdict::Document(document)
            }
            Kind::Redirect => match &document.new_location {
                // A redirect document with an empty address ends the feed, but only if it comes from the stored address (SPEC D.5).
                Some(NewLocation::Gone) if answer.url == sent.url => Verdict::Gone,
                Some(NewLocation::Gone) => unreadable(format!(
                    "{}, reached through a redirect, says that the feed has ended; the feed itself may still exist",
                    answer.url
                )),
                Some(NewLocation::At(url)) => unreadable(format!("the feed has moved to {url}")),
                None => unreadable("a redirect document without an address"),
            },
            Kind::None => unreadable(not_a_feed(&document)),
        },
        AnswerBody::Page { title, .. }
            if is_login_page(&answer.url, title.as_deref(), hops, sent) =>
        {
            let site = site_of(&answer.url);
            Verdict::NotCounted(Trouble {
                failure: schedule::PollFailure::Unreadable,
                why: format!("the response is a sign-in page of {site}: a captive portal?"),
                obstacle: Some(Obstacle::LoginPage),
            })
        }
        AnswerBody::Page { title: Some(title), .. } => {
            unreadable(format!("not a feed but the page '{title}'"))
        }
        AnswerBody::Page { title: None, .. } => unreadable("not a feed but a web page"),
        AnswerBody::Article(_)
        | AnswerBody::Listing(_)
        | AnswerBody::Picture(_)
        | AnswerBody::Robots(_) => unreadable("not a feed but a listing"),
        AnswerBody::Empty | AnswerBody::Unread => unreadable("the response is empty"),
    }
}

/// Error message for a response with status 511.
pub const SIGN_IN_WANTED: &str = "the network requires a sign-in first (511): a captive portal?";

/// Words by which a sign-in page is recognized in its address or title.
const SIGN_IN: [&str; 12] = [
    "login",
    "log in",
    "log-in",
    "signin",
    "sign in",
    "sign-in",
    "captive",
    "hotspot",
    "portal",
    "wifi",
    "wi-fi",
    "authenticate",
];

/// Checks whether a page is the sign-in page of a captive portal: it is at another site, was reached by a temporary redirect, its
/// address or title contains a sign-in word, and no other site responded recently (SPEC D.2, G.32).
fn is_login_page(url: &str, title: Option<&str>, hops: &[Hop], sent: &Sent) -> bool {
    let elsewhere = site_of(url) != site_of(&sent.url);
    let temporary = hops.iter().any(|hop| matches!(hop.status, 302 | 303 | 307));
    let text = format!("{url} {}", title.unwrap_or_default()).to_lowercase();
    !sent.others_answer && elsewhere && temporary && SIGN_IN.iter().any(|word| text.contains(word))
}

/// Checks whether a response with status 226 is the delta that was requested (SPEC D.7).
fn is_delta(headers: &AnswerHeaders, sent: &Sent) -> bool {
    let feed = headers.im.as_deref().is_some_and(|list| list.trim().eq_ignore_ascii_case("feed"));
    let base = headers.delta_base.as_deref().map(|tag| weak(tag.trim().as_bytes()));
    let asked = sent.etag.as_deref().map(weak);
    sent.kind == RequestKind::Delta && feed && (base.is_none() || base == asked)
}

/// Returns an `ETag` without the prefix `W/`, for weak comparison (RFC 9110 §8.8.3.2).
fn weak(tag: &[u8]) -> &[u8] {
    tag.strip_prefix(b"W/").unwrap_or(tag)
}

/// Returns the reason to repeat the request at once after this response, or `None` if the status and the delta give no reason
/// (SPEC D.2, D.7).
pub fn worth_asking_again(fetched: &Fetched, sent: &Sent) -> Option<Again> {
    let answer = fetched.result.as_ref().ok()?;
    match answer.status {
        412 | 416 => Some(Again::Fresh),
        304 if !fetched.conditional => Some(Again::Fresh),
        406 | 415 => Some(Again::OtherFormats),
        421 => Some(Again::Same),
        400 if sent.kind == RequestKind::Delta => Some(Again::NoDelta),
        226 if !is_delta(&answer.headers, sent) => Some(Again::Whole),
        226 if answer.body.feed().is_none_or(FeedDocument::is_truncated) => {
            Some(Again::BrokenDelta)
        }
        _ => None,
    }
}

/// Returns the verdict for a successful status without a usable document.
fn unreadable(why: impl Into<String>) -> Verdict {
    Verdict::Failed(Trouble {
        failure: schedule::PollFailure::Unreadable,
        why: why.into(),
        obstacle: None,
    })
}

/// Returns the reason that a document is not a feed, based on its first flaw.
pub fn not_a_feed(document: &FeedDocument) -> String {
    // Skip the flaw that control characters were removed, because it does not explain why the document is not a feed.
    let mut reasons = document.flaws.iter().filter(|flaw| flaw.reason != REMOVED_CONTROLS);
    reasons
        .next()
        .map_or_else(|| "not a feed".into(), |flaw| format!("not a feed ({})", flaw.reason))
}

/// Returns the status of a response in words. Names the bot wall that answered. For a 401, adds the kinds of login that the server
/// accepts if backissue supports none of them.
pub fn answer_words(answer: &ServerAnswer) -> String {
    if let Some(wall) = answer.bot_wall() {
        return wall.words(&status_words(answer.status));
    }
    let challenges = answer.headers.www_authenticate.as_deref().filter(|_| answer.status == 401);
    match challenges.and_then(unsupported_logins) {
        Some(kinds) => format!(
            "401 Unauthorized: it requires a login of the kind {kinds}, which backissue does not support"
        ),
        None => status_words(answer.status),
    }
}

/// Returns a status code followed by its usual words.
pub fn status_words(status: u16) -> String {
    let words = match status {
        206 => "Partial Content although no part was requested",
        300 => "Multiple Choices",
        304 => "Not Modified although no validators were sent",
        400 => "Bad Request",
        401 => "Unauthorized: it needs credentials",
        402 => "Payment Required",
        403 => "Forbidden",
        404 => "Not Found",
        408 => "Request Timeout",
        406 => "Not Acceptable",
        407 => "Proxy Authentication Required: the proxy needs credentials",
        410 => "Gone",
        415 => "Unsupported Media Type",
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

/// Kinds of login that the credentials file supports.
const SUPPORTED: [&str; 2] = ["basic", "bearer"];
/// Maximum length of the list of login kinds in a message, in characters.
const KINDS_CHARS_MAX: usize = 60;

/// Returns the kinds of login that a `WWW-Authenticate` header lists, if the credentials file supports none of them.
fn unsupported_logins(challenges: &str) -> Option<String> {
    let mut kinds: Vec<&str> = Vec::new();
    for part in split_unquoted(challenges) {
        let mut words = part.split_ascii_whitespace();
        let (first, second) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let is_parameter = first.contains('=') || second.starts_with('=');
        let is_known = kinds.iter().any(|kind| kind.eq_ignore_ascii_case(first));
        if !first.is_empty() && !is_parameter && !is_known {
            kinds.push(first);
        }
    }
    let is_supported = |kind: &&str| SUPPORTED.iter().any(|known| kind.eq_ignore_ascii_case(known));
    (!kinds.is_empty() && !kinds.iter().any(is_supported))
        .then(|| one_line(&kinds.join(" or "), KINDS_CHARS_MAX))
}

/// Splits a list at the commas that are not within quotes.
fn split_unquoted(list: &str) -> impl Iterator<Item = &str> {
    let (mut is_quoted, mut is_escaped) = (false, false);
    list.split(move |char| {
        let is_literal = std::mem::take(&mut is_escaped);
        is_quoted ^= char == '"' && !is_literal;
        is_escaped = is_quoted && char == '\\' && !is_literal;
        char == ',' && !is_quoted
    })
}

#[cfg(test)]
mod tests {
    use crate::engine::poll::classify_response::*;
    use backissue_core::feed::page_feeds::PageLeads;

    fn answer(status: u16, body: AnswerBody) -> ServerAnswer {
        ServerAnswer {
            status,
            url: "https://a.example/".into(),
            public: true,
            received: chrono::DateTime::UNIX_EPOCH,
            headers: AnswerHeaders::default(),
            body,
        }
    }

    fn fetched(answer: ServerAnswer) -> Fetched {
        Fetched {
            started: chrono::DateTime::UNIX_EPOCH,
            wire_bytes: 0,
            hops: vec![],
            conditional: false,
            result: Ok(answer),
        }
    }

    fn sent() -> Sent {
        Sent { url: "https://a.example/".into(), ..Sent::default() }
    }

    fn document(kind: Kind) -> AnswerBody {
        AnswerBody::Document(Box::new(FeedDocument { kind, ..FeedDocument::default() }))
    }

    fn words(verdict: Verdict) -> String {
        match verdict {
            Verdict::Document(_) => "document".to_owned(),
            Verdict::Delta(_) => "delta".into(),
            Verdict::NotModified => "not modified".into(),
            Verdict::Gone => "gone".into(),
            Verdict::Failed(trouble) => trouble.why,
            Verdict::NotCounted(trouble) => format!("not counted: {}", trouble.why),
        }
    }

    fn check(status: u16, body: AnswerBody, conditional: bool, expected: &str) {
        let fetched = Fetched { conditional, ..fetched(answer(status, body)) };
        let found = words(classify_response(fetched, &sent()));
        assert!(found.contains(expected), "{status}: {found}");
    }

    fn page(title: &str) -> AnswerBody {
        AnswerBody::Page {
            title: Some(title.into()),
            candidates: vec![],
            leads: PageLeads::default(),
        }
    }

    #[test]
    fn each_response_gets_its_classification() {
        check(200, document(Kind::Rss), false, "document");
        check(203, document(Kind::Rss), false, "document");
        check(200, document(Kind::None), false, "not a feed");
        check(200, AnswerBody::Empty, false, "empty");
        check(200, page("Sign in"), false, "page 'Sign in'");
        check(204, AnswerBody::Unread, false, "empty");
        check(205, AnswerBody::Unread, false, "empty");
        check(206, document(Kind::Rss), false, "answered 206");
        check(226, document(Kind::Rss), false, "does not match");
        check(302, AnswerBody::Unread, false, "asked backissue to wait");
        check(304, AnswerBody::Unread, true, "not modified");
        check(304, AnswerBody::Unread, false, "304 although");
        for status in [300, 305, 306, 400, 403, 404, 405, 406, 414, 418, 429, 431, 451, 500, 599] {
            check(status, AnswerBody::Unread, true, &format!("answered {status}"));
        }
        check(401, AnswerBody::Unread, false, "needs credentials");
        check(407, AnswerBody::Unread, false, "needs credentials");
        let mut digest = answer(401, AnswerBody::Unread);
        digest.headers.www_authenticate = Some("Digest realm=\"a\"".into());
        let told = "answered 401 Unauthorized: it requires a login of the kind Digest, which backissue does not support";
        assert_eq!(words(classify_response(fetched(digest), &sent())), told);
        check(410, AnswerBody::Unread, false, "gone");
        check(511, AnswerBody::Unread, false, "not counted: ");
    }

    #[test]
    fn removed_characters_are_not_blamed_for_a_non_feed() {
        let why = |bytes: &[u8]| {
            not_a_feed(&backissue_core::feed::parse(
                bytes,
                &backissue_core::feed::Origin::default(),
            ))
        };
        assert!(!why(b"\x01 \x02 words").contains("control"), "{}", why(b"\x01 \x02 words"));
        assert_eq!(why(b"\x01 words"), why(b" words"));
    }

    #[test]
    fn empty_redirect_document_counts_only_at_stored_address() {
        // A redirect document with an empty address ends the feed only if it comes from the stored address (SPEC D.5).
        let gone = FeedDocument {
            kind: Kind::Redirect,
            new_location: Some(NewLocation::Gone),
            ..FeedDocument::default()
        };
        let gone = AnswerBody::Document(Box::new(gone));
        check(200, gone.clone(), false, "gone");
        let elsewhere = Sent { url: "https://b.example/".into(), ..Sent::default() };
        let found = words(classify_response(fetched(answer(200, gone)), &elsewhere));
        assert!(found.contains("reached through a redirect"), "{found}");
    }

    #[test]
    fn a_410_counts_only_at_the_stored_address() {
        // A 410 after a redirect does not end the feed (SPEC D.2).
        for status in [301, 302, 307] {
            let to = "https://b.example/".to_owned();
            let hops = vec![Hop { status, to: to.clone(), by_document: false }];
            let end = ServerAnswer { url: to, ..answer(410, AnswerBody::Unread) };
            let found = words(classify_response(Fetched { hops, ..fetched(end) }, &sent()));
            assert!(found.contains("reached through a redirect"), "{status}: {found}");
        }
    }

    #[test]
    fn delta_must_match_the_requested_base() {
        // A 226 is a delta only if the delta was requested and is based on the `ETag` that was sent (SPEC D.7).
        let tag = b"W/\"1\"".to_vec();
        let asked = Sent { kind: RequestKind::Delta, etag: Some(tag), ..sent() };
        for (im, base, sent, expected) in [
            (Some("feed"), None, &asked, "delta"),
            (Some(" FEED "), Some("\"1\""), &asked, "delta"),
            (Some("feed"), Some("\"2\""), &asked, "does not match"),
            (Some("feed, gzip"), None, &asked, "does not match"),
            (None, None, &asked, "does not match"),
            (Some("feed"), None, &sent(), "does not match"),
        ] {
            let mut answer = answer(226, document(Kind::Atom));
            answer.headers.im = im.map(str::to_owned);
            answer.headers.delta_base = base.map(str::to_owned);
            let fetched = fetched(answer);
            let again = worth_asking_again(&fetched, sent);
            let found = words(classify_response(fetched, sent));
            assert!(found.contains(expected), "{im:?} {base:?}: {found}");
            assert_eq!(again.is_none(), expected == "delta", "{im:?} {base:?}");
        }
    }

    #[test]
    fn invalid_delta_is_refetched_once_without_delta() {
        // After an unusable delta, the request is repeated without a request for a delta (SPEC D.7).
        let asked = Sent { kind: RequestKind::Delta, etag: Some(b"\"1\"".to_vec()), ..sent() };
        for (body, expected) in [
            (AnswerBody::Empty, Some(Again::BrokenDelta)),
            (page("Sorry"), Some(Again::BrokenDelta)),
            (document(Kind::None), Some(Again::BrokenDelta)),
            (document(Kind::Atom), None),
        ] {
            let mut answer = answer(226, body);
            answer.headers.im = Some("feed".to_owned());
            assert_eq!(worth_asking_again(&fetched(answer), &asked), expected);
        }
        assert_eq!(Again::BrokenDelta.days_without_deltas(), Some(7));
    }

    #[test]
    fn foreign_sign_in_page_is_not_the_feeds_failure() {
        // A temporary redirect to a sign-in page at another site is not a failure of the feed (SPEC D.2, G.32).
        let hop =
            |status| Hop { status, to: "http://gate.example/login".into(), by_document: false };
        for (status, title, expected) in
            [(302, "Welcome", "not counted"), (301, "Welcome", "not a feed but the page")]
        {
            let answer = ServerAnswer { url: hop(0).to, ..answer(200, page(title)) };
            let fetched = Fetched { hops: vec![hop(status)], ..fetched(answer) };
            let found = words(classify_response(fetched, &sent()));
            assert!(found.contains(expected), "{status}: {found}");
        }
    }
}

#[cfg(test)]
mod login_challenge_tests {
    use super::*;

    #[test]
    fn unsupported_login_scheme_is_named() {
        for (challenges, kinds) in [
            (r#"Digest realm="d, Basic x", nonce="abc", qop="auth", algorithm=MD5"#, "Digest"),
            (r#"Digest realm="a \", Basic b", nonce = "x""#, "Digest"),
            ("Negotiate, NTLM", "Negotiate or NTLM"),
            ("Negotiate oYG2MIG=, NTLM TlRM==, negotiate", "Negotiate or NTLM"),
            (r#"Digest realm="x", basic realm="y""#, ""),
            (r#"BASIC realm="x""#, ""),
            ("Bearer", ""),
            ("", ""),
            ("realm=x, , ,", ""),
        ] {
            assert_eq!(unsupported_logins(challenges).unwrap_or_default(), kinds, "{challenges}");
        }
        assert!(unsupported_logins(&"x".repeat(9000)).unwrap().len() < 100);
    }
}
