//! The reader (the terminal interface) under sustained load: many feeds, failing servers, key presses, and commands of other
//! processes.
//!
//! `BACKISSUE_SOAK_MINUTES=30 cargo test --release --test it cli::soak -- --nocapture` runs for 30 minutes with a thousand feeds,
//! each polled every minute, and prints the resources used; the ordinary run is too short to measure them.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use backissue::io::clock;
use chrono::{DateTime, Utc};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;

use crate::support::binary::{Program, ask_to_end};
use crate::support::dice::Dice;
use crate::support::terminal_session::Session;

/// Number of feeds and duration of the test unless `BACKISSUE_SOAK_MINUTES` is set.
const FEW: usize = 8;
const SHORT: Duration = Duration::from_secs(3);
/// Number of feeds if `BACKISSUE_SOAK_MINUTES` is set.
const MANY: usize = 1000;
/// Seconds between new entries of a feed, number of entries in its document, and number of entries in the document that is polled
/// before a long run, so that the store is larger than its memory cache.
const ENTRY_EVERY: i64 = 600;
const ENTRIES: i64 = 10;
const ENTRIES_BEFORE: i64 = 60;
/// Warm-up before the measurement of a long run: memory that is allocated only once does not count as growth.
const BEGINNING: Duration = Duration::from_mins(5);
/// The server answers one in this many requests with a fault.
const FAULTS: u64 = 25;
/// Maximum ratio of the memory used in the last quarter of a long run to that used in the first quarter.
const GROWTH: f64 = 1.1;
/// Maximum delay of a poll after the time that `feeds --json` reported for it, in seconds.
const LATE_MAX: f64 = 2.0;
/// Keys that the test presses: none of them quits the reader, opens a link or polls by hand.
const KEYS: [&str; 20] = [
    "j", "j", "k", "h", "l", "\r", "\x1b", "n", "m", "s", "\t", "G", "gg", "?", "i", "P", "z", "!",
    " ", "/oak\r",
];
const COMMANDS: [&[&str]; 4] = [
    &["entries", "--unread", "--limit", "20", "--json"],
    &["mark", "read", "--feed", "1"],
    &["search", "acorn", "--json"],
    &["set", "2", "--title", "Another"],
];

/// The number of the requested feed and the time at which the request arrived.
type Arrival = (usize, DateTime<Utc>);

fn document(feed: usize, entries: i64) -> String {
    // The shift makes the feeds publish at different times.
    let shift = i64::try_from(feed).unwrap() % ENTRY_EVERY;
    let newest = (clock::precise_now().timestamp() + shift) / ENTRY_EVERY;
    let mut text = format!("<rss version='2.0'><channel><title>Feed {feed}</title>");
    for number in (newest - entries..newest).rev() {
        write!(
            text,
            "<item><guid isPermaLink='false'>{feed}-{number}</guid><title>Acorn {number}</title><description>{}\
             </description></item>",
            "An oak of some age. ".repeat(40)
        )
        .unwrap();
    }
    text + "</channel></rss>"
}

/// Answers the requests of a connection one after another.
async fn serve(
    mut stream: TcpStream,
    arrivals: Sender<Arrival>,
    entries: Arc<AtomicI64>,
    mut dice: Dice,
) {
    let mut head = Vec::new();
    while let Ok(byte) = stream.read_u8().await {
        head.push(byte);
        if !head.ends_with(b"\r\n\r\n") {
            continue;
        }
        let text = String::from_utf8_lossy(&std::mem::take(&mut head)).into_owned();
        let path = text.split(' ').nth(1).unwrap_or_default();
        let feed: usize = path.trim_start_matches("/feed/").parse().unwrap();
        arrivals.send((feed, clock::precise_now())).ok();
        let count = entries.load(Ordering::Relaxed);
        let body = document(feed, count);
        let whole = |status: &str, body: &str| {
            format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\n\r\n{body}", body.len())
        };
        let answer = match if count == ENTRIES && dice.one_in(FAULTS) { dice.roll(6) } else { 6 } {
            0 => whole("500 Internal Server Error", ""),
            1 => whole("503 Service Unavailable", ""),
            2 => {
                let cut = whole("200 OK", &body);
                stream.write_all(&cut.as_bytes()[..cut.len() / 2]).await.ok();
                return;
            }
            3 => return,
            4 => "\u{0}\u{1}no HTTP at all\r\n\r\n".to_owned(),
            // Stay silent until the client disconnects.
            5 => {
                stream.read_u8().await.ok();
                return;
            }
            _ => whole("200 OK", &body),
        };
        if stream.write_all(answer.as_bytes()).await.is_err() {
            return;
        }
    }
}

