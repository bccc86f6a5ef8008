//! OPML import and export through the real binary: nested outlines are tags, and a round trip loses nothing (UX 4).

use serde_json::{Value, json};

use super::new_program;
use crate::support::binary::Program;
use crate::support::documents::rss;
use crate::support::site::{Site, answer};

const NESTED: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<opml version="2.0">
  <head><title>My feeds</title></head>
  <body>
    <outline text="news">
      <outline text="coast">
        <outline type="rss" text="Tides &amp; &lt;Times&gt;" xmlUrl="http://tides.example/feed.xml" htmlUrl="http://tides.example/"/>
      </outline>
      <outline type="rss" text="Courier" xmlUrl="http://courier.example/feed?a=1&amp;b=2"/>
    </outline>
    <outline type="rss" text="Alone" xmlUrl="http://alone.example/feed.xml"/>
  </body>
</opml>
"#;

fn feeds(program: &Program) -> Vec<Value> {
    program.run(&["feeds", "--json"]).with(0).json().as_array().unwrap().clone()
}

/// Returns the address, title, tags, site and pace of each feed, sorted by address.
fn chosen(program: &Program) -> Vec<[Value; 5]> {
    let mut all: Vec<[Value; 5]> = feeds(program)
        .iter()
        .map(|feed| ["url", "title", "tags", "site", "pace"].map(|name| feed[name].clone()))
        .collect();
    all.sort_by_key(|feed| feed[0].to_string());
    all
}

fn imported(program: &Program, text: &str) -> String {
    let file = program.write("feeds.opml", text);
    program.run(&["import", &file]).with(0).out
}

#[test]
fn nested_outlines_become_tags() {
    let program = new_program();
    let told = imported(&program, NESTED);
    assert!(told.contains("3 added") && told.contains("0 already subscribed"), "{told}");
    let all = feeds(&program);
    let tags: Vec<&Value> = all.iter().map(|feed| &feed["tags"]).collect();
    assert_eq!(tags, [&json!(["news/coast"]), &json!(["news"]), &json!([])]);
    assert_eq!(all[0]["title"], "Tides & <Times>");
    assert_eq!(all[1]["url"], "http://courier.example/feed?a=1&b=2");
    assert!(all.iter().all(|feed| feed["state"] == "new"), "no feed was polled");
}

#[test]
fn known_feeds_are_reported_and_not_added_twice() {
    let program = new_program();
    imported(&program, NESTED);
    let told = imported(&program, NESTED);
    assert!(told.contains("0 added") && told.contains("3 already subscribed"), "{told}");
    assert_eq!(feeds(&program).len(), 3);
}

#[test]
fn the_same_feed_under_two_tags_is_one_subscription_with_both() {
    let program = new_program();
    let outline = r#"<outline text="T" xmlUrl="http://t.example/f"/>"#;
    let text = format!(
        r#"<opml version="2.0"><body><outline text="a">{outline}</outline><outline text="b">{outline}</outline></body></opml>"#
    );
    imported(&program, &text);
    let all = feeds(&program);
    assert_eq!(all.len(), 1);
    assert_eq!(all[0]["tags"], json!(["a", "b"]));
}

#[test]
fn import_is_undone_in_one_step() {
    let program = new_program();
    let told = imported(&program, NESTED);
    assert!(told.contains("'backissue undo --yes' reverts the import"), "{told}");
    let undone = program.run(&["undo", "--yes"]).with(0).out;
    assert_eq!(undone, "import undone: 3 feeds\n");
    assert_eq!(feeds(&program).len(), 0);
    assert_eq!(program.run(&["undo"]).with(0).err, "nothing to undo\n");
    imported(&program, NESTED);
    assert_eq!(feeds(&program).len(), 3, "the same list can be imported again");
}

#[test]
fn standard_input_is_read_too() {
    let program = new_program();
    program.run_with(&["import", "-"], NESTED.as_bytes()).with(0);
    assert_eq!(feeds(&program).len(), 3);
}

#[test]
fn bad_outline_is_reported_by_line_and_others_added() {
    let program = new_program();
    let text = "<opml version=\"2.0\"><body>\n<outline text=\"Good\" xmlUrl=\"http://good.example/f\"/>\n<outline text=\"Bad\" xmlUrl=\"not an address\"/>\n<outline type=\"rss\" text=\"None\"/>\n</body></opml>";
    let file = program.write("feeds.opml", text);
    let ended = program.run(&["import", &file]).with(1);
    assert!(ended.out.contains("1 added"), "{ended:#?}");
    assert!(ended.err.contains("not an address"), "{ended:#?}");
    assert_eq!(feeds(&program).len(), 1);
}

