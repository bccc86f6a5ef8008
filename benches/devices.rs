//! Benchmark of a device that syncs with a store of 100,000 entries of which 20,000 are unread: the processor time that its first sync
//! and a quiet sync take here, without what the device itself needs to unpack and read the answers, and how long a key of the reader
//! that needs the store waits meanwhile. `cargo bench --bench devices`; `BACKISSUE_BENCH_ENTRIES` sets another number of entries.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::disallowed_methods,
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    dead_code,
    reason = "a measurement may panic and print, and uses a part of what fills the store"
)]

use std::fs;
use std::io::Read as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use backissue::engine::settings::Settings;
use backissue::io::devices::DeviceServer;
use backissue::io::devices::device_file::DeviceFile;
use backissue::io::http_server::ServedRequest;
use backissue::io::loop_handle::LoopHandle;
use backissue::io::runtime::Runtime;
use backissue::io::store::{FeedsWanted, Store};
use backissue_core::history::{EntryKey, FeedKey, Flag};
use flate2::read::GzDecoder;
use serde_json::Value;

use filled::{FEEDS, fill, now};

mod filled;

/// One entry in this number is unread.
const UNREAD_EVERY: u32 = 5;
/// Entries with their texts in one answer, and ids in one.
const TEXTS: usize = 1_000;
const IDS: usize = 10_000;
/// Number of quiet syncs, of which the mean is shown.
const QUIET: u32 = 50;
/// Pause between two keys.
const KEY_PAUSE: Duration = Duration::from_millis(10);

/// A device that syncs as an app does.
struct Device {
    server: DeviceServer,
    header: String,
    /// Processor time of the device itself, in nanoseconds.
    own: AtomicU64,
}

impl Device {
    /// Does what a device does on its own machine.
    fn there<T>(&self, work: impl FnOnce() -> T) -> T {
        let began = thread_ns();
        let done = work();
        self.own.fetch_add(thread_ns() - began, Ordering::Relaxed);
        done
    }

    /// Returns the processor time of the server so far, in milliseconds.
    fn server_ms(&self) -> f64 {
        processor_ms() - self.own.load(Ordering::Relaxed) as f64 / 1e6
    }

    /// Returns the text of an answer, which is compressed on its way.
    fn call(&self, path: &str, form: Option<String>) -> String {
        let headers = [("authorization", self.header.as_str()), ("accept-encoding", "gzip")];
        let request = ServedRequest {
            method: if form.is_some() { "POST" } else { "GET" }.to_owned(),
            path_and_query: format!("/api/greader.php/reader/api/0/{path}"),
            headers: headers.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec(),
            body: form.unwrap_or_default().into_bytes(),
            from: [127, 0, 0, 1].into(),
        };
        let answer = self.server.answer(&request);
        assert_eq!(answer.status, 200, "{path}");
        self.there(|| {
            let mut text = String::new();
            match GzDecoder::new(answer.body.as_slice()).read_to_string(&mut text) {
                Ok(_) => text,
                Err(_) => String::from_utf8(answer.body).unwrap(),
            }
        })
    }

    fn ids(&self, query: &str) -> Vec<String> {
        let (mut ids, mut from) = (Vec::new(), String::new());
        loop {
            let page = self.call(&format!("stream/items/ids?n={IDS}&{query}{from}"), None);
            let next = self.there(|| {
                let page: Value = serde_json::from_str(&page).unwrap();
                let found = page["itemRefs"].as_array().unwrap().iter();
                ids.extend(found.map(|item| item["id"].as_str().unwrap().to_owned()));
                page["continuation"].as_str().map(str::to_owned)
            });
            let Some(next) = next else { return ids };
            from = format!("&c={next}");
        }
    }

    /// Returns the ids of unread entries, after the lists that an app asks for with each sync.
    fn lists(&self) -> Vec<String> {
        self.call("subscription/list?output=json", None);
        self.call("tag/list?output=json", None);
        self.ids("s=user/-/state/com.google/starred");
        self.ids("s=user/-/state/com.google/reading-list&xt=user/-/state/com.google/read")
    }
}

