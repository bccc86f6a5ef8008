//! The commands in groups by purpose, in the order in which the help shows them.

use super::commands::{COMMANDS, CommandRow};

/// The headings of the help, each with the names of the commands under it.
const GROUPS: [(&str, &[&str]); 9] = [
    (
        "Moving",
        &[
            "down",
            "up",
            "right",
            "left",
            "first",
            "last",
            "half-page-down",
            "half-page-up",
            "page-down",
            "page-up",
            "open",
            "back",
            "close",
            "goto",
            "jump",
        ],
    ),
    (
        "Reading",
        &[
            "read-on",
            "next-unread",
            "previous-unread",
            "next-entry",
            "previous-entry",
            "link",
            "link-hints",
            "open-in-browser",
            "open-copies",
            "open-comments",
            "full-text",
            "changes",
            "full-text-always",
            "pictures",
            "download",
            "downloads",
            "enclosure",
            "pipe",
            "save",
            "share",
            "copy-link",
            "scroll-right",
            "scroll-left",
            "from-beginning",
        ],
    ),
    (
        "Marking",
        &[
            "mark",
            "mark-range",
            "toggle-read",
            "mark-all-read",
            "mark-above-read",
            "mark-below-read",
            "mark-day-read",
            "mark-week-read",
            "star",
            "label",
            "read-later",
            "undo",
            "redo",
        ],
    ),
    (
        "Searching and filtering",
        &["find", "search", "search-all", "save-search", "show", "mute", "filters"],
    ),
    (
        "Feeds",
        &[
            "add",
            "edit",
            "tags",
            "unsubscribe",
            "unsubscribe-ended",
            "attention",
            "removed",
            "restore-withdrawn",
            "sort",
            "read-feeds",
            "account-add",
            "accounts",
            "import",
            "export",
        ],
    ),
    (
        "Polling for new entries",
        &["poll", "poll-all", "poll-here", "more-often", "less-often", "normally-often"],
    ),
    ("When and why", &["plan", "timetable", "time-zone", "steps", "own-rule", "history"]),
    ("Screen", &["zoom", "layout", "theme", "redraw"]),
    ("backissue", &["command", "help", "log", "suspend", "quit"]),
];

/// Returns the headings, each with the indexes of its commands in [`COMMANDS`].
pub fn grouped() -> impl Iterator<Item = (&'static str, Vec<usize>)> {
    GROUPS.iter().map(|(heading, names)| {
        let place = |name: &&str| COMMANDS.iter().position(|row: &CommandRow| row.name == *name);
        (*heading, names.iter().filter_map(place).collect())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_is_in_one_group() {
        let mut grouped: Vec<usize> = grouped().flat_map(|(_, places)| places).collect();
        grouped.sort_unstable();
        assert_eq!(grouped, (0..COMMANDS.len()).collect::<Vec<_>>());
        let names: usize = GROUPS.iter().map(|(_, names)| names.len()).sum();
        assert_eq!(names, COMMANDS.len(), "every name is one of a command");
    }
}
