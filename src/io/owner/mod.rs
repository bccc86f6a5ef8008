//! The process that has the store open does the work of the others: they hand it their command lines through a socket,
//! and it answers with what is to be printed.
//!
//! A command line is sent as it was typed and read again by the same version of the program, so a command does the same
//! wherever it runs. Files are read and written by the process that was started for the command: its folder, its
//! rights and its disk are meant.

pub mod address;
pub mod client;
pub mod frames;
pub mod guest;
pub mod listener;
pub mod messages;
