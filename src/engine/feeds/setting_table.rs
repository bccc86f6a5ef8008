//! Table of the settings of a feed, used by the edit dialog, `backissue set`, and OPML.
//!
//! To add a setting, add a field to [`FeedSettings`] and a row to [`FEED_SETTINGS`], and add the name of the field to the list in
//! `engine/change/value.rs`, so that a failed write reverts the setting.
//!
//! The user's own interval rules are such as `Mon-Fri 9:00-18:00 45m Europe/Berlin` (SPEC B.2 rank 0.5).
//!
//! The interval is required; days, hours, and zone are optional. The parts may be in any order. The end hour is exclusive:
//! `9:00-18:00` covers the hours 9 to 17. Several rules are separated by `;`.

use std::collections::BTreeMap;

use backissue_core::feed::text::{NAME_MAX, one_line};
use backissue_core::feed::{DayOfWeek, IntervalRule, Zone, read_zone};
use backissue_core::history::Adaptor;
use backissue_core::schedule::Pace;
use backissue_core::words::interval_text;
use backissue_core::{InputFlaw, flaw};

use super::setting_row::{AUTO, Chosen, FeedSettingRow, FeedSettings, FormLine, SettingKind, row};
use crate::engine::entries::ahead_work::Ahead;
use crate::engine::settings::{HistoryMode, Settings};
use crate::engine::wording::{Lasting, Span, interval_minutes};

