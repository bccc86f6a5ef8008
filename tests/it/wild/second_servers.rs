//! Servers of the second list of bug reports (see [`folder`]), and what a reader must see.

use super::second::folder;
use super::servers::Served;

fn start(case: &str) -> Option<Served> {
    let folder = folder()?;
    Served::start_file(&folder, &folder.join(case).join("handler.py"))
}

#[test]
fn feeds_are_found_whatever_the_server_wants() {
    for (case, paths) in [
        ("42-accept-406", &["/html406"][..]),
        ("43-activitypub-page", &["/ap/"]),
        ("44-feed-negotiates-json", &["/feed"]),
        ("45-discovery-types", &["/xml", "/json"]),
        ("46-discovery-others", &["/podcast/1"]),
        ("74-guessed-addresses", &["/blog/post-1", "/blog/"]),
    ] {
        for path in paths {
            let Some(served) = start(case) else { return };
            let ended = served.program.run(&["add", &served.at(path)]);
            assert_eq!(ended.status, Some(0), "{case} {path}: {ended:#?}");
        }
    }
}

#[test]
fn a_consent_page_is_named() {
    let Some(served) = start("46-discovery-others") else { return };
    let told = served.program.run(&["add", &served.at("/channel/pond")]).with(2);
    assert!(told.err.contains("asks for consent"), "{}", told.err);
}

#[test]
fn new_sessions_move_a_feed_twice_at_most() {
    let Some(served) = start("59-session-ids") else { return };
    served.after_polls("/feed", 5);
    let feed = &served.program.run(&["feeds", "--json"]).with(0).json()[0];
    assert_eq!(feed["former_urls"].as_array().unwrap().len(), 2, "{feed}");
}
