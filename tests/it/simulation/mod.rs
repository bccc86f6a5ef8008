//! The whole program in simulation: engine, screen, parser and store are real; publishers, people, the network, the
//! machine and its clock come from a seed. After every step it is looked at whether what must hold holds.
//!
//! `BACKISSUE_SEEDS=300 BACKISSUE_DAYS=30 cargo test --test it simulation::` lives through more of them than the ordinary
//! run. A seed that fails prints a shorter scenario that fails as well, its last steps in words, and how to see it again:
//! `BACKISSUE_SCENARIO=7/30/0+2/Crashes+Moves`.

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
