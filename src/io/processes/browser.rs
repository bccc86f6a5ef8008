//! Opens links in the user's browser.

use std::time::Duration;

use super::run_command::{run, run_on_terminal};
use super::start::is_program;
use crate::engine::external::browsers::browsers;
use crate::engine::external::external_command::ExternalCommand;
use crate::engine::external::external_run::{ExternalRun, RunInput};
use crate::engine::external::run_external::is_web_address;
use crate::io::clock;
use crate::io::system::words::system_words;

/// Time after which a command counts as started if it has not failed.
const WATCHED: Duration = Duration::from_secs(2);

/// Opens a URL with the user's command, which already contains the URL, or in the browser if there is no command. Only URLs that
/// are safe to open are accepted (SPEC G.52). Waits until the command has failed, ended, or run for some time.
pub fn open_with(address: &str, command: Option<&ExternalCommand>) -> Result<(), String> {
    let mut next = Some(match command {
        None => in_browser(address)?,
        Some(command) => {
            check_address(address)?;
            let run = ExternalRun::showing(vec![command.clone()], RunInput::Nothing);
            run.ok_or_else(|| not_found(address))?
        }
    });
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| system_words(&error))?;
    let mut failure = String::new();
    while let Some(this) = next {
        next = this.next();
        let began = clock::instant();
        let ended = runtime.block_on(async {
            if this.command.on_terminal {
                run_on_terminal(this).await
            } else {
                run(this, WATCHED).await
            }
        });
        match ended {
            Ok(_) => return Ok(()),
            Err(why) => failure = why,
        }
        if began.elapsed() > WATCHED {
            break;
        }
    }
    Err(match command {
        Some(_) => format!("[commands] open in your configuration failed: {failure}"),
        None => format!("{failure}. The address is {address}"),
    })
}

/// Returns the run of the browser that opens a URL: of the programs in `BROWSER`, or else of the desktop, those that exist.
pub(in crate::io) fn in_browser(address: &str) -> Result<ExternalRun, String> {
    check_address(address)?;
    let said = |name: &str| std::env::var(name).unwrap_or_default();
    let has_display = cfg!(target_os = "macos")
        || ["DISPLAY", "WAYLAND_DISPLAY"].iter().any(|name| !said(name).is_empty());
    let commands = browsers(&said("BROWSER"), has_display, address);
    let commands = commands.into_iter().filter(|command| is_program(command.program()));
    ExternalRun::showing(commands.collect(), RunInput::Nothing).ok_or_else(|| not_found(address))
}

fn not_found(address: &str) -> String {
    format!(
        "no browser could be started; set the variable BROWSER to one. The address is {address}"
    )
}

/// Accepts only URLs that cannot be mistaken for an option or a file (SPEC G.52).
fn check_address(address: &str) -> Result<(), String> {
    if is_web_address(address) {
        return Ok(());
    }
    Err(format!("only http and https addresses can be opened, not '{address}'"))
}
