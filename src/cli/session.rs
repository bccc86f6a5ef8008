//! Functions that all commands share: reading the settings, opening the store, running the main loop without a screen, and
//! reporting errors.
//!
//! Between sessions the store is maintained: the daily backup, the limit on texts, and compaction.

use std::future::Future;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::{fmt, io};

use backissue_core::feed::dates::calendar::day_of;
use backissue_core::feed::text::counted_words;
use chrono::NaiveDate;
use indicatif::{ProgressBar, ProgressStyle};

use super::args::Options;
use super::args_publish::PublishArgs;
use crate::engine::request::{Input, Request};
use crate::engine::settings::Settings;
use crate::io::config::config_file::{self, Configured};
use crate::io::config::config_watch;
use crate::io::http::{Http, Limits};
use crate::io::log::{self, LogFile, ToldTo, Untold};
use crate::io::owner::client::wait_for_close;
use crate::io::runtime::{Headless, Program, Runtime, StartError};
use crate::io::signals::Stops;
use crate::io::store::{FeedsWanted, SessionLength, Store, StoreError, backup_is_due};
use crate::io::system::system_words;
use crate::io::{clock, console};
use crate::ui::app::App;

/// Number of tokio worker threads, which perform the network requests. Other work runs on the blocking pool.
const WORKERS: usize = 2;
/// Maximum number of threads in the blocking pool, which runs DNS lookups (32 at once), lays out texts, decodes pictures and
/// reads files.
const BLOCKING_THREADS: usize = 48;

/// Exit status after a second interrupt (128 plus the signal number).
pub(super) const INTERRUPTED: i32 = 130;
/// The exit status of a command that did nothing, or did not finish.
const FAILED: i32 = 2;

/// The error of a command.
#[derive(Debug)]
pub(super) struct Failure {
    /// One sentence: what failed, where, and what to do.
    pub(super) sentence: String,
    /// The exit status.
    pub(super) status: u8,
    /// The socket of the process that has the store open, if the store is in use.
    pub(super) in_use: Option<PathBuf>,
    /// Whether the main loop ended before the command finished.
    pub(super) loop_ended: bool,
}

impl Failure {
    /// Creates an error for wrong usage, or for a command that could not do anything.
    pub(super) fn new(sentence: impl Into<String>) -> Self {
        Self { sentence: sentence.into(), status: 2, in_use: None, loop_ended: false }
    }

    /// Creates the error for a file that could not be written.
    pub(super) fn unwritten(path: impl fmt::Display, error: &io::Error) -> Self {
        Self::new(format!("{path} cannot be written: {}", system_words(error)))
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        let failure = Self::new(error.to_string());
        if let StoreError::InUse { socket, .. } = error {
            Self { status: 3, in_use: socket, ..failure }
        } else {
            Self { loop_ended: matches!(error, StoreError::Ended(_)), ..failure }
        }
    }
}

impl From<StartError> for Failure {
    fn from(error: StartError) -> Self {
        match error {
            StartError::Store(error) => error.into(),
            StartError::System(sentence) => Self::new(sentence),
        }
    }
}

/// Returns the settings of the configuration file, or the defaults.
pub(super) fn read_settings(options: &Options) -> Result<Settings, Failure> {
    Ok(read_configuration(options)?.settings)
}

/// Returns the settings, and notes about invalid parts of the configuration file.
pub(super) fn read_configuration(options: &Options) -> Result<Configured, Failure> {
    let read = match (&options.config, config_file(options)) {
        (Some(path), _) => config_file::read(path, true),
        (None, Some(path)) => config_file::read(&path, false),
        (None, None) => Ok(Configured::default()),
    };
    read.map_err(Failure::new)
}

