//! The `backissue` binary: everything is in the library's `cli`.

use std::process::ExitCode;

/// It gives back what a poll of all feeds needed for a moment; the system's keeps most of it, once for each thread.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    backissue::cli::main()
}
