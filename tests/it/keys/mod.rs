//! Keys, the mouse, the palette, own commands, and what the screen asks and answers.

mod asking;
mod hooks;
mod key_bindings;
mod late_answers;
mod mouse;
mod own_commands;
mod palette;
mod random_keys;
