//! Services that keep programs away from a site are named, with what the user can do.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::support::binary::Program;
use crate::support::documents::rss;
use crate::support::site::{Site, answer};

const PAGE: &str = "<html><head><title>Making sure you&#39;re not a bot!</title></head></html>";

#[test]
fn bot_wall_is_named_with_what_can_be_done() {
    let is_closed = Arc::new(AtomicBool::new(false));
    let closed = Arc::clone(&is_closed);
    let site = Site::start(move |request| match request.path() {
        "/feed" if !closed.load(Ordering::Relaxed) => answer(200, &[], rss("Orchard", "e", 2)),
        "/feed" => answer(403, &[("cf-mitigated", "challenge"), ("server", "cloudflare")], ""),
        "/behind" => answer(403, &[("server", "AkamaiGHost")], ""),
        "/refused" => answer(403, &[("server", "nginx")], ""),
        _ => answer(200, &[("content-type", "text/html")], PAGE),
    });
    let program = Program::new();
    let words = "Cloudflare guards the site and lets only browsers in";
    program.run(&["add", &site.at("/feed")]).with(0);
    is_closed.store(true, Ordering::Relaxed);
    let told = program.run(&["poll", "1"]).with(1).out;
    assert!(told.contains(&format!("answered 403 Forbidden: {words}")), "{told}");
    let listed = program.run(&["feeds", "--json"]).with(0).out;
    let listed: serde_json::Value = serde_json::from_str(&listed).unwrap();
    let attention = &listed[0]["attention"];
    assert_eq!(attention["state"], "bot wall");
    let sentence = attention["sentence"].as_str().unwrap();
    assert!(sentence.starts_with(&format!("Answered 403 Forbidden: {words}.")), "{sentence}");
    assert!(sentence.contains("backissue does not try to get past that"), "{sentence}");

    let why = |path: &str| program.run(&["add", &site.at(path)]).refused(2);
    assert!(why("/behind").contains("403 Forbidden: probably Akamai"), "{}", why("/behind"));
    assert!(why("/page").contains("200: Anubis guards the site"), "{}", why("/page"));
    assert!(why("/refused").ends_with("it answered 403 Forbidden"), "{}", why("/refused"));
    assert_eq!(site.asked("/behind").len(), 1, "no second attempt");
}
