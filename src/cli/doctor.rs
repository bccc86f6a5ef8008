//! `backissue doctor`: checks configuration, terminal and store.

use std::io::IsTerminal;

use super::Done;
use super::args::{DoctorArgs, Options};
use super::session::{self, Failure};
use crate::io::console;

/// Runs the command: status 1 if something is wrong and was not put right.
pub(super) fn run(options: &Options, args: &DoctorArgs) -> Result<Done, Failure> {
    let settings = session::settings(options);
    match &settings {
        Ok(_) => console::put("configuration: good"),
        Err(failure) => console::put(&format!("configuration: {}", failure.sentence)),
    }
    let size = crossterm::terminal::size().ok().filter(|_| std::io::stdout().is_terminal());
    match size {
        Some((columns, rows)) => console::put(&format!("terminal: {columns} x {rows}")),
        None => console::put("terminal: none here"),
    }
    let health = session::store(options)?.check(args.repair)?;
    console::put(&format!(
        "store: {} subscriptions, {} entries, {} kB in {}",
        health.feeds,
        health.entries,
        health.disk_bytes / 1000,
        session::data_dir(options)?.display()
    ));
    for finding in &health.findings {
        console::put(&format!(
            "  {}{}",
            finding.text,
            if finding.repaired { " (put right)" } else { "" }
        ));
    }
    if health.findings.is_empty() {
        console::put("store: every record reads, every sum equals its recount");
    } else if health.findings.iter().any(|finding| !finding.repaired) && !args.repair {
        console::put("'backissue doctor --repair' puts right what can be put right");
    }
    let wrong = settings.is_err() || health.findings.iter().any(|finding| !finding.repaired);
    Ok(if wrong { Done::WithFailures } else { Done::All })
}
