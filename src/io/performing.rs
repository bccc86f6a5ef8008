//! Performing effects: each is handed to whoever does it, and the answer comes back as a message.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::sync::mpsc::UnboundedSender;

use super::clock;
use super::http::{Http, Limits};
use super::pictures::{self, Shelf};
use super::processes::browser;
use super::processes::desktop_notes;
use super::processes::run_command;
use super::store::{Job, Keeper, RuleHits, Store, StoreError, Texts, unpanicked};
use super::terminal;
use crate::engine::effect::Effect;
use crate::engine::effect::RenderWanted;
use crate::engine::effect::RenderedEntry;
use crate::engine::feeds::subscribe::Wanted;
use crate::engine::feeds::subscription::Wishes;
use crate::engine::learn::LearnWanted;
use crate::engine::msg::Msg;
use crate::engine::poll::fetch::Failure;
use crate::engine::poll::fetch::Fetched;
use crate::engine::poll::fetch::Request;
use crate::engine::run_external::Errand;
use crate::feed::opml::subscription_list;
use crate::filters::EntryFilter;
use crate::schedule::learning;
use crate::ui::reader::lines::Rendered;
use crate::ui::reader::lines::StyledSpan;
use crate::view::panes::entry_lines;

/// Bytes of markup that are laid out in a fraction of a millisecond.
const AT_ONCE_BYTES: usize = 8 * 1024;
/// Bytes of an OPML file at most.
const OPML_BYTES_MAX: u64 = 64 * 1024 * 1024;

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
}

/// Those who perform.
#[derive(Debug)]
pub struct Performer {
    http: Arc<Http>,
    keeper: Keeper,
    answers: UnboundedSender<Msg>,
    texts: Texts,
    shelf: Shelf,
    /// The number of the preview that is wanted: an older one is left.
    preview: Arc<AtomicU64>,
}

impl Performer {
    /// Starts the keeper of the store.
    pub fn start(
        store: Store,
        http: Arc<Http>,
        answers: UnboundedSender<Msg>,
    ) -> std::io::Result<Self> {
        let (texts, shelf) = (store.texts(), Shelf::beside(store.folder()));
        let keeper = Keeper::start(store, answers.clone())?;
        Ok(Self { http, keeper, answers, texts, shelf, preview: Arc::default() })
    }

