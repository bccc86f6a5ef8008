//! `backissue search`, through the real binary.

use super::{each, new_program};
use crate::support::binary::Program;
use crate::support::site::{Site, answer};

const NOTES: &str = "<rss version=\"2.0\"><channel><title>Orchard Notes</title>\
    <link>https://site.example/</link><description/>\
    <item><guid isPermaLink=\"false\">a</guid><title>Frost report</title><pubDate>Mon, 02 Feb 2026 10:00:00 GMT</pubDate>\
    <description><![CDATA[<p>The late frost of the <b>tenth</b> came in the café.</p>]]></description></item>\
    <item><guid isPermaLink=\"false\">b</guid><title>Grafting wax</title><pubDate>Tue, 04 Mar 2014 10:00:00 GMT</pubDate>\
    <description><![CDATA[<p>Wax keeps the frost out.</p>]]></description></item></channel></rss>";

fn program() -> Program {
    let site = Site::start(|request| match request.path() {
        "/feed.xml" => answer(200, &[], NOTES),
        _ => answer(404, &[], ""),
    });
    let program = new_program();
    program.run(&["add", &site.at("/feed.xml"), "--tag", "garden"]).with(0);
    program
}

#[test]
fn entries_are_found_best_first_with_their_hits_marked() {
    let program = program();
    let found = program.run(&["search", "frost", "--json"]).with(0).json();
    let found = found.as_array().unwrap().clone();
    assert_eq!(each(&found, "title"), ["Frost report", "Grafting wax"]);
    assert_eq!(found[0]["snippet"], "The late «frost» of the tenth came in the café.");
    assert!(found[0]["score"].as_f64().unwrap() > found[1]["score"].as_f64().unwrap());
    let fields = ["kind", "number", "feed", "feed_title", "link", "listed", "read", "starred"];
    assert!(fields.iter().all(|field| found[0].get(field).is_some()), "{found:#?}");
    let text = program.run(&["search", "\"late frost\" CAFE"]).with(0);
    assert!(text.out.contains("Frost report  · Orchard Notes"), "{text:#?}");
    assert!(text.out.contains("The «late frost» of the tenth came in the «café»."), "{text:#?}");
}

#[test]
fn fields_dates_and_exclusion_narrow_the_search() {
    let program = program();
    for (query, expected) in [
        (vec!["frost", "before:2015"], vec!["Grafting wax"]),
        (vec!["feed:orchard tag:garden title:frost"], vec!["Frost report"]),
        (vec!["--", "frost", "-wax"], vec!["Frost report"]),
        (vec!["frost -title:wax"], vec!["Frost report"]),
        (vec!["is:unread", "--limit", "1"], vec!["Frost report"]),
        (vec!["nowhere"], vec![]),
        (vec!["is:gap"], vec![]),
    ] {
        let json = vec!["search", "--json"];
        let found = program.run(&[json, query.clone()].concat()).with(0).json();
        assert_eq!(each(found.as_array().unwrap(), "title"), expected, "{query:?}");
    }
    let nothing = program.run(&["search", "nowhere"]).with(0);
    assert_eq!((nothing.out.as_str(), nothing.err.as_str()), ("", "nothing found\n"));
    // A label may be asked for before the first entry has it.
    let nothing = program.run(&["search", "label:later"]).with(0);
    assert_eq!(nothing.err, "nothing found\n");
    assert_eq!(program.run(&["search", "--", "frost", "-label:later"]).with(0).err, "");
}

#[test]
fn invalid_query_is_refused_in_a_sentence() {
    let program = program();
    for (query, part) in [
        ("titel:frost", "did you mean 'title:'?"),
        ("after:soon", "is not a date"),
        ("feed:nobody", "no subscription is called 'nobody'"),
        ("tag:none", "no subscription has the tag 'none'"),
    ] {
        let sentence = program.run(&["search", query]).refused(2);
        assert!(sentence.contains(part), "{sentence}");
    }
}
