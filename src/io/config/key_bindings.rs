//! Parses `[keys]` of the configuration file, which assigns keys to commands, and keys or names to the user's own commands. Also
//! describes errors in TOML files, and suggests the most similar known name. Also parses
//! `[commands]`, `[open]`, `[share]` and `[downloads]` of the configuration file.

use std::collections::BTreeMap;

use backissue_core::feed::text::one_line;
use backissue_core::{InputFlaw, flaw};
use serde::Deserialize;
use toml::Spanned;

use crate::engine::downloads::file_names::{DownloadSettings, NameTemplate};
use crate::engine::external_command::{ExternalCommand, OpenRule};
use crate::engine::settings::CommandSettings;
use crate::engine::wording::Lasting;
use crate::ui::keys::command_table::{COMMANDS, Command, KeyStep, OwnCommand};
use crate::ui::keys::key::{sequence, shown};
use crate::ui::keys::key_bindings::{KeyPreset, Keymap, OwnKeys, place_of};

/// The fields of `[keys]`.
pub(in crate::io) type KeysTable = BTreeMap<Spanned<String>, Spanned<WrittenKeys>>;

/// The value of a field: the keys of a command, or the steps of an own command.
#[derive(Debug, Deserialize)]
#[serde(
    untagged,
    expecting = "keys must be text like \"g d\", several: [\"x\", \"Ctrl-x\"], or steps: { run = [\"mpv\", \"{link}\"] }"
)]
pub(in crate::io) enum WrittenKeys {
    // Try the variant with several steps first, because a list of texts could also be read as the fields of a program to run.
    Several(Vec<WrittenStep>),
    One(WrittenStep),
}

/// A key sequence or the name of a command, or a program to run.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(in crate::io) enum WrittenStep {
    Text(String),
    Run(WrittenRun),
}

/// A program to run, with what to do afterwards, and the keys if the command is bound to a name.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::io) struct WrittenRun {
    run: WrittenCommand,
    then: Option<Box<WrittenKeys>>,
    keys: Option<String>,
}

/// Returns the effective key bindings, and a sentence for each key that is assigned to two commands. The error is a sentence with
/// the line number.
pub(in crate::io) fn keymap(
    preset: KeyPreset,
    table: KeysTable,
    text: &str,
) -> Result<(Keymap, Vec<String>), InputFlaw> {
    let (mut own, mut commands) = (Vec::new(), Vec::new());
    for (name, value) in table {
        let line = line_of(text, name.span().start);
        let read = read(name.get_ref(), value.into_inner(), line, &mut commands);
        own.push(read.map_err(|why| format!("line {line}: {why}"))?);
    }
    own.sort_by_key(|own| own.line);
    Ok(Keymap::with(preset, &own, commands))
}

/// Reads a field. An own command is added to `commands`.
fn read(
    name: &str,
    value: WrittenKeys,
    line: usize,
    commands: &mut Vec<OwnCommand>,
) -> Result<OwnKeys, InputFlaw> {
    let values = listed(value);
    if let Some(place) = place_of(name) {
        let keys = values.iter().map(|value| match value {
            WrittenStep::Text(keys) => sequence(keys),
            WrittenStep::Run(_) => Err("it is a command of backissue, which needs keys".into()),
        });
        let sequences = keys.collect::<Result<_, _>>().map_err(|why| format!("{name}: {why}"))?;
        return Ok(OwnKeys { place, sequences, line });
    }
    let is_name =
        name.chars().count() > 1 && name.chars().all(|c| c.is_ascii_lowercase() || c == '-');
    let unknown = || {
        let meant = nearest(name, COMMANDS.iter().map(|row| row.name));
        format!("[keys] has an unknown command '{name}'{meant}; the help of the reader lists them")
    };
    let mut keys = sequence(name).map(|keys| vec![keys]);
    let has_steps = values.iter().any(|value| match value {
        WrittenStep::Text(step) => place_of(step).is_some(),
        WrittenStep::Run(_) => true,
    });
    if keys.is_err() && !(is_name && has_steps) {
        return Err(unknown().into());
    }
    if let (Err(_), [WrittenStep::Run(WrittenRun { keys: Some(written), .. })]) =
        (&keys, values.as_slice())
    {
        keys = Ok(vec![sequence(written).map_err(|why| format!("{name}: {why}"))?]);
    }
    let mut steps = Vec::new();
    add_steps(values, &mut steps).map_err(|why| format!("{name}: {why}"))?;
    if steps.is_empty() {
        return Err(flaw!("{name}: no command is given"));
    }
    let place = COMMANDS.len().saturating_add(commands.len());
    let sequences = keys.unwrap_or_default();
    let of_keys = sequence(name).ok().map(|keys| shown(&keys));
    commands.push(OwnCommand { name: of_keys.unwrap_or_else(|| name.to_owned()), steps });
    Ok(OwnKeys { place, sequences, line })
}

