//! Commands on subscriptions that the user removed, whose feed has ended, or whose feed moved to another address.

use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering};

use super::marks::two_feeds;
use super::{each, feeds, new_program};
use crate::support::binary::Program;
use crate::support::documents::rss;
use crate::support::site::{Site, answer};

#[test]
fn feeds_are_removed_together_and_restored_one_by_one() {
    let (_site, program) = two_feeds();
    program.run(&["mark", "read", "1.0"]).with(0);
    let told = program.run(&["unsubscribe", "moon", "sun"]).with(2);
    assert!(told.err.contains("'moon'") && told.err.contains("'sun'"), "{told:?}");
    assert_eq!(feeds(&program).len(), 2, "nothing was done");
    let told = program.run(&["unsubscribe", "moon", "orchard", "sun"]).with(1);
    assert!(told.out.starts_with("unsubscribed from 'Orchard'"), "{told:?}");
    assert!(told.err.contains("'moon'") && told.err.contains("'sun'"), "{told:?}");
    assert_eq!(each(&feeds(&program), "title"), ["Harbour"]);
    let told = program.run(&["subscribe-again", "orchard", "moon"]).with(1);
    assert!(told.out.starts_with("subscribed again") && told.err.contains("'moon'"), "{told:?}");
    let told = program.run(&["unsubscribe", "orchard", "2", "1"]).with(0).out;
    let hint = "· 'backissue undo' reverts it";
    assert_eq!(
        told,
        format!("unsubscribed from 'Orchard' {hint}\nunsubscribed from 'Harbour' {hint}\n")
    );
    assert!(feeds(&program).is_empty());
    assert_eq!(program.run(&["undo"]).with(0).out, "subscribed again to 'Harbour'\n");
    program.run(&["undo"]).with(0);
    assert_eq!(each(&feeds(&program), "title"), ["Orchard", "Harbour"]);
    assert_eq!(feeds(&program)[0]["unread"], 3, "with its marks");
}

#[test]
fn removed_feeds_are_listed_and_restored_after_later_changes() {
    let (_site, program) = two_feeds();
    program.run(&["mark", "read", "1.0"]).with(0);
    let sentence = program.run(&["subscribe-again", "orchard"]).refused(2);
    assert!(sentence.contains("'backissue feeds --removed' lists them"), "{sentence}");
    program.run(&["unsubscribe", "orchard"]).with(0);
    program.run(&["mark", "read", "--all"]).with(0);
    let removed = program.run(&["feeds", "--removed", "--json"]).with(0).out;
    let removed: serde_json::Value = serde_json::from_str(&removed).unwrap();
    assert_eq!(each(removed.as_array().unwrap(), "title"), ["Orchard"]);
    assert_eq!((&removed[0]["unread"], &removed[0]["total"]), (&3.into(), &4.into()));
    let listed = program.run(&["feeds", "--removed"]).with(0).out;
    assert!(listed.contains("Orchard") && listed.contains("deleted in "), "{listed}");
    let told = program.run(&["subscribe-again", "orchard"]).with(0).out;
    assert_eq!(told, "subscribed again to 'Orchard'\n");
    assert_eq!(feeds(&program)[0]["unread"], 3, "with its marks");
    assert_eq!(program.run(&["feeds", "--removed"]).with(0).out, "");
    program.run(&["undo", "--yes"]).with(0);
    assert_eq!(each(&feeds(&program), "title"), ["Harbour"], "that can be undone, too");
}

#[test]
fn a_feed_that_ended_is_resumed_and_polled() {
    let status = Arc::new(AtomicU16::new(200));
    let told = Arc::clone(&status);
    let site =
        Site::start(move |_| answer(told.load(Ordering::Relaxed), &[], rss("Orchard", "e", 2)));
    let program = new_program();
    program.run(&["add", &site.at("/feed.xml")]).with(0);
    let sentence = program.run(&["resume", "orchard"]).refused(2);
    assert!(sentence.contains("has not ended"), "{sentence}");
    status.store(410, Ordering::Relaxed);
    program.run(&["poll", "orchard"]).with(1);
    assert_eq!(feeds(&program)[0]["state"], "gone");
    let resumed = program.run(&["resume", "orchard"]).with(1).out;
    assert!(resumed.starts_with("'Orchard' is polled again\n"), "{resumed}");
    assert_eq!(feeds(&program)[0]["state"], "gone", "it has still ended");
    status.store(200, Ordering::Relaxed);
    let resumed = program.run(&["resume", "orchard"]).with(0).out;
    assert!(resumed.contains("Orchard: 0 new, 0 edited"), "{resumed}");
    assert_eq!(feeds(&program)[0]["state"], "ok");
}

