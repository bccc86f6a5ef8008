//! Restrictions on polls: minimum intervals, cache lifetimes, waits that servers request, skip windows, and feeds that are not
//! polled.

pub(super) mod bans;
pub(super) mod cache;
pub(super) mod floors;
pub(super) mod in_force;
pub(super) mod retry_after;
