//! The `backissue` binary. All code is in the library's `cli`, except for the settings of the system allocator.

use std::process::ExitCode;

fn main() -> ExitCode {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        allocator::keep_together();
        backissue::io::system::set_give_back(allocator::give_back);
    }
    backissue::cli::main()
}

/// Settings of the glibc allocator. By default it has a separate arena for nearly every thread and keeps freed memory in
/// each, so that a reader that polls all day would hold three times the memory that it uses. One arena for all would make the
/// threads wait for each other.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod allocator {
    /// Blocks of at least this size are allocated separately, and returned to the system when freed, bytes.
    const OWN_BLOCK: libc::c_int = 512 * 1024;
    /// Free memory at the end of an arena that is returned to the system, bytes.
    const FREE_MAX: libc::c_int = 8 * 1024 * 1024;
    /// Number of arenas.
    const ARENAS: libc::c_int = 2;

    /// Makes all threads share few arenas, and returns large blocks to the system as soon as they are freed.
    #[expect(unsafe_code, reason = "there is no other way to set an option of the allocator")]
    pub(super) fn keep_together() {
        // SAFETY: this only stores numbers in the allocator's settings, and no other thread runs yet.
        unsafe {
            libc::mallopt(libc::M_ARENA_MAX, ARENAS);
            libc::mallopt(libc::M_MMAP_THRESHOLD, OWN_BLOCK);
            libc::mallopt(libc::M_TRIM_THRESHOLD, FREE_MAX);
        }
    }

    /// Returns unused pages to the system.
    #[expect(unsafe_code, reason = "there is no other way to tell the allocator")]
    pub(super) fn give_back() {
        // SAFETY: any thread may call this at any time; it takes the allocator's own lock.
        unsafe {
            libc::malloc_trim(0);
        }
    }

    #[cfg(test)]
    mod tests {
        use std::hint::black_box;

        use super::{give_back, keep_together};

        /// Returns the private memory of this process, bytes.
        fn held() -> usize {
            let status = std::fs::read_to_string("/proc/self/status").unwrap();
            let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:")).unwrap();
            line.split_whitespace().next().unwrap().parse::<usize>().unwrap() * 1024
        }

        #[test]
        fn freed_memory_between_used_blocks_is_returned() {
            const BLOCK: usize = 1024;
            const ALL: usize = 64 * 1024 * 1024;
            keep_together();
            let before = held();
            let mut blocks: Vec<Vec<u8>> =
                (0..ALL / BLOCK).map(|_| black_box(vec![1; BLOCK])).collect();
            let full = held();
            assert!(full > before + ALL / 2, "{before} {full}");
            let mut number = 0;
            blocks.retain(|_| {
                number += 1;
                number % 64 == 0
            });
            give_back();
            let after = held();
            assert!(after < before + ALL / 4, "{before} {full} {after}");
            assert_eq!(black_box(blocks).len(), ALL / BLOCK / 64);
        }
    }
}
