//! Opening an entry's page from the command line.

use std::os::unix::fs::PermissionsExt;

use super::marks::{add_feeds, site};
use super::{entries, new_program};
use crate::support::binary::Program;

/// Configures `[commands] open` with a script that appends each opened address to a file, and returns the path of that file.
fn note_what_is_opened(program: &Program) -> String {
    let noted = program.write("opened", "");
    let script = program.write("browser", format!("#!/bin/sh\necho \"$1\" >> {noted}\n"));
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
    // The leading `!` runs the script in the terminal, so the script has finished when `backissue open` exits.
    let kept = std::fs::read_to_string(program.path("config.toml")).unwrap();
    program.write("config.toml", format!("{kept}[commands]\nopen = \"!{script}\"\n"));
    noted
}

fn is_unread(program: &Program, number: &str) -> bool {
    let all = entries(program, &[]);
    all.iter().find(|entry| entry["number"] == number).unwrap()["read"] == false
}

#[test]
fn open_uses_the_callers_browser_and_marks_read() {
    let (site, program) = (site(), new_program());
    let noted = note_what_is_opened(&program);
    add_feeds(&site, &program);
    let told = program.run(&["open", "1.0", "--keep-unread"]).with(0).out;
    assert_eq!(told, "opened https://site.example/Orchard/4\n");
    assert!(is_unread(&program, "1.0"));
    program.run(&["open", "2.1"]).with(0);
    assert!(!is_unread(&program, "2.1"));
    program.run(&["open", "2.9"]).refused(2);
    let opened = std::fs::read_to_string(noted).unwrap();
    assert_eq!(opened, "https://site.example/Orchard/4\nhttps://site.example/Harbour/2\n");
    assert_eq!(program.run(&["undo"]).with(0).out, "undone: 1 read\n");
    assert!(is_unread(&program, "2.1"));
}

#[test]
fn a_page_that_cannot_be_opened_leaves_the_entry_unread() {
    let (site, program) = (site(), new_program());
    let kept = std::fs::read_to_string(program.path("config.toml")).unwrap();
    program.write("config.toml", format!("{kept}[commands]\nopen = \"/nowhere/browser\"\n"));
    add_feeds(&site, &program);
    let sentence = program.run(&["open", "1.0"]).refused(2);
    assert!(sentence.ends_with("failed: there is no program '/nowhere/browser'"), "{sentence}");
    assert!(is_unread(&program, "1.0"));
    program.run(&["open", "one"]).refused(2);
}

#[test]
fn open_reads_browser_and_reports_a_failure() {
    let (site, program) = (site(), new_program());
    add_feeds(&site, &program);
    let noted = program.write("opened", "");
    let secret = "BACKISSUE_ACCOUNT_PASSWORD";
    let lines = [
        ("gui", format!("echo \"$@\" ${secret} $(ps -o sid= -p $$ | tr -d ' ') $$ >> {noted}")),
        ("slow", format!("echo slow >> {noted}; exec sleep 20")),
        ("bad", "echo cannot open display >&2; exit 1".to_owned()),
    ];
    for (name, line) in lines {
        let script = program.write(name, format!("#!/bin/sh\n{line}\n"));
        std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    let folder = std::path::Path::new(&noted).parent().unwrap();
    let path = format!("{}:/usr/bin:/bin", folder.display());
    let link = "https://site.example/Orchard/4";
    for (browser, status, opened) in [
        ("gui --new-window", 0, format!("--new-window {link} ")),
        ("no-such-program:gui --app=%s", 0, format!("--app={link} ")),
        ("bad:gui", 0, format!("{link} ")),
        ("slow", 0, "slow".to_owned()),
        ("bad", 2, String::new()),
        ("no-such-program", 2, String::new()),
    ] {
        program.write("opened", "");
        program.run(&["mark", "unread", "1.0"]).with(0);
        let variables = [("BROWSER", browser), ("PATH", &path), (secret, "hidden-word")];
        let place = program.place();
        let place = place.iter().map(String::as_str);
        let arguments: Vec<&str> = place.chain(["open", "1.0"]).collect();
        let ended = program.run_in(&variables, &arguments);
        assert_eq!(ended.status, Some(status), "{browser}: {} {}", ended.out, ended.err);
        let told = std::fs::read_to_string(&noted).unwrap();
        assert!(
            told.starts_with(&opened) && told.is_empty() == opened.is_empty(),
            "{browser}: {told}"
        );
        assert!(!told.contains("hidden-word"), "{told}");
        assert_eq!(is_unread(&program, "1.0"), status != 0, "{browser}");
        // It leads a session of its own.
        if browser.starts_with("gui") {
            let words: Vec<&str> = told.split_whitespace().collect();
            assert_eq!(words[words.len() - 2], words[words.len() - 1], "{told}");
        }
    }
}
