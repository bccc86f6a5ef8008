//! The parts of the integration tests that the targets use.

#[path = "../../it/support/dice.rs"]
pub mod dice;
