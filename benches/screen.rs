//! Benchmarks of the time from a key press to the complete frame with a store of 300,000 entries: in the entry list, in the reader,
//! and while typing a search. `cargo bench --bench screen`; `BACKISSUE_BENCH_ENTRIES` sets another number of entries.
//!
//! The whole loop runs as in the program: the model, the store thread, the search index, and text layout on the blocking pool. Only
//! the terminal is replaced by a buffer in memory, and no feed is polled. A frame is complete when everything visible is loaded:
//! the visible rows, the text of the entry, all results of a search. Rows outside the screen may still be prefetched. The time is
//! measured from the key press until the complete frame is drawn, including any frames before it. For a search the first frame is
//! measured too: it shows the typed letter, but not yet the results.
//!
//! Keys are pressed as fast as a held key repeats, thirty times a second; `BACKISSUE_BENCH_REPEAT_MS=0` presses each key as soon as
//! the frame of the previous key is complete, while the store may still be writing the change that the previous key made.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::default_trait_access,
    clippy::print_stdout,
    clippy::disallowed_methods,
    clippy::cast_possible_truncation,
    dead_code,
    reason = "a measurement may panic, print and read the clock"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use backissue::engine::settings::Settings;
use backissue::io::runtime::Runtime;
use backissue::io::search::{CatchUp, SearchIndex};
use backissue::io::store::{Store, Texts};
use backissue::io::terminal::Canvas;
use backissue::ui::app::App;
use backissue::ui::keys::key::{Code, Key};
use backissue::ui::settings::{ListOrder, ScreenSettings};
use backissue::ui::state::layout::Viewport;
use backissue::ui::state::overlay::Overlay;
use backissue::ui::update::ScreenInput;
use backissue::view;
use backissue_core::filters::EntryFilter;
use backissue_core::history::{EntryKey, FeedKey};
use backissue_core::search::{LinksInside, fold_entries, links_inside};
use chrono::{DateTime, Utc};
use filled::{entries_wanted, fill, now, resident_mb, word};
use ratatui::Terminal;
use ratatui::backend::TestBackend;

mod filled;

const COLUMNS: u16 = 160;
const ROWS: u16 = 50;

/// Default pause between a complete frame and the next key, in milliseconds.
const REPEAT_MS: u64 = 33;

struct Buffer(Terminal<TestBackend>);

impl Canvas for Buffer {
    fn draw(&mut self, app: &App, now: DateTime<Utc>) -> std::io::Result<Viewport> {
        let mut viewport = Viewport::default();
        self.0.draw(|frame| viewport = view::draw(frame, app, now)).unwrap();
        Ok(viewport)
    }
}

struct Bench {
    runtime: Runtime<App>,
    canvas: Buffer,
    tokio: tokio::runtime::Runtime,
    /// Pause between a complete frame and the next key.
    repeat: Duration,
    /// Time from each key press to the first frame after it.
    first_frames: Vec<Duration>,
}

