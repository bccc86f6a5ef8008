//! Performs the effects that the program requests: starts the work for each effect. The result of the work is sent to the main
//! loop as a message.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::channel;

use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::oneshot;

use super::accounts::account_file::AccountFile;
use super::accounts::server;
use super::answers::Answers;
use super::config::credentials;
use super::downloads::{Receiving, player};
use super::http::{Http, Limits};
use super::output::{CommandOutput, OwnOutput};
use super::pictures::{self, PictureCache};
use super::processes::{desktop, feed_sources, run_command};
use super::store::{
    RuleHits, Store, StoreError, StoreHandle, StoreThread, Texts, catch_sled_panic,
};
use super::system::system_words;
use super::{clock, named_files};
use crate::engine::external_run::ExternalRun;
use crate::engine::feeds::import;
use crate::engine::poll::fetch::{FetchFailure, FetchRequest, Fetched};
use crate::engine::poll::poll_stage::LearnWanted;
use crate::engine::request::{Effect, Input};
use crate::engine::settings::NetworkSettings;
use crate::ui::effect::{NewLogin, RenderWork, RenderedEntry, ScreenEffect};
use crate::ui::reader::lines::{Rendered, StyledSpan};
use crate::ui::state::pending::ImportedList;
use crate::ui::update::ScreenInput;
use crate::view::panes::entry_lines;
use backissue_core::feed::opml::subscription_list::Opml;
use backissue_core::feed::opml::{read_list, titled_in};
use backissue_core::filters::EntryFilter;
use backissue_core::schedule::learning;
use backissue_core::{InputFlaw, flaw};

/// Maximum size, in bytes, of markup that is laid out on the main loop. Laying out this size takes a fraction of a millisecond.
const AT_ONCE_BYTES: usize = 8 * 1024;
/// Error message for a panic while the store is searched for the entries that a filter matches.
const NO_SEARCH: &str = "the entries that the filter matches cannot be found; try again";

/// The reason why the main loop ends or pauses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// The user leaves the screen.
    Quit,
    /// The program must end, because of a stop signal or a closed terminal.
    Stop,
    /// The user opens the demo.
    Demo,
    /// The user imports from another reader: the one with this index among those that were found.
    MoveIn(usize),
    /// The user suspends the program; the loop continues afterwards.
    Suspend,
    /// Another process takes the store over.
    HandOver,
    /// The store needs maintenance that only runs between sessions.
    PutInOrder,
}

/// Performs the effects of the program.
#[derive(Debug)]
pub struct Performer {
    /// The HTTP client. It is created on first use, because reading the certificates of the system takes time.
    http: Option<Arc<Http>>,
    network: NetworkSettings,
    store: StoreThread,
    folder: PathBuf,
    answers: UnboundedSender<ScreenInput>,
    texts: Texts,
    pictures: PictureCache,
    /// The files that are being received.
    receiving: Receiving,
    /// The number of the current filter preview. A preview with another number stops.
    preview: Arc<AtomicU64>,
}

impl Performer {
    /// Starts the store thread.
    pub fn start(
        store: Store,
        network: NetworkSettings,
        answers: UnboundedSender<ScreenInput>,
    ) -> std::io::Result<Self> {
        let (texts, pictures) = (store.texts(), PictureCache::beside(store.folder()));
        let folder = store.folder().to_owned();
        let store = StoreThread::start(store, Answers::new(answers.clone()))?;
        let receiving = Receiving::new(answers.clone());
        Ok(Self {
            http: None,
            network,
            store,
            folder,
            answers,
            texts,
            pictures,
            receiving,
            preview: Arc::default(),
        })
    }

    /// Returns the HTTP client. The error is a sentence.
    pub fn http(&mut self) -> Result<Arc<Http>, InputFlaw> {
        let http = match self.http.take() {
            Some(http) => http,
            None => Arc::new(Http::new(&self.network, Limits::default())?),
        };
        Ok(Arc::clone(self.http.insert(http)))
    }

    /// Checks whether the open store is still in its data folder.
    pub fn is_in_place(&self) -> bool {
        self.texts.is_in_place(&self.folder)
    }

    /// Returns the data folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns a store handle for threads other than the main loop.
    pub fn store_handle(&self) -> StoreHandle {
        self.store.handle()
    }

