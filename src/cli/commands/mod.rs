//! The subcommands.

pub(super) mod accounts;
pub(super) mod add;
mod ahead;
pub(super) mod changes;
pub(super) mod devices;
pub(super) mod doctor;
pub(super) mod downloads;
pub(super) mod entries;
pub(super) mod feeds;
pub(super) mod filters;
pub(super) mod generated;
pub(super) mod history;
pub(super) mod moving;
pub(super) mod poll;
pub(super) mod screen;
