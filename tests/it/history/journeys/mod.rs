//! Tests of feed histories in the whole program, with an imitated network, terminal and clock: archives are read, walks are
//! interrupted and retried, and the screen shows the state.

mod browsing;
mod copies;
mod current;
mod elsewhere;
mod guarded;
mod interrupted;
mod lost_texts;
mod walking;

use backissue::engine::request::{Input, Request};
use backissue_core::history::FeedKey;

use crate::support::world::World;

pub(crate) const FEED: FeedKey = FeedKey(1);
pub(crate) const NOTES: &str = "https://orchard.example/notes/";

macro_rules! example {
    ($name:literal) => {
        include_str!(concat!("../../fixtures/spec/", $name))
    };
}

pub(crate) use example;

/// Serves the archived feed of SPEC H.4 (Orchard): its subscription document and three archives.
pub(crate) fn serve_orchard(world: &mut World) {
    for (name, body) in [
        ("index.atom", example!("arch-index.xml")),
        ("archive/2026-02.atom", example!("arch-2026-02.xml")),
        ("archive/2026-01.atom", example!("arch-2026-01.xml")),
        ("archive/2025-12.atom", example!("arch-2025-12.xml")),
    ] {
        world.serve(&format!("{NOTES}{name}"), body);
    }
}

pub(crate) fn orchard() -> World {
    let mut world = World::new(120, 36);
    serve_orchard(&mut world);
    world
}

pub(crate) fn standing(world: &World) -> String {
    world.feed(1).history.status().text()
}

/// Returns the address of an archive of the Orchard feed.
pub(crate) fn archive(name: &str) -> String {
    format!("{NOTES}archive/{name}.atom")
}

/// Subscribes to an address; so far the program has requested only the subscription document.
pub(crate) fn subscribe(world: &mut World, url: &str) {
    let wanted =
        backissue::engine::feeds::addition::Subscribe { address: url.into(), ..Default::default() };
    world.tell(Request::Subscribe(Box::new(wanted)));
    world.tell(Input::Tick);
}
