//! Exports of the state of all entries and of chosen entries, and their way back.

use std::collections::BTreeMap;
use std::fs;
use std::sync::atomic::{AtomicU32, Ordering};

use backissue_core::feed::{Kind, Origin, parse};
use serde_json::Value;

use super::{entries, ids, row};
use crate::support::binary::{Program, StoreOwner, ended};
use crate::support::documents::rss;
use crate::support::site::{Site, answer};

/// Starts a site with two feeds. The first loses its oldest five entries after the first request.
fn site() -> Site {
    let asked = AtomicU32::new(0);
    Site::start(move |request| match request.path_and_query.as_str() {
        "/a.xml" if asked.fetch_add(1, Ordering::Relaxed) > 0 => {
            let all = rss("Orchard", "e", 20);
            let (kept, lost) = all.split_once("<item><guid isPermaLink=\"false\">e-5<").unwrap();
            let end = lost.rfind("</item>").unwrap() + "</item>".len();
            answer(200, &[], [kept, &lost[end..]].concat())
        }
        "/a.xml" => answer(200, &[], rss("Orchard", "e", 20)),
        _ => answer(200, &[], rss("Sea", "s", 5)),
    })
}

/// Makes a store with marks, labels, a title and tags, and writes its state to a file. Returns the file's path.
fn moved_out(site: &Site) -> (Program, String) {
    let program = Program::new();
    let (first, second) = (site.at("/a.xml"), site.at("/b.xml"));
    program.run(&["add", &first, "--title", "My <orchard>", "--tag", "garden/fruit"]).with(0);
    program.run(&["add", &second]).with(0);
    program.run(&["set", "My", "--pace", "more"]).with(0);
    for (action, query) in [
        ("read", "feed:orchard title:/[13579]$/"),
        ("starred", "title:e title:/^e (3|4|8)$/"),
        ("read", "feed:sea title:5"),
    ] {
        program.run(&["mark", action, "--search", query]).with(0);
    }
    program.run(&["filters", "add", "--label", "frost", "--title", "/^(e (2|6)|s 1)$/"]).with(0);
    let file = program.path("state.jsonl");
    let file = file.to_str().unwrap().to_owned();
    let done = program.run(&["export", "--state", &file]).with(0);
    assert!(done.err.contains("2 subscriptions and 25 entries written"), "{done:?}");
    (program, file)
}

/// Returns the lines of a kind in a state, without what a poll brings.
fn lines(text: &str, kind: &str) -> BTreeMap<String, Value> {
    let values = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let of_kind = values.filter(|value| value["kind"] == kind);
    of_kind
        .map(|value| {
            (
                format!("{} {}", value["feed"], value["id"])
                    + value["url"].as_str().unwrap_or_default(),
                value,
            )
        })
        .collect()
}

#[test]
fn the_state_comes_back_before_and_after_a_poll() {
    for (owner, is_polled) in
        [(StoreOwner::Nobody, true), (StoreOwner::Nobody, false), (StoreOwner::Service, false)]
    {
        let site = site();
        let (from, file) = moved_out(&site);
        let before = fs::read_to_string(&file).unwrap();
        let program = Program::owned_by(owner);
        if is_polled {
            program.run(&["add", &site.at("/a.xml"), &site.at("/b.xml"), "--title", ""]).with(0);
        }
        let dry = program.run(&["import", "--dry-run", &file]).with(0);
        assert_eq!(row(&dry.out, "labels"), ["1", "1"], "{dry:?}");
        let done = program.run(&["import", &file]).with(0);
        for (what, numbers) in
            [("feeds", ["2", "2"]), ("read entries", ["11", "11"]), ("starred entries", ["3", "3"])]
        {
            assert_eq!(row(&done.out, what), numbers, "{done:?}");
        }
        program.run(&["poll", "--all"]).with(0);
        let after = program.run(&["export", "--state"]).with(0).out;
        let (old, mut new) = (lines(&before, "entry"), lines(&after, "entry"));
        // No feed has these any more, and nobody chose to keep them.
        let gone: Vec<&Value> = old
            .iter()
            .filter(|(key, _)| !new.contains_key(*key))
            .map(|(_, it)| &it["id"])
            .collect();
        assert_eq!(gone, ["e-1", "e-5"], "{is_polled}");
        new.retain(|key, _| old.contains_key(key));
        assert_eq!(new.len(), 23);
        for (key, entry) in &new {
            assert_eq!(entry, &old[key], "{owner:?} {is_polled}");
        }
        let (old, new) = (lines(&before, "feed"), lines(&after, "feed"));
        if !is_polled {
            assert_eq!(old, new);
        }
        for (key, feed) in &new {
            assert_eq!(feed["tags"], old[key]["tags"]);
        }
        program.run(&["doctor"]).with(0);
        drop(from);
    }
}

