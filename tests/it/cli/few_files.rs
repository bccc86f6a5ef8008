//! Too few file descriptors: requests wait for a free descriptor, and no feed fails because none is free.

#![cfg(target_os = "linux")]

use std::fmt::Write as _;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::feeds::corpus::tell;
use crate::support::binary::{BINARY, Program, ended, wait_until};
use crate::support::documents::rss;
use crate::support::held_site::HeldSite;
use crate::support::site::{Site, answer};

/// Limit on open files under which the program must still poll all feeds.
const FILES: usize = 48;
/// Number of feeds, which is larger than the number of concurrent polls.
const FEEDS: usize = 60;

/// Returns a command that runs the program with this limit on open files.
fn with_files(files: usize, program: &Program, args: &[&str]) -> Command {
    let mut shell = Command::new("sh");
    shell.args(["-c", &format!("ulimit -n {files}; exec \"$0\" \"$@\""), BINARY]);
    shell.arg("--data-dir").arg(program.data()).args(args);
    shell.env_clear().env("HOME", program.path("")).env("NO_PROXY", "*").env("TZ", "UTC");
    shell.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    shell
}

#[test]
fn too_few_descriptors_are_reported_in_a_sentence() {
    let program = Program::new();
    for files in [6, 10, 20, 31] {
        let refused = ended(with_files(files, &program, &["feeds"]).spawn().unwrap(), b"").with(2);
        let told = format!("the system allows only {files} open files; backissue needs 32");
        assert!(refused.err.contains(&told), "{refused:?}");
    }
    ended(with_files(32, &program, &["feeds"]).spawn().unwrap(), b"").with(0);
}

#[test]
fn too_few_descriptors_delay_polls_without_failures() {
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
    let polling = with_files(FILES, &program, &["--config", &config, "poll"]).spawn().unwrap();
    let open = format!("/proc/{}/fd", polling.id());
    wait_until("no descriptor is left", || {
        std::fs::read_dir(&open).is_ok_and(|files| files.count() >= FILES)
    });
    assert!(site.asked() < FEEDS, "not all of them sent a request");
    site.release();
    ended(polling, b"").with(0);
    let feeds = program.run(&["feeds", "--json"]).with(0).json();
    let troubles: Vec<&Value> =
        feeds.as_array().unwrap().iter().map(|feed| &feed["trouble"]).collect();
    assert_eq!(troubles, vec![&Value::Null; FEEDS]);
    let unread: Vec<_> = feeds.as_array().unwrap().iter().map(|feed| &feed["unread"]).collect();
    assert!(unread.iter().all(|count| **count == 2), "{unread:?}");
}

#[test]
fn file_size_limit_is_reported_in_a_sentence() {
    let site = Site::start(|_| answer(200, &[], rss("T", "e", 90)));
    let program = Program::new();
    program.run(&["add", &site.at("/f")]).with(0);
    let pack = std::fs::metadata(program.data().join("store.pack")).unwrap().len();
    assert!(pack > 4096, "{pack}");
    let mut shell = Command::new("sh");
    shell.args(["-c", "ulimit -f 8; exec \"$0\" --data-dir \"$1\" mark read --all", BINARY]);
    shell.arg(program.data()).env_clear().env("HOME", program.path("")).env("TZ", "UTC");
    shell.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let refused = ended(shell.spawn().unwrap(), b"").with(2);
    assert!(refused.err.contains("larger than the system allows"), "{refused:?}");
    program.run(&["doctor"]).with(0);
}

/// The program runs under a separate account, because the system's limit on threads does not apply to root.
#[test]
fn thread_limit_is_reported_in_a_sentence() {
    const NOBODY: u32 = 65_534;
    let program = Program::new();
    let run = |threads: &str| {
        let mut limited = Command::new("prlimit");
        let (id, limit) = (NOBODY.to_string(), format!("--nproc={threads}"));
        limited.args([&limit, "setpriv", "--reuid", &id, "--clear-groups", BINARY, "--data-dir"]);
        limited.arg(program.data()).arg("feeds");
        limited.env_clear().env("HOME", program.path("")).env("TZ", "UTC");
        limited.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()
    };
    std::os::unix::fs::chown(program.path(""), Some(NOBODY), None).ok();
    let may = run("1000").is_ok_and(|run| ended(run, b"").status == Some(0));
    if !may {
        tell("skipped: this needs prlimit, setpriv, root, and a folder that others can reach");
        return;
    }
    let refused = ended(run("10").unwrap(), b"").with(2);
    assert!(refused.err.contains("threads; backissue needs 18"), "{refused:?}");
}
