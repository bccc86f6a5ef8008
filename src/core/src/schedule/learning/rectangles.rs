//! Finds rectangles of days and hours in which a feed publishes more, or less, than in the rest of the week
//! (SCHEDULING annex A.6), like those that a person would mark in the heat map.
//!
//! Each step picks the rectangle that explains most: the one whose separate rate makes the counts most probable.
//! Rectangles do not overlap. Days and hours can wrap.

use super::week_bins::real;

/// A range of consecutive hours on consecutive days of the week.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rectangle {
    /// First day; 0 is Monday.
    pub day: usize,
    /// Number of days, 1 to 7.
    pub days: usize,
    /// First hour, 0 to 23.
    pub hour: usize,
    /// Number of hours, 1 to 24.
    pub hours: usize,
}

/// Criteria for marking rectangles in a week.
#[derive(Debug, Clone, Copy)]
pub struct Marking {
    /// Minimum increase in the log probability of the counts if the rectangle has its own rate (natural logarithm).
    pub gain_min: f64,
    /// Maximum number of rectangles.
    pub rectangles_max: usize,
    /// Minimum number of cells (hours of the week) inside a rectangle, and of free cells outside it.
    pub cells_min: usize,
}

impl Rectangle {
    /// Iterates over the hours of the week, 0 to 167, that the rectangle covers. Days and hours wrap independently.
    pub fn cells(self) -> impl Iterator<Item = usize> {
        (0..self.days).flat_map(move |day| {
            (0..self.hours).map(move |hour| (self.day + day) % 7 * 24 + (self.hour + hour) % 24)
        })
    }
}

/// Marks rectangles in the counts of 168 hours, starting at Monday 00:00. All hours must have been observed for the same time.
pub fn rectangles(counts: &[f64], marking: &Marking) -> Vec<Rectangle> {
    let mut week = Week {
        counts: (0..168).map(|cell| counts.get(cell).copied().unwrap_or(0.0).max(0.0)).collect(),
        free: vec![true; 168],
    };
    let mut found = Vec::new();
    while found.len() < marking.rectangles_max {
        let Some((gain, rectangle)) = week.best(marking.cells_min) else { break };
        if gain < marking.gain_min {
            break;
        }
        for cell in rectangle.cells() {
            if let Some(free) = week.free.get_mut(cell) {
                *free = false;
            }
        }
        found.push(rectangle);
    }
    found
}

struct Week {
    counts: Vec<f64>,
    free: Vec<bool>,
}

impl Week {
    /// Returns the rectangle with the largest gain, and this gain, among those that overlap no marked rectangle.
    fn best(&self, cells_min: usize) -> Option<(f64, Rectangle)> {
        let free = self.counts.iter().zip(&self.free).filter(|(_, free)| **free);
        let (sum, cells) = free.fold((0.0, 0), |(sum, cells), (count, _)| (sum + count, cells + 1));
        let mut best: Option<(f64, usize, Rectangle)> = None;
        for (day, days) in spans(7) {
            let columns: Vec<Option<f64>> =
                (0..24).map(|hour| self.column(day, days, hour)).collect();
            for hour in 0..24 {
                let mut inside = 0.0;
                for hours in 1..=24 {
                    let column = columns.get((hour + hours - 1) % 24).copied().flatten();
                    let Some(column) = column else { break };
                    inside += column;
                    let covered = days * hours;
                    let whole_day = hours == 24 && hour > 0;
                    if whole_day || covered < cells_min || cells - covered < cells_min {
                        continue;
                    }
                    let gain = gain(inside, covered, sum, cells);
                    // A rectangle and the rest of the week have the same gain if both are rectangles. Prefer the smaller one.
                    let better = best.is_none_or(|(most, size, _)| {
                        gain > most + 1e-9 || (gain > most - 1e-9 && covered < size)
                    });
                    if better {
                        best = Some((gain, covered, Rectangle { day, days, hour, hours }));
                    }
                }
            }
        }
        best.map(|(gain, _, rectangle)| (gain, rectangle))
    }

    /// Returns the sum of the counts in one hour over several days; `None` if a marked rectangle already covers one of the cells.
    fn column(&self, day: usize, days: usize, hour: usize) -> Option<f64> {
        let cells = (0..days).map(|next| (day + next) % 7 * 24 + hour);
        let counts =
            cells.map(|cell| self.counts.get(cell).filter(|_| self.free.get(cell) == Some(&true)));
        counts.sum::<Option<f64>>()
    }
}

/// Iterates over all ranges of a circle of `length` elements, each as its first element and length. The whole circle occurs once.
fn spans(length: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..length)
        .flat_map(move |from| (1..=length).map(move |long| (from, long)))
        .filter(move |&(from, long)| long < length || from == 0)
}

/// Returns how much the log probability of the counts increases if some cells have their own rate.
fn gain(inside: f64, covered: usize, sum: f64, cells: usize) -> f64 {
    let term = |count: f64, cells: usize| {
        let cells = real(i64::try_from(cells).unwrap_or(1)).max(1.0);
        if count > 0.0 { count * (count / cells).ln() } else { 0.0 }
    };
    term(inside, covered) + term(sum - inside, cells - covered) - term(sum, cells)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAPER: Marking = Marking { gain_min: 10.0, rectangles_max: 4, cells_min: 2 };

    fn week(busy: &[Rectangle], rate: f64, rest: f64) -> Vec<f64> {
        let mut counts = vec![rest; 168];
        busy.iter().flat_map(|rectangle| rectangle.cells()).for_each(|cell| counts[cell] = rate);
        counts
    }

    #[test]
    fn busy_hours_are_found_even_across_midnight() {
        for rectangle in [
            Rectangle { day: 0, days: 5, hour: 9, hours: 9 },
            Rectangle { day: 5, days: 3, hour: 22, hours: 5 },
            Rectangle { day: 0, days: 7, hour: 4, hours: 1 },
        ] {
            assert_eq!(rectangles(&week(&[rectangle], 9.0, 0.2), &PAPER), [rectangle]);
        }
    }

    #[test]
    fn separate_rectangles_are_found_and_none_in_an_even_week() {
        let (day, night) = (
            Rectangle { day: 0, days: 5, hour: 9, hours: 9 },
            Rectangle { day: 0, days: 7, hour: 3, hours: 2 },
        );
        let found = rectangles(&week(&[day, night], 9.0, 0.5), &PAPER);
        assert_eq!(found.len(), 2);
        assert!(found.contains(&day) && found.contains(&night));
        assert!(rectangles(&[2.0; 168], &PAPER).is_empty());
        assert!(rectangles(&[], &PAPER).is_empty());
    }

    #[test]
    fn invalid_counts_do_not_panic() {
        rectangles(&[f64::NAN; 200], &PAPER);
        rectangles(&[-5.0, f64::INFINITY], &PAPER);
    }
}
