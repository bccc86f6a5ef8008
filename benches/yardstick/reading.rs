//! Measures the table rows about the program while it is open: its start, key presses, searches, and the resources that it uses
//! while idle.

use std::time::Duration;

use super::Extent;
use super::documents::{COMMON, EVERYWHERE, RARE};
use super::home::Home;
use super::publisher::Child;
use super::screen::{Change, Screen};
use super::table::{Row, Table, median, share};
use super::usage::resident_mb;

/// Time between two key presses when a key is held down.
const REPEAT: Duration = Duration::from_millis(33);
/// The effect of a key is complete when the screen has not changed for this duration.
const STILL: Duration = Duration::from_millis(150);
/// The results of a search are complete when the screen has not changed for this duration.
const SEARCHED: Duration = Duration::from_millis(400);
/// The program has finished starting when nothing has been drawn for this duration.
const STARTED: Duration = Duration::from_millis(1500);

pub(crate) fn measure(extent: Extent, publisher: &mut Child, table: &mut Table) {
    let [_, entries] = extent.entries;
    publisher.prepare(entries);
    let home = Home::subscribed(&publisher.addresses(entries));
    table.note(Row::LargePeak, home.polls().peak_mb);
    table.note_floor(
        Row::LargePeak,
        super::floor::measure(extent, publisher, entries, None).peak_mb,
    );
    home.runs(&["search", RARE]);
    measure_start(extent, &home, table);
    let (mut screen, _) = Screen::open(&home);
    screen.rest(STARTED);
    measure_keys(extent, &mut screen, table);
    measure_searches(extent, &mut screen, table);
    measure_idle(extent, &mut screen, table);
    screen.quit();
}

fn measure_start(extent: Extent, home: &Home, table: &mut Table) {
    // During the first start after a poll, the program may reorganize the store, so this start is not measured.
    Screen::open(home).0.quit();
    let starts: Vec<Change> = (0..extent.times)
        .map(|_| {
            let (mut screen, start) = Screen::open(home);
            screen.rest(STILL);
            screen.quit();
            start
        })
        .collect();
    table.note(Row::StartWall, median(&of(&starts, |start| start.first)));
    note_cpu(table, Row::StartCpu, &starts);
    let bare: Vec<_> = (0..extent.times).map(|_| home.runs(&["--version"])).collect();
    table.note_floor(Row::StartWall, median(&of(&bare, |used| used.wall * 1000.0)));
    table.note_floor(Row::StartCpu, median(&of(&bare, |used| used.cpu * 1000.0)));
    let shown: Vec<_> = (0..extent.times).map(|_| home.runs(&["show", "1.0"])).collect();
    table.note(Row::Command, median(&of(&shown, |used| used.wall * 1000.0)));
    table.note_floor(Row::Command, median(&of(&bare, |used| used.wall * 1000.0)));
}

fn measure_keys(extent: Extent, screen: &mut Screen, table: &mut Table) {
    let times = extent.keys.div_ceil(10);
    let lists: Vec<Change> = (0..times)
        .map(|_| {
            screen.press("j", STILL);
            screen.press("k", STILL)
        })
        .collect();
    note_cpu(table, Row::ListCpu, &lists);
    screen.press("l", STILL);
    let keys: Vec<Change> = (0..extent.keys).map(|_| screen.press("j", REPEAT)).collect();
    let taken = of(&keys, |key| key.first);
    table.note(Row::KeyMedian, median(&taken));
    table.note(Row::KeyWorst, share(&taken, 0.99));
    note_cpu(table, Row::KeyCpu, &keys);
    let opened: Vec<Change> = (0..times)
        .map(|_| {
            let opened = screen.press("\r", STILL);
            screen.press("q", STILL);
            screen.press("j", STILL);
            opened
        })
        .collect();
    table.note(Row::OpenFirst, median(&of(&opened, |key| key.first)));
    table.note(Row::OpenSettled, median(&of(&opened, |key| key.settled)));
    note_cpu(table, Row::OpenCpu, &opened);
}

fn measure_searches(extent: Extent, screen: &mut Screen, table: &mut Table) {
    for (row, word) in
        [(Row::SearchRare, RARE), (Row::SearchCommon, COMMON), (Row::SearchAll, EVERYWHERE)]
    {
        let searches: Vec<Change> = (0..extent.times)
            .map(|_| {
                let found = screen.press(&format!("/{word}"), SEARCHED);
                screen.press("\x1b", SEARCHED);
                found
            })
            .collect();
        table.note(row, median(&of(&searches, |search| search.settled)));
    }
}

fn measure_idle(extent: Extent, screen: &mut Screen, table: &mut Table) {
    screen.leave_alone(extent.settle);
    let before = screen.threads();
    screen.leave_alone(extent.watch);
    let after = screen.threads();
    if let Some(resident) = resident_mb(screen.process()) {
        table.note(Row::Rest, resident);
    }
    if after.is_known() {
        let seconds = extent.watch.as_secs_f64();
        let wakes = after.wakes_since(&before);
        println!("woken in {seconds} s of idleness: {wakes:?}");
        table.note(Row::IdleWakes, wakes.values().sum::<u64>() as f64 / seconds);
        table.note(Row::IdleCpu, after.cpu_ms_since(&before) / seconds);
        table.note_floor(Row::IdleWakes, 0.0);
        table.note_floor(Row::IdleCpu, 0.0);
    }
}

/// Records the mean CPU time that the program used for these screen changes, if the system reports it.
fn note_cpu(table: &mut Table, row: Row, changes: &[Change]) {
    let mean = changes.iter().map(|change| change.cpu).sum::<f64>() / changes.len() as f64;
    if mean > 0.0 {
        table.note(row, mean);
    }
}

fn of<T>(all: &[T], figure: impl Fn(&T) -> f64) -> Vec<f64> {
    all.iter().map(figure).collect()
}
