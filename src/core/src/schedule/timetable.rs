//! A set of deadlines, ordered by time, with a key for each.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, Utc};

/// A set of deadlines with at most one for each key. Keys with equal deadlines are ordered by key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Timetable<K> {
    by_time: BTreeSet<(DateTime<Utc>, K)>,
    by_key: BTreeMap<K, DateTime<Utc>>,
}

impl<K> Default for Timetable<K> {
    fn default() -> Self {
        Self { by_time: BTreeSet::new(), by_key: BTreeMap::new() }
    }
}

impl<K: Ord + Clone> Timetable<K> {
    /// Sets the deadline of a key, replacing any previous one.
    pub fn set(&mut self, at: DateTime<Utc>, key: K) {
        self.remove(&key);
        self.by_key.insert(key.clone(), at);
        self.by_time.insert((at, key));
    }

    /// Removes a key and returns its deadline.
    pub fn remove(&mut self, key: &K) -> Option<DateTime<Utc>> {
        let (key, at) = self.by_key.remove_entry(key)?;
        self.by_time.remove(&(at, key));
        Some(at)
    }

    /// Returns the deadline of a key.
    pub fn deadline(&self, key: &K) -> Option<DateTime<Utc>> {
        self.by_key.get(key).copied()
    }

    /// Returns the earliest deadline.
    pub fn next(&self) -> Option<DateTime<Utc>> {
        self.by_time.first().map(|(at, _)| *at)
    }

    /// Removes and returns the key with the earliest deadline, if it has passed.
    pub fn take_due(&mut self, now: DateTime<Utc>) -> Option<K> {
        if self.next()? > now {
            return None;
        }
        let (_, key) = self.by_time.pop_first()?;
        self.by_key.remove(&key);
        Some(key)
    }

    /// Iterates over all deadlines, earliest first.
    pub fn iter(&self) -> impl Iterator<Item = (DateTime<Utc>, &K)> {
        self.by_time.iter().map(|(at, key)| (*at, key))
    }

    /// Returns the number of keys with a deadline.
    pub fn len(&self) -> usize {
        self.by_key.len()
    }

    /// Checks whether no key has a deadline.
    pub fn is_empty(&self) -> bool {
        self.by_key.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::super::limits::instant;
    use super::*;

    #[test]
    fn deadlines_are_taken_in_order_when_due() {
        let mut timetable = Timetable::default();
        for (at, key) in [(30, "c"), (10, "b"), (10, "a"), (20, "d")] {
            timetable.set(instant(at), key);
        }
        assert_eq!(timetable.next(), Some(instant(10)));
        let mut taken = Vec::new();
        while let Some(key) = timetable.take_due(instant(20)) {
            taken.push(key);
        }
        assert_eq!(taken, ["a", "b", "d"]);
        assert_eq!((timetable.len(), timetable.next()), (1, Some(instant(30))));
    }

    #[test]
    fn key_has_at_most_one_deadline() {
        let mut timetable = Timetable::default();
        timetable.set(instant(10), 1);
        timetable.set(instant(30), 1);
        assert_eq!((timetable.len(), timetable.deadline(&1)), (1, Some(instant(30))));
        assert_eq!(timetable.take_due(instant(29)), None);
        assert_eq!(timetable.remove(&1), Some(instant(30)));
        assert_eq!(timetable.remove(&1), None);
        assert!(timetable.is_empty() && timetable.next().is_none());
        assert_eq!(timetable.iter().count(), 0);
    }
}
