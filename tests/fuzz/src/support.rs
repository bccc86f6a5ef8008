//! What the targets use of the integration tests.

#[path = "../../it/support/dice.rs"]
pub mod dice;
