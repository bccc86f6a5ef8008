//! The stored form of a weekly plan, run-length encoded. Most consecutive grid points have the same next poll, or are
//! the same number of steps away from their next polls.

use std::fmt;

use serde::de::{Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Steps to the next poll for consecutive grid points, as runs. A record stores them as bytes: for each run the number
/// of points combined with the `nearing` bit, then the steps, as integers with seven bits per byte.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct StepRuns {
    runs: Vec<StepRun>,
    /// Total number of points in all runs.
    points: u16,
}

/// A run of consecutive grid points.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct StepRun {
    /// Total number of points in all runs before this one.
    before: u16,
    /// Number of points in this run.
    points: u16,
    /// Steps from the first point to its next poll.
    steps: u16,
    /// Whether all points lead to the same poll, so that each point is one step nearer than the one before. If not, all points
    /// are the same number of steps away from their next polls.
    nearing: bool,
}

impl StepRun {
    /// Returns the number of grid steps from a point of the run to its next poll. `point` is 0 for the first point of the run.
    const fn steps_at(self, point: u16) -> Option<u16> {
        if self.nearing { self.steps.checked_sub(point) } else { Some(self.steps) }
    }

    /// Returns the longest run that starts at the first of several consecutive points; `steps` holds the steps to the next poll of
    /// each.
    fn longest(steps: &[u16]) -> Option<Self> {
        let first = *steps.first()?;
        let run = |nearing| {
            let start = Self { before: 0, points: u16::MAX, steps: first, nearing };
            let fits = |(point, step): &(u16, &u16)| start.steps_at(*point) == Some(**step);
            let points = (0_u16..).zip(steps).take_while(fits).count();
            Self { points: u16::try_from(points).unwrap_or(u16::MAX), ..start }
        };
        let (nearing, even) = (run(true), run(false));
        Some(if nearing.points >= even.points { nearing } else { even })
    }

    /// Checks whether the run contains at least one point and the steps of all its points are between 1 and `most`.
    fn is_within(self, most: u16) -> bool {
        let last = self.points.checked_sub(1).and_then(|last| self.steps_at(last));
        last.is_some_and(|last| last >= 1) && self.steps <= most
    }
}

impl StepRuns {
    pub(super) fn new(steps: &[u16]) -> Self {
        let (mut runs, mut rest) = (Self::default(), steps);
        while let Some(run) = StepRun::longest(rest) {
            rest = rest.get(usize::from(run.points)..).unwrap_or_default();
            runs.push(run.points, run.steps, run.nearing);
        }
        runs
    }

    fn push(&mut self, points: u16, steps: u16, nearing: bool) {
        self.runs.push(StepRun { before: self.points, points, steps, nearing });
        self.points = self.points.saturating_add(points);
    }

    /// Returns the number of grid steps from a grid point to its next poll; `None` after the last grid point.
    pub(super) fn steps_at(&self, point: usize) -> Option<u16> {
        let point = u16::try_from(point).ok()?;
        let run = self.runs.partition_point(|run| run.before <= point).checked_sub(1)?;
        let run = self.runs.get(run)?;
        let into = point - run.before;
        if into < run.points { run.steps_at(into) } else { None }
    }

    /// Checks whether the runs have exactly `points` grid points in total, with steps between 1 and `most`.
    pub(super) fn fill(&self, points: usize, most: usize) -> bool {
        let most = u16::try_from(most).unwrap_or(u16::MAX);
        let counted: usize = self.runs.iter().map(|run| usize::from(run.points)).sum();
        counted == points && self.runs.iter().all(|run| run.is_within(most))
    }

    /// Decodes runs from the bytes of a record; `None` if the bytes are truncated.
    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (mut runs, mut bytes) = (Self::default(), bytes.iter());
        while !bytes.as_slice().is_empty() {
            let head = take_number(&mut bytes)?;
            let steps = u16::try_from(take_number(&mut bytes)?).ok()?;
            runs.push(u16::try_from(head >> 1).ok()?, steps, head & 1 == 1);
        }
        Some(runs)
    }
}

