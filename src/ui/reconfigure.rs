//! Applies a configuration file that was changed while the program runs.

use chrono::{DateTime, Utc};

use super::app::App;
use super::effect::ScreenEffect;
use super::input::Reconfigured;
use super::reader::{lay_out, pictures};
use super::theme::choose_theme;
use crate::engine::input::Input;

/// Applies new settings. If the configuration file is invalid, the old settings remain in force.
pub fn take_settings(app: &mut App, now: DateTime<Utc>, read: Reconfigured) -> Vec<ScreenEffect> {
    let (settings, screen, appearance, notes) = match read {
        Reconfigured::Wrong(why) => {
            return app
                .ui
                .complain_only(now, format!("{why}; the previous configuration stays in use"));
        }
        Reconfigured::Read { settings, screen, appearance, notes } => {
            (settings, *screen, *appearance, notes)
        }
    };
    let before = std::mem::replace(&mut app.ui.settings, screen);
    let was_plain = app.ui.appearance.plain;
    let themed = before.theme != app.ui.settings.theme;
    app.ui.appearance.take(appearance, themed);
    if themed {
        app.ui.theme = None;
        choose_theme::follow_ground(app);
    }
    let mut effects = Vec::new();
    if was_plain != app.ui.appearance.plain
        && let Some(reader) = &mut app.ui.reader
    {
        // The plain screen wraps wide content, so the open text must be laid out again.
        reader.width = 0;
        effects.extend(lay_out::ask_lines(app));
    }
    effects.extend(app.tell_engine(now, Input::Reconfigured(settings)));
    if before.images != app.ui.settings.images {
        effects.extend(pictures::switch_pictures(app, now, app.ui.settings.images));
    }
    if before.keys != app.ui.settings.keys {
        app.ui.begun.clear();
    }
    tell_notes(app, now, "the configuration was reloaded", &notes);
    effects
}

/// Shows the warnings about the configuration file in the status line. If there are none, shows the message `read`.
pub fn tell_notes(app: &mut App, now: DateTime<Utc>, read: &str, notes: &[String]) {
    match notes {
        [] => app.ui.say(now, read.to_owned()),
        [note] => app.ui.complain(now, format!("configuration: {note}")),
        [note, rest @ ..] => {
            let text =
                format!("configuration: {note} · 'backissue doctor' lists {} more", rest.len());
            app.ui.complain(now, text);
        }
    }
}
