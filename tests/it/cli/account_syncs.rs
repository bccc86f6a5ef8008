//! Accounts on servers, through the real binary and a server that behaves like each known one.

use crate::support::binary::{Ended, Program};
use crate::support::greader_double::{GreaderDouble, Habits, IdForm, Item};

const FRESHRSS: Habits = Habits {
    base: "/api/greader.php",
    ids: IdForm::Decimal,
    toggles: false,
    page_max: usize::MAX,
    odd_continuation: true,
    address_streams: false,
};
const MINIFLUX: Habits = Habits { base: "", toggles: true, page_max: 7, ..FRESHRSS };
const OLD_READER: Habits = Habits { base: "", ids: IdForm::Letters, ..FRESHRSS };
const INOREADER: Habits = Habits {
    base: "",
    ids: IdForm::Decimal,
    page_max: 5,
    odd_continuation: false,
    address_streams: true,
    ..FRESHRSS
};
const BAZQUX: Habits =
    Habits { base: "", ids: IdForm::Long, page_max: 3, address_streams: true, ..FRESHRSS };
const DIALECTS: [Habits; 5] = [FRESHRSS, MINIFLUX, OLD_READER, INOREADER, BAZQUX];

/// Adds an account whose password is the given one.
fn add(program: &Program, server: &GreaderDouble, password: &str) -> Ended {
    let place = ["--user", "ann", "--name", "home"];
    let args = [&["account", "add", server.address()][..], &place].concat();
    program.run_with(&args, format!("{password}\n").as_bytes())
}

fn with_account(habits: Habits) -> (Program, GreaderDouble) {
    let (program, server) = (Program::new(), GreaderDouble::start(habits));
    server.publish(1, 1..=20);
    server.publish(2, 21..=30);
    server.state().items.get_mut(&3).unwrap().is_read = true;
    server.state().items.get_mut(&4).unwrap().is_starred = true;
    add(&program, &server, "secret").with(0);
    server.count_requests();
    (program, server)
}

fn sync(program: &Program) -> Ended {
    program.run(&["account", "sync"]).with(0)
}

/// The entries as number on the server, read, starred.
fn marks(program: &Program) -> Vec<(u64, bool, bool)> {
    let entries = program.run(&["entries", "--json", "--limit", "1000"]).with(0).json();
    let mark = |entry: &serde_json::Value| {
        let number = entry["link"].as_str()?.rsplit('/').next()?.parse().ok()?;
        Some((number, entry["read"].as_bool()?, entry["starred"].as_bool()?))
    };
    let mut marks: Vec<_> = entries.as_array().unwrap().iter().filter_map(mark).collect();
    marks.sort_unstable();
    marks
}

/// The number of the entry that has this number on the server.
fn here(program: &Program, number: u64) -> String {
    let entries = program.run(&["entries", "--json", "--limit", "1000"]).with(0).json();
    let end = format!("/{number}");
    let mut all = entries.as_array().unwrap().iter();
    let found = all.find(|entry| entry["link"].as_str().unwrap().ends_with(&end)).unwrap();
    found["number"].as_str().unwrap().to_owned()
}

#[test]
fn marks_go_both_ways_with_every_kind_of_server() {
    for habits in DIALECTS {
        let (program, server) = with_account(habits);
        assert_eq!(marks(&program), server.marks(), "{habits:?}");
        sync(&program);
        if habits.page_max > 100 {
            assert_eq!(server.count_requests(), 3, "{habits:?}: nothing is new");
        }
        let (first, second, both) = (here(&program, 5), here(&program, 22), here(&program, 6));
        program.run(&["mark", "read", &first, &both]).with(0);
        program.run(&["mark", "starred", &second]).with(0);
        server.publish(2, 31..=33);
        for (number, read) in [(6, true), (7, true), (3, false)] {
            server.state().items.get_mut(&number).unwrap().is_read = read;
        }
        sync(&program);
        let expected: Vec<u64> =
            server.marks().into_iter().filter(|it| it.1).map(|it| it.0).collect();
        assert_eq!(expected, [5, 6, 7], "{habits:?}: a mark on both sides is not toggled");
        assert_eq!(marks(&program), server.marks(), "{habits:?}");
        program.run(&["undo"]).with(0);
        sync(&program);
        assert!(!server.state().items[&22].is_starred, "{habits:?}: undo undoes it there");
        assert_eq!(marks(&program), server.marks(), "{habits:?}");
    }
}

#[test]
fn a_server_that_says_ok_and_does_nothing_is_reported() {
    let (program, server) = with_account(FRESHRSS);
    program.run(&["mark", "read", &here(&program, 5)]).with(0);
    server.state().lies = true;
    let told = program.run(&["account", "sync"]).with(1);
    assert!(told.out.contains("did not take 1"), "{told:?}");
    server.state().lies = false;
    sync(&program);
    assert!(server.state().items[&5].is_read, "the mark was kept");
    assert_eq!(marks(&program), server.marks());
}

#[test]
fn a_server_that_fails_at_long_lists_is_asked_for_short_ones() {
    let (program, server) = with_account(FRESHRSS);
    server.state().ids_max = Some(1_000);
    server.publish(1, 1_000..3_000);
    sync(&program);
    assert_eq!(marks(&program).len(), 1_000, "as many as the list shows");
    let unread = program.run(&["unread"]).with(0);
    assert_eq!(unread.out.trim(), "2029", "{unread:?}");
    server.state().ids_max = Some(10);
    program.run(&["account", "sync"]).with(2);
}

