//! The context of a command in the process that has the store open: the engine, the store, and the terminal on which the
//! command was typed.
//!
//! A list is printed as one JSON document, formatted element by element, so that a long list is never in memory as a whole.

use std::cell::RefCell;
use std::io;
use std::rc::Rc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Weak};

use backissue_core::feed::text::counted_words;
use serde_json::Value;

use super::Done;
use super::args::Options;
use super::json::{self, EventLog};
use super::session::Failure;
use crate::engine::change::questions;
use crate::engine::request::{Event, NoticeLevel, Question, Request};
use crate::engine::settings::Credentials;
use crate::engine::state::Engine;
use crate::io::answers::LoopEnded;
use crate::io::clock;
use crate::io::loop_handle::{LoopHandle, Waited, Watcher};
use crate::io::named_files::{NamedFile, WriteFile};
use crate::io::output::CommandOutput;
use crate::io::owner::messages::Progress;
use crate::io::performing::Ending;
use crate::io::store::{Store, StoreError};
use crate::io::system::system_words;

/// The context in which a command runs.
pub(in crate::cli) struct CommandContext {
    /// Global options of the command.
    pub(in crate::cli) options: Options,
    /// Recent events of this process, for `backissue events`.
    pub(in crate::cli) log: EventLog,
    handle: LoopHandle,
    output: Rc<dyn CommandOutput>,
    /// Receives the problems that the engine has reported since the first request of the command.
    troubles: RefCell<Option<Receiver<String>>>,
    /// Keeps the watcher that forwards problems registered while the context exists.
    listens: Arc<()>,
}

impl From<LoopEnded> for Failure {
    fn from(ended: LoopEnded) -> Self {
        Self { loop_ended: true, ..Self::new(ended.to_string()) }
    }
}

impl CommandContext {
    /// Creates a context for the loop that `handle` controls.
    pub(in crate::cli) fn new(
        options: Options,
        handle: LoopHandle,
        output: Rc<dyn CommandOutput>,
        log: EventLog,
    ) -> Self {
        let (troubles, listens) = (RefCell::new(None), Arc::new(()));
        Self { options, log, handle, output, troubles, listens }
    }

    /// Writes a line to standard output.
    pub(in crate::cli) fn put(&self, text: &str) {
        self.output.put(text);
    }

    /// Writes a line to standard error.
    pub(in crate::cli) fn tell(&self, text: &str) {
        self.output.tell(text);
    }

    /// Checks whether the command should stop printing, because its output is closed or the command was cancelled.
    pub(in crate::cli) fn is_closed(&self) -> bool {
        self.output.is_closed() || self.handle.is_cut_short()
    }

    /// Reports how many unreadable records are missing from a list, if any.
    pub(in crate::cli) fn tell_left_out(&self, count: usize, one: &str, many: &str) -> Done {
        if count == 0 {
            return Done::All;
        }
        let what = counted_words(count, one, many);
        self.tell(&format!(
            "backissue: skipped {what} that cannot be read; run 'backissue doctor'"
        ));
        Done::WithFailures
    }

    /// Shows the command's progress; `all` is 0 if the total is unknown.
    pub(in crate::cli) fn show_progress(&self, text: impl Into<String>, done: u64, all: u64) {
        self.output.show_progress(Some(Progress { text: text.into(), done, all }));
    }

    /// Removes what [`CommandContext::show_progress`] showed.
    pub(in crate::cli) fn end_progress(&self) {
        self.output.show_progress(None);
    }

    /// Reads a file, or standard input (`-`).
    pub(in crate::cli) fn read_file(&self, path: &str) -> io::Result<Vec<u8>> {
        self.output.read_file(path)
    }

    /// Writes a file, completely or not at all.
    pub(in crate::cli) fn write_file(
        &self,
        file: &NamedFile,
        write: &mut WriteFile<'_>,
    ) -> Result<(), Failure> {
        self.output.write_file(file, write).map_err(|error| Failure::unwritten(&file.path, &error))
    }

    /// Opens a link on the user's machine, with the configured command or in the browser.
    pub(in crate::cli) fn open_link(&self, link: &str) -> Result<(), Failure> {
        let address = link.to_owned();
        let command = self.inspect(move |engine| {
            let open = engine.settings.commands.open.as_ref();
            open.map(|command| command.with_link(&address))
        })?;
        let opened = self.output.open_link(link, command.as_ref());
        opened.map_err(|error| Failure::new(system_words(&error)))
    }

    /// Returns the handle to the loop and the store.
    pub(in crate::cli) const fn handle(&self) -> &LoopHandle {
        &self.handle
    }

    /// Returns a copy of the engine.
    pub(in crate::cli) fn engine(&self) -> Result<Engine, Failure> {
        Ok(self.handle.visit(|host| host.engine().clone())?)
    }

