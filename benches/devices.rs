//! Benchmark of a device that syncs with a store of 100,000 entries of which 20,000 are unread: the processor time that its first sync
//! and a quiet sync take here. `cargo bench --bench devices`; `BACKISSUE_BENCH_ENTRIES` sets another number of entries.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::disallowed_methods,
    clippy::cast_possible_truncation,
    dead_code,
    reason = "a measurement may panic and print, and uses a part of what fills the store"
)]

use std::fs;

use backissue::engine::settings::Settings;
use backissue::io::devices::DeviceServer;
use backissue::io::devices::device_file::DeviceFile;
use backissue::io::publisher::server::PublisherRequest;
use backissue::io::runtime::Runtime;
use backissue::io::store::Store;
use backissue_core::history::{EntryKey, FeedKey, Flag};
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

/// A device that syncs as an app does.
struct Device {
    server: DeviceServer,
    header: String,
}

impl Device {
    fn call(&self, path: &str, form: Option<String>) -> Value {
        let request = PublisherRequest {
            method: if form.is_some() { "POST" } else { "GET" }.to_owned(),
            path_and_query: format!("/api/greader.php/reader/api/0/{path}"),
            headers: vec![("authorization".to_owned(), self.header.clone())],
            body: form.unwrap_or_default().into_bytes(),
            from: [127, 0, 0, 1].into(),
        };
        let answer = self.server.answer(&request);
        assert_eq!(answer.status, 200, "{path}");
        serde_json::from_slice(&answer.body).unwrap_or_default()
    }

    fn ids(&self, query: &str) -> Vec<String> {
        let (mut ids, mut from) = (Vec::new(), String::new());
        loop {
            let page =
                self.call(&format!("stream/items/ids?output=json&n={IDS}&{query}{from}"), None);
            let found = page["itemRefs"].as_array().unwrap().iter();
            ids.extend(found.map(|item| item["id"].as_str().unwrap().to_owned()));
            let Some(next) = page["continuation"].as_str() else { return ids };
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
    let stat = fs::read_to_string("/proc/self/schedstat").unwrap_or_default();
    let threads = fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let of_thread = |folder: fs::DirEntry| {
        let text = fs::read_to_string(folder.path().join("schedstat")).ok()?;
        text.split(' ').next()?.parse::<u64>().ok()
    };
    let sum: u64 = threads.filter_map(of_thread).sum();
    assert!(!stat.is_empty(), "this needs the scheduler statistics of Linux");
    #[expect(clippy::cast_precision_loss, reason = "a time need not be exact")]
    let nanoseconds = sum as f64;
    nanoseconds / 1e6
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
        let mut runtime = Runtime::headless(store, settings).unwrap();
        runtime.program.engine.polls_by_itself = false;
        server.has_store(Some(runtime.handle()));
        let device = Device { server, header: format!("GoogleLogin auth=phone/{token}") };
        tokio::select! {
            _ = runtime.until_ended(|_| {}) => {}
            done = tokio::task::spawn_blocking(move || measure(&device)) => done.unwrap(),
        }
        runtime.stop().unwrap();
    });
}

fn measure(device: &Device) {
    let began = processor_ms();
    let unread = device.lists();
    for batch in unread.chunks(TEXTS) {
        let form = format!("i={}", batch.join("&i="));
        let answer = device.call("stream/items/contents?output=json", Some(form));
        assert_eq!(answer["items"].as_array().unwrap().len(), batch.len());
    }
    let first = processor_ms() - began;
    println!("first sync of {} unread entries: {first:.0} ms of processor time", unread.len());
    let began = processor_ms();
    for _ in 0..QUIET {
        device.lists();
    }
    let quiet = (processor_ms() - began) / f64::from(QUIET);
    println!("quiet sync: {quiet:.1} ms of processor time");
}
