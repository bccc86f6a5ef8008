//! `backissue` without a command: the reader, polling in the background.

use super::demo;
use crate::cli::args::Options;
use crate::cli::session::{self, Failure, block_on};
use crate::cli::show_screen::show_screen;
use crate::cli::{Done, upkeep};
use crate::io::clock;
use crate::io::performing::Ending;
use crate::io::runtime::Runtime;
use crate::ui::reconfigure;

/// Runs the reader.
pub(in crate::cli) fn run(options: &Options) -> Result<Done, Failure> {
    loop {
        let configured = session::read_configuration(options)?;
        let (store, recovered) = session::store_or_recovered(options)?;
        let (ending, settings, store) = block_on(async {
            let mut runtime = Runtime::with_screen(store, configured.settings, configured.screen)?;
            let theme = runtime.program.ui.settings.theme.clone();
            session::follow_configuration(&runtime, options, theme);
            if !configured.notes.is_empty() {
                let now = clock::precise_now();
                reconfigure::tell_notes(&mut runtime.program, now, "", &configured.notes);
            }
            runtime.program.engine.offline = options.offline;
            session::dress_screen(options, &mut runtime);
            if let Some(sentence) = recovered {
                runtime.program.ui.complain(clock::precise_now(), sentence);
            }
            session::stop_on_signals(&runtime);
            show_screen(runtime, options.verbose).await
        })?;
        match ending {
            Ending::Quit => {
                upkeep::at_the_end(store, &settings)?;
                return Ok(Done::All);
            }
            // Who stops the program wants it to end now.
            Ending::Stop | Ending::Suspend => return Ok(Done::All),
            // Who leaves the demo comes back to where it was offered.
            Ending::Demo => {
                drop(store);
                if demo::run_demo(options)? == Ending::Stop {
                    return Ok(Done::All);
                }
            }
        }
    }
}
