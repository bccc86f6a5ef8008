//! Tests of the command line through the real binary.
//!
//! The tests in `commands/` run three times with the same expected results: with the store free, open in a reader (the terminal
//! interface), and open in a service (`watch`). The tests beside this file run once: they do not use a store, use damaged files, or
//! test the process that owns the store.

#[path = "commands/mod.rs"]
pub mod store_free;

#[path = "commands/mod.rs"]
pub mod reader_open;

#[path = "commands/mod.rs"]
pub mod service_running;

pub mod accounts;
pub mod alone;
pub mod damage;
pub mod device_page;
pub mod device_stories;
pub mod devices;
pub mod few_files;
pub mod folders;
pub mod hand_over;
pub mod hand_overs;
pub mod hostile;
pub mod kills;
pub mod lint;
pub mod logins;
pub mod many_hands;
pub mod moving;
pub mod odd_files;
pub mod owner;
pub mod panics;
pub mod publishing;
pub mod rare_first;
pub mod sentences;
pub mod simulate;
pub mod soak;
pub mod told_to_end;
