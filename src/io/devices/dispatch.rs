//! Processes the request of a device and returns the answer.

use backissue_core::accounts::served;
use chrono::{DateTime, TimeDelta, Utc};

use super::replies::{self, DeviceCall, DeviceReply, ReplyFault};
use super::{changes, page};
use crate::io::answers::LoopEnded;
use crate::io::clock;
use crate::io::loop_handle::LoopHandle;
use crate::io::store::{DeviceRecord, Store, StoreError};

/// Minimum time between two notes that a device was seen. Each note writes to the store.
const SEEN_AGAIN: TimeDelta = TimeDelta::minutes(10);
/// Number of entries that get their numbers in one job.
const NUMBERS_AT_ONCE: usize = 4_096;

/// Answers a device. Returns an error if this process no longer has the store.
pub fn reply(handle: &LoopHandle, call: &DeviceCall) -> Result<DeviceReply, LoopEnded> {
    match answer(handle, call) {
        Ok(reply) | Err(ReplyFault::Refused(reply)) => Ok(reply),
        Err(ReplyFault::Ended(ended)) => Err(ended),
    }
}

/// Undoes the last change of a device. Returns its description, or `None` if there is none. The error is a sentence.
pub fn undo(handle: &LoopHandle, device: &str) -> Result<Option<String>, String> {
    changes::undo(handle, device).map_err(|fault| match fault {
        ReplyFault::Ended(ended) => ended.to_string(),
        ReplyFault::Refused(reply) => reply.text,
    })
}

fn answer(handle: &LoopHandle, call: &DeviceCall) -> Result<DeviceReply, ReplyFault> {
    if let Some(token) = &call.page {
        let (now, device) = (clock::now(), call.device.clone());
        handle.look(move |store| note_seen(store, &device, now))?;
        return page::answer(handle, call, token);
    }
    let read = served::read_call(&call.path, &call.query, call.form.as_deref());
    let asked = read.map_err(|fault| {
        let status = if fault == served::CallFault::NotOffered { 404 } else { 400 };
        ReplyFault::refused(status, fault.to_string())
    })?;
    prepare(handle, &call.device)?;
    let text = match replies::read(handle, &asked)? {
        Some(text) => text,
        None => changes::carry_out(handle, &call.device, asked)?,
    };
    Ok(DeviceReply { status: 200, text })
}

/// Notes that a device was seen.
fn note_seen(store: &mut Store, device: &str, now: DateTime<Utc>) -> Result<(), StoreError> {
    let seen = store.device_records()?.get(device).and_then(|record| record.seen);
    if seen.is_some_and(|seen| now - seen < SEEN_AGAIN && seen <= now) {
        return Ok(());
    }
    let seen = |record: &mut DeviceRecord| {
        record.seen = Some(now);
        Some(())
    };
    store.change_device(device, now, seen).map(drop)
}

/// Notes that a device was seen, and gives numbers to new entries. Waits until the numbers are durable, so that a number that a
/// device has is never given again. Works in short jobs, so that the keys of the reader need not wait.
fn prepare(handle: &LoopHandle, device: &str) -> Result<(), ReplyFault> {
    let (now, device) = (clock::now(), device.to_owned());
    let mut found = handle.look(move |store| {
        note_seen(store, &device, now)?;
        store.without_number(None)
    })?;
    let mut new = found.0;
    while found.1.is_some() {
        found = handle.look(move |store| store.without_number(found.1))?;
        new.append(&mut found.0);
    }
    if new.is_empty() {
        return Ok(());
    }
    new.sort_unstable();
    let now = u64::try_from(clock::precise_now().timestamp_micros()).unwrap_or_default();
    for piece in new.chunks(NUMBERS_AT_ONCE) {
        let piece = piece.to_vec();
        handle.look(move |store| store.give_numbers(&piece, now))?;
    }
    Ok(handle.wait_until_durable()?)
}
