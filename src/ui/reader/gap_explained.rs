//! Explains a gap in the reader pane, with the keys that act on it.

use chrono::{DateTime, Utc};

use backissue_core::history::{Gap, GapKind, Reason, Via};

/// Returns paragraphs that explain what a gap is, why it exists and what happens next.
pub fn explain_gap(gap: &Gap, zone: chrono_tz::Tz) -> Vec<String> {
    let when = |at: DateTime<Utc>| at.with_timezone(&zone).format("%-d %B %Y at %H:%M").to_string();
    let mut said = vec![format!("{}.", gap.text())];
    said.extend(plain_words(&gap.reason).map(str::to_owned));
    said.extend(gap.advice().map(|advice| format!("{advice}.")));
    if !gap.edge.url.is_empty() {
        said.push(format!("It should be at {}", gap.edge.url));
    }
    if gap.edge.via != Via::Link {
        said.push(
            "The publisher does not offer it; you chose to look for it there (e).".to_owned(),
        );
    }
    if let Some(at) = gap.last_try {
        let times =
            if gap.tries > 1 { format!(", {} times in all", gap.tries) } else { String::new() };
        said.push(format!("Last asked for on {}{times}.", when(at)));
    }
    said.push(format!("First noticed on {}.", when(gap.first_seen)));
    said.push(match (gap.kind(), gap.retry_at) {
        (GapKind::Unavailable | GapKind::Unreadable, Some(at)) => {
            format!("backissue asks for it again by itself after {}, once the feed has been polled. Enter or H asks now.", when(at))
        }
        (GapKind::Unavailable | GapKind::Unreadable, None) => {
            "backissue does not ask for it again by itself. Enter or H asks now.".to_owned()
        }
        (GapKind::Limit, _) => "No more is fetched unless you ask: Enter or H goes on.".to_owned(),
        (GapKind::Loop, _) => {
            "The publisher's archives link in a circle, so nobody can tell whether anything is older. Enter or H reads the link again.".to_owned()
        }
        (GapKind::Overrun, _) => {
            "Nothing can be asked for: the feed no longer offers these entries.".to_owned()
        }
        (GapKind::Paged, _) if gap.edge.url.is_empty() => {
            "No older page is known. Enter or H looks again from the first page.".to_owned()
        }
        (GapKind::Paged, _) => "Enter or H loads one older page.".to_owned(),
        (GapKind::Interrupted, _) => {
            "It goes on by itself after the feed's next poll. Enter or H goes on now.".to_owned()
        }
    });
    if !gap.edge.url.is_empty() {
        said.push(
            "o opens its address in the browser; W looks for it in the Internet Archive."
                .to_owned(),
        );
    }
    said.push("D hides this line; u undoes that.".to_owned());
    said
}

/// Explains a reason to users who do not know status codes.
const fn plain_words(reason: &Reason) -> Option<&'static str> {
    Some(match reason {
        Reason::Status(401 | 403 | 407 | 451) => {
            "The server refuses to send it to backissue; a browser may get it."
        }
        Reason::Status(404) => "There is nothing at its address now. The publisher may fix that.",
        Reason::Status(410) => "The publisher has removed it for good.",
        Reason::Status(429) => "The server wants to be asked less often.",
        Reason::Status(500..=599) => "The server has a problem of its own; that usually passes.",
        Reason::Unanswered(_) => "Its server did not answer; that usually passes.",
        Reason::Blocked(_) => {
            "It leads into your own network, where a feed from the internet must not lead."
        }
        Reason::TooLarge(_) => "It is too large to be fetched.",
        Reason::Unreadable(_) => "The server sent something that could not be read as a feed.",
        Reason::Status(_)
        | Reason::Limit { .. }
        | Reason::Loop
        | Reason::Overrun { .. }
        | Reason::Paged
        | Reason::Interrupted => return None,
    })
}

#[cfg(test)]
mod tests {
    use crate::ui::reader::gap_explained::*;
    use backissue_core::history::Limit;
    use backissue_core::history::gap::Edge;

    fn explained(reason: Reason, retry_at: Option<DateTime<Utc>>) -> String {
        let edge = Edge { url: "https://a.example/2".into(), ..Edge::default() };
        let gap = Gap { retry_at, ..Gap::new(edge, reason, DateTime::UNIX_EPOCH) };
        explain_gap(&gap, chrono_tz::Tz::UTC).join(" ")
    }

    #[test]
    fn gap_text_names_address_retry_time_and_key() {
        let text = explained(Reason::Status(503), Some(DateTime::UNIX_EPOCH));
        assert!(text.contains("It should be at https://a.example/2"), "{text}");
        assert!(text.contains("again by itself after 1 January 1970 at 00:00"), "{text}");
        assert!(text.contains("The server has a problem of its own"), "{text}");
        assert!(text.contains("Enter or H asks now. o opens its address in the browser; W looks"));
        assert!(text.ends_with("D hides this line; u undoes that."), "{text}");
        let text = explained(Reason::Limit { limit: Limit::Stopped, fetched: 3 }, None);
        assert!(text.contains("Enter or H goes on."), "{text}");
    }
}
