//! A scrolling list: the indexes of its selected row and its first visible row.

/// The selected row and the first row on the screen, as indexes from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ScrollList {
    /// Index of the selected row.
    pub selected: usize,
    /// Index of the first row on the screen.
    pub top: usize,
}

impl ScrollList {
    /// Moves the selection by `steps` rows, down (`true`) or up, in a list of `count` rows.
    pub fn step(&mut self, down: bool, steps: usize, count: usize) {
        self.selected = moved(self.selected, count, down, steps);
    }

    /// Selects the clicked row, if there is a row at this index. Returns `true` if it was already selected.
    pub const fn click(&mut self, place: usize, count: usize) -> bool {
        if place == self.selected {
            return true;
        }
        if place < count {
            self.selected = place;
        }
        false
    }

    /// Scrolls so that the selected row is visible on a screen of `height` rows.
    pub fn keep_in_sight(&mut self, count: usize, height: usize) {
        self.top = self.top_in(count, height);
    }

    /// Returns the index of the first row to show, so that the selected row is visible and no line is blank while rows above are
    /// hidden. The height is 0 before the first draw.
    pub fn top_in(self, count: usize, height: usize) -> usize {
        let top = self.top.min(self.selected).min(count.saturating_sub(height));
        if height == 0 {
            return top;
        }
        top.max(self.selected.saturating_add(1).saturating_sub(height))
    }
}

/// Returns the index that is `steps` rows further down (`true`) or up, limited to a list of `count` rows.
pub fn moved(place: usize, count: usize, down: bool, steps: usize) -> usize {
    if down {
        place.saturating_add(steps).min(count.saturating_sub(1))
    } else {
        place.saturating_sub(steps)
    }
}

/// How far to move or scroll.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Distance {
    /// One row or line.
    One,
    /// Half a page.
    Half,
    /// A page.
    Page,
    /// To the beginning or the end of the list or text.
    All,
}

impl Distance {
    /// Returns the number of rows or lines to move on a screen of `rows` rows.
    pub const fn steps(self, rows: u16) -> usize {
        match self {
            Self::Half if rows > 2 => rows as usize / 2,
            Self::Page if rows > 1 => rows as usize - 1,
            Self::One | Self::Half | Self::Page => 1,
            Self::All => usize::MAX,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::ui::scroll_list::*;

    #[test]
    fn the_selection_stops_at_both_ends() {
        let mut list = ScrollList::default();
        list.step(false, 1, 3);
        assert_eq!(list.selected, 0);
        list.step(true, usize::MAX, 3);
        assert_eq!(list.selected, 2);
        list.step(true, 1, 0);
        assert_eq!(list.selected, 0, "an empty list has no second row");
    }

    #[test]
    fn the_list_scrolls_only_when_the_selection_leaves_the_screen() {
        let mut list = ScrollList { selected: 3, top: 0 };
        list.keep_in_sight(10, 4);
        assert_eq!(list.top, 0);
        list.step(true, 1, 10);
        list.keep_in_sight(10, 4);
        assert_eq!(list.top, 1);
        list.step(false, 2, 10);
        list.keep_in_sight(10, 4);
        assert_eq!(list.top, 1, "it is still in sight");
        list.step(false, 2, 10);
        list.keep_in_sight(10, 4);
        assert_eq!(list.top, 0);
    }

    #[test]
    fn rows_above_fill_the_screen_when_the_list_gets_shorter() {
        let list = ScrollList { selected: 6, top: 6 };
        assert_eq!(list.top_in(8, 4), 4);
    }

    #[test]
    fn a_list_that_was_never_drawn_keeps_its_place() {
        assert_eq!(ScrollList { selected: 6, top: 2 }.top_in(8, 0), 2);
    }

    #[test]
    fn second_click_is_recognised_and_empty_rows_ignored() {
        let mut list = ScrollList::default();
        assert!(!list.click(2, 3));
        assert!(list.click(2, 3));
        assert!(!list.click(3, 3));
        assert_eq!(list.selected, 2);
    }
}
