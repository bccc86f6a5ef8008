//! Marking entries with the `mark` command, and undoing it.

use serde_json::json;

use super::{each, entries, feeds, new_program};
use crate::support::binary::Program;
use crate::support::site::{Site, answer};

/// Returns a program subscribed to two feeds: Orchard with four entries and Harbour with three. The first entry is of 1 March 2026,
/// and each further entry is a day newer.
pub(super) fn two_feeds() -> (Site, Program) {
    let site = site();
    let program = new_program();
    add_feeds(&site, &program);
    (site, program)
}

/// Starts a site with the feeds Orchard and Harbour.
pub(super) fn site() -> Site {
    Site::start(|request| match request.path() {
        "/orchard" => answer(200, &[], feed("Orchard", 4)),
        "/harbour" => answer(200, &[], feed("Harbour", 3)),
        _ => answer(404, &[], ""),
    })
}

/// Subscribes to both feeds of `site`, each with a tag.
pub(super) fn add_feeds(site: &Site, program: &Program) {
    program.run(&["add", &site.at("/orchard"), "--tag", "garden/fruit"]).with(0);
    program.run(&["add", &site.at("/harbour"), "--tag", "coast"]).with(0);
}

fn feed(title: &str, days: u32) -> String {
    let item = |day: u32| {
        format!(
            "<item><guid isPermaLink=\"false\">{title}{day}</guid><title>{title} frost {day}</title>\
             <link>https://site.example/{title}/{day}</link><pubDate>0{day} Mar 2026 12:00:00 GMT</pubDate></item>"
        )
    };
    let items: String = (1..=days).rev().map(item).collect();
    format!(
        "<rss version=\"2.0\"><channel><title>{title}</title><link>https://site.example/</link>\
         <description/>{items}</channel></rss>"
    )
}

/// Returns the number of unread entries of each feed.
fn unread(program: &Program) -> Vec<u64> {
    feeds(program).iter().map(|feed| feed["unread"].as_u64().unwrap()).collect()
}

#[track_caller]
fn mark(program: &Program, args: &[&str], expected: u32) {
    let marked = program.run(&[&["mark"], args, &["--json"]].concat()).with(0);
    assert_eq!(marked.json(), json!({ "marked": expected, "as": args[0] }), "{args:?}");
}

#[test]
fn entries_are_marked_by_combined_criteria() {
    let (_site, program) = two_feeds();
    let told = program.run(&["mark", "read", "1.0", "2.1"]).with(0);
    assert_eq!(told.out, "2 marked read · 'backissue undo' reverts it\n");
    assert_eq!(unread(&program), [3, 2]);
    mark(&program, &["unread", "--all"], 2);
    mark(&program, &["read", "--feed", "orch", "--before", "2026-03-03"], 2);
    assert_eq!(unread(&program), [2, 3]);
    mark(&program, &["read", "--search", "frost 3"], 2);
    mark(&program, &["unread", "--search", "frost 3", "--feed", "harbour"], 1);
    assert_eq!(unread(&program), [1, 3]);
    mark(&program, &["read", "--tag", "garden"], 1);
    mark(&program, &["read", "--feed", "1", "--feed", "2", "--tag", "coast"], 3);
    assert_eq!(unread(&program), [0, 0]);
    mark(&program, &["unread", "--before", "2026-03-01T12:00:00Z"], 0);
    mark(&program, &["unread", "--before", "2026-03-01T12:00:01Z"], 2);
    mark(&program, &["starred", "--search", "title:harbour is:unread"], 1);
    assert_eq!(each(&entries(&program, &["--starred"]), "title"), ["Harbour frost 1"]);
    mark(&program, &["unstarred", "--all"], 1);
}

#[test]
fn mark_without_effect_says_so_and_succeeds() {
    let (_site, program) = two_feeds();
    let told = program.run(&["mark", "unread", "--all"]).with(0).out;
    assert_eq!(told, "0 marked unread: all matching entries are already unread\n");
    let told = program.run(&["mark", "read", "--search", "tulips"]).with(0).out;
    assert_eq!(told, "0 marked read: no entry matches\n");
}

#[test]
fn invalid_mark_is_refused_before_any_change() {
    let (_site, program) = two_feeds();
    for (args, part) in [
        (&["read", "1.0", "1.9"][..], "no entry 1.9"),
        (&["read", "1.0", "one"], "is not an entry number"),
        (&["read", "--feed", "orchard", "--feed", "moon"], "no subscription is called 'moon'"),
        (&["read", "--tag", "moon"], "no subscription has the tag 'moon'"),
        (&["read", "--search", "..."], "no search word"),
        (&["read", "--search", ""], "no search word"),
        (&["read", "--search", "is:gap"], "a gap cannot be marked"),
        (&["read", "--before", "March"], "is not a date"),
    ] {
        let sentence = program.run(&[&["mark"], args].concat()).refused(2);
        assert!(sentence.contains(part), "{args:?}: {sentence}");
    }
    program.run(&["mark", "read"]).with(2);
    program.run(&["mark", "read", "1.0", "--all"]).with(2);
    program.run(&["mark", "seen", "1.0"]).with(2);
    assert_eq!(unread(&program), [4, 3]);
}

