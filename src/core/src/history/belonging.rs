//! Decides whether a document that a poll received belongs to the feed, and whether redirects may change the address (SPEC D.3).

use super::kind::same_host;
use super::windows::Windows;
use crate::feed::FeedDocument;

/// What is known of a feed before a poll.
#[derive(Debug, Clone, Copy)]
pub struct KnownFeed<'f> {
    /// Stored address.
    pub url: &'f str,
    /// Address of the last successful answer; empty if there is none.
    pub answered: &'f str,
    /// ID that the feed states.
    pub id: Option<&'f str>,
    /// Entries of the last documents.
    pub windows: &'f Windows,
    /// Whether a document of the feed was read before.
    pub is_read: bool,
}

/// The redirects that led to a document.
#[derive(Debug, Clone, Copy)]
pub struct Route<'f> {
    /// Address that answered.
    pub answered: &'f str,
    /// Whether there was any redirect.
    pub is_redirected: bool,
    /// Target of the leading permanent redirects, if it is another address than the stored one.
    pub permanent: Option<&'f str>,
}

/// Verdict on a document that was received directly or after redirects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Belonging {
    /// What to do about the address that the redirects lead to.
    pub moving: RouteMove,
    /// Whether the document may be read.
    pub is_read: bool,
    /// Whether what the document claims about the history counts.
    pub is_proven: bool,
}

/// What to do about the address that redirects lead to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RouteMove {
    /// Nothing.
    Stay,
    /// The target of the permanent redirects replaces the stored address.
    Replace,
    /// The target of the permanent redirects is proposed to the user.
    ProposeTarget,
    /// The address that answered is proposed to the user.
    ProposeAnswered,
}

/// Decides what to do with redirects, and whether the document at their end belongs to the feed.
pub fn judge_route(feed: &KnownFeed<'_>, route: &Route<'_>, document: &FeedDocument) -> Belonging {
    let is_near = [feed.url, feed.answered].iter().any(|known| same_host(known, route.answered));
    let holds_something = !document.entries.is_empty() || document.history.complete;
    let shares = feed.windows.shares(document);
    let contradicts = contradicts(feed.id, document.head.id.as_deref(), shares);
    let same_id = !contradicts && feed.id.is_some() && document.head.id.is_some();
    // Until something was read, there is nothing that another feed could spoil.
    let is_new_near = !feed.is_read && is_near;
    let is_known_place = feed.answered == route.answered;
    let is_same =
        holds_something && !contradicts && (same_id || shares || is_known_place || is_new_near);
    let is_empty_near = !holds_something && !contradicts && route.permanent.is_none() && is_near;
    let is_shared = is_same && (shares || is_new_near);
    let is_read = !route.is_redirected
        || !feed.is_read
        || is_same
        || is_empty_near
        || (contradicts && shares);
    let is_proven = !route.is_redirected
        || is_empty_near
        || (is_same && (is_shared || !document.history.complete));
    let moving = match route.permanent {
        Some(_) if is_shared => RouteMove::Replace,
        Some(_) => RouteMove::ProposeTarget,
        None if is_read && (is_proven || is_known_place || !feed.is_read) => RouteMove::Stay,
        None => RouteMove::ProposeAnswered,
    };
    Belonging { moving, is_read, is_proven }
}

/// Checks whether a document states another ID than the feed. With a shared entry, http and https make no difference.
fn contradicts(known: Option<&str>, stated: Option<&str>, shares: bool) -> bool {
    let (Some(known), Some(stated)) = (known, stated) else { return false };
    let plain = |id: &str| id.replacen("https://", "http://", 1);
    known != stated && !(shares && plain(known) == plain(stated))
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;

    use super::*;
    use crate::feed::Entry;

    fn document(id: Option<&str>, entries: &[&str], complete: bool) -> FeedDocument {
        let entry = |id: &&str| Entry { id: (*id).to_owned(), ..Entry::default() };
        let mut document = FeedDocument {
            entries: entries.iter().map(entry).collect(),
            ..FeedDocument::default()
        };
        document.head.id = id.map(str::to_owned);
        document.history.complete = complete;
        document
    }

    /// Where it leads, whether for good, ID, entries, complete: what happens, is it read, is it proven.
    type Case<'c> = (&'c str, bool, Option<&'c str>, &'c [&'c str], bool, RouteMove, bool, bool);

    #[test]
    fn redirect_needs_a_shared_entry_and_no_other_id() {
        use RouteMove::{ProposeAnswered, ProposeTarget, Replace, Stay};
        let mut windows = Windows::default();
        windows.remember(&document(None, &["1"], false), DateTime::UNIX_EPOCH);
        let (near, far) = ("https://a.example/b", "https://b.example/b");
        let cases: [Case<'_>; 14] = [
            (near, true, Some("i"), &["1"], true, Replace, true, true),
            (near, true, Some("o"), &["9"], true, ProposeTarget, false, false),
            (near, true, Some("o"), &["1"], true, ProposeTarget, true, false),
            (near, true, None, &["9"], true, ProposeTarget, false, false),
            (near, false, None, &["9"], true, ProposeAnswered, false, false),
            (near, false, Some("o"), &["9"], false, ProposeAnswered, false, false),
            (near, false, Some("i"), &["9"], true, ProposeAnswered, true, false),
            (near, false, Some("i"), &["9"], false, Stay, true, true),
            (near, false, None, &["1"], true, Stay, true, true),
            (near, false, None, &[], false, Stay, true, true),
            (far, false, None, &["1"], true, Stay, true, true),
            (far, false, None, &["9"], false, ProposeAnswered, false, false),
            (far, true, Some("i"), &["1"], false, Replace, true, true),
            (far, true, None, &[], false, ProposeTarget, false, false),
        ];
        for case in cases {
            let (answered, for_good, id, entries, complete, moving, is_read, is_proven) = case;
            let feed = KnownFeed {
                url: "https://a.example/a",
                answered: "https://a.example/a",
                id: Some("i"),
                windows: &windows,
                is_read: true,
            };
            let permanent = for_good.then_some(answered);
            let route = Route { answered, is_redirected: true, permanent };
            let found = judge_route(&feed, &route, &document(id, entries, complete));
            assert_eq!(found, Belonging { moving, is_read, is_proven }, "{case:?}");
        }
    }
}