fn listed(value: WrittenKeys) -> Vec<WrittenStep> {
    match value {
        WrittenKeys::One(step) => vec![step],
        WrittenKeys::Several(steps) => steps,
    }
}

/// Adds the steps in the order in which they are written. The steps of `then` follow the program.
fn add_steps(written: Vec<WrittenStep>, steps: &mut Vec<KeyStep>) -> Result<(), InputFlaw> {
    for step in written {
        match step {
            WrittenStep::Text(name) => {
                let row = place_of(&name).and_then(|place| COMMANDS.get(place));
                let row = row.filter(|row| row.command != Command::Link);
                let row = row.ok_or_else(|| {
                    let meant = nearest(&name, COMMANDS.iter().map(|row| row.name));
                    format!(
                        "there is no command '{name}'{meant}; write a program as {{ run = [...] }}"
                    )
                })?;
                steps.push(KeyStep::Command(row.command, row.name));
            }
            WrittenStep::Run(WrittenRun { run: WrittenCommand(command), then, .. }) => {
                command.check_for_values()?;
                steps.push(KeyStep::Run(command));
                if let Some(then) = then {
                    add_steps(listed(*then), steps)?;
                }
            }
        }
    }
    Ok(())
}

/// Returns the number of the line that contains the byte at offset `place`. The first line has number 1.
pub(in crate::io) fn line_of(text: &str, place: usize) -> usize {
    text.get(..place).unwrap_or_default().matches('\n').count().saturating_add(1)
}

/// Maximum length of a message in characters.
const MESSAGE_CHARS: usize = 300;

/// Formats a TOML error as one line, with its line and column.
pub(in crate::io) fn located(text: &str, error: &toml::de::Error) -> String {
    let message = error.message().split_whitespace().collect::<Vec<_>>().join(" ");
    let message = unknown_name(&message).unwrap_or(message);
    // Shorten and reword the message, because it repeats the whole value and uses Rust names for types.
    let message = one_line(&in_plain_words(&message), MESSAGE_CHARS);
    let Some(span) = error.span() else { return message };
    let before = text.get(..span.start).unwrap_or_default();
    let line = line_of(text, span.start);
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count().saturating_add(1);
    format!("line {line}, column {column}: {message}")
}

/// Replaces the Rust name of the expected type in an error message with plain words.
fn in_plain_words(message: &str) -> String {
    let whole = ["usize", "u8", "u16", "u32", "u64", "i64"];
    let plain = message.replace("wanted string or table", "expected text in quotes");
    let Some((before, expected)) = plain.rsplit_once("expected ") else { return plain };
    if whole.contains(&expected) { format!("{before}expected a whole number") } else { plain }
}

/// Returns `; did you mean 'x'?` for the name that is most similar to `written`, or an empty text if no name is similar enough.
pub(in crate::io) fn nearest<'n>(written: &str, names: impl Iterator<Item = &'n str>) -> String {
    let written = written.to_lowercase();
    names
        .map(|name| (strsim::normalized_damerau_levenshtein(&written, name), name))
        .filter(|(likeness, _)| *likeness >= 0.5)
        .max_by(|one, other| one.0.total_cmp(&other.0))
        .map_or_else(String::new, |(_, name)| format!("; did you mean '{name}'?"))
}

/// Rewords serde's message about an unknown field and suggests the most similar known name. In the message, the names are in
/// backquotes, and the unknown name comes first. Returns `None` for any other message.
fn unknown_name(message: &str) -> Option<String> {
    let rest = message.strip_prefix("unknown field ")?;
    let mut quoted = rest.split('`').skip(1).step_by(2);
    let written = quoted.next()?;
    let known: Vec<&str> = quoted.collect();
    let meant = nearest(written, known.iter().copied());
    if meant.is_empty() {
        return Some(format!("unknown key '{written}'; the keys here are {}", known.join(", ")));
    }
    Some(format!("unknown key '{written}'{meant}"))
}