fn main() {
    let entries = entries_wanted();
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::open(folder.path()).unwrap();
    fill(&mut store, entries);
    let index = SearchIndex::open(folder.path()).unwrap();
    let mut behind = CatchUp::new(index, store.texts());
    behind.everything(&mut |_| true).unwrap();
    behind.commit().unwrap();
    drop(behind);
    println!("{entries} entries, {COLUMNS} x {ROWS} cells");
    let texts = store.texts();
    let mut bench = Bench::new(store);
    bench.press("<enter>");
    bench.report("entry list: j and k", "jjjjjjjjjjjjjjjjjjjjkkkkkkkkkk", 20);
    bench.report("entry list: pages", "<pgdn><pgdn><pgdn><pgdn><pgdn><pgdn><pgdn><pgup>", 40);
    bench.report("entry list: ends", "Gg", 60);
    bench.report("entry list: star, read, undo", "sNuuj", 40);
    bench.press("g<enter>");
    bench.report("reader: next entry", "J", 200);
    bench.report("reader: lines and pages", "jjj  k", 40);
    bench.report("reader: next unread", "n", 100);
    bench.press("qq");
    bench.report("feeds: every list", "j", 200);
    for rank in [1, 40, 2_000, 150_000] {
        let keys = format!("/{}<esc>", word(rank));
        bench.report(&format!("search: '{}' as it is typed", word(rank)), &keys, 10);
        print("search: its letters in the line", std::mem::take(&mut bench.first_frames));
    }
    bench.press(&format!("/{}<enter>", word(1)));
    bench.report("search: through what was found", "jjjj<pgdn>", 40);
    bench.press("<esc>hg");
    let unread = bench.runtime.program.engine.unread();
    bench.shown("all marked read", "A", |app| app.engine.unread() == 0);
    bench.shown("and undone", "u", |app| app.engine.unread() == unread);
    bench.runtime.program.ui.settings.order = ListOrder::Rare;
    bench.report("lists by how rarely feeds publish", "Gg", 20);
    let title = EntryFilter { query: format!("title:{}", word(40)), ..EntryFilter::default() };
    preview("a rule's preview: by title", &texts, &title);
    let text = EntryFilter { query: format!("text:{}", word(2_000)), ..EntryFilter::default() };
    preview("a rule's preview: by text", &texts, &text);
    fold();
    println!("{} MB resident", resident_mb());
}

/// Prints how long it takes to find the links in the text of an arriving entry, and to fold the entries of a list by them: 1,000 feeds
/// with thirty entries of the last week, each with five links.
fn fold() {
    let link = |n: u64| format!("<p>{} <a href='https://site.example/{n}'>x</a></p>", word(n));
    let text: String = (1..11).map(|n| link(n) + &"and so on ".repeat(100)).collect();
    let began = Instant::now();
    let links = (0..100).map(|_| links_inside(&text, None).len()).sum::<usize>();
    let taken = began.elapsed().as_secs_f64() * 10.0;
    println!("{:<38} {:>5} links {taken:>26.2} ms", "an arriving text of 10 kB", links / 100);
    let inside = |feed: u32, seq: u32| LinksInside {
        seq,
        listed: i64::from(seq) * 20_000,
        links: (0..5).map(|n| u64::from((feed * 7 + seq * 13 + n * 31) % 40_000)).collect(),
    };
    let feed = |feed| (FeedKey(feed), (0..30).map(|seq| inside(feed, seq)).collect());
    let known: BTreeMap<FeedKey, Vec<LinksInside>> = (0..1_000).map(feed).collect();
    let listed = (0..20_000).map(|n| EntryKey { feed: FeedKey(n % 1_000), seq: n / 1_000 });
    let listed: BTreeSet<EntryKey> = listed.collect();
    let began = Instant::now();
    let folded = fold_entries(&known, &listed, &BTreeSet::new()).len();
    let taken = began.elapsed().as_secs_f64() * 1000.0;
    println!("{:<38} {folded:>5} rows {taken:>27.1} ms", "20,000 entries folded by their links");
}

/// Prints the number of entries that a filter matches and how long this search takes. The program runs such searches outside its
/// main loop.
fn preview(what: &str, texts: &Texts, rule: &EntryFilter) {
    let began = Instant::now();
    let hits = texts.hits(rule, now(), &|| true).unwrap().preview.hits;
    let taken = began.elapsed().as_secs_f64() * 1000.0;
    println!("{what:<38} {hits:>5} hits {taken:>27.0} ms");
}

impl Bench {
    fn new(store: Store) -> Self {
        let tokio =
            tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
        let tokio = tokio.unwrap();
        let entered = tokio.enter();
        let mut runtime =
            Runtime::with_screen(store, Settings::default(), ScreenSettings::default()).unwrap();
        drop(entered);
        runtime.program.engine.offline = true;
        runtime.program.engine.polls_by_itself = false;
        let canvas = Buffer(Terminal::new(TestBackend::new(COLUMNS, ROWS)).unwrap());
        let repeat = std::env::var("BACKISSUE_BENCH_REPEAT_MS").ok();
        let repeat = repeat.and_then(|repeat| repeat.parse().ok()).unwrap_or(REPEAT_MS);
        let repeat = Duration::from_millis(repeat);
        let mut bench = Self { runtime, canvas, tokio, repeat, first_frames: Vec::new() };
        bench.does(ScreenInput::Resized(COLUMNS, ROWS));
        // Select the first list, which shows its entries.
        bench.press("jk");
        bench
    }