#[test]
fn undo_of_an_import_ends_waiting_for_entries() {
    let site = site();
    let (_from, file) = moved_out(&site);
    let program = Program::new();
    program.run(&["add", "--no-poll", &site.at("/a.xml"), &site.at("/b.xml")]).with(0);
    program.run(&["import", &file]).with(0);
    let labels = |program: &Program| {
        let filters = program.run(&["filters", "--json"]).with(0).json();
        filters.as_array().map(Vec::len)
    };
    assert_eq!(
        (entries(&program, &[]).len(), labels(&program)),
        (6, Some(1)),
        "starred and labelled ones"
    );
    program.run(&["undo", "--yes"]).with(0);
    program.run(&["poll", "--all"]).with(0);
    let all = entries(&program, &[]);
    let marked = [ids(&all, "read"), ids(&all, "starred")].concat();
    // What was added with its text stays, as an entry of a history that counts as read.
    let added = ["e-2", "e-3", "e-4", "e-6", "e-8", "s-1"];
    assert!(marked.iter().all(|id| added.contains(&id.as_str())), "{marked:?}");
    assert_eq!((ids(&all, "starred").len(), labels(&program)), (0, Some(0)));
    let next = program.run(&["undo", "--yes"]).with(0).out;
    assert!(next.starts_with("unsubscribed from"), "the import was one step: {next}");
}

#[test]
fn bad_lines_and_cut_files_lose_nothing_else() {
    let site = site();
    let (_from, file) = moved_out(&site);
    let text = fs::read_to_string(&file).unwrap();
    let program = Program::new();
    let bad = program.path("bad.jsonl");
    let cut: String = text.lines().take(6).collect::<Vec<_>>().join("\n");
    fs::write(&bad, format!("{cut}\n{{\"kind\":\"feed\",\"url\":3}}\n{{\"kind\":\"en")).unwrap();
    let done = program.run(&["import", bad.to_str().unwrap()]).with(1);
    for part in ["line 7: it is not valid", "line 8: the list is cut off"] {
        assert!(done.err.contains(part), "{part} {done:?}");
    }
    assert!(done.out.starts_with("2 added"), "{done:?}");
    let newer = text.replace("\"version\":1", "\"version\":99");
    fs::write(&bad, newer).unwrap();
    let why = program.run(&["import", bad.to_str().unwrap()]).refused(2);
    assert!(why.contains("a newer version of backissue wrote it"), "{why}");
    // A file of another kind is not overwritten.
    let why = program.run(&["export", "--state", program.path("list.md").to_str().unwrap()]);
    why.with(0);
    fs::write(&bad, "my notes").unwrap();
    let why = program.run(&["export", "--state", bad.to_str().unwrap()]).refused(2);
    assert!(why.contains("the existing file is not a state of entries"), "{why}");
    program.run(&["export", "--state", "--starred"]).with(2);
    program.run(&["export", "--format", "markdown"]).with(2);
}

/// Returns a site with an entry whose title and text are hostile.
fn hostile_site() -> Site {
    let feed = "<rss version=\"2.0\"><channel><title>A &amp; B</title><link>https://a.example/</link>\
        <item><guid>1</guid><title>Tags &amp;lt;b&amp;gt; &#x202e;&amp; \"quotes\" *stars*</title>\
        <link>https://a.example/?a=1&amp;b=\"2\"</link><author>ann@a.example (Ann)</author>\
        <category>fruit, sour</category><enclosure url=\"https://a.example/1.mp3\" type=\"audio/mpeg\" length=\"7\"/>\
        <description>&lt;h2&gt;Head_line&lt;/h2&gt;&lt;p&gt;One &lt;b&gt;bold&lt;/b&gt; &lt;a href=\"/x\"&gt;link&lt;/a&gt;&#x9b;31m&lt;/p&gt;</description>\
        <pubDate>Mon, 02 Mar 2026 10:00:00 GMT</pubDate></item>\
        <item><guid isPermaLink=\"false\">2</guid><title>No page</title><description>text</description></item></channel></rss>";
    Site::start(move |_| answer(200, &[], feed))
}