/// The fields of `[commands]`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(in crate::io) struct CommandsTable {
    open: Option<WrittenCommand>,
    enclosure: Option<WrittenCommand>,
    pipe: Option<String>,
    on_new: Option<WrittenCommand>,
    pub(super) allow_sources: bool,
}

#[derive(Debug, Deserialize)]
#[serde(try_from = "CommandText")]
pub(in crate::io) struct WrittenCommand(pub(in crate::io) ExternalCommand);

#[derive(Debug, Deserialize)]
#[serde(untagged, expecting = "a command must be text or a list of words, in quotes")]
enum CommandText {
    Text(String),
    List(Vec<String>),
}

impl TryFrom<CommandText> for WrittenCommand {
    type Error = InputFlaw;

    fn try_from(written: CommandText) -> Result<Self, InputFlaw> {
        match written {
            CommandText::Text(text) => ExternalCommand::typed(&text),
            CommandText::List(words) => ExternalCommand::listed(words),
        }
        .map(Self)
    }
}

impl CommandsTable {
    pub(in crate::io) fn into_settings(self) -> Result<CommandSettings, InputFlaw> {
        let line = |words: Option<WrittenCommand>| words.map(|WrittenCommand(line)| line);
        let on_new = line(self.on_new);
        if let Some(command) = on_new.as_ref().filter(|command| command.on_terminal) {
            return Err(flaw!(
                "[commands] on_new runs in the background: '{}' would need the terminal",
                command.program()
            ));
        }
        if let Some(pipe) = &self.pipe {
            ExternalCommand::typed(pipe).map_err(|why| format!("[commands] pipe: {why}"))?;
        }
        let (open, enclosure) = (line(self.open), line(self.enclosure));
        for (name, command) in [("open", &open), ("enclosure", &enclosure)] {
            let checked = command.as_ref().map_or(Ok(()), ExternalCommand::check_for_links);
            checked.map_err(|why| format!("[commands] {name}: {why}"))?;
        }
        Ok(CommandSettings {
            open,
            enclosure,
            pipe: self.pipe,
            on_new,
            ..CommandSettings::default()
        })
    }
}

/// Reads the section `[open]`: patterns of addresses or media types, each with the command that opens them.
pub(in crate::io) fn open_rules(table: CommandTable) -> Result<Vec<OpenRule>, InputFlaw> {
    let rule = |(pattern, WrittenCommand(command)): (String, WrittenCommand)| {
        command.check_for_links().map_err(|why| format!("[open] {pattern}: {why}"))?;
        OpenRule::new(&pattern, command).map_err(|why| flaw!("[open] {why}"))
    };
    table.into_iter().map(rule).collect()
}

/// Reads the section `[share]`: names of programs that receive an entry.
pub(in crate::io) fn share_targets(
    table: CommandTable,
) -> Result<Vec<(String, ExternalCommand)>, InputFlaw> {
    let target = |(name, WrittenCommand(command)): (String, WrittenCommand)| {
        command.check_for_values().map_err(|why| format!("[share] {name}: {why}"))?;
        Ok((name, command))
    };
    table.into_iter().map(target).collect()
}

/// The fields of `[open]` and `[share]`.
pub(in crate::io) type CommandTable = BTreeMap<String, WrittenCommand>;

/// Maximum number of files that are downloaded at the same time.
const PARALLEL_MAX: usize = 16;

/// The fields of `[downloads]`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct DownloadsTable {
    folder: Option<String>,
    name: Option<String>,
    parallel: Option<usize>,
    rate: Option<ByteRate>,
    max_mb: Option<u64>,
    player: Option<WrittenCommand>,
    keep_played: Option<Lasting>,
}

/// A number of bytes per second as users write it, such as `500k` or `2M`; 0 means no limit.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(try_from = "String")]
struct ByteRate(u64);

impl TryFrom<String> for ByteRate {
    type Error = InputFlaw;

