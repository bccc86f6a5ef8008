//! Devices that sync with the store, through the real binary: a second installation with the client that exists, and requests as
//! phones and attackers send them.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::Child;
use std::time::Duration;

use serde_json::Value;

use crate::support::binary::{Program, ask_to_end, wait_until};
use crate::support::site::{Site, answer};

/// A port at which devices are served. The process that was started for it ends with the value.
pub(super) struct Served {
    child: Option<Child>,
    /// Address of the API.
    base: String,
}

impl Served {
    pub(super) fn start(program: &Program, args: &[&str]) -> Self {
        let mut child = program.start(args);
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let base = lines.next().unwrap().unwrap();
        Self { child: Some(child), base }
    }

    pub(super) fn serve(program: &Program) -> Self {
        Self::start(program, &["serve", "--sync", "127.0.0.1:0"])
    }

    pub(super) fn host(&self) -> &str {
        self.base.trim_start_matches("http://").split('/').next().unwrap()
    }

    /// Sends bytes and returns the whole answer.
    pub(super) fn raw(&self, bytes: &[u8]) -> String {
        let mut stream = TcpStream::connect(self.host()).unwrap();
        stream.set_read_timeout(Some(Duration::from_mins(1))).unwrap();
        stream.write_all(bytes).ok();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).ok();
        String::from_utf8_lossy(&answer).into_owned()
    }

    /// Opens a connection and sends the beginning of a request.
    pub(super) fn half_a_request(&self) -> Option<TcpStream> {
        let mut stream = TcpStream::connect(self.host()).ok()?;
        let start =
            b"POST /api/greader.php/reader/api/0/edit-tag HTTP/1.1\r\nHost: x\r\nContent-Le";
        stream.write_all(start).ok();
        Some(stream)
    }

    fn request(&self, method: &str, path: &str, header: &str, body: &str) -> (u16, String) {
        let host = self.host();
        let length = body.len();
        let answer = self.raw(
            format!(
                "{method} /api/greader.php{path} HTTP/1.1\r\nHost: {host}\r\n{header}Connection: close\r\n\
                 Content-Length: {length}\r\n\r\n{body}"
            )
            .as_bytes(),
        );
        let status = answer.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
        let body = answer.split_once("\r\n\r\n").map_or("", |(_, body)| body);
        (status, body.to_owned())
    }

    /// Logs in and returns the header of later requests.
    pub(super) fn log_in(&self, name: &str, password: &str) -> Result<String, u16> {
        let form = format!("Email={name}&Passwd={password}");
        let (status, text) = self.request("POST", "/accounts/ClientLogin", "", &form);
        let auth = text.lines().find_map(|line| line.strip_prefix("Auth="));
        auth.map(|auth| format!("Authorization: GoogleLogin auth={auth}\r\n")).ok_or(status)
    }

    fn get(&self, header: &str, path: &str) -> Value {
        let (status, text) = self.request("GET", &format!("/reader/api/0/{path}"), header, "");
        assert_eq!(status, 200, "{path}: {text}");
        serde_json::from_str(&text).unwrap()
    }

    fn post(&self, header: &str, path: &str, form: &str) -> (u16, String) {
        self.request("POST", &format!("/reader/api/0/{path}"), header, form)
    }

    fn ids(&self, header: &str, query: &str) -> Vec<String> {
        let found = self.get(header, &format!("stream/items/ids?n=1000&{query}"));
        let ids = found["itemRefs"].as_array().unwrap().iter();
        ids.map(|item| item["id"].as_str().unwrap().to_owned()).collect()
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            child.kill().ok();
            child.wait().ok();
        }
    }
}

const ALL: &str = "s=user/-/state/com.google/reading-list";
const UNREAD: &str = "s=user/-/state/com.google/reading-list&xt=user/-/state/com.google/read";
const STARRED: &str = "s=user/-/state/com.google/starred";

pub(super) fn press() -> Site {
    Site::start(|request| {
        let items: String = (1..=20)
            .map(|at| {
                format!(
                    "<item><guid>g{at}</guid><title>Entry {at} &amp;lt;b&amp;gt; &lt;script&gt;</title>\
                     <link>http://site.example{}/{at}</link>\
                     <pubDate>Mon, 0{} Feb 2026 10:00:00 GMT</pubDate><description>Text {at} &lt;script&gt;alert(1)&lt;/script&gt;&lt;img src='p.png' onerror='x()'&gt;</description></item>",
                    request.path(),
                    1 + at % 9
                )
            })
            .collect();
        let body =
            format!("<rss version='2.0'><channel><title>Press</title>{items}</channel></rss>");
        answer(200, &[("content-type", "application/rss+xml")], body)
    })
}