/// All settings of a feed, in the order in which `backissue set` prints them.
pub static FEED_SETTINGS: &[FeedSettingRow] = &[
    row("title", TITLE)
        .line(1, "title", |_, publisher| publisher.to_owned())
        .flag("title", "S", "Show the feed under this title; empty: the publisher's own")
        .not_in_opml(),
    row("tags", SettingKind::Tags).line(2, "tags", |_, _| "none; several with commas".into()).flag(
        "tag",
        "T",
        "Replace its tags with this one; can be repeated; an empty one removes all",
    ).repeated().not_in_opml(),
    row("pace", PACE)
        .line(3, "how often", |settings, _| settings.poll.pace.word().into())
        .flag("pace", "PACE", "Twice as often as recommended, as recommended, or half as often")
        .words(&["more", "normal", "less"]),
    row("min", SettingKind::Interval(|feed_settings| &mut feed_settings.min_minutes))
        .line(4, "shortest interval", |settings, _| configured(settings.poll.min_minutes))
        .flag("min", "D", "Never more often than every D, like 30m or 2h; auto: as configured"),
    row("max", SettingKind::Interval(|feed_settings| &mut feed_settings.max_minutes))
        .line(5, "longest interval", |settings, _| configured(settings.poll.max_minutes))
        .flag("max", "D", "Never less often than every D, like 6h or 1d; auto: as configured"),
    row("every", SettingKind::Interval(|feed_settings| &mut feed_settings.fixed_minutes))
        .line(6, "fixed interval", |_, _| "as recommended".into())
        .flag("every", "D", "Always every D; auto: as recommended"),
    row("allow-insecure", SettingKind::Switch(|feed_settings| &mut feed_settings.allow_insecure)),
    row("ignore-expired", SettingKind::Switch(|feed_settings| &mut feed_settings.ignore_expired)),
    row("history", HISTORY)
        .line(11, "history", |settings, _| settings.history.mode.word().into())
        .flag(
            "history",
            "HISTORY",
            "Fetch older entries from archives: automatically, after asking, or never",
        )
        .words(&["auto", "ask", "off"]),
    row("learn", LEARN)
        .line(7, "learn when it posts", |settings, _| {
            if settings.poll.learn { "yes" } else { "no" }.into()
        })
        .flag(
            "learn",
            "LEARN",
            "Learn when it posts, if its publisher does not say how often to poll; auto: as configured",
        )
        .words(&["on", "off", "auto"]),
    row("rules", RULES)
        .line(8, "own rules", |_, _| "none; like Mon-Fri 9:00-18:00 45m; Sat 2h".into())
        .flag(
            "rule",
            "R",
            "Replace your own rules with this one, like 'Mon-Fri 9:00-18:00 45m'; can be repeated; an empty one \
             removes all",
        ).repeated(),
    row("archives", ARCHIVES)
        .line(12, "older entries from", |_, _| "none; or WordPress pages, Internet Archive".into())
        .flag(
            "archives",
            "ARCHIVES",
            "Look for older entries that the publisher does not offer: in numbered pages, or in copies at the \
             Internet Archive; off by default, because no standard covers it",
        )
        .words(&["none", "wordpress", "internet-archive"]),
    row(
        "ignore-cache-lifetime",
        SettingKind::Switch(|feed_settings| &mut feed_settings.ignore_cache_lifetime),
    )
    .line(9, "ignore cache lifetime", no_hint)
    .flag(
        "ignore-cache-lifetime",
        "IGNORE_CACHE_LIFETIME",
        "Poll even while the server says that its last response is still fresh",
    ),
    row("ignore-skips", SettingKind::Switch(|feed_settings| &mut feed_settings.ignore_skips))
        .line(10, "ignore skip hours and days", no_hint)
        .flag(
            "ignore-skips",
            "IGNORE_SKIPS",
            "Poll even in the hours and on the days the publisher asks to skip",
        ),
    row("full-text", FULL_TEXT)
        .line(13, "always the full text", no_hint)
        .flag(
            "full-text",
            "FULL_TEXT",
            "Always show the full text of the pages its entries link to: fetched when you open them, or ahead",
        )
        .words(&["on", "ahead", "off"]),
    row("ahead", AHEAD)
        .line(14, "fetch before reading", no_hint)
        .flag(
            "ahead",
            "AHEAD",
            "Fetch the pictures of its unread entries, their attached files, or all with the pages they link to, \
             after each poll and before you open them",
        )
        .words(&["pictures", "files", "all", "off"]),
    row("quiet", SettingKind::Switch(|feed_settings| &mut feed_settings.quiet))
        .line(15, "keep out of All unread", no_hint)
        .flag("quiet", "QUIET", "Keep its entries out of the list of all unread entries"),
    row("unread-for", UNREAD_FOR)
        .line(16, "unread for", |settings, _| format!("{}, as configured", settings.history.unread_for.text()))
        .flag(
            "unread-for",
            "D",
            "Count entries as read D after they became unread here, like 7d; always: never; auto: as configured",
        ),
    row("drip", SettingKind::Interval(|feed_settings| &mut feed_settings.drip_minutes))
        .line(17, "an old entry every", |_, _| "never; or 1d: one becomes unread, oldest first".into())
        .flag("drip", "D", "Make one old entry unread every D, the oldest first, like 1d; auto: none"),
    row("poll-here", SettingKind::Switch(|feed_settings| &mut feed_settings.polled_here)).flag(
        "poll-here",
        "POLL_HERE",
        "Poll a feed of an account here, too, not only on its server",
    ),
];

const TITLE: SettingKind = SettingKind::Text {
    unset: "the publisher's",
    get: |chosen| chosen.own_title.clone().unwrap_or_default(),
    set: |chosen, text, _| {
        let title = one_line(text, NAME_MAX);
        chosen.own_title = (!title.is_empty()).then_some(title);
        Ok(())
    },
};

const RULES: SettingKind = SettingKind::Text {
    unset: "none",
    get: |chosen| rules_text(&chosen.feed_settings.rules),
    set: |chosen, text, zone| {
        chosen.feed_settings.rules = read_rules(text, zone)?;
        Ok(())
    },
};