    /// Hands an effect on. Nothing here waits.
    pub fn perform(&mut self, effect: Effect) -> Option<Ending> {
        match effect {
            Effect::Fetch(request) => self.fetch(request),
            Effect::Commit(commit) => self.keeper.hand(Job::Commit(commit)),
            Effect::KeepHistory(commit) => self.keeper.hand(Job::KeepHistory(commit)),
            Effect::LoadNodes(feed) => self.keeper.hand(Job::Nodes(feed)),
            Effect::Restore(feed, seqs) => self.keeper.hand(Job::Restore(feed, seqs)),
            Effect::SaveState(feed, state) => self.keeper.hand(Job::SaveState(feed, state)),
            Effect::SaveTry(feed, at) => self.keeper.hand(Job::SaveTry(feed, at)),
            Effect::SaveRecords(records) => self.keeper.hand(Job::SaveRecords(records)),
            Effect::Absorb { from, into } => self.keeper.hand(Job::Absorb { from, into }),
            Effect::Mark { keys, flag, value } => self.keeper.hand(Job::Mark { keys, flag, value }),
            Effect::MarkList { list, flag, value } => {
                self.keeper.hand(Job::MarkList { list, flag, value });
            }
            Effect::BackUp(today) => self.keeper.hand(Job::BackUp(today)),
            Effect::LoadRows(wanted) => self.keeper.hand(Job::Rows(wanted)),
            Effect::LoadEntry(key) => self.keeper.hand(Job::Entry(key)),
            Effect::SavePlace(key, place) => self.keeper.hand(Job::SavePlace(key, place)),
            Effect::SaveFullText(key, full) => self.keeper.hand(Job::SaveFullText(key, full)),
            Effect::LoadPolls(feed) => self.keeper.hand(Job::Polls(feed)),
            Effect::LoadPublications(feed) => self.keeper.hand(Job::Publications(feed)),
            Effect::Learn(wanted) => {
                let failed = Msg::Learned(wanted.feed, None);
                self.off_the_loop(move || Some(learn(&wanted)), Some(failed));
            }
            Effect::CountToday(since) => self.keeper.hand(Job::CountToday(since)),
            Effect::SaveSearches(searches) => self.keeper.hand(Job::SaveSearches(searches)),
            Effect::CountFound(wanted) => self.keeper.hand(Job::CountFound(wanted)),
            Effect::SaveRules(rules) => self.keeper.hand(Job::SaveRules(rules)),
            Effect::Rule(wish) => self.keeper.hand(Job::Rule(wish)),
            Effect::SaveFolded(folded) => self.keeper.hand(Job::SaveFolded(folded)),
            Effect::CountRuled => self.keeper.hand(Job::CountRuled),
            Effect::PreviewRule(number, rule) => self.preview(number, rule),
            Effect::FindHits(rule) => {
                let texts = self.texts.clone();
                self.off_the_loop(move || Some(find_hits(&texts, &rule)), None);
            }
            Effect::Render(wanted) => self.render(wanted),
            Effect::Picture(wish) => {
                let kept = self.shelf.clone();
                let perform = move || pictures::perform(*wish, &kept);
                self.off_the_loop(move || Some(Msg::Picture(Box::new(perform()))), None);
            }
            Effect::Open(address) => {
                let open = move || browser::open(&address).err().map(Msg::Trouble);
                self.off_the_loop(open, None);
            }
            Effect::Run(errand) => self.run(*errand),
            Effect::ReadForPipe(key, command) => self.keeper.hand(Job::ForPipe(key, command)),
            Effect::ReadNews(ranges) => self.keeper.hand(Job::News(ranges)),
            Effect::Notify(text, settings) => desktop_notes::tell(&text, &settings),
            Effect::Copy(text) => terminal::copy(&text),
            Effect::Suspend => return Some(Ending::Suspend),
            Effect::Import(path) => {
                let failed = Msg::Trouble(format!("'{path}' cannot be imported"));
                self.off_the_loop(move || Some(import(&path)), Some(failed));
            }
            Effect::Reconnect(settings) => match Http::new(&settings, Limits::default()) {
                Ok(http) => self.http = Arc::new(http),
                Err(why) => {
                    self.answers.send(Msg::Trouble(why)).ok();
                }
            },
            Effect::OpenDemo => return Some(Ending::Demo),
            Effect::Quit => return Some(Ending::Quit),
            Effect::Stop => return Some(Ending::Stop),
        }
        None
    }

