//! Commands interrupted by Ctrl-C: the first Ctrl-C ends the command, and its message reports what was done until then.

use std::process::Child;

use rustix::process::Signal;

use crate::support::binary::{Program, ended, signal, wait_until};
use crate::support::held_site::HeldSite;
use crate::support::site::{Site, answer};

/// Checks whether a process has a thread with this name, which shows how far the command has come.
fn has_thread(child: &Child, name: &str) -> bool {
    let tasks = std::fs::read_dir(format!("/proc/{}/task", child.id()));
    tasks.is_ok_and(|mut tasks| {
        tasks.any(|task| {
            let comm = task.map(|task| std::fs::read_to_string(task.path().join("comm")));
            comm.is_ok_and(|comm| comm.is_ok_and(|comm| comm.trim() == name))
        })
    })
}

#[test]
#[cfg(target_os = "linux")]
fn an_import_that_waits_for_its_list_ends_at_once() {
    let program = Program::new();
    let pipe = program.path("pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
    assert!(made.success());
    for file in ["-", pipe.to_str().unwrap()] {
        let mut import = program.start(&["import", file]);
        let open = import.stdin.take();
        wait_until("it reads", || has_thread(&import, "read"));
        signal(import.id(), Signal::INT);
        let status = import.wait().unwrap();
        assert_eq!(status.code(), Some(2), "{file}");
        drop(open);
    }
}

/// Every command that can wait before it has the store, or without it, ends at the first signal.
#[test]
#[cfg(target_os = "linux")]
fn a_waiting_command_ends_at_the_first_signal() {
    let (program, site) = (Program::new(), HeldSite::start());
    let pipe = program.path("pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
    assert!(made.success());
    let (pipe, server) = (pipe.to_str().unwrap(), site.at("/"));
    let add = ["account", "add", &server, "--user", "u"];
    for (args, kind) in [
        (&["parse", pipe][..], Signal::INT),
        (&["parse", "-"], Signal::HUP),
        (&["lint", pipe], Signal::TERM),
        (&["lint", &server], Signal::USR1),
        (&["simulate", "--feeds", pipe], Signal::INT),
        (&["events", "--follow"], Signal::USR2),
        (&add, Signal::INT),
        (&[&add[..], &["--password-command", "sleep 2"]].concat(), Signal::TERM),
    ] {
        let mut command = program.start(args);
        let open = command.stdin.take();
        wait_until("it can be ended", || has_thread(&command, "stop"));
        signal(command.id(), kind);
        let ended = command.wait_with_output().unwrap();
        let told = String::from_utf8_lossy(&ended.stderr);
        assert_eq!(ended.status.code(), Some(2), "{args:?}: {told}");
        assert!(told.contains("interrupted"), "{args:?}: {told}");
        drop(open);
    }
}

#[test]
fn unread_addresses_are_reported_in_one_line() {
    let (program, site) = (Program::new(), HeldSite::start());
    let urls: Vec<String> = (0..20).map(|feed| site.at(&format!("/{feed}"))).collect();
    let args: Vec<&str> = ["add"].into_iter().chain(urls.iter().map(String::as_str)).collect();
    let add = program.start(&args);
    wait_until("one is asked", || site.asked() > 0);
    signal(add.id(), Signal::INT);
    let told = ended(add, b"").with(2).err;
    let lines: Vec<&str> =
        told.lines().filter(|line| line.contains("interrupted before")).collect();
    assert_eq!(lines.len(), 1, "{told}");
    assert!(lines[0].ends_with("and 19 more addresses were read"), "{told}");
}

#[test]
fn stopped_service_mentions_no_other_process() {
    let program = Program::new();
    for kind in [Signal::INT, Signal::USR2] {
        let watch = program.start(&["watch", "--follow"]);
        wait_until("it has the store open", || program.socket().exists());
        signal(watch.id(), kind);
        let told = ended(watch, b"").with(0).err;
        assert!(!told.contains("ended before"), "{told}");
    }
}

#[test]
fn odd_arguments_are_reported_clearly() {
    let site = Site::start(|_| answer(200, &[], crate::support::documents::rss("T", "e", 1)));
    let program = Program::new();
    let address = site.at("/f");
    program.run(&["add", &address]).with(0);
    let again = program.run(&["add", "--title", "Other", &address]).with(0).out;
    assert!(
        again.contains("its title is unchanged; to change it: backissue set 1 --title 'Other'"),
        "{again}"
    );
    let refused = program.run(&["backup", "-"]).refused(2);
    assert!(refused.contains("it must be a file"), "{refused}");
}

#[test]
fn a_title_and_a_label_are_one_line() {
    let site = Site::start(|_| answer(200, &[], crate::support::documents::rss("T", "e", 1)));
    let program = Program::new();
    program.run(&["add", &site.at("/f")]).with(0);
    program.run(&["set", "1", "--title", "a\nb\tc"]).with(0);
    program.run(&["filters", "add", "--title", "e", "--label", "x\ny"]).with(0);
    for command in ["feeds", "filters", "entries"] {
        assert_eq!(program.run(&[command]).with(0).out.lines().count(), 1, "{command}");
    }
}
