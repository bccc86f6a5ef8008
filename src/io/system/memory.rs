//! Gives memory back to the system. The allocator keeps what is freed for a second, in case it is needed again, and then looks at
//! it only when something else is freed or a thread ends: a program at rest would keep it for good.

use std::hint::black_box;
use std::thread;

/// A little memory: a thread that never had any has nothing to do with the allocator.
const LITTLE: usize = 1024;

/// Has the allocator give back what was freed more than a second ago.
pub fn give_back() {
    // Where there is no thread to be had, memory is the least trouble.
    let ended = || drop(black_box(vec![1_u8; LITTLE]));
    thread::Builder::new().name("memory".into()).spawn(ended).ok();
}
