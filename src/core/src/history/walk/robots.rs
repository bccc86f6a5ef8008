//! What a site's robots.txt permits (RFC 9309). It is asked before pages that no document links to.

use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};
use url::Url;

use crate::history::address::with_normal_escapes;

/// The name under which robots.txt addresses this program.
const TOKEN: &str = "backissue";
/// How long an answer counts (RFC 9309 section 2.4).
const KEPT: TimeDelta = TimeDelta::hours(24);
/// Number of bytes that are read; more than the 500 KiB that the RFC demands.
const BYTES_MAX: usize = 512 * 1024;
/// Maximum number of rules kept for one feed. Only rules that its address may match are kept.
const RULES_MAX: usize = 64;

/// The rules of a robots.txt for the address of one feed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Robots {
    /// Time at which the rules were received.
    at: DateTime<Utc>,
    /// Patterns, each with `true` if it permits what it matches.
    rules: Vec<(bool, String)>,
}

impl Robots {
    /// Reads the text of a robots.txt. Rules that cannot match an address that begins as `feed` are left out. A text with too many
    /// other rules permits nothing.
    pub(super) fn read(text: &str, feed: &str, at: DateTime<Utc>) -> Self {
        let text = text.get(..text.floor_char_boundary(BYTES_MAX)).unwrap_or_default();
        let [mut own, mut others] = [None, None].map(|none: Option<Vec<(bool, String)>>| none);
        // The groups that the current rules belong to: those of this program, those of all programs.
        let (mut groups, mut in_names) = ((false, false), false);
        for line in text.trim_start_matches('\u{feff}').lines() {
            let line = line.split('#').next().unwrap_or_default();
            let Some((name, value)) = line.split_once(':') else { continue };
            let (name, value) = (name.trim().to_ascii_lowercase(), value.trim());
            if name == "user-agent" {
                let before = if in_names { groups } else { (false, false) };
                groups = (before.0 || names_program(value), before.1 || value == "*");
                in_names = true;
                if groups.0 {
                    own.get_or_insert_default();
                }
            } else if matches!(name.as_str(), "allow" | "disallow") {
                in_names = false;
                // An empty value matches nothing.
                let rule = (name == "allow", with_normal_escapes(value));
                let lists = [(groups.0, &mut own), (groups.1, &mut others)];
                for (_, list) in lists.into_iter().filter(|(is_in, _)| *is_in && !value.is_empty())
                {
                    list.get_or_insert_default().push(rule.clone());
                }
            }
        }
        let mut rules = own.or(others).unwrap_or_default();
        let path = path_of(feed);
        rules.retain(|(_, pattern)| {
            let start = pattern.split(['*', '$']).next().unwrap_or_default();
            path.starts_with(start) || start.starts_with(&path)
        });
        if rules.len() > RULES_MAX {
            rules = vec![(false, "/".to_owned())];
        }
        Self { at, rules }
    }

    /// Checks whether an address may be requested; `None` if the rules are too old to say.
    pub(super) fn permit(&self, address: &str, now: DateTime<Utc>) -> Option<bool> {
        let path = path_of(address);
        let matching = self.rules.iter().filter(|(_, pattern)| matches(pattern, &path));
        // The longest pattern counts; of two, the one that permits.
        let decisive = matching.max_by_key(|(permits, pattern)| (pattern.len(), *permits));
        let is_fresh = (self.at..self.at + KEPT).contains(&now);
        is_fresh.then(|| decisive.is_none_or(|(permits, _)| *permits))
    }
}

/// Checks whether a line names this program. Versions after the name do not matter.
fn names_program(value: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphabetic() || c == '-' || c == '_';
    let end = value.find(|c| !is_part(c)).unwrap_or(value.len());
    value.get(..end).is_some_and(|name| name.eq_ignore_ascii_case(TOKEN))
}

/// Returns the address of the robots.txt of a site.
pub(super) fn robots_address(address: &str) -> Option<String> {
    Url::parse(address).ok()?.join("/robots.txt").ok().map(Into::into)
}

/// Returns the path and the query of an address.
fn path_of(address: &str) -> String {
    let Ok(url) = Url::parse(address) else { return String::new() };
    let query = url.query().map(|query| format!("?{query}")).unwrap_or_default();
    with_normal_escapes(&format!("{}{query}", url.path()))
}

/// Checks whether a pattern matches the beginning of a path: `*` is any text, and `$` at the end of the pattern the end of the path.
fn matches(pattern: &str, path: &str) -> bool {
    let (pattern, is_whole) = pattern.strip_suffix('$').map_or((pattern, false), |it| (it, true));
    let last = pattern.split('*').count();
    let mut rest = path;
    for (place, part) in (1..).zip(pattern.split('*')) {
        let after = match (place == 1, is_whole && place == last) {
            (true, true) => (rest == part).then_some(""),
            (true, false) => rest.strip_prefix(part),
            (false, true) => rest.ends_with(part).then_some(""),
            (false, false) => rest.split_once(part).map(|(_, after)| after),
        };
        let Some(after) = after else { return false };
        rest = after;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    const FEED: &str = "https://a.example/feed/?x=1";

    fn permits(text: &str, address: &str) -> bool {
        let at = DateTime::UNIX_EPOCH;
        Robots::read(text, FEED, at).permit(address, at).unwrap()
    }

    #[test]
    fn longest_rule_of_the_own_group_decides() {
        let page = "https://a.example/feed/?x=1&paged=2";
        for (text, expected) in [
            ("", true),
            ("<html>no such file</html>", true),
            ("User-agent: *\nDisallow: /", false),
            ("User-agent: *\nDisallow:", true),
            ("Disallow: /", true),
            ("User-agent: *\nDisallow: /\nUser-agent: Backissue/1.0\nDisallow: /private", true),
            ("User-agent: other\nUser-agent: backissue\nDisallow: /feed", false),
            ("User-agent: backissues\nDisallow: /", true),
            ("\u{feff}user-agent : * # all\r\ndisallow : /feed # no\r\n", false),
            ("User-agent: *\nDisallow: /\nAllow: /feed", true),
            ("User-agent: *\nDisallow: /feed/\nAllow: /feed/", true),
            ("User-agent: *\nDisallow: /*paged=", false),
            ("User-agent: *\nDisallow: /*paged=$", true),
            ("User-agent: *\nDisallow: /*paged=2$", false),
            ("User-agent: *\nDisallow: /feed/$", true),
            ("User-agent: *\nDisallow: /%66eed", false),
            (
                "User-agent: *\nSitemap: /x\nDisallow: /\n\nUser-agent: backissue\nCrawl-delay: 5",
                true,
            ),
            ("User-agent: backissue\nDisallow: /a\nUser-agent: backissue\nDisallow: /feed", false),
        ] {
            assert_eq!(permits(text, page), expected, "{text}");
        }
    }

    #[test]
    fn answer_counts_for_a_day_and_too_many_rules_permit_nothing() {
        let at = DateTime::UNIX_EPOCH;
        let robots = Robots::read("", FEED, at);
        assert_eq!(robots.permit(FEED, at + TimeDelta::hours(23)), Some(true));
        assert_eq!(robots.permit(FEED, at + KEPT), None);
        let many = |path: &str| {
            let rules = (0..100).map(|number| format!("Disallow: /{path}/{number}\n"));
            permits(&format!("User-agent: *\n{}", rules.collect::<String>()), FEED)
        };
        assert!(many("other"), "no rule can match");
        assert!(!many("*"));
        assert_eq!(robots_address(FEED).as_deref(), Some("https://a.example/robots.txt"));
    }
}
