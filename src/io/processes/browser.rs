//! Opens links in the user's browser.

use std::io;
use std::time::Duration;

use super::run_command::{run, run_on_terminal};
use super::start::is_program;
use crate::engine::external::browsers::browsers;
use crate::engine::external::external_command::ExternalCommand;
use crate::engine::external::external_run::{ExternalRun, RunInput};
use crate::engine::external::run_external::is_web_address;
use crate::engine::external::run_failure::RunFailure;
use crate::io::clock;

/// Time after which a command counts as started if it has not failed.
const WATCHED: Duration = Duration::from_secs(2);

/// Opens a URL with the user's command, which already contains the URL, or in the browser if there is no command. Only URLs that
/// are safe to open are accepted (SPEC G.52). Waits until the command has failed, ended, or run for some time.
pub fn open_with(address: &str, command: Option<&ExternalCommand>) -> io::Result<()> {
    let first = match command {
        None => in_browser(address),
        Some(command) => showing(vec![command.clone()], address),
    };
    let mut this = first.map_err(io::Error::other)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    loop {
        let (next, began) = (this.next(), clock::instant());
        let ended = runtime.block_on(async {
            if this.command.on_terminal {
                run_on_terminal(this).await
            } else {
                run(this, WATCHED).await
            }
        });
        let Err(why) = ended else { return Ok(()) };
        let Some(other) = next.filter(|_| began.elapsed() <= WATCHED) else {
            return Err(io::Error::other(match command {
                Some(_) => RunFailure::OwnCommand(Box::new(why)),
                None => RunFailure::NotOpened(Box::new(why), address.to_owned()),
            }));
        };
        this = other;
    }
}

/// Returns the run of the browser that opens a URL: of the programs in `BROWSER`, or else of the desktop, those that exist.
pub(in crate::io) fn in_browser(address: &str) -> Result<ExternalRun, RunFailure> {
    let said = |name: &str| std::env::var(name).unwrap_or_default();
    let has_display = cfg!(target_os = "macos")
        || ["DISPLAY", "WAYLAND_DISPLAY"].iter().any(|name| !said(name).is_empty());
    let commands = browsers(&said("BROWSER"), has_display, address);
    let commands = commands.into_iter().filter(|command| is_program(command.program()));
    showing(commands.collect(), address)
}

/// Returns the run of commands that open a URL, which cannot be mistaken for an option or a file (SPEC G.52).
fn showing(commands: Vec<ExternalCommand>, address: &str) -> Result<ExternalRun, RunFailure> {
    if !is_web_address(address) {
        return Err(RunFailure::NotWeb(address.to_owned()));
    }
    let run = ExternalRun::showing(commands, RunInput::Nothing);
    run.ok_or_else(|| RunFailure::NoBrowser(address.to_owned()))
}