/// Returns the processor time of this process so far, in milliseconds.
fn processor_ms() -> f64 {
    let stat = fs::read_to_string("/proc/self/stat").unwrap();
    let (_, fields) = stat.rsplit_once(')').unwrap();
    // In hundredths of a second: as the program, and as the system for it.
    let ticks = fields.split(' ').skip(12).take(2).map(|ticks| ticks.parse::<u32>().unwrap());
    f64::from(ticks.sum::<u32>()) * 10.0
}

/// Returns the processor time of this thread so far, in nanoseconds.
fn thread_ns() -> u64 {
    let stat = fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    stat.split(' ').next().unwrap().parse().unwrap()
}

/// Does some work and prints how long keys that need the loop and the store wait meanwhile.
fn pressing<T: Send>(handle: &LoopHandle, what: &str, work: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| {
        let working = scope.spawn(work);
        let mut waits = Vec::new();
        while !working.is_finished() {
            let began = Instant::now();
            handle.visit(|_| ()).unwrap();
            handle.look(|_| Ok(())).unwrap();
            waits.push(began.elapsed().as_secs_f64() * 1000.0);
            std::thread::sleep(KEY_PAUSE);
        }
        waits.sort_by(f64::total_cmp);
        let at = |permille: usize| waits[(waits.len() - 1) * permille / 1000];
        println!(
            "a key {what:<22} {:>5} keys   median {:>6.2} ms   99 % {:>6.2} ms   worst {:>6.2} ms",
            waits.len(),
            at(500),
            at(990),
            at(1000)
        );
        working.join().unwrap()
    })
}

fn main() {
    let entries = std::env::var("BACKISSUE_BENCH_ENTRIES").ok().and_then(|it| it.parse().ok());
    let entries: u32 = entries.unwrap_or(100_000);
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::open(folder.path()).unwrap();
    fill(&mut store, entries);
    let read = (1..=FEEDS).flat_map(|feed| {
        let read = (0..entries / FEEDS).filter(|seq| seq % UNREAD_EVERY != 0);
        read.map(move |seq| EntryKey { feed: FeedKey(feed), seq })
    });
    store.mark(&read.collect::<Vec<_>>(), Flag::Read, true).unwrap();
    let mut settings = Settings::default();
    settings.network.credentials_file = Some(folder.path().join("credentials.toml"));
    let file = DeviceFile::of(&settings).unwrap();
    let password = file.add("phone", now()).unwrap();
    let token = file.log_in("phone", &password).unwrap().unwrap();
    let server = DeviceServer::new(file, folder.path().to_owned(), settings.serve.clone());
    let tokio = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    tokio.block_on(async {
        let mut runtime = Runtime::headless(store, settings, FeedsWanted::All).unwrap();
        runtime.program.engine.polls_by_itself = false;
        let handle = runtime.handle();
        server.has_store(Some(handle.clone()));
        let device = Device {
            server,
            header: format!("GoogleLogin auth=phone/{token}"),
            own: AtomicU64::new(0),
        };
        tokio::select! {
            _ = runtime.until_ended(|_| {}) => {}
            done = tokio::task::spawn_blocking(move || measure(&device, &handle)) => done.unwrap(),
        }
        runtime.stop().unwrap();
    });
}

fn measure(device: &Device, handle: &LoopHandle) {
    handle.wait_until_indexed(|_| {}).unwrap();
    pressing(handle, "without a device", || std::thread::sleep(Duration::from_secs(3)));
    let began = device.server_ms();
    let count = pressing(handle, "during a first sync", || {
        let unread = device.lists();
        for batch in unread.chunks(TEXTS) {
            let form = format!("i={}", batch.join("&i="));
            let answer = device.call("stream/items/contents?output=json", Some(form));
            let count = device.there(|| answer.matches("\"origin\":").count());
            assert_eq!(count, batch.len());
        }
        unread.len()
    });
    let first = device.server_ms() - began;
    println!("first sync of {count} unread entries: {first:.0} ms of processor time");
    let began = device.server_ms();
    pressing(handle, "during quiet syncs", || {
        for _ in 0..QUIET {
            device.lists();
        }
    });
    let quiet = (device.server_ms() - began) / f64::from(QUIET);
    println!("quiet sync: {quiet:.1} ms of processor time");
}
