//! Everything that can reach the engine, as one closed enum.

use std::sync::Arc;

use chrono_tz::Tz;

use super::external::external_run::RunPurpose;
use super::feeds::addition::LoginToKeep;
use super::poll::fetch::{FetchId, Fetched};
use super::request::Request;
use super::settings::Settings;
use super::store_work::Stored;
use backissue_core::history::{EntryKey, FeedKey};
use backissue_core::schedule::learning::LearnedPlan;

/// Something that happened.
#[derive(Debug, Clone, PartialEq)]
pub enum Input {
    /// Time passed.
    Tick,
    /// The machine was asleep, or its clock was set.
    Woke,
    /// The reader is in another time zone now.
    ZoneChanged(Tz),
    /// Somebody asks for something.
    Request(Request),
    /// A fetch ended.
    Fetched(FetchId, Box<Fetched>),
    /// The store did its work, or could not.
    Stored(Box<Stored>),
    /// A feed was learned; `None`: nothing could be.
    Learned(FeedKey, Option<Arc<LearnedPlan>>),
    /// What a filter hits, by its number; an error is a sentence.
    FilterHits(u32, Result<Vec<EntryKey>, String>),
    /// A command of the reader's own ended: with the first line it said, or with a sentence.
    Ran(RunPurpose, Result<Option<String>, String>),
    /// A login was written to the file of credentials, or could not be; a sentence.
    LoginKept(Box<LoginToKeep>, Result<(), String>),
    /// The configuration was read again.
    Reconfigured(Box<Settings>),
    /// The search index has more entries than before.
    Indexed {
        /// Number of entries that it still lacks.
        missing: u32,
    },
    /// Something that only the reader can put right; a sentence.
    Trouble(String),
}