/// Subscribes to a feed and then polls it when it redirects permanently to an address whose document cannot be recognised as the
/// same feed, so that the program proposes the move.
fn moved() -> (Site, Program) {
    let status = Arc::new(AtomicU16::new(200));
    let told = Arc::clone(&status);
    let site = Site::start(move |request| match request.path() {
        "/old" if told.load(Ordering::Relaxed) == 200 => answer(200, &[], rss("Orchard", "a", 2)),
        "/old" => answer(301, &[("location", "/new")], ""),
        // Nothing in this document proves that it is the feed of `/old`.
        _ => answer(200, &[], rss("Harbour", "b", 0)),
    });
    let program = new_program();
    program.run(&["add", &site.at("/old")]).with(0);
    status.store(301, Ordering::Relaxed);
    let told = program.run(&["poll", "1"]).with(1).out;
    assert!(told.contains("nothing there proves that it is the same feed"), "{told}");
    assert_eq!(feeds(&program)[0]["proposed_url"], site.at("/new").as_str());
    (site, program)
}

#[test]
fn proposed_move_is_accepted_or_refused_and_undone() {
    let (site, program) = moved();
    let told = program.run(&["move", "1", "refuse"]).with(0).out;
    assert!(told.contains("stays at"), "{told}");
    assert_eq!(feeds(&program)[0]["proposed_url"], serde_json::Value::Null);
    let sentence = program.run(&["move", "1", "accept"]).refused(2);
    assert!(sentence.contains("no proposed address"), "{sentence}");
    program.run(&["undo"]).with(0);
    let told = program.run(&["move", "1", "accept"]).with(0).out;
    assert!(told.contains("is now read from") && told.contains(&site.at("/new")), "{told}");
    assert_eq!(each(&feeds(&program), "url"), [site.at("/new")]);
    program.run(&["undo"]).with(0);
    assert_eq!(each(&feeds(&program), "url"), [site.at("/old")]);
    program.run(&["move", "1", "perhaps"]).with(2);
}

#[test]
fn address_is_changed_by_move_and_by_set() {
    let site = Site::start(|request| match request.path() {
        "/old" => answer(200, &[], rss("Orchard", "a", 2)),
        "/new" => answer(200, &[], rss("Orchard", "a", 3)),
        _ => answer(404, &[], ""),
    });
    let program = new_program();
    program.run(&["add", &site.at("/old")]).with(0);
    program.run(&["mark", "read", "--all"]).with(0);
    let sentence = program.run(&["move", "1", &site.at("/none")]).refused(2);
    assert!(sentence.contains("answered 404") && sentence.contains("stays at"), "{sentence}");
    let sentence = program.run(&["set", "1", "--address", &site.at("/none"), "--pace", "more"]);
    let sentence = sentence.refused(2);
    assert!(sentence.contains("stays at"), "{sentence}");
    assert_eq!(feeds(&program)[0]["pace"], "normal", "nothing was changed");
    let told = program.run(&["move", "1", &site.at("/new")]).with(0).out;
    let first = format!("'Orchard' is now read from {} · 'backissue undo'", site.at("/new"));
    assert!(told.starts_with(&first) && told.contains("Orchard: 1 new, 0 edited"), "{told}");
    assert_eq!(
        (&feeds(&program)[0]["total"], &feeds(&program)[0]["unread"]),
        (&3.into(), &1.into())
    );
    program.run(&["undo"]).with(0);
    assert_eq!(each(&feeds(&program), "url"), [site.at("/old")]);
    let told = program.run(&["set", "1", "--address", &site.at("/new"), "--pace", "more"]).with(0);
    assert!(told.out.contains("is now read from") && told.out.contains("pace: "), "{told:?}");
    assert_eq!(each(&feeds(&program), "url"), [site.at("/new")]);
}