    /// Starts performing an effect. Never blocks.
    pub fn perform(&mut self, effect: ScreenEffect) -> Option<Ending> {
        match effect {
            ScreenEffect::Engine(effect) => return self.perform_for_engine(effect),
            ScreenEffect::PreviewFilter(number, filter) => self.preview(number, filter),
            ScreenEffect::Render(work) => self.render(work),
            ScreenEffect::Picture(work) => {
                let kept = self.pictures.clone();
                let perform = move || pictures::perform(*work, &kept);
                let answer = move || Some(ScreenInput::Picture(Box::new(perform())));
                self.off_the_loop(answer, None);
            }
            ScreenEffect::HurryIndex => self.hurry_index(),
            ScreenEffect::Copy { text, told } => {
                let answers = self.answers.clone();
                tokio::spawn(async move {
                    let told = desktop::copy(&text, told).await;
                    answers.send(ScreenInput::Told(told)).ok();
                });
            }
            ScreenEffect::Suspend => return Some(Ending::Suspend),
            ScreenEffect::OpenDemo => return Some(Ending::Demo),
            ScreenEffect::MoveIn(place) => return Some(Ending::MoveIn(place)),
            ScreenEffect::CompletePath(typed) => {
                let complete = move || {
                    let completed = named_files::complete_path(&typed)?;
                    Some(ScreenInput::PathCompleted { typed, completed })
                };
                self.off_the_loop(complete, None);
            }
            ScreenEffect::Export { path, text } => {
                let failed = Input::Trouble(format!("'{path}' cannot be written")).into();
                self.off_the_loop(move || Some(named_files::export(&path, &text)), Some(failed));
            }
            ScreenEffect::SaveEntries { path, entries } => {
                let texts = self.texts.clone();
                let failed = Input::Trouble(format!("'{path}' cannot be written")).into();
                let save = move || Some(named_files::save_entries(&path, &texts, &entries));
                self.off_the_loop(save, Some(failed));
            }
            ScreenEffect::AddAccount(login) => self.add_account(*login),
            ScreenEffect::ForgetAccount(name) => self.forget_account(name),
            // The loop opens the port itself, because it also serves it.
            ScreenEffect::Serve(_) => {}
            ScreenEffect::Quit => return Some(Ending::Quit),
        }
        None
    }

    fn perform_for_engine(&mut self, effect: Effect) -> Option<Ending> {
        match effect {
            Effect::Fetch(request) => self.fetch(request),
            Effect::Download(transfer) => {
                let (http, durable) = (self.http(), self.when_durable());
                self.receiving.start(http, *transfer, durable);
            }
            Effect::StopDownload { id, delete } => self.receiving.stop(id, delete),
            Effect::Store(work) => self.store.hand(*work),
            Effect::Learn(wanted) => {
                let failed = Input::Learned(wanted.feed, None).into();
                self.off_the_loop(move || Some(learn(&wanted)), Some(failed));
            }
            Effect::FindFilterHits(filter) => {
                let texts = self.texts.clone();
                let failed = Input::FilterHits(filter.id, Err(NO_SEARCH.into())).into();
                self.off_the_loop(move || Some(find_hits(&texts, &filter)), Some(failed));
            }
            Effect::PictureTask(task) => {
                let (kept, failed) = (self.pictures.clone(), task.failed());
                let done = move || pictures::perform_ahead(*task, &kept, clock::now());
                let answer = move || Some(Input::PictureTaskDone(done()).into());
                self.off_the_loop(answer, Some(Input::PictureTaskDone(failed).into()));
            }
            // The loop runs the command for this, which may need the terminal.
            Effect::Open(_) => {}
            Effect::Run(run) => self.run(*run),
            Effect::Notify(text, settings) => desktop::tell(&text, &settings),
            Effect::ReadImport(path) => {
                let failed = Input::Trouble(format!("'{path}' cannot be imported")).into();
                self.off_the_loop(move || Some(read_import(&path)), Some(failed));
            }
            Effect::Reconnect(settings) => {
                (self.network, self.http) = (*settings, None);
                if let Err(why) = self.http() {
                    self.answers.send(Input::Trouble(why.into()).into()).ok();
                }
            }
            Effect::KeepLogin(login) => {
                let kept = credentials::keep(&login.file, &login.credentials);
                self.answers.send(Input::LoginKept(login, kept).into()).ok();
            }
            Effect::Stop => return Some(Ending::Stop),
        }
        None
    }

