//! Filters for entries, through the real binary.

use backissue::io::store::Store;
use backissue_core::filters::{EntryFilter, FilterScope};

use super::marks::two_feeds;
use super::{each, entries, new_program};
use crate::support::site::{Site, answer};

const NOTES: &str = "<rss version=\"2.0\"><channel><title>Orchard Notes</title>\
    <link>https://site.example/</link><description/>\
    <item><guid isPermaLink=\"false\">a</guid><title>Sponsored: ladders</title></item>\
    <item><guid isPermaLink=\"false\">b</guid><title>Grafting wax</title></item></channel></rss>";

#[test]
fn new_entries_are_filtered_and_hidden_unless_requested() {
    let site = Site::start(|_| answer(200, &[], NOTES));
    let program = new_program();
    let rule = EntryFilter {
        id: 7,
        query: "title:sponsored feed:orchard".into(),
        scope: FilterScope::Tag("garden".into()),
        ..EntryFilter::default()
    };
    // The test may open the store here: no other process opens it before the first command.
    Store::open(&program.data()).unwrap().save_filters(&[rule]).unwrap();
    program.run(&["add", &site.at("/feed.xml"), "--tag", "garden"]).with(0);
    let shown = entries(&program, &[]);
    assert_eq!(each(&shown, "title"), ["Grafting wax"]);
    assert!(shown[0].get("hidden").is_none());
    let hidden = entries(&program, &["--hidden"]);
    assert_eq!(each(&hidden, "title"), ["Sponsored: ladders"]);
    let found = entries(&program, &["--search", "wax OR ladders"]);
    assert_eq!(each(&found, "title"), ["Grafting wax"]);
    let found = entries(&program, &["--hidden", "--search", "wax OR ladders"]);
    assert_eq!(each(&found, "title"), ["Sponsored: ladders"]);
    let wrong = program.run(&["entries", "--search", "wax titel:x"]).refused(2);
    assert!(wrong.contains("character 5: there is no field 'titel:'"), "{wrong}");
    assert_eq!(hidden[0]["hidden"], true);
    let found = program.run(&["search", "is:hidden", "--json"]).with(0).json();
    assert_eq!(each(found.as_array().unwrap(), "title"), ["Sponsored: ladders"]);
    let rules = program.run(&["rules", "--json"]).with(0).json();
    assert_eq!(rules[0]["about"], "title:sponsored feed:orchard, tag garden");
    assert_eq!((&rules[0]["hits"], &rules[0]["hidden"]), (&1.into(), &1.into()));
    let text = program.run(&["filters"]).with(0).out;
    assert!(text.contains("hide: title:sponsored feed:orchard, tag garden"), "{text}");
}

#[test]
fn cli_filter_applies_at_once_and_is_undone() {
    let (_site, program) = two_feeds();
    let args = ["filters", "add", "--hide", "--tag", "garden", "--title", "/frost [12]$/"];
    assert_eq!(
        program.run(&args).with(0).out,
        "filter 1: hide: title:/frost [12]$/, tag garden; matches 2 entries · 'backissue undo' reverts it\n"
    );
    assert_eq!(program.run(&["unread"]).with(0).out, "5\n");
    let args = ["filters", "add", "--label", "#cold", "--feed", "harbour", "--until", "2w"];
    let told = program.run(&args).with(0).out;
    assert!(told.contains("label #cold") && told.contains("matches 3 entries"), "{told}");
    let listed = program.run(&["filters"]).with(0).out;
    assert!(listed.starts_with("    1      2 matched     2 hidden  hide: title:/"), "{listed}");
    let told = program.run(&["filters", "remove", "1"]).with(0).out;
    assert!(told.starts_with("filter 1 was removed: hide: title:/"), "{told}");
    assert_eq!(program.run(&["unread"]).with(0).out, "7\n");
    program.run(&["undo"]).with(0);
    assert_eq!(program.run(&["unread"]).with(0).out, "5\n");
    program.run(&["undo"]).with(0);
    program.run(&["undo"]).with(0);
    assert_eq!(program.run(&["filters", "--json"]).with(0).json(), serde_json::json!([]));
    assert_eq!(program.run(&["unread"]).with(0).out, "7\n");
}

#[test]
fn invalid_filter_is_refused_in_one_sentence() {
    let (_site, program) = two_feeds();
    for (args, part) in [
        (&["add", "--star"][..], "every entry"),
        (&["add", "--star", "--title", "/(/"], "unclosed group"),
        (&["add", "--star", "--title", "\"\""], "contains no word"),
        (&["add", "--star", "wax titel:frost"], "character 5: there is no field 'titel:'"),
        (&["add", "--star", "--feed", "moon"], "no subscription is called 'moon'"),
        (&["add", "--star", "--title", "wax", "--until", "soon"], "soon"),
        (&["remove", "9"], "there is no filter 9"),
    ] {
        let sentence = program.run(&[&["filters"], args].concat()).refused(2);
        assert!(sentence.contains(part), "{args:?}: {sentence}");
    }
    program.run(&["filters", "add", "--title", "wax"]).with(2);
    program.run(&["filters", "add", "--star", "--hide", "--title", "wax"]).with(2);
    program.run(&["filters", "remove", "first"]).with(2);
    assert_eq!(program.run(&["filters", "--json"]).with(0).json(), serde_json::json!([]));
}

#[test]
fn without_filters_the_list_is_empty() {
    let program = new_program();
    assert_eq!(program.run(&["filters", "--json"]).with(0).json(), serde_json::json!([]));
}
