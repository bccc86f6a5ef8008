//! The required contrast between text and background, and the colours to use if a terminal supports only a few colours.

use super::colours::Colours;
use super::theme_roles::{Ink, Theme, ThemeRole};

/// Minimum contrast ratio between text and background (WCAG 2.2, 1.4.3).
pub const TEXT_CONTRAST: f64 = 4.5;
/// Minimum contrast ratio between a separator line and its background (WCAG 2.2, 1.4.11).
pub const LINE_CONTRAST: f64 = 3.0;

/// Returns the minimum contrast ratio between an element with this role and its background.
pub const fn least_contrast(role: ThemeRole) -> f64 {
    if matches!(role, ThemeRole::Border) { LINE_CONTRAST } else { TEXT_CONTRAST }
}

/// Returns the foreground and background of a role as the terminal shows them. `None` means that the colour underneath, or else the
/// terminal's default colour, stays visible. If the terminal does not support a foreground colour of the theme, its replacement is
/// chosen for enough contrast with its background and with the selected row of an unfocused pane.
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
