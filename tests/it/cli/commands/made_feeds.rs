//! Feeds from files and programs: what they show, what stops a bad one, and that a list from elsewhere runs nothing.

use std::fs;

use super::{each, entries, feeds, new_program};
use crate::support::binary::{Program, wait_until};
use crate::support::documents::{page, rss};
use crate::support::site::{Site, answer};

const WITHOUT: &str = "[network]\nspace_loopback = false\n[poll]\nautomatic = false\n";

/// Returns an installation that may run the programs of feeds.
fn allowed() -> Program {
    let program = new_program();
    program.write("config.toml", format!("{WITHOUT}[commands]\nallow_sources = true\n"));
    program
}

fn state_of<'a>(told: &'a str, feed: &str) -> &'a str {
    told.lines().find(|line| line.contains(feed)).unwrap_or_else(|| panic!("{feed}: {told}"))
}

#[test]
fn feeds_of_a_file_and_a_program_are_read_as_others() {
    let program = allowed();
    let file = program.write("feed.xml", rss("Orchard", "e", 2));
    let address = format!("file://{file}");
    let command = format!("exec:sed s/Orchard/Garden/ {file}");
    for (address, title) in [(&address, "Orchard"), (&command, "Garden")] {
        let told = program.run(&["add", address]).with(0).out;
        assert!(told.contains(title), "{told}");
    }
    assert_eq!(each(&feeds(&program), "url"), [address.as_str(), &command]);
    assert_eq!(entries(&program, &[]).len(), 4);
    fs::write(&file, rss("Orchard", "e", 3)).unwrap();
    program.run(&["poll", "--all"]).with(0);
    assert_eq!(entries(&program, &[]).len(), 6);
    for (feed, why) in
        [("Orchard", "a file has no archives"), ("Garden", "a program has no archives")]
    {
        let told = program.run(&["history", feed]).with(0).out;
        assert!(told.contains(why), "{told}");
        let plan = program.run(&["plan", feed]).with(0).out;
        assert!(plan.contains("its document is the"), "{plan}");
    }
    let told = program.run(&["--offline", "poll", "--all"]).with(0).out;
    assert!(told.contains("2 not polled"), "{told}");
}

#[test]
fn filter_passes_a_response_and_stays_at_its_address() {
    let program = allowed();
    let site = Site::start(|request| match request.path() {
        "/old" => answer(301, &[("location", "/new")], ""),
        _ if request.header("if-none-match").is_some() => answer(304, &[], ""),
        _ => answer(200, &[("etag", "\"1\"")], rss("Orchard", "e", 2)),
    });
    let address = format!("filter:sed s/Orchard/Garden/:{}", site.at("/old"));
    program.run(&["add", &address]).with(0);
    let told = program.run(&["poll", "--all"]).with(0).out;
    let feeds = feeds(&program);
    assert_eq!(each(&feeds, "url"), [address.as_str()], "{told}");
    assert_eq!(each(&feeds, "title"), ["Garden"]);
    let asked = site.asked("/new");
    assert_eq!(asked.len(), 2);
    assert!(asked[1].header("if-none-match").is_some());
}

#[test]
fn feed_of_the_web_can_become_a_filter_and_keeps_its_entries() {
    let program = allowed();
    let site = Site::start(|request| match request.path() {
        "/" => answer(200, &[], page("Site", &[("/feed.xml", "Orchard")])),
        _ => answer(200, &[], rss("Orchard", "e", 2)),
    });
    program.run(&["add", &site.at("/")]).with(0);
    let address = format!("filter:sed s/Orchard/Garden/:{}", site.at("/feed.xml"));
    program.run(&["set", "1", "--address", &address]).with(0);
    program.run(&["poll", "--all"]).with(0);
    let feeds = feeds(&program);
    assert_eq!((each(&feeds, "url"), each(&feeds, "title")), (vec![&*address], vec!["Garden"]));
    assert_eq!(entries(&program, &[]).len(), 2);
}

