//! The command line, through the real binary.
//!
//! The tests in `commands/` run three times: the store is free, a reader has it open, a service has it open. What they
//! expect is the same each time. The tests beside this file run once: they are about no store, about damaged files, or
//! about the owner itself.

#[path = "commands/mod.rs"]
pub mod store_free;

#[path = "commands/mod.rs"]
pub mod reader_open;

#[path = "commands/mod.rs"]
pub mod service_running;

pub mod alone;
pub mod damage;
pub mod few_files;
pub mod hand_over;
pub mod hand_overs;
pub mod hostile;
pub mod kills;
pub mod lint;
pub mod logins;
pub mod many_hands;
pub mod odd_files;
pub mod owner;
pub mod panics;
pub mod planned_documents;
pub mod sentences;
pub mod simulate;
pub mod soak;
pub mod told_to_end;
