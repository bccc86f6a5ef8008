//! The command table: everything a user can do by key or by name. The enum of the commands, the help, the palette, `[keys]` and the
//! documentation are generated from it.
//!
//! Commands of the user's own are sequences of commands and programs, bound to keys or names in `[keys]`.

use super::key::{self, Key};
use crate::engine::external_command::ExternalCommand;
use crate::ui::state::layout::Pane;

/// Passes the rows of the table to a macro. The rows are grouped under the headings of the help, in the order of the help, which
/// begins with the commands that most readers need. A row has the command, its name in the palette and in `[keys]`, its default
/// keys, the panes in which the keys work, a description, and the function that runs the command. If text may follow the name in
/// the palette, the row also has the function that receives this text.
///
/// The table is a macro because the functions are in modules that use the commands: this module creates its enum and the list of
/// the rows without the functions, and [`super::key_input`] calls the functions.
macro_rules! command_table {
    ($rows:ident) => {
        $rows! {
            "Reading" {
                Enter "open" "Enter" ALL
                    "open; on a gap (missing older entries): request them again"
                    => open_selected;
                Space "read-on" "Space" ALL "a page down, then the next unread entry"
                    => open_entry::read_on;
                NextUnread "next-unread" "n" ALL "next unread entry, in the next feed if necessary"
                    => next_unread;
                PreviousUnread "previous-unread" "p" ALL "previous unread entry"
                    => open_entry::open_previous_unread;
                Back "back" "q" ALL "back; in the feed list, quit" => navigation::go_back;
                Close "close" "Esc" ALL "close what is open; never quits" => close;
                NextEntry "next-entry" "J" ENTRIES "next entry while reading"
                    => |cx| open_entry::open_neighbour(cx, true);
                PreviousEntry "previous-entry" "K" ENTRIES "previous entry while reading"
                    => |cx| open_entry::open_neighbour(cx, false);
                Open "open-in-browser" "o" ENTRIES
                    "open the entry in the browser; on a gap: the missing page"
                    => open_pages::open_page;
                FullText "full-text" "v" ENTRIES
                    "show the full text of the linked page; again: the feed's text"
                    => full_text::toggle_text;
                LinkHints "link-hints" "f" READER
                    "show a letter on each link; the letter opens it, y before it copies it"
                    => open_pages::open_hints;
                Link "link" "1-9" READER
                    "follow the link with this number; Enter completes the number"
                    => |cx| open_entry::type_digit(cx, '1');
                Pictures "pictures" "I" ENTRIES
                    "show or hide pictures in the text; missing ones are fetched while shown"
                    => lay_out::toggle_pictures;
                OpenComments "open-comments" "C" READER
                    "open the page with the comments on the entry"
                    => open_pages::open_comments;
                CopyLink "copy-link" "y" ALL
                    "copy the link of the entry, or the address of the selected feed"
                    => open_pages::copy_link;
                Download "download" "E" ENTRIES
                    "download the entry's first attached file; play it if it is there; 'download 2': the second file"
                    => downloads::download_entries, downloads::download_file;
                Downloads "downloads" "Q" ALL "downloads: progress, pause, resume, play"
                    => |cx| list_panel::toggle(cx, ListOf::Downloads, &downloads::LIST);
                Enclosure "enclosure" "O" ENTRIES
                    "open the entry's first attached file without downloading it"
                    => open_entry::open_enclosure;
                Pipe "pipe" "|" ENTRIES
                    "pipe the entry to a command, as text or JSON; a leading ! gives it the terminal"
                    => open_pages::ask_command;
                SaveEntries "save" "" ENTRIES
                    "save the entry, or the marked entries, as Markdown: 'save notes.md'"
                    => downloads::ask_path, downloads::save;
                Share "share" "Ctrl-b" ENTRIES
                    "share the entry with a program of yours: a menu of those in [share]"
                    => run_own::toggle_menu, run_own::share_with;
                ScrollRight "scroll-right" ">" READER "scroll wide tables and code to the right"
                    => |cx| find_in_text::move_blocks(cx, true);
                ScrollLeft "scroll-left" "<" READER "scroll wide tables and code to the left"
                    => |cx| find_in_text::move_blocks(cx, false);
                ReadFromBeginning "from-beginning" "B" ALL
                    "read the feed from the beginning, oldest first, where you left off; again: newest first"
                    => browsing::turn_round;
                FullTextAlways "full-text-always" "V" ALL
                    "full text for all entries of this feed: on, then fetched ahead, then off ({undo} undoes it)"
                    => full_text::toggle_always;
                Changes "changes" "~" READER
                    "show what the publisher changed in an edited entry; again: the text"
                    => full_text::toggle_changes;
                OpenCopies "open-copies" "W" ENTRIES
                    "look up the entry's page, or the page missing at a gap, in the Internet Archive"
                    => open_pages::open_copies;
            }
            "Marking" {
                ToggleRead "toggle-read" "N" ENTRIES "mark read or unread" => toggle_read;
                MarkAllRead "mark-all-read" "A" ALL
                    "mark this list, or the marked rows, read ({undo} undoes it)"
                    => |cx| {
                        if !marking::mark_read(cx) {
                            navigation::mark_list_read(cx, MarkPart::All);
                        }
                    };
                Star "star" "s" ENTRIES "star, or remove the star"
                    => |cx| toggle_flag(cx, Flag::Starred);
                ReadLater "read-later" "d" ENTRIES
                    "label the entry #later, or remove this label; 'label:later' finds them"
                    => jump::toggle_later;
                Label "label" "#" ENTRIES
                    "label the entry, or the marked entries; again: remove the label"
                    => jump::open_labels, jump::toggle_label;
                Undo "undo" "u" ALL "undo the last mark or change"
                    => |cx| cx.ask(Request::Undo);
                Redo "redo" "Ctrl-y" ALL "redo what was undone"
                    => |cx| cx.ask(Request::Redo);
                MarkRow "mark" "x" LISTS
                    "mark the row; the next action applies to all marked rows; {close} removes all marks"
                    => marking::mark_selected;
                MarkRange "mark-range" "X" LISTS
                    "mark all rows from the last marked one to this one"
                    => marking::mark_range;
                MarkAboveRead "mark-above-read" "(" ENTRIES
                    "mark the entries above this one read ({undo} undoes it)"
                    => |cx| navigation::mark_list_read(cx, MarkPart::Above);
                MarkBelowRead "mark-below-read" ")" ENTRIES
                    "mark the entries below this one read ({undo} undoes it)"
                    => |cx| navigation::mark_list_read(cx, MarkPart::Below);
                MarkDayRead "mark-day-read" "{" ALL
                    "mark the entries of this list that are older than a day read ({undo} undoes it)"
                    => |cx| navigation::mark_older_read(cx, "1d");
                MarkWeekRead "mark-week-read" "}" ALL
                    "mark the entries of this list that are older than a week read ({undo} undoes it)"
                    => |cx| navigation::mark_older_read(cx, "7d");
                MarkOlderRead "mark-older" "" ALL
                    "mark the entries of this list read that are older than a time: 'mark-older 3d'"
                    => |cx| cx.say("say how old, like 'mark-older 3d'"),
                    navigation::mark_older_read;
                Unfold "unfold" "Y" ENTRIES
                    "give entries that link to the same page rows of their own; again: they are not the same story"
                    => load_rows::unfold;
            }
            "Searching and filtering" {
                Find "find" "/" READER
                    "find words in this text; {next-unread} and {toggle-read} go to the next and previous hit"
                    => find_in_text::open_line;
                Search "search" "/" LISTS
                    "search all entries as you type: words, \"phrases\", -exclusion, OR, feed: tag: title: is: age:"
                    => search_pane::open_search;
                SearchAll "search-all" "Ctrl-f" ALL "search all entries, also while reading a text"
                    => search_pane::open_search;
                SaveSearch "save-search" "Ctrl-s" ALL
                    "save the open search as a list; {edit} renames the list, {unsubscribe} removes it"
                    => search_pane::save_search;
                Show "show" "f" LISTS "show all, unread, starred or hidden entries" => show_next;
                Mute "mute" "m" ALL
                    "mute: hide entries like this one, with a preview; in the feed list: all filters"
                    => filter_dialog::mute_entry;
                Filters "filters" "F" ALL
                    "filters: hide, mark read, star or label entries automatically"
                    => filter_dialog::toggle_list;
            }
            "Feeds" {
                Add "add" "a" ALL "add a subscription"
                    => |cx| open_prompt(cx, PromptPurpose::Add), |cx, address| list_panel::subscribe_to(cx, address.into());
                Edit "edit" "e" ALL "edit the feed: address, title, tags, polling, history"
                    => edit_selected;
                Tags "tags" "t" ALL "edit the feed's tags; on a tag: rename it"
                    => edit_dialog::open_line;
                Unsubscribe "unsubscribe" "D" LISTS
                    "unsubscribe from the selected feed, or hide a gap ({undo} undoes it)"
                    => give_up_selected;
                Attention "attention" "!" ALL
                    "feeds that failed, moved or ended, and what you can do"
                    => navigation::open_attention;
                Sort "sort" "S" ALL
                    "sort the feeds by title, unread or next poll; the entries of a list by date, title, feed, arrival, or how rarely their feeds publish"
                    => sort_next;
                ReadFeeds "read-feeds" "c" ALL
                    "hide feeds without unread entries, or show them again"
                    => feeds_pane::toggle_read_feeds;
                Import "import" "" ALL
                    "import subscriptions from a file: OPML, newsboat or newsraft urls, or one address per line"
                    => |cx| open_prompt(cx, PromptPurpose::Import), feeds::import_file;
                Export "export" "" ALL "export all subscriptions to an OPML file"
                    => |cx| open_prompt(cx, PromptPurpose::Export), feeds::export_list;
                Accounts "accounts" "" ALL
                    "list the accounts on servers: their last sync, sync now, remove"
                    => |cx| list_panel::toggle(cx, ListOf::Accounts, &accounts::LIST);
                AccountAdd "account-add" "" ALL
                    "add an account on a server, such as Miniflux or FreshRSS"
                    => accounts::open_form;
                Removed "removed" "" ALL
                    "feeds you removed in the last week; {open} restores one as it was"
                    => |cx| list_panel::toggle(cx, ListOf::Removed, &unsubscribe::LIST);
                UnsubscribeEnded "unsubscribe-ended" "Z" LISTS
                    "unsubscribe from all feeds that ended ({undo} undoes it)"
                    => unsubscribe::unsubscribe_ended;
                RestoreWithdrawn "restore-withdrawn" "" ALL
                    "show the entries again that the selected feed took out of its document"
                    => restore_withdrawn;
            }
            "Polling for new entries" {
                Poll "poll" "r" ALL "poll the selected feed or list for new entries"
                    => poll_selected;
                PollAll "poll-all" "R" ALL "poll all feeds for new entries"
                    => |cx| feeds::poll_feeds(cx, None);
                PollHere "poll-here" "&" ALL
                    "poll feeds of an account here, too, or leave them to its server ({undo} undoes it)"
                    => poll_here;
                MoreOften "more-often" "+" ALL "poll the feed more often"
                    => |cx| set_pace(cx, Pace::More);
                LessOften "less-often" "-" ALL "poll the feed less often"
                    => |cx| set_pace(cx, Pace::Less);
                NormallyOften "normally-often" "=" ALL
                    "poll the feed as often as its publisher recommends"
                    => |cx| set_pace(cx, Pace::Normal);
            }
            "When and why" {
                Plan "plan" "i" ALL "show when the feed is polled next, and why"
                    => plan_pane::toggle_plan;
                Timetable "timetable" "P" ALL "timetable: the next poll of every feed"
                    => toggle_timetable;
                Zone "time-zone" "U" ALL "in a plan: switch between UTC and your time zone"
                    => switch_zone;
                Steps "steps" "w" ALL "in a plan: show or hide the steps that led to it"
                    => plan_pane::fold_steps;
                MarkHours "own-rule" "M" ALL
                    "in a plan: mark hours of the week and set an interval for them"
                    => hour_selection::begin_selection;
                History "history" "H" ALL
                    "fetch older entries, or list where else they may be; stop if already fetching"
                    => load_history;
                Archives "archives" "" ALL
                    "list where else older entries of the feed may be"
                    => history_lists::list_sources, history_lists::read_copy;
                Timeline "timeline" "" ALL
                    "the years of the feed: entries a month, their source, and what is missing"
                    => history_lists::open_timeline;
            }
            "Moving" {
                Down "down" "j ↓" ALL "next row, or a line down"
                    => |cx| move_by(cx, true, Distance::One);
                Up "up" "k ↑" ALL "previous row, or a line up"
                    => |cx| move_by(cx, false, Distance::One);
                Right "right" "l → Tab" ALL "pane to the right; on a folded tag: unfold it" => go_right;
                Left "left" "h ← Shift-Tab" ALL "pane to the left; on a tag: fold it" => go_left;
                First "first" "g Home" ALL "first row, or the beginning"
                    => |cx| move_by(cx, false, Distance::All);
                Last "last" "G End" ALL "last row, or the end"
                    => |cx| move_by(cx, true, Distance::All);
                HalfDown "half-page-down" "Ctrl-d" ALL "half a page down"
                    => |cx| move_by(cx, true, Distance::Half);
                HalfUp "half-page-up" "Ctrl-u" ALL "half a page up"
                    => |cx| move_by(cx, false, Distance::Half);
                PageDown "page-down" "PgDn" ALL "a page down"
                    => |cx| move_by(cx, true, Distance::Page);
                PageUp "page-up" "PgUp" ALL "a page up"
                    => |cx| move_by(cx, false, Distance::Page);
                GoTo "goto" "@" ALL "go to a date: 2014, 2014-03 or 2014-03-09"
                    => |cx| open_prompt(cx, PromptPurpose::GoTo), browsing::go_to;
                Jump "jump" "b" ALL "jump to a feed, tag or list by some of its letters"
                    => jump::open_jump, jump::jump_to;
            }
            "Screen" {
                Zoom "zoom" "z" ENTRIES "show only the text, or all panes"
                    => open_entry::toggle_zoom;
                Layout "layout" "L" ALL
                    "next layout: automatic, three panes, entries above the text, or one pane"
                    => choose_theme::choose_next_layout, choose_theme::choose_layout;
                LargerList "larger-list" "Ctrl-↓" ALL
                    "more room for the list, less for the text"
                    => |cx| choose_theme::resize_list(cx, true);
                SmallerList "smaller-list" "Ctrl-↑" ALL
                    "less room for the list, more for the text"
                    => |cx| choose_theme::resize_list(cx, false);
                Theme "theme" "T" ALL "next theme; ':theme light' selects one"
                    => choose_theme::choose_next, choose_theme::choose_theme;
                Redraw "redraw" "Ctrl-l" ALL "redraw the screen" => redraw;
            }
            "backissue" {
                Palette "command" ": Ctrl-p" ALL
                    "find and run a command; arguments follow its name: 'goto 2014-03'"
                    => help_pane::open_palette;
                Help "help" "?" ALL "show the keys that work here"
                    => help_pane::toggle_help;
                Serve "serve" "" ALL
                    "serve the store to your phone and other devices: 'serve 8086'; 'serve off' ends it"
                    => feeds::tell_serving, feeds::serve;
                Log "log" "" ALL "show recent activity and errors in a pager; '--verbose' logs more"
                    => |cx| cx.out.extend(start_external::show_log().into_iter().map(ScreenEffect::Engine));
                Suspend "suspend" "Ctrl-z" ALL "suspend backissue; fg in the shell resumes it"
                    => |cx| cx.out.push(ScreenEffect::Suspend);
                Quit "quit" "Ctrl-c" ALL "quit at once; everything is saved"
                    => |cx| cx.ask(Request::Stop);
            }
        }
    };
}
pub(super) use command_table;

