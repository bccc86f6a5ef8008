//! Translates key bindings and macros of newsboat into lines for `[keys]`.

use backissue_core::other_readers::newsboat_config::{KeyForm, NewsboatBinding, NewsboatConfig};

use super::commands::{COMMANDS, Command};
use super::key_names::{sequence, shown};
use super::newsboat_keys::{Here, NEWSBOAT_KEYS};
use crate::engine::external::external_command::ExternalCommand;
use backissue_core::{InputFlaw, flaw};

/// Names of special keys in newsboat, and here.
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
/// Operations without a default key in newsboat, and their commands.
const UNBOUND: [(&str, &str); 5] = [
    ("halfpageup", "half-page-up"),
    ("halfpagedown", "half-page-down"),
    ("mark-all-above-as-read", "mark-above-read"),
    ("open-in-browser-noninteractively", "open-in-browser"),
    ("goto-title", "jump"),
];

/// Key bindings in the form of the configuration here.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TranslatedKeys {
    /// Lines for `[keys]`.
    pub lines: Vec<String>,
    /// Number of bindings that `keys = "newsboat"` already contains.
    pub preset: usize,
    /// A sentence for each binding that cannot be translated, with the number of its line.
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
    let mut all = TranslatedKeys::default();
    for binding in config.bindings.iter().filter(|binding| !is_prefix(binding)) {
        match line(binding, &prefix) {
            Ok(Some(line)) if !all.lines.contains(&line) => all.lines.push(line),
            Ok(_) => all.preset = all.preset.saturating_add(1),
            Err(why) => all.refused.push((binding.line, format!("key '{}': {why}", binding.keys))),
        }
    }
    all
}

/// Translates one binding. Returns `None` if the preset contains it.
fn line(binding: &NewsboatBinding, prefix: &str) -> Result<Option<String>, InputFlaw> {
    let keys = match binding.form {
        KeyForm::Single => single(&binding.keys),
        KeyForm::Macro => format!("{prefix} {}", single(&binding.keys)),
        KeyForm::Sequence => several(&binding.keys),
    };
    let keys = shown(&sequence(&keys)?);
    if binding.operations.is_empty() && binding.form == KeyForm::Single {
        return Err("a key cannot lose its meaning here: give it another one in [keys]".into());
    }
    if let ([step], KeyForm::Single) = (binding.operations.as_slice(), binding.form)
        && let [operation] = step.as_slice()
        && NEWSBOAT_KEYS.iter().any(|known| {
            let is_same = known.operation == operation && known.key == keys;
            is_same && matches!(known.here, Here::Command(_))
        })
    {
        return Ok(None);
    }
    let steps = steps(&binding.operations)?;
    Ok(Some(format!("{} = [{}]", quoted(&keys), steps.join(", "))))
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
        Some(Here::Unlike(reason) | Here::Nothing(reason)) => Err(flaw!("{operation}: {reason}")),
        None => Err(flaw!("nothing here corresponds to '{operation}'")),
    }
}

/// Puts the address in the place of newsboat's `%u`, or at the end.
pub fn with_link(command: &str) -> String {
    let command = command.replace("'%u'", "%u").replace("\"%u\"", "%u").replace("%u", "{link}");
    if command.contains("{link}") { command } else { format!("{command} {{link}}") }
}

/// Writes a program as a step. The error says why it cannot be run here.
fn run(command: &str) -> Result<String, InputFlaw> {
    ExternalCommand::typed_at_prompt(command)?.check_for_values()?;
    Ok(format!("{{ run = {} }}", quoted(command)))
}

/// Returns the name here of a key of newsboat.
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

/// Writes a text as a string of TOML.
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
                r#""j" = ["down"]"#,
                r#""Space m" = [{ run = "mpv --fs {link}" }]"#,
                r#""Space b" = ["open-in-browser", "toggle-read"]"#,
                r#""Space w" = [{ run = "wc -l" }]"#,
                r#""g Ctrl-r" = ["up", "half-page-up"]"#,
            ]
        );
        assert_eq!((keys.preset, keys.refused), (1, Vec::new()));
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
