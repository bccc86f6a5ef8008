//! Accounts of Miniflux through its own API.

use super::{here, marks, sync};
use crate::support::binary::{Ended, Program};
use crate::support::miniflux_double::{Item, MinifluxDouble};

/// Length of a year in seconds.
const YEAR: i64 = 365 * 86_400;

/// Adds an account with this user (none: an API token) and password.
pub(super) fn add(
    program: &Program,
    server: &MinifluxDouble,
    user: Option<&str>,
    password: &str,
) -> Ended {
    let mut args = vec!["account", "add", server.address(), "--name", "home"];
    args.extend(user.into_iter().flat_map(|user| ["--user", user]));
    program.run_with(&args, format!("{password}\n").as_bytes())
}

fn filled(is_new: bool, page_max: usize) -> MinifluxDouble {
    let server = MinifluxDouble::start(is_new, page_max);
    server.publish(1, 1..=20);
    server.publish(2, 21..=30);
    server.state().mark(3, |it| it.is_read = true);
    server.state().mark(4, |it| it.is_starred = true);
    // Changes of the last minutes are requested again.
    server.state().clock += 3_600;
    server
}

fn with_account(is_new: bool, page_max: usize) -> (Program, MinifluxDouble) {
    let (program, server) = (Program::new(), filled(is_new, page_max));
    add(&program, &server, Some("ann"), "secret").with(0);
    server.count_requests();
    (program, server)
}

fn whole(program: &Program) -> Ended {
    program.run(&["account", "sync", "--whole"]).with(0)
}

#[test]
fn marks_go_both_ways_with_old_and_new_versions() {
    for (is_new, page_max, user, password) in
        [(false, 1_000, Some("ann"), "secret"), (true, 7, None, "token-1")]
    {
        let (program, server) = (Program::new(), filled(is_new, page_max));
        let told = add(&program, &server, user, password).with(0);
        assert!(told.err.contains("labels of entries stay here"), "{told:?}");
        assert_eq!(marks(&program), server.marks(), "{is_new}");
        server.count_requests();
        sync(&program);
        assert_eq!(server.count_requests(), 3, "{is_new}: nothing is new");
        let (first, second, both) = (here(&program, 5), here(&program, 22), here(&program, 6));
        program.run(&["mark", "read", &first, &both]).with(0);
        program.run(&["mark", "starred", &second]).with(0);
        server.publish(2, 31..=33);
        for (number, read) in [(6, true), (7, true), (3, false)] {
            server.state().mark(number, |it| it.is_read = read);
        }
        sync(&program);
        let expected: Vec<u64> =
            server.marks().into_iter().filter(|it| it.1).map(|it| it.0).collect();
        assert_eq!(expected, [5, 6, 7], "{is_new}: each side has the marks of the other");
        assert!(server.state().items[&22].is_starred, "{is_new}");
        assert_eq!(marks(&program), server.marks(), "{is_new}");
        program.run(&["undo"]).with(0);
        program.run(&["mark", "unstarred", &here(&program, 4)]).with(0);
        sync(&program);
        assert!(!server.state().items[&22].is_starred, "{is_new}: undo undoes it there");
        assert!(!server.state().items[&4].is_starred, "{is_new}");
        assert_eq!(marks(&program), server.marks(), "{is_new}");
        server.state().mark(9, |it| it.is_starred = true);
        server.state().clock += 3_600;
        whole(&program);
        assert_eq!(marks(&program), server.marks(), "{is_new}");
        server.state().clock += 3_600;
        server.count_requests();
        sync(&program);
        assert_eq!(server.count_requests(), 3, "{is_new}: nothing is left to do");
    }
}

#[test]
fn the_form_of_the_login_is_found_by_the_server() {
    let (program, server) = (Program::new(), filled(false, 1_000));
    for (user, password, expected) in [
        (Some("ann"), "wrong", "refuses the user name or the password"),
        (None, "wrong", "refuses the API token"),
    ] {
        let refused = add(&program, &server, user, password).with(2);
        assert!(refused.err.contains(expected), "{refused:?}");
        let requests = std::mem::take(&mut server.state().requests);
        let places: Vec<&str> = requests.iter().map(|it| it.1.as_str()).collect();
        let tried = if user.is_some() { 3 } else { 2 };
        assert_eq!(places.len(), tried, "no other address is tried: {places:?}");
    }
    add(&program, &server, None, "token-1").with(0);
    let listed = program.run(&["account", "list"]).with(0);
    assert!(listed.out.contains("API token at http"), "{listed:?}");
    assert!(!listed.out.contains("token-1"), "{listed:?}");
    // The user can replace the token by a password, and the other way round.
    add(&program, &server, Some("ann"), "secret").with(0);
    assert_eq!(marks(&program), server.marks(), "no entry is here twice");
}

