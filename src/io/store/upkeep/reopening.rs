//! Opens the store anew while the program runs: sled does not go on after a write that the system refused, and a copy for
//! reading gives way to the store itself when that can be written again.

use super::disk_room::FREE_MIN;
use super::reading_copy::is_writable;
use crate::io::clock;
use crate::io::store::error::StoreError;
use crate::io::store::handle::Store;

/// How often opening is tried while somebody still reads in the files.
const TRIES: u32 = 10;

impl Store {
    /// Whether the next write should find the store opened anew. `is_refused`: the system refused the last one.
    pub(in crate::io::store) fn is_worth_reopening(&self, is_refused: bool) -> bool {
        if let Some(copy) = &self.copy {
            let free = (self.measure_room)(&copy.from);
            return free.is_none_or(|free| free >= FREE_MIN) && is_writable(&copy.from);
        }
        is_refused && !self.syncer.is_stuck() && self.check_room_for(FREE_MIN).is_ok()
    }

    /// Closes the files and opens them again. The open list stays; records are read anew. Whoever reads beside the
    /// thread of the store waits meanwhile. Returns what is to be told.
    pub(in crate::io::store) fn reopen(mut self) -> Result<(Self, Option<String>), StoreError> {
        let (order, gaps) = (std::mem::take(&mut self.order), std::mem::take(&mut self.gaps));
        let (list_number, measure_room) = (self.list_number, self.measure_room);
        let (search_index, shared) = (self.search_index.clone(), self.shared_trees.clone());
        let former_copy = self.former_copy.take();
        let mut opened = Err(StoreError::NoRoom);
        shared.send_modify(|trees| {
            *trees = None;
            opened = self.open_again();
            *trees = opened.as_ref().ok().map(|(store, _)| store.text_trees());
        });
        let (mut store, told) = opened?;
        (store.order, store.gaps, store.list_number) = (order, gaps, list_number);
        (store.measure_room, store.search_index) = (measure_room, search_index);
        store.shared_trees = shared;
        store.former_copy = former_copy.or(store.former_copy);
        Ok((store, told))
    }

    fn open_again(mut self) -> Result<(Self, Option<String>), StoreError> {
        let stay = self.stay;
        if let Some(copy) = self.copy.take() {
            return Ok(match Self::open_to(&copy.from, stay) {
                Ok(store) => (Self { former_copy: Some(copy.folder), ..store }, None),
                // Another process has it, say: reading goes on.
                Err(_) => (Self { copy: Some(copy), ..self }, None),
            });
        }
        let data = self.data.clone();
        drop(self);
        let mut tries = 0;
        loop {
            match Self::open_or_recover(&data, clock::precise_now(), stay) {
                Err(StoreError::InUse { .. }) if tries < TRIES => tries += 1,
                opened => return opened,
            }
        }
    }
}
