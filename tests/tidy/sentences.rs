//! Rules about the sentences on the screen: they name commands, not the keys that are bound to them by default.

use super::lexer::texts_of;

/// Keys that cannot be bound to anything else, in input lines, forms, questions and hints, each with the word after it.
const FIXED: [&str; 19] = [
    "Enter completes",
    "Enter continues",
    "Enter edits",
    "Enter logs",
    "Enter opens",
    "Enter runs",
    "Enter saves",
    "Enter sets",
    "Enter yes",
    "Esc cancels",
    "Esc closes",
    "Esc no",
    "Esc starts",
    "Space marks",
    "Tab completes",
    "k keeps",
    "u unsubscribes",
    "y before",
    "y yes",
];
/// Words after a key that do not end with an s.
const AFTER_KEY: [&str; 9] =
    ["undo", "why", "next", "previous", "browser", "yes", "no", "before", "and"];
const NAMED_KEYS: [&str; 6] = ["Enter", "Esc", "Space", "Tab", "Home", "End"];

/// Returns the quoted texts in which a key follows a punctuation mark and does something, as in `nothing is open · q quits`.
fn literal_keys(code: &str) -> Vec<String> {
    let named = |text: &&str| {
        let text = text.trim_matches('"').replace(" or ", ": ").replace(" then ", ": ");
        let text = text.replace(" press ", ": ").replace(" and ", ": ");
        let mut parts = text.split([':', ';', ',', '.', '·', '─', '(', '?']);
        parts.any(|part| is_key(part.trim_start()))
    };
    texts_of(code).into_iter().filter(named).map(str::to_owned).collect()
}

fn is_key(part: &str) -> bool {
    let Some((key, rest)) = part.split_once(' ') else { return false };
    let next = rest.split(|char: char| !char.is_alphabetic()).next().unwrap_or_default();
    let mut chars = key.chars();
    let is_single = chars.next().is_some_and(|char| !"0123456789{}%…←→↑↓-=".contains(char));
    let is_key = (is_single && chars.next().is_none()) || NAMED_KEYS.contains(&key);
    let acts = AFTER_KEY.contains(&next) || (next.len() > 3 && next.ends_with('s'));
    is_key && acts && !FIXED.contains(&format!("{key} {next}").as_str())
}

#[test]
fn sentences_name_commands_and_not_their_default_keys() {
    let mut screen = super::files("src/ui");
    screen.extend(super::files("src/view"));
    screen.extend(super::files("src/engine"));
    screen.retain(|path, _| !path.ends_with("tests.rs"));
    super::none(&super::broken(&screen, |_, text| {
        literal_keys(text.split("#[cfg(test)]").next().unwrap_or_default())
    }));
    for planted in [
        "say(\"no filters yet: m on an entry adds one; q quits\")",
        "say(\"select a feed first: e edits one feed\")",
        "say(\"{failed} failed: ! shows which\")",
        "say(\"press Enter or H retries now\")",
        "\"Space scrolls, then opens the next entry\"",
    ] {
        assert_eq!(literal_keys(planted).len(), 1, "{planted}");
    }
    for fine in ["\"Edit ─ Enter saves, Esc cancels\"", "\"a feed: it fails\"", "// : q quits"] {
        assert_eq!(literal_keys(fine), [""; 0], "{fine}");
    }
}
