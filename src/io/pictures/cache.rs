//! The picture cache on disk. Its size is limited; the least recently used pictures are dropped first.
//!
//! A file is named by a hash of the picture's URL and begins with the URL itself, so that collisions and damage are noticed. A
//! file without a picture after the URL is a note: the picture could not be fetched ahead, or was dropped because the cache was
//! full. The folder can be deleted; missing pictures are fetched again.

use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use chrono::{DateTime, TimeDelta, Utc};
use siphasher::sip128::SipHasher13;

use crate::engine::entries::page_fetches::PICTURE_BYTES_MAX;
use crate::io::clock;
use crate::io::private_files::create_private_subfolder;
use crate::io::regular_files::{self, put_in_place};
use crate::io::system::system_words;
use crate::ui::state::reader::PictureFlaw;

/// Maximum size of the cache, bytes.
const CACHE_BYTES_MAX: u64 = 256 * 1024 * 1024;
const ADDRESS_BYTES_MAX: usize = 8 * 1024;
/// Length of the name of a picture.
const NAME_DIGITS: usize = 32;
/// Time in which a picture is not requested ahead again after it could not be fetched or was dropped because the cache was full.
const ABSENT_PAUSE: TimeDelta = TimeDelta::days(30);

#[derive(Debug, Clone)]
pub struct PictureCache {
    folder: PathBuf,
    bytes_max: u64,
}

impl PictureCache {
    /// Returns the picture cache in the folder next to a store.
    pub fn beside(store: &Path) -> Self {
        Self { folder: store.join("pictures"), bytes_max: CACHE_BYTES_MAX }
    }

    /// Returns the bytes of a cached picture and marks it as used.
    pub fn find(&self, url: &str) -> Option<Vec<u8>> {
        let file = regular_files::open(&self.path(url)).ok()?;
        let most =
            u64::try_from(PICTURE_BYTES_MAX.saturating_add(ADDRESS_BYTES_MAX)).unwrap_or(u64::MAX);
        let mut bytes = Vec::new();
        (&file).take(most).read_to_end(&mut bytes).ok()?;
        let picture = bytes.strip_prefix(url.as_bytes())?.strip_prefix(b"\n")?.to_vec();
        if picture.is_empty() {
            return None;
        }
        // Ignore an error in a read-only folder. Only the order in which pictures are dropped depends on the modification time.
        file.set_modified(SystemTime::from(clock::precise_now())).ok();
        Some(picture)
    }

    /// Returns the bytes of the cached picture with this name.
    pub fn find_named(&self, name: &str) -> Option<Vec<u8>> {
        let is_name = name.len() == NAME_DIGITS && name.bytes().all(|it| it.is_ascii_hexdigit());
        let url = address_in(&self.folder.join(Some(name).filter(|_| is_name)?))?;
        self.find(&url).filter(|_| Self::name(&url) == name)
    }

    /// Adds a picture to the cache. The error explains why the picture cannot be saved.
    pub fn keep(&self, url: &str, bytes: &[u8]) -> Result<(), PictureFlaw> {
        if bytes.len() > PICTURE_BYTES_MAX || url.len() >= ADDRESS_BYTES_MAX {
            return Err(PictureFlaw::NoPlace);
        }
        self.write(url, bytes).map_err(|error| PictureFlaw::NotStored(system_words(&error)))?;
        self.make_room();
        Ok(())
    }

    /// Notes that a picture could not be fetched ahead, so that it is not requested ahead again for a while. An error is ignored,
    /// because it only causes another request.
    pub fn note_failed(&self, url: &str) {
        if url.len() < ADDRESS_BYTES_MAX && self.find(url).is_none() {
            self.write(url, &[]).ok();
        }
    }

    /// Checks whether a picture need not be requested ahead, because it is cached or was recently noted as absent.
    pub fn is_known(&self, url: &str, now: DateTime<Utc>) -> bool {
        let Ok(file) = regular_files::open(&self.path(url)) else { return false };
        let mut start = vec![0; url.len()];
        let is_meant = (&file).read_exact(&mut start).is_ok() && start == url.as_bytes();
        let Ok(about) = file.metadata() else { return false };
        let begins_at = u64::try_from(url.len()).unwrap_or(u64::MAX).saturating_add(1);
        let noted = about.modified().map(DateTime::<Utc>::from);
        let is_recent = noted.is_ok_and(|at| now.signed_duration_since(at) < ABSENT_PAUSE);
        is_meant && (about.len() > begins_at || is_recent)
    }

    /// Removes a picture that turned out to be damaged, so that it can be fetched again.
    pub fn forget(&self, url: &str) {
        fs::remove_file(self.path(url)).ok();
    }

    fn write(&self, url: &str, bytes: &[u8]) -> std::io::Result<()> {
        create_private_subfolder(&self.folder)?;
        let mut file = tempfile::NamedTempFile::new_in(&self.folder)?;
        file.write_all(url.as_bytes())?;
        file.write_all(b"\n")?;
        file.write_all(bytes)?;
        file.as_file().set_modified(SystemTime::from(clock::precise_now())).ok();
        put_in_place(file, &self.path(url))
    }

