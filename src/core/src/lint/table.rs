//! The table of rules: what a report says to a publisher about a document, how serious it is, and what to do about it; and the
//! findings of one document.

use std::fmt::Display;

use chrono::{DateTime, Utc};

use crate::feed::text::counted_words;
use crate::feed::{Breach, FeedDocument, Oddity};
use crate::schedule::CacheState;

/// What a finding says. `{0}` in its message is the first part that the check passes, and `{0|entry|entries}` a count of things.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Rule<'a> {
    pub(super) level: Level,
    pub(super) topic: Topic,
    /// Name of the element, attribute, header or other part of the document.
    pub(super) element: &'a str,
    pub(super) message: &'a str,
}

impl<'a> Rule<'a> {
    /// Returns the same rule about another element.
    pub(super) const fn of(self, element: &'a str) -> Self {
        Self { element, ..self }
    }
}

/// Collects the findings about a document.
#[derive(Debug, Default)]
pub(super) struct Findings(Vec<LintFinding>);

impl Findings {
    /// Adds a finding: a rule, the text of the document that it is about, and the parts of its message.
    pub(super) fn say(&mut self, rule: Rule<'_>, text: &str, parts: &[&dyn Display]) {
        let Rule { level, topic, element, message } = rule;
        let (element, text, message) =
            (element.to_owned(), text.to_owned(), filled(message, parts));
        self.0.push(LintFinding { level, topic, place: None, element, text, message });
    }

    pub(super) fn put(&mut self, finding: LintFinding) {
        self.0.push(finding);
    }

    /// Returns the findings sorted by topic. Findings of the same topic are in the order in which they were added.
    pub(super) fn into_list(mut self) -> Vec<LintFinding> {
        self.0.sort_by_key(|finding| finding.topic);
        self.0
    }
}

/// Puts the parts into the places of a message (see [`Rule`]).
fn filled(message: &str, parts: &[&dyn Display]) -> String {
    let mut pieces = message.split('{');
    let mut text = pieces.next().unwrap_or_default().to_owned();
    for (place, rest) in pieces.filter_map(|piece| piece.split_once('}')) {
        let (number, words) = place.split_once('|').unwrap_or((place, ""));
        let part = number.parse().ok().and_then(|number: usize| parts.get(number));
        let part = part.map(ToString::to_string).unwrap_or_default();
        match words.split_once('|') {
            Some((one, many)) => text.push_str(&counted_words(part, one, many)),
            None => text.push_str(&part),
        }
        text.push_str(rest);
    }
    text
}

/// Builds the rules and the advice from one list. A heading in brackets names a topic, an element and the advice for that element. If its
/// element is empty, the advice is for all elements of the topic that have no heading. The rules below a heading are about its element,
/// unless the check names another one.
macro_rules! rules {
    ($([$topic:ident $element:literal $advice:literal] $($name:ident $level:ident $message:literal;)*)*) => {
        /// Topic, name of the element, and advice; the first row that matches counts.
        const ADVICE: &[(Topic, &str, &str)] = &[$((Topic::$topic, $element, $advice)),*];
        $($(pub(super) const $name: Rule<'static> = Rule {
            level: Level::$level, topic: Topic::$topic, element: $element, message: $message,
        };)*)*
    };
}

