//! The `backissue` binary: everything is in the library's `cli`, but for what it asks of its allocator.

use std::process::ExitCode;

use libmimalloc_sys::{mi_option_set, mi_option_t};

/// It gives back what a poll of all feeds needed for a moment; the system's keeps most of it, once for each thread.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// For how many milliseconds the allocator keeps what was freed: `mi_option_purge_delay` of its `mimalloc.h`, which the crate does not
/// name.
const PURGE_DELAY: mi_option_t = 15;

fn main() -> ExitCode {
    give_back_at_once();
    backissue::cli::main()
}

/// Has the allocator give back at once what is freed. By itself it waits for a second, and what is freed by one thread while another
/// one gives back is left out for good: a reader that polled all day would hold more and more.
#[expect(unsafe_code, reason = "the crate has no other way to set an option of the allocator")]
fn give_back_at_once() {
    // SAFETY: it stores a number in a table of the allocator, and no other thread runs yet.
    unsafe { mi_option_set(PURGE_DELAY, 0) }
}

#[cfg(test)]
mod tests {
    use std::hint::black_box;

    use super::give_back_at_once;

    /// Memory of the process's own, bytes; only Linux says it.
    fn held() -> Option<usize> {
        let status = std::fs::read_to_string("/proc/self/status").ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:"))?;
        Some(line.split_whitespace().next()?.parse::<usize>().ok()? * 1024)
    }

    #[test]
    fn what_is_freed_is_given_back_at_once() {
        const BLOCK: usize = 256 * 1024;
        const BLOCKS: usize = 256;
        give_back_at_once();
        let Some(before) = held() else { return };
        let blocks: Vec<Vec<u8>> = (0..BLOCKS).map(|_| black_box(vec![1; BLOCK])).collect();
        let full = held().unwrap();
        assert!(full > before + BLOCK * BLOCKS / 2, "{before} {full}");
        drop(black_box(blocks));
        let after = held().unwrap();
        assert!(after < before + BLOCK * BLOCKS / 8, "{before} {full} {after}");
    }
}
