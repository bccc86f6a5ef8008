//! Facts and plans as JSON.

pub(super) mod facts_json;
pub(super) mod plan_json;
