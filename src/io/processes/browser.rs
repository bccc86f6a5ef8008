//! Opens addresses in the reader's browser.

use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use crate::engine::external::external_command::ExternalCommand;
use crate::engine::external::run_external::is_web_address;
use crate::io::system::words::system_words;

/// Opens an address (SPEC G.52) with a command of the reader's own, in which it stands already; without one as [`open`] does. A
/// command that needs the terminal has it until it ends; any other one is not waited for.
pub fn open_with(address: &str, command: Option<&ExternalCommand>) -> Result<(), String> {
    let Some(line) = command else { return open(address) };
    check_address(address)?;
    let mut command = Command::new(line.program());
    command.args(line.arguments());
    let program = line.program();
    let cannot = |why: &dyn std::fmt::Display| {
        format!("'{program}', which [commands] open names in your configuration, failed: {why}")
    };
    if line.on_terminal {
        let ended = command.status().map_err(|error| cannot(&system_words(&error)))?;
        return if ended.success() { Ok(()) } else { Err(cannot(&ended)) };
    }
    command.process_group(0).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().map_err(|error| cannot(&system_words(&error)))?;
    // Nobody waits for it but this thread, so that it leaves no zombie behind.
    std::thread::spawn(move || child.wait());
    Ok(())
}

/// Only addresses that cannot be taken for an option or a file (SPEC G.52).
fn check_address(address: &str) -> Result<(), String> {
    if is_web_address(address) {
        return Ok(());
    }
    Err(format!("only http and https addresses are opened from here, not '{address}'"))
}

/// Opens an http or https address (SPEC G.52) with the program that `BROWSER` names, else with that of the
/// desktop. Does not wait for the browser.
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
        "no browser could be started; name one in the variable BROWSER. The address is {address}"
    ))
}

/// Starts a program with an address, its output and input detached from the terminal.
fn start(program: &str, address: &str) -> bool {
    let quiet = Command::new(program)
        .arg(address)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    let Ok(mut child) = quiet else { return false };
    // Nobody waits for it but this thread, so that it leaves no zombie behind.
    std::thread::spawn(move || child.wait());
    true
}
