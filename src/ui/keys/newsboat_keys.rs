//! The default keys of newsboat, and what they do here with `keys = "newsboat"`.

/// What a key of newsboat does here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Here {
    /// It runs a command.
    Command(&'static str),
    /// Nothing here corresponds; the key keeps its meaning here, if it has one. With the reason, or what to do instead.
    Unlike(&'static str),
    /// Nothing here corresponds, and the key does nothing, because its meaning here would surprise. With the reason.
    Nothing(&'static str),
}

/// A default key of newsboat.
#[derive(Debug, Clone, Copy)]
pub struct NewsboatKey {
    /// The operation in newsboat.
    pub operation: &'static str,
    pub key: &'static str,
    pub here: Here,
}

const fn same(operation: &'static str, key: &'static str, command: &'static str) -> NewsboatKey {
    NewsboatKey { operation, key, here: Here::Command(command) }
}

const fn unlike(operation: &'static str, key: &'static str, reason: &'static str) -> NewsboatKey {
    NewsboatKey { operation, key, here: Here::Unlike(reason) }
}

const fn nothing(operation: &'static str, key: &'static str, reason: &'static str) -> NewsboatKey {
    NewsboatKey { operation, key, here: Here::Nothing(reason) }
}

/// Commands whose own keys do something else in newsboat, each with a key that newsboat does not use.
pub const MOVED_KEYS: [(&str, &str); 1] = [("undo", "Y")];

const NO_DIALOGS: &str = "there are no dialogs to switch between: the panes are always there";
const NO_DELETING: &str = "entries are never deleted: `{mute}` hides entries like the selected one";
const BY_NUMBER: &str = "there are no numbers in lists: `b` jumps to a feed by its name";
const ONE_LIST: &str = "`n` continues with the next feed; the key moves in the list";

/// All default keys of newsboat, in the order of its manual.
pub const NEWSBOAT_KEYS: [NewsboatKey; 76] = [
    same("open", "Enter", "open"),
    same("quit", "q", "back"),
    same("hard-quit", "Q", "quit"),
    same("reload", "r", "poll"),
    same("reload-all", "R", "poll-all"),
    same("mark-feed-read", "A", "mark-all-read"),
    nothing("mark-all-feeds-read", "C", "press `{mark-all-read}` on the list 'All unread'"),
    same("save", "s", "save"),
    same("next-unread", "n", "next-unread"),
    same("prev-unread", "p", "previous-unread"),
    same("next", "J", "next-entry"),
    same("prev", "K", "previous-entry"),
    unlike("random-unread", "Ctrl-k", "there is no random order"),
    same("open-in-browser", "o", "open-in-browser"),
    same("open-in-browser-and-mark-read", "O", "open-in-browser"),
    same("help", "?", "help"),
    unlike("toggle-source-view", "Ctrl-u", "`backissue show --html` prints the markup"),
    same("toggle-article-read", "N", "toggle-read"),
    same("toggle-show-read-feeds", "l", "read-feeds"),
    same("show-urls", "u", "link-hints"),
    unlike("clear-tag", "Ctrl-t", "tags are lists: select another one"),
    unlike("set-tag", "t", "tags are lists in the feed list; the key edits the feed's tags"),
    same("open-search", "/", "search"),
    unlike("goto-url", "#", "type the number of the link"),
    same("one", "1", "link"),
    same("two", "2", "link"),
    same("three", "3", "link"),
    same("four", "4", "link"),
    same("five", "5", "link"),
    same("six", "6", "link"),
    same("seven", "7", "link"),
    same("eight", "8", "link"),
    same("nine", "9", "link"),
    unlike("zero", "0", "type `1` and `0` for link 10"),
    unlike("cmd-one", "1", BY_NUMBER),
    unlike("cmd-two", "2", BY_NUMBER),
    unlike("cmd-three", "3", BY_NUMBER),
    unlike("cmd-four", "4", BY_NUMBER),
    unlike("cmd-five", "5", BY_NUMBER),
    unlike("cmd-six", "6", BY_NUMBER),
    unlike("cmd-seven", "7", BY_NUMBER),
    unlike("cmd-eight", "8", BY_NUMBER),
    unlike("cmd-nine", "9", BY_NUMBER),
    same("enqueue", "e", "download"),
    same("edit-urls", "E", "edit"),
    unlike("reload-urls", "Ctrl-r", "changes of other commands are shown at once"),
    same("redraw", "Ctrl-l", "redraw"),
    same("cmdline", ":", "command"),
    same("set-filter", "F", "search"),
    unlike(
        "select-filter",
        "f",
        "saved searches are lists in the feed list; the key chooses what lists show",
    ),
    unlike("clear-filter", "Ctrl-f", "`Esc` closes a search; the key searches all entries"),
    same("bookmark", "Ctrl-b", "share"),
    same("edit-flags", "Ctrl-e", "star"),
    unlike("next-unread-feed", "Ctrl-n", "`n` continues with the next feed"),
    unlike("prev-unread-feed", "Ctrl-p", "`p` goes back; the key opens the palette"),
    unlike("next-feed", "j", ONE_LIST),
    unlike("prev-feed", "k", ONE_LIST),
    nothing("delete-article", "D", NO_DELETING),
    unlike("delete-all-articles", "Ctrl-d", NO_DELETING),
    unlike("purge-deleted", "$", NO_DELETING),
    unlike("view-dialogs", "v", NO_DIALOGS),
    unlike("close-dialog", "Ctrl-x", NO_DIALOGS),
    unlike("next-dialog", "Ctrl-v", NO_DIALOGS),
    unlike("prev-dialog", "Ctrl-g", NO_DIALOGS),
    same("pipe-to", "|", "pipe"),
    same("sort", "g", "sort"),
    unlike("rev-sort", "G", "the key goes to the end of the list"),
    same("up", "↑", "up"),
    same("down", "↓", "down"),
    same("pageup", "PgUp", "page-up"),
    same("pagedown", "PgDn", "page-down"),
    same("home", "Home", "first"),
    same("end", "End", "last"),
    same("switch-focus", "Tab", "right"),
    unlike("macro-prefix", ",", "bind sequences such as `\", w\"` to own commands in `[keys]`"),
    unlike("prevsearchresults", "z", "`Esc` returns from a search; the key shows only the text"),
];
