//! A form whose lines are either text inputs or choices between a few words. One line has the focus. The dialogs that edit a feed
//! or a filter are such forms.

use super::prompt::{Prompt, TypedText};
use crate::ui::keys::key::{Code, Key};

/// A form with input lines. A value of type `F` identifies each line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Form<F> {
    /// The input lines, in display order.
    pub rows: Vec<FormRow<F>>,
    /// Index of the line that has the focus.
    pub selected: usize,
    /// A sentence that explains why the form could not be saved. `None` if there was no problem.
    pub problem: Option<String>,
}

/// One input line of a form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FormRow<F> {
    /// Identifies the line within the form.
    pub field: F,
    /// The text or choice that the user edits.
    pub value: FormValue,
    /// Hint that is shown while the line is empty, such as the value that applies without an input.
    pub hint: String,
    /// Suggested text. If the line is empty, the right arrow key inserts the suggested text.
    pub offered: Option<String>,
}

/// The contents of an input line in a form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FormValue {
    /// A text that the user types.
    Line(Prompt),
    /// A choice between a few words.
    Choice {
        /// The words to choose from.
        words: Vec<String>,
        /// Index of the chosen word.
        chosen: usize,
    },
}

/// What to do after a key was pressed in a form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FormOutcome {
    /// Keep the form open.
    Open,
    /// Save the form.
    Save,
    /// Close the form without saving.
    GiveUp,
}

impl<F> Form<F> {
    /// Creates a form in which the line at index `selected` has the focus.
    pub const fn new(rows: Vec<FormRow<F>>, selected: usize) -> Self {
        Self { rows, selected, problem: None }
    }

    /// Handles a key in the form.
    pub fn press(&mut self, key: Key) -> FormOutcome {
        let typing = self.typed_line().is_some();
        match key.code {
            Code::Up | Code::BackTab => self.select_next(false),
            Code::Down | Code::Tab => self.select_next(true),
            Code::Left if !typing => self.choose_next(false),
            Code::Right | Code::Char(' ') if !typing => self.choose_next(true),
            Code::Right if self.take_offer() => {}
            Code::Enter => return FormOutcome::Save,
            Code::Esc => return FormOutcome::GiveUp,
            Code::Char('c') if key.ctrl => return FormOutcome::GiveUp,
            Code::Char(_)
            | Code::Alt(_)
            | Code::Function(_)
            | Code::Insert
            | Code::Backspace
            | Code::Delete
            | Code::Left
            | Code::Right
            | Code::PageUp
            | Code::PageDown
            | Code::Home
            | Code::End => {
                self.problem = None;
                let typed = self.typed_line_mut().map(|line| line.key(key));
                debug_assert!(!matches!(typed, Some(TypedText::Done | TypedText::Cancelled)));
            }
        }
        FormOutcome::Open
    }

    /// Inserts pasted text into the focused line, if it is a text line.
    pub fn paste(&mut self, text: &str) {
        if let Some(line) = self.typed_line_mut() {
            line.insert(text);
        }
    }

    /// Gives the focus to the clicked line, if a line was clicked.
    pub const fn click(&mut self, place: usize) {
        if place < self.rows.len() {
            self.selected = place;
        }
    }

    /// Returns the text input of the focused line. Returns `None` if the line is a choice.
    pub fn typed_line(&self) -> Option<&Prompt> {
        match self.rows.get(self.selected).map(|row| &row.value) {
            Some(FormValue::Line(prompt)) => Some(prompt),
            Some(FormValue::Choice { .. }) | None => None,
        }
    }

    /// Returns the text input of the focused line for modification. Returns `None` if the line is a choice.
    fn typed_line_mut(&mut self) -> Option<&mut Prompt> {
        match self.rows.get_mut(self.selected).map(|row| &mut row.value) {
            Some(FormValue::Line(prompt)) => Some(prompt),
            Some(FormValue::Choice { .. }) | None => None,
        }
    }

    /// Gives the focus to the next (`true`) or previous line, wrapping around.
    fn select_next(&mut self, down: bool) {
        self.selected = next_place(self.selected, self.rows.len(), down);
    }

    /// Chooses the next (`true`) or previous word in the focused line, wrapping around.
    fn choose_next(&mut self, forward: bool) {
        let value = self.rows.get_mut(self.selected).map(|row| &mut row.value);
        if let Some(FormValue::Choice { words, chosen }) = value {
            *chosen = next_place(*chosen, words.len(), forward);
        }
    }

    /// Inserts the suggested text into the focused line. Returns `false` if there is no suggestion or the line is not empty.
    fn take_offer(&mut self) -> bool {
        let Some(row) = self.rows.get_mut(self.selected) else { return false };
        let (FormValue::Line(prompt), Some(offered)) = (&mut row.value, &row.offered) else {
            return false;
        };
        let empty = prompt.text.is_empty();
        if empty {
            prompt.insert(offered);
        }
        empty
    }
}

