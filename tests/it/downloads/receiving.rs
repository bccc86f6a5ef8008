//! The real binary receives a file from a server in the test.

use std::fs;

use super::file_server::{Answering, FileServer};
use crate::support::binary::{Program, StoreOwner, wait_until};

/// Size of the file, large enough for several writes.
const SIZE: usize = 3_000_000;
/// Configuration for a folder next to the data folder.
const CONFIGURATION: &str =
    "[network]\nspace_loopback = false\n[downloads]\nfolder = \"~/shows\"\n";
/// Path of the file below the home folder of the program.
const FILE: &str = "shows/Show/2026-03-02 One-Two.mp3";
const PART: &str = "shows/Show/2026-03-02 One-Two.mp3.part";

/// Returns a file in which every part is different.
fn file(seed: u32) -> Vec<u8> {
    let numbers =
        (0..u32::try_from(SIZE / 4).unwrap()).map(|at| at.wrapping_mul(2_654_435_761) ^ seed);
    numbers.flat_map(u32::to_le_bytes).collect()
}

/// Returns an installation with the feed of the server, and its file in the list of downloads.
fn queued(server: &FileServer, more: &str) -> Program {
    let program = Program::new();
    program.write("config.toml", format!("{CONFIGURATION}{more}"));
    program.run(&["add", &server.at("/feed")]).with(0);
    let added = program.run(&["downloads", "add", "1.0"]).with(0).out;
    assert!(added.contains("One/Two · Show: waiting"), "{added}");
    program
}

fn listed(program: &Program) -> serde_json::Value {
    program.run(&["downloads", "--json"]).with(0).json()[0].clone()
}

#[test]
fn a_download_that_breaks_three_times_is_resumed() {
    let file = file(1);
    let broken = |after| Answering::broken(&file, "\"a\"", after);
    let server = FileServer::start(vec![
        broken(700_000),
        broken(1),
        broken(900_000),
        Answering::whole(&file, "\"a\""),
    ]);
    let program = queued(&server, "");
    let done = program.run(&["downloads", "run"]).with(0);
    assert_eq!(done.out.trim(), program.path(FILE).to_str().unwrap());
    assert_eq!(fs::read(program.path(FILE)).unwrap(), file);
    assert!(!program.path(PART).exists());
    let ranges = server.asked("range");
    assert_eq!(ranges, ["", "bytes=700000-", "bytes=700001-", "bytes=1600001-"]);
    let listed = listed(&program);
    assert_eq!((&listed["state"], &listed["received"]), (&"done".into(), &SIZE.into()));
}

#[test]
fn nothing_is_downloaded_into_the_data_folder() {
    for folder in ["~/data", "~/data/backups/shows", "~/link"] {
        let server = FileServer::start(vec![Answering::whole(&file(1), "\"a\"")]);
        let program = queued(&server, "");
        std::os::unix::fs::symlink(program.data(), program.path("link")).unwrap();
        let before: Vec<_> =
            fs::read_dir(program.data()).unwrap().map(|it| it.unwrap().path()).collect();
        let configuration = CONFIGURATION.replace("~/shows", folder);
        program.write("config.toml", configuration);
        program.run(&["downloads", "remove", "1"]).with(0);
        program.run(&["downloads", "add", "1.0"]).with(0);
        let told = program.run(&["downloads", "run"]).with(1);
        assert!(told.err.contains("backissue keeps its own data in"), "{folder}: {told:?}");
        let after = fs::read_dir(program.data()).unwrap().map(|it| it.unwrap().path());
        let new: Vec<_> = after.filter(|path| !before.contains(path)).collect();
        assert!(!new.iter().any(|path| path.is_dir() || path.ends_with("Show")), "{new:?}");
        assert!(server.asked("range").is_empty(), "{folder}: nothing was requested");
    }
}

#[test]
fn a_killed_download_continues_in_the_same_version_only() {
    let (old, new) = (file(1), file(2));
    for (second, expected) in [(&old, "\"a\""), (&new, "\"b\"")] {
        let hanging = Answering { hangs: true, ..Answering::broken(&old, "\"a\"", 1_000_000) };
        let server = FileServer::start(vec![hanging, Answering::whole(second, expected)]);
        let program = queued(&server, "");
        let mut child = program.start(&["downloads", "run"]);
        let length = || fs::metadata(program.path(PART)).map_or(0, |part| part.len());
        wait_until("a part is there", || length() > 200_000);
        child.kill().unwrap();
        child.wait().unwrap();
        let part = length();
        let listed = listed(&program);
        assert_eq!((&listed["state"], &listed["size"]), (&"waiting".into(), &SIZE.into()));
        program.run(&["downloads", "run"]).with(0);
        assert!(fs::read(program.path(FILE)).unwrap() == **second, "{expected}");
        let requests: Vec<String> = server.asked("range");
        assert_eq!(requests, [String::new(), format!("bytes={part}-")]);
    }
}

