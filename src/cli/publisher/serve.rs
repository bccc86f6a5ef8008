//! `backissue serve`: serves a folder of published feeds on this machine, until interrupted.

use crate::cli::Done;
use crate::cli::args_publish::ServeArgs;
use crate::cli::session::{Failure, block_on};
use crate::io::console;
use crate::io::publisher::folder_site::FolderSite;
use crate::io::publisher::server::Publisher;
use crate::io::signals::Stops;
use crate::io::system::words::system_words;

/// Runs `backissue serve`.
pub(in crate::cli) fn run(args: &ServeArgs) -> Result<Done, Failure> {
    let named = args.folder.display();
    let cannot =
        |error| Failure::new(format!("'{named}' cannot be served: {}", system_words(&error)));
    let site = FolderSite::open(&args.folder).map_err(cannot)?;
    let feeds = site.feeds().map_err(cannot)?;
    let mut stops = Stops::of_process();
    block_on(async {
        let bound = Publisher::bind_at(args.port).await.map_err(|error| {
            let why = system_words(&error);
            Failure::new(format!(
                "port {} cannot be used: {why}; choose another with --port",
                args.port
            ))
        })?;
        let base = bound.base_url();
        let server = bound.serve(move |request| site.answer(&request));
        console::put(&format!("{base}/"));
        for feed in &feeds {
            console::put(&format!("{base}{feed}"));
        }
        stops.wait().await;
        drop(server);
        Ok(Done::All)
    })
}