const UNREAD_FOR: SettingKind = SettingKind::Text {
    unset: AUTO,
    get: |chosen| {
        let minutes = chosen.feed_settings.unread_minutes;
        minutes.map_or_else(String::new, |minutes| Lasting((minutes > 0).then_some(minutes)).text())
    },
    set: |chosen, text, _| {
        let given = (!text.is_empty() && text != AUTO).then(|| text.to_owned());
        let limit = given.map(Lasting::try_from).transpose()?;
        chosen.feed_settings.unread_minutes = limit.map(|limit| limit.0.unwrap_or_default());
        Ok(())
    },
};

const PACE: SettingKind = SettingKind::Words {
    words: &[("", "as configured"), ("more", "more"), ("normal", "normal"), ("less", "less")],
    get: |feed_settings| feed_settings.pace.map_or("", Pace::word),
    set: |feed_settings, word| {
        feed_settings.pace = Pace::ALL.into_iter().find(|pace| pace.word() == word);
    },
};

const HISTORY: SettingKind = SettingKind::Words {
    words: &[("", "as configured"), ("auto", "auto"), ("ask", "ask"), ("off", "off")],
    get: |feed_settings| feed_settings.history.map_or("", HistoryMode::word),
    set: |feed_settings, word| {
        feed_settings.history = HistoryMode::ALL.into_iter().find(|mode| mode.word() == word);
    },
};

const LEARN: SettingKind = SettingKind::Words {
    words: &[("", "as configured"), ("on", "yes"), ("off", "no")],
    get: |feed_settings| feed_settings.learn.map_or("", |learn| if learn { "on" } else { "off" }),
    set: |feed_settings, word| {
        feed_settings.learn = ["on", "off"].contains(&word).then(|| word == "on");
    },
};

const FULL_TEXT: SettingKind = SettingKind::Words {
    words: &[("", "off"), ("on", "on"), ("ahead", "on, fetched ahead")],
    get: |feed_settings| match (feed_settings.full_text, feed_settings.text_ahead) {
        (true, true) => "ahead",
        (true, false) => "on",
        (false, _) => "",
    },
    set: |feed_settings, word| {
        feed_settings.full_text = ["on", "ahead"].contains(&word);
        feed_settings.text_ahead = word == "ahead";
    },
};

const AHEAD: SettingKind = SettingKind::Words {
    words: &[
        ("", "off"),
        ("pictures", "pictures"),
        ("files", "attached files"),
        ("all", "pages, pictures and files"),
    ],
    get: |feed_settings| feed_settings.ahead.map_or("", Ahead::word),
    set: |feed_settings, word| {
        feed_settings.ahead = Ahead::ALL.into_iter().find(|ahead| ahead.word() == word);
    },
};

const ARCHIVES: SettingKind = SettingKind::Words {
    words: &[
        ("", "none"),
        ("wordpress", "WordPress pages"),
        ("internet-archive", "Internet Archive"),
    ],
    get: |feed_settings| feed_settings.archives.map_or("", Adaptor::word),
    set: |feed_settings, word| {
        feed_settings.archives = Adaptor::ALL.into_iter().find(|adaptor| adaptor.word() == word);
    },
};

fn no_hint(_: &Settings, _: &str) -> String {
    String::new()
}

fn configured(minutes: u32) -> String {
    format!("{}, as configured", interval_text(minutes))
}

/// Returns the settings that the edit dialog shows, with their lines, from top to bottom.
pub fn form_lines() -> Vec<(&'static FeedSettingRow, FormLine)> {
    let mut lines: Vec<_> = FEED_SETTINGS.iter().filter_map(|row| Some((row, row.line?))).collect();
    lines.sort_by_key(|(_, line)| line.place);
    lines
}

impl FeedSettings {
    /// Parses the settings from the attributes of an OPML outline. Ignores values that cannot be parsed.
    pub fn from_opml(settings: &BTreeMap<String, String>) -> Self {
        let mut chosen = Chosen::default();
        for row in FEED_SETTINGS.iter().filter(|row| row.in_opml) {
            if let Some(value) = settings.get(row.name) {
                row.set_opml_value(&mut chosen, value);
            }
        }
        chosen.feed_settings
    }