    fn try_from(text: String) -> Result<Self, InputFlaw> {
        let wrong =
            || flaw!("'{text}' is not a speed; write it like 500k or 2M, in bytes per second");
        let written = text.trim();
        let digits = written.find(|char: char| !char.is_ascii_digit()).unwrap_or(written.len());
        let (number, unit) = written.split_at(digits);
        let factor = match unit.trim() {
            "" => 1,
            "k" | "kB" => 1_000,
            "M" | "MB" => 1_000_000,
            _ => return Err(wrong()),
        };
        let rate = number.parse::<u64>().ok().and_then(|number| number.checked_mul(factor));
        rate.map(Self).ok_or_else(wrong)
    }
}

impl DownloadsTable {
    /// Checks the fields. The error is a sentence.
    pub(super) fn into_settings(self) -> Result<DownloadSettings, InputFlaw> {
        let usual = DownloadSettings::default();
        let name = self.name.map(|name| NameTemplate::new(&name)).transpose();
        let player = self.player.map(|WrittenCommand(command)| command).or(usual.player);
        if let Some(player) = &player {
            player.check_for_links().map_err(|why| format!("[downloads] player: {why}"))?;
        }
        let folder = self.folder.unwrap_or(usual.folder);
        if !(folder.starts_with('/') || folder.starts_with("~/")) {
            return Err(flaw!("[downloads] folder must start with / or ~/: '{folder}' does not"));
        }
        Ok(DownloadSettings {
            folder,
            name: name.map_err(|why| format!("[downloads] name: {why}"))?.unwrap_or(usual.name),
            parallel: self.parallel.unwrap_or(usual.parallel).clamp(1, PARALLEL_MAX),
            rate: self.rate.map(|ByteRate(rate)| rate).filter(|&rate| rate > 0),
            max_mb: self.max_mb.unwrap_or(usual.max_mb).max(1),
            player,
            keep_played_minutes: self.keep_played.map_or(usual.keep_played_minutes, |kept| kept.0),
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::io::config::key_bindings::*;

    #[test]
    fn nearest_known_name_or_all_names_are_suggested() {
        let message =
            |name: &str| format!("unknown field `{name}`, expected one of `min`, `max`, `default`");
        for (written, expected) in [
            ("mni", "unknown key 'mni'; did you mean 'min'?"),
            ("defualt", "unknown key 'defualt'; did you mean 'default'?"),
            ("colour", "unknown key 'colour'; the keys here are min, max, default"),
        ] {
            assert_eq!(unknown_name(&message(written)).as_deref(), Some(expected));
        }
        assert_eq!(unknown_name("invalid type: integer"), None);
    }
}

#[cfg(test)]
mod external_commands_tests {
    use crate::io::config::config_file::parse;

    #[test]
    fn each_key_of_downloads_is_read() {
        let text = r#"
            [downloads]
            folder = "/srv/shows"
            name = "{feed} {title}"
            parallel = 99
            rate = "500k"
            max_mb = 100
            player = ["vlc", "--play-and-exit", "{link}"]
            keep_played = "2d"
        "#;
        let read = parse(text).unwrap().settings.downloads;
        assert_eq!(
            (read.folder.as_str(), read.parallel, read.rate),
            ("/srv/shows", 16, Some(500_000))
        );
        assert_eq!((read.bytes_max(), read.keep_played_minutes), (100_000_000, Some(2880)));
        assert_eq!(read.player.unwrap().program(), "vlc");
        let read = parse("[downloads]\nkeep_played = \"always\"\nrate = \"0\"").unwrap();
        let read = read.settings.downloads;
        assert_eq!((read.keep_played_minutes, read.rate), (None, None));
    }

    #[test]
    fn wrong_values_say_what_to_write() {
        for (text, expected) in [
            ("rate = \"fast\"", "'fast' is not a speed; write it like 500k or 2M"),
            ("folder = \"shows\"", "must start with / or ~/"),
            ("name = \"../{title}\"", "[downloads] name: '../{title}' must be a path below"),
            ("name = \"{artist}\"", "{artist} is not one of {feed}, {date}, {title}, {name}"),
            (
                "player = \"sh -c 'mpv {link}'\"",
                "[downloads] player: {link} must be a separate word",
            ),
            ("keep_played = \"soon\"", "or \"always\""),
            ("ratee = \"1k\"", "unknown key 'ratee'; did you mean 'rate'?"),
        ] {
            let why = parse(&format!("[downloads]\n{text}")).unwrap_err();
            assert!(why.contains(expected), "{text}: {why}");
        }
    }
}
