//! Parses `[keys]` of the configuration file, which assigns keys to commands, and keys or names to the user's own commands. Also
//! describes errors in TOML files, and suggests the most similar known name.

use std::collections::BTreeMap;

use backissue_core::feed::text::one_line;
use backissue_core::{InputFlaw, flaw};
use serde::Deserialize;
use toml::Spanned;

use super::external_commands::WrittenCommand;
use crate::ui::keys::commands::{COMMANDS, Command, KeyStep, OwnCommand};
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
