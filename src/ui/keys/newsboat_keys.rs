//! The default keys of newsboat and their meaning in this program with `keys = "newsboat"`. The module also translates key
//! bindings and macros of newsboat to lines for `[keys]`.

use std::collections::BTreeMap;

use backissue_core::other_readers::newsboat_config::{KeyForm, NewsboatBinding, NewsboatConfig};
use backissue_core::{InputFlaw, flaw};

use super::command_table::{COMMANDS, Command};
use super::key::{sequence, shown};
use crate::engine::external_command::ExternalCommand;

/// The meaning of a newsboat key in this program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Here {
    /// The key runs a command.
    Command(&'static str),
    /// No command corresponds to the operation. The key keeps its meaning in this program, if it has one. The text is the reason,
    /// or describes what to do instead.
    Unlike(&'static str),
    /// No command corresponds to the operation, and the key does nothing, because its meaning in this program would be
    /// unexpected. The text is the reason.
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

/// Commands whose default keys have another meaning in newsboat, each with a key that newsboat does not use.
pub const MOVED_KEYS: [(&str, &str); 2] = [("undo", "Y"), ("unfold", "_")];

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

/// Names of special keys in newsboat, each with its name in this program.
const SPECIAL: [(&str, &str); 13] = [
    ("PPAGE", "PgUp"),
    ("NPAGE", "PgDn"),
    ("ENTER", "Enter"),
    ("BACKSPACE", "Backspace"),
    ("LEFT", "Left"),
    ("RIGHT", "Right"),
    ("UP", "Up"),
    ("DOWN", "Down"),
    ("HOME", "Home"),
    ("END", "End"),
    ("ESC", "Esc"),
    ("TAB", "Tab"),
    ("SPACE", "Space"),
];
/// Operations that have no default key in newsboat, each with its command.
const UNBOUND: [(&str, &str); 5] = [
    ("halfpageup", "half-page-up"),
    ("halfpagedown", "half-page-down"),
    ("mark-all-above-as-read", "mark-above-read"),
    ("open-in-browser-noninteractively", "open-in-browser"),
    ("goto-title", "jump"),
];

/// Key bindings that were translated to the configuration of this program.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TranslatedKeys {
    /// Lines for `[keys]`.
    pub lines: Vec<String>,
    /// Number of bindings that `keys = "newsboat"` already contains.
    pub preset: usize,
    /// A sentence for each binding that cannot be translated, with its line number.
    pub refused: Vec<(usize, String)>,
}

/// Translates all key bindings of a configuration.
pub fn translate(config: &NewsboatConfig) -> TranslatedKeys {
    let mut prefix = ",".to_owned();
    let is_prefix = |binding: &&NewsboatBinding| {
        binding
            .operations
            .first()
            .is_some_and(|step| step.first().is_some_and(|it| it == "macro-prefix"))
    };
    if let Some(key) = config.bindings.iter().rfind(is_prefix) {
        prefix = single(&key.keys);
    }
    let (mut all, mut known) = (TranslatedKeys::default(), BTreeMap::new());
    for binding in config.bindings.iter().filter(|binding| !is_prefix(binding)) {
        let read = line(binding, &prefix).and_then(|(keys, steps)| {
            let is_new = !known.contains_key(&keys);
            if *known.entry(keys.clone()).or_insert_with(|| steps.clone()) == steps {
                Ok((keys, steps.filter(|_| is_new)))
            } else {
                Err("a line above gives it another meaning, and here it means the same in all lists".into())
            }
        });
        match read {
            Ok((keys, Some(steps))) => all.lines.push(format!("{} = [{steps}]", quoted(&keys))),
            Ok((_, None)) => all.preset = all.preset.saturating_add(1),
            Err(why) => all.refused.push((binding.line, format!("key '{}': {why}", binding.keys))),
        }
    }
    all
}

/// Translates one binding to its keys and steps. There are no steps if the preset already contains the binding.
fn line(binding: &NewsboatBinding, prefix: &str) -> Result<(String, Option<String>), InputFlaw> {
    let keys = match binding.form {
        KeyForm::Single => single(&binding.keys),
        KeyForm::Macro => format!("{prefix} {}", single(&binding.keys)),
        KeyForm::Sequence => several(&binding.keys),
    };
    let keys = shown(&sequence(&keys)?);
    let is_dead = |known: &NewsboatKey| known.key == keys && matches!(known.here, Here::Nothing(_));
    if binding.operations.is_empty() && NEWSBOAT_KEYS.iter().any(is_dead) {
        return Ok((keys, None));
    }
    if binding.operations.is_empty() && binding.form == KeyForm::Single {
        return Err("a key cannot lose its meaning here: give it another one in [keys]".into());
    }
    if let ([step], KeyForm::Single) = (binding.operations.as_slice(), binding.form)
        && let [operation] = step.as_slice()
        && is_preset(operation, &keys)
    {
        return Ok((keys, None));
    }
    let steps = steps(&binding.operations)?;
    Ok((keys, Some(steps.join(", "))))
}

/// Checks whether a key already runs an operation with `keys = "newsboat"`, either as a newsboat key or as a default key of this
/// program.
fn is_preset(operation: &str, keys: &str) -> bool {
    let mut of_key = NEWSBOAT_KEYS.iter().filter(|known| known.key == keys);
    let is_taken = of_key.clone().any(|known| !matches!(known.here, Here::Unlike(_)));
    let row = command(operation).ok().and_then(|name| COMMANDS.iter().find(|row| row.name == name));
    let is_here = row.is_some_and(|row| row.default_keys().any(|key| shown(&[key]) == keys));
    let runs_same =
        |here: Here| matches!(here, Here::Command(name) if row.is_some_and(|row| row.name == name));
    (is_here && !is_taken)
        || of_key.any(|it| {
            runs_same(it.here) || (it.operation == operation && matches!(it.here, Here::Command(_)))
        })
}

/// Translates the steps of a macro. A browser that is set only for the macro becomes a program to run.
fn steps(operations: &[Vec<String>]) -> Result<Vec<String>, InputFlaw> {
    let (mut steps, mut browser) = (Vec::new(), None);
    for operation in operations {
        let words: Vec<&str> = operation.iter().map(String::as_str).collect();
        match words.as_slice() {
            ["set", "browser", command] => browser = Some(*command),
            ["set", setting, ..] => {
                return Err(flaw!("a macro cannot change the setting '{setting}'"));
            }
            ["pipe-to", command] => steps.push(run(command)?),
            [operation, ..] => match browser.filter(|_| operation.starts_with("open-in-browser")) {
                Some(command) => steps.push(run(&with_link(command))?),
                None => steps.push(quoted(command(operation)?)),
            },
            [] => {}
        }
    }
    if steps.is_empty() { Err("it runs no operation".into()) } else { Ok(steps) }
}

/// Returns the command for an operation. The error says what to do instead.
fn command(operation: &str) -> Result<&'static str, InputFlaw> {
    if let Some((_, command)) = UNBOUND.iter().find(|(known, _)| *known == operation) {
        return Ok(command);
    }
    let known = NEWSBOAT_KEYS.iter().find(|known| known.operation == operation);
    match known.map(|known| known.here) {
        Some(Here::Command(name)) => {
            let row = COMMANDS.iter().find(|row| row.name == name);
            if row.is_some_and(|row| row.command == Command::Link) {
                return Err("links are opened by their numbers: 1 to 9".into());
            }
            Ok(name)
        }
        Some(Here::Unlike(reason) | Here::Nothing(reason)) => {
            // Command names are in braces, which are removed.
            Err(flaw!("{operation}: {}", reason.replace(['{', '}'], "")))
        }
        None => Err(flaw!("nothing here corresponds to '{operation}'")),
    }
}

