//! `[publish]` of the configuration: feeds with chosen entries that are written on a timer while `watch` polls.

use std::cell::{Cell, RefCell};
use std::io;
use std::rc::Rc;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use tracing::debug;

use crate::cli::args::Options;
use crate::cli::args_publish::PublishArgs;
use crate::cli::commands::publish;
use crate::cli::context::CommandContext;
use crate::cli::json::EventLog;
use crate::cli::session;
use crate::engine::external_command::ExternalCommand;
use crate::engine::settings::PublishSettings;
use crate::io::console;
use crate::io::loop_handle::LoopHandle;
use crate::io::named_files::{self, NamedFile, WriteFile};
use crate::io::output::{CommandOutput, OwnOutput};
use crate::io::owner::messages::Progress;

/// Starts the thread that publishes at the start, at the interval, and when the settings change. It runs until the main loop
/// ends.
pub(in crate::cli) fn start(options: &Options, handle: LoopHandle) {
    let (sender, changes) = channel();
    let mut known = PublishSettings::default();
    handle.watch(Box::new(move |engine, _| {
        let wanted = &engine.settings.publish;
        let is_new = *wanted != known;
        known.clone_from(wanted);
        is_new && sender.send(known.clone()).is_err()
    }));
    let options = options.clone();
    let publish = move || {
        let (mut wanted, mut failures) = (PublishSettings::default(), Vec::new());
        loop {
            let every = Duration::from_mins(wanted.every_minutes.max(1).into());
            // Without feeds there is nothing to do until the settings change.
            let pause = if wanted.feeds.is_empty() { Duration::MAX } else { every };
            match changes.recv_timeout(pause) {
                Ok(settings) => wanted = settings,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
            let tries = wanted.feeds.iter().map(|words| publish_once(&options, &handle, words));
            let failed: Vec<String> = tries.filter_map(Result::err).collect();
            for why in failed.iter().filter(|why| !failures.contains(*why)) {
                console::tell(&format!("backissue: not published: {why}"));
            }
            failures = failed;
        }
    };
    // If no thread can be started, nothing is published automatically, but 'backissue publish' still works.
    std::thread::Builder::new().name("publish".into()).spawn(publish).ok();
}

/// Publishes one feed: writes the documents that changed, and reports what it wrote. The error is a sentence.
fn publish_once(options: &Options, handle: &LoopHandle, words: &[String]) -> Result<(), String> {
    let args = PublishArgs::configured(words, &session::config_folder(options));
    let args = args.map_err(|flaw| flaw.to_string())?;
    let output = Rc::<TimedOutput>::default();
    let shown = Rc::clone(&output) as Rc<dyn CommandOutput>;
    let context = CommandContext::new(options.clone(), handle.clone(), shown, EventLog::default());
    let done = publish::run(&context, &args);
    if output.has_written.get() {
        for line in output.lines.take() {
            console::tell(&format!("published: {line}"));
        }
    } else {
        debug!("publish {}: nothing was written", words.join(" "));
    }
    match done {
        // The missing documents are written when this process has the store again.
        Err(failure) if failure.loop_ended => Ok(()),
        Err(failure) => Err(failure.sentence),
        Ok(_) => Ok(()),
    }
}

/// Collects the messages of an automatic publication. They are printed only if it wrote a file.
#[derive(Debug, Default)]
struct TimedOutput {
    lines: RefCell<Vec<String>>,
    has_written: Cell<bool>,
}

impl CommandOutput for TimedOutput {
    fn put(&self, _: &str) {}

    fn tell(&self, text: &str) {
        self.lines.borrow_mut().push(text.to_owned());
    }

    fn is_closed(&self) -> bool {
        false
    }

    fn show_progress(&self, _: Option<Progress>) {}

    fn read_file(&self, path: &str) -> io::Result<Vec<u8>> {
        OwnOutput::default().read_file(path)
    }

    fn write_file(&self, file: &NamedFile, write: &mut WriteFile<'_>) -> io::Result<()> {
        self.has_written.set(true);
        named_files::write(file, write)
    }

    fn open_link(&self, _: &str, _: Option<&ExternalCommand>) -> io::Result<()> {
        Ok(())
    }
}
