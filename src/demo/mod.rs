//! The bundled publisher of `backissue demo`: invented feeds that together show every kind.
//!
//! Pure: what is answered follows from the request, the start of the demo and `now`. This folder
//! opens no socket; [`crate::io::publisher::server`] does.

mod catalogue;
mod page;
mod site;
mod template;

pub use site::{DemoAnswer, DemoRequest, DemoSite, DemoSubscription};
