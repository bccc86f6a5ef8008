//! Templates of the demo's documents, in which marks in double braces expand to dates and addresses.
//!
//! | mark | expands to |
//! |---|---|
//! | `{{base}}` | scheme, host and port of the publisher |
//! | `{{ago:2h15m:FORM}}` | the time this long before the demo started |
//! | `{{changed:2h:FORM}}` | the time of the document's last change; before the first change, same as `ago` |
//! | `{{after:90s}} … {{end}}` | present once the demo has run that long |
//! | `{{until:90s}} … {{end}}` | present until the demo has run that long |
//! | `{{then:FORM}}` | inside an `after` or `until` block: the time that the block names |
//! | `{{standing}} … {{end}}` | omitted from a delta (RFC 3229), which only contains new entries |
//! | `{{full}} … {{end}}` | only on the web page of an entry, not in the feed |
//!
//! FORM is `rfc822`, `rfc3339` or `day` (for prose). Dates are relative to the start instead of the request, so that an
//! unchanged document is identical byte for byte. Blocks nest. All other text is copied.

use chrono::{DateTime, TimeDelta, Utc};

/// The base address and the times that a template is expanded with.
#[derive(Debug, Clone, Copy)]
pub(super) struct TemplateContext<'a> {
    pub(super) base: &'a str,
    pub(super) started: DateTime<Utc>,
    pub(super) now: DateTime<Utc>,
}

/// The parts of a template to include.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Edition {
    /// The regular feed document.
    Feed,
    /// Only the entries added after this number of changes (RFC 3229 with `feed`).
    Since(usize),
    /// All blocks, including `full` blocks, for the web page of an entry.
    Page,
}

/// A template expanded into a document.
#[derive(Debug)]
pub(super) struct Expansion {
    pub(super) text: String,
    /// Number of changes since the start of the demo.
    pub(super) changes: usize,
    /// Time of the last change, or the start of the demo if there was none.
    pub(super) changed: DateTime<Utc>,
}

pub(super) fn expand(template: &str, stage: TemplateContext<'_>, edition: Edition) -> Expansion {
    let passed = passed_moments(template, stage);
    let changed = passed.last().map(|span| stage.started + *span);
    let news_after = match edition {
        Edition::Since(known) => known.checked_sub(1).and_then(|last| passed.get(last)).copied(),
        Edition::Feed | Edition::Page => None,
    };
    let delta = matches!(edition, Edition::Since(_));

    let mut text = String::with_capacity(template.len());
    // One value for each enclosing block: `true` if the block is included.
    let mut blocks: Vec<bool> = Vec::new();
    let mut then = stage.started;
    for (mark, prose) in pieces(template) {
        let shown = blocks.iter().all(|wanted| *wanted);
        match TemplateMark::read(mark) {
            Some(TemplateMark::Base) if shown => text.push_str(stage.base),
            Some(TemplateMark::Ago(span, form)) if shown => {
                text.push_str(&form.write(stage.started - span));
            }
            Some(TemplateMark::Then(form)) if shown => text.push_str(&form.write(then)),
            Some(TemplateMark::Changed(span, form)) if shown => {
                text.push_str(&form.write(changed.unwrap_or(stage.started - span)));
            }
            Some(
                TemplateMark::Base
                | TemplateMark::Ago(..)
                | TemplateMark::Then(_)
                | TemplateMark::Changed(..),
            ) => {}
            Some(TemplateMark::After(span)) => {
                then = stage.started + span;
                let news = news_after.is_none_or(|known| span > known);
                blocks.push(passed.contains(&span) && news);
            }
            Some(TemplateMark::Until(span)) => {
                then = stage.started + span;
                blocks.push(!passed.contains(&span) && !delta);
            }
            Some(TemplateMark::Standing) => blocks.push(!delta),
            Some(TemplateMark::Full) => blocks.push(edition == Edition::Page),
            Some(TemplateMark::End) => drop(blocks.pop()),
            None if mark.is_empty() => {}
            None => text.extend(["{{", mark, "}}"]),
        }
        if blocks.iter().all(|wanted| *wanted) {
            text.push_str(prose);
        }
    }
    Expansion { text, changes: passed.len(), changed: changed.unwrap_or(stage.started) }
}

/// Returns the times at which the document has changed so far, relative to the start of the demo, sorted and without duplicates:
/// the times of all `after` and `until` blocks that have passed.
fn passed_moments(template: &str, stage: TemplateContext<'_>) -> Vec<TimeDelta> {
    let running = stage.now - stage.started;
    let mut moments: Vec<TimeDelta> = pieces(template)
        .filter_map(|(mark, _)| match TemplateMark::read(mark)? {
            TemplateMark::After(span) | TemplateMark::Until(span) => Some(span),
            TemplateMark::Base
            | TemplateMark::Ago(..)
            | TemplateMark::Then(_)
            | TemplateMark::Changed(..)
            | TemplateMark::Standing
            | TemplateMark::Full
            | TemplateMark::End => None,
        })
        .filter(|span| *span <= running)
        .collect();
    moments.sort_unstable();
    moments.dedup();
    moments
}

/// Splits a template into its marks, each with the text that follows the mark. The text before the first mark is returned with an
/// empty mark.
fn pieces(template: &str) -> impl Iterator<Item = (&str, &str)> {
    template.split("{{").enumerate().map(|(place, piece)| match piece.split_once("}}") {
        Some(both) if place > 0 => both,
        Some(_) | None => ("", piece),
    })
}

