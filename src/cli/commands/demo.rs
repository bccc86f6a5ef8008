//! `backissue demo`: the full program with a bundled publisher and a temporary store.

use crate::cli::Done;
use crate::cli::args::Options;
use crate::cli::session::{self, Failure, block_on};
use crate::cli::show_screen::show_screen;
use crate::engine::feeds::addition::Subscribe;
use crate::engine::request::Request;
use crate::engine::settings::Settings;
use crate::io::clock;
use crate::io::performing::Ending;
use crate::io::publisher::demo_server::DemoServer;
use crate::io::runtime::Runtime;
use crate::io::store::Store;
use crate::io::system::words::system_words;
use crate::ui::screen::Tour;
use crate::ui::settings::ScreenSettings;

/// Runs `backissue demo`.
pub(in crate::cli) fn run(options: &Options) -> Result<Done, Failure> {
    run_demo(options).map(|_| Done::All)
}

/// Runs the demo and returns how the user left it.
pub(in crate::cli) fn run_demo(options: &Options) -> Result<Ending, Failure> {
    let folder = tempfile::Builder::new().prefix("backissue-demo-").tempdir().map_err(|error| {
        Failure::new(format!("no folder could be created for the demo: {}", system_words(&error)))
    })?;
    let store = Store::open(folder.path())?;
    block_on(async {
        let server = DemoServer::start(clock::now).await.map_err(|error| {
            Failure::new(format!("the demo's server cannot start: {}", system_words(&error)))
        })?;
        let mut runtime = {
            let (mut settings, screen) = demo_settings(options);
            settings.downloads.folder = folder.path().join("downloads").to_string_lossy().into();
            Runtime::with_screen(store, settings, screen)?
        };
        session::dress_screen(options, &mut runtime);
        session::stop_on_signals(&runtime);
        for offer in server.site.subscriptions() {
            let (address, tags) = (offer.url, offer.tags);
            let wanted = Subscribe { address, tags, unasked: true, ..Subscribe::default() };
            // They are none of the user's changes, so an undo does not remove them.
            runtime.ask(Request::Arrived(Box::new(Request::Subscribe(Box::new(wanted)))));
        }
        runtime.program.ui.tour = Some(Tour::default());
        show_screen(runtime, None, options.verbose).await.map(|left| left.ending)
    })
}

/// Returns settings for a publisher in this process: no delays between requests, and a poll as often as every minute.
fn demo_settings(options: &Options) -> (Settings, ScreenSettings) {
    // The user's own screen settings apply. Errors in the configuration are ignored here, because other commands report them.
    let screen = session::read_configuration(options).unwrap_or_default().screen;
    let mut settings = Settings::default();
    settings.network.space_loopback = false;
    settings.poll.min_minutes = 1;
    settings.poll.start_spread_seconds = 0;
    (settings, screen)
}