pub(super) fn with_feeds(site: &Site) -> Program {
    let program = Program::new();
    program.run(&["add", &site.at("/one.xml"), &site.at("/two.xml"), "--tag", "News"]).with(0);
    program
}

pub(super) fn add_device(program: &Program, name: &str) -> String {
    program.run(&["device", "add", name]).with(0).out.trim().to_owned()
}

/// The entries as link, read, starred and labels.
pub(super) fn states(program: &Program) -> Vec<(String, bool, bool, String)> {
    let entries = program.run(&["entries", "--json", "--limit", "1000"]).with(0).json();
    let state = |entry: &Value| {
        let text = |name: &str| entry[name].to_string();
        (text("link"), entry["read"] == true, entry["starred"] == true, text("labels"))
    };
    let mut states: Vec<_> = entries.as_array().unwrap().iter().map(state).collect();
    states.sort();
    states
}

pub(super) fn numbers(program: &Program) -> Vec<String> {
    let entries = program.run(&["entries", "--json", "--limit", "1000"]).with(0).json();
    let number = |entry: &Value| entry["number"].as_str().unwrap().to_owned();
    entries.as_array().unwrap().iter().map(number).collect()
}

#[test]
fn a_second_backissue_has_the_same_feeds_entries_and_marks() {
    let site = press();
    let (home, away) = (with_feeds(&site), Program::new());
    let password = add_device(&home, "laptop");
    let first = numbers(&home);
    home.run(&["mark", "starred", &first[0], &first[1]]).with(0);
    home.run(&["mark", "read", &first[2]]).with(0);
    home.run(&["label", "Keep", &first[3]]).with(0);
    let served = Served::serve(&home);
    let place = ["--user", "laptop", "--name", "home"];
    let args = [&["account", "add", &served.base][..], &place].concat();
    away.run_with(&args, format!("{password}\n").as_bytes()).with(0);
    let feeds = away.run(&["feeds", "--json"]).with(0).json();
    assert_eq!((feeds.as_array().unwrap().len(), &feeds[0]["tags"][0]), (2, &"News".into()));
    assert_eq!(states(&away), states(&home));
    assert_eq!(states(&home).len(), 40);
    // Marks both ways.
    let there = numbers(&away);
    away.run(&["mark", "read", &there[5], &there[6]]).with(0);
    away.run(&["mark", "unstarred", &there[0]]).with(0);
    away.run(&["label", "Later", &there[7]]).with(0);
    home.run(&["mark", "starred", &first[20]]).with(0);
    away.run(&["account", "sync"]).with(0);
    away.run(&["account", "sync", "--whole"]).with(0);
    assert_eq!(states(&away), states(&home));
    let quiet = away.run(&["account", "sync"]).with(0).out;
    assert!(quiet.contains("nothing new"), "{quiet}");
    // It is on nobody else's undo stack: undo takes back the last star of this side.
    let starred = |program: &Program| states(program).iter().filter(|state| state.2).count();
    let before = starred(&home);
    home.run(&["undo"]).with(0);
    assert_eq!(starred(&home), before - 1);
    assert!(home.run(&["device", "list"]).with(0).out.contains("laptop  last seen"));
}

