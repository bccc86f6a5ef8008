//! Reads facts from JSON and formats plans as JSON.

pub(super) mod facts_json;
pub(super) mod plan_json;
