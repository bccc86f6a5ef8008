//! `[commands]` and `[notify]` of the configuration file.

use serde::Deserialize;

use crate::engine::external_command::ExternalCommand;
use crate::engine::settings::{CommandSettings, DesktopNotes, NotifySettings};

/// `[commands]` as it is written.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(in crate::io) struct Commands {
    open: Option<Words>,
    enclosure: Option<Words>,
    pipe: Option<String>,
    on_new: Option<Words>,
}

/// `[notify]` as it is written.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(in crate::io) struct Notify {
    desktop: DesktopNotes,
    bell: bool,
}

/// A command as it is written.
#[derive(Debug, Deserialize)]
#[serde(try_from = "WrittenWords")]
struct Words(ExternalCommand);

#[derive(Debug, Deserialize)]
#[serde(untagged, expecting = "a command is a text, or a list of words in quotes")]
enum WrittenWords {
    Text(String),
    List(Vec<String>),
}

impl TryFrom<WrittenWords> for Words {
    type Error = String;

    fn try_from(written: WrittenWords) -> Result<Self, String> {
        match written {
            WrittenWords::Text(text) => ExternalCommand::typed(&text),
            WrittenWords::List(words) => ExternalCommand::listed(words),
        }
        .map(Self)
    }
}

impl Commands {
    pub(in crate::io) fn into_settings(self) -> Result<CommandSettings, String> {
        let line = |words: Option<Words>| words.map(|Words(line)| line);
        let on_new = line(self.on_new);
        if let Some(command) = on_new.as_ref().filter(|command| command.on_terminal) {
            return Err(format!(
                "[commands] on_new runs in the background: '{}' would need the terminal",
                command.program()
            ));
        }
        if let Some(pipe) = &self.pipe {
            ExternalCommand::typed(pipe).map_err(|why| format!("[commands] pipe: {why}"))?;
        }
        Ok(CommandSettings {
            open: line(self.open),
            enclosure: line(self.enclosure),
            pipe: self.pipe,
            on_new,
        })
    }
}

impl Notify {
    pub(in crate::io) const fn into_settings(self) -> NotifySettings {
        NotifySettings { desktop: self.desktop, bell: self.bell }
    }
}
