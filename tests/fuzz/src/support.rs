//! Includes the parts of the integration tests that the fuzz targets use.

#[path = "../../it/support/dice.rs"]
pub mod dice;
