//! `backissue` without a command: the reader, polling in the background.

use std::io::IsTerminal;

use super::demo;
use crate::cli::args::Options;
use crate::cli::session::{self, Failure, block_on};
use crate::cli::{Done, upkeep};
use crate::engine::settings::Settings;
use crate::io::clock;
use crate::io::performing::Ending;
use crate::io::runtime::Runtime;
use crate::io::store::Store;
use crate::io::terminal::Terminal;
use crate::ui::app::App;
use crate::ui::reconfigure;

/// Runs the reader.
pub(in crate::cli) fn run(options: &Options) -> Result<Done, Failure> {
    loop {
        let configured = session::configured(options)?;
        let (store, recovered) = session::store_or_recovered(options)?;
        let (ending, settings, store) = block_on(async {
            let mut runtime = Runtime::with_screen(store, configured.settings, configured.screen)?;
            let theme = runtime.program.ui.settings.theme.clone();
            session::follow_configuration(&runtime, options, theme);
            if !configured.notes.is_empty() {
                let now = clock::precise_now();
                reconfigure::tell(&mut runtime.program, now, "", &configured.notes);
            }
            runtime.program.engine.offline = options.offline;
            session::dress(options, &mut runtime);
            if let Some(sentence) = recovered {
                runtime.program.ui.complain(clock::precise_now(), sentence);
            }
            session::stop_on_signals(&runtime);
            show(runtime, options.verbose).await
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
                if demo::look_around(options)? == Ending::Stop {
                    return Ok(Done::All);
                }
            }
        }
    }
}

/// Shows the screen until the reader leaves it; everything is saved. Gives back what is configured by then, and the store.
pub(in crate::cli) async fn show(
    mut runtime: Runtime<App>,
    verbose: bool,
) -> Result<(Ending, Settings, Store), Failure> {
    if !std::io::stdout().is_terminal() {
        return Err(Failure::new(
            "the reader needs a terminal; 'backissue --help' names the commands without a screen",
        ));
    }
    let mut terminal = Terminal::take(verbose, &runtime.program.ui.settings)
        .map_err(|error| Failure::new(format!("the terminal cannot be used ({error}); run backissue in a terminal, or see 'backissue --help' for commands without a screen")))?;
    let ending = runtime.on_screen(&mut terminal).await;
    drop(terminal);
    let settings = runtime.program.engine.settings.clone();
    let store = runtime.stop()?;
    Ok((ending?, settings, store))
}
