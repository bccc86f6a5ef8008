//! The files of the store: an append-only pack that holds everything, and a sled database as its index.
//!
//! Each change of records is appended to the pack as one [`frame`], with a checksum, and synced before it is reported as done. sled
//! holds small records, and the places of large ones in the pack. It can be rebuilt from the pack at any time, so it is never
//! synced, and its files are discarded whenever they do not say that they hold exactly what the pack holds ([`database`]).

pub(super) mod database;
pub(super) mod frame;
pub(super) mod pack_file;
pub(super) mod table;

pub(super) use database::Database;
pub(super) use pack_file::PackPlace;
pub(super) use table::{Batch, Pair, Table, TableName, Tables};
