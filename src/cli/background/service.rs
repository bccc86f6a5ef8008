//! `backissue service`: polling in the background as a systemd user service.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::cli::Done;
use crate::cli::args::Options;
use crate::cli::args_background::{ServiceAction, ServiceArgs};
use crate::cli::session::Failure;
use crate::io::config::config_file;
use crate::io::console;
use crate::io::system::words::system_words;

/// The text of the systemd unit file, with a placeholder for the command line that starts this program.
const UNIT: &str = include_str!("../../../assets/backissue.service");
/// Name of the systemd unit.
const NAME: &str = "backissue.service";

/// Runs `backissue service`.
pub(in crate::cli) fn run(options: &Options, args: &ServiceArgs) -> Result<Done, Failure> {
    let unit = unit_path()?;
    match args.what {
        ServiceAction::Install => install(options, &unit),
        ServiceAction::Remove => remove(&unit),
        ServiceAction::Status => status(&unit),
    }
}

/// Returns the path of the unit file in the systemd folder of this user.
fn unit_path() -> Result<PathBuf, Failure> {
    let folders = config_file::folders().map_err(Failure::new)?;
    let config = folders.config.parent().and_then(Path::parent).unwrap_or(Path::new("."));
    Ok(config.join("systemd/user").join(NAME))
}

fn install(options: &Options, unit: &Path) -> Result<Done, Failure> {
    let cannot = |error: std::io::Error| {
        Failure::new(format!("{} cannot be written: {}", unit.display(), system_words(&error)))
    };
    let program = std::env::current_exe().map_err(|error| {
        Failure::new(format!("the path of this program is unknown: {}", system_words(&error)))
    })?;
    let text = unit_text(&program, options)?;
    // Fails early without systemd, so that no useless unit file is written.
    systemctl(&["--version"])?;
    unit.parent().map_or(Ok(()), fs::create_dir_all).map_err(cannot)?;
    fs::write(unit, text).map_err(cannot)?;
    console::tell(&format!("written: {}", unit.display()));
    systemctl(&["daemon-reload"])?;
    systemctl(&["enable", NAME])?;
    // If the service is already running, a restart makes systemd use the new unit file.
    systemctl(&["restart", NAME])?;
    console::tell(
        "backissue now polls in the background; 'journalctl --user -u backissue' shows its messages",
    );
    Ok(Done::All)
}

fn remove(unit: &Path) -> Result<Done, Failure> {
    if !unit.exists() {
        console::tell(&format!("the service is not installed: {} does not exist", unit.display()));
        return Ok(Done::All);
    }
    let disabled = systemctl(&["disable", "--now", NAME]);
    fs::remove_file(unit).map_err(|error| {
        Failure::new(format!("{} cannot be removed: {}", unit.display(), system_words(&error)))
    })?;
    console::tell(&format!("removed: {}", unit.display()));
    disabled.and_then(|()| systemctl(&["daemon-reload"]))?;
    Ok(Done::All)
}

fn status(unit: &Path) -> Result<Done, Failure> {
    if !unit.exists() {
        console::put("not installed; run 'backissue service install' to install it");
        return Ok(Done::WithFailures);
    }
    let said = |what: &str| -> Result<String, Failure> {
        let answer = Command::new("systemctl").args(["--user", what, NAME]).output();
        let answer = answer.map_err(|error| no_systemd(&error))?;
        Ok(String::from_utf8_lossy(&answer.stdout).trim().to_owned())
    };
    let (active, enabled) = (said("is-active")?, said("is-enabled")?);
    console::put(&format!("{active}, {enabled}: {}", unit.display()));
    Ok(if active == "active" { Done::All } else { Done::WithFailures })
}

/// Runs `systemctl --user`. On failure, returns the first line of its error output.
fn systemctl(arguments: &[&str]) -> Result<(), Failure> {
    let answer = Command::new("systemctl").arg("--user").args(arguments).output();
    let answer = answer.map_err(|error| no_systemd(&error))?;
    if answer.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&answer.stderr);
    let first = said.lines().next().unwrap_or("it gave no reason");
    Err(Failure::new(format!("systemctl --user {} failed: {first}", arguments.join(" "))))
}

fn no_systemd(error: &std::io::Error) -> Failure {
    Failure::new(format!(
        "systemd cannot be reached ({}); run 'backissue watch' from your own service manager",
        system_words(error)
    ))
}

/// Returns the text of the unit file that starts `program`, with the data folder and configuration file from the command line.
fn unit_text(program: &Path, options: &Options) -> Result<String, Failure> {
    let mut command = quote(program)?;
    for (flag, path) in [("--data-dir", &options.data_dir), ("--config", &options.config)] {
        if let Some(path) = path {
            let whole = std::path::absolute(path).unwrap_or_else(|_| path.clone());
            command.extend([" ", flag, " ", quote(&whole)?.as_str()]);
        }
    }
    Ok(UNIT.replace("{command}", &command))
}

/// Quotes a path for a unit file, where `%`, `$`, quotes and backslashes are special.
fn quote(path: &Path) -> Result<String, Failure> {
    let text = path.to_str().filter(|text| !text.contains(char::is_control)).ok_or_else(|| {
        Failure::new(format!("{} contains characters that a unit file cannot hold", path.display()))
    })?;
    let mut quoted = String::from("\"");
    for char in text.chars() {
        match char {
            '"' | '\\' => quoted.extend(['\\', char]),
            '%' | '$' => quoted.extend([char, char]),
            _ => quoted.push(char),
        }
    }
    quoted.push('"');
    Ok(quoted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unit_file_names_the_program_and_given_folders() {
        let options = Options {
            data_dir: Some("/data/50% \"mine\"".into()),
            config: None,
            offline: false,
            plain: false,
            verbose: false,
        };
        let text = unit_text(Path::new("/opt/a b/backissue"), &options).unwrap();
        let start = text.lines().find(|line| line.starts_with("ExecStart=")).unwrap();
        assert_eq!(
            start,
            "ExecStart=\"/opt/a b/backissue\" --data-dir \"/data/50%% \\\"mine\\\"\" watch"
        );
        assert!(unit_text(Path::new("/opt/a\nb"), &options).is_err());
    }
}