#[test]
fn starred_entries_become_bookmarks() {
    let site = hostile_site();
    let program = Program::new();
    program.run(&["add", &site.at("/feed")]).with(0);
    program.run(&["mark", "starred", "--search", "is:unread"]).with(0);
    program.run(&["filters", "add", "--label", "fruit,sour", "--title", "tags"]).with(0);
    let done = program.run(&["export", "--starred"]).with(0);
    assert!(done.err.contains("1 entry without a web page left out"), "{done:?}");
    let lines: Vec<&str> = done.out.lines().collect();
    assert_eq!(lines[0], "<!DOCTYPE NETSCAPE-Bookmark-file-1>");
    assert_eq!(
        lines[5..],
        [
            "    <DT><A HREF=\"https://a.example/?a=1&amp;b=&quot;2\" ADD_DATE=\"1772445600\" TAGS=\"fruit sour\">\
             Tags &lt;b&gt; &amp; &quot;quotes&quot; *stars*</A>",
            "    <DD>A &amp; B",
            "</DL><p>"
        ]
    );
}

#[test]
fn json_feed_of_entries_is_read_back() {
    let site = hostile_site();
    let program = Program::new();
    program.run(&["add", &site.at("/feed")]).with(0);
    program.run(&["mark", "starred", "--search", "is:unread"]).with(0);
    let file = program.path("starred.json");
    let path = file.to_str().unwrap();
    let done = program.run(&["export", "--starred", path]).with(0);
    assert!(done.err.contains("2 entries written"), "{done:?}");
    let bytes = fs::read(&file).unwrap();
    assert!(!bytes.iter().any(|byte| *byte < b' ' && *byte != b'\n'), "no control characters");
    let read = parse(&bytes, &Origin { url: None, content_type: None });
    assert_eq!((read.kind, read.flaws.len()), (Kind::Json, 0), "{:?}", read.flaws);
    let [second, first] = read.entries.as_slice() else { panic!("{:?}", read.entries) };
    assert_eq!((first.id.as_str(), second.id.as_str()), ("1", "2"));
    assert_eq!(first.title.as_deref(), Some("Tags <b> & \"quotes\" *stars*"));
    assert_eq!(first.author.as_deref(), Some("Ann"));
    assert!(first.content.as_deref().unwrap().contains("<a href=\"https://a.example/x\">link</a>"));
    assert_eq!((first.enclosures[0].length, first.categories.len()), (Some(7), 1));
    assert_eq!(first.published.unwrap().timestamp(), 1_772_445_600);
    let secret = Program::new();
    secret.run(&["add", &site.at("/feed?apikey=1")]).with(0);
    secret.run(&["import", path]).with(0);
    assert_eq!(secret.run(&["feeds", "--json"]).with(0).out.matches("apikey=1").count(), 1);
    assert_eq!(secret.run(&["feeds", "--json"]).with(0).out.matches("\"url\"").count(), 1);
    let other = Program::new();
    let done = other.run(&["import", path]).with(0);
    assert_eq!(row(&done.out, "starred entries"), ["2", "2"], "{done:?}");
    let all = entries(&other, &["--starred"]);
    assert_eq!(ids(&all, "starred"), ["1", "2"]);
    assert_eq!(
        other.run(&["export", "--starred", "--format", "json-feed"]).with(0).out.trim_end(),
        String::from_utf8(bytes).unwrap().trim_end()
    );
}

