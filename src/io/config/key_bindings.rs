//! Parses `[keys]` of the configuration file, which assigns keys to commands.

use std::collections::BTreeMap;

use serde::Deserialize;
use toml::Spanned;

use super::unknown_names::nearest;
use crate::ui::keys::commands::COMMANDS;
use crate::ui::keys::key_bindings::{Keymap, OwnKeys, place_of};
use crate::ui::keys::key_names::sequence;

/// The fields of `[keys]`.
pub(in crate::io) type KeysTable = BTreeMap<Spanned<String>, Spanned<WrittenKeys>>;

/// The keys of one command in the file: one key sequence, or several.
#[derive(Debug, Deserialize)]
#[serde(untagged, expecting = "keys must be text like \"g d\", or several: [\"x\", \"Ctrl-x\"]")]
pub(in crate::io) enum WrittenKeys {
    One(String),
    Several(Vec<String>),
}

/// Returns the effective key bindings, and a sentence for each key that is assigned to two commands. The error is a sentence with
/// the line number.
pub(in crate::io) fn keymap(table: KeysTable, text: &str) -> Result<(Keymap, Vec<String>), String> {
    let mut own = table
        .into_iter()
        .map(|(command, keys)| read(&command, keys, text))
        .collect::<Result<Vec<OwnKeys>, String>>()?;
    own.sort_by_key(|own| own.line);
    Ok(Keymap::new(&own))
}

fn read(
    command: &Spanned<String>,
    keys: Spanned<WrittenKeys>,
    text: &str,
) -> Result<OwnKeys, String> {
    let line = line_of(text, command.span().start);
    let wrong = |why: String| format!("line {line}: {why}");
    let Some(place) = place_of(command.get_ref()) else {
        let names = COMMANDS.iter().map(|row| row.name);
        let meant = nearest(command.get_ref(), names);
        return Err(wrong(format!(
            "[keys] has an unknown command '{}'{meant}; ? in the reader lists them",
            command.get_ref()
        )));
    };
    let sequences = match keys.into_inner() {
        WrittenKeys::One(keys) => vec![keys],
        WrittenKeys::Several(keys) => keys,
    };
    let sequences = sequences
        .iter()
        .map(|keys| sequence(keys))
        .collect::<Result<_, _>>()
        .map_err(|why| wrong(format!("{}: {why}", command.get_ref())))?;
    Ok(OwnKeys { place, sequences, line })
}

/// Returns the number of the line that contains the byte at offset `place`. The first line has number 1.
pub(in crate::io) fn line_of(text: &str, place: usize) -> usize {
    text.get(..place).unwrap_or_default().matches('\n').count().saturating_add(1)
}