    /// Lays out the text of an entry. A short text is laid out immediately, so that the next frame shows it; a longer one on
    /// another thread.
    fn render(&self, wanted: RenderWork) {
        let failed = Some(not_laid_out(&wanted));
        let code = wanted.html.contains("<pre");
        if wanted.html.len() <= AT_ONCE_BYTES && !code {
            if let Some(rendered) = answered(|| Some(render(&wanted)), failed) {
                self.answers.send(rendered).ok();
            }
        } else {
            self.off_the_loop(move || Some(render(&wanted)), failed);
        }
    }

    /// Performs an HTTP request on a separate task. A result is sent to the main loop even if the task panics.
    fn fetch(&mut self, request: FetchRequest) {
        let (http, answers) = (self.http(), self.answers.clone());
        let (id, started) = (request.id, clock::precise_now());
        let failed = move |why: String| Fetched {
            started,
            wire_bytes: 0,
            hops: Vec::new(),
            conditional: false,
            result: Err(FetchFailure::Protocol(why)),
        };
        let network = self.network.clone();
        let durable =
            if request.waits_for_store { self.when_durable() } else { oneshot::channel().1 };
        let asking = tokio::spawn(async move {
            // Ignore a failed write, which is reported elsewhere, and request the feed anyway.
            durable.await.ok();
            match http {
                Ok(http) => feed_sources::fetch(&http, &network, request).await,
                Err(why) => failed(why.into()),
            }
        });
        tokio::spawn(async move {
            let fetched = asking.await;
            let fetched =
                fetched.unwrap_or_else(|_| failed("the response could not be read".into()));
            answers.send(Input::Fetched(id, Box::new(fetched)).into()).ok();
        });
    }

    /// Returns a receiver that ends when all earlier writes are durable, or have failed.
    fn when_durable(&self) -> oneshot::Receiver<()> {
        let (tell, durable) = oneshot::channel();
        // Sending fails only if the receiver was dropped.
        self.store.handle().when_durable(move |_| {
            tell.send(()).ok();
        });
        durable
    }

    /// Prepares the start of a player. If that fails, reports the reason and returns `false`.
    pub(super) fn prepare_player(&self, run: &mut ExternalRun) -> bool {
        let prepared = player::prepare(run, &self.answers);
        prepared.map_err(|why| self.answers.send(Input::Ran(run.purpose, Err(why)).into())).is_ok()
    }

    /// Runs a command of the user on a separate task.
    fn run(&self, external: ExternalRun) {
        let answers = self.answers.clone();
        tokio::spawn(async move {
            let (purpose, next) = (external.purpose, external.next());
            let ended = run_command::run(external, run_command::TIME_MAX).await;
            answers.send(run_command::end_of_run(purpose, next, ended).into()).ok();
        });
    }

    /// Requests that the search index be brought up to date. The screen receives the usual messages about the progress.
    fn hurry_index(&self) {
        let (nobody, _) = channel();
        self.store.handle().when_indexed(nobody);
    }

    /// Finds the entries that a filter would match, until another preview is requested.
    fn preview(&self, number: u64, rule: Box<EntryFilter>) {
        self.preview.store(number, Ordering::Relaxed);
        let (texts, wanted) = (self.texts.clone(), Arc::clone(&self.preview));
        let look = move || {
            let goes_on = || wanted.load(Ordering::Relaxed) == number;
            let found = hits(&texts, &rule, &goes_on).ok().flatten()?;
            Some(ScreenInput::FilterPreviewed(number, Box::new(found.preview)))
        };
        self.off_the_loop(look, None);
    }

    /// Logs in to a server and stores the account.
    fn add_account(&mut self, typed: NewLogin) {
        let (http, file) = (self.http(), AccountFile::of_network(&self.network));
        let runtime = tokio::runtime::Handle::current();
        let add = move || server::add(http?, runtime, file, &typed);
        let failed = ScreenInput::AccountAdded(Err("the login failed".into()));
        self.off_the_loop(move || Some(ScreenInput::AccountAdded(add())), Some(failed));
    }

    /// Forgets an account and its login.
    fn forget_account(&self, name: String) {
        let (file, store) = (AccountFile::of_network(&self.network), self.store.handle());
        let forget = move || {
            let failed = server::forget(file, &name).err();
            store.visit(Box::new(move |store| {
                // If this fails, a later account with this name still compares everything.
                store.change_account_state(&name, |_| None).ok();
            }));
            failed.map(|why| Input::Trouble(why.into()).into())
        };
        self.off_the_loop(forget, None);
    }

