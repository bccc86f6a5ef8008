//! `backissue watch`: the poller without a screen, for a service manager.

use crate::cli::Done;
use crate::cli::args::Options;
use crate::cli::session;
use crate::cli::session::Failure;
use crate::cli::session::block_on;
use crate::cli::upkeep;
use crate::io::console;
use crate::io::runtime::Runtime;

/// Runs until the system says stop; everything is saved.
pub(in crate::cli) fn run(options: &Options) -> Result<Done, Failure> {
    let configured = session::configured(options)?;
    // Who stops a service wants it to end at once: what others do at their end is done first.
    let store = match upkeep::at_the_start(session::store(options)?, &configured.settings)? {
        Some(store) => store,
        None => session::store(options)?,
    };
    block_on(async {
        let mut runtime = Runtime::start(store, configured.settings)?;
        session::follow_configuration(&runtime, options);
        runtime.model.offline = options.offline;
        session::stop_on_signals(&runtime);
        for note in &configured.notes {
            console::tell(&format!("configuration: {note}"));
        }
        console::tell(&format!(
            "watching {} subscriptions; interrupt to stop",
            runtime.model.feeds.len()
        ));
        let mut told = 0;
        runtime
            .until(|model| {
                let run = &model.run;
                if options.verbose && model.busy.is_empty() && run.done > 0 && told != run.noted {
                    told = run.noted;
                    console::tell(&format!(
                        "{} polled, {} failed, {} new entries",
                        run.done, run.failed, run.new
                    ));
                }
                false
            })
            .await;
        runtime.stop()?;
        Ok(Done::All)
    })
}