/// Like [`read_configuration`], and also checks the settings that only the HTTP client can validate: proxies, certificates, the
/// user agent. Themes that cannot be used are among the notes.
pub(super) fn check_configuration(options: &Options) -> Result<Configured, Failure> {
    let mut configured = read_configuration(options)?;
    Http::new(&configured.settings.network, Limits::default()).map_err(Failure::new)?;
    let (_, troubles) =
        config_watch::appearance(&configured.screen, config_file(options).as_deref());
    configured.notes.extend(troubles);
    for words in &configured.settings.publish.feeds {
        PublishArgs::configured(words, &config_folder(options)).map_err(Failure::new)?;
    }
    Ok(configured)
}

/// Returns the path of the configuration file, whether or not it exists.
pub(super) fn config_file(options: &Options) -> Option<PathBuf> {
    let usual = || config_file::folders().ok().map(|folders| folders.config);
    options.config.clone().or_else(usual)
}

/// Returns the folder to which paths in the configuration are relative.
pub(super) fn config_folder(options: &Options) -> PathBuf {
    let file = config_file(options).unwrap_or_default();
    file.parent().unwrap_or(&file).to_owned()
}

/// Opens the log file of this process.
pub(super) fn begin_log(options: &Options) {
    if let Some(file) = LogFile::find(options.data_dir.as_deref()) {
        log::begin(file, options.verbose);
        tracing::debug!("backissue {} starts", env!("CARGO_PKG_VERSION"));
    }
}

/// Returns the reports of panics that have not been shown to this audience (the screen or a command) yet.
pub(super) fn find_untold_panics(options: &Options, to: ToldTo) -> Option<Untold> {
    log::find_untold(&log::log_folder(options.data_dir.as_deref())?, to)
}

/// Applies changes to the configuration file while the program runs.
pub(super) fn follow_configuration<P: Program>(
    runtime: &Runtime<P>,
    options: &Options,
    theme: Option<String>,
) {
    if let Some(path) = config_file(options) {
        config_watch::follow(path, options.plain, theme, runtime.sender());
    }
}

/// Applies the configured appearance to the screen, and shows the first problem in the status line.
pub(super) fn dress_screen(options: &Options, runtime: &mut Runtime<App>) {
    let ui = &mut runtime.program.ui.settings;
    ui.plain |= options.plain;
    let (appearance, troubles) = config_watch::appearance(ui, config_file(options).as_deref());
    runtime.program.ui.appearance = appearance;
    if let Some(first) = troubles.first() {
        runtime.program.ui.complain(clock::precise_now(), first.clone());
    }
}

/// Returns the data folder.
pub(super) fn data_dir(options: &Options) -> Result<PathBuf, Failure> {
    match &options.data_dir {
        Some(folder) => Ok(folder.clone()),
        None => Ok(config_file::folders().map_err(Failure::new)?.data),
    }
}

/// Opens the store. If it is damaged, restores it from a backup and reports this.
pub(super) fn open_store(options: &Options) -> Result<Store, Failure> {
    let (store, recovered) = store_or_recovered(options, SessionLength::Short)?;
    if let Some(sentence) = recovered {
        console::tell(&sentence);
    }
    Ok(store)
}

/// Opens the store. The returned sentence, if any, reports that the store was damaged and restored from a backup.
pub(super) fn store_or_recovered(
    options: &Options,
    stay: SessionLength,
) -> Result<(Store, Option<String>), Failure> {
    Ok(Store::open_or_recover(&data_dir(options)?, clock::precise_now(), stay)?)
}

/// Returns the arguments of this process as the user typed them.
pub(super) fn typed() -> Vec<String> {
    // It is safe to replace invalid UTF-8 in an argument, because such an argument names no feed and no file of this program.
    std::env::args_os().map(|argument| argument.to_string_lossy().into_owned()).collect()
}

/// Runs a future to completion.
pub(super) fn block_on<T>(work: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(WORKERS)
        .max_blocking_threads(BLOCKING_THREADS)
        .enable_all()
        .build()
        .map_err(|error| {
            Failure::new(format!("no threads could be started: {}", system_words(&error)))
        })?;
    let done = runtime.block_on(work);
    runtime.shutdown_background();
    done
}