const ALL: &[Pane] = &[];
const LISTS: &[Pane] = &[Pane::Feeds, Pane::Entries];
const ENTRIES: &[Pane] = &[Pane::Entries, Pane::Reader];
const READER: &[Pane] = &[Pane::Reader];

macro_rules! commands {
    ($($group:literal { $(
        $command:ident $name:literal $keys:literal $panes:ident $help:literal
            => $run:expr $(, $takes:expr)?;
    )* })*) => {
        /// A command that the user runs with a key, or by name in the palette.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Command {
            $($($command,)*)*
            /// Types one digit of the number of a link to open.
            Digit(char),
            /// Runs the own command with this number.
            Own(usize),
        }

        /// All commands, in the order in which the help shows them.
        pub const COMMANDS: &[CommandRow] = &[$($(CommandRow {
            command: Command::$command,
            group: $group,
            name: $name,
            keys: $keys,
            panes: $panes,
            help: $help,
            takes: false $(|| !stringify!($takes).is_empty())?,
        },)*)*];
    };
}

command_table!(commands);

/// Names that other programs use for commands. The palette finds commands by these names too.
const SYNONYMS: [(&str, &[&str]); 15] = [
    ("accounts", &["sync"]),
    ("downloads", &["podcasts"]),
    ("edit", &["configure", "options", "preferences", "settings"]),
    ("filters", &["block", "rules"]),
    ("label", &["tag"]),
    ("layout", &["settings", "view"]),
    ("mark-all-read", &["catchup"]),
    ("open-in-browser", &["browse"]),
    ("poll", &["check", "fetch", "refresh", "reload", "update"]),
    ("poll-all", &["check", "fetch", "refresh", "reload", "update"]),
    ("quit", &["exit"]),
    ("read-later", &["bookmark"]),
    ("star", &["bookmark", "favourite", "favorite"]),
    ("theme", &["colors", "colours", "dark", "light", "settings"]),
    ("unsubscribe", &["delete", "remove"]),
];

