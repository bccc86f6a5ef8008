//! Reading habits that people bring from other readers, as settings and keys.

mod feed_care;
mod finding;
mod joining;
mod jumping;
mod labelling;
mod lines;
mod marking;
mod ordering;
mod own_commands;
