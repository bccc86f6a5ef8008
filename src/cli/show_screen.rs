//! Shows the screen of the feed reader until the user leaves the screen, and the text shown while another process has the store.

use std::io::{self, IsTerminal};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use super::args::Options;
use super::session::{self, Failure};
use crate::engine::request::Request;
use crate::engine::settings::Settings;
use crate::io::devices::DevicePort;
use crate::io::owner::client::wait_for_close;
use crate::io::owner::listener::Listener;
use crate::io::owner::messages::Taker;
use crate::io::performing::Ending;
use crate::io::runtime::{Program, Runtime};
use crate::io::signals::Stops;
use crate::io::store::Store;
use crate::io::system::system_words;
use crate::io::terminal::Terminal;
use crate::ui::app::App;
use crate::ui::keys::key::Code;
use crate::ui::update::ScreenInput;

/// Maximum wait at exit for responses to network requests that were already sent.
const ANSWERS_TIME: Duration = Duration::from_secs(1);
/// Time for commands of other processes to finish at exit.
const GUESTS_TIME: Duration = Duration::from_secs(1);
/// Time for commands of other processes to end after they are cancelled.
const CANCELLED_GUESTS_TIME: Duration = Duration::from_secs(2);

/// The state after the screen was left and everything was saved.
pub(in crate::cli) struct ScreenExit {
    /// The reason for leaving the screen.
    pub(in crate::cli) ending: Ending,
    /// The current settings.
    pub(in crate::cli) settings: Settings,
    /// The store.
    pub(in crate::cli) store: Store,
    /// The port for devices. It stays open while another process has the store.
    pub(in crate::cli) port: Option<DevicePort>,
    /// The listener, which holds the connection of a process that waits for the store.
    pub(in crate::cli) listener: Option<Listener>,
}

/// Shows the screen until the user leaves the screen, ends the commands of other processes, and saves everything.
pub(in crate::cli) async fn show_screen(
    mut runtime: Runtime<App>,
    listener: Option<Listener>,
    verbose: bool,
) -> Result<ScreenExit, Failure> {
    if !io::stdout().is_terminal() {
        return Err(Failure::new(
            "the reader needs a terminal; 'backissue --help' lists the commands that do not",
        ));
    }
    let mut terminal = Terminal::take(verbose, &runtime.program.ui.settings)
        .map_err(|error| Failure::new(format!("the terminal cannot be used ({}); run backissue in a terminal, or see 'backissue --help' for commands without a screen", system_words(&error))))?;
    let ending = runtime.on_screen(&mut terminal).await;
    let port = runtime.port.take();
    if let Some(port) = &port {
        port.server.has_store(None);
    }
    if let Some(text) = runtime.program.awaited_at_end() {
        // If the explanation cannot be shown, the wait for the commands continues without the explanation.
        terminal.show_text(&text).ok();
    }
    if let Some(listener) = &listener {
        end_guests(&mut runtime, listener).await;
    }
    finish_polls(&mut runtime).await;
    drop(terminal);
    let settings = runtime.program.engine.settings.clone();
    let store = runtime.stop()?;
    Ok(ScreenExit { ending: ending?, settings, store, port, listener })
}

/// The outcome of a wait for the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::cli) enum WaitEnd {
    /// The process that had the store ended.
    Ended,
    /// The user takes the store back.
    TakenBack,
    /// The user quits.
    Quit,
}

/// Shows which process has the store, and waits until that process ends or the user decides.
pub(in crate::cli) async fn wait_for_store(
    options: &Options,
    lent: UnixStream,
    taker: Taker,
) -> Result<WaitEnd, Failure> {
    let broken = |error: io::Error| {
        Failure::new(format!("the terminal cannot be used: {}", system_words(&error)))
    };
    let configured = session::read_configuration(options)?;
    let mut terminal = Terminal::take(false, &configured.screen).map_err(broken)?;
    let mut ended = std::pin::pin!(wait_for_close(lent));
    let mut stops = Stops::of_process();
    let text = match taker {
        Taker::Reader => "taken over by another terminal · Enter takes it back · q quits",
        Taker::Command => {
            "another backissue needs the store; the reader returns when it is done · q quits"
        }
    };
    loop {
        terminal.show_text(text).map_err(broken)?;
        let input = tokio::select! {
            biased;
            () = &mut ended => return Ok(WaitEnd::Ended),
            () = stops.wait() => return Ok(WaitEnd::Quit),
            input = terminal.next() => input,
        };
        let ScreenInput::Key(key) = input else {
            if matches!(input, ScreenInput::Engine(_)) {
                // The terminal was closed, which counts as quitting.
                return Ok(WaitEnd::Quit);
            }
            continue;
        };
        if key.code == Code::Enter && taker == Taker::Reader {
            return Ok(WaitEnd::TakenBack);
        }
        if key.code == Code::Char('q') || (key.code == Code::Char('c') && key.ctrl) {
            return Ok(WaitEnd::Quit);
        }
    }
}

/// Waits briefly for responses to network requests that were already sent, including requests of commands that have ended,
/// because a discarded response would have to be requested again. Sends no further requests.
pub(in crate::cli) async fn finish_polls<P: Program>(runtime: &mut Runtime<P>) {
    let engine = runtime.program.engine_mut();
    engine.offline = true;
    if engine.polls.is_empty() {
        return;
    }
    let feeds = engine.polls.keys().copied().collect();
    runtime.ask(Request::StopPolls(feeds));
    let answered = runtime.until(|program| program.engine().polls.is_empty());
    tokio::time::timeout(ANSWERS_TIME, answered).await.ok();
}

/// Waits for the commands of other processes to finish, and cancels commands that take longer than [`GUESTS_TIME`].
pub(in crate::cli) async fn end_guests<P: Program>(runtime: &mut Runtime<P>, listener: &Listener) {
    listener.close();
    for (all, patience) in [(false, GUESTS_TIME), (true, CANCELLED_GUESTS_TIME)] {
        if listener.guests() > 0 {
            listener.cancel_guests(all);
            let ended = runtime.until(|_| listener.guests() == 0);
            tokio::time::timeout(patience, ended).await.ok();
        }
    }
    if listener.guests() > 0 {
        // Clients that still do not end lose their connection.
        listener.shut_guests();
        let ended = runtime.until(|_| listener.guests() == 0);
        tokio::time::timeout(GUESTS_TIME, ended).await.ok();
    }
}