    /// Lays a text out: a short one at once, so that it is in the next frame, any other off the loop.
    fn render(&self, wanted: RenderWanted) {
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
    fn fetch(&self, request: Request) {
        let (http, answers) = (Arc::clone(&self.http), self.answers.clone());
        let (id, started) = (request.id, clock::precise_now());
        let asking = tokio::spawn(async move { http.fetch(request).await });
        tokio::spawn(async move {
            let fetched = asking.await.unwrap_or_else(|_| Fetched {
                started,
                wire_bytes: 0,
                hops: Vec::new(),
                conditional: false,
                result: Err(Failure::Protocol("the answer could not be read".into())),
            });
            answers.send(Msg::Fetched(id, Box::new(fetched))).ok();
        });
    }

    /// Runs a command on a task of its own.
    fn run(&self, errand: Errand) {
        let answers = self.answers.clone();
        tokio::spawn(async move {
            let purpose = errand.purpose;
            let ended = run_command::run(errand, run_command::TIME_MAX).await;
            answers.send(Msg::Ran(purpose, ended)).ok();
        });
    }

    /// Looks for what a rule would hit, until another preview is wanted.
    fn preview(&self, number: u64, rule: Box<EntryFilter>) {
        self.preview.store(number, Ordering::Relaxed);
        let (texts, wanted) = (self.texts.clone(), Arc::clone(&self.preview));
        let look = move || {
            let goes_on = || wanted.load(Ordering::Relaxed) == number;
            let found = hits(&texts, &rule, &goes_on).ok().flatten()?;
            Some(Msg::RulePreviewed(number, Box::new(found.preview)))
        };
        self.off_the_loop(look, None);
    }

    /// Does slow work on the blocking pool; `failed` is the answer if it panics.
    fn off_the_loop(
        &self,
        work: impl FnOnce() -> Option<Msg> + Send + 'static,
        failed: Option<Msg>,
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
        self.keeper.stop()
    }
}

/// What work answers; `failed` if it panics: whoever waits for the answer must not wait for ever.
fn answered(work: impl FnOnce() -> Option<Msg>, failed: Option<Msg>) -> Option<Msg> {
    terminal::quietly(|| catch_unwind(AssertUnwindSafe(work))).unwrap_or(failed)
}

fn render(wanted: &RenderWanted) -> Msg {
    rendered(wanted, entry_lines::lay_out(wanted))
}

/// What is shown in place of a text at which the layout gives up.
fn not_laid_out(wanted: &RenderWanted) -> Msg {
    let span = StyledSpan { text: "this text cannot be laid out".into(), ..StyledSpan::default() };
    rendered(wanted, Rendered { lines: vec![vec![span].into()], ..Rendered::default() })
}

fn rendered(wanted: &RenderWanted, rendered: Rendered) -> Msg {
    let &RenderWanted { key, source, width, .. } = wanted;
    Msg::Rendered(Box::new(RenderedEntry { key, source, width, rendered }))
}

/// What a rule hits.
fn hits(
    texts: &Texts,
    rule: &EntryFilter,
    goes_on: &dyn Fn() -> bool,
) -> Result<Option<RuleHits>, StoreError> {
    unpanicked(|| Ok(texts.hits(rule, clock::now(), goes_on)))
}

fn find_hits(texts: &Texts, rule: &EntryFilter) -> Msg {
    match hits(texts, rule, &|| true) {
        Ok(found) => Msg::HitsFound(rule.id, found.unwrap_or_default().keys),
        Err(error) => Msg::StoreFailed(error.to_string()),
    }
}

fn learn(wanted: &LearnWanted) -> Msg {
    let plan = learning::learn(&wanted.publications, &wanted.terms, wanted.now);
    Msg::Learned(wanted.feed, plan.map(Arc::new))
}

fn import(path: &str) -> Msg {
    if path == "-" {
        return Msg::Trouble("type the path of an OPML file".into());
    }
    match read_opml(path) {
        Ok(read) => Msg::Import(wishes_of(&read)),
        Err(why) => Msg::Trouble(why),
    }
}

/// Reads an OPML file; an error is a sentence.
pub fn read_opml(path: &str) -> Result<subscription_list::Opml, String> {
    let cannot = |why: String| format!("'{path}' cannot be imported: {why}");
    let bytes = match path {
        "-" => read_limited(std::io::stdin()),
        path => std::fs::File::open(path).and_then(read_limited),
    };
    let bytes = bytes.map_err(|error| cannot(error.to_string()))?;
    let read = subscription_list::read(&bytes).map_err(|error| cannot(error.to_string()))?;
    match &read.broken {
        Some(broken) if read.outlines.is_empty() => {
            Err(cannot(format!("it breaks off in line {} before the first feed", broken.line)))
        }
        Some(_) | None => Ok(read),
    }
}

fn read_limited(reader: impl std::io::Read) -> std::io::Result<Vec<u8>> {
    use std::io::Read;
    let mut bytes = Vec::new();
    reader.take(OPML_BYTES_MAX).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The subscriptions an OPML document asks for.
pub fn wishes_of(read: &subscription_list::Opml) -> Vec<Wanted> {
    let wish = |outline: &subscription_list::OpmlFeed| Wanted {
        address: outline.xml_url.clone(),
        title: outline.title.clone(),
        site: outline.html_url.clone(),
        tags: outline.tags.clone(),
        wishes: Wishes::from_settings(&outline.settings),
        ..Wanted::default()
    };
    read.outlines.iter().map(wish).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::FeedKey;

    #[test]
    fn whoever_waits_is_answered_also_when_the_work_panics() {
        let failed = || Some(Msg::Learned(FeedKey(1), None));
        assert_eq!(answered(|| panic!("a bug"), failed()), failed());
        assert_eq!(answered(|| panic!("a bug"), None), None);
        assert_eq!(answered(|| Some(Msg::Tick), failed()), Some(Msg::Tick));
        assert_eq!(answered(|| None, failed()), None);
    }
}
