//! Tests of the served folder: which files are served, and how.

use std::os::unix::fs::symlink;

use super::*;

fn request(method: &str, path: &str, headers: &[(&str, &str)]) -> ServedRequest {
    let mut headers: Vec<(String, String)> =
        headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    headers.push(("host".to_owned(), "127.0.0.1:8080".to_owned()));
    ServedRequest {
        method: method.to_owned(),
        path_and_query: path.to_owned(),
        headers,
        body: Vec::new(),
        from: std::net::Ipv4Addr::LOCALHOST.into(),
    }
}

fn header<'a>(answer: &'a ServedAnswer, name: &str) -> Option<&'a str> {
    answer.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
}

/// Returns a document as `backissue publish` writes it, with these entries.
fn document(entries: &[&str]) -> String {
    let entries: Vec<String> =
        entries.iter().map(|id| format!("<entry>\n<id>{id}</id>\n</entry>\n")).collect();
    let entries = entries.concat();
    format!("<feed>\n{GENERATOR_MARK}\n<id>f</id>\n{entries}</feed>\n")
}

fn site() -> (tempfile::TempDir, FolderSite) {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("public");
    std::fs::create_dir_all(root.join("orchard")).unwrap();
    std::fs::write(root.join("orchard/feed.atom"), document(&["a"])).unwrap();
    let archive = document(&["z"]).replace("<id>f", "<fh:archive/>\n<id>f");
    std::fs::write(root.join("orchard/2026-01.atom"), archive).unwrap();
    std::fs::write(root.join("feed.xml"), format!("<rss>{}</rss>", " ".repeat(600))).unwrap();
    std::fs::write(root.join(".hidden"), "secret").unwrap();
    std::fs::write(folder.path().join("outside"), "secret").unwrap();
    symlink("../outside", root.join("door")).unwrap();
    symlink("..", root.join("up")).unwrap();
    symlink("orchard/feed.atom", root.join("inside.atom")).unwrap();
    let site = FolderSite::open(&root).unwrap();
    (folder, site)
}

#[test]
fn only_files_inside_the_folder_are_served() {
    let (_folder, site) = site();
    for (path, status) in [
        ("/orchard/feed.atom", 200),
        ("/orchard/feed.atom?x=1", 200),
        ("/inside.atom", 200),
        ("/", 200),
        ("/orchard", 404),
        ("/orchard/", 404),
        ("/door", 404),
        ("/up/outside", 404),
        ("/../outside", 404),
        ("/%2e%2e/outside", 404),
        ("/..%2foutside", 404),
        ("/orchard/..%5coutside", 404),
        ("/.hidden", 404),
        ("//orchard/feed.atom", 404),
        ("/orchard/missing-20260101T000000Z.atom", 404),
        ("/%ff", 404),
        ("/a%00", 404),
    ] {
        let answer = site.answer(&request("GET", path, &[]));
        assert_eq!(answer.status, status, "{path}");
        assert!(!answer.body.starts_with(b"secret"), "{path}");
    }
    assert_eq!(site.answer(&request("POST", "/", &[])).status, 405);
    let mut foreign = request("GET", "/orchard/feed.atom", &[]);
    foreign.headers = vec![("host".to_owned(), "attacker.example".to_owned())];
    assert_eq!(site.answer(&foreign).status, 421);
    assert_eq!(site.feeds().unwrap(), ["/orchard/feed.atom"]);
}

#[test]
fn an_unchanged_file_is_not_sent_again() {
    let (_folder, site) = site();
    let first = site.answer(&request("GET", "/orchard/feed.atom", &[]));
    assert_eq!(header(&first, "content-type"), Some("application/atom+xml; charset=utf-8"));
    assert_eq!(header(&first, "cache-control"), Some("no-cache"));
    let (tag, date) = (header(&first, "etag").unwrap(), header(&first, "last-modified").unwrap());
    for (name, value, status) in [
        ("if-none-match", tag, 304),
        ("if-none-match", &*format!("W/{tag}, \"x\""), 304),
        ("if-none-match", "\"x\"", 200),
        ("if-modified-since", date, 304),
        ("if-modified-since", "Mon, 01 Jan 2001 00:00:00 GMT", 200),
        ("if-modified-since", "yesterday", 200),
    ] {
        let answer = site.answer(&request("GET", "/orchard/feed.atom", &[(name, value)]));
        assert_eq!(answer.status, status, "{name}: {value}");
        assert_eq!(answer.body.is_empty(), status == 304);
    }
    let archive = site.answer(&request("GET", "/orchard/2026-01.atom", &[]));
    assert_eq!(header(&archive, "cache-control"), Some("max-age=86400"));
}

#[test]
fn body_is_compressed_for_clients_that_accept_it() {
    let (_folder, site) = site();
    let plain = site.answer(&request("GET", "/feed.xml", &[]));
    assert_eq!(header(&plain, "content-type"), Some("application/rss+xml"));
    let packed = site.answer(&request("GET", "/feed.xml", &[("accept-encoding", "br, gzip")]));
    assert!(packed.body.len() < plain.body.len() && packed.body.starts_with(&[0x1f, 0x8b]));
    assert_eq!(header(&packed, "content-encoding"), Some("gzip"));
    assert!(header(&packed, "etag").unwrap().starts_with("W/"));
    let refused = site.answer(&request("GET", "/feed.xml", &[("accept-encoding", "gzip;q=0")]));
    assert_eq!(refused.body, plain.body);
}

#[test]
fn a_delta_has_only_new_and_changed_entries() {
    let (folder, site) = site();
    let first = site.answer(&request("GET", "/orchard/feed.atom", &[]));
    let tag = header(&first, "etag").unwrap().to_owned();
    let file = folder.path().join("public/orchard/feed.atom");
    std::fs::write(&file, document(&["b", "a"])).unwrap();
    let ask =
        |headers: &[(&str, &str)]| site.answer(&request("GET", "/orchard/feed.atom", headers));
    let delta = ask(&[("a-im", "gzip, feed"), ("if-none-match", &tag)]);
    assert_eq!((delta.status, header(&delta, "im")), (226, Some("feed")));
    assert_eq!(String::from_utf8(delta.body.clone()).unwrap(), document(&["b"]));
    assert_ne!(header(&delta, "etag"), Some(tag.as_str()), "it names the whole document");
    for headers in [
        &[("a-im", "feed")][..],
        &[("if-none-match", &*tag)],
        &[("a-im", "feed"), ("if-none-match", "\"x\"")],
    ] {
        let whole = ask(headers);
        assert_eq!(
            (whole.status, whole.body),
            (200, document(&["b", "a"]).into_bytes()),
            "{headers:?}"
        );
    }
    std::fs::write(&file, document(&["c", "b"]).replace("<id>f", "<fh:complete/>\n<id>f")).unwrap();
    let complete = ask(&[("a-im", "feed"), ("if-none-match", header(&delta, "etag").unwrap())]);
    assert_eq!(complete.status, 200, "what is no longer part of the feed must be told");
}
