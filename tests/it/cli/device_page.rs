//! The page for browsers, through the real binary: what it shows, what it never does, and who sees nothing.

use backissue::io::pictures::PictureCache;

use super::devices::{Served, add_device, numbers, press, states, with_feeds};
use crate::support::binary::Program;

/// A PNG of one pixel.
const PIXEL: &[u8] =
    b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0\x1f\x15\xc4\x89";

/// A browser at a served page.
struct Browser<'s> {
    served: &'s Served,
    cookie: String,
    /// By which its forms are known.
    token: String,
}

/// An answer: status, head and body.
struct Answer(u16, String, String);

impl<'s> Browser<'s> {
    fn new(served: &'s Served) -> Self {
        Self { served, cookie: String::new(), token: String::new() }
    }

    fn logged_in(served: &'s Served, name: &str, password: &str) -> Self {
        let mut browser = Self::new(served);
        let form = format!("Email={name}&Passwd={password}");
        let Answer(status, head, _) = browser.post("/login", &form, "");
        assert_eq!(status, 303, "{head}");
        let cookie = head.lines().find_map(|line| line.strip_prefix("set-cookie: ")).unwrap();
        assert!(cookie.contains("; HttpOnly; SameSite=Strict"), "{cookie}");
        let value = cookie.split(';').next().unwrap();
        browser.cookie = format!("Cookie: {value}\r\n");
        let page = browser.get("/").2;
        let token = page.split("name=\"T\" value=\"").nth(1).unwrap();
        token.split('"').next().unwrap().clone_into(&mut browser.token);
        browser
    }

    fn send(&self, method: &str, path: &str, header: &str, body: &str) -> Answer {
        let (host, length) = (self.served.host(), body.len());
        let host =
            if header.contains("Host: ") { String::new() } else { format!("Host: {host}\r\n") };
        let answer = self.served.raw(
            format!(
                "{method} {path} HTTP/1.1\r\n{host}{header}Connection: close\r\nContent-Length: {length}\r\n\r\n{body}"
            )
            .as_bytes(),
        );
        let status = answer.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
        let (head, body) = answer.split_once("\r\n\r\n").unwrap_or_default();
        Answer(status, head.to_owned(), body.to_owned())
    }

    fn get(&self, path: &str) -> Answer {
        self.send("GET", path, &self.cookie, "")
    }

    fn post(&self, path: &str, form: &str, header: &str) -> Answer {
        self.send("POST", path, &format!("{}{header}", self.cookie), form)
    }

    /// Sets a mark as the forms of the page do.
    fn set(&self, mark: &str, entry: &str) -> Answer {
        self.post("/mark", &format!("T={}&set={mark}&i={entry}", self.token), "")
    }
}

fn served(home: &Program) -> (Served, String) {
    let password = add_device(home, "phone");
    (Served::serve(home), password)
}

#[test]
fn page_shows_lists_entries_and_why_without_scripts() {
    let site = press();
    let home = with_feeds(&site);
    let first = numbers(&home);
    home.run(&["mark", "starred", &first[3]]).with(0);
    home.run(&["mark", "read", &first[4], &first[5]]).with(0);
    let (served, password) = served(&home);
    let browser = Browser::logged_in(&served, "phone", &password);
    let rows = |page: &str| page.matches("<li class=\"unread\">").count();
    let mut pages = Vec::new();
    let mut open = |path: &str| {
        let Answer(status, head, body) = browser.get(path);
        assert_eq!(status, 200, "{path}: {head}");
        pages.push(body.clone());
        body
    };
    let unread = open("/");
    assert!(unread.contains("Unread 38") && unread.contains("News 38"), "{unread}");
    assert_eq!(rows(&unread), 38);
    assert!(unread.contains("Entry 3 &lt;b&gt; "), "{unread}");
    assert_eq!(rows(&open("/?tag=News")), 38);
    assert_eq!(rows(&open("/?tag=Nothing")), 0);
    assert_eq!(open("/?show=starred").matches("★ ").count(), 1);
    assert_eq!(open("/?show=all").matches("entry?id=").count(), 40);
    assert!(open("/feeds").contains("feed=2\">Press</a>"));
    let feed = open("/?feed=1");
    assert!(
        feed.contains("<summary>") && feed.contains("this feed offers no older entries"),
        "{feed}"
    );
    assert_eq!(open("/?q=text+7").matches("entry?id=").count(), 2);
    assert!(open("/?q=%28").contains("class=\"told\""), "a query that is wrong");
    let number = &first[0];
    let entry = open(&format!("/entry?id={number}&in=show%3Dall"));
    assert!(entry.contains("Text ") && entry.contains("href=\"./?show=all\""), "{entry}");
    assert!(entry.contains("Mark as read") && entry.contains("<summary>"), "{entry}");
    for page in &pages {
        for wild in ["<script", "onerror", "javascript:", "style=", "<b>", "src=\"http"] {
            assert!(!page.contains(wild), "{wild}: {page}");
        }
    }
}