#[test]
fn entries_deleted_on_the_server_stay_unread_here() {
    let (program, server) = with_account(FRESHRSS);
    server.state().items.remove(&8);
    sync(&program);
    let kept = marks(&program).into_iter().find(|it| it.0 == 8);
    assert_eq!(kept, Some((8, false, false)), "what is in no list there was not read");
    sync(&program);
}

#[test]
fn a_changed_password_and_bad_answers_are_explained() {
    let (program, server) = with_account(FRESHRSS);
    program.run(&["mark", "read", &here(&program, 5)]).with(0);
    for (end, status, body, expected) in [
        ("items/ids", 429, "slow down", "asks for fewer requests"),
        ("items/ids", 503, "", "maintenance"),
        ("items/ids", 200, "<html>welcome</html>", "is a web page"),
        ("items/ids", 200, "{\"itemRefs\": [", "cannot be read"),
        ("items/ids", 200, "[]", "does not offer this"),
        ("edit-tag", 200, "[]", "does not offer this"),
        ("edit-tag", 200, "no", "is not OK"),
        ("token", 500, "broken\u{1b}[2J", "answered 500 'broken[2J'"),
    ] {
        server.state().instead.insert(end, (status, body.into()));
        let failed = program.run(&["account", "sync"]).with(2);
        assert!(failed.err.contains(expected), "{expected}: {failed:?}");
        server.state().instead.clear();
    }
    let page = r#"{"itemRefs":[{"id":"1"}],"continuation":"again"}"#;
    server.state().instead.insert("items/ids", (200, page.into()));
    program.run(&["account", "sync"]).with(0);
    server.state().instead.clear();
    server.state().password = "other".into();
    let refused = program.run(&["account", "sync"]).with(2);
    assert!(refused.err.contains("refuses the user name or the API password"), "{refused:?}");
    let wrong = add(&program, &server, "wrong").with(2);
    assert!(wrong.err.contains("refuses"), "{wrong:?}");
    add(&program, &server, "other").with(0);
    assert_eq!(marks(&program), server.marks(), "the mark was kept and is there now");
    let log = program.run(&["account", "log", "--json"]).with(0);
    assert!(log.json().as_array().unwrap().len() > 5 && !log.out.contains("other\""), "{log:?}");
    for shown in [program.run(&["account", "list"]), log] {
        assert!(!shown.out.contains("secret") && !shown.err.contains("secret"), "{shown:?}");
    }
}

#[test]
fn a_removed_account_can_leave_its_feeds() {
    let (program, server) = with_account(FRESHRSS);
    let before = marks(&program);
    let removed = program.run(&["account", "remove", "home", "--keep"]).with(0);
    assert!(removed.out.contains("2 feeds kept"), "{removed:?}");
    assert_eq!(marks(&program), before);
    add(&program, &server, "secret").with(0);
    assert_eq!(marks(&program), before, "the entries are found again");
    program.run(&["account", "remove", "home"]).with(0);
    assert_eq!(marks(&program), []);
    assert_eq!(server.state().feeds.len(), 2, "nothing changes there");
    program.run(&["undo"]).with(0);
    assert_eq!(marks(&program), before);
    program.run(&["account", "sync", "home"]).with(2);
}

#[test]
fn subscriptions_go_both_ways() {
    for habits in [FRESHRSS, BAZQUX] {
        let (program, server) = with_account(habits);
        let before = marks(&program);
        program.run(&["set", "1", "--title", "Mine"]).with(0);
        program.run(&["unsubscribe", "2"]).with(0);
        let added = ["add", "https://3.example/feed", "--no-poll", "--account", "home"];
        program.run(&added).with(0);
        let titles = || -> Vec<String> {
            server.state().feeds.values().map(|(_, title)| title.clone()).collect()
        };
        assert_eq!(titles(), ["Mine", "https://3.example/feed"], "{habits:?}");
        assert_eq!(marks(&program), server.marks());
        program.run(&["subscribe-again", "2"]).with(0);
        sync(&program);
        assert_eq!(titles().len(), 3, "{habits:?}: restored there, too");
        // Subscribed again, the entries have new ids, and everything is unread there.
        let again = server.state().feeds.iter().find(|it| it.1.0.contains("//2.")).map(|it| *it.0);
        let again = again.unwrap();
        for (number, ..) in before.iter().filter(|it| it.0 > 20) {
            let item = Item { feed: again, is_read: false, is_starred: false };
            server.state().items.insert(number + 1_000, item);
        }
        sync(&program);
        sync(&program);
        server.state().feeds.get_mut(&1).unwrap().1 = "Theirs".into();
        program.run(&["account", "sync", "--whole"]).with(0);
        assert!(program.run(&["feeds"]).out.contains("Theirs"), "{habits:?}");
        server.state().feeds.remove(&1);
        server.state().items.retain(|_, item| item.feed != 1);
        program.run(&["account", "sync", "--whole"]).with(0);
        assert!(!program.run(&["feeds"]).out.contains("Theirs"));
        sync(&program);
        server.count_requests();
        sync(&program);
        if habits.page_max > 100 {
            assert_eq!(server.count_requests(), 3, "{habits:?}: nothing is left to change");
        }
    }
}
