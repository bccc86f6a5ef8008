//! The process that has the store open (the owner) runs the commands of other processes.

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::time::{Duration, Instant};

use backissue::io::owner::address::make_folder;
use backissue::io::owner::messages::{
    ClientMessage, OwnerKind, OwnerMessage, PROTOCOL, read_frame, write_frame,
};
use backissue::io::store::Store;
use rustix::process::Signal;

use crate::support::binary::{Program, StoreOwner, ask_to_end, ended, signal, wait_until};
use crate::support::documents::garbage;
use crate::support::held_site::HeldSite;
use crate::support::rss::rss;

/// Maximum duration of a command in these tests, which is shorter than the time an owner waits for a silent client.
const PATIENCE: Duration = Duration::from_secs(8);
use crate::support::site::{Site, answer};

/// Starts `watch`, waits until it has the store open, runs `meanwhile` and asks `watch` to end.
fn watching(program: &Program, meanwhile: impl FnOnce(u32)) {
    let mut watch = program.start(&["watch"]);
    let mut told = BufReader::new(watch.stderr.take().unwrap());
    let mut line = String::new();
    told.read_line(&mut line).unwrap();
    assert!(line.contains("watching"), "{line}");
    meanwhile(watch.id());
    ask_to_end(watch.id());
    ended(watch, b"").with(0);
}

#[test]
fn owner_runs_the_command_of_a_second_process() {
    let program = Program::new();
    watching(&program, |_| {
        program.run(&["add", "http://127.0.0.1:1/", "--no-poll"]).with(0);
        assert_eq!(program.run(&["feeds", "--json"]).with(0).json()[0]["number"], 1);
        program.run(&["entries"]).with(0);
        program.run(&["show", "1.0"]).refused(2);
        assert!(program.run(&["export"]).with(0).out.contains("127.0.0.1:1"));
        assert!(program.run(&["doctor"]).with(0).out.contains("store: 1 subscription,"));
    });
    assert_eq!(program.run(&["feeds", "--json"]).with(0).json().as_array().unwrap().len(), 1);
}

#[test]
fn overlong_list_arrives_complete() {
    let program = Program::new();
    let title = "Acorn ".repeat(150);
    let outline =
        |feed| format!("<outline text='{title}{feed}' xmlUrl='http://127.0.0.1:1/{feed}'/>");
    let outlines: String = (0..1500).map(outline).collect();
    let list = format!("<opml version='2.0'><body>{outlines}</body></opml>");
    let list = program.write("feeds.opml", list);
    program.run(&["import", &list]).with(0);
    let here = program.run(&["feeds", "--json"]).with(0);
    assert!(here.out.len() > 1024 * 1024, "{} bytes", here.out.len());
    let listed = here.json();
    assert_eq!(listed.as_array().unwrap().len(), 1500);
    let pretty = serde_json::to_string_pretty(&listed).unwrap();
    assert!(here.out == pretty + "\n", "the text is one document");
    watching(&program, |_| {
        let here = program.run(&["feeds", "--json", "acorn"]).with(0).json();
        assert_eq!(here.as_array().unwrap().len(), 1500);
        assert_eq!(here[1499]["url"], listed[1499]["url"]);
        assert_eq!(program.run(&["feeds", "--json", "oak"]).with(0).out, "[]\n");
    });
}

#[test]
fn long_entry_in_a_pager_leaves_the_store_to_others() {
    // More than a pipe takes.
    let text = format!("<p>{}</p>", "Acorns fall. ".repeat(30_000));
    let site = Site::start(move |_| answer(200, &[], rss("Orchard", &[("a", "One", 1, &text)])));
    let program = Program::new();
    program.run(&["add", &site.at("/feed.xml")]).with(0);
    let mut pager = program.start(&["show", "1.0"]);
    let mut lines = BufReader::new(pager.stdout.take().unwrap()).lines();
    assert_eq!(lines.next().unwrap().unwrap(), "One");
    program.run(&["mark", "starred", "1.0"]).with(0);
    assert!(lines.map(|line| line.unwrap().len()).sum::<usize>() > 300_000);
    assert!(pager.wait().unwrap().success());
    let mut stuck = program.start(&["show", "1.0"]);
    let mut unread = BufReader::new(stuck.stdout.take().unwrap()).lines();
    assert_eq!(unread.next().unwrap().unwrap(), "One");
    signal(stuck.id(), Signal::INT);
    wait_until("it ends although nobody reads", || stuck.try_wait().unwrap().is_some());
}

