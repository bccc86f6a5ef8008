//! Inputs of the engine, as one closed enum.

use std::sync::Arc;

use chrono_tz::Tz;

use super::downloads::transfer::{DownloadNews, PlayerNews};
use super::entries::ahead_work::PictureTaskDone;
use super::external::external_run::{ExternalRun, RunPurpose};
use super::external::run_failure::RunFailure;
use super::feeds::addition::LoginToKeep;
use super::poll::fetch::{FetchId, Fetched};
use super::request::Request;
use super::settings::Settings;
use super::store_work::Stored;
use backissue_core::history::{EntryKey, FeedKey};
use backissue_core::schedule::learning::LearnedPlan;

/// An input of the engine.
#[derive(Debug, Clone, PartialEq)]
pub enum Input {
    /// Time has passed: something may be due.
    Tick,
    /// The machine was asleep, or its clock was set.
    Woke,
    /// The time zone changed.
    ZoneChanged(Tz),
    /// A client made a request.
    Request(Request),
    /// A fetch ended.
    Fetched(FetchId, Box<Fetched>),
    /// A report about the download with this number.
    Download(u32, DownloadNews),
    /// A report of the player of the download with this number.
    Playing(u32, PlayerNews),
    /// The store finished or failed a job.
    Stored(Box<Stored>),
    /// A learning run for a feed ended with a learned plan, or with `None` if there was too little data.
    Learned(FeedKey, Option<Arc<LearnedPlan>>),
    /// The search for entries that match the filter with this number ended: with the entries, or with an error as a sentence.
    FilterHits(u32, Result<Vec<EntryKey>, String>),
    /// Work on the picture cache ended.
    PictureTaskDone(PictureTaskDone),
    /// A user's external command ended, with what it printed.
    Ran(RunPurpose, Result<Option<String>, RunFailure>),
    /// A command failed at once, and this one is to be tried in its place.
    TryNext(Box<ExternalRun>),
    /// A login was written to the credentials file. If the write failed, the error is a sentence.
    LoginKept(Box<LoginToKeep>, Result<(), String>),
    /// The configuration was reloaded.
    Reconfigured(Box<Settings>),
    /// The search index has more entries than before.
    Indexed {
        /// Number of entries not indexed yet.
        missing: u32,
    },
    /// A problem outside the engine that only the user can fix, as a sentence.
    Trouble(String),
}