#[test]
fn marks_of_a_device_are_one_step_each_that_is_taken_back() {
    let site = press();
    let home = with_feeds(&site);
    let password = add_device(&home, "phone");
    let served = Served::serve(&home);
    let header = served.log_in("phone", &password).unwrap();
    let unread = served.ids(&header, UNREAD);
    assert_eq!((unread.len(), served.ids(&header, ALL).len()), (40, 40));
    let before = states(&home);
    let form = format!("a=user/-/state/com.google/read&i={}&i={}", unread[0], unread[1]);
    for _ in 0..2 {
        assert_eq!(served.post(&header, "edit-tag", &form), (200, "OK".into()), "also twice");
    }
    assert_eq!(served.ids(&header, UNREAD).len(), 38);
    let form = format!("a=user/-/state/com.google/starred&a=user/-/label/Keep&i={}", unread[2]);
    assert_eq!(served.post(&header, "edit-tag", &form).1, "OK");
    assert_eq!(served.ids(&header, STARRED), [unread[2].clone()]);
    assert_eq!(served.ids(&header, "s=user/-/label/Keep"), [unread[2].clone()]);
    // Without a time nothing is marked, and only what had arrived then with one.
    let all = "s=user/-/state/com.google/reading-list";
    assert_eq!(served.post(&header, "mark-all-as-read", all).0, 400);
    assert_eq!(served.ids(&header, UNREAD).len(), 38);
    let form = format!("{all}&ts={}", unread[10]);
    assert_eq!(served.post(&header, "mark-all-as-read", &form).1, "OK");
    assert_eq!(served.ids(&header, UNREAD), unread[2..10]);
    let everything = "s=user/-/label/Nothing";
    assert!(served.ids(&header, everything).is_empty(), "an unknown stream is not all entries");
    let told = home.run(&["undo"]).refused(2);
    assert!(
        told.contains("unsubscribe"),
        "the last change of the user is the subscription: {told}"
    );
    // What can no longer be taken back is no obstacle to the changes before it.
    let three = format!("quickadd={}", site.at("/three.xml"));
    assert_eq!(served.post(&header, "subscription/quickadd", &three).0, 200);
    home.run(&["unsubscribe", &site.at("/three.xml")]).with(0);
    let told = home.run(&["device", "undo", "phone"]).refused(2);
    assert!(told.contains("no longer exists"), "{told}");
    for _ in 0..4 {
        home.run(&["device", "undo", "phone"]).with(0);
    }
    assert_eq!(states(&home), before);
    assert!(home.run(&["device", "undo", "phone"]).with(0).err.contains("nothing"));
}

#[test]
fn a_device_is_let_in_by_the_body_and_the_header_only() {
    let site = press();
    let home = with_feeds(&site);
    let (phone, other) = (add_device(&home, "phone"), add_device(&home, "other"));
    let served = Served::serve(&home);
    let header = served.log_in("phone", &phone).unwrap();
    for (name, password) in [("phone", other.as_str()), ("phone", ""), ("nobody", &phone)] {
        assert_eq!(served.log_in(name, password), Err(401), "{name}");
    }
    let login = format!("/accounts/ClientLogin?Email=phone&Passwd={phone}");
    assert_eq!(served.request("GET", &login, "", "").0, 400);
    assert_eq!(served.request("POST", &login, "", "").0, 400);
    let token = header.split_once("auth=").unwrap().1.trim();
    let list = "/reader/api/0/subscription/list?output=json";
    for (path, header) in [
        (list.to_owned(), String::new()),
        (list.to_owned(), header.replace("phone", "other")),
        (list.to_owned(), "Authorization: GoogleLogin auth=phone/x\r\n".into()),
        (list.to_owned(), format!("Cookie: Auth={token}\r\n")),
        (format!("{list}&T={token}"), header.clone()),
        (format!("{list}&Auth={token}"), String::new()),
    ] {
        let (status, text) = served.request("GET", &path, &header, "");
        assert!(
            [400, 401].contains(&status) && !text.contains("one.xml"),
            "{path} {header} {text}"
        );
    }
    // Apps that join the address and a path with two slashes are let in, too.
    assert_eq!(served.request("GET", &format!("/{list}"), &header, "").0, 200);
    // The token of changes may be missing, but not be another one.
    let change = "ac=edit&s=feed/1&t=Mine";
    let (status, own) = served.request("GET", "/reader/api/0/token", &header, "");
    assert_eq!(status, 200);
    for (given, status) in [("", 200), ("&T=x", 200), ("&T=0123", 401), (&format!("&T={own}"), 200)]
    {
        let form = format!("{change}{given}");
        assert_eq!(served.post(&header, "subscription/edit", &form).0, status, "{given}");
    }
    // Wrong ones are limited, valid ones never.
    let wrong = "Authorization: GoogleLogin auth=phone/x\r\n";
    let answers: Vec<u16> = (0..30).map(|_| served.request("GET", list, wrong, "").0).collect();
    assert_eq!(answers.last(), Some(&429));
    assert_eq!(served.request("GET", list, &header, "").0, 200);
    assert!(served.log_in("phone", &phone).is_ok());
    home.run(&["device", "remove", "phone"]).with(0);
    assert!([401, 429].contains(&served.request("GET", list, &header, "").0));
}