/// Runs slow work on a blocking thread until it is done or a stop signal arrives. After a stop signal, this function does not
/// wait for the work to finish, so the work must keep its data consistent at any point.
fn run_interruptibly<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Failure> + Send + 'static,
) -> Result<T, Failure> {
    block_on(async {
        let mut stops = Stops::from_now_on();
        tokio::select! {
            done = tokio::task::spawn_blocking(work) => {
                done.unwrap_or_else(|_| Err(Failure::new("the store's files are damaged: run 'backissue doctor'")))
            }
            () = stops.wait() => {
                Err(Failure::new("interrupted during maintenance of the store; the store is intact"))
            }
        }
    })
}

/// Creates the main loop for a command: without a screen, without scheduled polls and without a delay at start-up.
pub(super) fn quiet_on(
    options: &Options,
    store: Store,
    wanted: FeedsWanted,
) -> Result<Runtime<Headless>, Failure> {
    let settings = read_settings(options)?;
    let mut runtime = Runtime::headless(store, settings, wanted)?;
    runtime.program.engine.polls_by_itself = false;
    runtime.program.engine.offline = options.offline;
    runtime.program.engine.host_queue.not_before = None;
    Ok(runtime)
}

/// Calls `stop` at the first stop signal, for a process that only waits for another one. A second signal ends this process at
/// once.
pub(super) fn when_stopped(stop: io::Result<impl FnMut() + Send + 'static>) {
    let Ok(mut stop) = stop else { return };
    let mut stops = Stops::of_process();
    let wait = move || {
        let Ok(waiting) = tokio::runtime::Builder::new_current_thread().build() else { return };
        waiting.block_on(stops.wait());
        stop();
        waiting.block_on(stops.wait());
        std::process::exit(INTERRUPTED);
    };
    // If no thread can be started, the command cannot be cancelled.
    std::thread::Builder::new().name("cancel".into()).spawn(wait).ok();
}

/// Waits until the peer closes the connection (`true`) or a stop signal arrives (`false`).
pub(super) fn wait_unless_stopped(stream: UnixStream) -> Result<bool, Failure> {
    let mut stops = Stops::of_process();
    block_on(async {
        Ok(tokio::select! {
            biased;
            () = stops.wait() => false,
            () = wait_for_close(stream) => true,
        })
    })
}

/// Ends this process at the first stop signal. For work that may wait for a pipe, a server or another program, and that keeps its
/// data consistent at any moment.
pub(super) fn end_when_stopped() {
    end_while(Arc::new(AtomicBool::new(true)));
}

/// Like [`end_when_stopped`], but only as long as `ends` is true.
pub(super) fn end_while(ends: Arc<AtomicBool>) {
    let mut stops = Stops::of_process();
    let wait = move || {
        if let Ok(waiting) = tokio::runtime::Builder::new_current_thread().build() {
            waiting.block_on(stops.wait());
            if !ends.load(Ordering::Relaxed) {
                return;
            }
            // The user may be typing a password without echo.
            crossterm::terminal::disable_raw_mode().ok();
            console::tell("backissue: interrupted");
            std::process::exit(FAILED);
        }
    };
    // If no thread can be started, the work cannot be interrupted.
    std::thread::Builder::new().name("stop".into()).spawn(wait).ok();
}

/// Calls `stop` at each stop signal. Must be called within a tokio runtime.
pub(super) fn on_each_stop(mut stop: impl FnMut() + Send + 'static) {
    let mut stops = Stops::of_process();
    tokio::spawn(async move {
        loop {
            stops.wait().await;
            stop();
        }
    });
}

/// Stops the main loop at a stop signal, so that changes are still saved.
pub(super) fn stop_on_signals<P: Program>(runtime: &Runtime<P>) {
    let sender = runtime.sender();
    on_each_stop(move || {
        // It is fine if the loop has already ended.
        sender.send(Input::Request(Request::Stop).into()).ok();
    });
}

