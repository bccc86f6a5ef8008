//! The bundled publisher of `backissue demo`: invented feeds that together cover every kind of feed.
//!
//! This module is pure: a response depends only on the request, the start of the demo and `now`. It opens no socket;
//! [`crate::io::publisher::server`] does.

mod catalogue;
pub(crate) mod conditional;
mod page;
mod site;
mod template;

pub use site::{DemoAnswer, DemoRequest, DemoSite, DemoSubscription};
