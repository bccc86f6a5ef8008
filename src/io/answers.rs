//! The channel through which worker threads send their results to the main loop.

use std::sync::Arc;

use tokio::sync::mpsc::UnboundedSender;

use crate::engine::input::Input;

/// Sends inputs to the main loop, whatever other messages the loop receives.
#[derive(Clone)]
pub struct Answers(Arc<dyn Fn(Input) + Send + Sync>);

impl Answers {
    /// Creates a sender for a channel whose messages can contain an input.
    pub fn new<M: From<Input> + Send + 'static>(sender: UnboundedSender<M>) -> Self {
        // A loop that has ended needs no answers.
        Self(Arc::new(move |input| drop(sender.send(input.into()))))
    }

    /// Sends an input.
    pub fn send(&self, input: Input) {
        (self.0)(input);
    }
}

impl std::fmt::Debug for Answers {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Answers").finish_non_exhaustive()
    }
}