/// Writes a number in groups of seven bits, lowest first. The top bit is set if another group follows.
fn put_number(bytes: &mut Vec<u8>, mut number: u32) {
    loop {
        let low = number.to_le_bytes()[0] & 0x7f;
        number >>= 7;
        if number == 0 {
            bytes.push(low);
            return;
        }
        bytes.push(low | 0x80);
    }
}

fn take_number(bytes: &mut std::slice::Iter<'_, u8>) -> Option<u32> {
    let mut number = 0_u32;
    for group in 0..3 {
        let byte = *bytes.next()?;
        number |= u32::from(byte & 0x7f) << (7 * group);
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

impl Serialize for StepRuns {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut bytes = Vec::with_capacity(self.runs.len() * 4);
        for run in &self.runs {
            put_number(&mut bytes, u32::from(run.points) << 1 | u32::from(run.nearing));
            put_number(&mut bytes, u32::from(run.steps));
        }
        serializer.serialize_bytes(&bytes)
    }
}

impl<'de> Deserialize<'de> for StepRuns {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(RunsVisitor)
    }
}

/// Deserializes runs from the bytes of a record, or from a list of runs as in the older record format.
struct RunsVisitor;

impl<'de> Visitor<'de> for RunsVisitor {
    type Value = StepRuns;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("the runs of a weekly plan")
    }

    fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<StepRuns, E> {
        StepRuns::from_bytes(bytes).ok_or_else(|| E::custom("a run of a plan is incomplete"))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<StepRuns, A::Error> {
        let mut runs = StepRuns::default();
        while let Some((points, steps, nearing)) = seq.next_element()? {
            runs.push(points, steps, nearing);
        }
        Ok(runs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs(all: &[(u16, u16, bool)]) -> StepRuns {
        let mut runs = StepRuns::default();
        for &(points, steps, nearing) in all {
            runs.push(points, steps, nearing);
        }
        runs
    }

    #[test]
    fn step_runs_round_trip_through_their_record() {
        for steps in [
            vec![],
            vec![7],
            vec![5, 4, 3, 9, 8, 7, 6, 3, 3, 3, 3],
            vec![3; 2016],
            (0..2016_u16).map(|point| 288 - point % 288).collect(),
        ] {
            let runs = StepRuns::new(&steps);
            assert!(runs.runs.len() <= steps.len().div_ceil(3) + 1, "{} runs", runs.runs.len());
            let bytes = rmp_serde::to_vec(&runs).unwrap();
            assert!(bytes.len() <= runs.runs.len() * 4 + 5);
            let read: StepRuns = rmp_serde::from_slice(&bytes).unwrap();
            assert_eq!(read, runs);
            assert!(runs.fill(steps.len(), 288));
            let back = (0..=steps.len()).map(|point| read.steps_at(point));
            assert_eq!(back.collect::<Option<Vec<_>>>(), None, "nothing beyond the last point");
            let back: Vec<u16> = (0..steps.len()).filter_map(|at| read.steps_at(at)).collect();
            assert_eq!(back, steps);
        }
    }

    #[test]
    fn step_runs_are_read_from_list_records() {
        let bytes = rmp_serde::to_vec(&[(4_u16, 9_u16, true), (2, 3, false)]).unwrap();
        let read: StepRuns = rmp_serde::from_slice(&bytes).unwrap();
        assert_eq!(read, runs(&[(4, 9, true), (2, 3, false)]));
    }

    #[test]
    fn step_runs_with_bad_length_or_range_are_refused() {
        for all in [
            &[(4, 9, false)][..],
            &[(6, 9, false)],
            &[(5, 3, true)],
            &[(5, 4, true)],
            &[(0, 3, true), (5, 9, true)],
            &[(5, 10, true)],
        ] {
            assert!(!runs(all).fill(5, 9), "{all:?}");
        }
        assert!(runs(&[(5, 9, true)]).fill(5, 9));
        assert_eq!(StepRuns::from_bytes(&[0x8a]), None);
        assert_eq!(StepRuns::from_bytes(&[0xff, 0xff, 0xff, 0x01]), None);
    }
}