/// Compacts the store and prints the space saved.
pub(super) fn compact_store(store: Store) -> Result<(), Failure> {
    let bar = ProgressBar::new(0);
    if let Ok(style) = ProgressStyle::with_template("compacting the store {wide_bar} {pos}/{len}") {
        bar.set_style(style);
    }
    let done = store.compact(|done, all| {
        bar.set_length(u64::try_from(all).unwrap_or(u64::MAX));
        bar.set_position(u64::try_from(done).unwrap_or(u64::MAX));
    });
    bar.finish_and_clear();
    let done = done?;
    console::tell(&format!(
        "the store was compacted: it had used {} MB of disk for {} MB of records",
        done.before / 1_000_000,
        done.live / 1_000_000
    ));
    Ok(())
}

/// Runs the maintenance due at the end of a session; a stop signal interrupts it.
pub(super) fn at_the_end(store: Store, settings: &Settings) -> Result<(), Failure> {
    let texts_max = texts_max(settings);
    if !is_due(&store, texts_max)? {
        return Ok(());
    }
    run_interruptibly(move || put_in_order(store, texts_max).map(drop))
}

/// Runs the same maintenance as [`at_the_end`] at the start of a long session that must end quickly. Returns the store, or `None`
/// if compaction closed the store.
pub(super) fn at_the_start(store: Store, settings: &Settings) -> Result<Option<Store>, Failure> {
    if store.only_reads() { Ok(Some(store)) } else { put_in_order(store, texts_max(settings)) }
}

/// Maximum size of the stored texts, bytes (SPEC C.10).
pub(super) fn texts_max(settings: &Settings) -> u64 {
    u64::from(settings.history.texts_mb).saturating_mul(1024 * 1024)
}

fn find_today() -> NaiveDate {
    day_of(clock::precise_now(), clock::zone())
}

/// Checks whether any maintenance is due, without reading records.
fn is_due(store: &Store, texts_max: u64) -> Result<bool, Failure> {
    // A store that is only read is a temporary copy that is discarded after the session, so it needs no maintenance.
    if store.only_reads() {
        return Ok(false);
    }
    store.check_place()?;
    Ok(backup_is_due(store.folder(), find_today())
        || store.may_hold_too_much(texts_max)?
        || store.is_worth_compacting()?)
}

/// Runs the maintenance that is due. The daily backup is made before anything is deleted, because the session may have had no
/// screen and made no backup, or may have been too short to finish one. Returns the store unless the store was compacted, which
/// closes it.
fn put_in_order(mut store: Store, texts_max: u64) -> Result<Option<Store>, Failure> {
    if let Err(error) = store.back_up_daily(find_today()) {
        console::tell(&format!("no backup was made today: {}", error.reason_of_backup()));
    }
    if store.may_hold_too_much(texts_max)? {
        match store.shed_texts(texts_max) {
            Err(error) => console::tell(&format!("old texts could not be deleted: {error}")),
            Ok(shed) if shed.entries > 0 => console::tell(&format!(
                "the texts of {} were deleted (unstarred, read longest ago): there were {} MB, and [history] texts_mb is {}",
                counted_words(shed.entries, "entry", "entries"),
                shed.before / (1024 * 1024),
                texts_max / (1024 * 1024)
            )),
            Ok(_) => {}
        }
    }
    // Compact if the store's log is too long (STORE 3) and there is enough free space for the compacted store.
    let compacts = store.is_worth_compacting()? && store.check_room_to_compact().is_ok();
    if compacts { compact_store(store).map(|()| None) } else { Ok(Some(store)) }
}

#[cfg(test)]
mod tests {
    use rustix::process::{self, getpid, kill_process};

    use super::*;

    #[test]
    fn signal_ends_slow_work() {
        let (keep, kept) = std::sync::mpsc::channel::<()>();
        let done = run_interruptibly(move || {
            kill_process(getpid(), process::Signal::HUP).unwrap();
            // Blocks until the test is over.
            kept.recv().ok();
            Ok(())
        });
        assert!(done.unwrap_err().sentence.contains("interrupted"));
        drop(keep);
        assert!(matches!(run_interruptibly(|| Ok(7)), Ok(7)));
        assert!(run_interruptibly::<()>(|| panic!("sled does that")).is_err());
    }
}
