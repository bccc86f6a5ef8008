//! The user's devices, which read the store over the network: their passwords, their requests, and the answers.

mod changes;
pub mod device_file;
pub mod dispatch;
pub mod front;
mod page;
mod page_gate;
mod page_html;
pub mod port;
pub mod replies;

pub use front::DeviceServer;
pub use port::DevicePort;
