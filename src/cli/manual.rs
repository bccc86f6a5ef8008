//! Sections of the manual page beyond the command line: keys, files, environment, exit statuses, examples.

use crate::ui::keys::commands::{COMMANDS, grouped};
use crate::ui::keys::key_bindings::Keymap;

const FILES: [(&str, &str); 5] = [
    (
        "~/.config/backissue/config.toml",
        "The configuration; backissue config shows its location, --print-default prints a complete one.",
    ),
    ("~/.config/backissue/accounts.toml", "Accounts on servers, with their passwords."),
    ("~/.config/backissue/themes/", "Your own themes."),
    ("~/.local/share/backissue/", "Subscriptions, entries, marks and the search index."),
    ("~/.local/share/backissue/backups/", "Daily backups, without texts."),
];

const ENVIRONMENT: [(&str, &str); 6] = [
    ("BACKISSUE_DATA_DIR", "The data folder, like --data-dir."),
    ("BACKISSUE_CONFIG", "The configuration file, like --config."),
    ("BACKISSUE_ACCOUNT_PASSWORD", "The password for account add."),
    ("NO_COLOR", "If set and not empty, no colours are used."),
    ("COLORTERM, TERM", "The number of colours that the terminal shows."),
    ("BROWSER", "The program that opens links, if [commands] open is not set."),
];

const EXIT_STATUS: [(&str, &str); 4] = [
    ("0", "Success."),
    (
        "1",
        "Finished, but some feeds failed, or something could not be saved or read; lint found errors or warnings; parse found no feed.",
    ),
    ("2", "Wrong usage, or nothing could be done."),
    (
        "3",
        "The store is in use by another backissue process, which cannot or must not run this command.",
    ),
];

const EXAMPLES: [(&str, &str); 6] = [
    ("backissue demo", "Tries the reader without a network."),
    ("backissue add https://site.example", "Finds the feed of a site and subscribes to it."),
    ("backissue import ~/.newsboat/urls", "Imports newsboat's feeds."),
    ("backissue poll --quiet", "Polls all feeds that are due; for cron."),
    ("backissue entries --unread --json", "Lists unread entries as JSON."),
    ("backissue plan orchard", "Shows when a feed is polled next, and why."),
];

/// Returns the sections as roff source.
pub(super) fn sections() -> String {
    let mut text =
        String::from(".SH KEYS\n? in the reader shows the keys that work where you are.\n");
    let keymap = Keymap::default();
    for (heading, places) in grouped() {
        text.push_str(".SS ");
        text.push_str(&escaped(heading));
        text.push('\n');
        for place in places {
            let Some(row) = COMMANDS.get(place) else { continue };
            let keys = keymap.keys_of(place).replace('\u{a0}', " ");
            let keys = if keys.is_empty() { format!(":{}", row.name) } else { keys };
            push_item(&mut text, &keys, &keymap.words(row.help));
        }
    }
    let tables: [(&str, &[(&str, &str)]); 4] = [
        ("FILES", &FILES),
        ("ENVIRONMENT", &ENVIRONMENT),
        ("EXIT STATUS", &EXIT_STATUS),
        ("EXAMPLES", &EXAMPLES),
    ];
    for (heading, rows) in tables {
        text.push_str(".SH ");
        text.push_str(heading);
        text.push('\n');
        for (term, says) in rows {
            push_item(&mut text, term, says);
        }
    }
    text
}

/// Appends a term and its description.
fn push_item(text: &mut String, term: &str, says: &str) {
    text.push_str(".TP\n\\fB");
    text.push_str(&escaped(term));
    text.push_str("\\fR\n");
    text.push_str(&escaped(says));
    text.push('\n');
}

/// Escapes text so that roff prints it literally.
fn escaped(text: &str) -> String {
    let text = text.replace('\\', "\\e").replace('-', "\\-");
    if text.starts_with(['.', '\'']) { format!("\\&{text}") } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn manual_text_starting_like_a_request_is_escaped() {
        for (text, expected) in
            [(".SH", "\\&.SH"), ("'x", "\\&'x"), ("a-b\\c", "a\\-b\\ec"), ("|", "|")]
        {
            assert_eq!(escaped(text), expected);
        }
    }
}
