//! What the program logs and prints after panics. The panic hook applies to the whole process, so the panics happen in a child
//! process.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use backissue::io::log::{self, LogFile};
use backissue::io::panics::{catch_fault, catch_panic};
use backissue::io::terminal::guard_panics;
use backissue_core::feed::parse::catch_library_panic;

use crate::support::terminal_session::Session;

/// Environment variable with the log folder of the child process; without it the test that runs in the child process does nothing.
const LOG: &str = "BACKISSUE_TEST_LOG_OF_PANICS";
/// An address whose login and token may not appear in any file.
const SECRET: &str = "https://me:pw,1@a.example/feed?token=abc,2";

#[test]
fn child_process_panics_in_every_way() {
    let Some(folder) = std::env::var_os(LOG) else { return };
    log::begin(LogFile::find(Some(folder.as_ref())).unwrap(), false);
    guard_panics();
    tracing::warn!(target: "backissue", "asked {SECRET}");
    for _ in 0..3 {
        assert!(catch_fault(|| panic!("caught at {SECRET}")).is_none_or(|(): ()| false));
    }
    assert!(catch_panic(|| panic!("a file at {SECRET}")).is_none_or(|(): ()| false));
    assert!(catch_library_panic(|| panic!("a document")).is_none_or(|(): ()| false));
    let store = std::thread::Builder::new().name("store".to_owned());
    store.spawn(|| panic!("uncaught\u{1b}[2J")).unwrap().join().map(|(): ()| ()).unwrap_err();
    std::panic::catch_unwind(|| panic!("of the first thread")).map(|(): ()| ()).unwrap_err();
}

/// Returns the contents of the files whose names start with this prefix.
fn texts(folder: &Path, begin: &str) -> Vec<String> {
    let files = fs::read_dir(folder).unwrap().flatten();
    let files = files.filter(|file| file.file_name().to_string_lossy().starts_with(begin));
    files.map(|file| fs::read_to_string(file.path()).unwrap()).collect()
}

#[test]
fn faults_leave_reports_and_panics_leave_secretless_lines() {
    let folder = tempfile::tempdir().unwrap();
    let ended = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "cli::panics::child_process_panics_in_every_way", "--nocapture"])
        .env(LOG, folder.path())
        .output()
        .unwrap();
    assert!(ended.status.success(), "{ended:?}");
    let folder = folder.path().join("log");
    let reports = texts(&folder, "panic-");
    let report = |said: &str| {
        let found = reports.iter().filter(|report| report.contains(&format!(":\n{said}")));
        let found: Vec<_> = found.collect();
        assert_eq!(found.len(), 1, "{said}: {reports:#?}");
        assert!(
            found[0].starts_with(concat!("backissue ", env!("CARGO_PKG_VERSION"))),
            "{found:?}"
        );
        assert!(found[0].contains("asked https://a.example/feed?token=... (with a login)"));
        found[0].as_str()
    };
    assert!(report("caught at").contains("its work was cancelled"));
    assert!(report("uncaught [2J").contains("in the thread 'store'"));
    report("of the first thread");
    assert_eq!(reports.len(), 3, "library panics are expected: {reports:#?}");
    let [log] = texts(&folder, "backissue.log").try_into().unwrap();
    for (said, lines) in
        [("caught at", 3), ("a library panicked", 2), ("uncaught", 1), ("of the first thread", 1)]
    {
        assert_eq!(log.lines().filter(|line| line.contains(said)).count(), lines, "{said}: {log}");
    }
    for text in reports.iter().chain([&log]) {
        assert!(!text.contains("pw") && !text.contains(",1@") && !text.contains("abc"), "{text}");
        assert!(!text.contains(",2") && !text.contains('\u{1b}'), "{text}");
    }
    // Only a panic on the main thread, which owns the terminal, is printed.
    let printed = String::from_utf8(ended.stderr).unwrap();
    assert!(printed.contains("of the first thread") && !printed.contains("uncaught"), "{printed}");
}

#[test]
fn program_starts_with_the_panic_hook() {
    let main = include_str!("../../../src/cli/mod.rs");
    let body = main.split_once("-> ExitCode {\n").unwrap().1;
    assert!(body.trim_start().starts_with("terminal::guard_panics();"), "{body}");
}

fn unread(data: &Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_backissue"));
    command.arg("--data-dir").arg(data).args(["--offline", "unread"]).output().unwrap()
}

#[test]
fn command_mentions_a_report_once_and_the_reader_again() {
    let data = tempfile::tempdir().unwrap();
    let folder = data.path().join("log");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("panic-src-a-rs-1-1.txt"), "what happened").unwrap();
    let said = |output: Output| String::from_utf8(output.stderr).unwrap();
    let first = said(unread(data.path()));
    assert!(
        first.contains("an internal error") && first.contains("panic-src-a-rs-1-1.txt"),
        "{first}"
    );
    assert_eq!(said(unread(data.path())), "");
    let args = ["--data-dir", data.path().to_str().unwrap(), "--offline"];
    let mut session = Session::start(&args, 200, 24);
    session.until_it_says("an internal error");
    session.press("qqq");
    assert!(session.ended().success());
    let mut session = Session::start(&args, 200, 24);
    session.until("the reader", |screen| screen.contents().trim().len() > 40);
    session.until_quiet();
    assert!(!session.screen.screen().contents().contains("an internal error"));
    session.press("qqq");
    assert!(session.ended().success());
}