#[test]
fn subscriptions_and_folders_go_both_ways() {
    let (program, server) = with_account(false, 1_000);
    server.state().moved.insert("https://3.example/feed".into(), "https://3.example/new".into());
    program.run(&["set", "1", "--title", "Mine", "--tag", "News", "--tag", "Own"]).with(0);
    program.run(&["unsubscribe", "2"]).with(0);
    program.run(&["add", "https://3.example/feed", "--no-poll", "--account", "home"]).with(0);
    sync(&program);
    let shown = || -> Vec<(String, String, u64)> {
        let state = server.state();
        let feeds = state.feeds.values();
        feeds.map(|it| (it.title.clone(), it.url.clone(), it.category)).collect()
    };
    let news = *server.state().categories.iter().find(|it| it.1 == "News").unwrap().0;
    let third = "https://3.example/new";
    assert_eq!(
        shown(),
        [("Mine".into(), "https://1.example/feed".into(), news), (third.into(), third.into(), 1)]
    );
    assert_eq!(marks(&program), server.marks());
    let feeds = program.run(&["feeds", "--json"]).with(0).json();
    assert_eq!(feeds.as_array().unwrap().len(), 2, "the redirected feed is here once: {feeds}");
    program.run(&["subscribe-again", "2"]).with(0);
    sync(&program);
    assert_eq!(shown().len(), 3, "restored there, too");
    // A category that differs in case only is the same there.
    program.run(&["set", "2", "--tag", "NEWS"]).with(0);
    sync(&program);
    assert_eq!(server.state().categories.len(), 2);
    assert_eq!(shown().iter().filter(|it| it.2 == news).count(), 2);
    // Changes on the server.
    server.state().categories.insert(9, "Later".into());
    {
        let mut state = server.state();
        let feed = state.feeds.get_mut(&1).unwrap();
        (feed.title, feed.category) = ("Theirs".into(), 9);
    }
    whole(&program);
    let feeds = program.run(&["feeds", "--json"]).with(0).json();
    assert_eq!((&feeds[0]["title"], &feeds[0]["tags"][0]), (&"Theirs".into(), &"Later".into()));
    program.run(&["set", "1", "--tag", ""]).with(0);
    sync(&program);
    assert_eq!(server.state().feeds[&1].category, 1, "without a tag, it is in the usual category");
    // A feed that is added or removed there is found by the counts, before subscriptions are due.
    let feed = server.state().feeds[&1].clone();
    let added = crate::support::miniflux_double::Feed { url: "https://8.example/".into(), ..feed };
    server.state().feeds.insert(8, added);
    server.publish(8, 80..=82);
    server.state().feeds.remove(&1);
    server.state().items.retain(|_, item| item.feed != 1);
    sync(&program);
    let numbers: Vec<u64> = marks(&program).into_iter().map(|it| it.0).collect();
    assert!(numbers.ends_with(&[80, 81, 82]) && numbers[0] == 21, "{numbers:?}");
}

#[test]
fn entries_deleted_on_the_server_stay_here() {
    let (program, server) = with_account(false, 1_000);
    for number in [8, 9, 4] {
        server.state().items.remove(&number);
    }
    program.run(&["mark", "read", &here(&program, 9)]).with(0);
    let told = sync(&program);
    assert!(!told.out.contains("did not take"), "{told:?}");
    let kept = marks(&program);
    for (number, is_read, is_starred) in [(8, false, false), (9, true, false), (4, false, true)] {
        assert!(kept.contains(&(number, is_read, is_starred)), "{number}: {kept:?}");
    }
    server.state().clock += 3_600;
    server.count_requests();
    sync(&program);
    assert_eq!(server.count_requests(), 3, "they are not looked for again");
    // Deleted between the pull and the mark, as far as the server says.
    server.state().items.remove(&10);
    program.run(&["mark", "starred", &here(&program, 10)]).with(0);
    let told = sync(&program);
    assert!(!told.out.contains("did not take"), "{told:?}");
}

#[test]
fn a_server_that_says_yes_and_does_nothing_is_reported() {
    for is_new in [false, true] {
        let (program, server) = with_account(is_new, 1_000);
        program.run(&["mark", "read", &here(&program, 5)]).with(0);
        program.run(&["mark", "starred", &here(&program, 6)]).with(0);
        server.state().lies = true;
        let told = program.run(&["account", "sync"]).with(1);
        assert!(told.out.contains("did not take 2"), "{told:?}");
        server.state().lies = false;
        sync(&program);
        assert!(server.state().items[&5].is_read && server.state().items[&6].is_starred);
        assert_eq!(marks(&program), server.marks(), "the marks were kept");
    }
}

