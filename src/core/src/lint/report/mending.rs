//! What a publisher can do about a finding.

use crate::lint::finding::{Level, LintFinding, Topic};

/// Topic, name of the element, and advice; the first row that matches counts. An empty name matches every element.
const ADVICE: [(Topic, &str, &str); 66] = {
    use Topic::{Archives, Dates, Delivery, Document, Entries, Hints, History, Polls};
    [
        (
            Delivery,
            "address",
            "serve the feed over https, and redirect the http address permanently",
        ),
        (Delivery, "redirect", "write the target address into the link"),
        (
            Delivery,
            "Content-Type",
            "configure the media type for the file extension in the web server",
        ),
        (
            Delivery,
            "Content-Encoding",
            "switch on gzip for the media types of feeds in the web server",
        ),
        (
            Delivery,
            "ETag",
            "let the web server send ETag or Last-Modified; static files have both by default",
        ),
        (
            Delivery,
            "validators",
            "answer 'not modified' if If-None-Match contains the current ETag",
        ),
        (
            Delivery,
            "Cache-Control",
            "exclude the feed from the cache rules for static files, or state the real interval",
        ),
        (
            Delivery,
            "226",
            "answer 226 only to a request with A-IM: feed and a known ETag, with the new entries; otherwise answer 200 or 304",
        ),
        (Delivery, "IM", "send IM: feed with each answer of the status 226"),
        (Delivery, "Vary", "send Vary: A-IM, If-None-Match with answers of the status 200 and 226"),
        (Delivery, "Expires", "send a date in the HTTP format, or only Cache-Control"),
        (Delivery, "", "correct the setting of the web server"),
        (Hints, "archive", "move the hints to the document that readers subscribe to"),
        (Hints, "ttl", "state the interval once, as a whole number of minutes"),
        (Hints, "skipHours", "list single hours in GMT, and leave at least one open"),
        (Hints, "skipDays", "list English names of days, and leave at least one open"),
        (Hints, "refreshRate", "state the interval in milliseconds, or use interval rules"),
        (
            Hints,
            "interval",
            "give the rule a positive number of minutes, hours and days in their ranges, and a known zone; remove rules that never apply",
        ),
        (Hints, "sy:updateBase", "write the base as a date with a time zone"),
        (Hints, "sy:updatePeriod", "use hourly, daily, weekly, monthly or yearly"),
        (Hints, "sy:updateFrequency", "use a positive whole number of updates in a period"),
        (Hints, "", "put valid hints into the head section of the document"),
        (History, "fh:prev", "use <link rel=\"prev-archive\" href=\"...\"/> instead"),
        (History, "previous", "use <link rel=\"prev-archive\" href=\"...\"/> instead"),
        (
            History,
            "fh:incremental",
            "add <link rel=\"prev-archive\" href=\"...\"/>, or remove the mark",
        ),
        (History, "fh:complete", "remove fh:complete from the archive"),
        (History, "complete", "keep either fh:complete or the links to archives and pages"),
        (
            History,
            "current",
            "add <link rel=\"current\" href=\"...\"/> with the address of the feed",
        ),
        (History, "self", "write the document's own address into its self link"),
        (
            History,
            "prev-archive",
            "link to the next older archive with an https address of the same site, or remove the link",
        ),
        (
            History,
            "next-archive",
            "mark archives with fh:archive, and link only from archives to newer archives",
        ),
        (History, "repeated link", "keep one link of each relation"),
        (History, "next", "use either paging or archives"),
        (
            History,
            "sched:missing",
            "link to the missing archive with prev-archive or next-archive, or remove the element",
        ),
        (History, "", "correct the link: it needs an address that readers may request"),
        (Archives, "fh:archive", "add <fh:archive/> to the head section of each archive"),
        (
            Archives,
            "current",
            "add <link rel=\"current\" href=\"...\"/> with the address of the feed",
        ),
        (Archives, "fh:complete", "remove fh:complete from the archive"),
        (Archives, "self", "write the archive's own address into its self link"),
        (Archives, "id", "use the feed's id in every archive"),
        (
            Archives,
            "next-archive",
            "let next-archive and prev-archive of neighbours name each other",
        ),
        (
            Archives,
            "prev-archive",
            "make the archive available at the linked address, or link to the next older one that exists",
        ),
        (Archives, "order", "link from newer archives to older ones"),
        (
            Archives,
            "overlap",
            "put each entry into one archive; repeat only entries that changed, in the feed",
        ),
        (Archives, "", "correct the archive as the finding says"),
        (Entries, "title", "give the feed and each entry a title or a text"),
        (
            Entries,
            "guid",
            "give each item a guid that never changes; write isPermaLink=\"false\" if it is not an address",
        ),
        (Entries, "at:deleted-entry", "state ref and when, and remove the entry from the document"),
        (
            Entries,
            "relative address",
            "write whole addresses, with https:// and the name of the site",
        ),
        (
            Entries,
            "enclosure",
            "give each enclosure a url, a length in bytes and a type; a length of 0 means unknown",
        ),
        (Entries, "attachments", "give each attachment a url and a mime_type"),
        (
            Entries,
            "alternate",
            "keep one alternate link of a type and language; use rel=\"related\" for others",
        ),
        (Entries, "content_html", "add content_html or content_text to each item"),
        (Entries, "", "give each entry an id of its own that never changes"),
        (
            Dates,
            "date",
            "use the time zone of the server, and publish entries only when they are due",
        ),
        (
            Dates,
            "updated",
            "add <updated> with a date and a time zone to the feed and to each entry",
        ),
        (Dates, "", "write dates with a time and a time zone, in the format of the feed"),
        (Document, "newLocation", "answer the old address with a permanent redirect"),
        (Document, "link", "add <link> to the channel, with the address of the website"),
        (
            Document,
            "repeated element",
            "keep one of the elements, the one that readers should show",
        ),
        (
            Document,
            "type",
            "write type=\"html\" for escaped markup, and type=\"text\" for plain text",
        ),
        (
            Document,
            "xhtml",
            "put the whole content into one <div xmlns=\"http://www.w3.org/1999/xhtml\">",
        ),
        (Document, "version", "write https://jsonfeed.org/version/1.1 as the version"),
        (Document, "id", "add an <id> to the feed that never changes"),
        (
            Document,
            "",
            "write a well-formed document in a current format, as small as possible, and declare its encoding correctly",
        ),
        (Polls, "", "state a schedule that readers can follow"),
    ]
};