    /// Presses keys, waits for a complete frame after each, and returns the time from each key press to its complete frame.
    fn press(&mut self, keys: &str) -> Vec<Duration> {
        let pressed = |key| {
            self.rest();
            self.does(ScreenInput::Key(key))
        };
        keys_of(keys).into_iter().map(pressed).collect()
    }

    /// Waits until the next key is due, and draws frames in the meantime as the program's main loop does.
    fn rest(&mut self) {
        let until = Instant::now() + self.repeat;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            let next = async { tokio::time::timeout(left, self.runtime.until_next_frame()).await };
            if self.tokio.block_on(next).is_ok() {
                let _entered = self.tokio.enter();
                self.runtime.draw(&mut self.canvas).unwrap();
            }
        }
    }

    fn does(&mut self, input: ScreenInput) -> Duration {
        let began = Instant::now();
        let entered = self.tokio.enter();
        self.runtime.take(input);
        self.runtime.draw(&mut self.canvas).unwrap();
        drop(entered);
        self.first_frames.push(began.elapsed());
        while !is_complete(&self.runtime.program) {
            self.tokio.block_on(self.runtime.until_next_frame());
            let entered = self.tokio.enter();
            self.runtime.draw(&mut self.canvas).unwrap();
            drop(entered);
        }
        began.elapsed()
    }

    /// Presses keys, waits until `shown` reports that the effect of the last one is visible, and prints the time since that key
    /// press.
    fn shown(&mut self, what: &str, keys: &str, shown: impl Fn(&App) -> bool) {
        let frames = self.press(keys);
        let began = Instant::now();
        let until = self.runtime.until(|app| shown(app));
        self.tokio.block_on(until);
        let taken = began.elapsed() + frames.last().copied().unwrap_or_default();
        println!("{what:<38} {:>38.0} ms", taken.as_secs_f64() * 1000.0);
    }

    fn report(&mut self, what: &str, keys: &str, times: usize) {
        self.first_frames.clear();
        print(what, (0..times).flat_map(|_| self.press(keys)).collect());
    }
}

fn print(what: &str, mut taken: Vec<Duration>) {
    taken.sort_unstable();
    let at = |permille: usize| taken[(taken.len() - 1) * permille / 1000].as_secs_f64() * 1000.0;
    println!(
        "{what:<38} {:>5} keys   median {:>6.2} ms   99 % {:>6.2} ms   worst {:>6.2} ms",
        taken.len(),
        at(500),
        at(990),
        at(1000)
    );
}

/// Checks whether everything visible on the screen is loaded, so that a frame is complete.
fn is_complete(app: &App) -> bool {
    let screen = &app.ui;
    let text = screen.reader.as_ref().is_none_or(|reader| reader.rendered.is_some());
    let list = &screen.list;
    let typing = matches!(screen.overlay, Some(Overlay::Prompt(_)));
    let end = list.total.min(list.top + usize::from(screen.viewport.entries_rows));
    let ahead = !typing && !list.fresh && (list.top..end).all(|place| list.row(place).is_some());
    (!list.waiting || ahead) && screen.opening.is_none() && screen.then.is_none() && text
}

fn keys_of(keys: &str) -> Vec<Key> {
    let mut pressed = Vec::new();
    let mut rest = keys;
    while let Some(char) = rest.chars().next() {
        let named = [
            ("<enter>", Code::Enter),
            ("<esc>", Code::Esc),
            ("<pgdn>", Code::PageDown),
            ("<pgup>", Code::PageUp),
        ];
        if let Some((name, code)) = named.iter().find(|(name, _)| rest.starts_with(name)) {
            pressed.push(Key::code(*code));
            rest = &rest[name.len()..];
        } else {
            pressed.push(Key::char(char));
            rest = &rest[char.len_utf8()..];
        }
    }
    pressed
}
