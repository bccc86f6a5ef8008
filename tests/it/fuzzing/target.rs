//! The mutation engine, shared by the tests here, by the store's tests (`src/io/store/fuzzed/`), and by cargo-fuzz
//! (`tests/fuzz/`), which selects inputs by code coverage.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::print_stderr,
    clippy::allow_attributes,
    unreachable_pub,
    dead_code,
    reason = "a test may panic and print figures; not every user of it uses all of it"
)]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use super::clock;
use super::dice::Dice;

/// Maximum time for one input, even on a slow machine.
const SLOWEST: Duration = Duration::from_secs(10);
/// Maximum size of an input in bytes: with longer inputs, fewer of them would be checked in the same time.
pub const INPUT_MAX: usize = 64 * 1024;
/// Seed of the random numbers unless `BACKISSUE_FUZZ_SEED` is set.
const SEED: u64 = 7;

/// Bytes at which texts are cut and joined, so that complete parts of one text are inserted into another.
const JOINTS: &[u8] = b"<>{}[]\"'\n:, ";

/// A function that panics if an input violates an invariant; its second argument is the number of the input.
pub type Check = Box<dyn Fn(&[u8], usize)>;

/// A fuzz target: what its inputs are made from, and how each of them is checked.
pub struct Target {
    pub name: &'static str,
    pub seeds: Vec<Vec<u8>>,
    /// Fragments that mutations insert; they have a meaning for the parser.
    pub pieces: &'static [&'static [u8]],
    /// Number of inputs unless `BACKISSUE_FUZZ_SECONDS` is set.
    pub inputs: usize,
    pub check: Check,
}

/// Returns the number in an environment variable, if it is set.
fn named_number(variable: &str) -> Option<u64> {
    let text = std::env::var(variable).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{variable}={text} is no number")))
}

impl Target {
    /// Returns a target whose seeds are texts.
    pub fn of_texts(
        name: &'static str,
        texts: &[&str],
        pieces: &'static [&'static [u8]],
        inputs: usize,
        check: impl Fn(&[u8], usize) + 'static,
    ) -> Self {
        let seeds = texts.iter().map(|text| text.as_bytes().to_vec()).collect();
        Self { name, seeds, pieces, inputs, check: Box::new(check) }
    }

    /// Checks the seeds and then mutated inputs; panics if a check fails or takes too long.
    pub fn run(&self) {
        let seconds = named_number("BACKISSUE_FUZZ_SECONDS");
        let seed = named_number("BACKISSUE_FUZZ_SEED").unwrap_or(SEED);
        let mut dice = Dice::of(seed, self.name, 0);
        let (mut done, mut bytes, mut failed, mut first) = (0, 0, 0, None);
        let (begin, mut slowest) = (clock::instant(), Duration::ZERO);
        let goes_on = |done| match seconds {
            Some(seconds) => begin.elapsed() < Duration::from_secs(seconds),
            None => done < self.inputs,
        };
        while goes_on(done) {
            // The first inputs are the unchanged seeds.
            let input = match self.seeds.get(done) {
                Some(seed) => seed.clone(),
                None => self.changed(&mut dice),
            };
            bytes += input.len();
            let start = clock::instant();
            if catch_unwind(AssertUnwindSafe(|| (self.check)(&input, done))).is_err() {
                failed += 1;
                first.get_or_insert_with(|| input.escape_ascii().to_string());
            }
            slowest = slowest.max(start.elapsed());
            done += 1;
        }
        let name = self.name;
        eprintln!(
            "{name}: {done} inputs made from {} with BACKISSUE_FUZZ_SEED={seed}, {bytes} bytes, in {:.1} s; slowest {slowest:?}; \
             {failed} failed",
            self.seeds.len(),
            begin.elapsed().as_secs_f64(),
        );
        assert_eq!(first, None, "{name}: {failed} of {done}, with BACKISSUE_FUZZ_SEED={seed}");
        assert!(slowest < SLOWEST, "{name}: {slowest:?}, with BACKISSUE_FUZZ_SEED={seed}");
    }

    /// Returns a random seed text with one to five random mutations.
    pub fn changed(&self, dice: &mut Dice) -> Vec<u8> {
        let mut bytes = dice.pick(&self.seeds).clone();
        for _ in 0..=dice.roll(5) {
            let at = dice.place(bytes.len() + 1);
            let end = (at + dice.place(200)).min(bytes.len());
            match dice.roll(7) {
                0 => bytes.truncate(at.max(1)),
                1 => drop(bytes.drain(at..end)),
                2 => drop(bytes.splice(at..at, dice.pick(self.pieces).iter().copied())),
                3 => bytes.extend_from_within(at..end),
                4 => {
                    let seed = dice.place(self.seeds.len());
                    let part = part_of(&self.seeds[seed], dice).to_vec();
                    let at = joint(&bytes, at);
                    drop(bytes.splice(at..at, part));
                }
                5 => {
                    let times = dice.place(40);
                    let part = bytes[at..end].repeat(times);
                    drop(bytes.splice(at..at, part));
                }
                _ => {
                    let changed = bytes.iter_mut().skip(at).take(1);
                    changed.for_each(|byte| *byte = byte.wrapping_add(1));
                }
            }
        }
        bytes.truncate(INPUT_MAX);
        bytes
    }
}

/// Returns the position of the first byte at or after `from` that is in `JOINTS`, or the length of the text.
fn joint(bytes: &[u8], from: usize) -> usize {
    let found = bytes.iter().skip(from).position(|byte| JOINTS.contains(byte));
    found.map_or(bytes.len(), |place| from + place)
}

/// Returns a random part of a text that starts and ends at bytes in `JOINTS` or at the end of the text.
fn part_of<'a>(bytes: &'a [u8], dice: &mut Dice) -> &'a [u8] {
    let begin = joint(bytes, dice.place(bytes.len() + 1));
    let end = joint(bytes, (begin + dice.place(300)).min(bytes.len()));
    &bytes[begin..end.max(begin)]
}
