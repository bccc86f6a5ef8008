//! Pseudo-random numbers that are the same in every run of the tests.

/// Pseudo-random number generator (`SplitMix64`).
#[derive(Debug, Clone)]
pub(crate) struct Dice(u64);

impl Dice {
    /// Returns the generator for one stream of a seed; generators of different streams are independent.
    pub(crate) fn of(seed: u64, stream: &str, number: u64) -> Self {
        let bytes = stream.bytes().map(u64::from);
        let name = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ byte).wrapping_mul(0x0100_0000_01b3)
        });
        let mut dice = Self(seed ^ name ^ number.wrapping_mul(0xd134_2543_de82_ef95));
        dice.next();
        dice
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Returns a number from 0 to `below` - 1.
    pub(crate) fn roll(&mut self, below: u64) -> u64 {
        self.next() % below.max(1)
    }

    /// Returns a number from `least` to `most`, both included.
    pub(crate) fn between(&mut self, least: i64, most: i64) -> i64 {
        least + i64::try_from(self.roll(u64::try_from(most - least + 1).unwrap())).unwrap()
    }

    /// Returns true with a probability of one in `cases`.
    pub(crate) fn one_in(&mut self, cases: u64) -> bool {
        self.roll(cases) == 0
    }

    /// Returns a random index into a list of this length.
    pub(crate) fn place(&mut self, length: usize) -> usize {
        usize::try_from(self.roll(u64::try_from(length).unwrap())).unwrap()
    }

    /// Returns a random element of a list.
    pub(crate) fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.place(from.len())]
    }
}
