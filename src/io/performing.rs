//! Performing effects: each is handed to whoever does it, and the answer comes back as a message.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::channel;

use tokio::sync::mpsc::UnboundedSender;

use super::config::credentials_file;
use super::http::{Http, Limits};
use super::output::{Output, OwnOutput};
use super::pictures::{self, PictureCache};
use super::processes::{browser, desktop_notes, run_command};
use super::store::{
    RuleHits, Store, StoreError, StoreHandle, StoreThread, Texts, catch_sled_panic,
};
use super::{clock, paths, terminal};
use crate::engine::effect::Effect;
use crate::engine::external::external_run::ExternalRun;
use crate::engine::feeds::addition::Subscribe;
use crate::engine::feeds::chosen_settings::FeedSettings;
use crate::engine::input::Input;
use crate::engine::poll::fetch::{FetchFailure, FetchRequest, Fetched};
use crate::engine::poll::learn_queue::LearnWanted;
use crate::engine::settings::NetworkSettings;
use crate::ui::effect::{RenderWork, RenderedEntry, ScreenEffect};
use crate::ui::input::ScreenInput;
use crate::ui::reader::lines::{Rendered, StyledSpan};
use crate::ui::state::imported_list::ImportedList;
use crate::view::panes::entry_lines;
use backissue_core::feed::opml::subscription_list;
use backissue_core::filters::EntryFilter;
use backissue_core::schedule::learning;

/// Bytes of markup that are laid out in a fraction of a millisecond.
const AT_ONCE_BYTES: usize = 8 * 1024;
/// Told where looking through the store ends in a fault.
const NO_SEARCH: &str = "the entries that the filter hits cannot be found; try again";

/// Why the loop ends, or pauses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// The reader leaves what is on the screen.
    Quit,
    /// The program is to end.
    Stop,
    /// The reader wants to see the demo.
    Demo,
    /// The reader wants to go back to the shell for a while: the loop goes on afterwards.
    Suspend,
    /// Another process takes the store over.
    HandOver,
    /// The store needs what is only done between two sessions.
    PutInOrder,
}

/// Those who perform.
#[derive(Debug)]
pub struct Performer {
    /// Made when it is needed: it reads the certificates of the system.
    http: Option<Arc<Http>>,
    network: NetworkSettings,
    store: StoreThread,
    folder: PathBuf,
    answers: UnboundedSender<ScreenInput>,
    texts: Texts,
    pictures: PictureCache,
    /// The number of the preview that is wanted: an older one is left.
    preview: Arc<AtomicU64>,
}

impl Performer {
    /// Starts the thread of the store.
    pub fn start(
        store: Store,
        network: NetworkSettings,
        answers: UnboundedSender<ScreenInput>,
    ) -> std::io::Result<Self> {
        let (texts, pictures) = (store.texts(), PictureCache::beside(store.folder()));
        let folder = store.folder().to_owned();
        let store = StoreThread::start(store, answers.clone())?;
        Ok(Self {
            http: None,
            network,
            store,
            folder,
            answers,
            texts,
            pictures,
            preview: Arc::default(),
        })
    }

    /// The client for what is fetched; the error is a sentence.
    pub fn http(&mut self) -> Result<Arc<Http>, String> {
        let http = match self.http.take() {
            Some(http) => http,
            None => Arc::new(Http::new(&self.network, Limits::default())?),
        };
        Ok(Arc::clone(self.http.insert(http)))
    }

    /// The data folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// A way to the store beside that of the loop.
    pub fn store_handle(&self) -> StoreHandle {
        self.store.handle()
    }

    /// Hands an effect on. Nothing here waits.
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
            ScreenEffect::Copy(text) => terminal::copy(&text),
            ScreenEffect::Suspend => return Some(Ending::Suspend),
            ScreenEffect::OpenDemo => return Some(Ending::Demo),
            ScreenEffect::CompletePath(typed) => {
                let complete = move || {
                    let completed = paths::complete_path(&typed)?;
                    Some(ScreenInput::PathCompleted { typed, completed })
                };
                self.off_the_loop(complete, None);
            }
            ScreenEffect::Export { path, text } => {
                let failed = Input::Trouble(format!("'{path}' cannot be written")).into();
                self.off_the_loop(move || Some(paths::export(&path, &text)), Some(failed));
            }
            ScreenEffect::Quit => return Some(Ending::Quit),
        }
        None
    }

    fn perform_for_engine(&mut self, effect: Effect) -> Option<Ending> {
        match effect {
            Effect::Fetch(request) => self.fetch(request),
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
            Effect::Open(address) => {
                let trouble = |why| Input::Trouble(why).into();
                let open = move || browser::open(&address).err().map(trouble);
                self.off_the_loop(open, None);
            }
            Effect::Run(run) => self.run(*run),
            Effect::Notify(text, settings) => desktop_notes::tell(&text, &settings),
            Effect::ReadImport(path) => {
                let failed = Input::Trouble(format!("'{path}' cannot be imported")).into();
                self.off_the_loop(move || Some(import(&path)), Some(failed));
            }
            Effect::Reconnect(settings) => {
                (self.network, self.http) = (*settings, None);
                if let Err(why) = self.http() {
                    self.answers.send(Input::Trouble(why).into()).ok();
                }
            }
            Effect::KeepLogin(login) => {
                let kept = credentials_file::keep(&login.file, &login.credentials);
                self.answers.send(Input::LoginKept(login, kept).into()).ok();
            }
            Effect::Stop => return Some(Ending::Stop),
        }
        None
    }

    /// Lays a text out: a short one at once, so that it is in the next frame, any other off the loop.
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

    /// Makes a request on a task of its own; it is answered whatever happens to the task.
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
        let (tell, durable) = tokio::sync::oneshot::channel();
        if request.waits_for_store {
            // Nobody waits any more if the fetch was dropped.
            self.store.handle().when_durable(move |_| {
                tell.send(()).ok();
            });
        } else {
            drop(tell);
        }
        let asking = tokio::spawn(async move {
            // What could not be written is told; the feed is asked all the same.
            durable.await.ok();
            match http {
                Ok(http) => http.fetch(request).await,
                Err(why) => failed(why),
            }
        });
        tokio::spawn(async move {
            let fetched = asking.await;
            let fetched = fetched.unwrap_or_else(|_| failed("the answer could not be read".into()));
            answers.send(Input::Fetched(id, Box::new(fetched)).into()).ok();
        });
    }

    /// Runs a command on a task of its own.
    fn run(&self, external: ExternalRun) {
        let answers = self.answers.clone();
        tokio::spawn(async move {
            let purpose = external.purpose;
            let ended = run_command::run(external, run_command::TIME_MAX).await;
            answers.send(Input::Ran(purpose, ended).into()).ok();
        });
    }

    /// Has the search index hold what the store holds, which the screen hears of as it always does.
    fn hurry_index(&self) {
        let (nobody, _) = channel();
        self.store.handle().when_indexed(nobody);
    }

    /// Looks for what a rule would hit, until another preview is wanted.
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

    /// Does slow work on the blocking pool; `failed` is the answer if it panics.
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

    /// Finishes what the store was handed and gives it back; an error if its thread died.
    pub fn stop(self) -> Result<Store, String> {
        self.store.stop()
    }
}

