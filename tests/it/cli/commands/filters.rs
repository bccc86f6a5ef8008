//! Filters for entries, through the real binary.

use backissue::filters::{EntryFilter, FilterScope};
use backissue::io::store::Store;

use super::{each, entries, new_program};
use crate::support::site::{Site, answer};

const NOTES: &str = "<rss version=\"2.0\"><channel><title>Orchard Notes</title>\
    <link>https://site.example/</link><description/>\
    <item><guid isPermaLink=\"false\">a</guid><title>Sponsored: ladders</title></item>\
    <item><guid isPermaLink=\"false\">b</guid><title>Grafting wax</title></item></channel></rss>";

#[test]
fn what_arrives_is_judged_and_hidden_entries_are_listed_only_if_asked_for() {
    let site = Site::start(|_| answer(200, &[], NOTES));
    let program = new_program();
    let rule = EntryFilter {
        id: 7,
        title: "sponsored".into(),
        scope: FilterScope::Tag("garden".into()),
        ..EntryFilter::default()
    };
    // Before the first command: nobody has the store open yet.
    Store::open(&program.data()).unwrap().save_filters(&[rule]).unwrap();
    program.run(&["add", &site.at("/feed.xml"), "--tag", "garden"]).with(0);
    let shown = entries(&program, &[]);
    assert_eq!(each(&shown, "title"), ["Grafting wax"]);
    assert!(shown[0].get("hidden").is_none());
    let hidden = entries(&program, &["--hidden"]);
    assert_eq!(each(&hidden, "title"), ["Sponsored: ladders"]);
    assert_eq!(hidden[0]["hidden"], true);
    let found = program.run(&["search", "is:hidden", "--json"]).with(0).json();
    assert_eq!(each(found.as_array().unwrap(), "title"), ["Sponsored: ladders"]);
    let rules = program.run(&["rules", "--json"]).with(0).json();
    assert_eq!(rules[0]["about"], "title ~ sponsored, tag garden");
    assert_eq!((&rules[0]["hits"], &rules[0]["hidden"]), (&1.into(), &1.into()));
    let text = program.run(&["filters"]).with(0).out;
    assert!(text.contains("hide: title ~ sponsored, tag garden"), "{text}");
}

#[test]
fn without_filters_the_list_is_empty() {
    let program = new_program();
    assert_eq!(program.run(&["filters", "--json"]).with(0).json(), serde_json::json!([]));
}
