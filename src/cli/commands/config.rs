//! `backissue config`: the path of the configuration file, its errors, and all possible keys.

use crate::cli::Done;
use crate::cli::args::{ConfigArgs, Options};
use crate::cli::session::{self, Failure};
use crate::io::config::default_text::DEFAULT_CONFIG;
use crate::io::console;

/// Runs `backissue config`. The exit status is 1 if the configuration file is invalid.
pub(in crate::cli) fn run(options: &Options, args: &ConfigArgs) -> Result<Done, Failure> {
    if args.print_default {
        console::put(DEFAULT_CONFIG.trim_end());
        return Ok(Done::All);
    }
    match session::config_file(options) {
        Some(path) if path.exists() => console::put(&path.display().to_string()),
        Some(path) => console::put(&format!(
            "{} (does not exist; 'backissue config --print-default' prints one to start from)",
            path.display()
        )),
        None => console::put("no home folder was found; choose a file with --config"),
    }
    let notes = session::check_configuration(options)?.notes;
    for note in &notes {
        console::put(&format!("  {note}"));
    }
    Ok(if notes.is_empty() { Done::All } else { Done::WithFailures })
}