#[test]
fn a_round_trip_through_a_file_loses_nothing() {
    let (first, second) = (new_program(), new_program());
    imported(&first, NESTED);
    let title = "Own <title> & \"quotes\" 'n' ünïcödé 🌊";
    let add = ["add", "--no-poll", "http://own.example/f?x=1&y=2", "--title", title];
    first.run(&[&add[..], &["--tag", "a & b", "--tag", "news/coast"]].concat()).with(0);
    let file = first.path("out.opml");
    let file = file.to_str().unwrap();
    first.run(&["export", file]).with(0);
    second.run(&["import", file]).with(0);
    assert_eq!(chosen(&second), chosen(&first));
    assert_eq!(chosen(&second).len(), 4);
    // Exporting again after the import writes the same number of outlines, so repeated round trips add nothing.
    let once = std::fs::read_to_string(file).unwrap();
    let twice = second.run(&["export"]).with(0).out;
    let outlines = |text: &str| text.lines().filter(|line| line.contains("outline")).count();
    assert_eq!(outlines(&once), outlines(&twice));
}

#[test]
fn settings_of_our_own_travel() {
    let (first, second) = (new_program(), new_program());
    first.run(&["add", "--no-poll", "http://own.example/f", "--tag", "t"]).with(0);
    let exported = first.run(&["export"]).with(0).out;
    let (_, named) = exported.split_once("xmlns:").expect("a namespace for what is ours");
    let (prefix, _) = named.split_once('=').unwrap();
    let wished = exported.replace("xmlUrl=", &format!("{prefix}:pace=\"more\" xmlUrl="));
    second.run_with(&["import", "-"], wished.as_bytes()).with(0);
    assert_eq!(feeds(&second)[0]["pace"], "more");
    let third = new_program();
    third.run_with(&["import", "-"], second.run(&["export"]).with(0).out.as_bytes()).with(0);
    assert_eq!(feeds(&third)[0]["pace"], "more");
}

#[test]
fn an_export_is_opml_2_on_standard_output_or_dash() {
    let program = new_program();
    imported(&program, NESTED);
    let plain = program.run(&["export"]).with(0).out;
    assert!(plain.starts_with("<?xml") && plain.contains("<opml version=\"2.0\""), "{plain}");
    assert!(plain.contains("&amp;b=2"), "{plain}");
    assert_eq!(program.run(&["export", "-"]).with(0).out, plain);
}

#[test]
fn an_export_of_nothing_can_be_imported() {
    let (first, second) = (new_program(), new_program());
    let empty = first.run(&["export"]).with(0).out;
    let told = second.run_with(&["import", "-"], empty.as_bytes()).with(0);
    assert!(told.out.contains("0 added"), "{told:#?}");
}

#[test]
fn invalid_opml_is_refused_with_an_error() {
    let program = new_program();
    for text in [
        "hello".as_bytes(),
        b"",
        b"<rss version=\"2.0\"><channel/></rss>",
        b"<!doctype html><html><body>page</body></html>",
        b"{\"feeds\": []}",
        &[0, 159, 146, 150],
    ] {
        let file = program.write("other.txt", text);
        let told = program.run(&["import", &file]).refused(2);
        assert!(told.contains("other.txt"), "{told}");
        assert!(told.to_uppercase().contains("OPML"), "it says what was expected: {told}");
    }
    assert_eq!(feeds(&program).len(), 0);
}

#[test]
fn missing_import_file_is_reported() {
    let told = new_program().run(&["import", "no-such-file.opml"]).refused(2);
    assert!(told.contains("no-such-file.opml"), "{told}");
}

#[test]
fn truncated_file_is_imported_as_far_as_it_goes() {
    let program = new_program();
    let cut = NESTED.find("<outline type=\"rss\" text=\"Alone\"").unwrap() + 20;
    let file = program.write("cut.opml", &NESTED[..cut]);
    let ended = program.run(&["import", &file]).with(1);
    assert!(ended.out.contains("2 added"), "{ended:#?}");
    assert_eq!(ended.err.lines().count(), 1, "{ended:#?}");
    assert!(ended.err.contains("line 11: the list is cut off"), "{ended:#?}");
    assert_eq!(feeds(&program).len(), 2);
}

#[test]
fn a_file_cut_off_before_its_first_feed_is_refused() {
    let program = new_program();
    let cut = NESTED.find("<outline type").unwrap();
    let file = program.write("cut.opml", &NESTED[..cut]);
    let told = program.run(&["import", &file]).refused(2);
    assert!(told.contains("cut.opml"), "{told}");
}

#[test]
fn other_encodings_and_spellings_are_read() {
    let program = new_program();
    let latin = b"<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?><opml version=\"1.1\"><body><outline title=\"Caf\xe9\" xmlurl=\"http://cafe.example/f\"/></body></opml>";
    let file = program.write("latin.opml", latin);
    program.run(&["import", &file]).with(0);
    assert_eq!(feeds(&program)[0]["title"], "Café");
}

#[test]
fn unread_feed_gets_its_title_after_a_round_trip() {
    let site = Site::start(|_| answer(200, &[], rss("Orchard", "e", 1)));
    let (first, second) = (new_program(), new_program());
    first.run(&["add", "--no-poll", &site.at("/f")]).with(0);
    let exported = first.run(&["export"]).with(0).out;
    second.run_with(&["import", "-"], exported.as_bytes()).with(0);
    second.run(&["poll"]).with(0);
    assert_eq!(feeds(&second)[0]["title"], "Orchard");
}
