//! Opens links in the user's browser.

use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use crate::engine::external::external_command::ExternalCommand;
use crate::engine::external::run_external::is_web_address;
use crate::io::system::words::system_words;

/// Opens a URL with the user's command, which already contains the URL, or in the browser if there is no command. Only URLs that
/// are safe to open are accepted (SPEC G.52). Waits only for a command that needs the terminal.
pub fn open_with(address: &str, command: Option<&ExternalCommand>) -> Result<(), String> {
    let Some(line) = command else { return open(address) };
    check_address(address)?;
    let mut command = Command::new(line.program());
    command.args(line.arguments());
    let program = line.program();
    let cannot = |why: &dyn std::fmt::Display| {
        format!("'{program}', set as [commands] open in your configuration, failed: {why}")
    };
    if line.on_terminal {
        let ended = command.status().map_err(|error| cannot(&system_words(&error)))?;
        return if ended.success() { Ok(()) } else { Err(cannot(&ended)) };
    }
    command.process_group(0).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().map_err(|error| cannot(&system_words(&error)))?;
    // This thread waits for the child, so that it does not become a zombie.
    std::thread::spawn(move || child.wait());
    Ok(())
}

/// Accepts only URLs that cannot be mistaken for an option or a file (SPEC G.52).
fn check_address(address: &str) -> Result<(), String> {
    if is_web_address(address) {
        return Ok(());
    }
    Err(format!("only http and https addresses can be opened, not '{address}'"))
}

/// Opens an http or https URL that is safe to open (SPEC G.52) with the program in `BROWSER`, or else with the desktop's browser.
/// Does not wait for the browser.
pub fn open(address: &str) -> Result<(), String> {
    check_address(address)?;
    let named = std::env::var("BROWSER").unwrap_or_default();
    let named: Vec<&str> =
        named.split(':').map(str::trim).filter(|program| !program.is_empty()).collect();
    let started = if named.is_empty() {
        open::that_detached(address).is_ok()
    } else {
        named.iter().any(|program| start(program, address))
    };
    if started {
        return Ok(());
    }
    Err(format!(
        "no browser could be started; set the variable BROWSER to one. The address is {address}"
    ))
}

/// Starts a program that opens a URL, detached from the terminal. Returns `false` if the program cannot be started.
fn start(program: &str, address: &str) -> bool {
    let quiet = Command::new(program)
        .arg(address)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    let Ok(mut child) = quiet else { return false };
    // This thread waits for the child, so that it does not become a zombie.
    std::thread::spawn(move || child.wait());
    true
}