#[test]
fn changes_made_through_an_owner_can_be_undone_later() {
    let program = Program::new();
    let title = || program.run(&["feeds", "--json"]).with(0).json()[0]["title"].clone();
    program.run(&["add", "http://127.0.0.1:1/", "--no-poll", "--title", "One"]).with(0);
    watching(&program, |_| {
        program.run(&["set", "1", "--title", "Two"]).with(0);
        program.run(&["set", "1", "--title", "Three"]).with(0);
        program.run(&["undo"]).with(0);
        assert_eq!(title(), "Two");
    });
    program.run(&["undo"]).with(0);
    assert_eq!(title(), "One");
}

#[test]
fn events_reach_a_script_from_any_owner() {
    let program = Program::new();
    let mut script = program.start(&["events", "--follow"]);
    let out = BufReader::new(script.stdout.take().unwrap());
    let (tell, told) = std::sync::mpsc::channel();
    let reading = std::thread::spawn(move || {
        for line in out.lines() {
            tell.send(line.unwrap()).ok();
        }
    });
    for number in [1, 2] {
        watching(&program, |_| {
            let address = format!("http://127.0.0.1:{number}/");
            program.run(&["add", "--no-poll", &address]).with(0);
            let line = loop {
                let line = told.recv_timeout(PATIENCE).expect("the script receives the event");
                let line: serde_json::Value = serde_json::from_str(&line).unwrap();
                if line["event"] == "subscribed" {
                    break line;
                }
            };
            assert_eq!((&line["feed"], &line["url"]), (&number.into(), &address.into()));
            let lately = program.run(&["events"]).with(0).out;
            assert!(lately.contains("\"subscribed\""), "{lately}");
        });
    }
    script.kill().unwrap();
    script.wait().unwrap();
    reading.join().unwrap();
}

#[test]
fn suspended_owner_is_reported_instead_of_awaited() {
    let program = Program::new();
    watching(&program, |owner| {
        signal(owner, Signal::STOP);
        let sentence = program.run(&["feeds"]).refused(3);
        signal(owner, Signal::CONT);
        assert!(sentence.contains("suspended"), "{sentence}");
        program.run(&["feeds"]).with(0);
    });
}

#[test]
fn a_second_service_is_refused_with_status_3() {
    let program = Program::new();
    watching(&program, |owner| {
        let sentence = program.run(&["watch"]).refused(3);
        assert!(sentence.contains(&owner.to_string()), "it names the owner: {sentence}");
    });
}

#[test]
fn watch_makes_the_backup_of_the_day_before_it_begins() {
    let program = Program::new();
    watching(&program, |_| {
        let backups = std::fs::read_dir(program.data().join("backups")).unwrap();
        assert_eq!(backups.count(), 1);
    });
}

#[test]
fn other_data_folder_is_usable_meanwhile() {
    let (program, other) = (Program::new(), Program::new());
    watching(&program, |_| {
        other.run(&["feeds"]).with(0);
    });
}

#[test]
fn killed_owner_leaves_nothing_locked() {
    let program = Program::new();
    let mut watch = program.start(&["watch"]);
    let mut told = BufReader::new(watch.stderr.take().unwrap());
    told.read_line(&mut String::new()).unwrap();
    watch.kill().unwrap();
    watch.wait().unwrap();
    program.run(&["feeds", "--json"]).with(0);
}

#[test]
fn marks_made_through_an_owner_can_be_undone_later() {
    let (first, second) = ("tag:site.example,2026:1", "tag:site.example,2026:2");
    let feed = format!(
        "<rss version=\"2.0\"><channel><title>Orchard</title><description/>\
         <item><guid isPermaLink=\"false\">{first}</guid><title>Wax</title></item>\
         <item><guid isPermaLink=\"false\">{second}</guid><title>Frost</title></item></channel></rss>"
    );
    let site = Site::start(move |_| answer(200, &[], feed.clone()));
    let program = Program::new();
    program.run(&["add", &site.at("/feed.xml")]).with(0);
    watching(&program, |_| {
        program.run(&["mark", "read", "--all"]).with(0);
        assert_eq!(program.run(&["unread"]).with(0).out, "0\n");
        program.run(&["mark", "unread", "1.0"]).with(0);
        program.run(&["undo"]).with(0);
    });
    assert_eq!(program.run(&["undo"]).with(0).out, "undone: 2 marked read\n");
    assert_eq!(program.run(&["unread"]).with(0).out, "2\n");
}

/// Encodes a message as it is sent over the socket.
fn frame(message: &ClientMessage) -> Vec<u8> {
    let mut bytes = Vec::new();
    write_frame(&mut bytes, message).unwrap();
    bytes
}

fn hello(protocol: u32, version: &str) -> ClientMessage {
    ClientMessage::Hello { protocol, version: version.to_owned() }
}

/// Returns the bytes of the greeting that a client of this version sends first.
fn own_hello() -> Vec<u8> {
    frame(&hello(PROTOCOL, env!("CARGO_PKG_VERSION")))
}