/// Starts a server whose documents have this number of entries; returns its address and a receiver of its requests.
fn start_server(threads: &Runtime, entries: &Arc<AtomicI64>) -> (String, Receiver<Arrival>) {
    let (sender, arrivals) = channel();
    let listener = threads.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
    let address = listener.local_addr().unwrap();
    let entries = Arc::clone(entries);
    threads.spawn(async move {
        let mut number = 0;
        while let Ok((stream, _)) = listener.accept().await {
            number += 1;
            let dice = Dice::of(3, "connection", number);
            tokio::spawn(serve(stream, sender.clone(), Arc::clone(&entries), dice));
        }
    });
    (format!("http://{address}"), arrivals)
}

/// Resource usage of the program, which only Linux reports.
struct Usage {
    /// Private memory and memory including mapped files, in MB.
    own: f64,
    all: f64,
    descriptors: f64,
}

fn usage(process: u32) -> Option<Usage> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let megabytes = |name: &str| -> Option<f64> {
        let line = status.lines().find_map(|line| line.strip_prefix(name))?;
        Some(line.split_whitespace().next()?.parse::<f64>().ok()? / 1000.0)
    };
    let descriptors = std::fs::read_dir(format!("/proc/{process}/fd")).ok()?.count();
    let descriptors = f64::from(u32::try_from(descriptors).ok()?);
    Some(Usage { own: megabytes("RssAnon:")?, all: megabytes("VmRSS:")?, descriptors })
}

/// What was measured until now.
#[derive(Default)]
struct Seen {
    requests: usize,
    usages: Vec<Usage>,
    /// Time of each feed's next poll as last reported by `feeds --json`.
    foretold: BTreeMap<usize, DateTime<Utc>>,
    /// Delays of polls after the time reported for them in `foretold`, in seconds.
    late: Vec<f64>,
}

impl Seen {
    fn take_arrivals(&mut self, arrivals: &Receiver<Arrival>) {
        for (feed, at) in arrivals.try_iter() {
            self.requests += 1;
            if let Some(next) = self.foretold.remove(&feed) {
                self.late.push((at - next).as_seconds_f64());
            }
        }
    }

    fn foretell(&mut self, program: &Program, arrivals: &Receiver<Arrival>) {
        // Requests that arrived before the command are counted first, because a request that arrives while the command runs may
        // belong to the poll time before or after its output.
        self.take_arrivals(arrivals);
        let now = clock::precise_now();
        let feeds = program.run(&["feeds", "--json"]).with(0).json();
        let asked: Vec<usize> = arrivals.try_iter().map(|(feed, _)| feed).collect();
        self.requests += asked.len();
        for feed in feeds.as_array().unwrap() {
            let number = feed["url"].as_str().unwrap().rsplit('/').next().unwrap().parse().unwrap();
            let next = feed["next_poll"].as_str().and_then(|next| next.parse().ok());
            self.foretold.remove(&number);
            // A poll that is already due is not foretold: feeds that are all due at the start are polled one after another.
            let is_ahead = |next: &DateTime<Utc>| *next > now && !asked.contains(&number);
            if let Some(next) = next.filter(is_ahead) {
                self.foretold.insert(number, next);
            }
        }
    }

