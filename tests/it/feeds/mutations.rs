//! Documents changed at random: whatever the bytes, reading ends soon, never panics, and gives the same answer twice.
//!
//! `BACKISSUE_MUTATIONS=200000` changes more documents than the ordinary run, `BACKISSUE_CORPUS=folder` changes those
//! of a folder too; `cargo test --release mutated -- --nocapture` shows the figures.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::Duration;

use backissue::feed::discover::page_feeds::discover;
use backissue::feed::opml::read_opml;
use backissue::feed::{Origin, find_oddities, parse};
use backissue::io::clock;
use backissue::lint::examine;

/// Mutations of an ordinary run.
const MUTATIONS: usize = 1_500;
/// Documents of a folder that are longer are left out: they would only make fewer mutations of the same kind.
const DOCUMENT_BYTES_MAX: u64 = 256 * 1024;
/// One mutation of so many is examined for its publisher too, which takes longer.
const EXAMINED: usize = 16;
const URL: &str = "https://a.example/feed";

/// A small generator of numbers that look random (xorshift).
struct Dice(u64);

impl Dice {
    fn roll(&mut self, below: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % u64::try_from(below.max(1)).unwrap()).unwrap()
    }
}

const PIECES: [&[u8]; 22] = [
    b"<",
    b">",
    b"</",
    b"&",
    b"\"",
    b"'",
    b"<![CDATA[",
    b"]]>",
    b"<!--",
    b"-->",
    b"\0",
    b"\xff",
    b"\xc3",
    b"<item>",
    b"</item>",
    b"<entry>",
    b" xmlns=\"x\"",
    b"&#0;",
    b"&#x10ffff;",
    b"{",
    b"99999999999999999999",
    "“é@a.bc”".as_bytes(),
];

fn mutated(document: &[u8], dice: &mut Dice) -> Vec<u8> {
    let mut bytes = document.to_vec();
    for _ in 0..=dice.roll(5) {
        let at = dice.roll(bytes.len() + 1);
        let end = (at + dice.roll(200)).min(bytes.len());
        match dice.roll(5) {
            0 => bytes.truncate(at.max(1)),
            1 => drop(bytes.drain(at..end)),
            2 => drop(bytes.splice(at..at, PIECES[dice.roll(PIECES.len())].iter().copied())),
            3 => bytes.extend_from_within(at..end),
            _ => bytes.iter_mut().skip(at).take(1).for_each(|byte| *byte = byte.wrapping_add(1)),
        }
    }
    bytes
}

/// The files below a folder, in order.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if entry.metadata().is_ok_and(|file| file.len() <= DOCUMENT_BYTES_MAX) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// The documents of these tests, and those of the folder that the environment names.
fn documents() -> Vec<Vec<u8>> {
    let mut paths = files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/fixtures"));
    match std::env::var_os("BACKISSUE_CORPUS") {
        Some(folder) => paths.extend(files(Path::new(&folder))),
        None => tell("BACKISSUE_CORPUS is not set: only the project's own documents are changed"),
    }
    paths.iter().filter_map(|path| std::fs::read(path).ok()).collect()
}

#[expect(clippy::print_stderr, reason = "figures for who runs it by hand")]
fn tell(line: &str) {
    eprintln!("{line}");
}

/// Reads the bytes in every way, and checks what must hold of any.
fn check(bytes: &[u8], is_examined: bool) {
    let origin = Origin { url: Some(URL), content_type: None };
    let document = parse(bytes, &origin);
    assert_eq!(document, parse(bytes, &origin), "two answers");
    assert!(document.entries.iter().all(|entry| !entry.id.is_empty()), "an empty id");
    find_oddities(bytes, &origin);
    discover(bytes, URL);
    if is_examined {
        examine(bytes, &origin, chrono::DateTime::UNIX_EPOCH);
    }
    read_opml(bytes).ok();
    // The repaired document is one that feed-rs reads, whatever it was made from.
    let unread = document.flaws.iter().find(|flaw| flaw.reason.contains("could not be read"));
    assert_eq!(unread, None, "an entry was left out");
}

#[test]
fn mutated_documents_are_read_alike_twice_and_never_panic() {
    let stated = std::env::var("BACKISSUE_MUTATIONS").ok().and_then(|count| count.parse().ok());
    let count: usize = stated.unwrap_or(MUTATIONS);
    let documents = documents();
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
    let (mut size, mut slowest, mut slow_size) = (0, Duration::ZERO, 0);
    let mut failed = Vec::new();
    let begin = clock::instant();
    for round in 0..count {
        let bytes = mutated(&documents[round % documents.len()], &mut dice);
        size += bytes.len();
        let start = clock::instant();
        if catch_unwind(AssertUnwindSafe(|| check(&bytes, round % EXAMINED == 0))).is_err() {
            failed.push(String::from_utf8_lossy(&bytes).into_owned());
        }
        let took = start.elapsed();
        if took > slowest {
            (slowest, slow_size) = (took, bytes.len());
        }
    }
    tell(&format!(
        "{count} mutations of {} documents, {size} bytes, in {:.1} s; slowest {slowest:?} for {slow_size} bytes; {} failed",
        documents.len(),
        begin.elapsed().as_secs_f64(),
        failed.len()
    ));
    assert!(slowest < Duration::from_secs(10), "{slowest:?} for {slow_size} bytes");
    assert_eq!(failed.first(), None, "{} of {count}", failed.len());
}