#[test]
fn changes_are_undone_one_by_one_by_later_processes() {
    let (site, program) = two_feeds();
    mark(&program, &["read", "--feed", "orchard"], 4);
    mark(&program, &["starred", "2.0"], 1);
    assert_eq!(program.run(&["undo"]).with(0).out, "undone: 1 starred\n");
    assert_eq!((unread(&program), entries(&program, &["--starred"])), (vec![0, 3], vec![]));
    assert_eq!(program.run(&["undo"]).with(0).out, "undone: 4 marked read\n");
    assert_eq!(unread(&program), [4, 3]);
    for title in ["Harbour", "Orchard"] {
        let undone = program.run(&["undo", "--yes"]).with(0).out;
        assert_eq!(undone, format!("unsubscribed from '{title}'\n"));
    }
    let (first, second) = (site.at("/gone"), site.at("/orchard"));
    program.run(&["add", "--no-poll", &first]).with(0);
    program.run(&["add", "--no-poll", &second]).with(0);
    program.run(&["undo", "--yes"]).with(0);
    let listed = program.run(&["feeds"]).with(0).out;
    assert!(listed.contains("/gone") && !listed.contains("/orchard"), "{listed}");
    program.run(&["undo", "--yes"]).with(0);
    let nothing = program.run(&["undo"]).with(0);
    assert_eq!((nothing.out.as_str(), nothing.err.as_str()), ("", "nothing to undo\n"));
}

#[test]
fn entries_are_labelled_by_their_numbers() {
    let (_site, program) = two_feeds();
    let labelled = |name: &str| {
        let query = format!("label:{name}");
        entries(&program, &["--search", &query]).len()
    };
    let done = program.run(&["label", "#later", "1.0", "1.1", "2.0"]).with(0).out;
    assert_eq!(done, "3 entries labelled 'later' · 'backissue undo' reverts it\n");
    assert_eq!(labelled("later"), 3);
    program.run(&["label", "later", "2.0", "--remove"]).with(0);
    assert_eq!(labelled("later"), 2);
    assert!(program.run(&["label", "later", "9.9"]).refused(2).contains("there is no entry 9.9"));
}

#[test]
fn unread_prints_a_total_or_counts_per_feed() {
    let (site, program) = two_feeds();
    assert_eq!(program.run(&["unread"]).with(0).out, "7\n");
    assert_eq!(program.run(&["unread", "harbour"]).with(0).out, "3\n");
    program.run(&["unread", "moon"]).refused(2);
    mark(&program, &["read", "--feed", "harbour"], 3);
    mark(&program, &["starred", "2.0"], 1);
    let expected = json!({ "unread": 4, "unread_in_quiet_feeds": 0, "starred": 1, "feeds": [{
        "number": 1, "title": "Orchard", "url": site.at("/orchard"), "tags": ["garden/fruit"],
        "unread": 4,
    }]});
    assert_eq!(program.run(&["unread", "--json"]).with(0).json(), expected);
    assert_eq!(program.run(&["unread", "--json"]).with(0).json(), expected);
    program.run(&["unsubscribe", "orchard"]).with(0);
    assert_eq!(program.run(&["unread"]).with(0).out, "0\n");
}

#[test]
fn feeds_are_listed_by_words_tags_and_state() {
    let (site, program) = two_feeds();
    let listed = |args: &[&str]| {
        let values = program.run(&[&["feeds", "--json"], args].concat()).with(0).json();
        each(values.as_array().unwrap(), "title").join(" ")
    };
    assert_eq!(listed(&["ORCH", "fruit"]), "Orchard");
    assert_eq!(listed(&["orch harbour"]), "");
    assert_eq!(listed(&["127.0.0.1"]), "Orchard Harbour");
    assert_eq!(listed(&["--tag", "Garden"]), "Orchard");
    assert_eq!(listed(&["--tag", "garden", "--tag", "coast"]), "Orchard Harbour");
    mark(&program, &["read", "--feed", "harbour"], 3);
    assert_eq!(listed(&["--unread"]), "Orchard");
    assert_eq!(listed(&["--failing"]), "");
    program.run(&["add", &site.at("/gone"), "--no-poll"]).with(0);
    program.run(&["poll", "3"]).with(1);
    assert_eq!(program.run(&["feeds", "--failing"]).with(0).out.lines().count(), 1);
    let text = program.run(&["feeds", "--tag", "garden"]).with(0).out;
    assert!(text.contains(&format!("Orchard  {}  #garden/fruit\n", site.at("/orchard"))), "{text}");
    let none = program.run(&["feeds", "moon"]).with(0);
    assert!(none.out.is_empty() && none.err.contains("no subscription matches"), "{none:?}");
}

#[test]
fn a_mark_reads_the_same_link_of_another_feed() {
    let site = Site::start(|request| {
        let other = feed("Orchard", 2)
            .replace("isPermaLink=\"false\">Orchard", "isPermaLink=\"false\">Again");
        match request.path() {
            "/orchard" => answer(200, &[], feed("Orchard", 4)),
            "/again" => answer(200, &[], other),
            _ => answer(404, &[], ""),
        }
    });
    let program = new_program();
    program.run(&["add", &site.at("/orchard")]).with(0);
    program.run(&["add", &site.at("/again")]).with(0);
    assert_eq!(unread(&program), [4, 2]);
    mark(&program, &["read", "1.0"], 1);
    mark(&program, &["read", "2.0"], 2);
    assert_eq!(unread(&program), [2, 1], "both have Orchard/2");
    program.run(&["undo"]).with(0);
    assert_eq!(unread(&program), [3, 2]);
}
