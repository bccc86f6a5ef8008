//! Measures the table rows about `backissue poll --all` and the disk space that the polled entries take up.

use super::documents::RARE;
use super::home::Home;
use super::publisher::Child;
use super::table::{Row, Table, median};
use super::usage::Used;
use super::{Extent, floor};

/// Delay before each response, in milliseconds, to imitate a distant server.
const FAR_MS: u32 = 50;

pub(crate) fn measure(extent: Extent, publisher: &mut Child, table: &mut Table) {
    let [entries, _] = extent.entries;
    publisher.prepare(entries);
    let addresses = publisher.addresses(entries);
    let cold: Vec<Used> = (0..extent.times).map(|_| Home::subscribed(&addresses).polls()).collect();
    let bare = floors(extent, publisher, None);
    note_poll(table, Row::ColdCpu, Row::ColdWall, &cold, &bare);
    table.note(Row::ColdPeak, middle(&cold, |used| used.peak_mb));
    table.note_floor(Row::ColdPeak, middle(&bare, |used| used.peak_mb));

    publisher.delay(FAR_MS);
    table.note(Row::ColdSlowWall, Home::subscribed(&addresses).polls().wall);
    table.note_floor(Row::ColdSlowWall, floor::measure(extent, publisher, entries, None).wall);
    publisher.delay(0);

    let home = Home::subscribed(&addresses);
    home.polls();
    // The search command waits until everything is indexed.
    home.runs(&["search", RARE]);
    let stored = f64::from(entries * extent.feeds);
    table.note(Row::Disk, home.disk_bytes() as f64 / stored);
    table.note_floor(Row::Disk, publisher.compressed_bytes() as f64 / stored);

    let unchanged: Vec<Used> = (0..extent.times).map(|_| home.polls()).collect();
    let bare = floors(extent, publisher, Some(publisher.edition));
    note_poll(table, Row::UnchangedCpu, Row::UnchangedWall, &unchanged, &bare);

    let mut bare = Vec::new();
    let mut tenth = Vec::new();
    for _ in 0..extent.times {
        let known = publisher.edition;
        publisher.change();
        tenth.push(home.polls());
        bare.push(floor::measure(extent, publisher, entries, Some(known)));
    }
    note_poll(table, Row::TenthCpu, Row::TenthWall, &tenth, &bare);
}

fn floors(extent: Extent, publisher: &Child, known: Option<u32>) -> Vec<Used> {
    let [entries, _] = extent.entries;
    (0..extent.times).map(|_| floor::measure(extent, publisher, entries, known)).collect()
}

fn note_poll(table: &mut Table, cpu: Row, wall: Row, ours: &[Used], bare: &[Used]) {
    table.note(cpu, middle(ours, |used| used.cpu));
    table.note(wall, middle(ours, |used| used.wall));
    table.note_floor(cpu, middle(bare, |used| used.cpu));
    table.note_floor(wall, middle(bare, |used| used.wall));
}

fn middle(used: &[Used], of: impl Fn(&Used) -> f64) -> f64 {
    median(&used.iter().map(of).collect::<Vec<_>>())
}