fn asked_for(command: &[&str]) -> Vec<u8> {
    let typed = [&["backissue"], command].concat();
    frame(&ClientMessage::Run(typed.into_iter().map(str::to_owned).collect()))
}

/// Connects to the owner's socket, sends these bytes and returns the open connection.
fn said(program: &Program, bytes: &[u8]) -> UnixStream {
    let mut stream = UnixStream::connect(program.socket()).unwrap();
    stream.write_all(bytes).unwrap();
    stream
}

/// Starts a service with 2000 feeds, so that the output of `feeds --json` does not fit into a socket buffer.
fn with_many_feeds() -> Program {
    let outlines = (0..2000).map(|n| format!("<outline xmlUrl=\"http://127.0.0.1:1/feed/{n}\"/>"));
    let list: String = outlines.collect();
    let list = format!("<opml version=\"2.0\"><body>{list}</body></opml>");
    let program = Program::owned_by(StoreOwner::Service);
    program.run_with(&["import", "-"], list.as_bytes()).with(0);
    program
}

#[test]
fn faulty_clients_keep_nobody_waiting() {
    let program = with_many_feeds();
    let listing = [own_hello(), asked_for(&["feeds", "--json"])].concat();
    let half = [&100_u32.to_be_bytes()[..], b"half"].concat();
    let too_much = [&u32::MAX.to_be_bytes()[..], &[7; 4096]].concat();
    let nonsense = [own_hello(), garbage()].concat();
    let greeted = own_hello();
    let all: [&[u8]; 8] =
        [b"", &garbage(), &half, &too_much, &nonsense, &greeted, &listing, &listing];
    let open: Vec<UnixStream> = all.iter().map(|bytes| said(&program, bytes)).collect();
    let began = Instant::now();
    program.run(&["add", "http://127.0.0.1:1/", "--no-poll"]).with(0);
    assert_eq!(program.run(&["feeds", "--json"]).with(0).json().as_array().unwrap().len(), 2001);
    assert!(began.elapsed() < PATIENCE, "they were waited for: {:?}", began.elapsed());
    drop(open);
    program.run(&["doctor"]).with(0);
}

#[test]
fn silent_client_does_not_delay_the_owners_exit() {
    let program = Program::new();
    let mut took = Duration::ZERO;
    watching(&program, |id| {
        let open = [said(&program, b""), said(&program, &7_u32.to_be_bytes())];
        program.run(&["feeds"]).with(0);
        let began = Instant::now();
        ask_to_end(id);
        wait_until("its socket is gone", || !program.socket().exists());
        // The command succeeds once the owner has closed the store and released its lock.
        wait_until("the store is free", || program.run(&["feeds"]).with(0).status == Some(0));
        took = began.elapsed();
        drop(open);
    });
    assert!(took < Duration::from_secs(4), "{took:?}");
}

#[test]
fn other_version_is_refused_in_one_sentence() {
    let program = Program::owned_by(StoreOwner::Service);
    program.run(&["feeds"]).with(0);
    let own = env!("CARGO_PKG_VERSION");
    for (protocol, version) in [(PROTOCOL, "0.0.7"), (PROTOCOL + 1, "77.0.0")] {
        let mut stream = said(&program, &frame(&hello(protocol, version)));
        let Ok(Some(OwnerMessage::Refused(why))) = read_frame(&mut stream) else {
            panic!("it is refused")
        };
        assert!(why.contains(own) && why.contains(version), "{why}");
        assert!(matches!(read_frame::<OwnerMessage>(&mut stream), Ok(None)), "and that is all");
    }
}

/// Opens the store, accepts one connection and answers each message on it with the next list of `answers`, while `meanwhile` runs.
pub(super) fn with_owner_that(
    program: &Program,
    answers: &[&[OwnerMessage]],
    meanwhile: impl FnOnce(),
) {
    let store = Store::open(&program.data()).unwrap();
    make_folder(&program.socket()).unwrap();
    let listener = UnixListener::bind(program.socket()).unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let (mut stream, _) = listener.accept().unwrap();
            for answer in answers {
                let heard: Option<ClientMessage> = read_frame(&mut stream).unwrap();
                assert!(heard.is_some());
                for message in *answer {
                    write_frame(&mut stream, message).unwrap();
                }
            }
        });
        meanwhile();
    });
    drop(store);
    std::fs::remove_file(program.socket()).unwrap();
}