    /// Returns the settings as attributes for an OPML outline.
    pub fn to_opml(&self) -> BTreeMap<String, String> {
        let chosen = Chosen { feed_settings: self.clone(), ..Chosen::default() };
        let rows = FEED_SETTINGS.iter().filter(|row| row.in_opml);
        let pairs = rows.map(|row| (row.name.to_owned(), row.opml_value(&chosen)));
        pairs.filter(|(_, value)| !value.is_empty()).collect()
    }
}

/// Maximum number of interval rules of a feed.
pub const RULES_MAX: usize = 20;

/// Parses interval rules separated by `;`. A rule that names no time zone gets `zone`. The error is a sentence.
pub fn read_rules(text: &str, zone: &Zone) -> Result<Vec<IntervalRule>, InputFlaw> {
    let parts = text.split(';').map(str::trim).filter(|part| !part.is_empty());
    let rules: Vec<IntervalRule> =
        parts.map(|part| read_rule(part, zone)).collect::<Result<_, _>>()?;
    if rules.len() > RULES_MAX {
        return Err(flaw!("{} rules are too many: the maximum is {RULES_MAX}", rules.len()));
    }
    Ok(rules)
}

/// Parses one interval rule. A rule that names no time zone gets `zone`.
pub fn read_rule(text: &str, zone: &Zone) -> Result<IntervalRule, InputFlaw> {
    let mut minutes = None;
    let (mut days, mut hours, mut stated) = (None, None, None);
    for word in text.split_whitespace() {
        let twice = || format!("'{word}' in the rule '{text}' is a duplicate");
        if word.parse::<Span>().is_ok() {
            put(&mut minutes, interval_minutes(word)?).ok_or_else(twice)?;
        } else if let Some(found) = read_days(word) {
            put(&mut days, found).ok_or_else(twice)?;
        } else if let Some(found) = read_hours(word) {
            put(&mut hours, found).ok_or_else(twice)?;
        } else if let Some(found) = read_zone(word) {
            put(&mut stated, found).ok_or_else(twice)?;
        } else {
            return Err(flaw!(
                "'{word}' is not part of a rule: write it like 'Mon-Fri 9:00-18:00 45m'"
            ));
        }
    }
    let minutes =
        minutes.ok_or_else(|| format!("the rule '{text}' has no interval, like 45m or 2h"))?;
    let (start_day, end_day) = days.filter(|days| *days != (1, 7)).unzip();
    let (start_hour, end_hour) = hours.filter(|hours| *hours != (0, 23)).unzip();
    let zone = stated.unwrap_or_else(|| zone.clone());
    Ok(IntervalRule { minutes, start_hour, end_hour, start_day, end_day, zone })
}

/// Formats an interval rule in the syntax that [`read_rule`] parses.
pub fn rule_text(rule: &IntervalRule) -> String {
    let days = match (rule.start_day.unwrap_or(1), rule.end_day.unwrap_or(7)) {
        (1, 7) => String::new(),
        (first, last) if first == last => format!("{} ", day_word(first)),
        (first, last) => format!("{}-{} ", day_word(first), day_word(last)),
    };
    let hours = match (rule.start_hour.unwrap_or(0), rule.end_hour.unwrap_or(23)) {
        (0, 23) => String::new(),
        (first, last) => format!("{first}:00-{}:00 ", last.saturating_add(1)),
    };
    let zone = match &rule.zone {
        Zone::Utc => "UTC".to_owned(),
        Zone::Offset(minutes) => {
            let (sign, minutes) = (if *minutes < 0 { '-' } else { '+' }, minutes.unsigned_abs());
            format!("{sign}{:02}:{:02}", minutes / 60, minutes % 60)
        }
        Zone::Named(name) => name.clone(),
    };
    format!("{days}{hours}{} {zone}", interval_text(rule.minutes))
}

