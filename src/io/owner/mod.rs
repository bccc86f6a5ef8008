//! The process that has the store open (the owner) runs the commands of other processes. They send their command lines to the
//! owner through a socket, and the owner sends back the output.
//!
//! A command line is sent as typed and parsed by the same version of the program, so a command does the same in any process.
//! Files are read and written by the process started for the command, so that the working folder and permissions of that process
//! apply.

pub mod address;
pub mod client;
pub mod listener;
pub mod messages;