#[test]
fn pictures_come_only_from_the_own_cache() {
    let site = press();
    let home = with_feeds(&site);
    let list = home.run(&["entries", "--json", "--limit", "40"]).with(0).json();
    let link = list[0]["link"].as_str().unwrap();
    let picture = format!("{}/p.png", link.rsplit_once('/').unwrap().0);
    let (served, password) = served(&home);
    let browser = Browser::logged_in(&served, "phone", &password);
    let entry = format!("/entry?id={}", list[0]["number"].as_str().unwrap());
    let before = browser.get(&entry).2;
    assert!(!before.contains("<img"), "{before}");
    PictureCache::beside(&home.data()).keep(&picture, PIXEL).unwrap();
    let page = browser.get(&entry).2;
    let address = page.split("<img src=\"").nth(1).unwrap().split('"').next().unwrap();
    let Answer(status, head, _) = browser.get(&format!("/{address}"));
    assert!(status == 200 && head.contains("content-type: image/png"), "{head}");
    assert_eq!(Browser::new(&served).get(&format!("/{address}")).0, 401, "without a login");
    for wrong in ["../config.toml", "%2e%2e%2fdevices", "0", &"0".repeat(32), &picture] {
        assert_eq!(browser.get(&format!("/picture?of={wrong}")).0, 404, "{wrong}");
    }
    PictureCache::beside(&home.data()).keep(&picture, b"<svg><script>x()</script></svg>").unwrap();
    assert_eq!(browser.get(&format!("/{address}")).0, 404, "only pictures of pixels");
    assert!(site.asked("/p.png").is_empty());
}

#[test]
fn every_answer_to_a_browser_is_sealed() {
    let site = press();
    let home = with_feeds(&site);
    let (served, password) = served(&home);
    let browser = Browser::logged_in(&served, "phone", &password);
    let stranger = Browser::new(&served);
    for (browser, path) in [
        (&browser, "/"),
        (&browser, "/entry?id=1.0"),
        (&browser, "/nothing"),
        (&browser, "/style.css"),
        (&stranger, "/"),
        (&stranger, "/entry?id=1.0"),
    ] {
        let Answer(_, head, _) = browser.get(path);
        for line in [
            "content-security-policy: default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
            "x-frame-options: DENY",
            "referrer-policy: same-origin",
            "cache-control: no-store",
            "x-content-type-options: nosniff",
        ] {
            assert!(head.contains(line), "{path} {line}: {head}");
        }
    }
    // Without a login nothing is shown, on this machine too.
    for path in ["/", "/feeds", "/entry?id=1.0", "/?q=text", "/picture?of=1", "/nothing"] {
        let Answer(status, _, body) = stranger.get(path);
        assert!(status == 401 && body.contains("Passwd") && !body.contains("Press"), "{body}");
    }
    // A name that a stranger's name server may lead here.
    for (host, status) in
        [("evil.example", 421), ("127.0.0.1.evil.example:80", 421), ("localhost", 200)]
    {
        let header = format!("Host: {host}\r\n{}", browser.cookie);
        assert_eq!(browser.send("GET", "/", &header, "").0, status, "{host}");
    }
}

