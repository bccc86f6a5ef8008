//! Starts programs: every program that backissue starts is started through [`program`].

use std::ffi::OsStr;
use std::path::Path;
use std::process::Command;

use rustix::fs::{Access, access};

use crate::engine::external::external_command::ExternalCommand;

/// Environment variable with the password for `account add`. No other program gets it.
pub const ACCOUNT_PASSWORD: &str = "BACKISSUE_ACCOUNT_PASSWORD";

/// Folders of programs if `PATH` is not set.
const USUAL_FOLDERS: &str = "/bin:/usr/bin";

/// Prepares the start of a program.
pub fn program(name: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(name);
    command.env_remove(ACCOUNT_PASSWORD);
    command
}

/// Prepares the start of a user's command that does not get the terminal: in a session of its own, so that it neither stops nor ends
/// together with this terminal, and cannot write to it. If the system cannot do that, the command gets a process group of its own.
pub(super) fn apart(line: &ExternalCommand) -> std::io::Result<Command> {
    use std::os::unix::process::CommandExt as _;
    if !is_program(line.program()) {
        return Err(std::io::ErrorKind::NotFound.into());
    }
    let mut command = if is_program("setsid") {
        let mut command = program("setsid");
        command.arg(line.program());
        command
    } else {
        let mut command = program(line.program());
        command.process_group(0);
        command
    };
    command.args(line.arguments());
    Ok(command)
}

/// Checks whether there is a program of this name or path.
pub(super) fn is_program(name: &str) -> bool {
    let can_run = |path: &Path| path.is_file() && access(path, Access::EXEC_OK).is_ok();
    if name.contains('/') {
        return can_run(Path::new(name));
    }
    let folders = std::env::var_os("PATH").unwrap_or_else(|| USUAL_FOLDERS.into());
    std::env::split_paths(&folders).any(|folder| can_run(&folder.join(name)))
}