/// Replaces newsboat's `%u` by the placeholder for the address. Without `%u`, the placeholder is added at the end.
pub fn with_link(command: &str) -> String {
    let command = command.replace("'%u'", "%u").replace("\"%u\"", "%u").replace("%u", "{link}");
    if command.contains("{link}") { command } else { format!("{command} {{link}}") }
}

/// Formats a program as a step. The error explains why the program cannot be run.
fn run(command: &str) -> Result<String, InputFlaw> {
    ExternalCommand::typed_at_prompt(command)?.check_for_values()?;
    Ok(format!("{{ run = {} }}", quoted(command)))
}

/// Returns the name of a newsboat key in this program.
fn single(key: &str) -> String {
    if let Some((_, name)) = SPECIAL.iter().find(|(known, _)| known.eq_ignore_ascii_case(key)) {
        return (*name).to_owned();
    }
    match key.strip_prefix('^') {
        Some(rest) if rest.chars().count() == 1 => format!("Ctrl-{}", rest.to_lowercase()),
        _ if key == " " => "Space".to_owned(),
        _ => key.to_owned(),
    }
}

/// Splits a sequence of keys, such as `g<C-r>`.
fn several(keys: &str) -> String {
    let (mut written, mut rest) = (Vec::new(), keys);
    while let Some(first) = rest.chars().next() {
        let named = rest.strip_prefix('<').and_then(|inner| inner.split_once('>'));
        if let Some((name, behind)) = named {
            rest = behind;
            written.push(match name.split_once('-') {
                Some(("C", key)) => format!("Ctrl-{}", key.to_lowercase()),
                Some(("M" | "A", key)) => format!("Alt-{key}"),
                Some(("S", "TAB")) => "Shift-Tab".to_owned(),
                Some(_) | None => single(name),
            });
        } else {
            rest = rest.strip_prefix(first).unwrap_or_default();
            written.push(single(&first.to_string()));
        }
    }
    written.join(" ")
}

