//! `backissue import`: subscriptions from OPML, without a request.

use crate::cli::Done;
use crate::cli::args::{ImportArgs, Options};
use crate::cli::session::{self, Failure, block_on};
use crate::engine::request::Request;
use crate::io::{console, performing};

/// Runs the command.
pub(in crate::cli) fn run(options: &Options, args: &ImportArgs) -> Result<Done, Failure> {
    let read = performing::read_opml(&args.file).map_err(Failure::new)?;
    for bad in &read.bad {
        console::tell(&format!("line {}: {} ({})", bad.line, bad.reason, bad.text));
    }
    for flaw in &read.flaws {
        console::tell(&format!("line {}: {}", flaw.line, flaw.reason));
    }
    if let Some(broken) = &read.broken {
        let what = "breaks off; what stands before was imported";
        console::tell(&format!("'{}', line {}: the list {what}", args.file, broken.line));
    }
    block_on(async {
        let mut runtime = session::start_quietly(options)?;
        runtime.ask(Request::Import(performing::subscriptions_in(&read)));
        runtime.until(|program| program.engine.is_at_rest()).await;
        let imported = runtime.program.engine.imported.clone().unwrap_or_default();
        if let Some(why) = runtime.program.engine.not_saved.take() {
            return Err(Failure::new(why));
        }
        runtime.stop()?;
        for (address, why) in &imported.bad {
            console::tell(&format!("{address}: {why}"));
        }
        let bad = imported.bad.len().saturating_add(read.bad.len());
        console::put(&format!(
            "{} added, {} known before, {bad} could not be read; 'backissue poll' fetches what is due",
            imported.added.len(),
            imported.known.len()
        ));
        let nothing = imported.added.is_empty() && imported.known.is_empty();
        let whole = bad == 0 && read.broken.is_none();
        match (nothing, whole) {
            (true, false) => Err(Failure::new("nothing was imported")),
            (_, true) => Ok(Done::All),
            (false, false) => Ok(Done::WithFailures),
        }
    })
}