/// Returns the names that other programs use for the command with this name.
pub fn synonyms(name: &str) -> impl Iterator<Item = &'static str> {
    let row = SYNONYMS.iter().find(|(command, _)| *command == name);
    row.into_iter().flat_map(|(_, words)| words.iter().copied())
}

/// One row of the command table.
#[derive(Debug)]
pub struct CommandRow {
    pub command: Command,
    /// Heading of the command in the help.
    pub group: &'static str,
    /// Name of the command in the palette and in `[keys]`.
    pub name: &'static str,
    /// Default keys of the command, separated by spaces. The user can replace them in `[keys]`.
    pub keys: &'static str,
    /// Panes in which the keys of the command work. Empty means all panes.
    panes: &'static [Pane],
    pub help: &'static str,
    /// Whether an argument can follow its name in the palette.
    pub takes: bool,
}

impl CommandRow {
    pub fn works_in(&self, pane: Pane) -> bool {
        self.panes.is_empty() || self.panes.contains(&pane)
    }

    /// Parses the default keys of the command. A key range such as `1-9` is skipped.
    pub fn default_keys(&self) -> impl Iterator<Item = Key> {
        self.keys.split(' ').filter_map(|key| key::parse_key(key).ok())
    }
}

/// Returns the headings of the help, each with the indexes of its commands in [`COMMANDS`].
pub fn grouped() -> impl Iterator<Item = (&'static str, Vec<usize>)> {
    let mut places = 0..;
    let groups = COMMANDS.chunk_by(|row, next| row.group == next.group);
    groups.filter_map(move |rows| {
        Some((rows.first()?.group, places.by_ref().take(rows.len()).collect()))
    })
}

