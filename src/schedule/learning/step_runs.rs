//! The record of a weekly plan, in runs: most grid points in a row lead to the same next poll, or are the same number of
//! steps away from theirs.

use serde::{Deserialize, Serialize};

/// Steps to the next poll of one grid point after the other, in runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct StepRuns(Vec<StepRun>);

/// Some grid points in a row; a record holds its fields without their names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "(u16, u16, bool)", from = "(u16, u16, bool)")]
struct StepRun {
    /// How many.
    points: u16,
    /// Steps of the first.
    steps: u16,
    /// All lead to the same poll, so each is a step nearer than the one before; else all are as far from theirs.
    nearing: bool,
}

impl From<StepRun> for (u16, u16, bool) {
    fn from(run: StepRun) -> Self {
        (run.points, run.steps, run.nearing)
    }
}

impl From<(u16, u16, bool)> for StepRun {
    fn from((points, steps, nearing): (u16, u16, bool)) -> Self {
        Self { points, steps, nearing }
    }
}

impl StepRun {
    /// Steps of one of its points.
    const fn steps_at(self, point: u16) -> Option<u16> {
        if self.nearing { self.steps.checked_sub(point) } else { Some(self.steps) }
    }

    /// The run that goes furthest from the start of some points.
    fn longest(steps: &[u16]) -> Option<Self> {
        let first = *steps.first()?;
        let run = |nearing| {
            let start = Self { points: u16::MAX, steps: first, nearing };
            let fits = |(point, step): &(u16, &u16)| start.steps_at(*point) == Some(**step);
            let points = (0_u16..).zip(steps).take_while(fits).count();
            Self { points: u16::try_from(points).unwrap_or(u16::MAX), ..start }
        };
        let (nearing, even) = (run(true), run(false));
        Some(if nearing.points >= even.points { nearing } else { even })
    }
}

impl StepRuns {
    pub(super) fn new(steps: &[u16]) -> Self {
        let (mut runs, mut rest) = (Vec::new(), steps);
        while let Some(run) = StepRun::longest(rest) {
            rest = rest.get(usize::from(run.points)..).unwrap_or_default();
            runs.push(run);
        }
        Self(runs)
    }

    /// The steps of each grid point; `None` if there are not exactly `count`, or one is below 0.
    pub(super) fn steps(&self, count: usize) -> Option<Vec<u16>> {
        let mut steps = Vec::with_capacity(count);
        for run in &self.0 {
            if run.points == 0 || usize::from(run.points) > count - steps.len() {
                return None;
            }
            for point in 0..run.points {
                steps.push(run.steps_at(point)?);
            }
        }
        (steps.len() == count).then_some(steps)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_come_back_from_their_runs_as_they_were() {
        for steps in [
            vec![],
            vec![7],
            vec![5, 4, 3, 9, 8, 7, 6, 3, 3, 3, 3],
            vec![3; 2016],
            (0..2016_u16).map(|point| 288 - point % 288).collect(),
        ] {
            let runs = StepRuns::new(&steps);
            assert_eq!(runs.steps(steps.len()).as_ref(), Some(&steps));
            assert!(runs.0.len() <= steps.len().div_ceil(3) + 1, "{} runs", runs.0.len());
        }
    }

    #[test]
    fn a_record_of_another_length_or_below_zero_is_no_plan() {
        let run = |points, steps, nearing| StepRun { points, steps, nearing };
        for (runs, count) in [
            (vec![run(4, 9, false)], 5),
            (vec![run(6, 9, false)], 5),
            (vec![run(5, 3, true)], 5),
            (vec![run(0, 3, true), run(5, 9, true)], 5),
        ] {
            assert_eq!(StepRuns(runs).steps(count), None);
        }
    }
}
