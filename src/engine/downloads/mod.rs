//! Downloads of attached files: which one starts next, what an answer means, and when a played file is deleted. The bytes are moved
//! by `src/io/downloads/`.

pub mod actions;
pub mod file_names;
pub mod progress;
pub mod record;
pub mod responses;