rules! {
    [Delivery "address" "serve the feed over https, and redirect the http address permanently"]
    PLAIN_HTTP Warning "served over http: others on the network can read and change it; use https";
    [Delivery "redirect" "write the target address into the link"]
    LINK_REDIRECTS Warning "the link leads to a redirect: link to the target instead ({0})";
    MOVED Note "it moved permanently: readers save the new address ({0})";
    MOVED_FOR_NOW Note "it moved temporarily: readers request the old address every time ({0})";
    [Delivery "Content-Type" "configure the media type for the file extension in the web server"]
    NO_TYPE Warning "none: readers and browsers have to guess; use {0}";
    OTHER_TYPE Warning "not the type of this format: some readers refuse it; use {0}";
    [Delivery "Content-Encoding" "switch on gzip for the media types of feeds in the web server"]
    UNCOMPRESSED Warning "none: each transfer is several times as large as with gzip, which readers accept";
    [Delivery "ETag" "let the web server send ETag or Last-Modified; static files have both by default"]
    NO_VALIDATORS Warning "neither ETag nor Last-Modified: every poll transfers the whole document, changed or not";
    NO_ETAG Note "none: Last-Modified alone cannot distinguish two changes within one second";
    NO_ETAG_OF_DELTA Warning "none in an answer with status 226: readers cannot request what is new after it";
    [Delivery "validators" "answer 'not modified' if If-None-Match contains the current ETag"]
    SENT_AGAIN Warning "the server sent everything again in response to its own validators: it should answer 304";
    [Delivery "Cache-Control" "exclude the feed from the cache rules for static files, or state the real interval"]
    LONG_LIFETIME Warning "a lifetime of {0} delays every poll of the feed: it counts as {1}";
    NO_ARCHIVE_LIFETIME Note "no lifetime: an archive does not change, so a long max-age would let caches keep it";
    NO_LIFETIME Note "none: caches and readers guess how long the document stays fresh";
    [Delivery "226" "answer 226 only to a request with A-IM: feed and a known ETag, with the new entries; otherwise answer 200 or 304"]
    UNREQUESTED_DELTA Error "the answer to a request without A-IM: readers take it for the whole feed and miss entries";
    CUT_DELTA Error "the document is cut off: readers discard the answer and request the whole feed";
    EMPTY_DELTA Warning "an answer without entries: if nothing is new, 304 says so in fewer bytes";
    [Delivery "IM" "send IM: feed with each answer of the status 226"]
    UNNAMED_DELTA Warning "an answer with status 226 must name 'feed' here: readers discard it and request the whole feed";
    OTHER_DELTA Warning "more than 'feed': backissue applies no other manipulation, discards the answer and requests the whole feed";
    [Delivery "Vary" "send Vary: A-IM, If-None-Match with answers of the status 200 and 226"]
    SHARED_DELTA Warning "a cache may give the new entries of one reader to another: name A-IM here, or send Cache-Control: no-store, im";
    [Delivery "Expires" "send a date in the HTTP format, or only Cache-Control"]
    NO_EXPIRY Warning "not an HTTP date: ignored here; other readers treat it as expired";
    [Delivery "" "correct the setting of the web server"]
    LINKED_HUB Note "rel=\"hub\" offers push: backissue polls instead, because a program in a terminal cannot receive it";
    [Hints "archive" "move the hints to the document that readers subscribe to"]
    HINTS_IN_ARCHIVE Warning "hints in an archive document are ignored: put them in the subscription document";
    [Hints "ttl" "state the interval once, as a whole number of minutes"]
    TTL_IN_SECONDS Warning "looks like seconds{0}: ttl is in minutes, so this means {1}";
    SECOND_TTL Warning "more than one ttl: the first one counts";
    [Hints "skipHours" "list single hours in GMT, and leave at least one open"]
    [Hints "skipDays" "list English names of days, and leave at least one open"]
    [Hints "refreshRate" "state the interval in milliseconds, or use interval rules"]
    [Hints "interval" "give the rule a positive number of minutes, hours and days in their ranges, and a known zone; remove rules that never apply"]
    RULE Note "rule {0}: every {1} {2}{3}";
    UNUSED_RULE Warning "rule {0} never applies: more specific rules cover its hours";
    UNCOVERED Note "no rule applies in {0} of the {1} hours of the week: {2} applies then";
    [Hints "sy:updateBase" "write the base as a date with a time zone"]
    [Hints "sy:updatePeriod" "use hourly, daily, weekly, monthly or yearly"]
    [Hints "sy:updateFrequency" "use a positive whole number of updates in a period"]
    [Hints "" "put valid hints into the head section of the document"]
    MISPLACED Warning "found in '{1}', outside the head section: ignored";
    HOUR_24 Note "read as hour 0, the first of the day";
    STATED_INTERVAL Note "{0}{1}";
    SKIP_WINDOWS Note "{0} (UTC): {1}";
    NO_HINT Note "no hint says how often to poll: readers use what they have learned, or their own default";
    PUSH Note "offers push (cloud, hub): readers without a public address poll as usual";
    ENDED Note "the feed has ended: readers stop polling";
    [History "fh:prev" "use <link rel=\"prev-archive\" href=\"...\"/> instead"]
    OLD_PREV Warning "from an old draft: read as prev-archive here, but few readers know it";
    [History "previous" "use <link rel=\"prev-archive\" href=\"...\"/> instead"]
    OLD_PREVIOUS Warning "an archive link of an old draft: readers ask the user once before they follow it; use prev-archive instead";
    [History "fh:incremental" "add <link rel=\"prev-archive\" href=\"...\"/>, or remove the mark"]
    UNLINKED_ARCHIVES Warning "older entries exist, but no link leads to them";
    [History "fh:complete" "remove fh:complete from the archive"]
    COMPLETE_ARCHIVE Warning "an archive document cannot be the whole feed: ignored";
    COMPLETE Note "this document is the whole feed: entries that are not in it count as withdrawn";
    [History "complete" "keep either fh:complete or the links to archives and pages"]
    [History "current" "add <link rel=\"current\" href=\"...\"/> with the address of the feed"]
    NO_CURRENT Warning "none: if you subscribe to this archive by mistake, readers cannot find the feed";
    CURRENT_FOLLOWED Note "in a document without fh:archive: followed once, without changing the address";
    [History "self" "write the document's own address into its self link"]
    OTHER_SELF Warning "names the subscription document, not this archive: ignored";
    NO_SELF Note "none: a reader cannot tell the address of a saved copy";
    MOVED_SELF Note "not the address it was read from";
    [History "prev-archive" "link to the next older archive with an https address of the same site, or remove the link"]
    ARCHIVES_OFFERED Note "readers fetch older entries from the archives";
    OLDEST_ARCHIVE Note "none: this is the oldest archive, so readers stop here";
    [History "next-archive" "mark archives with fh:archive, and link only from archives to newer archives"]
    NEXT_OF_SUBSCRIPTION Warning "a subscription document has no later archive; mark archive documents with fh:archive";
    NEXT_OF_PAGE Warning "has no meaning without prev-archive or fh:archive: the document counts as a page";
    NEXT_OF_PLAIN Warning "has no meaning without fh:archive";
    NEWEST_ARCHIVE Note "none: correct only in the newest archive";
    [History "repeated link" "keep one link of each relation"]
    SECOND_LINK Warning "a second {0} link: readers follow only one of them";
    [History "next" "use either paging or archives"]
    PAGES_AND_ARCHIVES Warning "archive and paging links have no meaning together: the paging links are ignored";
    PAGES_OF_ARCHIVE Warning "paging links in an archive document have no meaning: ignored";
    PAGED Note "only this document is polled; older pages are loaded on request, and the list is never shown as complete";
    LAST_PAGE Note "none: no older page is offered";
    [History "sched:missing" "link to the missing archive with prev-archive or next-archive, or remove the element"]
    UNLINKED_MISSING Warning "stated to be missing, but no archive link leads to it: ignored";
    [History "" "correct the link: it needs an address that readers may request"]
    RELATIVE_LINK Note "relative: it can be resolved only with the document's address (--url)";
    OTHER_SCHEME Warning "only http and https without a user name are followed: ignored";
    TO_HTTP Warning "leads from https to http: readers refuse to follow it";
    TO_PRIVATE Warning "leads into a private network: readers refuse to follow it";
    LINK Note "{0}";
    TO_ITSELF Warning "leads to the document itself: ignored";
    NO_ARCHIVES Note "no archives and no pages: a new reader sees only these entries";
    [Archives "fh:archive" "add <fh:archive/> to the head section of each archive"]
    UNMARKED_ARCHIVE Warning "missing: readers may subscribe to this document by mistake; add the mark";
    [Archives "current" "add <link rel=\"current\" href=\"...\"/> with the address of the feed"]
    ARCHIVE_WITHOUT_CURRENT Warning "none: readers cannot find the feed from this archive";
    OTHER_CURRENT Warning "not the document that links here: name that document instead";
    [Archives "fh:complete" "remove fh:complete from the archive"]
    WHOLE_ARCHIVE Warning "an archive document cannot be the whole feed: ignored";
    [Archives "self" "write the archive's own address into its self link"]
    SUBSCRIPTION_AS_SELF Warning "names the subscription document: readers that trust it stop here and miss everything older";
    ARCHIVE_SELF Warning "not the address of this archive: readers that trust it may fetch it twice or stop here";
    [Archives "id" "use the feed's id in every archive"]
    OTHER_FEED_ID Warning "not the feed's id: readers cannot tell that this archive belongs to the feed";
    [Archives "next-archive" "let next-archive and prev-archive of neighbours name each other"]
    STATED_GAP Note "the publisher states that the archive after this one is missing: readers show a gap";
    SKIPPING_LINK Warning "not the archive that links here: one of the two links skips an archive";
    UNLINKED_NEWEST Warning "the subscription document links to this archive as the newest, but a newer one exists: its prev-archive should link to the newer one";
    LONELY_ARCHIVE Warning "it links to no other archive: readers that start here find neither older nor newer entries";
    NO_NEXT Note "none, although there is a newer archive";
    [Archives "prev-archive" "make the archive available at the linked address, or link to the next older one that exists"]
    STATED_MISSING Note "the publisher states that this archive is missing: readers show a gap";
    ARCHIVE_REFUSED Error "the archive answered {0}: readers cannot get it or anything older";
    NO_ANSWER Error "the archive did not answer: {0}";
    UNFOLLOWED Error "readers do not follow the link: {0}";
    ARCHIVE_TOO_LARGE Error "the archive is too large ({0}): split it into several";
    UNREADABLE_ARCHIVE Error "the archive cannot be read ({0}): readers get nothing older";
    LOOP Error "the archives form a loop: readers stop here and cannot tell whether anything is older; remove prev-archive from the oldest archive";
    NOTHING_NEW Warning "every entry of the last three archives is also in a newer one: readers ask before they continue";
    CHECK_ENDED Note "the check ended here after {0} archives; older ones were not checked";
    SECOND_ADDRESS Warning "another address of an archive already fetched: use one address in all links";
    [Archives "order" "link from newer archives to older ones"]
    OUT_OF_ORDER Warning "its newest entry is newer than every entry of the document that links to it as older";
    [Archives "overlap" "put each entry into one archive; repeat only entries that changed, in the feed"]
    REPEATED_ENTRIES Warning "{0|entry|entries} also in a newer archive, unchanged: one copy is enough";
    CHANGED_ENTRIES Note "{0|entry|entries} also in a newer archive, changed: readers keep the newer copy";
    [Archives "" "correct the archive as the finding says"]
    CHAIN Note "{0|archive|archives} with {1|entry|entries} could be read{2}{3}";
    [Entries "title" "give the feed and each entry a title or a text"]
    BLANK_ENTRIES Warning "{0|entry|entries} with neither title nor text";
    NO_FEED_TITLE Warning "the feed has no title: readers show its address";
    [Entries "guid" "give each item a guid that never changes; write isPermaLink=\"false\" if it is not an address"]
    [Entries "at:deleted-entry" "state ref and when, and remove the entry from the document"]
    PRESENT_AND_DELETED Warning "{0|entry is|entries are} both present and deleted: readers hide them";
    [Entries "relative address" "write whole addresses, with https:// and the name of the site"]
    RELATIVE_TEXT Warning "{0|text|texts} in {1} with a relative address: this format has no base, so readers guess or show dead links";
    RELATIVE_ADDRESS Warning "{0|relative address|relative addresses} in {1}: this format has no base, so readers guess or ignore it";
    [Entries "enclosure" "give each enclosure a url, a length in bytes and a type; a length of 0 means unknown"]
    [Entries "attachments" "give each attachment a url and a mime_type"]
    [Entries "alternate" "keep one alternate link of a type and language; use rel=\"related\" for others"]
    SECOND_ALTERNATE Warning "{0|alternate link|alternate links} of the same type and language beside another: readers open different pages";
    [Entries "content_html" "add content_html or content_text to each item"]
    [Entries "" "give each entry an id of its own that never changes"]
    BARE_ATTACHMENT Warning "{0|attached file|attached files} without a required part: some readers skip the file or cannot show what it is";
    NO_CONTENT Warning "{0|item|items} with neither content_html nor content_text: some readers drop it";
    SAME_ID Error "{0|entry has|entries have} an id that is already used in this document: readers keep only one of each";
    NO_ID Warning "{0|entry|entries} without {1}";
    NOT_PERMANENT Warning "{0|entry|entries}: guid is not an address, but isPermaLink is not false: readers do not open it";
    NUMERIC_ID Note "{0|entry|entries}: the id is a number: read as text here, but some readers refuse it";
    NO_LINK Note "{0|entry|entries} without a page to open";
    [Dates "date" "use the time zone of the server, and publish entries only when they are due"]
    FAR_FUTURE Warning "{0|date|dates} more than a day in the future: treated as missing";
    NEAR_FUTURE Warning "{0|date|dates} less than a day in the future: wrong time zone?";
    [Dates "updated" "add <updated> with a date and a time zone to the feed and to each entry"]
    NO_UPDATED Warning "{0|entry|entries} without a readable updated: readers cannot tell a newer copy from an older one";
    NO_FEED_UPDATED Warning "the feed itself has no readable updated";
    [Dates "" "write dates with a time and a time zone, in the format of the feed"]
    NO_ZONE Warning "{0|date|dates} without a time zone: read as UTC";
    NO_TIME Warning "{0|date|dates} without a time of day: read as midnight UTC";
    ODD_FORM Warning "{0|date|dates} not in {1} format: read here, but some readers ignore it";
    UNDATED Note "{0|entry|entries} without a date: sorted by when a reader first saw them";
    [Document "newLocation" "answer the old address with a permanent redirect"]
    NAMED_ADDRESS Warning "the document names a new address: readers ask the user, because no redirect confirms it";
    REDIRECT Note "a redirect document: readers switch to the new address";
    REDIRECT_NOWHERE Note "a redirect without an address: readers stop polling, as after 410";
    [Document "link" "add <link> to the channel, with the address of the website"]
    NO_CHANNEL_LINK Warning "the channel has no link: readers cannot open the website, and RSS requires it";
    [Document "repeated element" "keep one of the elements, the one that readers should show"]
    REPEATED_ELEMENT Warning "{0|element|elements} named {1} too many: the format allows one, and readers show different ones";
    [Document "type" "write type=\"html\" for escaped markup, and type=\"text\" for plain text"]
    UNTYPED_MARKUP Warning "{0|text|texts} in {1} with markup but without a type: it is plain text, so readers show the tags and references";
    UNKNOWN_TYPE Warning "{0|type|types} in {1}: not 'text', 'html' or 'xhtml', so readers guess how to show it";
    [Document "xhtml" "put the whole content into one <div xmlns=\"http://www.w3.org/1999/xhtml\">"]
    NO_DIV Warning "{0|text|texts} in {1}: XHTML must be a single div, so some readers show nothing";
    [Document "version" "write https://jsonfeed.org/version/1.1 as the version"]
    OTHER_VERSION Warning "not an address of a version of JSON Feed: some readers refuse it";
    [Document "id" "add an <id> to the feed that never changes"]
    NO_FEED_ID Warning "the feed has no id: readers cannot tell whether it is still the same feed if its address changes";
    [Document "" "write a well-formed document in a current format, as small as possible, and declare its encoding correctly"]
    NOT_A_FEED Error "this is not a feed: readers cannot use it";
    CUT_OFF Error "the document is cut off: readers ignore it and try again later";
    HEAVY Warning "every poll that finds new entries transfers all of this: older entries could move to archive documents (RFC 5005)";
    FORMAT Note "{0}, {1}; {2|entry|entries}, {3|byte|bytes}";
    OLD_NAMESPACE Warning "not the namespace of Atom 1.0: read here, but many readers show no entries";
    OLD_VERSION Note "not RSS 2.0: read as RSS 2.0 here, but some readers refuse it";
    FLAW Warning "{0}{1}";
    [Polls "" "state a schedule that readers can follow"]
    NO_POLLS Note "readers no longer poll this feed (settled by {0})";
    POLLS Note "a reader with default settings that polled on {0} polls again on {1} (settled by {2}, without jitter): {3|poll|polls} a week";
    POLLED_ARCHIVE Note "a subscription to an archive document is a mistake: it is polled as rarely as allowed";
    RATE Note "an entry appears about every {0}, and the entries go back {1}{2}";
}

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