    /// Runs `look` on the engine in the main loop, without copying the engine. The loop is blocked in the meantime.
    pub(in crate::cli) fn inspect<T: Send + 'static>(
        &self,
        look: impl FnOnce(&Engine) -> T + Send + 'static,
    ) -> Result<T, Failure> {
        Ok(self.handle.visit(|host| look(host.engine()))?)
    }

    /// Reads from the store on the store thread.
    pub(in crate::cli) fn look<T: Send + 'static>(
        &self,
        look: impl FnOnce(&mut Store) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, Failure> {
        Ok(self.handle.look(look)?)
    }

    /// Sends the engine a request and inspects the engine right afterwards. A refusal is an error.
    pub(in crate::cli) fn ask_and_inspect<T: Send + 'static>(
        &self,
        request: Request,
        look: impl FnOnce(&Engine, &[Event]) -> T + Send + 'static,
    ) -> Result<T, Failure> {
        self.ask_about(|_| (request, ()), |engine, told, ()| look(engine, told))
    }

    /// Like [`CommandContext::ask_and_inspect`], for a request that depends on the current state of the engine. The value that
    /// `request` returns is passed to `look`.
    pub(in crate::cli) fn ask_about<T: Send + 'static, B>(
        &self,
        request: impl FnOnce(&Engine) -> (Request, B) + Send + 'static,
        look: impl FnOnce(&Engine, &[Event], B) -> T + Send + 'static,
    ) -> Result<T, Failure> {
        let offline = self.options.offline;
        self.output.begin();
        let (sender, troubles) = channel();
        let watcher = if self.troubles.borrow().is_none() {
            *self.troubles.borrow_mut() = Some(troubles);
            Some(hear_troubles(sender, Arc::downgrade(&self.listens)))
        } else {
            None
        };
        self.handle.visit(move |host| {
            if let Some(watcher) = watcher {
                host.watch(watcher);
            }
            let (request, before) = request(host.engine());
            let told = host.ask(request, offline);
            let refused = told.iter().find_map(|event| {
                if let Event::Refused(why) = event { Some(why.clone()) } else { None }
            });
            match refused {
                Some(why) => Err(Failure::new(why)),
                None => Ok(look(host.engine(), &told, before)),
            }
        })?
    }

    /// Sends the engine a request. A refusal is an error.
    pub(in crate::cli) fn ask(&self, request: Request) -> Result<Vec<Event>, Failure> {
        self.ask_and_inspect(request, |_, told| told.to_vec())
    }

    /// Requests a change, waits until it is durable, and returns the messages about it. A failed write is an error.
    pub(in crate::cli) fn change(&self, request: Request) -> Result<Vec<String>, Failure> {
        let told = self.ask(request)?;
        self.wait_until_kept()?;
        Ok(sentences(&told))
    }

    /// Waits until all requested changes are durable. A failed write is an error.
    pub(in crate::cli) fn wait_until_kept(&self) -> Result<(), Failure> {
        self.wait_until_durable()?;
        // This visit runs after the engine has received the earlier results of the store.
        self.handle.visit(|_| ())?;
        let trouble = self.troubles.borrow().as_ref().and_then(|heard| heard.try_recv().ok());
        trouble.map_or(Ok(()), |why| Err(Failure::new(why)))
    }

    /// Waits until the requested subscriptions are durable. A failure to write them is an error; unrelated problems of the
    /// process are not.
    pub(in crate::cli) fn wait_until_subscribed(&self) -> Result<(), Failure> {
        self.wait_until_durable()?;
        // This visit runs after the engine has received the earlier results of the store.
        let not_saved = self.inspect(|engine| engine.not_saved.clone())?;
        let heard = self.troubles.borrow();
        let mut troubles = heard.iter().flat_map(Receiver::try_iter);
        match not_saved.filter(|why| troubles.any(|told| told == *why)) {
            Some(why) => Err(Failure::new(why)),
            None => Ok(()),
        }
    }

    /// Waits for the attempt to save a login found in an address, and prints the outcome. Returns `true` if the login could not
    /// be saved.
    pub(in crate::cli) fn tell_login(&self, login: Credentials) -> Result<bool, Failure> {
        let mut outcome = None;
        self.follow(
            move |engine, _, notes| {
                notes.extend(engine.typed_logins.outcome(&login).cloned());
                !notes.is_empty()
            },
            |kept| outcome = Some(kept),
        )?;
        match outcome {
            Some(Ok(sentence)) => self.tell(&sentence),
            Some(Err(why)) => {
                self.tell(&format!("backissue: {why}"));
                return Ok(true);
            }
            // The command was cancelled before the result was known.
            None => {}
        }
        Ok(false)
    }

    /// Waits until all requested changes are written or have failed.
    pub(in crate::cli) fn wait_until_durable(&self) -> Result<(), Failure> {
        Ok(self.handle.wait_until_durable()?)
    }

    /// Waits until the search index is up to date with the store.
    pub(in crate::cli) fn wait_until_indexed(
        &self,
        left: impl FnMut(usize),
    ) -> Result<(), Failure> {
        Ok(self.handle.wait_until_indexed(left)?)
    }

    /// Waits until the `on_new` command has received all new entries, and reports an error if that command failed.
    pub(in crate::cli) fn wait_until_news_is_told(&self) -> Result<Done, Failure> {
        let mut done = Done::All;
        self.follow(
            |engine, _, notes| {
                let news = &engine.notifications;
                // A filter may add files of new entries to the downloads.
                let is_done = news.is_at_rest() && engine.downloads.reading == 0;
                notes.extend(news.failure.clone().filter(|_| is_done));
                is_done
            },
            |why| {
                self.tell(&format!("backissue: {why}"));
                done = Done::WithFailures;
            },
        )?;
        Ok(done)
    }

    /// Marks the command as one that never ends on its own, so that this process does not wait for the command before it exits.
    pub(in crate::cli) fn never_ends(&self) {
        self.handle.never_ends();
    }

    /// Turns the result of a command that was cancelled before it finished into an error.
    pub(in crate::cli) fn report_interrupted(
        &self,
        done: Result<Done, Failure>,
    ) -> Result<Done, Failure> {
        let interrupted = self.handle.was_cut_short() && !self.handle.is_endless();
        if interrupted && !self.output.is_closed() && done.is_ok() {
            return Err(Failure::new("interrupted; the work done so far is saved"));
        }
        done
    }

    /// Ends the main loop, which this process ran only for this command.
    pub(in crate::cli) fn end_loop(&self) {
        // It is fine if the loop has already ended.
        self.handle.visit(|host| host.end(Ending::Quit)).ok();
    }

    /// Calls `step` with the engine after each input until `step` returns `true`. The notes that `step` sends are passed to
    /// `tell` on the thread of the command.
    pub(in crate::cli) fn follow<N: Send + 'static>(
        &self,
        step: impl FnMut(&Engine, &[Event], &mut Vec<N>) -> bool + Send + 'static,
        tell: impl FnMut(N),
    ) -> Result<Waited, Failure> {
        Ok(self.handle.follow(step, tell)?)
    }
}