/// Formats a text as a TOML string.
pub fn quoted(text: &str) -> String {
    toml::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use backissue_core::other_readers::newsboat_config::read_config;

    use super::*;

    #[test]
    fn bindings_become_lines_of_keys() {
        let config = read_config(
            "bind-key ^R reload-all\nbind-key j down\nbind-key n next-unread\n\
             bind-key SPACE macro-prefix\n\
             macro m set browser \"mpv --fs %u\"; open-in-browser ; set browser firefox -- \"play\"\n\
             macro b open-in-browser; toggle-article-read \"read\"\n\
             macro w pipe-to \"wc -l\"\n\
             bind g<C-r> everywhere up ; halfpageup\n",
        );
        let keys = translate(&config);
        assert_eq!(
            keys.lines,
            [
                r#""Ctrl-r" = ["poll-all"]"#,
                r#""Space m" = [{ run = "mpv --fs {link}" }]"#,
                r#""Space b" = ["open-in-browser", "toggle-read"]"#,
                r#""Space w" = [{ run = "wc -l" }]"#,
                r#""g Ctrl-r" = ["up", "half-page-up"]"#,
            ]
        );
        assert_eq!((keys.preset, keys.refused), (2, Vec::new()));
    }

    #[test]
    fn key_has_one_line_even_with_a_meaning_for_each_list() {
        let keys = translate(&read_config(
            "bind-key j down feedlist\nbind-key j next articlelist\nbind-key x open feedlist\n\
             bind-key x quit article\nbind-key x open articlelist\n",
        ));
        assert_eq!((keys.lines, keys.preset), (vec![r#""x" = ["open"]"#.to_owned()], 2));
        assert_eq!(keys.refused.iter().map(|(line, _)| *line).collect::<Vec<_>>(), [2, 4]);
    }

    #[test]
    fn bindings_without_a_counterpart_are_named() {
        for (line, part) in [
            ("bind-key X delete-article", "entries are never deleted"),
            ("bind-key X one", "links are opened by their numbers"),
            ("bind-key X article-feed", "nothing here corresponds"),
            ("bind-key NOKEY up", "is not a key"),
            ("unbind-key j", "cannot lose its meaning"),
            ("macro t set text-width 0", "cannot change the setting 'text-width'"),
            ("macro t set browser \"x '%u\" ; open-in-browser", "quot"),
            ("macro t -- \"only words\"", "runs no operation"),
        ] {
            let keys = translate(&read_config(line));
            let [(1, why)] = keys.refused.as_slice() else { panic!("{line}: {keys:?}") };
            assert!(why.contains(part), "{line}: {why}");
        }
    }
}
