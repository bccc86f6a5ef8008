//! Servers that answer with more than is good for this machine, and servers whose clock is wrong.

use super::{DIALECTS, FRESHRSS, add, marks, sync};
use crate::support::binary::Program;
use crate::support::documents::rss;
use crate::support::greader_double::GreaderDouble;
use crate::support::miniflux_double::MinifluxDouble;
use crate::support::site::{Site, answer};

const MEGABYTE: usize = 1024 * 1024;
/// Entries with large texts: two that are too much together, and one that is too much alone.
const LARGE: [(u64, usize); 3] = [(3, 10 * MEGABYTE), (4, 10 * MEGABYTE), (6, 20 * MEGABYTE)];

/// Returns the numbers of the entries here.
fn numbers(program: &Program) -> Vec<u64> {
    marks(program).into_iter().map(|it| it.0).collect()
}

#[test]
fn large_entries_are_cut_or_left_out() {
    let expected: Vec<u64> = (1..=9).filter(|number| *number != 6).collect();
    let (program, server) = (Program::new(), GreaderDouble::start(FRESHRSS));
    server.publish(1, 1..=9);
    server.state().large.extend(LARGE);
    add(&program, &server, "secret").with(0);
    assert_eq!(numbers(&program), expected);
    server.count_requests();
    sync(&program);
    assert_eq!(server.count_requests(), 3, "the large one is not tried again");

    let (program, server) = (Program::new(), MinifluxDouble::start(false, 1_000));
    server.publish(1, 1..=9);
    server.state().clock += 3_600;
    server.state().large.extend(LARGE);
    let place = ["account", "add", server.address(), "--name", "home", "--user", "ann"];
    program.run_with(&place, b"secret\n").with(0);
    assert_eq!(numbers(&program), expected);
    server.state().clock += 3_600;
    server.count_requests();
    sync(&program);
    assert_eq!(server.count_requests(), 3, "the large one is not tried again");
    server.state().mark(6, |it| it.is_starred = true);
    server.state().mark(2, |it| it.is_read = true);
    sync(&program);
    assert!(marks(&program).contains(&(2, true, false)), "the others are synced");
}

#[test]
fn lists_without_end_are_ended_here() {
    let (program, server) = (Program::new(), GreaderDouble::start(FRESHRSS));
    server.publish(1, 1..=9);
    add(&program, &server, "secret").with(0);
    server.state().is_endless = true;
    let failed = program.run(&["account", "sync", "--whole"]).with(2);
    assert!(failed.err.contains("gave a list that never ends"), "{failed:?}");
    server.state().is_endless = false;
    sync(&program);
    assert_eq!(marks(&program), server.marks());

    let (program, server) = (Program::new(), MinifluxDouble::start(false, 1_000));
    server.publish(1, 1..=9);
    let place = ["account", "add", server.address(), "--name", "home", "--user", "ann"];
    program.run_with(&place, b"secret\n").with(0);
    server.count_requests();
    server.state().is_endless = true;
    let failed = program.run(&["account", "sync", "--whole"]).with(2);
    assert!(failed.err.contains("gave a list that never ends"), "{failed:?}");
    let requests = server.count_requests();
    assert!(requests < 15, "{requests}");
    server.state().is_endless = false;
    sync(&program);
    let here = program.run(&["entries", "--json", "--limit", "10000"]).with(0).out;
    for number in 1..=9 {
        let link = format!("\"https://1.example/{number}\"");
        assert_eq!(here.matches(&link).count(), 1, "{number}");
    }
}

#[test]
fn server_that_lists_no_entries_is_not_believed() {
    let (program, server) = (Program::new(), GreaderDouble::start(FRESHRSS));
    server.publish(1, 1..=9);
    add(&program, &server, "secret").with(0);
    let items = std::mem::take(&mut server.state().items);
    for args in [["account", "sync"].as_slice(), &["account", "sync", "--whole"]] {
        let why = program.run(args).with(2).err;
        assert!(why.contains("lists no entries, although 9 of its entries are here"), "{why}");
    }
    server.state().items = items;
    sync(&program);
    assert_eq!(marks(&program), server.marks());
}

#[test]
fn dates_a_year_off_lose_no_entry_and_no_mark() {
    for habits in DIALECTS {
        for clock in [-365 * 86_400, 365 * 86_400] {
            let (program, server) = (Program::new(), GreaderDouble::start(habits));
            server.publish(1, 1..=20);
            server.state().clock = clock;
            add(&program, &server, "secret").with(0);
            server.state().clock = -clock;
            server.publish(2, 21..=25);
            server.state().items.get_mut(&7).unwrap().is_read = true;
            sync(&program);
            assert_eq!(marks(&program), server.marks(), "{habits:?} {clock}");
        }
    }
}

