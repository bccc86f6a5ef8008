//! Files of the reader's that are not what they should be: each gets a sentence, and nothing waits for ever.

use std::os::unix::fs::symlink;

use crate::support::binary::Program;

/// A device that never ends and a pipe that never begins, in the place of a file.
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
fn a_configuration_that_is_no_regular_file_is_refused() {
    for device in [true, false] {
        let program = Program::new();
        in_place_of(&program, "config.toml", device);
        for command in [&["config"][..], &["feeds"], &["poll"]] {
            let refused = program.run(command).with(2).err;
            assert!(refused.contains("cannot be read: it is no regular file"), "{refused}");
        }
    }
}

#[test]
fn other_files_that_are_no_regular_ones_keep_nobody_from_reading() {
    for device in [true, false] {
        let program = Program::new();
        program.run(&["feeds"]).with(0);
        std::fs::create_dir_all(program.data().join("log")).unwrap();
        for name in
            ["screen.json", "log/backissue.log", "log/panics-told", "log/panics-told-by-commands"]
        {
            in_place_of(&program, &format!("data/{name}"), device);
        }
        program.run(&["feeds"]).with(0);
        program.run(&["doctor"]).with(0);
    }
}

#[test]
fn what_only_the_network_can_judge_is_told_by_config() {
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
fn a_value_of_the_wrong_kind_is_told_in_a_short_line() {
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
