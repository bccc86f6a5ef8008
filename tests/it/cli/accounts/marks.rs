//! Entries and marks of accounts.

use super::{BAZQUX, DIALECTS, FRESHRSS, add, here, marks, sync, with_account};

#[test]
fn marks_go_both_ways_with_every_kind_of_server() {
    for habits in DIALECTS {
        let (program, server) = with_account(habits);
        assert_eq!(marks(&program), server.marks(), "{habits:?}");
        sync(&program);
        assert_eq!(server.count_requests(), 3, "{habits:?}: nothing is new");
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
        (
            "items/ids",
            200,
            "<html>welcome</html>",
            "answered with a web page, perhaps a sign-in page",
        ),
        ("items/ids", 200, "{\"itemRefs\": [", "cannot be read: it ends too early"),
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
fn many_unread_entries_take_three_requests() {
    let (program, server) = with_account(BAZQUX);
    sync(&program);
    for (what, number, is_first_page) in [("new", 29, true), ("old", 2, false)] {
        server.state().items.get_mut(&number).unwrap().is_read = true;
        server.count_requests();
        sync(&program);
        let is_read = marks(&program).into_iter().any(|it| it.0 == number && it.1);
        assert_eq!(
            (is_read, server.count_requests() > 3),
            (is_first_page, is_first_page),
            "{what}"
        );
        sync(&program);
    }
    // A mark here makes the next sync compare all entries, so that nothing is toggled.
    program.run(&["mark", "read", &here(&program, 7)]).with(0);
    sync(&program);
    assert_eq!(marks(&program), server.marks());
    server.state().items.get_mut(&3).unwrap().is_read = false;
    server.state().items.get_mut(&2).unwrap().is_read = false;
    program.run(&["account", "sync", "--whole"]).with(0);
    assert_eq!(marks(&program), server.marks());
}

#[test]
fn a_mark_that_is_refused_three_times_is_dropped_and_told_once() {
    let (program, server) = with_account(FRESHRSS);
    program.run(&["mark", "starred", &here(&program, 3), &here(&program, 6)]).with(0);
    server.state().items.remove(&3);
    let mut told = Vec::new();
    for _ in 0..5 {
        told.push(program.run(&["account", "sync"]).out);
    }
    let dropped: Vec<bool> = told.iter().map(|line| line.contains("1 mark dropped")).collect();
    assert_eq!(dropped, [false, false, true, false, false], "{told:?}");
    assert!(server.state().items[&6].is_starred, "the other one is there");
    let kept = marks(&program).into_iter().find(|it| it.0 == 3);
    assert_eq!(kept, Some((3, true, true)), "the star stays here");
}

#[test]
fn entries_that_are_edited_on_the_server_arrive_as_edits() {
    let (program, server) = with_account(FRESHRSS);
    let edited = here(&program, 22);
    program.run(&["mark", "read", &edited]).with(0);
    sync(&program);
    server.state().large.insert(22, 400);
    let told = program.run(&["account", "sync", "--whole"]).with(0);
    assert!(told.out.contains("1 edited") && !told.out.contains("new,"), "{told:?}");
    let shown = program.run(&["show", &edited]).with(0).out;
    assert!(shown.matches("text").count() > 50, "{shown}");
    assert_eq!(marks(&program), server.marks(), "it stays read, and there is no double");
    let told = program.run(&["account", "sync", "--whole"]).with(0);
    assert!(told.out.contains("nothing new"), "{told:?}");
}
