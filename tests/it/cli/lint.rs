//! `lint URL` in the real binary over loopback, on sound and faulty archive chains.

use backissue::io::http_server::{ServedAnswer, ServedRequest};
use serde_json::Value;

use crate::support::binary::Program;
use crate::support::site::{Site, answer};

const GOOD: [(&str, &str); 3] = [
    ("content-type", "application/atom+xml"),
    ("etag", "\"one\""),
    ("cache-control", "max-age=600"),
];

/// Returns a document of the chain with one entry, dated `number` days after 1 January; number 0 is the oldest archive, 3 the
/// subscription document.
fn document(number: u32, links: &str) -> String {
    let (mark, current) = if number < 3 {
        ("<fh:archive/>", "<link rel='current' href='/feed.atom'/>")
    } else {
        ("", "")
    };
    let current = if links.contains("without-current") { "" } else { current };
    format!(
        "<feed xmlns='http://www.w3.org/2005/Atom' xmlns:fh='http://purl.org/syndication/history/1.0'>\
         <title>Press</title><id>urn:press</id><updated>2026-01-0{0}T00:00:00Z</updated>{mark}{current}{links}\
         <entry><id>urn:e{number}</id><title>{number}</title><link href='/{number}'/>\
         <updated>2026-01-0{0}T00:00:00Z</updated><content>Text</content></entry></feed>",
        number + 1
    )
}

/// Answers a request as a publisher does whose feed and archives have no faults.
fn sound(request: &ServedRequest) -> ServedAnswer {
    if request.header("if-none-match") == Some("\"one\"") {
        return answer(304, &GOOD, "");
    }
    let link = |rel: &str, href: &str| format!("<link rel='{rel}' href='{href}'/>");
    let links = match request.path() {
        "/feed.atom" => (3, link("self", "/feed.atom") + &link("prev-archive", "/2.atom")),
        "/2.atom" => (2, link("self", "/2.atom") + &link("prev-archive", "/1.atom")),
        "/1.atom" => (
            1,
            link("self", "/1.atom")
                + &link("prev-archive", "/0.atom")
                + &link("next-archive", "/2.atom"),
        ),
        "/0.atom" => (0, link("self", "/0.atom") + &link("next-archive", "/1.atom")),
        _ => return answer(404, &[], ""),
    };
    answer(200, &GOOD, document(links.0, &links.1))
}

/// Returns the errors and warnings of a `lint --json` output, each as `level element path`.
fn wrong(site: &Site, verdict: &Value) -> Vec<String> {
    let findings = verdict["findings"].as_array().unwrap().iter();
    let wrong = findings.filter(|finding| finding["level"] != "note");
    wrong
        .map(|finding| {
            let text = |name: &str| finding[name].as_str().unwrap();
            let path = text("url").strip_prefix(&site.at("")).unwrap();
            format!("{} {} {path}", text("level"), text("element"))
        })
        .collect()
}

/// Checks what `lint` finds if a faultless publisher answers the requests for `path` with `otherwise`.
#[track_caller]
fn check(
    path: &'static str,
    otherwise: impl Fn() -> ServedAnswer + Send + Sync + 'static,
    expected: &[&str],
) {
    let site = Site::start(
        move |request| {
            if request.path() == path { otherwise() } else { sound(&request) }
        },
    );
    let ended = Program::new().run(&["lint", &site.at("/feed.atom"), "--json"]).with(1);
    assert_eq!(wrong(&site, &ended.json()), expected, "{ended:#?}");
}

#[test]
fn sound_chain_is_walked_once_without_findings() {
    let site = Site::start(|request| sound(&request));
    let program = Program::new();
    let ended = program.run(&["lint", &site.at("/feed.atom"), "--json"]).with(0);
    let verdict = ended.json();
    assert_eq!(wrong(&site, &verdict), [""; 0]);
    assert_eq!(
        (&verdict["chain"]["archives"], &verdict["chain"]["whole"]),
        (&3.into(), &true.into())
    );
    for path in ["/2.atom", "/1.atom", "/0.atom"] {
        let asked = site.asked(path);
        assert_eq!(asked.len(), 1, "{path}");
        assert_eq!(asked[0].header("if-none-match"), None);
    }
    // `lint` requests the subscription document a second time, with the validators of the first response.
    assert_eq!(site.asked("/feed.atom").len(), 2);
    assert!(!program.data().exists(), "nothing is kept");
    let told = program.run(&["lint", &site.at("/feed.atom")]).with(0).out;
    assert!(told.contains("3 archives with 3 entries could be read"), "{told}");
}

