//! Too few file descriptors: requests wait for one, and no feed is failing for it.

#![cfg(target_os = "linux")]

use std::fmt::Write as _;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::support::binary::{BINARY, Program, ended, wait_until};
use crate::support::held_site::HeldSite;

/// Files that the program may have open.
const FILES: usize = 48;
/// More than could be asked at once.
const FEEDS: usize = 60;

#[test]
fn where_there_are_too_few_descriptors_polls_wait_for_one_and_no_feed_is_failing() {
    let (program, site) = (Program::new(), HeldSite::start());
    let config = program.write(
        "config.toml",
        "[network]\nspace_loopback = false\nparallel = 60\nhost_parallel = 60\n",
    );
    let mut list = String::from("<opml version='2.0'><body>");
    for feed in 0..FEEDS {
        write!(list, "<outline type='rss' xmlUrl='{}'/>", site.at(&format!("/{feed}"))).unwrap();
    }
    list.push_str("</body></opml>");
    program.run_with(&["--offline", "import", "-"], list.as_bytes()).with(0);
    let mut shell = Command::new("sh");
    shell.args(["-c", &format!("ulimit -n {FILES}; exec \"$0\" \"$@\""), BINARY]);
    shell.arg("--data-dir").arg(program.data()).args(["--config", &config, "poll"]);
    shell.env_clear().env("HOME", program.path("")).env("NO_PROXY", "*").env("TZ", "UTC");
    shell.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let polling = shell.spawn().unwrap();
    let open = format!("/proc/{}/fd", polling.id());
    wait_until("no descriptor is left", || {
        std::fs::read_dir(&open).is_ok_and(|files| files.count() >= FILES)
    });
    assert!(site.asked() < FEEDS, "not all of them could ask");
    site.release();
    ended(polling, b"").with(0);
    let feeds = program.run(&["feeds", "--json"]).with(0).json();
    let troubles: Vec<&Value> =
        feeds.as_array().unwrap().iter().map(|feed| &feed["trouble"]).collect();
    assert_eq!(troubles, vec![&Value::Null; FEEDS]);
    let unread: Vec<_> = feeds.as_array().unwrap().iter().map(|feed| &feed["unread"]).collect();
    assert!(unread.iter().all(|count| **count == 2), "{unread:?}");
}
