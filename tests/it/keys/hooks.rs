//! Commands that the user configures: for opening links, for piping an entry's text, and for new entries.

use backissue::engine::entries::entry_view;
use backissue::engine::external_command::ExternalCommand;
use backissue::engine::external_run::{RunFailure, RunInput, RunPurpose};
use backissue::engine::poll::poll_request::{PollKind, PollRequest};
use backissue::engine::request::{Input, Request};
use backissue::engine::settings::DesktopNotes;
use backissue_core::history::FeedKey;
use chrono::TimeDelta;

use crate::support::rss::{NOTES, TOWER, rss, two_feeds};
use crate::support::world::World;

fn command(text: &str) -> Option<ExternalCommand> {
    Some(ExternalCommand::typed(text).unwrap())
}

/// Serves a feed with the entries `guids` at the next poll.
fn publish(world: &mut World, url: &str, feed: &str, guids: &[&str]) {
    let entries: Vec<(&str, &str, i64, &str)> =
        guids.iter().map(|guid| (*guid, *guid, 0, "<p>new</p>")).collect();
    world.serve(url, &rss(feed, &entries));
}

fn poll_all(world: &mut World) {
    world.pass(TimeDelta::minutes(6));
    world.tell(Request::Poll(PollRequest { feeds: None, kind: PollKind::Allowed, archives: true }));
    world.pass(TimeDelta::seconds(2));
}

#[test]
fn configured_command_gets_the_address_as_one_argument() {
    let mut world = two_feeds();
    world.app.engine.settings.commands.open = command("lynx -dump {link}");
    world.press("<enter><enter>1o");
    assert!(world.opened.is_empty());
    let run: Vec<_> =
        world.ran.iter().map(|external| external.command.arguments().to_vec()).collect();
    let links = ["https://site.example/x", "https://site.example/n2"];
    assert_eq!(run, links.map(|link| vec!["-dump".to_owned(), link.to_owned()]));
    assert!(world.ran[0].command.on_terminal, "lynx needs the terminal");
}

#[test]
fn attachments_follow_the_text_and_open_with_a_command() {
    let item = "<item><guid>1</guid><title>Ep</title><description>x</description>\
        <enclosure url=\"https://a.example/1.mp3\" type=\"audio/mpeg\" length=\"24612345\"/></item>";
    let document =
        format!("<rss version=\"2.0\"><channel><title>Pod</title>{item}</channel></rss>");
    let mut world = World::subscribed(120, 36, &[(NOTES, &document, &[])]);
    world.app.engine.settings.commands.open = command("firefox");
    world.press("<enter>O");
    assert!(world.notice().contains("open the entry first"));
    world.press("<enter>");
    assert!(world.draw().contains("▶ audio/mpeg · 24 MB · 1.mp3 [1]"));
    world.press("O");
    world.app.engine.settings.commands.enclosure = command("mpv --no-video");
    world.press("1");
    let started: Vec<&str> = world.ran.iter().map(|external| external.command.program()).collect();
    assert_eq!(started, ["firefox", "mpv"]);
}

#[test]
fn entry_is_piped_to_a_typed_remembered_command() {
    let mut world = two_feeds();
    world.app.engine.settings.commands.pipe = Some("wc".into());
    world.press("<enter>|<up>");
    assert!(world.draw().contains("Pipe the entry to (↑ the last): wc"));
    world.press(" -w<enter>");
    let external = &world.ran[0];
    assert_eq!(
        (external.purpose, external.command.program(), external.command.arguments()),
        (RunPurpose::Pipe, "wc", &["-w".to_owned()][..])
    );
    let RunInput::Entry(told) = &external.input else { panic!("{external:?}") };
    assert_eq!((told.feed.title.as_str(), told.entry.kept.shown_title()), ("Orchard Notes", "Wax"));
    assert_eq!(world.notice(), "the command has finished");
    world.press("|");
    assert!(!world.draw().contains("wc -w"));
    world.press("<up>");
    assert!(world.draw().contains("Pipe the entry to (↑ the last): wc -w"));
    world.press("<c-u>sh 'open<enter>");
    assert_eq!(world.notice(), "a quote in 'sh 'open' is not closed");
    assert_eq!(world.ran.len(), 1);
}

