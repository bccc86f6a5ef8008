//! Restrictions on polls: minimum intervals, cache lifetimes, waits that servers request, skip windows, and feeds that are not
//! polled.

pub(super) mod bans;
pub(super) mod cache;
pub(super) mod floors;
pub(super) mod in_force;
pub(super) mod manual_poll;
pub(super) mod rate_limits;
pub(super) mod rest;
pub(super) mod retry_after;
pub(super) mod wait_header;
