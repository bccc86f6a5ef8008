//! Servers from bug reports, and how the program handles their answers.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use super::wild;
use crate::support::binary::{Program, wait_until};

/// A running server script from the folder, and a fresh installation of the program.
pub(super) struct Served {
    pub(super) program: Program,
    server: Child,
    port: u16,
}

impl Served {
    /// Starts the server `script`; returns `None` if the folder or Python is missing.
    fn start(script: &str) -> Option<Self> {
        let folder = wild()?;
        Self::start_file(&folder, &folder.join(script))
    }

    pub(super) fn start_file(folder: &Path, script: &Path) -> Option<Self> {
        let program = Program::new();
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let started = Command::new("python3")
            .arg(folder.join("00-tools/srv.py"))
            .arg(port.to_string())
            .arg(script)
            .arg(program.path("server.log"))
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .env("PYTHONPATH", script.parent().unwrap())
            .stdin(Stdio::null())
            .spawn();
        let Ok(server) = started else {
            crate::feeds::corpus::tell("python3 is absent: nothing is checked");
            return None;
        };
        wait_until("the server answers", || TcpStream::connect(("127.0.0.1", port)).is_ok());
        Some(Self { program, server, port })
    }

    pub(super) fn at(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    /// Requests a path of the server, and returns the body of its answer.
    pub(super) fn get(&self, path: &str) -> Vec<u8> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        write!(stream, "GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n").unwrap();
        let mut reader = BufReader::new(stream);
        let mut length = 0;
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).unwrap();
            if let Some(stated) = line.strip_prefix("Content-Length: ") {
                length = stated.trim().parse().unwrap();
            }
            if line.trim().is_empty() {
                break;
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).unwrap();
        body
    }

    /// Subscribes to a path of the server and returns the output.
    pub(super) fn add(&self, path: &str) -> String {
        self.program.run(&["add", &self.at(path)]).with(0).out
    }

    pub(super) fn poll(&self) -> String {
        self.program.run(&["poll", "--all", "--force"]).with(0).out
    }

    fn entries(&self) -> Vec<Value> {
        self.program.run(&["entries", "--json"]).with(0).json().as_array().unwrap().clone()
    }

    /// Subscribes to a path, polls it this number of times, and returns the titles of the entries and the text of the feed's
    /// history.
    pub(super) fn after_polls(&self, path: &str, polls: usize) -> (Vec<String>, String) {
        self.add(path);
        (0..polls).for_each(|_| drop(self.poll()));
        let of = |row: &Value, key: &str| row[key].as_str().unwrap_or_default().to_owned();
        let titles = self.entries().iter().map(|row| of(row, "title")).collect();
        let feeds = self.program.run(&["feeds", "--json"]).with(0).json();
        (titles, of(&feeds[0]["history"], "state"))
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.server.kill().ok();
        self.server.wait().ok();
    }
}

/// Checks that the feeds at these paths of a server can be subscribed to.
fn check_added(script: &str, paths: &[&str]) {
    let Some(served) = Served::start(script) else { return };
    for path in paths {
        let ended = served.program.run(&["add", &served.at(path)]);
        assert_eq!(ended.status, Some(0), "{path}: {ended:#?}");
    }
}

#[test]
fn cookies_of_a_check_are_sent_back_once() {
    check_added("11-cookies/server.py", &["/cookie", "/cookie-self"]);
}

#[test]
fn unexpected_304_is_refetched_once() {
    check_added("12-validators/server.py", &["/304-first", "/304-body", "/etag-odd", "/lm-2041"]);
}

#[test]
fn redirects_lead_to_the_feed_however_they_are_written() {
    check_added(
        "15-redirects/server.py",
        &["/loc-utf8", "/loc-latin1", "/loc-space", "/loc-query", "/meta-refresh", "/refresh"],
    );
}

#[test]
fn bodies_are_read_whatever_encoding_is_stated() {
    check_added(
        "16-content-encodings/server.py",
        &[
            "/ce-utf8",
            "/ce-none",
            "/ce-chunked",
            "/ce-empty",
            "/gz-trailing",
            "/gz-members",
            "/xgzip",
        ],
    );
    check_added(
        "16-content-encodings/unknown.py",
        &["/aws-chunked", "/UTF-8", "/none", "/binary", "/7bit"],
    );
}

#[test]
fn truncated_transfer_is_a_failure() {
    let Some(served) = Served::start("17-transport-faults/server.py") else { return };
    for path in ["/bare-lf", "/header-fold", "/header-garbage", "/http10", "/early-hints"] {
        served.add(path);
    }
    for path in ["/cl-short", "/cl-long", "/chunk-cut", "/chunk-noend"] {
        let ended = served.program.run(&["add", &served.at(path)]);
        assert_ne!(ended.status, Some(0), "{path}: {ended:#?}");
    }
}

#[test]
fn the_feed_of_a_page_is_found() {
    check_added(
        "18-discovery/server.py",
        &[
            "/header-link",
            "/anchor",
            "/anchor-noext",
            "/meta-refresh",
            "/two-types",
            "/base",
            "/comments-first",
            "/late",
            "/utf16",
            "/noscript",
            "/svg",
        ],
    );
    let Some(served) = Served::start("18-discovery/server.py") else { return };
    let said = served.add("/dead-first");
    assert!(said.contains("/f/live:"), "{said}");
}

