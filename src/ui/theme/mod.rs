//! Themes, colours, and the capabilities of the terminal.

pub mod choose_theme;
pub mod colours;
pub mod graphics;
pub mod theme_roles;
