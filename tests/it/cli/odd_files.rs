//! Devices and pipes where the program expects regular files: the program reports them in a sentence or ignores them, and never
//! blocks.

use std::os::unix::fs::symlink;

use crate::feeds::corpus::tell;
use crate::support::binary::{BINARY, Program};

/// Replaces a file by a link to an endless device, or by a pipe without a writer.
fn in_place_of(program: &Program, name: &str, device: bool) {
    let path = program.path(name);
    std::fs::remove_file(&path).ok();
    if device {
        symlink("/dev/zero", &path).unwrap();
    } else {
        let made = std::process::Command::new("mkfifo").arg(&path).status().unwrap();
        assert!(made.success());
    }
}

#[test]
fn irregular_configuration_file_is_refused() {
    for device in [true, false] {
        let program = Program::new();
        in_place_of(&program, "config.toml", device);
        for command in [&["config"][..], &["feeds"], &["poll"]] {
            let refused = program.run(command).with(2).err;
            assert!(refused.contains("cannot be read: it is not a regular file"), "{refused}");
        }
    }
}

#[test]
fn irregular_other_files_do_not_prevent_reading() {
    // This test uses pipes only: if the program replaced a device by mistake, the whole machine would be affected.
    let program = Program::new();
    program.run(&["feeds"]).with(0);
    std::fs::create_dir_all(program.data().join("log")).unwrap();
    for name in
        ["screen.json", "log/backissue.log", "log/panics-told", "log/panics-told-by-commands"]
    {
        in_place_of(&program, &format!("data/{name}"), false);
    }
    program.run(&["feeds"]).with(0);
    program.run(&["doctor"]).with(0);
}

#[test]
fn pipe_in_place_of_a_file_never_blocks() {
    let program = Program::new();
    program.run(&["feeds"]).with(0);
    in_place_of(&program, "list.opml", false);
    let list = program.path("list.opml").to_str().unwrap().to_owned();
    let refused = program.run(&["export", &list]).with(2).err;
    assert!(refused.contains("no program reads from it"), "{refused}");
    let refused = program.run(&["restore", &list, "--yes"]);
    assert_ne!(refused.status, Some(0), "{refused:?}");
    let index = program.data().join("index");
    std::fs::create_dir_all(&index).unwrap();
    in_place_of(&program, "data/index/00000001.seg", false);
    program.run(&["search", "frost"]).with(0);
    for name in ["data/lock", "data/store.pack"] {
        in_place_of(&program, name, false);
        program.run(&["feeds"]).with(2);
    }
}

#[test]
fn owner_keeps_access_whatever_the_umask() {
    let program = Program::new();
    let run = |args: &str| {
        let data = program.data();
        let text = format!("umask 777; exec {BINARY} --data-dir {} {args}", data.display());
        std::process::Command::new("sh").args(["-c", &text]).env("HOME", program.path("")).output()
    };
    for _ in 0..2 {
        let done = run("feeds").unwrap();
        assert!(done.status.success(), "{done:?}");
    }
    let file = program.path("list.opml");
    assert!(run(&format!("export {}", file.display())).unwrap().status.success());
    assert!(std::fs::read_to_string(file).unwrap().contains("<opml"));
}

/// The file of the memory of a process is a regular file whose first byte cannot be read: reading it fails as on a broken disk.
#[test]
fn error_of_the_disk_is_named() {
    let broken = "/proc/self/mem";
    let reason = std::fs::read(broken).err().and_then(|error| error.raw_os_error());
    if reason != Some(libc::EIO) {
        tell(&format!("skipped: here {broken} does not fail as a broken disk does"));
        return;
    }
    let program = Program::new();
    for command in [
        &["import", broken][..],
        &["parse", broken],
        &["lint", broken],
        &["restore", broken],
        &["simulate", "--feeds", broken],
    ] {
        let refused = program.run(command).with(2).err;
        assert!(refused.contains("the disk reports an error"), "{command:?}: {refused}");
        assert!(refused.contains(broken), "{command:?}: {refused}");
    }
    program.run(&["feeds"]).with(0);
}

#[test]
fn config_command_checks_network_values() {
    for (line, told) in [
        ("user_agent = \"a\\nb\"", "user_agent cannot be sent"),
        ("proxy = \"::::\"", "the proxy '::::' cannot be used"),
        ("extra_roots = [\"nowhere.pem\"]", "nowhere.pem cannot be used"),
    ] {
        let program = Program::new();
        program.write("config.toml", format!("[network]\n{line}\n"));
        let refused = program.run(&["config"]).with(2).err;
        assert!(refused.contains(told), "{line}: {refused}");
        assert!(program.run(&["doctor"]).with(1).out.contains(told), "{line}");
    }
}

#[test]
fn config_command_names_a_theme_that_does_not_exist() {
    let program = Program::new();
    program.write("config.toml", "[ui]\ntheme = \"nope\"\n");
    let told = program.run(&["config"]).with(1).out;
    assert!(told.contains("nope"), "{told}");
    assert!(program.run(&["doctor"]).with(1).out.contains("nope"));
}

#[test]
fn wrongly_typed_value_is_reported_in_a_short_line() {
    let long = "x".repeat(900_000);
    for (text, told) in [
        ("[poll]\npace = 3\n".to_owned(), "line 2, column 8: expected text in quotes"),
        ("[network]\nparallel = \"x\"\n".to_owned(), "expected a whole number"),
        (format!("[network]\nparallel = \"{long}\"\n"), "line 2, column 12: invalid type"),
    ] {
        let program = Program::new();
        program.write("config.toml", text);
        let refused = program.run(&["config"]).with(2).err;
        assert!(refused.contains(told) && refused.len() < 600, "{told}: {} bytes", refused.len());
    }
}

#[test]
fn failed_service_install_leaves_no_unit_behind() {
    let program = Program::new();
    let home = program.path("");
    let unit = program.path(".config/systemd/user/backissue.service");
    let run = |what: &str| {
        let mut command = std::process::Command::new(BINARY);
        command.args(["service", what]).env_clear().env("HOME", &home).env("PATH", "/nowhere");
        command.output().unwrap()
    };
    assert!(!run("install").status.success() && !unit.exists(), "nothing is written");
    std::fs::create_dir_all(unit.parent().unwrap()).unwrap();
    std::fs::write(&unit, "").unwrap();
    let removed = run("remove");
    assert!(String::from_utf8_lossy(&removed.stderr).contains("systemd cannot be reached"));
    assert!(!unit.exists(), "it is removed nevertheless");
}
