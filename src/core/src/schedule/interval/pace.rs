//! The pace: the user's choice of more or fewer polls, as a factor on every interval.

use serde::{Deserialize, Serialize};

/// The three settings of the pace (SPEC A.8).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pace {
    /// Every interval is halved.
    More,
    /// Intervals are used as recommended.
    #[default]
    Normal,
    /// Every interval is doubled.
    Less,
}

impl Pace {
    /// All paces, most frequent first.
    pub const ALL: [Self; 3] = [Self::More, Self::Normal, Self::Less];

    /// Returns the factor by which intervals are multiplied, as a numerator and a denominator.
    pub(in crate::schedule) const fn ratio(self) -> (i64, i64) {
        match self {
            Self::More => (1, 2),
            Self::Normal => (1, 1),
            Self::Less => (2, 1),
        }
    }

    /// Returns the name of the pace as `--pace` accepts it (UX 4).
    pub const fn word(self) -> &'static str {
        match self {
            Self::More => "more",
            Self::Normal => "normal",
            Self::Less => "less",
        }
    }
}
