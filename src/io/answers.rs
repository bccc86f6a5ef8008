//! The channel by which the threads below the loop answer it.

use std::sync::Arc;

use tokio::sync::mpsc::UnboundedSender;

use crate::engine::input::Input;

/// Sends inputs to the loop, whatever else the loop takes.
#[derive(Clone)]
pub struct Answers(Arc<dyn Fn(Input) + Send + Sync>);

impl Answers {
    /// Answers over a channel whose messages can hold an input.
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
