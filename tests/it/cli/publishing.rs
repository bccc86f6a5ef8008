//! `publish`, `serve` and `lint` through the real binary: a feed with archives is published, served, subscribed to by another
//! installation, and checked.

use std::io::{BufRead as _, BufReader};
use std::process::Child;

use serde_json::Value;

use super::hand_over::Watch;
use crate::support::binary::Program;
use crate::support::site::{Site, answer};

/// Answers as a publisher with two archives and a subscription document.
fn press() -> Site {
    Site::start(|request| {
        let links = match request.path() {
            "/feed.atom" => "<link rel='prev-archive' href='/2.atom'/>",
            "/2.atom" => {
                "<fh:archive/><link rel='current' href='/feed.atom'/><link rel='prev-archive' href='/1.atom'/>"
            }
            "/1.atom" => {
                "<fh:archive/><link rel='current' href='/feed.atom'/><link rel='next-archive' href='/2.atom'/>"
            }
            _ => return answer(404, &[], ""),
        };
        let number: u32 =
            request.path().trim_matches(|c: char| !c.is_ascii_digit()).parse().unwrap_or(3);
        let entries: String = (1..=30)
            .map(|at| {
                let day = format!("2026-0{number}-{:02}T0{}:00:00Z", 1 + at % 28, at % 9);
                format!(
                    "<entry><id>urn:{number}-{at}</id><title>Entry {number}-{at} &amp; more</title><link href='/{number}/{at}'/>\
                     <published>{day}</published><updated>{day}</updated><category term='c{at}'/><author><name>Ada</name></author>\
                     <content type='xhtml'><div xmlns='http://www.w3.org/1999/xhtml' dir='rtl'><p>שלום <b>{at}</b></p></div></content></entry>"
                )
            })
            .collect();
        let body = format!(
            "<feed xmlns='http://www.w3.org/2005/Atom' xmlns:fh='http://purl.org/syndication/history/1.0' xml:lang='he'>\
             <id>urn:press</id><title>Press</title><rights>© Press</rights><author><name>Editor</name></author>\
             <updated>2026-0{number}-28T09:00:00Z</updated>{links}{entries}</feed>"
        );
        answer(200, &[("content-type", "application/atom+xml"), ("etag", "\"1\"")], body)
    })
}

/// A served folder; the process ends with the value.
struct Served(Child, String);

