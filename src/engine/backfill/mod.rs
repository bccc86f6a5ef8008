//! History of feeds: walks through archives, gaps, and the user's requests for older entries.

pub mod archive_response;
pub mod brought;
pub mod copies;
pub mod elsewhere;
pub mod history_requests;
pub mod walk_stage;
pub mod walks;
