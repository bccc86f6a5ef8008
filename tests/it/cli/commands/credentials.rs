//! A login in a typed or imported address: it is saved in a private file, sent as before, and never shown.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use super::new_program;
use crate::support::binary::{Ended, Program};
use crate::support::documents::rss;
use crate::support::site::{Site, answer};

/// `Authorization` header value of the user `me` with the password `op en/s`, encoded as in RFC 7617.
const BASIC: &str = "Basic bWU6b3AgZW4vcw==";

/// Starts a site that serves its feed only if the request has the login `BASIC`, and answers 401 otherwise.
fn site() -> Site {
    Site::start(|request| match request.header("authorization") {
        Some(BASIC) => answer(200, &[("etag", "\"one\"")], rss("Orchard", "e", 3)),
        _ => answer(401, &[], ""),
    })
}

/// Returns the address of the site's feed with the user name and password in it.
fn with_login(site: &Site) -> String {
    site.at("/feed.xml").replace("http://", "http://me:op%20en%2Fs@")
}

fn assert_silent(ended: &Ended) {
    for secret in ["op%20en", "op en", "me:op", "me@", "bWU6"] {
        assert!(!ended.out.contains(secret) && !ended.err.contains(secret), "{secret}: {ended:?}");
    }
}

fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).unwrap().permissions().mode() & 0o777
}

/// Runs every command that shows addresses and checks that none of them prints the user name or password.
fn assert_shown_nowhere(program: &Program) {
    let exported = program.path("out.opml");
    program.run(&["export", exported.to_str().unwrap()]).with(0);
    let opml = std::fs::read_to_string(exported).unwrap();
    assert!(
        opml.contains("/feed.xml") && !opml.contains("op%20en") && !opml.contains("me:"),
        "{opml}"
    );
    for args in [
        &["feeds"][..],
        &["feeds", "--json"],
        &["plan", "1"],
        &["plan", "1", "--json"],
        &["history", "1", "--json"],
        &["entries", "--json"],
        &["doctor"],
        &["poll", "--all", "--json"],
    ] {
        assert_silent(&program.run(args));
    }
}

#[test]
fn a_password_typed_in_an_address_is_kept_apart_and_still_sent() {
    let (site, program) = (site(), new_program());
    let added = program.run(&["add", &with_login(&site)]).with(0);
    assert!(added.out.contains("3 entries"), "{added:?}");
    let told = format!(
        "is kept in {}, which only you can read",
        program.path("credentials.toml").display()
    );
    assert!(added.err.contains(&told), "{added:?}");
    assert_silent(&added);
    let file = program.path("credentials.toml");
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(text.contains("user = \"me\"\npassword = \"op en/s\""), "{text}");
    assert_eq!(mode(&file), 0o600);
    let polled = program.run(&["poll", "--all", "--json"]).with(0).json();
    assert_eq!(polled["feeds"][0]["status"], 200, "{polled}");
    let again = program.run(&["add", &with_login(&site)]).with(0);
    assert!(again.out.contains("already subscribed"), "{again:?}");
    assert!(!again.err.contains(&told), "{again:?}");
    assert_silent(&again);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), text, "it is known");
    assert_shown_nowhere(&program);
}

#[test]
fn a_password_in_an_imported_list_is_kept_apart_and_still_sent() {
    let (site, program) = (site(), new_program());
    let list = format!(
        "<opml version=\"2.0\"><body><outline type=\"rss\" xmlUrl=\"{}\"/><outline type=\"rss\" xmlUrl=\"ftp://me:op%20en%2Fs@a.example/\"/></body></opml>",
        with_login(&site)
    );
    let file = program.write("list.opml", list);
    let imported = program.run(&["import", &file]);
    assert!(imported.err.contains("is kept in "), "{imported:?}");
    assert_silent(&imported);
    let polled = program.run(&["poll", "--all", "--json"]).with(0).json();
    assert_eq!(polled["feeds"][0]["status"], 200, "{polled}");
    assert_shown_nowhere(&program);
}

#[test]
fn invalid_address_is_reported_without_its_password() {
    let program = new_program();
    for address in
        ["ftp://me:op%20en@a.example/", "https://me:op%20en@word", "http://me:op%20en@127.0.0.1:9/"]
    {
        let refused = program.run(&["add", address]);
        assert_ne!(refused.status, Some(0), "{refused:?}");
        assert_silent(&refused);
    }
}

