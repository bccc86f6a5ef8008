//! Opens addresses in the reader's browser.

use std::process::{Command, Stdio};

/// Opens an http, https or mailto address (SPEC G.52) with the program that `BROWSER` names, else with that of the
/// desktop. Does not wait for the browser.
pub fn open(address: &str) -> Result<(), String> {
    let scheme = url::Url::parse(address).map(|url| url.scheme().to_owned());
    if !matches!(scheme.as_deref(), Ok("http" | "https" | "mailto")) {
        return Err(format!("'{address}' is not an address a browser may open from here"));
    }
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
