//! Parses `[commands]`, `[open]`, `[share]` and `[downloads]` of the configuration file.

use std::collections::BTreeMap;

use backissue_core::{InputFlaw, flaw};
use serde::Deserialize;

use crate::engine::downloads::file_names::{DownloadSettings, NameTemplate};
use crate::engine::external::external_command::{ExternalCommand, OpenRule};
use crate::engine::settings::CommandSettings;
use crate::engine::wording::Lasting;

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