#[derive(Debug, Clone, Copy)]
enum TemplateMark {
    Base,
    Ago(TimeDelta, DocumentForm),
    Then(DocumentForm),
    Changed(TimeDelta, DocumentForm),
    After(TimeDelta),
    Until(TimeDelta),
    Standing,
    Full,
    End,
}

impl TemplateMark {
    fn read(mark: &str) -> Option<Self> {
        let mut words = mark.split(':');
        Some(match (words.next()?, words.next(), words.next()) {
            ("base", None, None) => Self::Base,
            ("ago", Some(span), Some(form)) => {
                Self::Ago(time_span(span)?, DocumentForm::read(form)?)
            }
            ("then", Some(form), None) => Self::Then(DocumentForm::read(form)?),
            ("changed", Some(span), Some(form)) => {
                Self::Changed(time_span(span)?, DocumentForm::read(form)?)
            }
            ("after", Some(span), None) => Self::After(time_span(span)?),
            ("until", Some(span), None) => Self::Until(time_span(span)?),
            ("standing", None, None) => Self::Standing,
            ("full", None, None) => Self::Full,
            ("end", None, None) => Self::End,
            _ => return None,
        })
    }
}

#[derive(Debug, Clone, Copy)]
enum DocumentForm {
    Rfc822,
    Rfc3339,
    Day,
}

impl DocumentForm {
    fn read(word: &str) -> Option<Self> {
        Some(match word {
            "rfc822" => Self::Rfc822,
            "rfc3339" => Self::Rfc3339,
            "day" => Self::Day,
            _ => return None,
        })
    }

    fn write(self, instant: DateTime<Utc>) -> String {
        let pattern = match self {
            Self::Rfc822 => "%a, %d %b %Y %H:%M:%S GMT",
            Self::Rfc3339 => "%Y-%m-%dT%H:%M:%SZ",
            Self::Day => "%A %-d %B",
        };
        instant.format(pattern).to_string()
    }
}

/// Parses a duration such as `1d4h30m`. The units are d, h, m, s.
fn time_span(text: &str) -> Option<TimeDelta> {
    text.split_inclusive(|c: char| c.is_ascii_alphabetic()).try_fold(
        TimeDelta::zero(),
        |sum, part| {
            let unit = part.chars().next_back()?;
            let count: i64 = part.strip_suffix(unit)?.parse().ok()?;
            let seconds = match unit {
                'd' => 86_400,
                'h' => 3_600,
                'm' => 60,
                's' => 1,
                _ => return None,
            };
            sum.checked_add(&TimeDelta::try_seconds(count.checked_mul(seconds)?)?)
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use chrono::TimeZone;

    const NEWS: &str = "{{changed:1d:rfc3339}} {{after:60s}}B{{then:rfc3339}} {{end}}\
                        {{after:30s}}A {{end}}{{standing}}old {{end}}{{until:60s}}soon {{end}}\
                        {{full}}long {{end}}.";

    fn expanded(template: &str, running: i64, edition: Edition) -> Expansion {
        let started = Utc.with_ymd_and_hms(2026, 3, 2, 10, 0, 0).unwrap();
        let now = started + TimeDelta::seconds(running);
        expand(template, TemplateContext { base: "http://h", started, now }, edition)
    }

    #[test]
    fn each_mark_becomes_what_the_table_says() {
        for (template, text) in [
            ("a{{base}}/b", "ahttp://h/b"),
            ("{{ago:2h15m:rfc822}}", "Mon, 02 Mar 2026 07:45:00 GMT"),
            ("{{ago:1d1s:rfc3339}}", "2026-03-01T09:59:59Z"),
            ("{{ago:0s:day}}", "Monday 2 March"),
            ("{\"a\":{\"b\":1}}", "{\"a\":{\"b\":1}}"),
            ("{{ago:2x:rfc822}}", "{{ago:2x:rfc822}}"),
            ("{{ago:9999999999999999d:day}}", "{{ago:9999999999999999d:day}}"),
            (
                "a{{after:0s}}b{{full}}c{{end}}d{{end}}e{{until:0s}}f{{standing}}g{{end}}h{{end}}",
                "abde",
            ),
        ] {
            assert_eq!(expanded(template, 0, Edition::Feed).text, text);
        }
    }

    #[test]
    fn blocks_come_and_go_with_the_running_time() {
        for (running, edition, text, changes) in [
            (0, Edition::Feed, "2026-03-01T10:00:00Z old soon .", 0),
            (29, Edition::Page, "2026-03-01T10:00:00Z old soon long .", 0),
            (30, Edition::Feed, "2026-03-02T10:00:30Z A old soon .", 1),
            (60, Edition::Feed, "2026-03-02T10:01:00Z B2026-03-02T10:01:00Z A old .", 2),
            (60, Edition::Since(1), "2026-03-02T10:01:00Z B2026-03-02T10:01:00Z .", 2),
            (60, Edition::Since(0), "2026-03-02T10:01:00Z B2026-03-02T10:01:00Z A .", 2),
        ] {
            let expansion = expanded(NEWS, running, edition);
            assert_eq!((expansion.text.as_str(), expansion.changes), (text, changes));
        }
    }
}
