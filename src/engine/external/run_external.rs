//! Starts the user's external commands and reports their results.

use super::external_command::ExternalCommand;
use super::external_run::{ExternalRun, RunInput, RunPurpose};
use super::open_rules::{command_for_link, command_for_media};
use super::run_failure::RunFailure;
use crate::engine::effect::Effect;
use crate::engine::entries::loaded_entry::LoadedEntry;
use crate::engine::state::Engine;
use backissue_core::feed::text::one_line;

/// Commands that show the log, scrolled to its end, and the output of a command, in the order in which to try them.
const LOG_PAGERS: [&str; 2] = ["!less +G", "!more"];
const PAGERS: [&str; 2] = ["!less", "!more"];
/// Maximum number of characters of a command's output in a notice.
const TOLD_CHARS_MAX: usize = 300;

/// Returns the effect that passes an entry to a command.
pub fn pipe(
    engine: &Engine,
    entry: LoadedEntry,
    command: ExternalCommand,
    purpose: RunPurpose,
) -> Effect {
    let input = RunInput::Entry(Box::new(engine.view_of(entry)));
    Effect::Run(Box::new(ExternalRun::new(purpose, command, input)))
}

/// Returns the effect that shows the log in a pager, scrolled to the end of the log.
pub fn show_log() -> Option<Effect> {
    show_in_pager(&LOG_PAGERS, RunInput::Log)
}

fn show_in_pager(pagers: &[&str], input: RunInput) -> Option<Effect> {
    let pagers = pagers.iter().filter_map(|pager| ExternalCommand::typed(pager).ok());
    let run = ExternalRun::showing(pagers.collect(), input)?;
    Some(Effect::Run(Box::new(run)))
}

/// Returns the effect that opens an address, in the configured command or else in the browser.
pub fn show(engine: &Engine, link: String) -> Effect {
    let commands = &engine.settings.commands;
    started(command_for_link(&commands.rules, &link).or(commands.open.as_ref()), link)
}

/// Returns the effect that opens an attached file of a media type: in the command for the type or the address, or else in the command
/// for attached files, or else in the command for addresses, or else in the browser.
pub fn play(engine: &Engine, link: String, media_type: &str) -> Effect {
    let commands = &engine.settings.commands;
    let command = command_for_media(&commands.rules, media_type)
        .or_else(|| command_for_link(&commands.rules, &link))
        .or(commands.enclosure.as_ref())
        .or(commands.open.as_ref());
    started(command, link)
}

fn started(command: Option<&ExternalCommand>, link: String) -> Effect {
    match command.filter(|_| is_web_address(&link)) {
        Some(command) => {
            let (purpose, command) = (RunPurpose::Show, command.with_link(&link));
            Effect::Run(Box::new(ExternalRun::new(purpose, command, RunInput::Nothing)))
        }
        None => Effect::Open(link),
    }
}

/// Checks whether an address is safe to pass to a user's program: the address must start with `http://` or `https://`, so that the
/// program cannot mistake it for an option or a file (SPEC G.52).
pub fn is_web_address(address: &str) -> bool {
    let begins = |scheme: &str| {
        address.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme))
    };
    (begins("http://") || begins("https://")) && !address.contains(|char: char| char.is_control())
}

/// Shows the result of a command: its output, in a pager if it has several lines, or an error.
pub fn tell_end(
    engine: &mut Engine,
    purpose: RunPurpose,
    ended: Result<Option<String>, RunFailure>,
) -> Option<Effect> {
    match (purpose, ended) {
        (_, Err(why)) => {
            let why = one_line(&why.to_string(), TOLD_CHARS_MAX);
            if purpose == RunPurpose::News {
                engine.notifications.failure = Some(why.clone());
            }
            engine.complain(why);
        }
        (RunPurpose::Pipe, Ok(Some(text))) if text.trim().contains('\n') => {
            return show_in_pager(&PAGERS, RunInput::Text(text));
        }
        (RunPurpose::Pipe, Ok(Some(text))) => engine.say(one_line(&text, TOLD_CHARS_MAX)),
        (RunPurpose::Pipe, Ok(None)) => engine.say("the command has finished"),
        (
            RunPurpose::Show | RunPurpose::News | RunPurpose::Step(_) | RunPurpose::Play(_),
            Ok(_),
        ) => {}
    }
    None
}

#[cfg(test)]
mod tests {
    use crate::engine::external::run_external::*;
    use crate::engine::settings::Settings;

    fn engine() -> Engine {
        let mut settings = Settings::default();
        settings.commands.open = Some(ExternalCommand::typed("firefox").unwrap());
        settings.commands.enclosure = Some(ExternalCommand::typed("mpv --quiet").unwrap());
        let now = chrono::DateTime::UNIX_EPOCH;
        Engine::new(settings, chrono_tz::Tz::UTC, 0, Vec::new(), now)
    }

    /// Returns the command that an effect starts, or `None` if the effect opens the browser.
    fn command(effect: Effect) -> Option<String> {
        let Effect::Run(run) = effect else { return None };
        Some(format!("{:?}", run.command))
    }

    #[test]
    fn links_and_attachments_open_in_their_own_commands() {
        let link = || "https://a.example/1".to_owned();
        let shown = command(show(&engine(), link())).unwrap();
        assert!(shown.contains("firefox") && shown.contains("a.example/1"), "{shown}");
        let played = command(play(&engine(), link(), "")).unwrap();
        assert!(played.contains("mpv") && !played.contains("firefox"), "{played}");
    }

    #[test]
    fn links_like_options_or_files_never_reach_a_command() {
        // Only addresses that are safe to open are passed to a command (SPEC G.52).
        for link in [
            "--config=x",
            "file:///etc/passwd",
            "javascript:alert(1)",
            "mailto:a@b.example?attach=/etc/passwd",
            "https:x",
            " https://a.example/",
            "https://a.example/\u{1b}",
        ] {
            assert_eq!(command(show(&engine(), link.to_owned())), None, "{link}");
        }
        for link in ["HTTPS://a.example/", "Http://a.example/"] {
            assert!(command(show(&engine(), link.to_owned())).is_some(), "{link}");
        }
    }
}