#[test]
fn a_changed_password_and_bad_answers_are_explained() {
    let (program, server) = with_account(false, 1_000);
    program.run(&["mark", "read", &here(&program, 5)]).with(0);
    let error = |why: &str| format!(r#"{{"error_message":"{why}"}}"#);
    for (method, end, status, body, expected) in [
        ("GET", "entries", 429, "slow down".into(), "asks for fewer requests"),
        ("GET", "entries", 503, String::new(), "maintenance"),
        ("GET", "counters", 200, "<html>".into(), "answered with a web page"),
        ("GET", "entries", 200, "{\"total\": 1,".into(), "it ends too early"),
        ("GET", "entries", 200, "[]".into(), "not of this API"),
        ("GET", "entries", 200, "{\"total\":1,\"entries\":[{\"id\":1}]}".into(), "not of this API"),
        ("GET", "counters", 200, "{,}".into(), "it is not JSON"),
        ("GET", "counters", 500, error("broken\\u001b[2J"), "answered 500 'broken[2J'"),
        ("PUT", "entries", 502, "bad".into(), "answered 502 'bad'"),
        ("PUT", "entries", 302, String::new(), "redirects to another address"),
        ("GET", "entries", 404, String::new(), "has no API at this address"),
    ] {
        server.state().instead.insert((method, end), (status, body));
        let failed = program.run(&["account", "sync"]).with(2);
        assert!(failed.err.contains(expected), "{expected}: {failed:?}");
        server.state().instead.clear();
    }
    server.state().password = "other".into();
    let refused = program.run(&["account", "sync"]).with(2);
    assert!(refused.err.contains("refuses the user name or the password"), "{refused:?}");
    add(&program, &server, Some("ann"), "other").with(0);
    assert_eq!(marks(&program), server.marks(), "the mark was kept and is there now");
    assert!(server.state().items[&5].is_read);
    let log = program.run(&["account", "log", "--json"]).with(0);
    for shown in [program.run(&["account", "list"]), log] {
        assert!(!shown.out.contains("secret") && !shown.err.contains("secret"), "{shown:?}");
    }
}

#[test]
fn the_clock_of_the_server_can_be_a_year_off_and_jump() {
    for first in [-4 * YEAR, 0, 5 * YEAR] {
        let (program, server) = (Program::new(), MinifluxDouble::start(false, 7));
        server.state().clock += first;
        server.publish(1, 1..=20);
        add(&program, &server, Some("ann"), "secret").with(0);
        for (number, jump) in [(1, YEAR), (2, 0), (3, -YEAR), (4, 0), (5, -YEAR), (6, 2 * YEAR)] {
            server.state().clock += jump;
            server.state().mark(number, |it| it.is_read = true);
            // As many are read as before, so no count differs.
            server.state().mark(number + 10, |it| it.is_read = true);
            server.state().mark(number + 10, |it| it.is_starred = true);
            program.run(&["mark", "read", &here(&program, number + 6)]).with(0);
            server.publish(2, 30 + number..=30 + number);
            sync(&program);
            assert_eq!(marks(&program), server.marks(), "{first} {number}");
        }
    }
}

#[test]
fn changes_that_no_time_shows_are_found_by_counts() {
    let (program, server) = with_account(false, 7);
    // As after a restored backup of the database: marks without a time, and an entry with an old number.
    server.state().items.get_mut(&25).unwrap().is_read = true;
    server.state().items.get_mut(&2).unwrap().is_starred = true;
    server.state().items.remove(&21);
    server.state().items.remove(&22);
    let old = Item { feed: 2, is_read: false, is_starred: false, changed: 5 };
    server.state().items.insert(1_000, old);
    server.state().clock += 3_600;
    sync(&program);
    let mut expected = server.marks();
    expected.extend([(21, false, false), (22, false, false)]);
    expected.sort_unstable();
    assert_eq!(marks(&program), expected);
    server.count_requests();
    sync(&program);
    assert_eq!(server.count_requests(), 3);
}

#[test]
fn a_killed_first_sync_is_continued() {
    let (program, server) = (Program::new(), MinifluxDouble::start(false, 50));
    server.publish(1, 1..=600);
    server.publish(2, 601..=900);
    for number in [3, 300, 700] {
        server.state().mark(number, |it| it.is_read = true);
    }
    server.state().instead.insert(("GET", "entries"), (503, String::new()));
    add(&program, &server, Some("ann"), "secret").with(2);
    server.state().instead.clear();
    for pages in [1, 3, 5, 6] {
        let asked =
            || server.state().requests.iter().filter(|it| it.1.contains("entries?")).count();
        let before = asked();
        program.killed_when(&["account", "sync"], || asked() - before > pages);
        server.state().mark(850, |it| it.is_read = !it.is_read);
    }
    sync(&program);
    let first =
        |it: &(String, String, String)| it.1.contains("/v1/entries?") && !it.1.contains("before");
    let starts = server.state().requests.iter().filter(|it| first(it)).count();
    assert!(starts < 9, "{starts} lists were begun");
    let number = |path: &str| path.rsplit("before_entry_id=").next()?.parse::<u64>().ok();
    let whole = server.state().requests.iter().filter(|it| number(&it.1) == Some(851)).count();
    assert!(whole < 5, "the list goes on where it was: {whole}");
    let listed = |marks: Vec<(u64, bool, bool)>| marks.len();
    assert_eq!(listed(marks(&program)), 900, "each entry is here once");
    assert_eq!(marks(&program), server.marks());
}
