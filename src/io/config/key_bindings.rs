//! Parses `[keys]` of the configuration file, which assigns keys to commands, and own commands to keys or names.

use std::collections::BTreeMap;

use serde::Deserialize;
use toml::Spanned;

use super::external_commands::WrittenCommand;
use super::unknown_names::nearest;
use crate::ui::keys::commands::{COMMANDS, Command};
use crate::ui::keys::key_bindings::{KeyPreset, Keymap, OwnKeys, place_of};
use crate::ui::keys::key_names::{sequence, shown};
use crate::ui::keys::own_commands::{KeyStep, OwnCommand};
use backissue_core::{InputFlaw, flaw};

/// The fields of `[keys]`.
pub(in crate::io) type KeysTable = BTreeMap<Spanned<String>, Spanned<WrittenKeys>>;

/// The value of a field: the keys of a command, or the steps of an own command.
#[derive(Debug, Deserialize)]
#[serde(
    untagged,
    expecting = "keys must be text like \"g d\", several: [\"x\", \"Ctrl-x\"], or steps: { run = [\"mpv\", \"{link}\"] }"
)]
pub(in crate::io) enum WrittenKeys {
    // Several steps are tried first, because a list of texts could also be read as the fields of a program to run.
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

/// Adds the steps that are written, those of `then` after the program.
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