#[test]
fn entries_are_not_duplicated_by_changed_ids() {
    for (script, path, polls, count) in [
        ("upd", "/http2https", 1, 7),
        ("upd", "/http2https-undated", 1, 6),
        ("upd", "/domain-move", 1, 6),
        ("upd", "/guid-edit", 1, 5),
        ("upd", "/guid-edit-again", 3, 5),
        ("upd", "/rss2atom", 1, 6),
        ("upd", "/same-guid", 3, 8),
        ("upd", "/empty-guid", 1, 5),
        ("upd2", "/half-guid", 1, 6),
        ("upd2", "/five-of-six", 1, 6),
        ("upd2", "/isperma-flip", 1, 4),
        ("upd2", "/wp-slash", 1, 4),
        ("upd2", "/noguid-utm", 2, 4),
        ("upd2", "/noguid-title-edit", 1, 4),
        ("upd2", "/guid-appears", 1, 4),
        ("upd2", "/guid-appears-undated", 1, 4),
        ("upd2", "/moved-and-new", 1, 17),
        ("upd2", "/guid-case", 1, 4),
    ] {
        let script = format!("28-changing-ids/{script}.py");
        let Some(served) = Served::start(&script) else { return };
        let (mut titles, history) = served.after_polls(path, polls);
        assert_eq!(titles.len(), count, "{path}: {titles:?}");
        titles.sort_unstable();
        titles.dedup();
        assert_eq!(titles.len(), count, "{path}: {titles:?}");
        assert_eq!(history, "not_offered", "{path}");
        let rows = served.entries();
        assert!(rows.iter().all(|row| row["kind"] == "entry"), "{path}: {rows:#?}");
    }
}

#[test]
fn an_edited_entry_is_not_unread_again() {
    for (script, path, count) in
        [("upd2", "/unread-edit", 3), ("upd2", "/atom-updated-bump", 3), ("upd", "/bump", 2)]
    {
        let Some(served) = Served::start(&format!("30-unread-again/{script}.py")) else { return };
        served.add(path);
        served.program.run(&["mark", "read", "--all"]).with(0);
        served.poll();
        let rows = served.entries();
        assert_eq!(rows.len(), count, "{path}");
        assert!(rows.iter().all(|row| row["read"] == true), "{path}: {rows:#?}");
    }
}

#[test]
fn subscription_lists_of_other_programs_are_imported() {
    let Some(folder) = wild() else { return };
    let program = Program::new();
    let urls = folder.join("27-newsboat-urls/urls");
    program.run(&["--offline", "import", urls.to_str().unwrap()]);
    let feeds = program.run(&["--offline", "feeds", "--json"]).with(0).json();
    let feeds = feeds.as_array().unwrap().clone();
    assert_eq!(feeds.len(), 6, "{feeds:#?}");
    let four = feeds.iter().find(|feed| feed["url"] == "https://q.example/four").unwrap();
    assert_eq!(four["title"], "She said \"hello\"");
}

#[test]
fn unsupported_login_kind_is_named() {
    let Some(served) = Served::start("14-digest-auth/server.py") else { return };
    let ended = served.program.run(&["add", &served.at("/digest")]);
    assert_ne!(ended.status, Some(0));
    assert!(ended.out.contains("Digest") || ended.err.contains("Digest"), "{ended:#?}");
}

#[test]
fn opml_of_many_kinds_is_imported() {
    let Some(folder) = wild() else { return };
    for file in fs::read_dir(folder.join("20-opml")).unwrap() {
        let path = file.unwrap().path();
        // Two files are skipped: one is JSON, and one breaks off within its first feed.
        let is_other = path.ends_with("json.opml") || path.ends_with("truncated.opml");
        let is_list = path.extension().is_some_and(|end| end == "opml") && !is_other;
        if !is_list {
            continue;
        }
        let program = Program::new();
        program.run(&["--offline", "import", path.to_str().unwrap()]);
        let feeds = program.run(&["--offline", "feeds", "--json"]).with(0).json();
        assert!(!feeds.as_array().unwrap().is_empty(), "{}", path.display());
    }
}

#[test]
fn huge_feed_keeps_its_newest_and_texts_after_pictures() {
    let Some(folder) = wild() else { return };
    let program = Program::new();
    let picture = format!("<img src=\"data:image/png;base64,{}\">", "iVBORw0KGgoA".repeat(75_000));
    let script = r#"
def items(order):
    return ''.join('<item><guid>%d</guid><title>Item %d</title><pubDate>%02d Mar 20%02d 10:00:00 GMT</pubDate></item>' % (n, n, 1 + n // 360 % 28, n // 10080) for n in order)
def handle(p, hd, n):
    body = {'/up': items(range(10100)), '/pictures': '<item><guid>p</guid><title>Pictures</title><description><![CDATA[' + PICTURE * 3 + '<p>Conclusion: it works.</p>]]></description></item>'}[p]
    return ('200 OK', [('Content-Type', 'application/rss+xml')], '<rss version="2.0"><channel><title>T</title>' + body + '</channel></rss>')
"#;
    let script = program.write("server.py", format!("PICTURE = '{picture}'\n{script}"));
    let Some(served) = Served::start_file(&folder, Path::new(&script)) else { return };
    served.add("/up");
    let kept = served.entries();
    let has = |title: &str| kept.iter().any(|row| row["title"] == title);
    assert!(kept.len() == 10_000 && has("Item 10099") && has("Item 100") && !has("Item 99"));
    served.add("/pictures");
    let found = served.program.run(&["search", "conclusion", "--json"]).with(0).json();
    assert_eq!(found.as_array().unwrap().len(), 1, "{found:#?}");
    let number = found[0]["number"].as_str().unwrap();
    let shown = served.program.run(&["show", number]).with(0).out;
    assert!(shown.contains("Conclusion: it works."), "{}", shown.len());
    fs::remove_file(script).ok();
}
