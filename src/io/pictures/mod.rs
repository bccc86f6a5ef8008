//! Pictures of entries: cached on disk, measured, decoded, and encoded for the terminal.
//!
//! Decoders read untrusted bytes: they run on the blocking pool, within limits, and a panic becomes an error.

mod cache;
mod decoding;
mod drawing;

pub use super::pictures::cache::PictureCache;
pub use decoding::measure;
pub use drawing::draw;

use super::panics::catch_panic;
use crate::ui::reader::pictures::PictureNews;
use crate::ui::reader::pictures::PictureWish;

/// Performs one request about the pictures of a cache.
pub fn perform(wish: PictureWish, cache: &PictureCache) -> PictureNews {
    match wish {
        PictureWish::Find(url) => {
            let found = cache.find(&url).map(|bytes| guarded(|| measure(&bytes)));
            PictureNews::Found(url, found)
        }
        PictureWish::Keep(url, bytes) => {
            let measured = guarded(|| measure(&bytes));
            let kept = measured.and_then(|size| cache.keep(&url, &bytes).map(|()| size));
            PictureNews::Found(url, Some(kept))
        }
        PictureWish::Draw(wanted) => {
            let bytes = cache.find(&wanted.url);
            let gone = || "it is kept no longer · I twice fetches it again".to_owned();
            let drawn = bytes.ok_or_else(gone).and_then(|bytes| guarded(|| draw(&bytes, &wanted)));
            PictureNews::Drawn(wanted, drawn)
        }
    }
}

fn guarded<T>(work: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    catch_panic(work).unwrap_or_else(|| Err("it is broken".to_owned()))
}