impl<F: PartialEq> Form<F> {
    /// Returns the trimmed text of the line for a field. Returns an empty string if the field has no text input.
    pub fn text(&self, field: &F) -> &str {
        match self.value(field) {
            Some(FormValue::Line(prompt)) => prompt.text.trim(),
            Some(FormValue::Choice { .. }) | None => "",
        }
    }

    /// Returns the index of the chosen word in the line for a field. Returns 0 if the field is not a choice.
    pub fn chosen(&self, field: &F) -> usize {
        match self.value(field) {
            Some(FormValue::Choice { chosen, .. }) => *chosen,
            Some(FormValue::Line(_)) | None => 0,
        }
    }

    fn value(&self, field: &F) -> Option<&FormValue> {
        self.rows.iter().find(|row| row.field == *field).map(|row| &row.value)
    }
}

/// Returns the index after (`true`) or before `place`, wrapping around in a list of `count` items.
fn next_place(place: usize, count: usize, forward: bool) -> usize {
    let count = count.max(1);
    let step = if forward { 1 } else { count.saturating_sub(1) };
    place.saturating_add(step).checked_rem(count).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use crate::ui::overlays::form::*;
    use crate::ui::overlays::prompt::PromptPurpose;

    /// Returns a form with a text input, a choice between three words, and a text input with a suggestion.
    fn form() -> Form<&'static str> {
        let line = |field, offered: Option<&str>| FormRow {
            field,
            value: FormValue::Line(Prompt::new(PromptPurpose::Condition)),
            hint: String::new(),
            offered: offered.map(str::to_owned),
        };
        let words = ["hide", "star", "label"].map(str::to_owned).into();
        let choice = FormRow {
            field: "action",
            value: FormValue::Choice { words, chosen: 0 },
            hint: String::new(),
            offered: None,
        };
        Form::new(vec![line("title", None), choice, line("author", Some("Ada"))], 0)
    }

    fn press(form: &mut Form<&'static str>, keys: &[Code]) {
        for code in keys {
            assert_eq!(form.press(Key::code(*code)), FormOutcome::Open, "{code:?}");
        }
    }

    #[test]
    fn the_selection_goes_around_both_ends() {
        let mut form = form();
        press(&mut form, &[Code::Up]);
        assert_eq!(form.selected, 2);
        press(&mut form, &[Code::Tab]);
        assert_eq!(form.selected, 0);
        press(&mut form, &[Code::Down, Code::BackTab, Code::BackTab]);
        assert_eq!(form.selected, 2);
    }

    #[test]
    fn arrows_and_blanks_choose_a_word_and_letters_change_none() {
        let mut form = form();
        press(&mut form, &[Code::Down, Code::Right, Code::Char(' '), Code::Char('x')]);
        assert_eq!(form.chosen(&"action"), 2);
        press(&mut form, &[Code::Right]);
        assert_eq!(form.chosen(&"action"), 0, "around the end");
        press(&mut form, &[Code::Left]);
        assert_eq!((form.chosen(&"action"), form.text(&"action")), (2, ""));
    }

    #[test]
    fn text_is_typed_and_pasted_into_the_selected_line_alone() {
        let mut form = form();
        press(&mut form, &[Code::Char('a'), Code::Char(' '), Code::Left, Code::Char('b')]);
        form.paste("c\n");
        assert_eq!((form.text(&"title"), form.text(&"author")), ("abc", ""));
        form.click(1);
        form.paste("x");
        assert_eq!((form.text(&"title"), form.chosen(&"title")), ("abc", 0));
    }

    #[test]
    fn right_arrow_fills_only_an_empty_line() {
        let mut form = form();
        form.click(2);
        press(&mut form, &[Code::Right]);
        assert_eq!(form.text(&"author"), "Ada");
        press(&mut form, &[Code::Backspace, Code::Right, Code::Char('b')]);
        assert_eq!(form.text(&"author"), "Adb");
        form.click(0);
        press(&mut form, &[Code::Right]);
        assert_eq!(form.text(&"title"), "", "nothing is offered there");
    }

    #[test]
    fn typing_clears_the_problem_and_moving_does_not() {
        let mut form = form();
        form.problem = Some("too short".into());
        press(&mut form, &[Code::Down, Code::Up]);
        assert!(form.problem.is_some());
        press(&mut form, &[Code::Char('a')]);
        assert_eq!(form.problem, None);
    }

    #[test]
    fn enter_saves_and_escape_cancels_in_any_field() {
        for place in 0..3 {
            let mut form = form();
            form.click(place);
            assert_eq!(form.press(Key::code(Code::Enter)), FormOutcome::Save);
            assert_eq!(form.press(Key::code(Code::Esc)), FormOutcome::GiveUp);
            assert_eq!(form.press(Key::ctrl('c')), FormOutcome::GiveUp);
        }
    }

    #[test]
    fn click_below_the_last_line_selects_nothing() {
        let mut form = form();
        form.click(3);
        assert_eq!(form.selected, 0);
        let mut empty: Form<&'static str> = Form::new(Vec::new(), 0);
        press(&mut empty, &[Code::Down, Code::Up, Code::Right, Code::Char('a')]);
        assert_eq!(empty.selected, 0);
    }
}
