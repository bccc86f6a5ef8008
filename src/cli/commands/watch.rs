//! `backissue watch`: the poller without a screen, for a service manager.

use crate::cli::args::Options;
use crate::cli::session::{self, Failure, block_on};
use crate::cli::{Done, upkeep};
use crate::engine::event::NoticeLevel;
use crate::io::console;
use crate::io::runtime::Runtime;

/// Runs until the system says stop; everything is saved.
pub(in crate::cli) fn run(options: &Options) -> Result<Done, Failure> {
    let configured = session::read_configuration(options)?;
    // Who stops a service wants it to end at once: what others do at their end is done first.
    let store = match upkeep::at_the_start(session::open_store(options)?, &configured.settings)? {
        Some(store) => store,
        None => session::open_store(options)?,
    };
    block_on(async {
        let mut runtime = Runtime::headless(store, configured.settings)?;
        session::follow_configuration(&runtime, options, configured.screen.theme);
        runtime.program.engine.offline = options.offline;
        session::stop_on_signals(&runtime);
        for note in &configured.notes {
            console::tell(&format!("configuration: {note}"));
        }
        console::tell(&format!(
            "watching {} subscriptions; interrupt to stop",
            runtime.program.engine.feeds.len()
        ));
        let mut told = 0;
        runtime
            .until(|program| {
                for (level, text) in program.notices() {
                    if level == NoticeLevel::Trouble {
                        console::tell(&format!("backissue: {text}"));
                    }
                }
                let engine = &program.engine;
                let run = &engine.poll_run;
                if options.verbose && engine.polls.is_empty() && run.done() > 0 && told != run.noted
                {
                    told = run.noted;
                    console::tell(&format!(
                        "{} polled, {} failed, {} new entries",
                        run.done(),
                        run.failed,
                        run.new
                    ));
                }
                false
            })
            .await;
        runtime.stop()?;
        Ok(Done::All)
    })
}
