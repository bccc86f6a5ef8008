//! Opening an address in the reader's browser.

use std::process::{Command, Stdio};

/// Opens an address; only http, https and mailto ones (SPEC G.52). `BROWSER` names the program, else the
/// desktop's is taken. The browser goes on by itself.
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

/// Starts a program with an address; its words and questions stay away from the screen.
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