/// Formats interval rules in the syntax that [`read_rules`] parses.
pub fn rules_text(rules: &[IntervalRule]) -> String {
    rules.iter().map(rule_text).collect::<Vec<_>>().join("; ")
}

/// Sets `place` to a value. Returns `None` if `place` already has a value, because a rule may state each part only once.
fn put<T>(place: &mut Option<T>, value: T) -> Option<()> {
    place.is_none().then(|| *place = Some(value))
}

/// Parses days such as `Mon`, `mon-fri`, and `Saturday-Monday`. Returns the numbers of the first and last day; 1 is Monday.
fn read_days(word: &str) -> Option<(u8, u8)> {
    let (first, last) = word.split_once('-').unwrap_or((word, word));
    Some((read_day(first)?, read_day(last)?))
}

fn read_day(word: &str) -> Option<u8> {
    let word = word.to_ascii_lowercase();
    let is_meant =
        |day: &DayOfWeek| word.len() >= 3 && day.name().to_ascii_lowercase().starts_with(&word);
    DayOfWeek::ALL.iter().position(is_meant).and_then(|place| u8::try_from(place + 1).ok())
}

/// Parses hours such as `9:00-18:00` or `9-18` (the hours 9 to 17), or `22-2` (across midnight). Returns the first and the last
/// hour.
fn read_hours(word: &str) -> Option<(u8, u8)> {
    let (from, to) = word.split_once('-')?;
    let (first, end) = (read_hour(from)?, read_hour(to)?);
    // Equal start and end hours are an error, because they could mean a whole day or no time at all.
    (first < 24 && first != end).then_some((first, if end == 0 { 23 } else { end - 1 }))
}

fn read_hour(word: &str) -> Option<u8> {
    let hour = word.strip_suffix(":00").unwrap_or(word);
    let is_number = (1..=2).contains(&hour.len()) && hour.bytes().all(|byte| byte.is_ascii_digit());
    hour.parse().ok().filter(|hour| is_number && *hour <= 24)
}

