//! Terminal safety: no text from publishers, lists, servers or other processes makes a line of output control the terminal or
//! change the text direction.

use backissue::io::owner::messages::{OwnerKind, OwnerMessage, Progress};
use backissue_core::feed::characters::is_bidi_control;

use super::owner::with_owner_that;
use crate::support::binary::{Ended, Program, StoreOwner};
use crate::support::hostile_texts::{HOSTILE, hostile_document};
use crate::support::site::{Site, answer};

/// Checks whether a character may not occur in output: control characters except line ends and tabs, and characters that control
/// the text direction.
fn does_harm(char: char) -> bool {
    (char.is_control() && !matches!(char, '\n' | '\t')) || is_bidi_control(char)
}

#[track_caller]
fn harmless(what: &[&str], ended: Ended) -> Ended {
    for text in [&ended.out, &ended.err] {
        let harm: Vec<char> = text.chars().filter(|char| does_harm(*char)).collect();
        assert!(harm.is_empty(), "{what:?}: {harm:?}\n{text}");
    }
    let panicked = ended.err.contains("panicked") || ended.status.is_none_or(|status| status > 3);
    assert!(!panicked, "{what:?}: {ended:#?}");
    ended
}

/// Starts a publisher whose documents, failures and redirects are hostile.
fn site() -> Site {
    Site::start(|request| match request.path() {
        "/feed" => answer(200, &[], hostile_document()),
        "/broken" => answer(200, &[], format!("<rss><{}", HOSTILE.concat())),
        "/page" => {
            let page = format!("<html><title>{}</title><p>none", HOSTILE.concat());
            answer(200, &[("content-type", "text/html")], page)
        }
        "/leads" => answer(302, &[("location", "http://127.0.0.1:1/%1b[2J%e2%80%ae")], ""),
        _ => answer(410, &[], HOSTILE.concat()),
    })
}

/// Returns a program with hostile subscriptions, titles, tags, filters and failures.
fn program(site: &Site, owner: StoreOwner) -> Program {
    // An argument cannot contain a NUL byte.
    let typed = HOSTILE.concat().replace('\0', "");
    let program = Program::owned_by(owner);
    let tell = |args: &[&str]| harmless(args, program.run(args));
    tell(&["add", &site.at("/feed"), "--tag", &typed]).with(0);
    for path in ["/broken", "/page", "/leads", "/gone", &typed] {
        tell(&["add", &site.at(path), "--title", &typed]);
        tell(&["add", &site.at(path), "--no-poll", "--title", &typed]);
    }
    let outline = format!("<outline text='{0}' xmlUrl='{0}' category='{0}'/>", HOSTILE[3]);
    let lists = [
        format!("http://127.0.0.1:1/\n{}\n", HOSTILE.join("\n")),
        format!(
            "<opml version='2.0'><body>{outline}<outline xmlUrl='http://127.0.0.1:1/2'/></body></opml>"
        ),
    ];
    for list in lists {
        harmless(&["import"], program.run_with(&["import", "-"], list.as_bytes()));
    }
    tell(&["set", "1", "--title", &typed]);
    tell(&["filters", "add", "--label", &typed, "--title", &typed]);
    tell(&["poll", "--all"]);
    program
}

/// The commands that print text from publishers, lists, servers or the user.
const COMMANDS: [&[&str]; 37] = [
    &["feeds"],
    &["feeds", "--json"],
    &["entries"],
    &["entries", "--json"],
    &["search", "owned"],
    &["search", "owned", "--json"],
    &["search", "\u{1b}[2J\u{202e}"],
    &["search", "x\u{9b}:\u{202e}"],
    &["show", "1.0"],
    &["show", "1.3"],
    &["show", "1.0", "--text"],
    &["show", "1.3", "--html"],
    &["show", "\u{1b}[2J"],
    &["plan", "1", "--next", "3"],
    &["plan", "1", "--json"],
    &["plan", "2"],
    &["history", "1"],
    &["history", "1", "--json"],
    &["history", "\u{1b}[2J\u{202e}"],
    &["unread"],
    &["unread", "--json"],
    &["filters"],
    &["filters", "--json"],
    &["poll", "--all"],
    &["poll", "--all", "--json"],
    &["export"],
    &["doctor"],
    &["events"],
    &["config"],
    &["mark", "starred", "1.0"],
    &["undo"],
    &["open", "\u{1b}[2J\u{202e}"],
    &["\u{1b}[2J\u{202e}"],
    &["unsubscribe", "1"],
    &["feeds", "--removed"],
    &["feeds", "--removed", "--json"],
    &["subscribe-again", "1"],
];

#[test]
fn no_output_line_has_control_characters() {
    let site = site();
    for owner in [StoreOwner::Nobody, StoreOwner::Service] {
        let program = program(&site, owner);
        for args in COMMANDS {
            let ended = harmless(args, program.run(args));
            if args.last() == Some(&"--json") {
                ended.json();
            }
        }
        let listed = program.run(&["entries", "--json"]).with(0).json();
        assert_eq!(listed.as_array().unwrap().len(), HOSTILE.len());
    }
}

#[test]
fn hostile_document_output_has_no_control_characters() {
    let (site, program) = (site(), Program::new());
    let file = program.write("feed.xml", hostile_document());
    let broken = program.write("broken.xml", format!("<rss><{}", HOSTILE.concat()));
    for place in
        [file, broken, site.at("/feed"), site.at("/page"), site.at("/leads"), site.at("/gone")]
    {
        for args in [
            &["lint", &place][..],
            &["lint", &place, "--json"],
            &["parse", &place],
            &["parse", &place, "--json"],
        ] {
            harmless(args, program.run(args));
        }
    }
}

/// Another process has the store open and sends hostile text in its messages; the command prints the text without control
/// characters.
#[test]
fn messages_of_other_processes_are_sanitised() {
    let program = Program::new();
    let text = HOSTILE.concat();
    let welcome = OwnerMessage::Welcome { owner: OwnerKind::Reader, process: 1 };
    let said = [
        OwnerMessage::Began,
        OwnerMessage::Out(text.clone()),
        OwnerMessage::Out("\u{1b}".into()),
        OwnerMessage::Out("[2J\n".into()),
        OwnerMessage::Told(text.clone()),
        OwnerMessage::Progress(Some(Progress { text: text.clone(), done: 1, all: 2 })),
        OwnerMessage::Ended { status: 2, sentence: Some(text.clone()) },
    ];
    with_owner_that(&program, &[&[welcome], &said], || {
        let ended = harmless(&["feeds"], program.run(&["feeds"]));
        assert!(ended.out.contains("owned") && ended.err.contains("owned"), "{ended:#?}");
    });
    with_owner_that(&program, &[&[OwnerMessage::Refused(text)]], || {
        let ended = harmless(&["feeds"], program.run(&["feeds"]));
        assert!(ended.err.contains("owned"), "{ended:#?}");
    });
}
