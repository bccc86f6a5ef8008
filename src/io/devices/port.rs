//! The port for devices. It stays open while the store is handed over to other processes.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::channel;

use backissue_core::{InputFlaw, flaw};
use tokio::sync::oneshot;

use super::device_file::DeviceFile;
use super::front::{API_PATH, BODY_MAX, DeviceServer};
use crate::engine::settings::Settings;
use crate::io::publisher::server::Publisher;
use crate::io::system::system_words;

/// An open port. A thread serves it until this value is dropped.
#[derive(Debug)]
pub struct DevicePort {
    /// Answers the requests.
    pub server: Arc<DeviceServer>,
    /// Address of the page for browsers, without a slash at its end.
    pub base: String,
    /// Notes about the port for the user.
    pub notes: Vec<&'static str>,
    /// Closes the port when it is dropped.
    _open: oneshot::Sender<()>,
}

/// Reads the address of the port: the number of a port of this machine, or an IP address with a port.
pub fn read_address(typed: &str) -> Result<SocketAddr, InputFlaw> {
    let of_port = |port| (Ipv4Addr::LOCALHOST, port).into();
    let read = typed.parse().map(of_port).or_else(|_| typed.parse());
    read.map_err(|_| {
        flaw!("use a port such as 8086, or an address with a port such as 192.168.1.2:8086")
    })
}

impl DevicePort {
    /// Opens the port and starts its thread. The error is a sentence.
    pub fn open(
        settings: &Settings,
        data: PathBuf,
        address: SocketAddr,
    ) -> Result<Self, InputFlaw> {
        let file = DeviceFile::of(settings).ok_or_else(|| {
            flaw!("there is no folder for the configuration, so no device can be let in")
        })?;
        let mut notes = Vec::new();
        if !address.ip().is_loopback() {
            notes.push(
                "not encrypted: others in the network could read passwords and texts; put a web server with TLS in front",
            );
        }
        if file.read()?.is_empty() {
            notes.push("no device is let in: 'backissue device add phone' adds one");
        }
        let server = Arc::new(DeviceServer::new(file, data, settings.serve.clone()));
        let answering = Arc::clone(&server);
        let ((open, closed), (bound, told)) = (oneshot::channel::<()>(), channel());
        let serve = move || {
            let built = tokio::runtime::Builder::new_current_thread().enable_all().build();
            let Ok(runtime) = built else { return };
            runtime.block_on(async {
                let publisher = match Publisher::bind_address(address).await {
                    Ok(publisher) => publisher,
                    Err(error) => return drop(bound.send(Err(error))),
                };
                bound.send(Ok(publisher.base_url())).ok();
                let running =
                    publisher.serve_slowly(BODY_MAX, move |request| answering.answer(&request));
                closed.await.ok();
                drop(running);
            });
            runtime.shutdown_background();
        };
        let cannot = |why: String| flaw!("{address} cannot be served: {why}");
        let begun = std::thread::Builder::new().name("devices".into()).spawn(serve);
        begun.map_err(|error| cannot(system_words(&error)))?;
        let base = told.recv().map_err(|_| cannot("no thread could be started".to_owned()))?;
        let base = base.map_err(|error| cannot(system_words(&error)))?;
        Ok(Self { server, base, notes, _open: open })
    }

    /// Returns the address to enter in an app.
    pub fn api(&self) -> String {
        format!("{}{API_PATH}", self.base)
    }
}
