//! The user's devices, which read the store over the network: their passwords, their requests, and the answers.

mod changes;
pub mod device_file;
pub mod front;
mod page;
mod page_gate;
mod page_html;
pub mod replies;

pub use front::DevicePort;
pub use front::DeviceServer;