#[test]
fn no_command_that_takes_an_address_repeats_its_password() {
    let (site, program) = (site(), new_program());
    let (there, elsewhere) = (with_login(&site), "http://me:op%20en@127.0.0.1:9/");
    let linted = program.run(&["lint", &there, "--json"]);
    assert_eq!(linted.json()["entries"], 3, "it is sent: {linted:?}");
    assert_silent(&linted);
    program.run(&["add", &there]).with(0);
    program.run(&["plan", &there]).with(0);
    let file = program.write("feed.xml", rss("Orchard", "e", 3));
    let list = program.write("list.txt", "http://127.0.0.1:9/\nhttps://me:op%20en@a b/\n");
    for args in [
        &["lint", &there][..],
        &["lint", elsewhere],
        &["lint", "https://me:op%20en@a b/"],
        &["lint", "https://me:op%20en/x@a.example/"],
        &["lint", &file, "--url", elsewhere],
        &["lint", &file, "--url", elsewhere, "--json"],
        &["parse", &file, "--url", elsewhere, "--json"],
        &["parse", elsewhere],
        &["import", elsewhere],
        &["import", &list],
        &["poll", elsewhere],
        &["entries", elsewhere],
        &["history", elsewhere],
        &["plan", elsewhere],
        &["unread", elsewhere],
        &["set", elsewhere, "--pace", "more"],
        &["unsubscribe", elsewhere],
        &["subscribe-again", elsewhere],
        &["move", elsewhere, "accept"],
        &["filters", "add", "--hide", "--title", "x", "--feed", elsewhere],
        &["search", &format!("feed:{elsewhere}")],
        &[elsewhere],
        &["undo", elsewhere],
        &["add", "--tag=x", "--bad", elsewhere],
    ] {
        assert_silent(&program.run(args));
    }
}

#[test]
fn misplaced_password_is_neither_shown_nor_saved() {
    let program = new_program();
    let login = "me:op%20en@";
    let opml = program.write(
        "list.opml",
        format!(
            "<opml><body><outline text=\"https://{login}b.example/\">\
             <outline type=\"rss\" text=\"{login}x\" category=\"{login}y\" htmlUrl=\"https://{login}a.example/\" xmlUrl=\"http://127.0.0.1:9/one\"/>\
             <outline type=\"rss\" xmlUrl=\"http://{login}127.0.0.1:99999/\"/>\
             <outline type=\"rss\" xmlUrl=\"http://127.0.0.1:9/x http://{login}a.example/\"/>\
             </outline></body></opml>"
        ),
    );
    let list = program.write(
        "list",
        format!(
            "http://127.0.0.1:9/two http://{login}a.example/ \"~{login}z\"\n\
             http://127.0.0.1:9/three\thttp://{login}a.example/\nyou@home\t{login}a.example\n\
             @\thttp://{login}a.example/\nhttp://127.0.0.1:9/four\n"
        ),
    );
    for args in [
        &["import", &opml][..],
        &["import", &list],
        &["add", "--no-poll", &format!("http://127.0.0.1:9/x http://{login}a.example/")],
        &["add", "--no-poll", &format!("http://127.0.0.1:9/?u=http://{login}a.example/")],
        &["add", "--no-poll", &format!("http://{login}127.0.0.1:99999/")],
        &["add", "--no-poll", "http://127.0.0.1:9/five", "--tag", &format!("http://{login}a/")],
        &["feeds", "--json"],
        &["export"],
        &["doctor"],
    ] {
        assert_silent(&program.run(args));
    }
    let feeds = program.run(&["feeds", "--json"]).json();
    assert_eq!(feeds.as_array().map(Vec::len), Some(5), "{feeds}");
    let log = std::fs::read_to_string(program.data().join("log/backissue.log"));
    assert!(!log.unwrap_or_default().contains("op%20en"));
}

#[test]
fn refused_address_blocks_no_login_and_no_other_address() {
    let (site, program) = (site(), new_program());
    let added = program.run(&["add", "ftp://a.example/x", &with_login(&site)]).with(1);
    assert!(added.out.contains("subscribed: ") && added.out.contains("3 entries"), "{added:?}");
    assert!(added.err.contains("is kept in "), "{added:?}");
    assert!(added.err.contains("backissue: 'ftp://a.example/x'"), "{added:?}");
    assert_silent(&added);
    let polled = program.run(&["poll", "--all", "--json"]).with(0).json();
    assert_eq!(polled["feeds"][0]["status"], 200, "{polled}");
}

#[test]
fn files_of_the_program_are_private() {
    let (site, program) = (site(), new_program());
    program.run(&["add", &with_login(&site)]).with(0);
    program.run(&["poll", "--all"]).with(0);
    program.run(&["search", "x"]).with(0);
    program.run(&["feeds"]).with(0);
    for name in ["", "store", "store/blobs", "index", "backups"] {
        assert_eq!(mode(&program.data().join(name)), 0o700, "{name}");
    }
    for name in ["store/db", "store/conf", "lock"] {
        assert_eq!(mode(&program.data().join(name)), 0o600, "{name}");
    }
    let backups = std::fs::read_dir(program.data().join("backups")).unwrap().flatten();
    for file in backups {
        assert_eq!(mode(&file.path()), 0o600, "{file:?}");
    }
}