impl Command {
    /// Returns the name of the command in the table. Digits and own commands have none.
    pub fn name(self) -> &'static str {
        COMMANDS.iter().find(|row| row.command == self).map_or("", |row| row.name)
    }

    /// Checks whether the command works while the help is open: it scrolls or closes the help. Any other command only closes the
    /// help.
    pub const fn works_in_help(self) -> bool {
        matches!(
            self,
            Self::Down
                | Self::Up
                | Self::First
                | Self::Last
                | Self::HalfDown
                | Self::HalfUp
                | Self::PageDown
                | Self::PageUp
                | Self::Back
                | Self::Close
                | Self::Help
                | Self::Quit
        )
    }

    /// Checks whether the command works while the plan pane or the timetable is open in the same way as without them.
    pub const fn works_over_panes(self) -> bool {
        self.works_in_help()
            || matches!(
                self,
                Self::Plan
                    | Self::Timetable
                    | Self::Palette
                    | Self::Theme
                    | Self::Layout
                    | Self::Redraw
                    | Self::Suspend
                    | Self::Zone
                    | Self::Steps
                    | Self::MarkHours
                    | Self::MoreOften
                    | Self::LessOften
                    | Self::NormallyOften
                    | Self::Edit
                    | Self::Poll
                    | Self::PollAll
                    | Self::Undo
                    | Self::Redo
                    | Self::Enter
            )
    }
}

