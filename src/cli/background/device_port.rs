//! The port at which devices are served. It stays open while the store changes hands.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::mpsc::channel;

use crate::cli::args::Options;
use crate::cli::session::{self, Failure, block_on};
use crate::io::console;
use crate::io::devices::DeviceServer;
use crate::io::devices::device_file::DeviceFile;
use crate::io::devices::front::{API_PATH, BODY_MAX};
use crate::io::publisher::server::Publisher;
use crate::io::system::system_words;

/// Opens the port and prints its address. It is served by a thread of its own until the process ends.
pub(super) fn open(options: &Options, address: SocketAddr) -> Result<Arc<DeviceServer>, Failure> {
    let settings = session::read_settings(options)?;
    let file = DeviceFile::of(&settings).ok_or_else(|| {
        Failure::new("there is no folder for the configuration, so no device can be let in")
    })?;
    if file.read().map_err(Failure::new)?.is_empty() {
        console::tell("no device is let in: 'backissue device add phone' adds one");
    }
    if !address.ip().is_loopback() {
        console::tell(
            "this address is not encrypted: others in the network could read passwords and texts; put a web server with TLS in front",
        );
    }
    let server = Arc::new(DeviceServer::new(file, session::data_dir(options)?, settings.serve));
    let (answering, (bound, told)) = (Arc::clone(&server), channel());
    let serving = move || {
        block_on(async {
            let publisher = match Publisher::bind_address(address).await {
                Ok(publisher) => publisher,
                Err(error) => {
                    bound.send(Err(error)).ok();
                    return Ok(());
                }
            };
            let base = publisher.base_url();
            let running =
                publisher.serve_slowly(BODY_MAX, move |request| answering.answer(&request));
            bound.send(Ok(base)).ok();
            std::future::pending::<()>().await;
            drop(running);
            Ok(())
        })
    };
    let cannot = |error: &std::io::Error| {
        Failure::new(format!("{address} cannot be served: {}", system_words(error)))
    };
    std::thread::Builder::new().name("devices".into()).spawn(serving).map_err(|it| cannot(&it))?;
    let base = told.recv().map_err(|_| Failure::new("no thread could be started"))?;
    let base = base.map_err(|error| cannot(&error))?;
    console::put(&format!("{base}{API_PATH}"));
    console::tell(&format!("in a browser: {base}/"));
    Ok(server)
}
