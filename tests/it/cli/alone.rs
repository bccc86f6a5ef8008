//! Commands that give the same result whether the store is free or open in another process: usage, configuration, environment,
//! documents, generated texts.

use std::sync::atomic::{AtomicU32, Ordering};

use crate::support::binary::Program;
use crate::support::documents::rss;
use crate::support::site::{Site, answer};

#[test]
fn data_and_config_paths_come_from_environment_or_home() {
    let program = Program::new();
    program.run_bare(&["feeds", "--json"]).with(0);
    let own = program.path("own");
    program.run_bare(&["--data-dir", own.to_str().unwrap(), "feeds"]).with(0);
    assert!(own.is_dir() && !program.data().exists());
}

#[test]
fn data_folder_that_is_a_file_is_reported() {
    let program = Program::new();
    let file = program.write("file", "x");
    for command in [&["feeds"][..], &["entries"], &["poll"], &["watch"], &["doctor"], &["export"]] {
        let args = [&["--data-dir", &file], command].concat();
        let ended = program.run_bare(&args).with(2);
        let told = ended.err.lines().next().unwrap_or_default();
        assert_eq!(ended.err.lines().count(), 1, "{command:?}: {ended:#?}");
        assert!(told.contains(&file) && told.contains("--data-dir"), "{command:?}: {told}");
    }
    assert_eq!(std::fs::read(&file).unwrap(), b"x");
}

#[test]
fn broken_configuration_is_reported_with_its_place() {
    let program = Program::new();
    for (text, place) in [
        ("[network]\nparallel = \"many\"\n", "line 2, column 12"),
        ("[poll]\nmin = \"soon\"\n", "line 2, column 7"),
        ("[poll\n", "line 1, column"),
        ("[network]\n\nparalell = 3\n", "line 3, column 1"),
    ] {
        program.write("config.toml", text);
        for command in [&["feeds"][..], &["poll"], &["watch"], &["add", "http://127.0.0.1:1/"]] {
            let told = program.run(command).refused(2);
            assert!(told.contains(place) && told.contains("config.toml"), "{text:?}: {told}");
        }
        let doctor = program.run(&["doctor"]).with(1);
        assert!(doctor.out.contains(place), "{doctor:#?}");
    }
    program.write("config.toml", [0xff, 0xfe, 0x00]);
    program.run(&["feeds"]).refused(2);
}

#[test]
fn requested_configuration_must_exist() {
    let program = Program::new();
    let missing = program.path("missing.toml");
    let told = program.run_bare(&["--config", missing.to_str().unwrap(), "feeds"]).refused(2);
    assert!(told.contains("missing.toml"), "{told}");
}

#[test]
fn missing_document_is_reported() {
    let told = Program::new().run(&["parse", "no-such-file.xml"]).refused(2);
    assert!(told.contains("no-such-file.xml"), "{told}");
}

#[test]
fn wrong_usage_ends_with_status_2() {
    let program = Program::new();
    for args in [
        &["nonsense"][..],
        &["--nonsense"],
        &["add"],
        &["show"],
        &["show", "1.1", "--text", "--html"],
        &["entries", "--unread", "--starred"],
        &["entries", "--limit", "many"],
    ] {
        let ended = program.run(args).with(2);
        assert!(!ended.err.is_empty() && ended.out.is_empty(), "{args:?}: {ended:#?}");
    }
}

#[test]
fn a_document_is_parsed_without_a_store_or_a_network() {
    let program = Program::new();
    let file = program.write("feed.xml", rss("Orchard", "e", 2));
    let read = program.run_bare(&["parse", &file, "--json", "--url", "https://site.example/f"]);
    let read = read.with(0).json();
    assert_eq!((&read["kind"], &read["feed"]["title"]), (&"rss".into(), &"Orchard".into()));
    assert_eq!(read["entries"].as_array().unwrap().len(), 2);
    let piped = program.run_with(&["parse", "-", "--json"], rss("T", "e", 3).as_bytes());
    assert_eq!(piped.with(0).json()["entries"].as_array().unwrap().len(), 3);
    let none = program.run_with(&["parse", "-", "--json"], b"hello").with(1).json();
    assert_eq!(none["kind"], "none");
    assert!(!none["flaws"].as_array().unwrap().is_empty());
}

#[test]
fn completions_and_manual_pages_name_every_command() {
    let program = Program::new();
    let man = program.run_bare(&["man"]).with(0).out;
    for section in ["KEYS", "FILES", "ENVIRONMENT", "\"EXIT STATUS\"", "EXAMPLES"] {
        let plain = section.trim_matches('"');
        assert!(man.contains(&format!(".SH {plain}\n")), "{section}");
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("man1");
    program.run_bare(&["man", "--all", path.to_str().unwrap()]).with(0);
    for command in backissue::cli::command().get_subcommands() {
        let name = command.get_name();
        assert!(man.contains(&name.replace('-', "\\-")), "{name}");
        let page = std::fs::read_to_string(path.join(format!("backissue-{name}.1"))).unwrap();
        assert!(page.contains(".SH SYNOPSIS"), "{page}");
    }
    assert_eq!(std::fs::read_to_string(path.join("backissue.1")).unwrap(), man);
    let add = program.run_bare(&["man", "filters", "add"]).with(0).out;
    assert!(add.contains("backissue\\-filters\\-add") || add.contains("filters add"), "{add}");
    let none = program.run_bare(&["man", "sing"]).with(2);
    assert!(none.err.contains("there is no command 'sing'"), "{}", none.err);
    for shell in ["bash", "zsh", "fish"] {
        let completions = program.run_bare(&["completions", shell]).with(0).out;
        for command in backissue::cli::command().get_subcommands() {
            assert!(completions.contains(command.get_name()), "{shell}: {}", command.get_name());
        }
    }
}

#[test]
fn plan_and_poll_say_that_feeds_are_polled_only_by_hand() {
    let site = Site::start(|_| answer(200, &[], rss("Orchard", "o", 0)));
    let program = Program::new();
    program.run(&["add", &site.at("/feed.xml")]).with(0);
    let by_hand =
        "feeds are polled only when you ask: [poll] automatic = false in your configuration";
    for (config, told) in [("", false), ("[poll]\nautomatic = false\n", true)] {
        program.write("config.toml", config);
        for command in ["plan", "poll"] {
            let said = program.run(&[command, "1"]).with(0).out;
            assert_eq!(said.contains(by_hand), told, "{said}");
        }
    }
}

#[test]
fn poll_waits_for_the_hook_and_reports_its_failure() {
    let asked = AtomicU32::new(1);
    let site = Site::start(move |_| {
        answer(200, &[], rss("Orchard", "e", asked.fetch_add(1, Ordering::Relaxed)))
    });
    let program = Program::new();
    program.run(&["add", &site.at("/feed")]).with(0);
    let told = program.path("told");
    let poll = |on_new: &str| {
        let network = "[network]\nspace_loopback = false\n";
        program.write("config.toml", format!("{network}[commands]\non_new = {on_new}\n"));
        program.run(&["poll", "--force"])
    };
    let path = told.to_str().unwrap();
    poll(&format!("['sh', '-c', 'read all; echo \"$all\" > {path}']")).with(0);
    assert!(std::fs::read_to_string(told).unwrap().contains("\"kind\":\"new_entries\""));
    let failed = poll("['sh', '-c', 'echo no room >&2; exit 3']").with(1).err;
    assert!(failed.contains("backissue: sh exited with status 3: no room"), "{failed}");
    let missing = poll("'no-such-program'").with(1).err;
    assert!(missing.contains("there is no program 'no-such-program'"), "{missing}");
}
