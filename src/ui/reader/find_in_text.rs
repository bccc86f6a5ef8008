//! Finds words within the open text.

use std::ops::Range;

use chrono::{DateTime, Utc};

use crate::ui::app::App;
use crate::ui::effect::ScreenEffect;
use crate::ui::overlays::prompt::{Prompt, PromptPurpose};
use crate::ui::state::overlay::Overlay;
use crate::ui::state::reading::Find;

/// Opens the input line for the wanted text.
pub fn open_line(app: &mut App, now: DateTime<Utc>) -> Vec<ScreenEffect> {
    let Some(reader) = app.ui.shown_reader() else {
        return app.ui.say_only(now, "open an entry first: {find} finds words in its text");
    };
    let from = reader.scroll;
    app.ui.find = Some(Find { wanted: String::new(), hit: None, from });
    app.ui.open_prompt(Prompt::new(PromptPurpose::Find));
    Vec::new()
}

/// Takes the text typed so far, and shows its first hit at or below the line where the search began.
pub fn follow_line(app: &mut App) {
    let Some(Overlay::Prompt(prompt)) = &app.ui.overlay else { return };
    if prompt.purpose != PromptPurpose::Find {
        return;
    }
    let wanted = prompt.text.clone();
    let Some(find) = &mut app.ui.find else { return };
    find.wanted = wanted;
    let from = find.from;
    let hits = all_hits(app);
    let first = hits.iter().find(|(line, _)| *line >= from).or(hits.first()).copied();
    select(app, first, from);
}

/// Ends the search. If it is cancelled, the text is shown where the search began.
pub fn end(app: &mut App, cancelled: bool) {
    let Some(find) = app.ui.find.take() else { return };
    if cancelled && let Some(reader) = app.ui.shown_reader_mut() {
        reader.scroll = find.from;
    }
}

/// Says how many hits there are, after the wanted text was typed.
pub fn finish(app: &mut App, now: DateTime<Utc>) -> Vec<ScreenEffect> {
    if app.ui.find.as_ref().is_some_and(|find| find.wanted.trim().is_empty()) {
        end(app, true);
        return Vec::new();
    }
    say_place(app, now);
    Vec::new()
}

/// Shows the next (`true`) or previous hit. After the last hit comes the first. Returns `None` if nothing is being found.
pub fn move_on(app: &mut App, now: DateTime<Utc>, down: bool) -> Option<Vec<ScreenEffect>> {
    let hit = app.ui.find.as_ref()?.hit;
    let hits = all_hits(app);
    let place = hit.and_then(|hit| hits.iter().position(|other| *other == hit));
    let next = match (place, down) {
        (Some(place), true) => hits.get(place.saturating_add(1)).or(hits.first()),
        (Some(place), false) => match place.checked_sub(1) {
            Some(before) => hits.get(before),
            None => hits.last(),
        },
        (None, _) => hits.first(),
    };
    let next = next.copied();
    select(app, next, 0);
    say_place(app, now);
    Some(Vec::new())
}

/// Selects a hit and scrolls so that it is visible. If there is none, shows the line where the search began.
fn select(app: &mut App, hit: Option<(usize, usize)>, from: usize) {
    if let Some(find) = &mut app.ui.find {
        find.hit = hit;
    }
    let rows = usize::from(app.ui.viewport.reader_rows).max(1);
    let Some(reader) = app.ui.shown_reader_mut() else { return };
    let lines = reader.rendered.as_ref().map_or(0, |text| text.lines.len());
    let last = lines.saturating_sub(rows);
    match hit {
        Some((line, _)) if (reader.scroll..reader.scroll.saturating_add(rows)).contains(&line) => {}
        Some((line, _)) => reader.scroll = line.saturating_sub(rows / 3).min(last),
        None => reader.scroll = from.min(last),
    }
}

/// Says which of the hits is selected.
fn say_place(app: &mut App, now: DateTime<Utc>) {
    let Some(find) = &app.ui.find else { return };
    let hits = all_hits(app);
    let place = find.hit.and_then(|hit| hits.iter().position(|other| *other == hit));
    let text = match place {
        Some(place) => format!(
            "'{}': {} of {} · {}",
            find.wanted.trim(),
            place.saturating_add(1),
            hits.len(),
            app.ui.words("{next-unread} next · {toggle-read} previous · {close} ends")
        ),
        None => format!("'{}' is not in this text", find.wanted.trim()),
    };
    app.ui.say(now, text);
}

/// Returns the line and first byte of all hits in the open text.
fn all_hits(app: &App) -> Vec<(usize, usize)> {
    let Some(find) = &app.ui.find else { return Vec::new() };
    let text = app.ui.shown_reader().and_then(|reader| reader.rendered.as_ref());
    let lines = text.map(|text| text.lines.as_slice()).unwrap_or_default();
    let hits = (0..).zip(lines).flat_map(|(at, line)| {
        hits_in(&line.text(), &find.wanted).into_iter().map(move |hit| (at, hit.start))
    });
    hits.collect()
}

/// Returns the byte ranges at which a text occurs in a line. Upper and lower case count as equal.
pub fn hits_in(line: &str, wanted: &str) -> Vec<Range<usize>> {
    let fold = |char: char| char.to_lowercase().next().unwrap_or(char);
    let wanted: Vec<char> = wanted.trim().chars().map(fold).collect();
    let chars: Vec<(usize, char)> =
        line.char_indices().map(|(at, char)| (at, fold(char))).collect();
    let mut hits: Vec<Range<usize>> = Vec::new();
    if wanted.is_empty() {
        return hits;
    }
    for window in (0..).zip(chars.windows(wanted.len())) {
        let (place, window): (usize, &[(usize, char)]) = window;
        let is_hit = window.iter().map(|(_, char)| char).eq(wanted.iter());
        let Some(&(start, _)) = window.first().filter(|_| is_hit) else { continue };
        let end = chars.get(place.saturating_add(wanted.len())).map_or(line.len(), |(at, _)| *at);
        if hits.last().is_none_or(|last| last.end <= start) {
            hits.push(start..end);
        }
    }
    hits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hits_ignore_case_and_do_not_overlap() {
        for (line, wanted, hits) in [
            ("Frost and frost", "FROST", &[(0, 5), (10, 15)][..]),
            ("aaaa", "aa", &[(0, 2), (2, 4)]),
            ("Äpfel, äpfel", "äp", &[(0, 3), (8, 11)]),
            ("none", "x", &[]),
            ("none", "  ", &[]),
            ("end", "end", &[(0, 3)]),
        ] {
            let found: Vec<(usize, usize)> =
                hits_in(line, wanted).into_iter().map(|hit| (hit.start, hit.end)).collect();
            assert_eq!(found, hits, "{line} {wanted}");
        }
    }
}