#[test]
fn bad_programs_are_bounded_and_reported() {
    let program = allowed();
    let pipe = program.path("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    // A process that is left over would hold this pipe open, and reading it would not end.
    let hold = format!("exec 3>{};", pipe.to_str().unwrap());
    let reader = std::thread::spawn(move || fs::read(pipe).unwrap().len());
    // A hanging program takes 20 s, so only one owner of the store waits for one.
    let hangs = module_path!().contains("service_running");
    let (in_hang, in_fork) = if hangs { (hold.as_str(), "") } else { ("", hold.as_str()) };
    let hang = ("hang", format!("{in_hang} sleep 1000 & sleep 1000"), "was stopped after 20 s");
    let bad = [
        ("flood", "yes".to_owned(), "too large: sh was stopped after more than"),
        ("escape", "printf \"\\033]0;x\\007<b>\\033[31mred\"".to_owned(), "not a feed"),
        (
            "exit",
            "echo \"no \\033[31mnews\" >&2; echo more; exit 1".to_owned(),
            "exited with status 1: no",
        ),
        ("fork", format!("{in_fork} sleep 1000 & echo \"<rss/>\""), "kept the output open"),
    ];
    let bad: Vec<_> = bad.into_iter().chain(hangs.then_some(hang)).collect();
    for (name, script, _) in &bad {
        let address = format!("exec:sh -c '{script}'");
        program.run(&["add", "--no-poll", "--title", name, &address]).with(0);
    }
    let told = program.run(&["poll", "--all"]).with(1);
    let told = format!("{}{}", told.out, told.err);
    for (name, _, why) in bad {
        let line = state_of(&told, name);
        assert!(line.contains(why), "{line}");
        assert!(!line.contains('\x1b') && !line.contains('\x07'), "{line:?}");
    }
    assert_eq!(reader.join().unwrap(), 0);
    let failing = feeds(&program);
    assert!(failing.iter().all(|feed| feed["state"] == "failing"), "{failing:?}");
}

#[test]
fn lists_from_elsewhere_run_no_program() {
    let from = allowed();
    let file = from.write("feed.xml", rss("Orchard", "e", 2));
    let trace = from.path("ran");
    let commands = [
        format!("exec:touch {}", trace.to_str().unwrap()),
        format!("filter:touch {}:http://127.0.0.1:1/", trace.to_str().unwrap()),
    ];
    for address in commands.iter().chain([&format!("file://{file}")]) {
        from.run(&["add", "--no-poll", address]).with(0);
    }
    let list = from.run(&["export"]).with(0).out;
    let urls = format!("\"{}\" tag\n\"{}\"\nfile://{file}\n", commands[0], commands[1]);

    for (name, text) in [("list.opml", &list), ("urls", &urls)] {
        let to = new_program();
        let path = to.write(name, text);
        let refused = to.run(&["import", &path]);
        let told = format!("{}{}", refused.out, refused.err);
        assert_eq!(told.matches("set allow_sources = true under [commands]").count(), 2, "{told}");
        assert_eq!(each(&feeds(&to), "url"), [format!("file://{file}")]);
        for address in &commands {
            let told = to.run(&["add", address]).refused(2);
            assert!(told.contains("allow_sources = true"), "{told}");
        }

        let to = allowed();
        let path = to.write(name, text);
        to.run(&["import", &path]).with(0);
        assert_eq!(feeds(&to).len(), 3);
        // The subscriptions stay when the user no longer allows programs.
        to.write("config.toml", WITHOUT);
        assert_eq!(feeds(&to).len(), 3);
    }
    assert!(!trace.exists(), "no program ran");
}

#[test]
fn program_of_a_feed_stops_running_when_it_is_no_longer_allowed() {
    let program = new_program();
    let file = program.write("feed.xml", rss("Orchard", "e", 2));
    let path = program.path("config.toml");
    let before = fs::read_to_string(&path).unwrap();
    fs::write(&path, format!("{before}[commands]\nallow_sources = true\n")).unwrap();
    let address = format!("exec:cat {file}");
    wait_until("the program is allowed", || program.run(&["add", &address]).status == Some(0));
    fs::write(&path, before).unwrap();
    // A running reader or service reads the configuration when the system reports the change.
    wait_until("the program is refused", || {
        let told = program.run(&["poll", "--all"]);
        format!("{}{}", told.out, told.err).contains("set allow_sources = true under [commands]")
    });
    assert_eq!(feeds(&program).len(), 1, "the subscription stays");
}