impl Served {
    fn start(program: &Program, folder: &str) -> Self {
        let mut child = program.start(&["serve", folder]);
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let _base = lines.next().unwrap().unwrap();
        let feed = lines.next().unwrap().unwrap();
        Self(child, feed)
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

/// Returns the entries of an installation without what only belongs to it.
fn entries(program: &Program) -> Vec<Value> {
    let listed = program.run(&["entries", "--limit", "1000", "--json"]).with(0).json();
    let mut entries: Vec<Value> = listed.as_array().unwrap().clone();
    for entry in &mut entries {
        let fields = entry.as_object_mut().unwrap();
        fields.retain(|name, _| {
            ["id", "title", "link", "author", "published", "updated", "categories"]
                .contains(&name.as_str())
        });
    }
    entries.sort_by_key(ToString::to_string);
    entries
}

#[test]
fn chosen_entries_are_one_feed_without_those_of_private_feeds() {
    let (site, program, other) = (press(), Program::new(), Program::new());
    program.run(&["add", &site.at("/feed.atom"), "--tag", "news"]).with(0);
    program.run(&["add", &site.at("/feed.atom?key=1"), "--tag", "news"]).with(0);
    program.run(&["poll", "--all"]).with(0);
    let out = program.path("public");
    let out = out.to_str().unwrap();
    let command = ["publish", "--tag", "news", "--title", "Town & Port", "--out", out];
    let told = program.run(&command).with(0);
    assert!(told.err.contains("left out 90 entries of 1 feed that may be private"), "{}", told.err);
    assert!(told.err.contains("Town & Port: 90 entries"), "{}", told.err);
    assert!(program.run(&command).with(0).err.contains("(0 written)"));
    let text = std::fs::read_to_string(told.out.trim()).unwrap();
    for kept in
        ["<id>urn:backissue:selection:", "<source>\n<id>urn:press</id>", "rel=\"prev-archive\""]
    {
        assert!(text.contains(kept), "{kept}: {text}");
    }
    assert!(!text.contains("key=1") && !text.contains("fh:complete/"), "{text}");
    let served = Served::start(&program, out);
    other.run(&["add", &served.1]).with(0);
    other.run(&["poll", "--all"]).with(0);
    assert_eq!(entries(&other).len(), 90);
    let checked = program.run_bare(&["lint", &served.1, "--json"]).with(0).json();
    assert_eq!(checked["chain"]["whole"], true, "{checked:#}");

    let few = ["publish", "--query", "Entry 3-1 feed:press", "--out", out];
    let told = program.run(&few).with(0);
    let text = std::fs::read_to_string(told.out.trim()).unwrap();
    assert!(text.contains("Selected entries") && text.contains("<source>"), "{text}");
    assert!(!text.contains("fh:complete/") && !text.contains("-archive\""), "{text}");
    let told = program.run(&["publish", "--starred", "--out", out]).with(0);
    assert!(told.err.contains("Starred entries: 0 entries"), "{}", told.err);
    let none = program.run(&["publish", "--tag", "other", "--out", out]).with(2);
    assert!(none.err.contains("no feed has the tag 'other'"), "{}", none.err);
}

#[test]
fn watch_publishes_what_changed_and_says_so() {
    let (site, program) = (press(), Program::new());
    program.run(&["add", &site.at("/feed.atom")]).with(0);
    let configure = |more: &str| {
        let lines = format!("\"--starred --out public\"{more}");
        program.write(
            "config.toml",
            format!("[poll]\nautomatic = false\n[publish]\nfeeds = [{lines}]"),
        )
    };
    configure("");
    let watch = Watch::start(&program);
    watch.until_it_says("published: Starred entries: 0 entries, 1 document (1 written)");
    let folder = std::fs::read_dir(program.path("public")).unwrap().next().unwrap().unwrap();
    let written = || {
        let path = folder.path().join("feed.atom");
        (
            std::fs::read_to_string(&path).unwrap(),
            std::fs::metadata(path).unwrap().modified().unwrap(),
        )
    };
    let entry = program.run(&["entries", "--json", "--limit", "1"]).with(0).json();
    program.run(&["mark", "starred", entry[0]["number"].as_str().unwrap()]).with(0);
    configure(", \"--tag other --out public\"");
    watch.until_it_says("published: Starred entries: 1 entry, 1 document (1 written)");
    watch.until_it_says("not published: no feed has the tag 'other'");
    let before = written();
    assert_eq!(before.0.matches("<entry>").count(), 1);
    configure(", \"--tag other\"");
    watch.until_it_says("not published: [publish] feeds: '--tag other': error: ");
    assert_eq!(written(), before, "nothing changed");
    assert!(program.run(&["config"]).with(2).err.contains("--out <DIR>"));
    watch.end();
}

#[test]
fn published_feed_is_served_subscribed_to_and_checked() {
    let (site, program, other) = (press(), Program::new(), Program::new());
    program.run(&["add", &site.at("/feed.atom")]).with(0);
    program.run(&["poll", "--all"]).with(0);
    let out = program.path("public");
    let out = out.to_str().unwrap();
    let told = program.run(&["publish", "press", "--out", out]).with(0);
    assert!(told.err.contains("Press: 90 entries, 4 documents (4 written)"), "{}", told.err);
    let again = program.run(&["publish", "press", "--out", out]).with(0);
    assert!(again.err.contains("4 documents (0 written)"), "{}", again.err);
    let feed = told.out.trim().to_owned();
    let text = std::fs::read_to_string(&feed).unwrap();
    for kept in [
        "xml:lang=\"he\"",
        "<rights type=\"text\">© Press</rights>",
        "<name>Editor</name>",
        "<id>urn:press</id>",
    ] {
        assert!(text.contains(kept), "{kept}: {text}");
    }

    let served = Served::start(&program, out);
    other.run(&["add", &served.1]).with(0);
    other.run(&["poll", "--all"]).with(0);
    let kept = entries(&program);
    assert_eq!((kept.len(), entries(&other)), (90, kept));
    let history = other.run(&["history", "press"]).with(0).out;
    assert!(history.contains("complete history"), "{history}");

    let checked = program.run_bare(&["lint", &served.1, "--json"]).with(0).json();
    let wrong: Vec<&Value> = checked["findings"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|finding| finding["level"] != "note")
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert_eq!(
        (&checked["chain"]["archives"], &checked["chain"]["whole"]),
        (&3.into(), &true.into())
    );
}

/// Answers as a paid feed without a title, whose links hold the key of the subscriber and lead where they should not.
fn paid() -> Site {
    Site::start(|_| {
        let links =
            ["https://me:hunter2@a.example/1", "https://a.example/2?apikey=hunter2&amp;p=2"];
        let bad = ["javascript:hunter2()", "file:///hunter2", "data:text/html,hunter2"];
        let entries: String = (0..5)
            .map(|at| {
                let link = links.iter().chain(&bad).nth(at).unwrap();
                let name = if at < 2 { link } else { "Ada" };
                format!(
                    "<entry><id>{name}{at}</id><title>See {name}</title><link href='{link}'/><link rel='replies' href='{link}'/>\
                     <link rel='enclosure' type='audio/mpeg' href='{link}'/><updated>2026-01-0{}T00:00:00Z</updated>\
                     <author><name>{name}</name></author><content type='html'>&lt;a href='{}'&gt;text {at}&lt;/a&gt;</content></entry>",
                    at + 1,
                    link.replace('&', "&amp;"),
                )
            })
            .collect();
        let body = format!("<feed xmlns='http://www.w3.org/2005/Atom'>{entries}</feed>");
        answer(200, &[("content-type", "application/atom+xml")], body)
    })
}

/// Returns the texts of the compressed parts of a book.
fn parts(book: &[u8]) -> Vec<String> {
    let two = |at: usize| usize::from(u16::from_le_bytes([book[at], book[at + 1]]));
    let heads = memchr::memmem::find_iter(book, b"PK\x03\x04").filter(|at| two(at + 8) == 8);
    let text = |at: usize| {
        let start = at + 30 + two(at + 26) + two(at + 28);
        std::io::read_to_string(flate2::read::DeflateDecoder::new(&book[start..])).unwrap()
    };
    heads.map(text).collect()
}

#[test]
fn nothing_that_leaves_contains_a_secret_or_a_link_elsewhere() {
    let (site, program) = (paid(), Program::new());
    program.run(&["add", &site.at("/feed.atom?apikey=hunter2")]).with(0);
    let file = |name: &str| program.path(name).to_str().unwrap().to_owned();
    program.run(&["mark", "star", "--all", "--yes"]);
    let mut written = vec![program.run(&["publish", "1", "--out", &file("public")]).with(0).out];
    written[0] = std::fs::read_to_string(written[0].trim()).unwrap();
    for name in ["a.html", "a.json", "a.md", "a.epub"] {
        program.run(&["export", &file(name), "--entries", "text"]).with(0);
        let bytes = std::fs::read(file(name)).unwrap();
        written.push(String::from_utf8_lossy(&bytes).into_owned());
    }
    written.extend(parts(&std::fs::read(file("a.epub")).unwrap()));
    for text in &written {
        for secret in ["hunter2", "javascript:", "file:", "data:"] {
            assert!(!text.contains(secret), "{secret}: {text}");
        }
    }
    for kept in ["https://a.example/1", "https://a.example/2?p=2", "127.0.0.1/feed.atom"] {
        let named = written.iter().filter(|text| text.replace("&amp;", "&").contains(kept)).count();
        assert!(named >= 4, "{kept}: {named}");
    }
}

#[test]
fn publish_refuses_the_folders_of_other_feeds_and_programs() {
    let (site, program) = (press(), Program::new());
    program.run(&["add", &site.at("/feed.atom")]).with(0);
    let out = program.path("public");
    let run = |more: &[&str]| {
        program.run(&[&["publish", "press", "--out", out.to_str().unwrap()], more].concat())
    };
    let feed = run(&[]).with(0).out.trim().to_owned();
    let before = std::fs::read_to_string(&feed).unwrap();
    for text in ["<feed/>".to_owned(), before.replace("urn:press", "urn:other")] {
        std::fs::write(&feed, &text).unwrap();
        let refused = run(&[]).with(2);
        assert!(refused.err.contains("is not a document of this feed"), "{}", refused.err);
        assert_eq!(std::fs::read_to_string(&feed).unwrap(), text);
        run(&["--force"]).with(0);
        assert_eq!(std::fs::read_to_string(&feed).unwrap(), before);
    }
    let bad = run(&["--base-url", "ftp://site.example/"]).with(2);
    assert!(bad.err.contains("is not the address of a folder"), "{}", bad.err);
    run(&["--archives", "0"]).with(2);
    let few = run(&["--interval"]).with(0);
    assert!(few.err.contains("no schedule stated for 'Press'"), "{}", few.err);
}

#[test]
fn lint_formats_and_severity_suit_continuous_integration() {
    let program = Program::new();
    let warned = program.write("warned.xml", "<rss version='2.0'><channel><title>T</title><link>https://a.example/</link><ttl>soon</ttl><item><guid>urn:1</guid><title>x</title></item></channel></rss>");
    let twice = "<item><guid>urn:1</guid><link>https://a.example/1</link></item><item><guid>urn:1</guid><link>https://a.example/1</link></item>";
    let failed = program.write(
        "failed.xml",
        format!("<rss version='2.0'><channel><title>T</title>{twice}</channel></rss>"),
    );
    let none = program.write("none.txt", "hello");
    for (file, fail_on, status) in [
        (&warned, "warning", 1),
        (&warned, "error", 0),
        (&failed, "error", 1),
        (&none, "error", 2),
        (&"no such file".to_owned(), "error", 2),
    ] {
        program.run_bare(&["lint", file, "--fail-on", fail_on]).with(status);
    }
    let sarif = program.run_bare(&["lint", &warned, "--format", "sarif"]).with(1).json();
    assert_eq!(sarif["version"], "2.1.0");
    assert!(
        sarif["runs"][0]["results"]
            .as_array()
            .unwrap()
            .iter()
            .any(|result| result["ruleId"] == "hints/ttl")
    );
    let lines = program.run_bare(&["lint", &warned, "--format", "github"]).with(1).out;
    assert!(lines.lines().all(|line| line.starts_with("::")), "{lines}");
    let text = program.run_bare(&["lint", &warned]).with(1).out;
    assert!(text.contains("mend: state the interval once"), "{text}");
    program.run_bare(&["lint", &warned, "--json", "--format", "github"]).with(2);
}