/// Returns the request in a form that causes no question. The error is the question, if the user must answer it (`needs`) and did
/// not give `--yes`.
pub(in crate::cli) fn confirmed(
    engine: &Engine,
    request: Request,
    yes: bool,
    needs: fn(&Question) -> bool,
) -> Result<Request, String> {
    match questions::about(engine, clock::now(), &request) {
        Some(question) if !yes && needs(&question) => Err(unanswered(&question)),
        Some(question) => Ok(Request::Answered(Box::new(request), question.step)),
        None if yes => Ok(Request::Answered(Box::new(request), None)),
        None => Ok(request),
    }
}

/// Returns an unanswered question as a sentence.
fn unanswered(question: &Question) -> String {
    format!("this would {}: nothing was changed; --yes does it", question.text)
}

/// Creates a watcher that forwards the problems that the engine reports, as long as the command context exists.
fn hear_troubles(sender: Sender<String>, listens: Weak<()>) -> Watcher {
    Box::new(move |_, events| {
        for event in events {
            if let Event::Notice { level: NoticeLevel::Trouble, text, .. } = event {
                // Sending fails only if the command has ended, and the watcher is then removed.
                sender.send(text.clone()).ok();
            }
        }
        listens.strong_count() == 0
    })
}

/// Returns the messages among the events, including reports of problems.
pub(in crate::cli) fn sentences(told: &[Event]) -> Vec<String> {
    let sentence = |event: &Event| {
        if let Event::Notice { level: NoticeLevel::Info | NoticeLevel::Trouble, text, .. } = event {
            Some(text.clone())
        } else if let Event::Asked(_, question) = event {
            Some(unanswered(question))
        } else {
            None
        }
    };
    told.iter().filter_map(sentence).collect()
}

/// Size of the output buffer, bytes. A list that fits into the buffer is printed all at once. As long as nothing was printed, the
/// command can be submitted to another process again.
const HELD_BYTES: usize = 1024 * 1024;

/// A JSON list that is being written to standard output.
pub(super) struct JsonList<'a> {
    context: &'a CommandContext,
    held: String,
    is_empty: bool,
}

impl<'a> JsonList<'a> {
    /// Creates a list without elements.
    pub(super) fn new(context: &'a CommandContext) -> Self {
        Self { context, held: "[".to_owned(), is_empty: true }
    }

    /// Adds an element.
    pub(super) fn push(&mut self, element: &Value) {
        if !std::mem::take(&mut self.is_empty) {
            self.held.push(',');
        }
        if self.held.len() >= HELD_BYTES {
            self.context.put(&self.held);
            self.held.clear();
        } else {
            self.held.push('\n');
        }
        self.held.push_str("  ");
        // Line breaks within JSON strings are escaped, so the line breaks that are left only separate fields and can be indented.
        self.held.push_str(&json::text(element).replace('\n', "\n  "));
    }

    /// Ends the list.
    pub(super) fn end(mut self) {
        self.held.push_str(if self.is_empty { "]" } else { "\n]" });
        self.context.put(&self.held);
    }
}
