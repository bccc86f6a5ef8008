//! The HTTP client: one fetch as a value, made politely and within limits (SPEC D).
//!
//! It does not decide when to ask, and not what an answer means for a feed; that is the core's.

mod answering;
mod asking;
mod client;
mod failures;
mod lanes;
mod limits;
mod names;
mod proxies;
mod reach;
mod redirects;

pub use answering::read_body;
pub use client::Http;
pub use lanes::Surroundings;
pub use limits::Limits;
pub use names::{LookingUp, Names, SystemNames};
