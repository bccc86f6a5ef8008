//! Asks the system whether there is memory enough, and gives it back. The allocator keeps what is freed for a second, in case
//! it is needed again, and then looks at it only when something else is freed or a thread ends: a program at rest would keep it
//! for good.

use std::hint::black_box;
use std::thread;

/// Bytes that are needed besides the program's own files: stacks of threads, the store, a poll.
const NEEDED: usize = 112 * 1024 * 1024;

/// An error, as a sentence, where the system would not give the memory that is needed: what it refuses later ends the program, or
/// a thread that others wait for. Nothing of it is used.
pub fn check_room() -> Result<(), String> {
    let mut room: Vec<u8> = Vec::new();
    let reserved = room.try_reserve_exact(black_box(NEEDED));
    drop(black_box(room));
    reserved.map_err(|_| {
        format!(
            "there is too little memory: the system refuses {} MB; see 'ulimit -v', or end other programs",
            NEEDED / (1024 * 1024)
        )
    })
}

/// A little memory: a thread that never had any has nothing to do with the allocator.
const LITTLE: usize = 1024;

/// Has the allocator give back what was freed more than a second ago.
pub fn give_back() {
    // Where there is no thread to be had, memory is the least trouble.
    let ended = || drop(black_box(vec![1_u8; LITTLE]));
    thread::Builder::new().name("memory".into()).spawn(ended).ok();
}