/// Returns advice for the publisher; `None` for a note, which needs none.
pub fn mending(finding: &LintFinding) -> Option<&'static str> {
    let is_known = |(topic, element, _): &&(Topic, &str, &str)| {
        *topic == finding.topic && (element.is_empty() || *element == finding.element)
    };
    let advice = ADVICE.iter().find(is_known).map(|(_, _, advice)| *advice);
    advice.filter(|_| finding.level != Level::Note)
}

/// Returns the name of the rule that a finding is about, for programs that count or suppress findings.
pub fn rule(finding: &LintFinding) -> String {
    let element: String = finding
        .element
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' })
        .collect();
    format!("{}/{}", finding.topic.word(), element.trim_matches('-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(level: Level, topic: Topic, element: &str) -> LintFinding {
        let element = element.to_owned();
        LintFinding {
            level,
            topic,
            place: None,
            element,
            text: String::new(),
            message: String::new(),
        }
    }

    #[test]
    fn every_error_and_warning_has_advice_and_a_name() {
        let topics = [
            Topic::Delivery,
            Topic::Document,
            Topic::Hints,
            Topic::Polls,
            Topic::History,
            Topic::Archives,
            Topic::Entries,
            Topic::Dates,
        ];
        for topic in topics {
            for level in [Level::Error, Level::Warning] {
                assert!(mending(&finding(level, topic, "anything")).is_some(), "{topic:?}");
            }
            assert_eq!(mending(&finding(Level::Note, topic, "anything")), None);
        }
        assert_eq!(
            rule(&finding(Level::Error, Topic::Entries, "at:deleted-entry")),
            "entries/at-deleted-entry"
        );
        let ttl = mending(&finding(Level::Warning, Topic::Hints, "ttl"));
        assert!(ttl.is_some_and(|advice| advice.contains("minutes")));
    }

    #[test]
    fn each_advice_can_be_reached() {
        for (at, (topic, element, _)) in ADVICE.iter().enumerate() {
            let earlier = ADVICE
                .iter()
                .take(at)
                .any(|(other, name, _)| other == topic && (name.is_empty() || name == element));
            assert!(!earlier, "{topic:?} {element}");
        }
    }
}