    /// Drops the least recently used pictures until the cache is within its limit.
    fn make_room(&self) {
        let Ok(entries) = fs::read_dir(&self.folder) else { return };
        let mut files: Vec<(SystemTime, u64, PathBuf)> = entries
            .filter_map(|entry| {
                let entry = entry.ok()?;
                let about = entry.metadata().ok().filter(fs::Metadata::is_file)?;
                Some((about.modified().ok()?, about.len(), entry.path()))
            })
            .collect();
        files.sort();
        let mut sum = files.iter().fold(0_u64, |sum, (_, bytes, _)| sum.saturating_add(*bytes));
        for (_, bytes, path) in files {
            if sum <= self.bytes_max {
                return;
            }
            // Leave a note. Otherwise the pictures of many feeds would replace each other in the cache and be fetched again and
            // again.
            let note = self.note_absent(&path, bytes).unwrap_or(0);
            if note > 0 || fs::remove_file(path).is_ok() {
                sum = sum.saturating_sub(bytes.saturating_sub(note));
            }
        }
    }

    /// Replaces a picture by a note that it is absent. Returns the size of the note in bytes, or `None` if the file contains no
    /// picture or cannot be replaced.
    fn note_absent(&self, path: &Path, bytes: u64) -> Option<u64> {
        let url = address_in(path)?;
        let note = u64::try_from(url.len()).unwrap_or(u64::MAX).saturating_add(1);
        let is_picture = bytes > note && self.path(&url) == path;
        (is_picture && self.write(&url, &[]).is_ok()).then_some(note)
    }

    fn path(&self, url: &str) -> PathBuf {
        self.folder.join(Self::name(url))
    }

    /// Returns the name of a picture in the cache, which does not reveal its URL.
    pub fn name(url: &str) -> String {
        let hash = SipHasher13::new().hash(url.as_bytes());
        format!("{:016x}{:016x}", hash.h1, hash.h2)
    }
}

/// Returns the address at the beginning of a file.
fn address_in(path: &Path) -> Option<String> {
    let mut start = Vec::new();
    let most = u64::try_from(ADDRESS_BYTES_MAX).unwrap_or(u64::MAX);
    regular_files::open(path).ok()?.take(most).read_to_end(&mut start).ok()?;
    let end = start.iter().position(|byte| *byte == b'\n')?;
    start.truncate(end);
    String::from_utf8(start).ok()
}

#[cfg(test)]
mod tests {
    use crate::io::pictures::cache::*;

    fn cache(bytes_max: u64) -> (tempfile::TempDir, PictureCache) {
        let folder = tempfile::tempdir().unwrap();
        let cache = PictureCache { bytes_max, ..PictureCache::beside(folder.path()) };
        (folder, cache)
    }

    #[test]
    fn cached_picture_is_found_only_by_its_address() {
        let (_folder, cache) = cache(1000);
        assert_eq!(cache.find("https://a.example/1.png"), None);
        cache.keep("https://a.example/1.png", b"one").unwrap();
        assert_eq!(cache.find("https://a.example/1.png").as_deref(), Some(b"one".as_slice()));
        assert_eq!(cache.find("https://a.example/2.png"), None);
        // Simulates another URL with the same hash.
        fs::rename(cache.path("https://a.example/1.png"), cache.path("https://b.example/"))
            .unwrap();
        assert_eq!(cache.find("https://b.example/"), None);
    }

    #[test]
    fn failed_picture_is_known_for_a_month_and_not_found() {
        let (_folder, cache) = cache(1000);
        let now = clock::precise_now();
        let days = |days| now + TimeDelta::days(days);
        assert!(!cache.is_known("https://a.example/", now));
        cache.note_failed("https://a.example/");
        assert_eq!(cache.find("https://a.example/"), None);
        assert!(cache.is_known("https://a.example/", now));
        assert!(cache.is_known("https://a.example/", days(29)));
        assert!(!cache.is_known("https://a.example/", days(31)));
        cache.keep("https://a.example/", b"one").unwrap();
        cache.note_failed("https://a.example/");
        assert!(cache.is_known("https://a.example/", days(31)), "a cached picture stays");
        assert_eq!(cache.find("https://a.example/").as_deref(), Some(b"one".as_slice()));
    }

    #[test]
    fn damaged_file_is_no_picture() {
        let (_folder, cache) = cache(1000);
        let now = clock::precise_now();
        for damage in [&b""[..], b"https://a.exa", b"https://b.example/\nxx"] {
            cache.keep("https://a.example/", b"one").unwrap();
            fs::write(cache.path("https://a.example/"), damage).unwrap();
            assert!(!cache.is_known("https://a.example/", now), "{damage:?}");
            assert_eq!(cache.find("https://a.example/"), None, "{damage:?}");
        }
    }

    #[test]
    fn least_recently_viewed_picture_is_evicted() {
        let (_folder, cache) = cache(250);
        let age = |url: &str, seconds: u64| {
            let file = fs::File::options().write(true).open(cache.path(url)).unwrap();
            file.set_modified(SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(seconds))
                .unwrap();
        };
        for (place, url) in ["a", "b"].into_iter().enumerate() {
            cache.keep(url, &[0; 100]).unwrap();
            age(url, u64::try_from(place).unwrap());
        }
        assert!(cache.find("a").is_some(), "now it was looked at after b");
        cache.keep("c", &[0; 100]).unwrap();
        let there = ["a", "b", "c"].map(|url| cache.find(url).is_some());
        assert_eq!(there, [true, false, true]);
        let now = clock::precise_now();
        assert!(cache.is_known("b", now), "it is not fetched ahead again");
    }

    #[test]
    fn oversized_picture_is_not_cached() {
        let (_folder, cache) = cache(u64::MAX);
        assert!(cache.keep("a", &vec![0; PICTURE_BYTES_MAX + 1]).is_err());
        assert_eq!(cache.find("a"), None);
    }
}
