//! Hints on links: each visible link of the open text gets a letter, and typing the letter opens the link.

use chrono::{DateTime, Utc};

use super::{copying, open_entry, pipe};
use crate::ui::app::App;
use crate::ui::effect::ScreenEffect;
use crate::ui::keys::key::{Code, Key};
use crate::ui::overlays::outcome::KeyOutcome;
use crate::ui::state::overlay::Overlay;
use crate::ui::state::reading::{HintAction, LinkHints};

/// Letters of the hints, those under the fingers first. `y` copies a link, so it is none of them.
const LETTERS: [char; 25] = [
    'a', 's', 'd', 'f', 'j', 'k', 'l', 'g', 'h', 'q', 'w', 'e', 'r', 't', 'u', 'i', 'o', 'p', 'z',
    'x', 'c', 'v', 'b', 'n', 'm',
];

/// Shows hints on the visible links.
pub fn open_hints(app: &mut App, now: DateTime<Utc>) -> Vec<ScreenEffect> {
    if labels(app).is_empty() {
        return app.ui.say_only(now, "no link is visible here");
    }
    app.ui.lay_over(Overlay::Hints(LinkHints::default()));
    app.ui
        .say_only(now, "a letter opens its link · y first: copy it · | first: pass it to a command")
}

/// Handles a key while hints are shown.
pub fn press_key(app: &mut App, now: DateTime<Utc>, key: Key) -> KeyOutcome {
    let Some(Overlay::Hints(hints)) = &mut app.ui.overlay else { return KeyOutcome::Passed };
    let char = match key {
        Key { code: Code::Char('c'), ctrl: true } => return KeyOutcome::Passed,
        Key { code: Code::Char(char), ctrl: false } => char,
        Key { .. } => {
            app.ui.uncover();
            return KeyOutcome::Done(Vec::new());
        }
    };
    match char {
        'y' => hints.does = HintAction::Copy,
        '|' => hints.does = HintAction::Pipe,
        letter => hints.typed.push(letter),
    }
    let LinkHints { typed, does } = hints.clone();
    let labels = labels(app);
    let chosen = labels.iter().find(|(_, label)| *label == typed).map(|(number, _)| *number);
    let could_be = labels.iter().any(|(_, label)| label.starts_with(&typed));
    if let Some(number) = chosen {
        app.ui.uncover();
        return KeyOutcome::Done(use_link(app, now, number, does));
    }
    if !could_be {
        app.ui.uncover();
        app.ui.say(now, format!("no link has the hint '{typed}'"));
    } else if does != HintAction::Open {
        let what = if does == HintAction::Copy { "copies" } else { "passes on" };
        app.ui.say(now, format!("a letter {what} its link"));
    }
    KeyOutcome::Done(Vec::new())
}

/// Opens, copies or passes on the link with a number.
fn use_link(app: &mut App, now: DateTime<Utc>, number: u16, does: HintAction) -> Vec<ScreenEffect> {
    if does == HintAction::Open {
        return open_entry::follow_link(app, now, number);
    }
    let Some(reader) = app.ui.shown_reader() else { return Vec::new() };
    let link = reader.rendered.as_ref().and_then(|text| text.target(number));
    let Some(link) = link.map(|link| link.url.clone()) else { return Vec::new() };
    match does {
        HintAction::Open | HintAction::Copy => copying::copy(app, now, "copied", &link),
        HintAction::Pipe => pipe::ask_command_for(app, now, Some(link)),
    }
}

/// Returns the numbers of the visible links in the order of the text, each with its hint.
pub fn labels(app: &App) -> Vec<(u16, String)> {
    let rows = usize::from(app.ui.viewport.reader_rows);
    let Some(reader) = app.ui.shown_reader() else { return Vec::new() };
    let lines = reader.rendered.as_ref().map(|text| text.lines.as_slice()).unwrap_or_default();
    let visible = lines.iter().skip(reader.scroll).take(rows);
    let mut numbers: Vec<u16> = Vec::new();
    for number in visible.flat_map(|line| line.spans.iter().filter_map(|span| span.link)) {
        if !numbers.contains(&number) {
            numbers.push(number);
        }
    }
    let count = numbers.len();
    numbers.into_iter().zip(hints(count)).collect()
}

/// Returns hints for a number of links: single letters if they suffice, or else pairs of letters.
fn hints(count: usize) -> Vec<String> {
    if count <= LETTERS.len() {
        return LETTERS.iter().take(count).map(char::to_string).collect();
    }
    let pairs = LETTERS.iter().flat_map(|first| LETTERS.map(|second| format!("{first}{second}")));
    pairs.take(count).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hints_are_letters_or_pairs_and_never_the_same() {
        assert_eq!(hints(3), ["a", "s", "d"]);
        let mut many = hints(80);
        assert!(many.len() == 80 && many.iter().all(|hint| hint.len() == 2), "{many:?}");
        many.sort_unstable();
        many.dedup();
        assert_eq!(many.len(), 80);
    }
}
