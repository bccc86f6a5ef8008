//! The reader changed the configuration while the program runs.

use chrono::{DateTime, Utc};

use super::effect::Effect;
use super::model::Model;
use super::poll::plans;
use super::settings::Settings;
use crate::history::FeedKey;
use crate::ui::reader::open_entry;
use crate::ui::reader::pictures;
use crate::ui::theme::appearance::Appearance;

/// What came of reading the configuration again.
#[derive(Debug, Clone, PartialEq)]
pub enum Reconfigured {
    /// It says this.
    Read {
        /// The settings.
        settings: Box<Settings>,
        /// How the screen looks then.
        appearance: Box<Appearance>,
        /// What is wrong with it and does no harm; each a sentence.
        notes: Vec<String>,
    },
    /// It is wrong; a sentence.
    Wrong(String),
}

/// Takes the new settings over: plans are made anew where the bounds changed. A wrong file changes nothing.
pub fn reconfigured(model: &mut Model, now: DateTime<Utc>, read: Reconfigured) -> Vec<Effect> {
    let (settings, appearance, notes) = match read {
        Reconfigured::Wrong(why) => {
            model.screen.complain(now, format!("{why}; what was in force before stays"));
            return Vec::new();
        }
        Reconfigured::Read { settings, appearance, notes } => (*settings, *appearance, notes),
    };
    let before = std::mem::replace(&mut model.settings, settings);
    let was_plain = model.screen.appearance.plain;
    let themed = before.ui.theme != model.settings.ui.theme;
    model.screen.appearance.take(appearance, themed);
    let mut effects = Vec::new();
    if was_plain != model.screen.appearance.plain
        && let Some(reader) = &mut model.screen.reader
    {
        // What is wide is laid out otherwise then.
        reader.width = 0;
        effects.extend(open_entry::render(model));
    }
    if before.network != model.settings.network {
        effects.push(Effect::Reconnect(Box::new(model.settings.network.clone())));
    }
    if before.poll != model.settings.poll || before.network != model.settings.network {
        let keys: Vec<FeedKey> = model.feeds.keys().copied().collect();
        for key in keys {
            plans::replan(model, key, now);
        }
    }
    if before.ui.images != model.settings.ui.images {
        pictures::switch(model, model.settings.ui.images);
    }
    if before.keys != model.settings.keys {
        model.screen.begun.clear();
    }
    tell(model, now, "the configuration was read again", &notes);
    effects
}

/// Tells what is wrong with the configuration, if something is; else that it was read.
pub fn tell(model: &mut Model, now: DateTime<Utc>, read: &str, notes: &[String]) {
    match notes {
        [] => model.screen.say(now, read),
        [note] => model.screen.complain(now, format!("configuration: {note}")),
        [note, rest @ ..] => {
            let text =
                format!("configuration: {note} · 'backissue doctor' names {} more", rest.len());
            model.screen.complain(now, text);
        }
    }
}
