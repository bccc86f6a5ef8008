//! The whole program in simulation: engine, screen, parser and store are real; publishers, people, the network, the machine and
//! its clock are generated from a seed. The invariants are checked after every step.
//!
//! `BACKISSUE_SEEDS=300 BACKISSUE_DAYS=30 cargo test --test it simulation::` runs 300 seeds of 30 days. A failing seed prints a
//! shorter failing scenario, its last steps in words, and how to run it again: `BACKISSUE_SCENARIO=7/30/0+2/Crashes+Moves`.

mod acts;
mod checks;
mod crash;
mod happenings;
mod keeper;
mod machine;
mod people;
mod publishers;
mod run;
mod scenario;
mod story;
