//! Sentences for the screen. A text of the program names commands in braces, such as `{undo}`, and is shown with their keys. Text from
//! feeds, servers or the user is never such a text: it has been made while the program runs, and is shown as it is.

use super::key_bindings::Keymap;
use backissue_core::InputFlaw;

/// A text that is shown on the screen.
pub trait Sentence {
    /// Returns the text as it is shown.
    fn shown(self, keys: &Keymap) -> String;
}

impl Sentence for &'static str {
    fn shown(self, keys: &Keymap) -> String {
        keys.words(self)
    }
}

impl Sentence for String {
    fn shown(self, _keys: &Keymap) -> String {
        self
    }
}

impl Sentence for InputFlaw {
    fn shown(self, _keys: &Keymap) -> String {
        self.into()
    }
}

#[cfg(test)]
mod tests {
    use crate::ui::keys::commands::COMMANDS;
    use crate::ui::keys::key_bindings::{Keymap, OwnKeys, place_of};
    use crate::ui::keys::key_names::sequence;
    use crate::ui::sample_app::{app_with, noon};

    #[test]
    fn commands_in_a_sentence_are_shown_with_their_bound_keys() {
        let own = |command: &str, keys: &[&str]| OwnKeys {
            place: place_of(command).unwrap(),
            sequences: keys.iter().map(|keys| sequence(keys).unwrap()).collect(),
            line: 1,
        };
        let keys = Keymap::new(&[own("undo", &["F9"]), own("star", &[])]).0;
        assert_eq!(
            keys.words("{undo} undoes it, {star} stars, {plan} tells {none} {"),
            "F9 undoes it, :star stars, i tells {none} {"
        );
    }

    #[test]
    fn every_command_that_a_help_text_names_exists() {
        for row in COMMANDS {
            assert!(!Keymap::default().words(row.help).contains('{'), "{}", row.name);
        }
    }

    #[test]
    fn titles_and_typed_text_are_never_templates() {
        let mut app = app_with(&[("{undo}", &[])]);
        let feed = *app.engine.feeds.keys().next().unwrap();
        let title = app.engine.feeds[&feed].record.shown_title().to_owned();
        app.ui.say_undoable(noon(), format!("'{title}' was changed"));
        assert_eq!(app.ui.notice.unwrap().text, "'{undo}' was changed · u undo");
    }
}