#[test]
fn only_a_form_of_the_page_changes_something() {
    let site = press();
    let home = with_feeds(&site);
    let other = add_device(&home, "other");
    let (served, password) = served(&home);
    let browser = Browser::logged_in(&served, "phone", &password);
    let stranger = Browser::new(&served);
    let other = Browser::logged_in(&served, "other", &other);
    let (before, first) = (states(&home), numbers(&home));
    let form = format!("T={}&set=read&i={}", browser.token, first[0]);
    for path in
        ["/", "/?feed=1", &format!("/entry?id={}", first[0]), &format!("/mark?{form}"), "/logout"]
    {
        browser.get(path);
    }
    let host = served.host();
    for (from, form, header) in [
        (&browser, format!("set=read&i={}", first[0]), String::new()),
        (&browser, form.replace("T=", "T=0"), String::new()),
        (&other, form.clone(), String::new()),
        (&stranger, form.clone(), String::new()),
        (&browser, form.clone(), "Origin: http://evil.example\r\n".into()),
        (&browser, form.clone(), "Origin: null\r\n".into()),
        (&browser, form.clone(), "Sec-Fetch-Site: cross-site\r\n".into()),
        (&browser, form.replace("set=read", "set=hidden"), String::new()),
    ] {
        let status = from.post("/mark", &form, &header).0;
        assert!([400, 401, 403].contains(&status), "{form} {header} {status}");
    }
    let header = served.log_in("phone", &password).unwrap();
    assert_eq!(stranger.post("/mark", &form, &header).0, 401, "the token of an app is no cookie");
    let login = format!("/login?Email=phone&Passwd={password}");
    assert_eq!(stranger.get(&login).0, 400, "no password in an address");
    assert_eq!(states(&home), before);
    let own = format!("Origin: http://{host}\r\nSec-Fetch-Site: same-origin\r\n");
    let Answer(status, head, _) = browser.post("/mark", &form, &own);
    assert!(status == 303 && head.contains("location: ./?"), "{head}");
    let Answer(status, head, _) =
        browser.post("/mark", &format!("{form}&to=entry&in=//evil.example"), "");
    assert!(status == 303 && head.contains("location: entry?id="), "{head}");
    assert!(!head.contains("evil"), "{head}");
    for (mark, entry) in [("starred", &first[1]), ("read", &first[2]), ("unread", &first[2])] {
        assert_eq!(browser.set(mark, entry).0, 303);
    }
    let changed = states(&home).into_iter().filter(|state| state.1 || state.2).count();
    assert_eq!(changed, 2);
    // The page names its last step, and takes back that one only.
    let button = |page: &str| {
        let step = page.split("name=\"step\" value=\"").nth(1)?.split('"').next()?.to_owned();
        Some((step, page.split("value=\"undo\">").nth(1)?.split('<').next()?.to_owned()))
    };
    let (step, words) = button(&browser.get("/").2).unwrap();
    assert_eq!(words, "Undo: 1 entry marked unread");
    let undo = format!("T={}&set=undo&step={}", browser.token, step.replace('+', "%2B"));
    for _ in 0..2 {
        assert_eq!(browser.post("/mark", &undo, "").0, 303, "twice takes back one");
    }
    assert_eq!(button(&browser.get("/?show=all").2).unwrap().1, "Undo: 1 entry marked read");
    for _ in 0..3 {
        home.run(&["device", "undo", "phone"]).with(0);
    }
    assert_eq!(states(&home), before, "each mark was a step of the device");
    assert_eq!(button(&browser.get("/").2), None);
    // Leaving, and being locked out.
    let Answer(_, head, _) = browser.post("/logout", &format!("T={}", browser.token), "");
    assert!(head.contains("set-cookie: backissue=; Path=/; Max-Age=0"), "{head}");
    home.run(&["device", "remove", "phone"]).with(0);
    assert_eq!(browser.get("/").0, 401);
    let wrong = |_| stranger.post("/login", "Email=phone&Passwd=x", "").0;
    let answers: Vec<u16> = (0..30).map(wrong).collect();
    assert_eq!(answers.last(), Some(&429), "wrong passwords are limited");
}

#[test]
fn page_is_read_while_a_reader_has_the_store() {
    let site = press();
    let home = with_feeds(&site);
    home.write("config.toml", "[poll]\nautomatic = false\n");
    let (served, password) = served(&home);
    let mut reader = home.start_reader();
    reader.until_it_says("News");
    let browser = Browser::logged_in(&served, "phone", &password);
    let first = numbers(&home);
    // Connections that never ask for anything keep nobody waiting.
    let half: Vec<_> = (0..64).filter_map(|_| served.half_a_request()).collect();
    reader.press("?");
    reader.until_it_says("next unread entry");
    reader.press("\x1b");
    assert!(browser.get("/").2.contains("Unread 40"));
    drop(half);
    assert_eq!(browser.set("read", &first[0]).0, 303);
    assert!(browser.get("/").2.contains("Unread 39"));
    reader.press("q");
}
