//! The `backissue` binary: everything is in the library's `cli`.

use std::process::ExitCode;

fn main() -> ExitCode {
    backissue::cli::main()
}
