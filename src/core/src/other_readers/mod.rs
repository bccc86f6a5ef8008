//! Reads the files of other feed readers: which entries were read or starred there.

pub mod elsewhere;
pub mod library;
pub mod newsboat;
pub mod newsboat_config;
pub mod sqlite;