#[test]
fn only_the_named_proxy_states_whose_wrong_tokens_count() {
    for (proxy, answers) in [("127.0.0.1", [429, 401, 401, 429]), ("127.0.0.2", [429; 4])] {
        let home = Program::new();
        home.write("config.toml", format!("[serve]\nproxy = \"{proxy}\"\n"));
        let phone = add_device(&home, "phone");
        let served = Served::serve(&home);
        let ask = |from: &str| {
            let header =
                format!("Authorization: GoogleLogin auth=phone/x\r\nX-Forwarded-For: {from}\r\n");
            served.request("GET", "/reader/api/0/tag/list", &header, "").0
        };
        for _ in 0..15 {
            ask("10.0.0.1");
        }
        // What a client states itself is before what the web server adds.
        let states = ["10.0.0.1", "10.0.0.2", "10.0.0.1, 10.0.0.3", "10.0.0.3, 10.0.0.1"];
        assert_eq!(states.map(ask), answers, "{proxy}");
        assert!(served.log_in("phone", &phone).is_ok(), "a valid one never waits");
        // Many wrong ones at once do not make room for more.
        for place in 0..1_000 {
            ask(&format!("10.1.{}.{}", place / 250, place % 250));
        }
        assert_eq!(ask("10.0.0.9"), 429, "{proxy}");
        assert!(served.log_in("phone", &phone).is_ok(), "a valid one never waits");
    }
}

#[test]
fn a_device_adds_only_addresses_of_the_web() {
    let site = press();
    let home = with_feeds(&site);
    home.write(
        "config.toml",
        "[commands]\nallow_sources = true\n[network]\nspace_loopback = false\n",
    );
    let made = home.path("made");
    home.run(&["add", &format!("exec:echo secret-{}", made.display()), "--no-poll"]).with(0);
    let password = add_device(&home, "phone");
    let served = Served::serve(&home);
    let header = served.log_in("phone", &password).unwrap();
    let exec = format!("exec:touch {}", made.display());
    for url in [
        exec.as_str(),
        "filter:cat:http://a.example/",
        "file:///etc/passwd",
        "gopher://a.example/",
        "http://",
        "",
    ] {
        let form = format!("quickadd={}", url.replace(':', "%3A").replace('/', "%2F"));
        let (status, text) = served.post(&header, "subscription/quickadd", &form);
        assert!(status == 400 || text.contains("\"numResults\":0"), "{url}: {text}");
        let form = format!("ac=subscribe&s=feed/{url}");
        assert_eq!(served.post(&header, "subscription/edit", &form).0, 400, "{url}");
    }
    // An address inside the network is never asked on the word of a device.
    let inside = site.at("/inside.xml");
    let (_, text) = served.post(&header, "subscription/quickadd", &format!("quickadd={inside}"));
    let added: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(added["numResults"], 1);
    home.run(&["poll", "--all"]);
    assert!(!made.exists());
    assert!(site.asked("/inside.xml").is_empty());
    // A program is named by its number.
    let (_, list) = served.request("GET", "/reader/api/0/subscription/list", &header, "");
    assert!(
        list.contains("feed/3") && !list.contains("secret") && !list.contains("exec"),
        "{list}"
    );
    // A login in an address is dropped.
    let with_login = "http://ann:pw@a.example/f";
    served.post(&header, "subscription/quickadd", &format!("quickadd={with_login}"));
    let feeds = home.run(&["feeds", "--json"]).with(0).out;
    assert!(feeds.contains("a.example/f") && !feeds.contains("ann:pw"), "{feeds}");
    let add = |at: u32| {
        let form = format!("ac=subscribe&s=feed/http://a.example/{at}");
        served.post(&header, "subscription/edit", &form).0
    };
    let answers: Vec<u16> = (0..20).map(add).collect();
    assert_eq!(answers.iter().filter(|status| **status == 200).count(), 18, "20 in an hour");
    assert_eq!(answers.last(), Some(&429));
}

