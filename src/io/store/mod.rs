//! The store: all permanent data, in one append-only file with a sled database as its index.
//!
//! Records are packed to keep their number small: each contains 64 index rows, 32 entries or 16 texts, compressed. Changes that
//! belong together are one frame. A change is reported as done only after it was synced ([`Store::sync`]).
//!
//! The store decides nothing: `history` and `engine` determine what to write.

mod chunks;
mod commit;
mod device_records;
mod ended;
mod error;
mod filters;
mod folder_lock;
mod forget;
#[cfg(any(test, fuzzing))]
pub mod fuzzed;
mod given_numbers;
mod handle;
mod history;
mod marks;
mod open;
mod pack;
mod perform;
pub mod reading;
mod sleepy_threads;
mod store_thread;
mod syncs;
mod transaction;
pub mod upkeep;

pub use super::store::reading::subscriptions::{FeedsWanted, LoadedSubscriptions};
pub use super::store::reading::texts::Texts;
pub use super::store::store_thread::{StoreHandle, StoreThread};
pub use super::store::syncs::{AccountState, FeedLabels, SyncLine};
pub use super::store::upkeep::backup::{Backup, is_backup};
pub use super::store::upkeep::daily_backup::backup_is_due;
pub use super::store::upkeep::recovery::discard_damaged;
pub use super::system::{MeasureRoom, measure_room};
pub use device_records::{DeviceChange, DeviceRecord, DeviceStep};
pub use device_records::{EntriesWanted, EntryTest, NewToDevices, NumberedEntries};
pub use error::StoreError;
pub(super) use error::catch_sled_panic;
pub use folder_lock::{find_lock, is_data_folder, own_socket, owner_socket};
pub use handle::Store;
pub(super) use pack::database::PACK;
pub use reading::caches::SearchHit;
pub use reading::lists::MarkPlan;
pub use reading::texts::RuleHits;
pub use sleepy_threads::SessionLength;
pub use upkeep::disk_room::{Compacted, DroppedTexts};
pub use upkeep::recovery::{DamagedFolder, damaged_folders, mended_unseen};
pub use upkeep::repair::{Health, StoreProblem};