/// The severity of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Feed readers lose something: the document, an entry, or the link to older entries.
    Error,
    /// Feed readers drop or guess something, or behave differently from each other.
    Warning,
    /// Information on how feed readers interpret the document.
    Note,
}

impl Level {
    /// Returns the name used in text and JSON output.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Note => "note",
        }
    }
}

/// The subject of a finding. Findings are listed in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Topic {
    /// How the server delivers the document. Only if the document was fetched from an address.
    Delivery,
    /// Format, encoding, size and repairs of the document.
    Document,
    /// Polling hints in the document or from the server.
    Hints,
    /// The polls that result from the polling hints.
    Polls,
    /// Archives, pages, and completeness of the feed.
    History,
    /// The archives in the feed's chain. Only if the document was fetched from an address.
    Archives,
    /// Ids and texts of entries.
    Entries,
    /// Dates of the feed and of its entries.
    Dates,
}

impl Topic {
    /// Returns the name used in headings and JSON output.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Delivery => "delivery",
            Self::Document => "document",
            Self::Hints => "hints",
            Self::Polls => "polls",
            Self::History => "history",
            Self::Archives => "archives",
            Self::Entries => "entries",
            Self::Dates => "dates",
        }
    }
}

/// A finding about a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LintFinding {
    /// Severity of the finding.
    pub level: Level,
    /// Subject of the finding.
    pub topic: Topic,
    /// Address of the document that the finding is about; `None` if only one document was checked and its address is
    /// unknown.
    pub place: Option<String>,
    /// Name of the element, attribute, header or other part of the document that the finding is about.
    pub element: String,
    /// Text of the document that the finding is about, cut to one line; empty if there is none.
    pub text: String,
    /// One sentence that explains how feed readers interpret the element and its text.
    pub message: String,
}

/// A parsed document with the observations made while parsing it.
#[derive(Debug, Clone, Copy)]
pub(super) struct LintInput<'a> {
    pub(super) document: &'a FeedDocument,
    pub(super) sightings: &'a [Oddity],
    pub(super) breaches: &'a [Breach],
    /// Size of the document in bytes.
    pub(super) size: usize,
    /// Address of the document, if known.
    pub(super) url: Option<&'a str>,
    /// Cache lifetime stated by the server; `None` if the document did not come from a server.
    pub(super) cache: Option<CacheState>,
    pub(super) now: DateTime<Utc>,
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

    #[test]
    fn parts_are_filled_in_and_counted() {
        let (one, brace): (&dyn Display, &dyn Display) = (&1, &"{0}");
        assert_eq!(filled("{0|text|texts} in {1}: {1}!", &[one, brace]), "1 text in {0}: {0}!");
        assert_eq!(filled("{0|text|texts}{1}", &[&2, &""]), "2 texts");
    }
}
