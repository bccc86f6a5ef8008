//! Texts and bytes changed at random: whatever comes, reading ends soon, never panics, and what must hold of any result
//! holds.
//!
//! Each target runs for so many inputs, or as long as `BACKISSUE_FUZZ_SECONDS=600` says. An input at which a target fails is
//! printed, and goes into its seeds once the cause is mended.

mod documents;
mod frames;
mod layout;
mod lists;
mod typed;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use backissue::io::clock;

use crate::support::dice::Dice;

/// An input takes less time than this, however slow the machine.
const SLOWEST: Duration = Duration::from_secs(10);
/// Bytes of an input at most: longer ones would only make fewer of the same kind.
const INPUT_MAX: usize = 64 * 1024;

/// Where changed texts are cut and joined, so that parts of one come into another whole.
const JOINTS: &[u8] = b"<>{}[]\"'\n:, ";

/// What is changed, and how.
struct Target {
    name: &'static str,
    seeds: Vec<Vec<u8>>,
    /// What is put in between: what means something to whoever reads it.
    pieces: &'static [&'static [u8]],
    /// Inputs of the ordinary run.
    inputs: usize,
}

impl Target {
    /// A target of texts.
    fn of_texts(
        name: &'static str,
        texts: &[&str],
        pieces: &'static [&'static [u8]],
        inputs: usize,
    ) -> Self {
        let seeds = texts.iter().map(|text| text.as_bytes().to_vec()).collect();
        Self { name, seeds, pieces, inputs }
    }

    /// Checks changed inputs; the second argument numbers them.
    #[expect(clippy::print_stderr, reason = "figures for who runs it by hand")]
    fn run(&self, check: impl Fn(&[u8], usize)) {
        let seconds: Option<u64> =
            std::env::var("BACKISSUE_FUZZ_SECONDS").ok().and_then(|text| text.parse().ok());
        let mut dice = Dice::of(7, self.name, 0);
        let (mut done, mut bytes, mut failed) = (0, 0, Vec::new());
        let (begin, mut slowest) = (clock::instant(), Duration::ZERO);
        let goes_on = |done| match seconds {
            Some(seconds) => begin.elapsed() < Duration::from_secs(seconds),
            None => done < self.inputs,
        };
        while goes_on(done) {
            // The seeds themselves come first.
            let input = match self.seeds.get(done) {
                Some(seed) => seed.clone(),
                None => self.changed(&mut dice),
            };
            bytes += input.len();
            let start = clock::instant();
            if catch_unwind(AssertUnwindSafe(|| check(&input, done))).is_err() {
                failed.push(input.escape_ascii().to_string());
            }
            slowest = slowest.max(start.elapsed());
            done += 1;
        }
        eprintln!(
            "{}: {done} inputs made from {}, {bytes} bytes, in {:.1} s; slowest {slowest:?}; {} failed",
            self.name,
            self.seeds.len(),
            begin.elapsed().as_secs_f64(),
            failed.len()
        );
        assert_eq!(failed.first(), None, "{} of {done}", failed.len());
        assert!(slowest < SLOWEST, "{slowest:?}");
    }

    /// A seed, changed in a few places.
    fn changed(&self, dice: &mut Dice) -> Vec<u8> {
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

/// The next place at which something begins or ends.
fn joint(bytes: &[u8], from: usize) -> usize {
    let found = bytes.iter().skip(from).position(|byte| JOINTS.contains(byte));
    found.map_or(bytes.len(), |place| from + place)
}

/// A part of a text between two such places.
fn part_of<'a>(bytes: &'a [u8], dice: &mut Dice) -> &'a [u8] {
    let begin = joint(bytes, dice.place(bytes.len() + 1));
    let end = joint(bytes, (begin + dice.place(300)).min(bytes.len()));
    &bytes[begin..end.max(begin)]
}