fn day_word(day: u8) -> &'static str {
    let name = DayOfWeek::ALL.get(usize::from(day.max(1) - 1)).map_or("Sunday", |day| day.name());
    name.get(..3).unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use crate::engine::feeds::setting_row::*;
    use crate::engine::feeds::setting_table::*;
    use backissue_core::feed::Zone;
    use backissue_core::feed::opml::subscription_list::is_setting_name;

    /// Returns a valid text for a setting that differs from its default.
    fn sample(row: &FeedSettingRow) -> &'static str {
        match row.kind {
            SettingKind::Text { .. } if row.name == "rules" => "Sat 2h UTC",
            SettingKind::Text { .. } if row.name == "unread-for" => "7d",
            SettingKind::Text { .. } => "a name",
            SettingKind::Tags => "fruit, garden/herbs",
            SettingKind::Interval(_) => "90m",
            SettingKind::Switch(_) | SettingKind::Words { .. } => row.choices()[1].0,
        }
    }

    fn all_chosen() -> Chosen {
        let mut chosen = Chosen::default();
        for row in FEED_SETTINGS {
            row.set(&mut chosen, sample(row), &Zone::Utc).unwrap();
        }
        chosen
    }

    #[test]
    fn every_setting_has_its_own_name_line_and_place() {
        let mut seen = BTreeSet::new();
        for row in FEED_SETTINGS {
            assert!(is_setting_name(row.name), "{}", row.name);
            assert!(seen.insert(row.name.to_owned()), "{}", row.name);
            if let Some(line) = row.line {
                assert!(seen.insert(line.place.to_string()), "{}", row.name);
                // Maximum width of a label in the dialog, in cells.
                assert!(line.label.len() <= 27, "{}", line.label);
            }
        }
        let labels: Vec<_> = form_lines().iter().map(|(_, line)| line.label).collect();
        assert_eq!((labels[0], labels[labels.len() - 1]), ("title", "an old entry every"));
    }

    #[test]
    fn a_setting_is_read_as_it_is_written_and_touches_no_other() {
        for row in FEED_SETTINGS {
            let mut chosen = Chosen::default();
            assert_eq!(row.text(&chosen), "", "{}", row.name);
            row.set(&mut chosen, sample(row), &Zone::Utc).unwrap();
            assert_eq!(row.text(&chosen), sample(row));
            let others = FEED_SETTINGS.iter().filter(|other| other.name != row.name);
            assert!(others.into_iter().all(|other| other.text(&chosen).is_empty()), "{}", row.name);
            row.set(&mut chosen, "", &Zone::Utc).unwrap();
            assert_eq!(chosen, Chosen::default(), "{}", row.name);
        }
    }

    #[test]
    fn every_word_of_a_flag_and_of_the_dialog_is_a_value() {
        for row in FEED_SETTINGS {
            let values = row.flag.map_or(&[][..], |flag| flag.words);
            let offered = row.choices().iter().map(|(value, _)| *value);
            for value in offered.clone().filter(|value| !value.is_empty()) {
                assert!(values.is_empty() || values.contains(&value), "{}: {value}", row.name);
            }
            for value in values {
                let mut chosen = all_chosen();
                row.set_flag(&mut chosen, &[(*value).to_owned()], &Zone::Utc).unwrap();
                let text = row.text(&chosen);
                assert!(text == *value || text.is_empty(), "{}: {value}", row.name);
                assert!(offered.clone().any(|offered| offered == text), "{}: {value}", row.name);
            }
        }
    }

    #[test]
    fn opml_carries_settings_and_skips_unreadable_ones() {
        let feed_settings = all_chosen().feed_settings;
        let travelling = feed_settings.to_opml();
        assert_eq!(travelling.len(), FEED_SETTINGS.len() - 2);
        assert_eq!(travelling["min"], "90");
        assert_eq!(FeedSettings::from_opml(&travelling), feed_settings);
        assert!(FeedSettings::default().to_opml().is_empty());
        let wrong = FEED_SETTINGS.iter().map(|row| (row.name.to_owned(), "2h30".to_owned()));
        let wrong: BTreeMap<_, _> = wrong.collect();
        assert_eq!(FeedSettings::from_opml(&wrong), FeedSettings::default());
        let long = [("min".to_owned(), "600000".to_owned()), ("max".to_owned(), "0".to_owned())];
        assert_eq!(FeedSettings::from_opml(&long.into()), FeedSettings::default());
    }

    #[test]
    fn flags_accept_intervals_lists_and_reset_words() {
        let row = |name| FEED_SETTINGS.iter().find(|row| row.name == name).unwrap();
        let mut chosen = all_chosen();
        let mut set = |name, given: &[&str]| {
            let given: Vec<String> = given.iter().map(ToString::to_string).collect();
            row(name).set_flag(&mut chosen, &given, &Zone::Utc).map(|()| row(name).told(&chosen))
        };
        assert_eq!(set("min", &["2h"]), Ok("2h".into()));
        assert!(set("min", &["soon"]).unwrap_err().contains("not a duration"));
        assert_eq!(set("min", &["auto"]), Ok("auto".into()));
        assert_eq!(set("tags", &["a,b", " c "]), Ok("\"a,b\", c".into()));
        assert_eq!(set("tags", &[""]), Ok("none".into()));
        assert_eq!(set("rules", &["Mon 1h", "Tue 2h"]), Ok("Mon 1h UTC; Tue 2h UTC".into()));
        assert_eq!(set("rules", &[""]), Ok("none".into()));
        assert_eq!(set("title", &[" "]), Ok("the publisher's".into()));
        assert_eq!(set("learn", &["auto"]), Ok("as configured".into()));
        assert_eq!(set("full-text", &["off"]), Ok("off".into()));
        assert_eq!(set("full-text", &["ahead"]), Ok("ahead".into()));
        assert_eq!(set("ahead", &["all"]), Ok("all".into()));
        assert_eq!(set("ahead", &["off"]), Ok("off".into()));
        assert_eq!(set("unread-for", &["always"]), Ok("always".into()));
        assert_eq!(set("unread-for", &["auto"]), Ok("auto".into()));
        assert!(set("unread-for", &["soon"]).unwrap_err().contains("or \"always\""));
    }

    #[test]
    fn tag_with_a_comma_is_kept_in_quotes() {
        let mut chosen = Chosen { tags: vec!["a,b".into()], ..Chosen::default() };
        let tags = FEED_SETTINGS.iter().find(|row| row.name == "tags").unwrap();
        let shown = tags.told(&chosen);
        tags.set(&mut chosen, &format!("{shown}, c"), &Zone::Utc).unwrap();
        assert_eq!(chosen.tags, ["a,b", "c"]);
        tags.set(&mut chosen, "a,b, c", &Zone::Utc).unwrap();
        assert_eq!(chosen.tags, ["a", "b", "c"]);
    }
}

