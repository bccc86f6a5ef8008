//! Pictures of entries: cached on disk, measured, decoded, and encoded for the terminal.
//!
//! Decoders read untrusted bytes, so they run on the blocking pool, within limits, and a panic becomes an error.

mod cache;
mod decoding;
mod drawing;

pub use super::pictures::cache::PictureCache;
pub use decoding::measure;
pub use drawing::draw;

use super::panics::catch_panic;
use crate::ui::state::pictures::{PictureAnswer, PictureWork};

/// Performs one request of the screen for a picture, using the picture cache.
pub fn perform(wish: PictureWork, cache: &PictureCache) -> PictureAnswer {
    match wish {
        PictureWork::Find(url) => {
            let found = cache.find(&url).map(|bytes| guarded(|| measure(&bytes)));
            PictureAnswer::Found(url, found)
        }
        PictureWork::Keep(url, bytes) => {
            let measured = guarded(|| measure(&bytes));
            let kept = measured.and_then(|size| cache.keep(&url, &bytes).map(|()| size));
            PictureAnswer::Found(url, Some(kept))
        }
        PictureWork::Draw(wanted) => {
            let bytes = cache.find(&wanted.url);
            let gone = || "it is no longer stored · press I twice to fetch it again".to_owned();
            let drawn = bytes.ok_or_else(gone).and_then(|bytes| guarded(|| draw(&bytes, &wanted)));
            PictureAnswer::Drawn(wanted, drawn)
        }
    }
}

fn guarded<T>(work: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    catch_panic(work).unwrap_or_else(|| Err("it is damaged".to_owned()))
}
