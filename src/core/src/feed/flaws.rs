//! Collects descriptions of the parts of one document that were dropped or repaired. Such a part is called a flaw.

use serde::{Deserialize, Serialize};

use super::text;

/// Maximum number of flaws kept per document. Further flaws are only counted.
pub(super) const FLAWS_MAX: usize = 64;
/// Maximum number of flaws stored with the hints.
const HINT_FLAWS_MAX: usize = 24;
/// Maximum number of flaws stored with the hints for one element.
const HINT_FLAWS_OF_ONE_MAX: usize = 4;
/// Maximum length of the offending text quoted in a flaw, in characters.
const FLAW_TEXT_MAX: usize = 120;

/// [`Flaw::reason`] for a truncated document.
pub(super) const TRUNCATED: &str = "the document ends inside this element";

/// [`Flaw::reason`] for a text that should be a date.
pub(crate) const NOT_A_DATE: &str = "not a date";
/// [`Flaw::reason`] for an element that does not end before the element around it.
pub(crate) const NO_END_TAG: &str = "its end tag was missing";
/// [`Flaw::reason`] for a text that should be true or false.
pub(crate) const NO_SWITCH: &str = "neither true nor false";

/// [`Flaw::reason`] for a date such as 05/07/2021.
pub(super) const AMBIGUOUS_DATE: &str = "its day and month can be read in two ways";

/// [`Flaw::reason`] for a document that lacks only its last end tags.
pub(super) const LACKS_END: &str = "the end tag of this element, the last one, is missing";

/// [`Flaw::reason`] for a document with more entries than the limit.
pub(super) const TOO_MANY_ENTRIES: &str = "more than 10 000 entries: the others are left out";
/// [`Flaw::reason`] for a document with characters that are not allowed in text.
pub const REMOVED_CONTROLS: &str = "control characters were removed";
/// Reason of the flaw that a document is JSON of another kind.
pub const OTHER_JSON: &str = "JSON, but not a JSON Feed";
/// [`Flaw::reason`] for elements dropped because they exceed the nesting limit.
pub(super) const TOO_DEEP: &str = "nested deeper than 256 elements: deeper elements are left out";

/// One part that was dropped or repaired so that the rest of the document could be used (SPEC A).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Flaw {
    /// Affected element, attribute or part of the document, such as `ttl`, `encoding` or `item`.
    pub element: String,
    /// Offending text, shortened to fit on one line.
    pub text: String,
    /// Sentence fragment that states what was done and why.
    pub reason: String,
}

#[derive(Debug, Clone, Default)]
pub(super) struct Flaws {
    list: Vec<Flaw>,
    more: usize,
    truncated: Option<Flaw>,
}

impl Flaws {
    /// Records that a part of the document was dropped or repaired.
    pub(super) fn add(&mut self, element: &str, offending: &str, reason: &str) {
        if self.list.len() >= FLAWS_MAX {
            self.more += 1;
            return;
        }
        self.list.push(shortened(element, offending, reason));
    }

    /// Like [`Self::add`], but records only the first flaw with this element and reason.
    pub(super) fn add_once(&mut self, element: &str, offending: &str, reason: &str) {
        if !self.list.iter().any(|flaw| flaw.element == element && flaw.reason == reason) {
            self.add(element, offending, reason);
        }
    }

    /// Checks whether any recorded flaw has this reason.
    pub(super) fn has(&self, reason: &str) -> bool {
        self.list.iter().any(|flaw| flaw.reason == reason)
    }

    /// Records that the document ends inside `element`. This flaw does not count towards [`FLAWS_MAX`].
    pub(super) fn truncated(&mut self, element: &str) {
        self.truncated = Some(Flaw {
            element: "document".to_owned(),
            text: text::one_line(element, FLAW_TEXT_MAX),
            reason: TRUNCATED.to_owned(),
        });
    }