#[test]
fn loop_wrong_self_missing_link_and_type_are_found() {
    let atom = |number, links: &'static str| move || answer(200, &GOOD, document(number, links));
    check(
        "/0.atom",
        atom(
            0,
            "<link rel='self' href='/0.atom'/><link rel='next-archive' href='/1.atom'/><link rel='prev-archive' href='/2.atom'/>",
        ),
        &["error prev-archive /0.atom"],
    );
    check(
        "/1.atom",
        atom(
            1,
            "<link rel='self' href='/feed.atom'/><link rel='next-archive' href='/2.atom'/><link rel='prev-archive' href='/0.atom'/>",
        ),
        &["warning self /1.atom"],
    );
    check(
        "/0.atom",
        atom(
            0,
            "<!-- without-current --><link rel='self' href='/0.atom'/><link rel='next-archive' href='/1.atom'/>",
        ),
        &["warning current /0.atom"],
    );
    check(
        "/0.atom",
        || {
            let links =
                "<link rel='self' href='/0.atom'/><link rel='next-archive' href='/1.atom'/>";
            answer(200, &[("content-type", "text/html")], document(0, links))
        },
        &["warning Content-Type /0.atom"],
    );
    check("/1.atom", || answer(403, &[], ""), &["error prev-archive /2.atom"]);
    check(
        "/1.atom",
        || answer(200, &[], "<html><title>Log in</title></html>"),
        &["error prev-archive /2.atom"],
    );
}

#[test]
fn server_ignoring_its_validators_is_found() {
    let site = Site::start(|mut request| {
        request.headers.clear();
        sound(&request)
    });
    let ended = Program::new().run(&["lint", &site.at("/feed.atom"), "--json"]).with(1);
    assert_eq!(wrong(&site, &ended.json()), ["warning validators /feed.atom"]);
}

#[test]
fn faulty_answers_with_only_new_entries_are_found() {
    for (im, vary, expected) in [
        (Some("feed"), "a-im", &[][..]),
        (None, "a-im", &["warning IM /feed.atom"]),
        (Some("feed"), "accept-encoding", &["warning Vary /feed.atom"]),
    ] {
        let site = Site::start(move |request| {
            if request.header("a-im") != Some("feed") {
                return sound(&request);
            }
            let more = [("vary", vary), ("im", im.unwrap_or_default())];
            let more = more.into_iter().filter(|(_, value)| !value.is_empty());
            let headers: Vec<(&str, &str)> = GOOD.into_iter().chain(more).collect();
            answer(226, &headers, document(3, "<link rel='self' href='/feed.atom'/>"))
        });
        let status = i32::from(!expected.is_empty());
        let ended = Program::new().run(&["lint", &site.at("/feed.atom"), "--json"]).with(status);
        assert_eq!(wrong(&site, &ended.json()), expected, "{ended:#?}");
        let asked = site.asked("/feed.atom");
        let sent: Vec<Option<&str>> = asked.iter().map(|one| one.header("a-im")).collect();
        assert_eq!(sent, [None, Some("feed")], "only with validators");
    }
}

#[test]
fn lint_of_a_non_feed_is_refused_in_one_sentence() {
    let page = "<html><head><title>Press</title><link rel='alternate' type='application/atom+xml' \
                href='/feed.atom'></head></html>";
    let site = Site::start(move |request| match request.path() {
        "/" => answer(200, &[("content-type", "text/html")], page),
        _ => answer(500, &[], ""),
    });
    let program = Program::new();
    let why = program.run(&["lint", &site.at("/")]).refused(2);
    assert!(why.contains("a web page") && why.contains("/feed.atom"), "{why}");
    let why = program.run(&["lint", &site.at("/broken")]).refused(2);
    assert!(why.contains("the status is 500"), "{why}");
    program.run(&["lint", &site.at("/"), "--offline"]).refused(2);
    program.run(&["lint", &site.at("/"), "--url", "https://a.example/"]).refused(2);
}