/// A sequence of commands and programs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnCommand {
    /// Name in the palette and in messages: the name that the user chose, or the keys of the command.
    pub name: String,
    /// The steps, in the order in which they run.
    pub steps: Vec<KeyStep>,
}

/// A step of an own command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyStep {
    /// Runs a command of the command table, given with its name.
    Command(Command, &'static str),
    /// Passes the selected entry to a program, and waits until the program ends.
    Run(ExternalCommand),
}

impl OwnCommand {
    /// Describes the steps, such as `wallabag-add, then toggle-read`.
    pub fn about(&self) -> String {
        let steps = self.steps.iter().map(|step| match step {
            KeyStep::Command(_, name) => (*name).to_owned(),
            KeyStep::Run(command) => command.program().to_owned(),
        });
        steps.collect::<Vec<_>>().join(", then ")
    }
}

#[cfg(test)]
mod commands_tests {
    use crate::ui::keys::command_table::*;

    #[test]
    fn every_command_has_a_unique_typeable_name() {
        let mut names: Vec<&str> = COMMANDS.iter().map(|row| row.name).collect();
        names.sort_unstable();
        let count = names.len();
        names.dedup();
        assert_eq!(names.len(), count);
        let typed = |name: &str| name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-');
        assert!(names.iter().all(|name| typed(name)), "{names:?}");
    }

    #[test]
    fn no_key_means_two_things_in_one_pane() {
        for pane in [Pane::Feeds, Pane::Entries, Pane::Reader] {
            let mut seen: Vec<(Key, &str)> = Vec::new();
            for row in COMMANDS.iter().filter(|row| row.works_in(pane)) {
                for key in row.default_keys() {
                    let other = seen.iter().find(|(taken, _)| *taken == key);
                    assert_eq!(other, None, "{key} of {}", row.name);
                    seen.push((key, row.name));
                }
            }
        }
    }
}