#[test]
fn entries_become_markdown() {
    let site = hostile_site();
    let program = Program::new();
    program.run(&["add", &site.at("/feed")]).with(0);
    let done = program.run(&["export", "--entries", "title:tags"]).with(0);
    assert_eq!(
        done.out,
        "# Tags \\<b\\> & \"quotes\" \\*stars\\*\n\nA & B · Ann · 2026-03-02 10:00 UTC\n\n\
         <https://a.example/?a=1&b=\"2>\n\n### Head_line\n\nOne **bold** [link](https://a.example/x)›31m\n\n\
         - [audio/mpeg · 7 B · 1.mp3](https://a.example/1.mp3)\n\n"
    );
    let all = entries(&program, &[]);
    let numbers: Vec<&str> = all.iter().map(|it| it["number"].as_str().unwrap()).collect();
    let args = ["export", "--entry", numbers[1], "--entry", numbers[0]];
    let out = program.run(&args).with(0).out;
    assert!(out.contains("\n---\n\n# "), "{out}");
    let notes = program.path("notes.md");
    fs::write(&notes, "# mine").unwrap();
    let why =
        program.run(&["export", "--entries", "title:tags", notes.to_str().unwrap()]).refused(2);
    assert!(why.contains("backissue may replace") && why.contains("--force"), "{why}");
    program.run(&["export", "--entry", "nothing"]).refused(2);
    let why = program.run(&["export", "--entry", "9.99"]).refused(2);
    assert!(why.contains("there is no entry 9.99"), "{why}");
    program.run(&["export", "--entries", "(title:"]).refused(2);
}

#[test]
fn the_reader_saves_marked_entries_as_markdown() {
    let site = Site::start(|_| answer(200, &[], rss("Orchard", "e", 3)));
    let program = Program::new();
    program.run(&["add", &site.at("/feed")]).with(0);
    let file = program.path("notes.md");
    let path = file.to_str().unwrap();
    let mut session = program.start_reader();
    session.until_it_says("Orchard");
    session.press("\r");
    session.until_it_says("e 3");
    session.press(&format!("x:save {path}\r"));
    session.until_it_says("1 entry written to");
    let text = fs::read_to_string(&file).unwrap();
    assert!(text.starts_with("# e 3\n\nOrchard · 2026-03-02"), "{text}");
    assert!(text.ends_with("\n\nText of **e 3**\n"), "{text}");
    session.press(&format!(":save {path}\r"));
    session.until_it_says("backissue may replace");
    session.press("q");
}

#[test]
fn an_export_into_a_closed_pipe_ends_quietly() {
    for owner in [StoreOwner::Nobody, StoreOwner::Service] {
        let site = site();
        let program = Program::owned_by(owner);
        program.run(&["add", &site.at("/a.xml")]).with(0);
        let entries = ["--entries", "is:unread", "--format"];
        for args in [
            &["--state"][..],
            &[],
            &[&entries[..], &["markdown"]].concat(),
            &[&entries[..], &["json-feed"]].concat(),
            &[&entries[..], &["bookmarks"]].concat(),
        ] {
            let mut child = program.start(&[&["export"], args].concat());
            drop(child.stdout.take());
            let done = ended(child, b"").with(0);
            assert_eq!(done.err, "", "{owner:?} {args:?}");
        }
    }
}

#[test]
fn undo_removes_only_the_labels_of_the_last_import() {
    let site = Site::start(|_| answer(200, &[], rss("Orchard", "e", 3)));
    let program = Program::new();
    let feed = site.at("/feed");
    program.run(&["add", &feed]).with(0);
    let import = |id: &str, label: &str| {
        let file = program.path("labels.jsonl");
        let text = format!(
            "{{\"kind\":\"state\",\"version\":1}}\n{{\"kind\":\"entry\",\"feed\":\"{feed}\",\"id\":\"{id}\",\"labels\":[\"{label}\"]}}\n\
             {{\"kind\":\"end\"}}\n"
        );
        fs::write(&file, text).unwrap();
        program.run(&["import", file.to_str().unwrap()]).with(0);
    };
    let labelled = |label: &str| {
        let found = entries(&program, &["--search", &format!("label:{label}")]);
        found.iter().map(|it| it["id"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    import("e-1", "frost");
    import("e-2", "frost");
    import("e-3", "wax");
    assert_eq!(
        (labelled("frost"), labelled("wax")),
        (vec!["e-2".into(), "e-1".into()], vec!["e-3".into()])
    );
    program.run(&["undo"]).with(0);
    program.run(&["undo"]).with(0);
    assert_eq!(labelled("frost"), ["e-1"]);
    let filters = program.run(&["filters", "--json"]).with(0).json();
    assert_eq!(filters.as_array().map(Vec::len), Some(1), "the label 'wax' is gone: {filters}");
    // An import that brings nothing new is a step of its own, too.
    import("e-1", "frost");
    assert_eq!(labelled("frost"), ["e-1"]);
}
