//! Wrong input: one sentence that says what to do, the right status, no panic (UX 4).

use crate::support::binary::Program;
use crate::support::documents::{garbage, page, rss};
use crate::support::site::{Site, answer};

fn site() -> Site {
    Site::start(|request| match request.path() {
        "/page" => answer(200, &[("content-type", "text/html")], page("No feeds here", &[])),
        "/binary" => answer(200, &[("content-type", "application/rss+xml")], garbage()),
        "/garden/orchard.xml" => answer(200, &[], rss("Orchard", "e", 2)),
        "/forbidden" => answer(403, &[], ""),
        _ => answer(404, &[], ""),
    })
}

#[test]
fn a_word_is_no_address() {
    let program = Program::new();
    for word in ["orchard", "", " ", "ftp://a.example/feed", "http://", "javascript:alert(1)"] {
        let told = program.run(&["add", word]).refused(2);
        assert!(told.contains("address"), "{word:?}: {told}");
    }
}

#[test]
fn a_host_that_cannot_be_reached_is_told() {
    let told = Program::new().run(&["add", "http://127.0.0.1:1/feed"]).refused(2);
    assert!(told.contains("no connection to 127.0.0.1"), "{told}");
}

#[test]
fn a_page_that_names_no_feed_is_told_by_its_title() {
    let site = site();
    let told = Program::new().run(&["add", &site.at("/page")]).refused(2);
    assert!(told.contains("No feeds here") && told.contains(&site.at("/page")), "{told}");
}

#[test]
fn bytes_that_mean_nothing_are_told_as_no_feed() {
    let site = site();
    let told = Program::new().run(&["add", &site.at("/binary")]).refused(2);
    assert!(told.contains("not a feed") || told.contains("no feed"), "{told}");
    assert!(told.chars().all(|char| !char.is_control()), "{told:?}");
}

#[test]
fn an_answer_that_is_none_is_told_by_its_status() {
    let site = site();
    let told = Program::new().run(&["add", &site.at("/forbidden")]).refused(2);
    assert!(told.contains("403"), "{told}");
}

#[test]
fn offline_asks_nobody() {
    let site = site();
    let told =
        Program::new().run(&["--offline", "add", &site.at("/garden/orchard.xml")]).refused(2);
    assert!(told.contains("--offline"), "{told}");
    assert_eq!(site.asked("/garden/orchard.xml").len(), 0);
}

#[test]
fn a_data_folder_that_is_a_file_is_told() {
    let program = Program::new();
    let file = program.write("file", "x");
    for command in [&["feeds"][..], &["entries"], &["poll"], &["watch"], &["doctor"], &["export"]] {
        let args = [&["--data-dir", &file], command].concat();
        let ended = program.run_bare(&args).with(2);
        let told = ended.err.lines().next().unwrap_or_default();
        assert_eq!(ended.err.lines().count(), 1, "{command:?}: {ended:#?}");
        assert!(told.contains(&file) && told.contains("--data-dir"), "{command:?}: {told}");
    }
    assert_eq!(std::fs::read(&file).unwrap(), b"x");
}

#[test]
fn a_broken_configuration_is_told_with_line_and_column() {
    let program = Program::new();
    for (text, place) in [
        ("[network]\nparallel = \"many\"\n", "line 2, column 12"),
        ("[poll]\nmin = \"soon\"\n", "line 2, column 7"),
        ("[poll\n", "line 1, column"),
        ("[network]\n\nparalell = 3\n", "line 3, column 1"),
    ] {
        program.write("config.toml", text);
        for command in [&["feeds"][..], &["poll"], &["watch"], &["add", "http://127.0.0.1:1/"]] {
            let told = program.run(command).refused(2);
            assert!(told.contains(place) && told.contains("config.toml"), "{text:?}: {told}");
        }
        let doctor = program.run(&["doctor"]).with(1);
        assert!(doctor.out.contains(place), "{doctor:#?}");
    }
    program.write("config.toml", [0xff, 0xfe, 0x00]);
    program.run(&["feeds"]).refused(2);
}

#[test]
fn a_configuration_that_was_asked_for_has_to_exist() {
    let program = Program::new();
    let missing = program.path("missing.toml");
    let told = program.run_bare(&["--config", missing.to_str().unwrap(), "feeds"]).refused(2);
    assert!(told.contains("missing.toml"), "{told}");
}

#[test]
fn an_unknown_feed_is_told() {
    let program = Program::new();
    for args in [["poll", "nowhere"], ["entries", "nowhere"], ["entries", "77"]] {
        let told = program.run(&args).refused(2);
        assert!(told.contains(args[1]) && told.contains("backissue feeds"), "{args:?}: {told}");
    }
}

#[test]
fn a_title_that_fits_several_feeds_is_told_with_their_numbers() {
    let program = Program::new();
    program
        .run(&["add", "--no-poll", "http://127.0.0.1:1/a.xml", "http://127.0.0.1:1/b.xml"])
        .with(0);
    let told = program.run(&["poll", "127"]).refused(2);
    assert!(told.contains("2 subscriptions") && told.contains("number"), "{told}");
}

#[test]
fn a_wrong_entry_is_told() {
    let program = Program::new();
    for entry in ["abc", "1", "1.", ".1", "1.2.3", "99999999999.1", "1.99"] {
        let told = program.run(&["show", entry]).refused(2);
        assert!(told.contains(entry) && told.contains("backissue entries"), "{entry}: {told}");
    }
}

#[test]
fn a_wrong_date_is_told() {
    let program = Program::new();
    for date in ["soon", "2026-13-01", "2026-02-30", "12:00"] {
        let told = program.run(&["entries", "--since", date]).refused(2);
        assert!(told.contains(date) && told.contains("2026-03-01"), "{date}: {told}");
    }
}

#[test]
fn a_document_that_is_not_there_is_told() {
    let told = Program::new().run(&["parse", "no-such-file.xml"]).refused(2);
    assert!(told.contains("no-such-file.xml"), "{told}");
}

#[test]
fn wrong_usage_ends_with_status_2() {
    let program = Program::new();
    for args in [
        &["nonsense"][..],
        &["--nonsense"],
        &["add"],
        &["show"],
        &["show", "1.1", "--text", "--html"],
        &["entries", "--unread", "--starred"],
        &["entries", "--limit", "many"],
    ] {
        let ended = program.run(args).with(2);
        assert!(!ended.err.is_empty() && ended.out.is_empty(), "{args:?}: {ended:#?}");
    }
}

#[test]
fn a_damaged_store_is_told_in_one_sentence() {
    let program = Program::new();
    program.run(&["feeds"]).with(0);
    std::fs::write(program.data().join("store/db"), vec![0xA5; 70_000]).unwrap();
    let ended = program.run(&["feeds", "--json"]);
    if ended.status != Some(0) {
        let told = ended.refused(2);
        assert!(told.contains("data"), "{told}");
    }
}

#[test]
fn an_export_to_a_place_that_is_not_there_is_told() {
    let program = Program::new();
    let nowhere = program.path("no/such/folder/feeds.opml");
    let told = program.run(&["export", nowhere.to_str().unwrap()]).refused(2);
    assert!(told.contains("feeds.opml"), "{told}");
}
