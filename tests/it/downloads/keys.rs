//! What keys do with downloads, without a network.

use backissue::engine::downloads::record::{
    Cure, DownloadNews, DownloadState, FileVersion, PlayerNews, TransferFailure,
};
use backissue::engine::request::Input;
use chrono::TimeDelta;

use crate::support::rss::NOTES;
use crate::support::world::World;

const EPISODE: &str = "https://a.example/1.mp3";

/// A world with an entry that has an attached file, which is selected.
fn podcast() -> World {
    let item = |number: u32| {
        format!(
            "<item><guid>{number}</guid><title>Ep {number}</title><description>x</description>\
             <enclosure url=\"https://a.example/{number}.mp3\" type=\"audio/mpeg\" length=\"9\"/></item>"
        )
    };
    let document = format!(
        "<rss version=\"2.0\"><channel><title>Pod</title>{}{}</channel></rss>",
        item(1),
        item(2)
    );
    let mut world = World::subscribed(120, 36, &[(NOTES, &document, &[])]);
    world.press("<enter>");
    world
}

fn state(world: &World, id: u32) -> DownloadState {
    world.app.engine.downloads.list[&id].state
}

fn tell(world: &mut World, id: u32, news: DownloadNews) {
    world.tell(Input::Download(id, news));
}

fn began(size: u64) -> DownloadNews {
    DownloadNews::Began(FileVersion { size: Some(size), ..FileVersion::default() }, 0, false)
}

#[test]
fn the_key_adds_a_file_shows_its_progress_and_plays_it() {
    let mut world = podcast();
    world.press("E");
    assert_eq!(world.notice(), "added to the downloads: Ep 1");
    world.wait(1);
    let transfer = &world.transfers[0];
    assert_eq!((transfer.request.url.as_str(), transfer.is_new), (EPISODE, true));
    assert!(transfer.path.ends_with("/Pod/2026-03-02 Ep 1.mp3"), "{}", transfer.path);
    tell(&mut world, 1, began(1000));
    world.now += TimeDelta::seconds(1);
    tell(&mut world, 1, DownloadNews::Received(420));
    world.app.ui.notice = None;
    assert!(world.draw().contains("downloading 42% at 420 B/s"), "{}", world.draw());
    world.press("E");
    assert_eq!(world.notice(), "the file is in the list of downloads");
    tell(&mut world, 1, DownloadNews::Complete(1000));
    assert_eq!(world.notice(), "downloaded: Ep 1");
    world.press("E");
    let run = world.ran.last().unwrap();
    assert_eq!(run.command.program(), "mpv");
    assert!(run.command.arguments()[0].ends_with("/Pod/2026-03-02 Ep 1.mp3"));
}

#[test]
fn the_list_pauses_resumes_and_removes() {
    let mut world = podcast();
    world.press("Q");
    assert!(world.notice().starts_with("no downloads yet"), "{}", world.notice());
    world.press("E");
    world.wait(1);
    world.press("Q");
    assert!(world.draw().contains("Downloads ─ Enter plays"), "{}", world.draw());
    tell(&mut world, 1, began(1000));
    tell(&mut world, 1, DownloadNews::Received(500));
    world.press(" ");
    assert_eq!(state(&world, 1), DownloadState::Paused);
    assert!(world.draw().contains("paused · 50% of 1.0 kB"), "{}", world.draw());
    // What was under way when the user paused is dropped.
    tell(&mut world, 1, DownloadNews::Complete(1000));
    assert_eq!(state(&world, 1), DownloadState::Paused);
    world.press("<enter>");
    world.wait(1);
    assert_eq!(world.transfers.len(), 2);
    assert!(!world.transfers[1].is_new, "it keeps its name");
    world.press("D");
    assert!(world.app.engine.downloads.list.is_empty());
    assert!(world.app.ui.overlay.is_none());
}

#[test]
fn failures_are_told_and_tried_again_later() {
    let mut world = podcast();
    world.press("E");
    world.wait(1);
    let failed = |cure, received| {
        let why = format!("it failed: {cure:?}");
        DownloadNews::Failed(TransferFailure { cure, why, received })
    };
    tell(&mut world, 1, failed(Cure::Later(0), 0));
    assert_eq!((state(&world, 1), world.transfers.len()), (DownloadState::Waiting, 1));
    world.wait(1);
    assert_eq!(world.transfers.len(), 2, "after a pause");
    tell(&mut world, 1, failed(Cure::Later(600), 0));
    world.pass(TimeDelta::seconds(599));
    assert_eq!(world.transfers.len(), 2, "the server asked to wait");
    world.pass(TimeDelta::seconds(2));
    assert_eq!(world.transfers.len(), 3);
    tell(&mut world, 1, failed(Cure::Room, 0));
    assert!(world.notice().starts_with("download paused: Ep 1"), "{}", world.notice());
    world.pass(TimeDelta::minutes(11));
    assert_eq!(world.transfers.len(), 4);
    tell(&mut world, 1, failed(Cure::OtherName, 0));
    world.wait(1);
    assert!(world.transfers[4].path.ends_with("Ep 1 (2).mp3"), "{}", world.transfers[4].path);
    tell(&mut world, 1, failed(Cure::Nothing, 0));
    assert_eq!(state(&world, 1), DownloadState::Failed);
    assert!(world.notice().starts_with("download failed: Ep 1"), "{}", world.notice());
}

#[test]
fn the_position_survives_a_restart_and_a_played_file_its_week() {
    let mut world = podcast();
    world.press("E");
    world.wait(1);
    tell(&mut world, 1, DownloadNews::Complete(1000));
    assert!(world.draw().contains("▶ downloaded"), "{}", world.draw());
    world.holds_programs = true;
    world.press("E");
    let at =
        |position, at_end| Input::Playing(1, PlayerNews { position, duration: Some(3600), at_end });
    world.now += TimeDelta::minutes(1);
    world.tell(at(754, false));
    let purpose = world.ran.last().unwrap().purpose;
    world.restart();
    assert_eq!(world.app.engine.downloads.list[&1].position, 754);
    assert!(world.draw().contains("▶ played to 12:34 "), "{}", world.draw());
    world.press("<enter>E");
    assert_eq!(world.ran.last().unwrap().command.arguments()[0], "--start=754");
    let unread = world.app.engine.unread();
    world.tell(at(3600, true));
    world.tell(Input::Ran(purpose, Ok(None)));
    assert_eq!(world.app.engine.unread(), unread - 1, "the entry is marked read");
    let played = &world.app.engine.downloads.list[&1];
    assert_eq!((played.position, played.played), (0, Some(world.now)));
    world.pass(TimeDelta::days(6));
    assert!(!world.app.engine.downloads.list.is_empty());
    world.pass(TimeDelta::days(2));
    assert!(world.app.engine.downloads.list.is_empty());
    assert!(world.notice().starts_with("deleted 'Ep 1'"), "{}", world.notice());
}

#[test]
fn one_file_of_a_site_is_received_at_a_time() {
    let mut world = podcast();
    world.press("h");
    world.press("l");
    world.press("E");
    world.press("jE");
    world.wait(2);
    assert_eq!(world.transfers.len(), 1);
    assert_eq!(world.app.engine.downloads.list.len(), 2);
    tell(&mut world, 1, DownloadNews::Complete(1));
    world.wait(1);
    assert_eq!(world.transfers.len(), 2);
}