    /// Records that the last end tags of the document are missing. This flaw does not count towards [`FLAWS_MAX`].
    pub(super) fn lacks_end(&mut self, element: &str) {
        self.truncated(element);
        if let Some(flaw) = &mut self.truncated {
            LACKS_END.clone_into(&mut flaw.reason);
        }
    }

    /// Returns the recorded flaws, plus a flaw that states how many were omitted because of the limit.
    pub(super) fn into_list(mut self) -> Vec<Flaw> {
        if self.more > 0 {
            self.list.push(Flaw {
                element: "document".to_owned(),
                text: String::new(),
                reason: format!("and {} more", self.more),
            });
        }
        self.list.extend(self.truncated);
        self.list
    }
}

/// Records each flaw in a polling hint twice: in the document's list, and in a shorter list that is stored with the hints.
#[derive(Debug)]
pub(super) struct HintFlaws<'f> {
    document: &'f mut Flaws,
    kept: Vec<Flaw>,
    more: usize,
}

impl<'f> HintFlaws<'f> {
    pub(super) const fn new(document: &'f mut Flaws) -> Self {
        Self { document, kept: Vec::new(), more: 0 }
    }

    /// Records that a polling hint was dropped or repaired.
    pub(super) fn add(&mut self, element: &str, offending: &str, reason: &str) {
        self.document.add(element, offending, reason);
        let alike = self.kept.iter().filter(|flaw| flaw.element == element).count();
        if alike >= HINT_FLAWS_OF_ONE_MAX || self.kept.len() >= HINT_FLAWS_MAX {
            self.more += 1;
        } else {
            self.kept.push(shortened(element, offending, reason));
        }
    }

    /// Like [`Self::add`], but records only the first flaw with this element and reason.
    pub(super) fn add_once(&mut self, element: &str, offending: &str, reason: &str) {
        self.document.add_once(element, offending, reason);
        if !self.kept.iter().any(|flaw| flaw.element == element && flaw.reason == reason) {
            self.kept.push(shortened(element, offending, reason));
        }
    }

    /// Returns the flaws to store with the hints, plus a flaw that states how many were omitted because of the limits.
    pub(super) fn into_list(mut self) -> Vec<Flaw> {
        if self.more > 0 {
            self.kept.push(shortened("hints", "", &format!("and {} more", self.more)));
        }
        self.kept
    }
}

fn shortened(element: &str, offending: &str, reason: &str) -> Flaw {
    let shown: String = offending.chars().take(FLAW_TEXT_MAX * 2).collect();
    Flaw {
        element: text::one_line(element, 60),
        text: text::one_line(&shown, FLAW_TEXT_MAX),
        reason: reason.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_with_many_flaws_keeps_some_and_counts_the_rest() {
        let mut flaws = Flaws::default();
        for _ in 0..100 {
            flaws.add("date", &"x".repeat(1_000), "not a date");
        }
        flaws.add_once("date", "y", "not a date");
        let list = flaws.into_list();
        assert_eq!(list.len(), FLAWS_MAX + 1);
        assert_eq!(list.last().map(|flaw| flaw.reason.as_str()), Some("and 36 more"));
        assert!(list.iter().all(|flaw| flaw.text.chars().count() <= FLAW_TEXT_MAX));
    }

    #[test]
    fn many_bad_hints_of_one_kind_leave_room_for_the_others() {
        let mut all = Flaws::default();
        let mut flaws = HintFlaws::new(&mut all);
        for _ in 0..100 {
            flaws.add("interval", &"9".repeat(1_000), "not an hour");
            flaws.add_once("interval", "", "too many rules");
        }
        flaws.add("ttl", "soon", "not a number");
        let kept = flaws.into_list();
        assert!(kept.len() <= HINT_FLAWS_MAX && kept.iter().any(|flaw| flaw.text == "soon"));
        assert!(kept.iter().all(|flaw| flaw.text.chars().count() <= FLAW_TEXT_MAX));
        assert_eq!(kept.last().map(|flaw| flaw.reason.as_str()), Some("and 97 more"));
    }
}