#[cfg(test)]
mod interval_rules_tests {
    use crate::engine::feeds::setting_table::*;

    fn rule(minutes: u32, days: Option<(u8, u8)>, hours: Option<(u8, u8)>) -> IntervalRule {
        let (start_day, end_day) = days.unzip();
        let (start_hour, end_hour) = hours.unzip();
        IntervalRule { minutes, start_hour, end_hour, start_day, end_day, zone: Zone::Utc }
    }

    #[test]
    fn interval_rules_parse_and_print_as_typed() {
        for (text, expected, written) in [
            (
                "Mon-Fri 9:00-18:00 45m",
                rule(45, Some((1, 5)), Some((9, 17))),
                "Mon-Fri 9:00-18:00 45m UTC",
            ),
            ("2h sat 22-2", rule(120, Some((6, 6)), Some((22, 1))), "Sat 22:00-2:00 2h UTC"),
            ("saturday-mon 1d", rule(1440, Some((6, 1)), None), "Sat-Mon 1d UTC"),
            ("0:00-24:00 mon-sun 30m", rule(30, None, None), "30m UTC"),
            ("20-24 30m", rule(30, None, Some((20, 23))), "20:00-24:00 30m UTC"),
            ("22-0 30m", rule(30, None, Some((22, 23))), "22:00-24:00 30m UTC"),
        ] {
            let read = read_rule(text, &Zone::Utc).unwrap();
            assert_eq!(read, expected, "{text}");
            assert_eq!(rule_text(&read), written);
            assert_eq!(read_rule(written, &Zone::Offset(60)).unwrap(), expected);
        }
        let two = read_rules("Mon 1h; Tue 2h +05:30;", &Zone::Named("Europe/Berlin".into()));
        let two = two.unwrap();
        assert_eq!(two[0].zone, Zone::Named("Europe/Berlin".into()));
        assert_eq!(two[1].zone, Zone::Offset(330));
        assert_eq!(read_rules(&rules_text(&two), &Zone::Utc).unwrap(), two);
        assert!(read_rules(" ; ", &Zone::Utc).unwrap().is_empty());
    }

    #[test]
    fn invalid_rule_is_refused_in_words() {
        for (text, part) in [
            ("Mon-Fri", "has no interval"),
            ("9-18 45m 2h", "'2h' in the rule"),
            ("9:30-18:00 45m", "'9:30-18:00' is not part"),
            ("9-9 45m", "'9-9' is not part"),
            ("24-3 45m", "is not part"),
            ("Nowhere/Land 45m", "is not part"),
            ("+9-+12 45m", "is not part"),
        ] {
            let why = read_rule(text, &Zone::Utc).unwrap_err();
            assert!(why.contains(part), "{text}: {why}");
        }
        assert!(read_rules(&"1h;".repeat(21), &Zone::Utc).unwrap_err().contains("too many"));
    }
}