/// What work answers; `failed` if it panics: whoever waits for the answer must not wait for ever.
fn answered(
    work: impl FnOnce() -> Option<ScreenInput>,
    failed: Option<ScreenInput>,
) -> Option<ScreenInput> {
    super::panics::catch_fault(work).unwrap_or(failed)
}

fn render(wanted: &RenderWork) -> ScreenInput {
    rendered(wanted, entry_lines::lay_out(wanted))
}

/// What is shown in place of a text at which the layout gives up.
fn not_laid_out(wanted: &RenderWork) -> ScreenInput {
    let span = StyledSpan { text: "this text cannot be laid out".into(), ..StyledSpan::default() };
    rendered(wanted, Rendered { lines: vec![vec![span].into()], ..Rendered::default() })
}

fn rendered(wanted: &RenderWork, rendered: Rendered) -> ScreenInput {
    let &RenderWork { key, source, width, .. } = wanted;
    ScreenInput::Rendered(Box::new(RenderedEntry { key, source, width, rendered }))
}

/// What a rule hits.
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

fn import(path: &str) -> ScreenInput {
    if path == "-" {
        return Input::Trouble(
            "type the path of a file: OPML, newsboat's or newsraft's urls, or addresses one a line"
                .into(),
        )
        .into();
    }
    match read_opml(path) {
        Ok(read) => ScreenInput::ListRead(Box::new(ImportedList {
            wanted: subscriptions_in(&read),
            refused: left_out(&read),
        })),
        Err(why) => Input::Trouble(why).into(),
    }
}

/// Reads a list of subscriptions; an error is a sentence.
fn read_opml(path: &str) -> Result<subscription_list::Opml, String> {
    let read = OwnOutput::default()
        .read_file(&paths::expand_home(path))
        .and_then(|bytes| parse_list(&bytes));
    read.map_err(|why| format!("'{path}' cannot be imported: {why}"))
}

/// Reads a list of subscriptions, OPML or addresses one a line, that names at least one feed before it breaks off; an error
/// is a fragment.
pub fn parse_list(bytes: &[u8]) -> Result<subscription_list::Opml, String> {
    if backissue_core::feed::opml::is_url_list(bytes) {
        let read = backissue_core::feed::opml::read_urls(&String::from_utf8_lossy(bytes));
        let of_newsboat = |text: &str| {
            let text = text.trim_start_matches('"');
            ["query:", "exec:", "filter:", "$("].iter().any(|begin| text.starts_with(begin))
        };
        let is_list =
            !read.outlines.is_empty() || read.bad.iter().any(|bad| of_newsboat(&bad.text));
        return if is_list {
            Ok(read)
        } else {
            Err("it names no feed: OPML is read, and lists of addresses, one a line".to_owned())
        };
    }
    let read = backissue_core::feed::opml::read_opml(bytes).map_err(|error| error.to_string())?;
    match &read.broken {
        Some(broken) if read.outlines.is_empty() => {
            Err(format!("it breaks off in line {} before the first feed", broken.line))
        }
        Some(_) | None => Ok(read),
    }
}

/// What of an OPML document cannot be subscribed to, line by line.
pub fn left_out(read: &subscription_list::Opml) -> Vec<String> {
    let bad =
        read.bad.iter().map(|bad| format!("line {}: {} ({})", bad.line, bad.reason, bad.text));
    let broken = read.broken.iter().map(|broken| {
        format!("line {}: the list breaks off; what comes before that was imported", broken.line)
    });
    bad.chain(broken).collect()
}

/// The subscriptions an OPML document asks for.
pub fn subscriptions_in(read: &subscription_list::Opml) -> Vec<Subscribe> {
    let wish = |outline: &subscription_list::OpmlFeed| Subscribe {
        address: outline.xml_url.clone(),
        title: outline.title.clone(),
        site: outline.html_url.clone(),
        tags: outline.tags.clone(),
        feed_settings: FeedSettings::from_opml(&outline.settings),
        ..Subscribe::default()
    };
    read.outlines.iter().map(wish).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use backissue_core::history::FeedKey;

    #[test]
    fn whoever_waits_is_answered_also_when_the_work_panics() {
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