#[test]
fn a_device_removes_few_feeds_and_none_of_an_account() {
    let home = Program::new();
    let urls: Vec<String> = (1..=8).map(|at| format!("http://a.example/{at}")).collect();
    let args: Vec<&str> = urls.iter().map(String::as_str).collect();
    home.run(&[&["add", "--no-poll"][..], &args].concat()).with(0);
    let password = add_device(&home, "phone");
    let served = Served::serve(&home);
    let header = served.log_in("phone", &password).unwrap();
    let remove = |feed: u32| {
        served.post(&header, "subscription/edit", &format!("ac=unsubscribe&s=feed/{feed}")).0
    };
    let answers: Vec<u16> = (1..=7).map(remove).collect();
    assert_eq!(answers, [200, 200, 200, 200, 200, 403, 403]);
    assert_eq!(remove(1), 400, "it is gone");
    let titles =
        |home: &Program| home.run(&["feeds", "--json"]).with(0).json().as_array().unwrap().len();
    assert_eq!(titles(&home), 3);
    let move_it = "ac=edit&s=feed/7&t=Mine&a=user/-/label/News";
    assert_eq!(served.post(&header, "subscription/edit", move_it).1, "OK");
    let rename = "s=user/-/label/News&dest=user/-/label/Old+News";
    assert_eq!(served.post(&header, "rename-tag", rename).1, "OK");
    let list = served.get(&header, "subscription/list");
    let feed = list["subscriptions"].as_array().unwrap().iter().find(|it| it["id"] == "feed/7");
    let feed = feed.unwrap();
    assert_eq!(
        (&feed["title"], &feed["categories"][0]["label"]),
        (&"Mine".into(), &"Old News".into())
    );
    // The first one refuses what waits for an answer.
    for _ in 0..8 {
        home.run(&["device", "undo", "phone"]).with(0);
    }
    assert_eq!(titles(&home), 8);
}

#[test]
fn removals_that_a_device_may_not_make_wait_for_an_answer() {
    let site = press();
    let (first, home) = (with_feeds(&site), Program::new());
    let laptop = add_device(&first, "laptop");
    let origin = Served::serve(&first);
    let add = ["account", "add", &origin.base, "--user", "laptop", "--name", "first"];
    home.run_with(&add, format!("{laptop}\n").as_bytes()).with(0);
    home.write("config.toml", "[poll]\nautomatic = false\n[network]\nspace_loopback = false\n");
    let password = add_device(&home, "phone");
    let served = Served::serve(&home);
    let header = served.log_in("phone", &password).unwrap();
    let remove = |feed: u32| {
        served.post(&header, "subscription/edit", &format!("ac=unsubscribe&s=feed/{feed}"))
    };
    let count =
        |home: &Program| home.run(&["feeds", "--json"]).with(0).json().as_array().unwrap().len();
    let asks = |home: &Program| home.run(&["device", "list"]).with(0).out.contains("asks to");
    let (status, text) = remove(1);
    assert!(status == 403 && text.contains("waits for an answer"), "{text}");
    assert_eq!((remove(1).0, count(&home)), (403, 2), "nothing is removed");
    let list = home.run(&["device", "list"]).with(0).out;
    assert!(list.contains("asks to unsubscribe from 'Press', also on 'first': "), "{list}");
    // Refused, on the command line and on the screen.
    let refused = home.run(&["device", "undo", "phone"]).with(0).out;
    assert!(refused.contains("taken back: the request to unsubscribe from 'Press'"), "{refused}");
    assert!(!asks(&home));
    assert_eq!(remove(1).0, 403);
    let mut reader = home.start_reader();
    reader.until_it_says("Attention");
    reader.press("!");
    reader.until_it_says("It asks to unsubscribe from 'Press'");
    reader.press("\r");
    reader.until_it_says("? y/n");
    reader.press("n");
    reader.until("no question", |screen| !screen.contents().contains("asks to unsubscribe"));
    assert!(!asks(&home));
    assert_eq!(count(&home), 2);
    // Allowed on the screen: it is a change of the user, who can undo it.
    assert_eq!(remove(1).0, 403);
    reader.until_it_says("Attention");
    reader.press("!\r");
    reader.until_it_says("? y/n");
    reader.press("y");
    wait_until("the feed is removed", || count(&home) == 1);
    reader.press("q");
    // And on the command line.
    assert_eq!(remove(2).0, 403);
    let told = home.run(&["device", "allow", "phone"]).with(0).out;
    assert!(told.contains("done: unsubscribe from 'Press'"), "{told}");
    assert_eq!(count(&home), 0);
    assert!(home.run(&["device", "allow", "phone"]).with(0).err.contains("asks for nothing"));
    home.run(&["undo", "--yes"]).with(0);
    assert_eq!(count(&home), 1);
}