#[test]
fn login_in_an_address_that_a_server_lists_is_not_kept() {
    let (program, server) = (Program::new(), GreaderDouble::start(FRESHRSS));
    let planted = "http://planted:pw@127.0.0.1:9/feed".to_owned();
    server.state().feeds.insert(3, (planted, "Planted".into()));
    add(&program, &server, "secret").with(0);
    sync(&program);
    let feeds = program.run(&["feeds", "--json"]).with(0);
    assert_eq!(feeds.json().as_array().unwrap().len(), 3);
    assert!(feeds.out.contains("http://127.0.0.1:9/feed") && !feeds.out.contains("planted"));
    assert!(!program.path("credentials.toml").exists());
    let second = program.run(&["account", "sync", "--whole"]).with(0);
    assert!(!second.out.contains("subscription"), "nothing is left to change: {second:?}");
}

#[test]
fn address_that_a_server_lists_leads_inside_only_if_typed() {
    let (program, server) = (Program::new(), GreaderDouble::start(FRESHRSS));
    let site = Site::start(|_| answer(200, &[], rss("Inside", "a", 3)));
    let inside = site.at("/feed");
    server.state().feeds.insert(3, (inside.clone(), "Inside".into()));
    add(&program, &server, "secret").with(0);
    program.run(&["set", "Inside", "--poll-here", "on"]).with(0);
    let refused = program.run(&["poll", "Inside"]).with(1);
    assert!(refused.out.contains("subscribe to this address by typing it"), "{refused:?}");
    program.run(&["account", "remove", "home", "--keep"]).with(0);
    program.run(&["poll", "Inside"]).with(1);
    assert_eq!(site.all_requests().len(), 0);
    program.run(&["add", &inside]).with(0);
    program.run(&["poll", "Inside"]).with(0);
}

#[test]
fn error_page_with_the_request_shows_no_secret() {
    let (program, server) = (Program::new(), GreaderDouble::start(FRESHRSS));
    server.publish(1, 1..=3);
    add(&program, &server, "hunter-2-hunter").with(2);
    server.state().password = "hunter-2-hunter".into();
    add(&program, &server, "hunter-2-hunter").with(0);
    let echo = "<pre>auth=ann/hunter-2-hunter T=token-hunter-2-hunter Passwd=hunter-2-hunter</pre>";
    for (place, status) in [
        ("/subscription/list", 500),
        ("/subscription/list", 200),
        ("/token", 500),
        ("/ClientLogin", 418),
    ] {
        server.state().instead = [(place, (status, echo.to_owned()))].into();
        let mut told = program.run(&["account", "sync", "--whole"]);
        if place == "/ClientLogin" {
            told = add(&program, &server, "hunter-2-hunter").with(2);
        }
        let listed = program.run(&["account", "list"]);
        let log = program.run(&["log"]);
        for shown in [&told, &listed, &log] {
            assert!(!format!("{shown:?}").contains("hunter-2"), "{place} {status}: {shown:?}");
        }
    }
}

#[test]
fn no_started_program_inherits_the_password() {
    let (program, server) = (Program::new(), GreaderDouble::start(FRESHRSS));
    let seen = program.path("seen");
    let command = format!("sh -c 'env > {}; echo secret'", seen.display());
    let args =
        ["account", "add", server.address(), "--user", "ann", "--password-command", &command];
    program.run_in(&[("BACKISSUE_ACCOUNT_PASSWORD", "hunter2")], &args).with(0);
    let environment = std::fs::read_to_string(seen).unwrap();
    assert!(environment.contains("HOME=") && !environment.contains("hunter2"), "{environment}");
}

#[test]
fn who_refuses_a_login_is_named() {
    let page = "<html>Authorization Required</html>";
    for (status, headers, body, expected) in [
        (
            401,
            vec![("www-authenticate", "Basic realm=\"x\"")],
            page,
            "a proxy that asks for a login of its own",
        ),
        (
            401,
            vec![("google-bad-token", "true"), ("www-authenticate", "Basic")],
            "Unauthorized!",
            "the API password",
        ),
        (401, vec![], "Unauthorized!", "the API password"),
        (403, vec![("cf-mitigated", "challenge")], page, "Cloudflare"),
        (403, vec![], page, "refuses programs"),
    ] {
        let site = Site::start(move |_| answer(status, &headers, body));
        let program = Program::new();
        let place = ["account", "add", &site.at(""), "--user", "ann"];
        let why = program.run_with(&place, b"secret\n").with(2).err;
        assert!(why.contains(expected), "{status} {expected}: {why}");
        assert!(!why.contains("greader.php"), "the address that was typed is named: {why}");
    }
    let site = Site::start(|request| {
        if request.path().contains("greader.php") {
            return answer(500, &[], "database is locked");
        }
        answer(302, &[("location", "https://a.example/login")], "")
    });
    let place = ["account", "add", &site.at(""), "--user", "ann"];
    let why = Program::new().run_with(&place, b"secret\n").with(2).err;
    assert!(why.contains("answered 500 'database is locked'"), "the API says more: {why}");
    let unnamed = Program::new()
        .run_with(&["account", "add", "a.example", "--user", "ann", "--name", ""], b"secret\n");
    assert!(unnamed.with(2).err.contains("the name of the account is empty"));
}
