//! A fresh home folder for the program, with subscriptions.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::usage::{Used, run};

/// Returns the path of the program: the one built with this benchmark, or the one in `BACKISSUE_YARDSTICK_PROGRAM`.
pub(crate) fn program() -> String {
    let other = std::env::var("BACKISSUE_YARDSTICK_PROGRAM");
    other.unwrap_or_else(|_| env!("CARGO_BIN_EXE_backissue").to_owned())
}

/// The program's configuration: no pauses between requests to this machine, on which the publisher runs.
const CONFIGURATION: &str = "[network]\nspace_loopback = false\n";

/// A home folder that contains only a configuration and the program's data.
#[derive(Debug)]
pub(crate) struct Home(tempfile::TempDir);

impl Home {
    /// Creates a home folder with these subscriptions, none of them polled yet.
    pub(crate) fn subscribed(addresses: &[String]) -> Self {
        let home = Self(tempfile::tempdir().unwrap());
        let configuration = home.path().join(".config/backissue");
        fs::create_dir_all(&configuration).unwrap();
        fs::write(configuration.join("config.toml"), CONFIGURATION).unwrap();
        let mut list = "<opml version=\"2.0\"><head/><body>\n".to_owned();
        for address in addresses {
            writeln!(list, "<outline type=\"rss\" text=\"{address}\" xmlUrl=\"{address}\"/>")
                .unwrap();
        }
        list.push_str("</body></opml>\n");
        let file = home.path().join("subscriptions.opml");
        fs::write(&file, list).unwrap();
        home.runs(&["import", file.to_str().unwrap()]);
        home
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    /// Runs the program with these arguments and waits for it to exit.
    pub(crate) fn runs(&self, arguments: &[&str]) -> Used {
        let mut command = Command::new(program());
        command.env_clear().envs(environment(self.path())).args(arguments);
        run(command.stdin(Stdio::null()).stdout(Stdio::null()))
    }

    /// Polls every feed with `backissue poll --all`.
    pub(crate) fn polls(&self) -> Used {
        self.runs(&["poll", "--all", "--quiet"])
    }

    /// Returns the disk space that the program's data takes up, in bytes.
    pub(crate) fn disk_bytes(&self) -> u64 {
        occupied(&self.path().join(".local/share/backissue"))
    }
}

/// Returns the environment variables with which the program runs in this home folder.
pub(crate) fn environment(home: &Path) -> Vec<(&'static str, PathBuf)> {
    let fixed = [("TERM", "xterm-256color"), ("NO_PROXY", "*"), ("TZ", "UTC")];
    let fixed = fixed.map(|(name, value)| (name, PathBuf::from(value)));
    fixed.into_iter().chain([("HOME", home.to_owned()), ("TMPDIR", home.to_owned())]).collect()
}

fn occupied(folder: &Path) -> u64 {
    use std::os::unix::fs::MetadataExt as _;
    let of = |file: fs::DirEntry| {
        let found = file.metadata().ok()?;
        Some(if found.is_dir() { occupied(&file.path()) } else { found.blocks() * 512 })
    };
    fs::read_dir(folder).unwrap().flatten().filter_map(of).sum()
}