#[test]
fn a_second_backissue_says_whose_word_a_history_is() {
    let site = Site::start(|request| {
        let head = match request.path() {
            "/whole.xml" => "<fh:complete/>".to_owned(),
            "/gap.xml" => {
                "<atom:link rel='prev-archive' href='http://127.0.0.1:9/gone'/>".to_owned()
            }
            _ => return answer(404, &[], ""),
        };
        let body = format!(
            "<rss version='2.0' xmlns:fh='http://purl.org/syndication/history/1.0' xmlns:atom='http://www.w3.org/2005/Atom'>\
             <channel><title>{0}</title>{head}<item><guid>{0}</guid><title>One</title></item></channel></rss>",
            request.path()
        );
        answer(200, &[("content-type", "application/rss+xml")], body)
    });
    let (home, away) = (Program::new(), Program::new());
    for path in ["/whole.xml", "/gap.xml"] {
        home.run(&["add", &site.at(path)]).with(0);
    }
    let here = home.run(&["history", "1"]).with(0).out;
    assert!(here.contains("complete history"), "{here}");
    let password = add_device(&home, "laptop");
    let served = Served::serve(&home);
    let add = ["account", "add", &served.base, "--user", "laptop", "--name", "home"];
    away.run_with(&add, format!("{password}\n").as_bytes()).with(0);
    let [whole, gap] = ["1", "2"].map(|feed| away.run(&["history", feed]).with(0).out);
    assert!(whole.contains("complete, as 127.0.0.1 says"), "{whole}");
    assert!(!whole.contains("complete history"), "{whole}");
    assert!(gap.contains("as 127.0.0.1 says") && gap.contains("┄┄┄ there: "), "{gap}");
}

#[test]
fn the_port_survives_when_a_reader_takes_the_store() {
    let site = press();
    let home = with_feeds(&site);
    home.write("config.toml", "[poll]\nautomatic = false\n");
    let password = add_device(&home, "phone");
    let served = Served::start(&home, &["watch", "--serve", "127.0.0.1:0"]);
    let header = served.log_in("phone", &password).unwrap();
    let unread = served.ids(&header, UNREAD);
    let read = |id: &String| {
        let form = format!("a=user/-/state/com.google/read&i={id}");
        served.post(&header, "edit-tag", &form)
    };
    assert_eq!(read(&unread[0]).1, "OK");
    let mut session = home.start_reader();
    session.until_it_says("News");
    assert_eq!(read(&unread[1]).1, "OK", "through the reader");
    assert_eq!(served.ids(&header, UNREAD), unread[2..]);
    let marking = std::thread::scope(|scope| {
        let marking = scope.spawn(|| unread[2..].iter().map(read).map(|done| done.1).collect());
        session.press("q");
        marking.join().unwrap()
    });
    let marking: Vec<String> = marking;
    assert!(marking.iter().all(|done| done == "OK"), "{marking:?}");
    assert!(served.ids(&header, UNREAD).is_empty(), "nothing is lost in between");
}

#[test]
fn a_reader_serves_devices_until_it_is_told_to_stop() {
    let site = press();
    let home = with_feeds(&site);
    home.write("config.toml", "[poll]\nautomatic = false\n");
    let password = add_device(&home, "phone");
    let mut reader = home.start_reader();
    reader.until_it_says("News");
    reader.press(":serve\r");
    reader.until_it_says("like 'serve 8086'");
    reader.press(":serve here\r");
    reader.until_it_says("use a port such as 8086");
    reader.press(":serve 0\r");
    reader.until_it_says("/api/greader.php");
    let text = reader.text();
    let base = text.split_whitespace().find(|word| word.contains("/api/")).unwrap();
    let served = Served { child: None, base: base.to_owned() };
    let header = served.log_in("phone", &password).unwrap();
    let count = || served.ids(&header, UNREAD).len();
    assert_eq!(count(), 40);
    let port = served.host().rsplit_once(':').unwrap().1;
    reader.press(&format!(":serve {port}\r"));
    reader.until_it_says("cannot be served: the address is in use");
    let mut other = home.start_reader();
    other.until_it_says("take over?");
    other.press("\r");
    other.until_it_says("News");
    assert_eq!(count(), 40, "through the reader that has the store");
    other.press("q");
    other.ended();
    reader.until_it_says(&format!("devices at http://{}", served.host()));
    assert_eq!(count(), 40, "after it came back");
    reader.press(":serve off\r");
    reader.until_it_says("devices are served no longer");
    wait_until("the port is closed", || TcpStream::connect(served.host()).is_err());
    reader.press("q");
    reader.ended();
}

