//! Politeness tests with the real engine and store, a scripted network and a simulated clock (SPEC D, B.4, B.8).

mod interrupted;
mod moves;
mod offline;
mod servers;
mod simulation;
mod waits;