    /// Runs slow work on the blocking pool. `failed` is the message to send if the work panics.
    fn off_the_loop(
        &self,
        work: impl FnOnce() -> Option<ScreenInput> + Send + 'static,
        failed: Option<ScreenInput>,
    ) {
        let answers = self.answers.clone();
        tokio::task::spawn_blocking(move || {
            if let Some(answer) = answered(work, failed) {
                answers.send(answer).ok();
            }
        });
    }

    /// Finishes all pending work on the store and returns the store, or an error if the store thread panicked.
    pub fn stop(self) -> Result<Store, String> {
        self.store.stop()
    }
}

/// Returns the result of the work, or `failed` if the work panicked, so that the requester never waits forever.
fn answered(
    work: impl FnOnce() -> Option<ScreenInput>,
    failed: Option<ScreenInput>,
) -> Option<ScreenInput> {
    super::panics::catch_fault(work).unwrap_or(failed)
}

fn render(wanted: &RenderWork) -> ScreenInput {
    rendered(wanted, entry_lines::lay_out(wanted))
}

/// Returns the text to show instead of an entry if laying out the entry panicked.
fn not_laid_out(wanted: &RenderWork) -> ScreenInput {
    let span = StyledSpan { text: "this text cannot be displayed".into(), ..StyledSpan::default() };
    rendered(wanted, Rendered { lines: vec![vec![span].into()], ..Rendered::default() })
}

fn rendered(wanted: &RenderWork, rendered: Rendered) -> ScreenInput {
    let &RenderWork { key, source, width, .. } = wanted;
    ScreenInput::Rendered(Box::new(RenderedEntry { key, source, width, rendered }))
}

/// Returns the entries that a filter matches.
fn hits(
    texts: &Texts,
    rule: &EntryFilter,
    goes_on: &dyn Fn() -> bool,
) -> Result<Option<RuleHits>, StoreError> {
    catch_sled_panic(|| Ok(texts.hits(rule, clock::now(), goes_on)))
}

fn find_hits(texts: &Texts, rule: &EntryFilter) -> ScreenInput {
    match hits(texts, rule, &|| true) {
        Ok(found) => Input::FilterHits(rule.id, Ok(found.unwrap_or_default().keys)),
        Err(error) => Input::FilterHits(rule.id, Err(error.to_string())),
    }
    .into()
}

fn learn(wanted: &LearnWanted) -> ScreenInput {
    let plan = learning::learn(&wanted.publications, &wanted.terms, wanted.now);
    Input::Learned(wanted.feed, plan.map(Arc::new)).into()
}

fn read_import(path: &str) -> ScreenInput {
    if path == "-" {
        return Input::Trouble(
            "type the path of a file: OPML, a newsboat or newsraft urls file, or one address per line"
                .into(),
        )
        .into();
    }
    if Path::new(&named_files::expand_home(path)).is_dir() {
        return Input::Trouble(format!(
            "'{path}' is a folder; to take over the feeds and marks of another reader, run 'backissue import {path}' in another terminal"
        ))
        .into();
    }
    match read_opml(path) {
        Ok(read) => {
            let wanted = import::subscriptions_in(&read);
            let (searches, mut refused) = import::searches_in(&read);
            refused.extend(read.left_out());
            ScreenInput::ListRead(Box::new(ImportedList { wanted, searches, refused }))
        }
        Err(why) => Input::Trouble(why.into()).into(),
    }
}

/// Reads a list of subscriptions. The error is a sentence.
fn read_opml(path: &str) -> Result<Opml, InputFlaw> {
    let read = OwnOutput::default().read_file(&named_files::dropped_path(path));
    let read = read.map_err(|error| InputFlaw::from(system_words(&error)));
    let read = read.and_then(|bytes| read_list(&bytes, titled_in(Path::new(path))));
    read.map_err(|why| flaw!("'{path}' cannot be imported: {why}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use backissue_core::history::FeedKey;

    #[test]
    fn waiting_caller_is_answered_even_after_a_panic() {
        let failed = || Some(ScreenInput::from(Input::Learned(FeedKey(1), None)));
        assert_eq!(answered(|| panic!("a bug"), failed()), failed());
        assert_eq!(answered(|| panic!("a bug"), None), None);
        assert_eq!(answered(|| Some(Input::Tick.into()), failed()), Some(Input::Tick.into()));
        assert_eq!(answered(|| None, failed()), None);
        let caught_as_fault = || {
            assert_eq!(super::super::panics::how_caught(), super::super::panics::Caught::AsFault);
            Some(Input::Tick.into())
        };
        assert_eq!(answered(caught_as_fault, None), Some(Input::Tick.into()), "it is reported");
    }
}