#[test]
fn an_address_of_a_network_is_served_with_a_warning() {
    let home = Program::new();
    let mut child = home.start(&["serve", "--sync", "0.0.0.0:0"]);
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let warned = lines.any(|line| line.unwrap().contains("not encrypted"));
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(warned);
}

#[test]
fn hostile_requests_change_nothing_and_do_not_stop_others() {
    let site = press();
    let home = with_feeds(&site);
    let password = add_device(&home, "phone");
    let served = Served::serve(&home);
    let header = served.log_in("phone", &password).unwrap();
    let before = states(&home);
    let half: Vec<TcpStream> = (0..64).filter_map(|_| served.half_a_request()).collect();
    for path in [
        "/../../etc/passwd",
        "/%2e%2e/config",
        "/reader/api/0/../../x",
        "/reader/api/0/",
        "/reader/api/1/tag/list",
    ] {
        let (status, _) = served.request("GET", path, &header, "");
        assert!([400, 404].contains(&status), "{path}: {status}");
    }
    let long = "x".repeat(100_000);
    let answer = served.raw(format!("GET /{long} HTTP/1.1\r\nHost: a\r\n\r\n").as_bytes());
    assert!(answer.starts_with("HTTP/1.1 4") || answer.is_empty(), "{answer}");
    let body = "i=1&".repeat(400_000);
    assert!([413, 0].contains(&served.post(&header, "edit-tag", &body).0));
    for form in
        ["", "a=user/-/state/com.google/read", "a=user/-/state/com.google/read&i=7&i=x&i=-1"]
    {
        assert_eq!(served.post(&header, "edit-tag", form).1, "OK", "{form}");
    }
    let get = "/reader/api/0/edit-tag?a=user/-/state/com.google/read&i=1";
    assert_eq!(served.request("GET", get, &header, "").0, 400, "GET changes nothing");
    assert_eq!(served.ids(&header, ALL).len(), 40);
    let atom = served.request("GET", "/reader/atom/feed%2F1?n=2", &header, "");
    assert_eq!((atom.0, atom.1.matches("label=\"fresh\"").count()), (200, 2), "{}", atom.1);
    let contents = served.get(&header, "stream/contents/user/-/state/com.google/reading-list?n=3");
    let items = contents["items"].as_array().unwrap();
    for item in items {
        let text = item["summary"]["content"].as_str().unwrap();
        assert!(text.contains("Text ") && text.contains("/p.png\""), "{text}");
        assert!(!text.contains("script") && !text.contains("onerror"), "{text}");
    }
    assert_eq!(items.len(), 3);
    let title = items[0]["title"].as_str().unwrap();
    assert!(!title.contains('<') && !title.contains('&'), "{title}");
    assert_eq!(states(&home), before);
    drop(half);
    ask_to_end(served.child.as_ref().unwrap().id());
    wait_until("the port is closed", || TcpStream::connect(served.host()).is_err());
}

/// A phone that asks as Read You does: streams in the address as they are, pages of ids, contents by the long form of ids, and all
/// states from lists of ids.
struct Phone<'s> {
    served: &'s Served,
    header: String,
    /// Link, read and starred of each entry, by its decimal id.
    entries: BTreeMap<String, (String, bool, bool)>,
}

