//! Discovery of feeds from a page: links in pages and headers, and the addresses tried if there are none (SPEC D.9).

use backissue::io::http_server::{ServedAnswer, ServedRequest};

use super::{feeds, new_program};
use crate::support::documents::rss;
use crate::support::site::{Site, answer};

const HTML: (&str, &str) = ("content-type", "text/html");

/// Starts a site that serves HTML pages, and feeds at the paths that start with `/f/`.
fn site() -> Site {
    Site::start(|request: ServedRequest| respond(&request.path_and_query))
}

fn respond(path: &str) -> ServedAnswer {
    let alternate = |href: &str| format!("<link rel=alternate type=text/rss href={href}>");
    let body = match path {
        "/dead-first" => alternate("/dead") + &alternate("/f/live"),
        "/anchor" => "<a href=/about>About</a> <a href=/f/news.xml>RSS feed</a>".to_owned(),
        "/order" => {
            let link = |number| format!("<a href=/x{number}>RSS</a>");
            (0..9).map(link).collect::<String>() + "<a href=http://other.example/rss>RSS</a>"
        }
        "/refresh" => "<meta http-equiv=refresh content='0; URL=/en/'>".to_owned(),
        "/en/" => alternate("/f/en"),
        "/round" => "<meta http-equiv=refresh content='0; url=/about'>".to_owned(),
        "/itself" => alternate("/itself"),
        path if path.starts_with("/consent") => "<form>Before you continue</form>".to_owned(),
        "/about" => "<meta http-equiv=refresh content='0; url=/round'>".to_owned(),
        "/elsewhere" => alternate("http://localhost:9/f"),
        "/header" => {
            let link = "</s.css>; rel=preload, </f/hdr>; rel=\"alternate\"; type=\"text/rss\"";
            return answer(200, &[HTML, ("link", link)], "<title>x</title>");
        }
        "/header-refresh" => return answer(200, &[HTML, ("refresh", "0; url=/f/r")], ""),
        "/general" => "<link rel=alternate type=application/xml href=/f/general>".to_owned(),
        "/after-dead" => {
            "<link rel=alternate type=application/json href=/f/json>".to_owned()
                + &alternate("/dead")
        }
        "/channel" => return answer(302, &[("location", "/consent?continue=/channel")], ""),
        path if path.starts_with("/f/") => return answer(200, &[], rss("T", "e", 1)),
        _ => return answer(404, &[], ""),
    };
    answer(200, &[HTML], format!("<!doctype html><title>x</title>{body}"))
}

#[test]
fn a_feed_is_found_however_its_page_names_it() {
    let site = site();
    for (page, feed) in [
        ("/dead-first", "/f/live"),
        ("/anchor", "/f/news.xml"),
        ("/refresh", "/f/en"),
        ("/header", "/f/hdr"),
        ("/header-refresh", "/f/r"),
        ("/general", "/f/general"),
        ("/after-dead", "/f/json"),
    ] {
        let program = new_program();
        let told = program.run(&["add", &site.at(page)]).with(0);
        assert!(told.out.contains(&site.at(feed)), "{page}: {}", told.out);
        assert_eq!(feeds(&program)[0]["url"], site.at(feed), "{page}");
        if page == "/dead-first" {
            let taken = format!("offers 2 feeds; subscribed to {}:", site.at(feed));
            assert!(told.out.contains(&taken), "{}", told.out);
        }
    }
}

/// SPEC D.9: the program tries at most five links of a page, and then the usual feed addresses of the site.
#[test]
fn few_links_of_the_same_site_are_tried() {
    let (site, program) = (site(), new_program());
    let told = program.run(&["add", &site.at("/order")]).with(2);
    assert!(told.err.contains("links to no feed"), "{}", told.err);
    let asked: Vec<String> =
        site.all_requests().into_iter().map(|request| request.path_and_query).collect();
    assert_eq!(asked[1..6], ["/x0", "/x1", "/x2", "/x3", "/x4"]);
    assert_eq!(asked[6..], ["/", "/feed", "/feed.xml", "/rss.xml", "/atom.xml", "/index.xml"]);
}