#[test]
fn client_prints_the_refusal_or_that_the_owner_ended() {
    let program = Program::new();
    let refused = OwnerMessage::Refused("an older backissue has the store open".into());
    with_owner_that(&program, &[&[refused]], || {
        let sentence = program.run(&["feeds"]).refused(3);
        assert_eq!(sentence, "an older backissue has the store open");
    });
    let welcome = OwnerMessage::Welcome { owner: OwnerKind::Reader, process: 1 };
    with_owner_that(&program, &[std::slice::from_ref(&welcome), &[OwnerMessage::Began]], || {
        let sentence = program.run(&["set", "1", "--pace", "more"]).refused(2);
        assert!(sentence.contains("ended before this was done"), "{sentence}");
    });
    // If the owner ended before it began the command, the client looks for another owner; if there is none, it opens the store
    // itself.
    let mut begun = None;
    with_owner_that(&program, &[&[welcome], &[OwnerMessage::NotBegun]], || {
        begun = Some(program.start(&["feeds", "--json"]));
    });
    assert_eq!(ended(begun.unwrap(), b"").with(0).out, "[]\n");
}

#[test]
fn stale_socket_and_lock_files_are_replaced() {
    let program = Program::new();
    for _ in 0..2 {
        let mut watch = program.start(&["watch"]);
        wait_until("it takes commands", || UnixStream::connect(program.socket()).is_ok());
        program.run(&["add", "http://127.0.0.1:1/", "--no-poll"]).with(0);
        watch.kill().unwrap();
        watch.wait().unwrap();
        assert!(program.socket().exists(), "it is left there");
        assert_eq!(program.run(&["feeds", "--json"]).with(0).json().as_array().unwrap().len(), 1);
    }
    std::fs::write(program.data().join("lock"), "1\n/nowhere/at/all\n").unwrap();
    std::fs::remove_file(program.socket()).ok();
    std::fs::write(program.socket(), "no socket").unwrap();
    watching(&program, |_| {
        wait_until("it takes commands", || UnixStream::connect(program.socket()).is_ok());
        program.run(&["feeds"]).with(0);
    });
}

#[test]
fn owner_killed_mid_command_is_reported_in_one_sentence() {
    let site = HeldSite::start();
    let program = Program::owned_by(StoreOwner::Service);
    program.run(&["add", &site.at("/feed"), "--no-poll"]).with(0);
    let poll = program.start(&["poll", "1"]);
    wait_until("the feed is asked", || site.asked() == 1);
    program.kill_owner();
    let sentence = ended(poll, b"").refused(2);
    assert!(sentence.contains("ended before this was done"), "{sentence}");
    program.run(&["doctor"]).with(0);
}

#[test]
fn ctrl_c_at_one_poll_ends_that_poll_and_no_other() {
    let (one, other) = (HeldSite::start(), HeldSite::start());
    let program = Program::owned_by(StoreOwner::Service);
    program.run(&["add", &one.at("/one"), &other.at("/other"), "--no-poll"]).with(0);
    let (first, second) = (program.start(&["poll", "1"]), program.start(&["poll", "2", "--json"]));
    wait_until("both are asked", || one.asked() == 1 && other.asked() == 1);
    signal(first.id(), Signal::INT);
    let sentence = ended(first, b"").with(2).err;
    assert!(sentence.contains("interrupted"), "{sentence}");
    other.release();
    let polled = ended(second, b"").with(0).json();
    assert_eq!((&polled["read"], &polled["new"]), (&1.into(), &2.into()), "{polled:#}");
    let feeds = program.run(&["feeds", "--json"]).with(0).json();
    assert_eq!((&feeds[0]["failures"], &feeds[0]["total"]), (&0.into(), &0.into()), "{feeds:#}");
}

#[test]
fn joined_poll_waits_and_reports_one_result() {
    let site = HeldSite::start();
    let program = Program::owned_by(StoreOwner::Service);
    program.run(&["add", &site.at("/feed"), "--no-poll"]).with(0);
    let first = program.start(&["poll", "1", "--json"]);
    wait_until("the feed is asked", || site.asked() == 1);
    let second = program.start(&["poll", "1", "--json"]);
    wait_until("both commands are there", || program.run(&["feeds"]).with(0).status == Some(0));
    site.release();
    for poll in [first, second] {
        let polled = ended(poll, b"").with(0).json();
        assert_eq!((&polled["read"], &polled["skipped"]), (&1.into(), &0.into()), "{polled:#}");
        assert_eq!(polled["feeds"].as_array().unwrap().len(), 1, "{polled:#}");
    }
}

#[test]
fn concurrent_settings_of_one_feed_are_both_kept() {
    let program = Program::owned_by(StoreOwner::Service);
    program.run(&["add", "http://127.0.0.1:1/", "--no-poll"]).with(0);
    for round in 0..5 {
        let (title, tag) = (format!("Title {round}"), format!("tag-{round}"));
        let both = [["set", "1", "--title", &title], ["set", "1", "--tag", &tag]];
        for run in both.map(|args| program.start(&args)) {
            ended(run, b"").with(0);
        }
        let feed = program.run(&["feeds", "--json"]).with(0).json()[0].clone();
        assert_eq!((&feed["title"], &feed["tags"][0]), (&title.into(), &tag.into()), "{feed:#}");
    }
}
