//! Contrast: how well an ink is told from its ground, and which ink is taken where a terminal has few colours.

use super::colours::Colours;
use super::theme_roles::{Ink, Theme, ThemeRole};

/// The least contrast of a text with its ground (WCAG 2.2, 1.4.3).
pub const TEXT_CONTRAST: f64 = 4.5;
/// The least contrast of a line that only parts (WCAG 2.2, 1.4.11).
pub const LINE_CONTRAST: f64 = 3.0;

/// The contrast that a role needs.
pub const fn least_contrast(role: ThemeRole) -> f64 {
    if matches!(role, ThemeRole::Border) { LINE_CONTRAST } else { TEXT_CONTRAST }
}

/// Ink and ground of a role as the terminal shows them; `None`: the terminal's own, or those beneath. A theme's own colours are
/// its affair; where they had to be replaced by others, an ink is taken that can be read on its ground, and on the selected row
/// of another pane.
pub fn shown_paint(theme: &Theme, role: ThemeRole, colours: Colours) -> (Option<Ink>, Option<Ink>) {
    let shown = |ink: Option<Ink>| ink.and_then(|ink| colours.shown(ink));
    let ground_of = |role| shown(theme.paint(role).ground);
    let paint = theme.paint(role);
    let ground = ground_of(role);
    let Some(Ink::Rgb(..)) = paint.ink else { return (shown(paint.ink), ground) };
    let beneath = [ground.or(ground_of(ThemeRole::Text)), ground_of(ThemeRole::SelectedElsewhere)];
    let count = if ground.is_some() { 1 } else { beneath.len() };
    let grounds: Vec<Ink> = beneath.into_iter().take(count).flatten().collect();
    let ink = paint.ink.and_then(|ink| colours.shown_on(ink, &grounds, least_contrast(role)));
    (ink, ground)
}