/// SPEC D.9: the address of an article leads to the pages above it, which may link to the feed, and to common addresses.
#[test]
fn an_article_leads_to_the_feed_of_its_site() {
    let link = "<link rel=alternate type=text/rss href=/f/home>";
    for (page, feed) in [
        (("/", link), "/f/home"),
        (("/blog/", link), "/f/home"),
        (("/", "<a href=/f/x.xml>RSS</a>"), "/f/x.xml"),
        (("", ""), "/rss.xml"),
        (("", ""), "/index.xml"),
        (("", ""), "/rss"),
        (("", ""), "/blog/rss.xml"),
    ] {
        let site = Site::start(move |request: ServedRequest| match request.path() {
            path if path == feed => answer(200, &[], rss("T", "e", 1)),
            "/blog/post-1" => answer(200, &[HTML], "<!doctype html><p>Hello"),
            path if path == page.0 => answer(200, &[HTML], format!("<!doctype html>{}", page.1)),
            _ => answer(404, &[], ""),
        });
        let program = new_program();
        program.run(&["add", &site.at("/blog/post-1")]).with(0);
        assert_eq!(feeds(&program)[0]["url"], site.at(feed), "{page:?}");
        assert!(site.all_requests().len() <= 12, "{page:?}");
    }
}

/// A service that keeps programs away answers with a page of its own. No address is requested twice.
#[test]
fn a_guarded_feed_is_called_so() {
    let site = Site::start(|request: ServedRequest| match request.path() {
        "/blog/rss.xml" => {
            answer(200, &[HTML], "<html><script src='/_Incapsula_Resource?a=1'></script><body>")
        }
        _ => answer(404, &[], ""),
    });
    let told = new_program().run(&["add", &site.at("/blog/rss.xml")]).with(2);
    assert!(told.err.contains("Imperva guards the site"), "{}", told.err);
    let mut asked: Vec<String> =
        site.all_requests().into_iter().map(|request| request.path_and_query).collect();
    let all = asked.len();
    asked.sort();
    asked.dedup();
    assert_eq!(asked.len(), all, "{asked:?}");
}

/// SPEC D.2: a server that refuses the usual formats, or sends its data instead of a page, is asked once more at once, and by later
/// polls in the same way.
#[test]
fn a_page_for_browsers_only_leads_to_its_feed() {
    let site = Site::start(|request: ServedRequest| {
        let accept = request.header("accept").unwrap_or_default();
        let is_browser = accept.contains("text/html");
        match request.path() {
            "/406" | "/415" if is_browser => answer(200, &[], rss("T", "e", 1)),
            "/406" => answer(406, &[], ""),
            "/415" => answer(415, &[], ""),
            "/data" if !is_browser => answer(200, &[], "{\"type\": \"Person\"}"),
            "/data" => answer(200, &[HTML], "<link rel=alternate type=text/rss href=/406>"),
            // As the ActivityPub plugin of WordPress does.
            "/json" if accept.contains("application/json") => answer(200, &[], "{}"),
            "/json" => answer(200, &[], rss("T", "e", 1)),
            _ => answer(404, &[], ""),
        }
    });
    for (path, requests) in [("/406", 2), ("/415", 2), ("/data", 4), ("/json", 1)] {
        let (program, before) = (new_program(), site.all_requests().len());
        program.run(&["add", &site.at(path)]).with(0);
        assert_eq!(site.all_requests().len() - before, requests, "{path}");
        program.run(&["poll", "--all", "--force"]).with(0);
        assert_eq!(site.all_requests().len() - before, requests + 1, "{path}: what worked is kept");
    }
}

#[test]
fn a_page_that_asks_for_consent_is_named() {
    let (site, program) = (site(), new_program());
    let told = program.run(&["add", &site.at("/channel")]).with(2);
    assert!(told.err.contains("asks for consent"), "{}", told.err);
    assert_eq!(site.all_requests().len(), 2);
}

#[test]
fn page_refresh_is_followed_once_where_permitted() {
    let (site, program) = (site(), new_program());
    let told = program.run(&["add", &site.at("/round")]).with(2);
    let leads = format!("it links to {}: the page 'x' links to no feed", site.at("/about"));
    assert!(told.err.contains(&leads), "{}", told.err);
    assert_eq!((site.asked("/round").len(), site.asked("/about").len()), (1, 1));
    program.run(&["add", &site.at("/itself")]).with(2);
    assert_eq!(site.asked("/itself").len(), 1);
    let told = program.run(&["add", &site.at("/elsewhere")]).with(2);
    assert!(told.err.contains("may point only to its own host and port"), "{}", told.err);
}
