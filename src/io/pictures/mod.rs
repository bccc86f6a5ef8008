//! Pictures of entries: cached on disk, measured, decoded, and encoded for the terminal.
//!
//! Decoders read untrusted bytes, so they run on the blocking pool, within limits, and a panic becomes an error.

mod cache;
mod decoding;
mod drawing;

pub use super::pictures::cache::PictureCache;
pub use decoding::measure;
pub use drawing::draw;

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};

use super::panics::catch_panic;
use crate::engine::entries::ahead_work::{PictureTask, PictureTaskDone};
use crate::ui::state::pictures::{OF_AN_ENTRY_MAX, PictureAnswer, PictureWork};
use crate::view::html;

/// Performs one request of the screen for a picture, using the picture cache.
pub fn perform(wish: PictureWork, cache: &PictureCache) -> PictureAnswer {
    match wish {
        PictureWork::Find(url) => {
            // A picture is measured before it is cached. If that fails now, the file is damaged, and the picture is fetched again.
            let found = cache.find(&url).and_then(|bytes| guarded(|| measure(&bytes)).ok());
            PictureAnswer::Found(url, found.map(Ok))
        }
        PictureWork::Keep(url, bytes) => {
            let measured = guarded(|| measure(&bytes));
            let kept = measured.and_then(|size| cache.keep(&url, &bytes).map(|()| size));
            PictureAnswer::Found(url, Some(kept))
        }
        PictureWork::Draw(wanted) => {
            let bytes = cache.find(&wanted.url);
            let gone = || {
                "it is no longer stored · hide and show the pictures to fetch it again".to_owned()
            };
            let drawn = bytes.ok_or_else(gone).and_then(|bytes| guarded(|| draw(&bytes, &wanted)));
            if drawn.is_err() {
                cache.forget(&wanted.url);
            }
            PictureAnswer::Drawn(wanted, drawn)
        }
    }
}

/// Performs work of the engine on the picture cache, for pictures that are fetched ahead.
pub fn perform_ahead(
    task: PictureTask,
    cache: &PictureCache,
    now: DateTime<Utc>,
) -> PictureTaskDone {
    match task {
        PictureTask::Find(feed, texts) => {
            let (mut found, mut seen) = (Vec::new(), BTreeSet::new());
            for text in texts {
                let pictures = html::picture_addresses(&text.html, text.base.as_deref());
                let missing = pictures
                    .into_iter()
                    .take(OF_AN_ENTRY_MAX)
                    .filter(|url| seen.insert(url.clone()) && !cache.is_known(url, now));
                found.extend(missing.map(|url| (text.key, url)));
            }
            PictureTaskDone::Found(feed, found)
        }
        PictureTask::Keep(url, bytes) => {
            let kept = bytes.is_some_and(|bytes| {
                guarded(|| measure(&bytes)).is_ok() && cache.keep(&url, &bytes).is_ok()
            });
            if !kept {
                cache.note_failed(&url);
            }
            PictureTaskDone::Kept(url)
        }
    }
}

fn guarded<T>(work: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    catch_panic(work).unwrap_or_else(|| Err("it is damaged".to_owned()))
}
