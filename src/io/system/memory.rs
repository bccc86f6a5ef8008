//! Asks the system whether there is memory enough.

use std::thread;

/// Bytes that are needed besides the program's own files: stacks of threads, the store, a poll.
const NEEDED: usize = 112 * 1024 * 1024;

/// An error, as a sentence, where the system would not give the memory that is needed: what it refuses later ends the program, or
/// a thread that others wait for. It is asked for as the stack of a thread, which uses nothing of it.
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