#[test]
fn a_server_without_ranges_sends_the_file_from_its_start() {
    let file = file(1);
    let without = |after| Answering { ranges: false, ..Answering::broken(&file, "\"a\"", after) };
    let server = FileServer::start(vec![without(800_000), without(SIZE)]);
    let program = queued(&server, "");
    program.run(&["downloads", "run"]).with(0);
    assert!(fs::read(program.path(FILE)).unwrap() == file);
}

#[test]
fn a_file_without_validators_is_resumed_by_its_size() {
    let (file, longer) = (file(1), [file(1), vec![1; 9]].concat());
    for (second, ranges) in
        [(&file, vec!["", "bytes=800000-"]), (&longer, vec!["", "bytes=800000-", ""])]
    {
        let server = FileServer::start(vec![
            Answering::broken(&file, "", 800_000),
            Answering::whole(second, ""),
        ]);
        let program = queued(&server, "");
        program.run(&["downloads", "run"]).with(0);
        assert!(fs::read(program.path(FILE)).unwrap() == **second, "{ranges:?}");
        assert_eq!(server.asked("range"), ranges);
    }
}

#[test]
fn a_file_that_cannot_be_had_says_why() {
    let file = file(1);
    let refused = Answering { status: Some("404 Not Found"), ..Answering::whole(&file, "") };
    for (answering, more, why) in [
        (refused, "", "failed: 404 Not Found"),
        (Answering::whole(&file, ""), "max_mb = 2\n", "larger than [downloads] max_mb = 2 allows"),
    ] {
        let server = FileServer::start(vec![answering]);
        let program = queued(&server, more);
        let ended = program.run(&["downloads", "run"]).with(1);
        assert!(ended.err.contains(why), "{ended:?}");
        assert!(!program.path(FILE).exists());
        program.run(&["downloads", "remove", "1"]).with(0);
        wait_until("the part is removed", || !program.path(PART).exists());
        assert!(program.run(&["downloads"]).with(0).err.contains("no downloads yet"));
    }
}

#[test]
fn other_files_of_the_same_name_stay() {
    let file = file(1);
    let server = FileServer::start(vec![Answering::whole(&file, "\"a\"")]);
    let program = queued(&server, "");
    fs::create_dir_all(program.path("shows/Show")).unwrap();
    program.write(FILE, "mine");
    let done = program.run(&["downloads", "run"]).with(0).out;
    assert!(done.trim().ends_with("2026-03-02 One-Two (2).mp3"), "{done}");
    assert_eq!(fs::read(program.path(FILE)).unwrap(), b"mine");
}

#[test]
fn a_filter_downloads_only_what_is_new() {
    let file = file(1);
    let server = FileServer::start(vec![Answering::whole(&file, "\"a\"")]);
    let program = Program::new();
    program.write("config.toml", CONFIGURATION);
    program.run(&["add", &server.at("/feed")]).with(0);
    let told = program.run(&["filters", "add", "--download", "--feed", "1"]).with(0).out;
    assert!(told.contains("download"), "{told}");
    program.run(&["poll", "1", "--force"]).with(0);
    assert!(program.run(&["downloads", "--json"]).with(0).json().as_array().unwrap().is_empty());
}

#[test]
fn the_process_that_has_the_store_receives_what_another_adds() {
    let file = file(1);
    let server = FileServer::start(vec![Answering::whole(&file, "\"a\"")]);
    let program = Program::owned_by(StoreOwner::Service);
    program.write("config.toml", format!("{CONFIGURATION}[poll]\nautomatic = false\n"));
    program.run(&["add", &server.at("/feed")]).with(0);
    program.run(&["downloads", "add", "1.0"]).with(0);
    wait_until("the service receives the file", || program.path(FILE).exists());
    program.run(&["downloads", "run"]).with(0);
    assert!(fs::read(program.path(FILE)).unwrap() == file);
}
