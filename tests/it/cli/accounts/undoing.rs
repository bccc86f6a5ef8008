//! Undo beside an account: it takes back what the user did, and nothing that a sync brought.

use super::{FRESHRSS, add, here, marks, sync, with_account};
use crate::support::binary::{Ended, Program};
use crate::support::greader_double::GreaderDouble;

/// A program with an account of this number of feeds.
pub(super) fn with_feeds(count: usize) -> (Program, GreaderDouble) {
    let (program, server) = (Program::new(), GreaderDouble::start(FRESHRSS));
    for feed in 1..=count {
        let url = format!("https://{feed}.example/feed");
        server.state().feeds.insert(feed, (url, format!("Feed {feed}")));
        let first = u64::try_from(feed).unwrap() * 10;
        server.publish(feed, first..first + 2);
    }
    add(&program, &server, "secret").with(0);
    (program, server)
}

fn subscribed(program: &Program) -> usize {
    program.run(&["feeds", "--json"]).with(0).json().as_array().unwrap().len()
}

fn undo(program: &Program) -> Ended {
    program.run(&["undo"]).with(0)
}

/// Numbers of the first feeds, as arguments of a command.
fn numbers(count: usize) -> Vec<String> {
    (1..=count).map(|number| number.to_string()).collect()
}

fn unsubscribe(program: &Program, count: usize, yes: bool) -> Ended {
    let numbers = numbers(count);
    let mut args = vec!["unsubscribe"];
    args.extend(numbers.iter().map(String::as_str));
    args.extend(yes.then_some("--yes"));
    program.run(&args)
}

#[test]
fn what_a_sync_brings_is_never_undone() {
    let (program, server) = with_feeds(8);
    for _ in 0..3 {
        assert!(undo(&program).err.contains("nothing to undo"));
        sync(&program);
    }
    assert_eq!((subscribed(&program), server.state().feeds.len()), (8, 8));
}

#[test]
fn a_change_that_arrives_is_not_between_me_and_my_last_one() {
    let (program, server) = with_account(FRESHRSS);
    let starred = here(&program, 22);
    program.run(&["mark", "starred", &starred]).with(0);
    program.run(&["set", "1", "--tag", "Mine"]).with(0);
    {
        let mut state = server.state();
        state.feeds.insert(7, ("https://7.example/feed".into(), "Phone".into()));
        state.feeds.get_mut(&1).unwrap().1 = "Renamed".into();
    }
    program.run(&["account", "sync", "--whole"]).with(0);
    let told = undo(&program);
    assert!(told.out.contains("undone: settings of 'Renamed'"), "{told:?}");
    let told = undo(&program);
    assert!(told.out.contains("undone: 1 starred"), "{told:?}");
    assert!(undo(&program).err.contains("nothing to undo"));
    sync(&program);
    let titles: Vec<String> =
        server.state().feeds.values().map(|(_, title)| title.clone()).collect();
    assert_eq!(titles, ["Renamed", "Feed 2", "Phone"], "what the phone did stays");
    assert_eq!(subscribed(&program), 3);
    assert_eq!(marks(&program), server.marks());
}

#[test]
fn an_undo_that_takes_subscriptions_needs_a_yes() {
    let program = Program::new();
    let list: String = (1..=60).map(|number| format!("https://{number}.example/feed\n")).collect();
    let list = program.write("list.txt", list);
    program.run(&["import", &list]).with(0);
    let asked = program.run(&["undo"]).with(2);
    assert!(asked.err.contains("undo import"), "{asked:?}");
    assert!(asked.err.contains("unsubscribe from 60 feeds"), "{asked:?}");
    assert_eq!(subscribed(&program), 60);
    let told = program.run(&["undo", "--yes"]).with(0);
    assert!(told.out.contains("import undone: 60 feeds"), "{told:?}");
    assert_eq!(subscribed(&program), 0);
}

