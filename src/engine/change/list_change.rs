//! A change of a list that is written as a whole: the filters, or the saved searches.

use std::collections::BTreeSet;

use crate::engine::saved_searches::SavedSearch;
use backissue_core::filters::EntryFilter;

/// An item of a list, with a number that no other item has.
pub trait Numbered: Clone + PartialEq {
    /// The number.
    fn number(&self) -> u32;
}

impl Numbered for EntryFilter {
    fn number(&self) -> u32 {
        self.id
    }
}

impl Numbered for SavedSearch {
    fn number(&self) -> u32 {
        self.id
    }
}

/// A change of a list: the numbers of the items that it set, and the list before it for their values and places.
#[derive(Debug, Clone, PartialEq)]
pub struct ListChange<T> {
    /// The list before the change.
    before: Vec<T>,
    /// The numbers of the items that it added, changed or removed.
    items: BTreeSet<u32>,
}

fn find<T: Numbered>(list: &[T], number: u32) -> Option<&T> {
    list.iter().find(|item| item.number() == number)
}

impl<T: Numbered> ListChange<T> {
    /// The change from one list to another.
    pub fn new(before: Vec<T>, after: &[T]) -> Self {
        let numbers = before.iter().chain(after).map(T::number);
        let is_changed = |number: &u32| find(&before, *number) != find(after, *number);
        let items = numbers.filter(is_changed).collect();
        Self { before, items }
    }

    /// The change of one item.
    pub fn of(before: Vec<T>, number: u32) -> Self {
        Self { before, items: BTreeSet::from([number]) }
    }

    /// Returns whether it changes nothing.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Hands the items that a later change also sets over to that change, which then restores their first value.
    pub fn hand_over(&mut self, later: &mut Self) {
        self.items.retain(|&number| {
            let is_later = later.items.contains(&number);
            restore(&mut later.before, &self.before, number);
            !is_later
        });
    }

    /// Restores the items in the present list. Returns their numbers.
    pub fn revert(self, list: &mut Vec<T>) -> BTreeSet<u32> {
        for &number in &self.items {
            restore(list, &self.before, number);
        }
        self.items
    }
}

/// Makes an item what it is in the list `before`, or removes it.
fn restore<T: Numbered>(list: &mut Vec<T>, before: &[T], number: u32) {
    let place = list.iter().position(|item| item.number() == number);
    let former = before.iter().enumerate().find(|(_, item)| item.number() == number);
    match (place.and_then(|place| list.get_mut(place)), former) {
        (Some(item), Some((_, former))) => item.clone_from(former),
        (None, Some((place, former))) => list.insert(place.min(list.len()), former.clone()),
        (_, None) => list.retain(|item| item.number() != number),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(names: &[(u32, &str)]) -> Vec<SavedSearch> {
        let search =
            |&(id, name): &(u32, &str)| SavedSearch { id, name: name.into(), text: String::new() };
        names.iter().map(search).collect()
    }

    #[test]
    fn a_failed_change_restores_its_items_and_keeps_others() {
        let first = list(&[(1, "a"), (2, "b")]);
        let second = list(&[(2, "b")]);
        let third = list(&[(2, "c"), (3, "d")]);
        let mut removed = ListChange::new(first.clone(), &second);
        let mut changed = ListChange::new(second, &third);
        let mut shown = third;
        removed.hand_over(&mut changed);
        removed.revert(&mut shown);
        assert_eq!(shown, list(&[(1, "a"), (2, "c"), (3, "d")]));
        changed.revert(&mut shown);
        assert_eq!(shown, first);
    }

    #[test]
    fn an_item_that_a_later_change_sets_is_restored_by_that_change() {
        let before = list(&[(1, "a")]);
        let (once, twice) = (list(&[(1, "b")]), list(&[(1, "c")]));
        let mut first = ListChange::new(before.clone(), &once);
        let mut second = ListChange::new(once, &twice);
        let mut shown = twice.clone();
        first.hand_over(&mut second);
        first.revert(&mut shown);
        assert_eq!(shown, twice);
        second.revert(&mut shown);
        assert_eq!(shown, before);
    }
}