    /// Returns the mean of a measured value in each quarter of the run.
    fn quarters(&self, of: impl Fn(&Usage) -> f64) -> [f64; 4] {
        let length = self.usages.len() / 4;
        [0, 1, 2, 3].map(|number| {
            let part = &self.usages[number * length..(number + 1) * length];
            part.iter().map(&of).sum::<f64>() / f64::from(u32::try_from(length.max(1)).unwrap())
        })
    }
}

/// Presses keys in the reader and runs commands for the duration `time`, and measures.
fn work(
    program: &Program,
    session: &mut Session,
    arrivals: &Receiver<Arrival>,
    time: Duration,
) -> Seen {
    let (mut seen, mut dice) = (Seen::default(), Dice::of(9, "keys", 0));
    let (process, began): (_, Instant) = (session.child.process_id().unwrap(), clock::instant());
    for second in 0_usize.. {
        if began.elapsed() >= time {
            break;
        }
        let keys = *dice.pick(&KEYS);
        session.press(keys);
        session.take_for(Duration::from_secs(1));
        seen.take_arrivals(arrivals);
        match second % 6 {
            0 => seen.foretell(program, arrivals),
            3 => drop(program.run(COMMANDS[dice.place(COMMANDS.len())]).with(0)),
            _ => {}
        }
        seen.usages.extend(usage(process));
    }
    seen
}

/// Prints the measured values and checks that memory and descriptors did not grow and no poll was late.
fn judge(seen: &Seen) {
    let own = seen.quarters(|usage| usage.own);
    let all = seen.quarters(|usage| usage.all);
    let descriptors = seen.quarters(|usage| usage.descriptors);
    let latest = seen.late.iter().copied().fold(0.0, f64::max);
    let mut out = std::io::stdout().lock();
    writeln!(
        out,
        "{} requests; by quarters: memory {own:.1?} MB, with files {all:.1?} MB, descriptors {descriptors:.1?}; {} polls were \
         foretold, the latest came {latest:.2} s late",
        seen.requests,
        seen.late.len(),
    )
    .unwrap();
    assert!(own[3] <= own[0] * GROWTH, "memory grows");
    assert!(descriptors[3] <= descriptors[0] * GROWTH, "descriptors grow");
    assert!(!seen.late.is_empty() && latest <= LATE_MAX, "a poll is late");
}

#[test]
fn long_running_reader_keeps_its_memory_bounded() {
    let minutes: Option<u64> =
        std::env::var("BACKISSUE_SOAK_MINUTES").ok().and_then(|minutes| minutes.parse().ok());
    let (feeds, time) =
        minutes.map_or((FEW, SHORT), |minutes| (MANY, Duration::from_secs(60 * minutes)));
    let threads =
        tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let entries = Arc::new(AtomicI64::new(ENTRIES));
    let (address, arrivals) = start_server(&threads, &entries);
    let program = Program::new();
    program.write("config.toml", "[network]\nspace_loopback = false\n[poll]\nmin = \"1m\"\ndefault = \"1m\"\nlearn = false\n");
    let list: String = (1..=feeds).map(|feed| format!("{address}/feed/{feed}\n")).collect();
    let list = program.write("feeds.txt", list);
    program.run(&["import", &list]).with(0);
    if minutes.is_some() {
        entries.store(ENTRIES_BEFORE, Ordering::Relaxed);
        program.run(&["poll", "--all"]).with(0);
        entries.store(ENTRIES, Ordering::Relaxed);
    }
    let mut session = program.start_reader();
    if minutes.is_none() {
        // Some polls fail, so the exit status is not checked.
        program.run(&["poll", "--all"]);
    }
    session.until_it_says("Feed 1");
    if minutes.is_some() {
        work(&program, &mut session, &arrivals, BEGINNING);
    }
    let seen = work(&program, &mut session, &arrivals, time);
    ask_to_end(session.child.process_id().unwrap());
    assert!(session.ended().success());
    program.run(&["doctor"]).with(0);
    assert!(seen.requests >= feeds, "{} requests", seen.requests);
    if minutes.is_some() {
        judge(&seen);
    }
}