impl Phone<'_> {
    /// Returns all ids of a stream, in pages; `between` runs after the first page.
    fn listed(&self, query: &str, between: &mut dyn FnMut()) -> BTreeSet<String> {
        let (mut ids, mut from) = (BTreeSet::new(), String::new());
        loop {
            let path =
                format!("stream/items/ids?output=json&s=user/-/state/com.google/{query}&n=7{from}");
            let page = self.served.get(&self.header, &path);
            let refs = page["itemRefs"].as_array().unwrap().iter();
            ids.extend(refs.map(|item| item["id"].as_str().unwrap().to_owned()));
            between();
            let Some(next) = page["continuation"].as_str() else { return ids };
            from = format!("&c={next}");
        }
    }

    fn sync(&mut self, between: &mut dyn FnMut()) {
        let user = self.served.get(&self.header, "user-info?output=json");
        assert_eq!(user["userName"], "phone");
        let feeds = self.served.get(&self.header, "subscription/list?output=json");
        let feeds = feeds["subscriptions"].as_array().unwrap().iter();
        let feeds: BTreeSet<String> =
            feeds.map(|feed| feed["id"].as_str().unwrap().to_owned()).collect();
        let unread = self.listed("reading-list&xt=user/-/state/com.google/read", between);
        let starred = self.listed("starred", between);
        let read = self.listed("read&ot=0", between);
        let all: BTreeSet<String> =
            [&unread, &starred, &read].into_iter().flatten().cloned().collect();
        let new = all.iter().filter(|id| !self.entries.contains_key(*id));
        let form: String = new
            .map(|id| {
                format!(
                    "i=tag%3Agoogle.com%2C2005%3Areader%2Fitem%2F{:016x}&",
                    id.parse::<u64>().unwrap()
                )
            })
            .collect();
        let (status, text) = self.served.post(
            &self.header,
            "stream/items/contents?output=json",
            &format!("{form}T=x"),
        );
        assert_eq!(status, 200, "{text}");
        let contents: Value = serde_json::from_str(&text).unwrap();
        for item in contents["items"].as_array().unwrap() {
            assert!(feeds.contains(item["origin"]["streamId"].as_str().unwrap()), "{item}");
            let hex = item["id"].as_str().unwrap().rsplit('/').next().unwrap();
            let id = u64::from_str_radix(hex, 16).unwrap().to_string();
            let link = item["canonical"][0]["href"].to_string();
            self.entries.insert(id, (link, false, false));
        }
        self.entries.retain(|id, _| all.contains(id));
        for (id, state) in &mut self.entries {
            (state.1, state.2) = (!unread.contains(id), starred.contains(id));
        }
    }

    fn states(&self) -> Vec<(String, bool, bool)> {
        let mut states: Vec<_> = self.entries.values().cloned().collect();
        states.sort();
        states
    }
}

#[test]
fn a_phone_has_the_same_entries_and_marks_at_every_step() {
    let site = press();
    let home = with_feeds(&site);
    let password = add_device(&home, "phone");
    let served = Served::start(&home, &["watch", "--serve", "127.0.0.1:0"]);
    let header = served.log_in("phone", &password).unwrap();
    let mut phone = Phone { served: &served, header: header.clone(), entries: BTreeMap::new() };
    let same = |phone: &Phone<'_>, step: &str| {
        let here: Vec<_> = states(&home).into_iter().map(|(a, b, c, _)| (a, b, c)).collect();
        assert_eq!(phone.states(), here, "{step}");
    };
    phone.sync(&mut || {});
    same(&phone, "first sync");
    assert_eq!(phone.entries.len(), 40);
    let first = numbers(&home);
    home.run(&["mark", "read", &first[0], &first[9], &first[30]]).with(0);
    home.run(&["mark", "starred", &first[0], &first[1]]).with(0);
    phone.sync(&mut || {});
    same(&phone, "marks from home");
    let ids: Vec<String> = phone.entries.keys().take(12).map(|id| format!("&i={id}")).collect();
    let form = format!("T=x&a=user/-/state/com.google/read{}", ids.concat());
    assert_eq!(served.post(&header, "edit-tag?output=json", &form).1, "OK");
    phone.sync(&mut || {});
    same(&phone, "marks from the phone");
    home.run(&["add", &site.at("/three.xml")]).with(0);
    phone.sync(&mut || {});
    same(&phone, "a new feed");
    assert_eq!(phone.entries.len(), 60);
    let form = "T=x&ac=unsubscribe&s=feed/1";
    assert_eq!(served.post(&header, "subscription/edit?output=json", form).1, "OK");
    phone.sync(&mut || {});
    same(&phone, "a feed less");
    assert_eq!(phone.entries.len(), 40);
    // A reader takes the store after the first page, and gives it back after the third.
    let (mut session, mut pages) = (None, 0);
    phone.sync(&mut || {
        pages += 1;
        if pages == 1 {
            let reader = session.insert(home.start_reader());
            reader.until_it_says("News");
        } else if pages == 3 {
            let mut reader = session.take().unwrap();
            reader.press("q");
            reader.ended();
        }
    });
    same(&phone, "a reader in between");
}