#[test]
fn many_removals_name_the_account_and_need_a_yes() {
    let (program, server) = with_feeds(30);
    for (count, asks) in [(4, true), (3, false)] {
        let ended = unsubscribe(&program, count, false);
        assert_eq!(ended.status, Some(if asks { 2 } else { 0 }), "{ended:?}");
        let expected = if asks { "also on 'home' (4 of its 30 feeds)" } else { "also on 'home'" };
        assert!(format!("{ended:?}").contains(expected), "{ended:?}");
    }
    sync(&program);
    assert_eq!(server.state().feeds.len(), 27);
    let more = ["unsubscribe", "4", "5", "6", "7", "8", "9", "10"];
    program.run(&more).with(2);
    program.run(&[&more[..], &["--yes"]].concat()).with(0);
    sync(&program);
    assert_eq!((subscribed(&program), server.state().feeds.len()), (20, 20));
}

#[test]
fn single_removals_add_up_until_the_server_knows_them() {
    let (program, server) = with_feeds(30);
    for number in 1..=3 {
        program.run(&["unsubscribe", &number.to_string()]).with(0);
    }
    let asked = program.run(&["unsubscribe", "4"]).with(2);
    assert!(asked.err.contains("(4 of its 30 feeds)"), "{asked:?}");
    sync(&program);
    assert_eq!(server.state().feeds.len(), 27);
    program.run(&["unsubscribe", "4"]).with(0);
}

#[test]
fn what_an_account_did_not_bring_it_does_not_take_away() {
    for (ends, told) in [("remove", "unsubscribed from 2 feeds"), ("drop", "polled here: 'Mine'")] {
        let (program, server) = (Program::new(), GreaderDouble::start(FRESHRSS));
        let own = ["add", "https://7.example/feed", "--no-poll", "--title", "Mine"];
        program.run(&own).with(0);
        server.state().feeds.insert(7, ("https://7.example/feed".into(), "Theirs".into()));
        add(&program, &server, "secret").with(0);
        assert_eq!(subscribed(&program), 3, "it joined the account");
        let ended = if ends == "remove" {
            program.run(&["mark", "read", "--all"]);
            program.run(&["account", "remove", "home"]).with(0)
        } else {
            server.state().feeds.remove(&7);
            program.run(&["account", "sync", "--whole"]).with(0)
        };
        assert!(ended.out.contains(told), "{ended:?}");
        let feeds = program.run(&["feeds", "--json"]).with(0).json();
        let titles: Vec<&str> =
            feeds.as_array().unwrap().iter().map(|it| it["title"].as_str().unwrap()).collect();
        assert!(titles.contains(&"Mine"), "{ends}: {titles:?}");
        assert_eq!(titles.len(), if ends == "remove" { 1 } else { 3 });
        if ends == "drop" {
            sync(&program);
            assert!(!server.state().feeds.contains_key(&7), "nor does it come back there");
        }
    }
}

#[test]
fn a_restored_backup_waits_for_an_answer() {
    for (answer, is_read, feeds) in [("--yes", true, 28), ("--no", false, 30)] {
        let (program, server) = with_feeds(30);
        let entry = here(&program, 50);
        program.run(&["mark", "read", &entry]).with(0);
        unsubscribe(&program, 2, false).with(0);
        let backup = program.path("backup").to_str().unwrap().to_owned();
        program.run(&["backup", &backup]).with(0);
        sync(&program);
        // Since then, the phone took both back.
        server.state().items.get_mut(&50).unwrap().is_read = false;
        for feed in 1..=2 {
            let url = format!("https://{feed}.example/feed");
            server.state().feeds.insert(feed, (url, format!("Feed {feed}")));
        }
        program.run(&["restore", &backup]).with(0);
        for _ in 0..2 {
            let told = program.run(&["account", "sync", "--whole"]).with(1);
            assert!(told.out.contains("2 feeds that you removed here stay there"), "{told:?}");
            assert!(told.out.contains("1 mark of the restored backup"), "{told:?}");
        }
        let there = |server: &GreaderDouble| {
            let state = server.state();
            (state.items[&50].is_read, state.feeds.len())
        };
        assert_eq!(there(&server), (false, 30), "nothing is reverted");
        program.run(&["account", "sync", answer]);
        program.run(&["account", "sync", "--whole"]).with(0);
        assert_eq!(there(&server), (is_read, feeds), "{answer}");
        assert_eq!(subscribed(&program), feeds, "{answer}");
    }
}
