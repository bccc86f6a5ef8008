//! The process that has the store open runs the commands of other processes: they send it their command lines through a
//! socket, and it sends back the output.
//!
//! A command line is sent as typed and parsed by the same version of the program, so a command does the same in any process.
//! Files are read and written by the process started for the command, so that its folder, permissions and disk apply.

pub mod address;
pub mod client;
pub mod frames;
pub mod guest;
pub mod listener;
pub mod messages;
