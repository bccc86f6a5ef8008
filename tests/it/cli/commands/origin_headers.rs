//! Headers and cookies of an origin are found nowhere after use: not in the store, its log, an export, or JSON.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use super::new_program;
use crate::support::binary::Program;
use crate::support::documents::rss;
use crate::support::site::{Site, answer};

/// Parts of the secrets that no output and no file may contain.
const SECRETS: [&str; 3] = ["hunter2", "sesame3", "proxypass"];

/// Returns the files below a folder that contain a secret.
fn files_with_secrets(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(files_with_secrets(&path));
        } else if let Ok(bytes) = fs::read(&path) {
            let has = |secret: &&str| memchr::memmem::find(&bytes, secret.as_bytes()).is_some();
            found.extend(SECRETS.iter().any(has).then(|| path.display().to_string()));
        }
    }
    found
}

fn write_secrets(program: &Program, site: &Site) {
    let cookies = "127.0.0.1\tFALSE\t/\tFALSE\t0\tsession\tsesame3\n";
    program.write("cookies.txt", cookies);
    let near = "[network]\nspace_loopback = false\nallow_addresses = [\"127.0.0.0/8\"]\n";
    program.write("config.toml", format!("{near}[poll]\nautomatic = false\n"));
    let text = format!(
        "[[headers]]\norigin = \"{}\"\nheaders = {{ X-Key = \"hunter2\" }}\ncookies = \"cookies.txt\"\n\
         user_agent = \"reader/7\"\n[[headers]]\norigin = \"https://a.example\"\nproxy = \"http://me:proxypass@127.0.0.1:1\"\n",
        site.at("")
    );
    program.write("credentials.toml", text);
}

#[test]
fn secrets_of_an_origin_are_sent_there_and_kept_nowhere_else() {
    let there = Site::start(|_| answer(200, &[], rss("Meadow", "m", 2)));
    let away = there.at("/feed.xml");
    let site = Site::start(move |request| match (request.path(), request.header("x-key")) {
        (_, None) => answer(403, &[], ""),
        ("/away", _) => answer(302, &[("location", &away)], ""),
        ("/broken", _) => answer(500, &[], "<p>no</p>"),
        _ => answer(200, &[("etag", "\"1\"")], rss("Orchard", "e", 3)),
    });
    let program = new_program();
    write_secrets(&program, &site);
    let mut told = String::new();
    let mut run = |args: &[&str]| {
        let ended = program.run(args);
        told = format!("{told}{args:?}: {}{}\n", ended.out, ended.err);
    };
    run(&["add", &site.at("/feed.xml")]);
    run(&["add", &site.at("/away")]);
    run(&["add", "--no-poll", &site.at("/broken"), "https://a.example/feed.xml"]);
    for args in [
        &["--verbose", "poll", "--all"][..],
        &["poll", "--all", "--json"],
        &["feeds", "--json"],
        &["entries", "--json"],
        &["plan", "1", "--json"],
        &["history", "1", "--json"],
        &["config"],
        &["doctor"],
        &["export"],
        &["export", "--state"],
    ] {
        run(args);
    }
    let backup = program.path("saved");
    run(&["backup", backup.to_str().unwrap()]);
    assert!(told.contains("Orchard") && told.contains("Meadow"), "{told}");
    let secret = SECRETS.iter().find(|secret| told.contains(**secret));
    assert_eq!(secret, None, "{told}");

    let asked = site.all_requests();
    assert!(asked.len() >= 3 && asked.iter().all(|one| one.header("x-key") == Some("hunter2")));
    assert!(asked.iter().all(|one| one.header("user-agent") == Some("reader/7")));
    assert!(asked.iter().all(|one| one.header("cookie") == Some("session=sesame3")));
    let others = there.all_requests();
    assert!(!others.is_empty());
    for one in others {
        let seen = [one.header("x-key"), one.header("cookie")];
        assert_eq!(seen, [None, None]);
        assert!(one.header("user-agent").unwrap().starts_with("backissue/"));
    }
    let credentials = program.path("credentials.toml");
    assert_eq!(fs::metadata(&credentials).unwrap().permissions().mode() & 0o777, 0o600);
    for name in ["credentials.toml", "cookies.txt"] {
        fs::remove_file(program.path(name)).unwrap();
    }
    let folder = credentials.parent().unwrap();
    assert_eq!(files_with_secrets(folder), Vec::<String>::new());
}