#[test]
fn command_output_and_errors_are_shown() {
    let mut world = two_feeds();
    world.tell(Input::Ran(RunPurpose::Pipe, Ok(Some("one\ntwo".into()))));
    let [pager] = world.ran.as_slice() else { panic!("one pager: {:?}", world.ran) };
    assert_eq!((pager.command.program(), pager.command.on_terminal), ("less", true));
    assert_eq!(pager.input, RunInput::Text("one\ntwo".into()));
    world.tell(Input::Ran(RunPurpose::Pipe, Ok(Some("saved as\u{1b}[31m 7".into()))));
    assert_eq!(world.notice(), "saved as[31m 7");
    let failure = RunFailure::Failed("mail".into(), Some(1), None);
    world.tell(Input::Ran(RunPurpose::News, Err(failure)));
    assert_eq!(world.notice(), "mail exited with status 1");
}

#[test]
fn hook_gets_one_document_of_new_entries_per_round() {
    let mut world = two_feeds();
    world.app.engine.settings.commands.on_new = command("tell");
    poll_all(&mut world);
    assert!(world.ran.is_empty(), "nothing new came");
    publish(&mut world, NOTES, "Orchard Notes", &["n4", "n3", "n2", "n1"]);
    publish(&mut world, TOWER, "Bell Tower", &["b2", "b1"]);
    poll_all(&mut world);
    let [external] = world.ran.as_slice() else { panic!("one document: {:?}", world.ran) };
    let RunInput::News(entries) = &external.input else { panic!("{external:?}") };
    let document = entry_view::news(entries);
    assert_eq!(document["count"], 3);
    let first = &document["entries"][0];
    assert_eq!(
        (&first["feed_title"], &first["content"]),
        (&"Orchard Notes".into(), &"<p>new</p>".into())
    );
    assert_eq!(first["feed_url"], NOTES);
    world.ran.clear();
    world.serve("https://third.example/feed", &rss("Third", &[("t1", "First", 1, "a")]));
    let third = backissue::engine::feeds::addition::Subscribe {
        address: "https://third.example/feed".into(),
        ..Default::default()
    };
    world.tell(Request::Subscribe(Box::new(third)));
    world.pass(TimeDelta::seconds(2));
    assert_eq!(world.app.engine.feeds.len(), 3);
    assert!(world.ran.is_empty(), "the first document of a subscription is no news");
    assert!(world.app.engine.notifications.is_at_rest());
}

#[test]
fn desktop_notification_is_single_and_once_a_minute() {
    let mut world = two_feeds();
    publish(&mut world, NOTES, "Orchard Notes", &["n3", "n2", "n1"]);
    poll_all(&mut world);
    assert!(world.notes.is_empty(), "off unless it is configured");
    world.app.engine.settings.notify.desktop = DesktopNotes::Osc9;
    publish(&mut world, NOTES, "Orchard Notes", &["n4", "n3", "n2", "n1"]);
    poll_all(&mut world);
    assert_eq!(world.notes, ["Orchard Notes: n4"]);
    publish(&mut world, NOTES, "Orchard Notes", &["n6", "n5", "n4"]);
    publish(&mut world, TOWER, "Bell Tower", &["b2", "b1"]);
    poll_all(&mut world);
    assert_eq!(world.notes[1], "3 new in 2 feeds");
    world.notes.clear();
    world.pass(TimeDelta::minutes(6));
    for (url, feed, key, guid) in
        [(NOTES, "Orchard Notes", 1, "n7"), (TOWER, "Bell Tower", 2, "b3")]
    {
        publish(&mut world, url, feed, &[guid]);
        let feeds = Some(vec![FeedKey(key)]);
        world.tell(Request::Poll(PollRequest { feeds, kind: PollKind::Allowed, archives: true }));
        world.pass(TimeDelta::seconds(10));
    }
    assert_eq!(world.notes, ["Orchard Notes: n7"], "the second one waits");
    world.pass(TimeDelta::seconds(60));
    assert_eq!(world.notes[1..], ["Bell Tower: b3"]);
}
