//! Shows the screen until the reader leaves it: the reader's own, or the demo's.

use std::io::IsTerminal;

use super::session::Failure;
use crate::engine::settings::Settings;
use crate::io::performing::Ending;
use crate::io::runtime::Runtime;
use crate::io::store::Store;
use crate::io::terminal::Terminal;
use crate::ui::app::App;

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
