//! Reading habits that people bring from other readers, as settings and keys.

mod finding;
mod jumping;
mod marking;
mod ordering;
