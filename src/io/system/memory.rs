//! Asks the system whether there is memory enough, and gives it back. The allocator keeps what is freed for a second, in case
//! it is needed again, and then looks at it only when something else is freed or a thread ends: a program at rest would keep it
//! for good.

use std::hint::black_box;
use std::thread;

/// Bytes that are needed besides the program's own files: stacks of threads, the store, a poll.
const NEEDED: usize = 112 * 1024 * 1024;

/// An error, as a sentence, where the system would not give the memory that is needed: what it refuses later ends the program, or
/// a thread that others wait for. It is asked for as the stack of a thread, which uses nothing of it: the allocator would go on
/// with what it was given, and keep more of it at rest.
pub fn check_room() -> Result<(), String> {
    let asked = thread::Builder::new().name("room".into()).stack_size(NEEDED).spawn(|| ());
    let given = asked.map(|thread| drop(thread.join()));
    given.map_err(|_| {
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
