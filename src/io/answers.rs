//! The channel through which worker threads send their results to the main loop, and the error for a command that is still running
//! when the main loop ends.

use std::sync::Arc;

use tokio::sync::mpsc::UnboundedSender;

use crate::engine::request::Input;

/// Sends inputs to the main loop. The type of the channel's messages is hidden, so that the sender works with each kind of loop.
#[derive(Clone)]
pub struct Answers(Arc<dyn Fn(Input) + Send + Sync>);

impl Answers {
    /// Creates a sender for a channel whose message type can be made from an input.
    pub fn new<M: From<Input> + Send + 'static>(sender: UnboundedSender<M>) -> Self {
        // Sending fails only if the main loop has ended, and then the result is not needed.
        Self(Arc::new(move |input| drop(sender.send(input.into()))))
    }

    /// Sends an input to the main loop.
    pub fn send(&self, input: Input) {
        (self.0)(input);
    }
}

impl std::fmt::Debug for Answers {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Answers").finish_non_exhaustive()
    }
}

/// The main loop ended before the command finished.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "the backissue that had the store open ended before this was done; what it reported is saved; run the command again"
)]
pub struct LoopEnded;
