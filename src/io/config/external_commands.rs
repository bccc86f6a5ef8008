//! Parses `[commands]`, `[open]` and `[share]` of the configuration file.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::engine::external::external_command::ExternalCommand;
use crate::engine::external::open_rules::OpenRule;
use crate::engine::settings::CommandSettings;
use backissue_core::{InputFlaw, flaw};

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
