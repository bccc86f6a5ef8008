//! Subscriptions of accounts.

use super::{BAZQUX, FRESHRSS, OLD_READER, here, marks, sync, with_account};
use crate::support::binary::{Ended, Program};
use crate::support::greader_double::Item;

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

fn whole(program: &Program) -> Ended {
    program.run(&["account", "sync", "--whole"])
}

#[test]
fn a_list_without_most_feeds_removes_none() {
    let (program, server) = with_account(FRESHRSS);
    let feeds = server.state().feeds.clone();
    server.state().instead.insert("subscription/list", (200, r#"{"subscriptions":[]}"#.into()));
    let failed = whole(&program).with(2);
    assert!(
        failed.err.contains("lacks 2 of 2 feeds ('Feed 1', 'Feed 2'), so nothing"),
        "{failed:?}"
    );
    assert_eq!(marks(&program), server.marks());
    server.state().instead.clear();
    server.state().feeds.remove(&2);
    server.state().items.retain(|_, item| item.feed != 2);
    let told = whole(&program).with(0);
    assert!(told.out.contains("unsubscribed from 'Feed 2' ("), "{told:?}");
    let log = program.run(&["account", "log", "--json"]).with(0).json();
    let newest = log.as_array().unwrap().last().unwrap();
    assert_eq!(newest["unsubscribed"], serde_json::json!(["Feed 2"]));
    server.state().feeds = feeds;
    whole(&program).with(0);
}

#[test]
fn a_feed_that_comes_back_is_the_one_that_was_removed() {
    for habits in [FRESHRSS, BAZQUX] {
        let (program, server) = with_account(habits);
        program.run(&["set", "2", "--title", "Mine", "--tag", "Kept"]).with(0);
        let entry = here(&program, 22);
        program.run(&["mark", "read", &entry]).with(0);
        sync(&program);
        let before = (marks(&program), program.run(&["feeds", "--json"]).with(0).json());
        let (feed, items) = {
            let mut state = server.state();
            let items = state.items.clone();
            state.items.retain(|_, item| item.feed != 2);
            (state.feeds.remove(&2).unwrap(), items)
        };
        whole(&program).with(0);
        assert_eq!(marks(&program).len(), 20);
        // There, it is a new subscription with new ids, and everything is unread.
        {
            let mut state = server.state();
            state.feeds.insert(7, feed);
            let again = items.into_iter().filter(|(_, item)| item.feed == 2);
            let again =
                again.map(|(id, _)| (id, Item { feed: 7, is_read: false, is_starred: false }));
            state.items.extend(again);
        }
        whole(&program).with(0);
        sync(&program);
        let after = (marks(&program), program.run(&["feeds", "--json"]).with(0).json());
        assert_eq!(after.0, before.0, "{habits:?}");
        for field in ["number", "title", "tags"] {
            assert_eq!(after.1[1][field], before.1[1][field], "{habits:?}: {field}");
        }
        assert_eq!(after.0, server.marks(), "{habits:?}: the mark made here is there again");
    }
}

#[test]
fn arguments_without_content_are_refused() {
    let (program, server) = with_account(FRESHRSS);
    let place = ["account", "add", server.address(), "--user"];
    for (user, password, expected) in
        [("ann", "", "password is empty"), ("", "secret", "user name is empty")]
    {
        let args = [&place[..], &[user]].concat();
        let refused = program.run_in(&[("BACKISSUE_ACCOUNT_PASSWORD", password)], &args).with(2);
        assert!(refused.err.contains(expected), "{refused:?}");
    }
    let nameless = [&place[..], &["ann", "--name", " "]].concat();
    let refused = program.run_in(&[("BACKISSUE_ACCOUNT_PASSWORD", "secret")], &nameless).with(2);
    assert!(refused.err.contains("the name of the account is empty"), "{refused:?}");
    for action in ["log", "sync", "remove"] {
        let refused = program.run(&["account", action, "NOPE"]).with(2);
        assert!(refused.err.contains("there is no account 'NOPE'"), "{refused:?}");
    }
}

#[test]
fn plan_says_that_the_server_polls_and_how_to_poll_here() {
    let (program, _server) = with_account(FRESHRSS);
    let told = program.run(&["plan", "1"]).with(0).out;
    assert!(told.contains("nothing was learned: the server of its account polls it"), "{told}");
    assert!(told.contains("backissue set 1 --poll-here on") && !told.contains("usable"), "{told}");
    program.run(&["set", "1", "--poll-here", "on"]).with(0);
    assert!(!program.run(&["plan", "1"]).with(0).out.contains("the server of its account"));
}

#[test]
fn streams_listed_twice_change_nothing_at_the_next_sync() {
    let (program, server) = with_account(FRESHRSS);
    let listed = |id: u32, url: u32, title: &str| {
        serde_json::json!({ "id": format!("feed/{id}"), "title": title, "categories": [],
            "url": format!("https://{url}.example/feed") })
    };
    // The stream with another title, and the address in another stream.
    let twice = [(1, 1, "Feed 1"), (2, 2, "Feed 2"), (1, 1, "Other"), (9, 2, "Feed 2")];
    let twice = twice.map(|(id, url, title)| listed(id, url, title));
    let list = serde_json::json!({ "subscriptions": twice }).to_string();
    server.state().instead.insert("/subscription/list", (200, list));
    let feeds = || program.run(&["feeds", "--json"]).with(0).out;
    let before = feeds();
    for _ in 0..2 {
        sync(&program);
        assert_eq!(feeds(), before);
        let requests = std::mem::take(&mut server.state().requests);
        let changes = requests.iter().filter(|(path, _)| path.ends_with("/subscription/edit"));
        assert_eq!(changes.count(), 0, "{requests:?}");
    }
}

#[test]
fn address_and_title_there_are_followed_and_restored() {
    let (program, server) = with_account(FRESHRSS);
    let feeds = || program.run(&["feeds", "--json"]).with(0).json();
    let shown = |number: usize, field: &str| feeds()[number][field].as_str().unwrap().to_owned();
    let whole = || program.run(&["account", "sync", "--whole"]).with(0);
    let moved = "https://new.example/feed".to_owned();
    server.state().feeds.get_mut(&1).unwrap().0.clone_from(&moved);
    whole();
    assert_eq!((feeds().as_array().unwrap().len(), shown(0, "url")), (2, moved));
    assert!(!whole().out.contains("subscription"), "nothing is left");
    program.run(&["add", "https://new.example/feed", "--no-poll"]).with(0);
    server.state().feeds.get_mut(&1).unwrap().0 = "https://newest.example/feed".into();
    whole();
    assert_eq!(shown(0, "url"), "https://new.example/feed", "the user typed it");

    program.run(&["set", "Feed 2", "--title", "Mine"]).with(0);
    whole();
    assert_eq!(server.state().feeds[&2].1, "Mine");
    program.run(&["set", "Mine", "--title", ""]).with(0);
    assert_eq!(shown(1, "title"), "Feed 2");
    whole();
    assert_eq!(
        (server.state().feeds[&2].1.clone(), shown(1, "title")),
        ("Feed 2".into(), "Feed 2".into())
    );
}

#[test]
fn servers_that_only_add_feeds_get_quickadd() {
    let (program, server) = with_account(OLD_READER);
    let added = "https://3.example/feed";
    let quick = (200, r#"{"numResults":1,"streamId":"feed/3"}"#.to_owned());
    server.state().instead =
        [("/subscription/edit", (404, "no".to_owned())), ("/subscription/quickadd", quick)].into();
    server.state().feeds.insert(3, (added.into(), "Third".into()));
    server.count_requests();
    program.run(&["add", added, "--account", "home", "--no-poll"]).with(0);
    program.run(&["account", "sync", "--whole"]).with(0);
    let feeds = program.run(&["feeds", "--json"]).with(0).json();
    assert_eq!(feeds.as_array().unwrap().len(), 3, "{feeds}");
}
