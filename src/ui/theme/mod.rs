//! Themes, colours, and the capabilities of the terminal.

pub mod appearance;
pub mod choose_layout;
pub mod choose_theme;
pub mod colours;
pub mod contrast;
pub mod graphics;
pub mod theme_files;
pub mod theme_roles;
