//! `backissue poll --ahead QUERY`: fetches once everything that is needed to read entries offline, and reports what is missing.

use std::collections::{BTreeMap, BTreeSet};

use backissue_core::feed::dates::calendar::day_of;
use backissue_core::feed::text::counted_words;
use backissue_core::history::{EntryKey, FeedKey};
use serde_json::{Value, json};

use super::downloads::receive_waiting;
use super::entries::{found_by, list_keys};
use crate::cli::context::CommandContext;
use crate::cli::session::Failure;
use crate::engine::downloads::progress::state_words;
use crate::engine::downloads::record::DownloadState;
use crate::engine::entries::ahead_work::AheadPart;
use crate::engine::entries::entry_view::EntryView;
use crate::engine::entries::page_fetches::why_unsupported;
use crate::engine::entries::rows::Show;
use crate::engine::request::Request;
use crate::engine::start_external::is_web_address;
use crate::engine::state::{Engine, is_polling};
use crate::io::clock;
use crate::io::loop_handle::Waited;
use crate::io::pictures::PictureCache;
use crate::ui::state::reader::OF_AN_ENTRY_MAX;
use crate::view::html;

/// Maximum number of entries for which something is fetched. The newest entries are taken.
const ENTRIES_MAX: usize = 200;
/// Maximum number of lines about entries of which something is missing.
const LINES_MAX: usize = 20;
/// The parts of entries with their names, in the order in which they are fetched. Full texts come first, because they may contain
/// other pictures.
const PARTS: [(AheadPart, &str); 3] = [
    (AheadPart::Texts, "full texts"),
    (AheadPart::Pictures, "pictures"),
    (AheadPart::Files, "files"),
];

/// What is stored, and what is missing, for the entries that a query finds.
#[derive(Default)]
pub(super) struct Ahead {
    /// Number of entries that the query finds, and number of those that are checked.
    entries: [usize; 2],
    /// For each part: how many are stored, and how many there are.
    counts: [[usize; 2]; 3],
    /// Everything that is missing: the part, the entry, its title, the address, and the reason.
    missing: Vec<(AheadPart, EntryKey, String, String, String)>,
}

/// Fetches what is missing for the entries that a query finds, unless the command is offline.
pub(super) fn fetch(context: &CommandContext, query: &str) -> Result<Ahead, Failure> {
    let mut keys = list_keys(context, found_by(context, &context.engine()?, query)?, Show::All)?;
    let found = keys.len();
    keys.truncate(ENTRIES_MAX);
    for (part, name) in PARTS.into_iter().filter(|_| !context.options.offline) {
        let mut lacking: BTreeMap<FeedKey, Vec<(EntryKey, String)>> = BTreeMap::new();
        for (lacked, key, _, url, _) in look(context, found, &keys)?.missing {
            if lacked == part {
                lacking.entry(key.feed).or_default().push((key, url));
            }
        }
        let feeds: BTreeSet<FeedKey> = lacking.keys().copied().collect();
        for (feed, urls) in lacking {
            context.ask(Request::FetchAhead(feed, part, urls))?;
        }
        context.show_progress(format!("fetching {name}"), 0, 0);
        let is_done = move |engine: &Engine, _: &[_], _: &mut Vec<()>| {
            !is_polling(engine, &feeds) && engine.downloads.reading == 0
        };
        let mut waited = context.follow(is_done, |()| {})?;
        if waited == Waited::Done && part == AheadPart::Files {
            waited = receive_waiting(context)?;
        }
        context.end_progress();
        if waited == Waited::Cancelled {
            return Err(Failure::new("interrupted; what was fetched is kept"));
        }
        context.wait_until_durable()?;
    }
    look(context, found, &keys)
}

/// Checks what is stored for these entries.
fn look(context: &CommandContext, found: usize, keys: &[EntryKey]) -> Result<Ahead, Failure> {
    let cache = context.look(|store| Ok(PictureCache::beside(store.folder())))?;
    let (engine, entries) = (context.engine()?, [found, keys.len()]);
    let mut ahead = Ahead { entries, ..Ahead::default() };
    for &key in keys {
        if let Ok(entry) = context.look(move |store| store.read_entry(key))? {
            ahead.note(&engine, &cache, &engine.view_of(entry));
        }
    }
    Ok(ahead)
}

impl Ahead {
    /// Counts what an entry needs and what of it is stored.
    fn note(&mut self, engine: &Engine, cache: &PictureCache, view: &EntryView) {
        let (now, kept, key) = (clock::now(), &view.entry.kept, view.entry.key);
        let unfetched = |part| {
            let today = engine.feeds.get(&key.feed).map(|feed| feed.state.ahead);
            let today = today.unwrap_or_default().on(day_of(now, chrono_tz::UTC));
            Some(if today.left(part) == 0 { today.words(part) } else { "not fetched".to_owned() })
        };
        if let Some(link) = kept.link.as_ref().filter(|link| is_web_address(link)) {
            let full = view.entry.full.as_ref();
            let why = full.map_or_else(|| unfetched(AheadPart::Texts), |full| full.failed.clone());
            self.count(AheadPart::Texts, view, link, why);
        }
        let (_, markup, base) = view.text();
        let pictures = html::picture_addresses(markup, base).into_iter().take(OF_AN_ENTRY_MAX);
        for url in pictures.filter(|url| why_unsupported(url).is_none()) {
            let why = match cache.find(&url) {
                Some(_) => None,
                None if cache.is_known(&url, now) => Some("it could not be fetched".to_owned()),
                None => unfetched(AheadPart::Pictures),
            };
            self.count(AheadPart::Pictures, view, &url, why);
        }
        if let Some(file) = kept.enclosures.first().filter(|file| is_web_address(&file.url)) {
            let download = engine.downloads.of_file(key, &file.url, &kept.enclosures);
            let why = match download {
                Some(it) if it.state == DownloadState::Done => None,
                Some(it) => Some(state_words(&engine.downloads, it, now)),
                None => unfetched(AheadPart::Files),
            };
            self.count(AheadPart::Files, view, &file.url, why);
        }
    }

    fn count(&mut self, part: AheadPart, view: &EntryView, url: &str, missing: Option<String>) {
        for ([here, all], (counted, _)) in self.counts.iter_mut().zip(PARTS) {
            *here = here.saturating_add(usize::from(counted == part && missing.is_none()));
            *all = all.saturating_add(usize::from(counted == part));
        }
        let title = view.entry.kept.shown_title().to_owned();
        self.missing.extend(missing.map(|why| (part, view.entry.key, title, url.to_owned(), why)));
    }

    /// Returns a line that says what is stored, followed by a line for each missing item.
    pub(super) fn lines(&self) -> Vec<String> {
        let [found, entries] = self.entries;
        let of = if found > entries { format!(", the newest of {found}") } else { String::new() };
        let counts = self.counts.iter().zip(PARTS);
        let counts = counts.map(|([here, all], (_, name))| format!("{here} of {all} {name}"));
        let entries = counted_words(entries, "entry", "entries");
        let counts = counts.collect::<Vec<_>>().join(", ");
        let mut lines = vec![format!("{entries}{of}: {counts} are here")];
        for (part, key, title, _, why) in self.missing.iter().take(LINES_MAX) {
            let what = match part {
                AheadPart::Texts => "full text",
                AheadPart::Pictures => "picture",
                AheadPart::Files => "file",
            };
            lines.push(format!("{:>9}  {title}: no {what} ({why})", key.to_string()));
        }
        let more = self.missing.len().saturating_sub(LINES_MAX);
        lines.extend((more > 0).then(|| format!("{:>9}  and {more} more", "…")));
        lines
    }

    /// Returns the same as JSON, with all missing items.
    pub(super) fn json(&self) -> Value {
        let missing = self.missing.iter().map(|(part, key, title, url, why)| {
            let name = PARTS.iter().find(|(other, _)| other == part).map(|(_, name)| name);
            json!({ "part": name, "entry": key.to_string(), "title": title, "url": url, "why": why })
        });
        let [texts, pictures, files] =
            self.counts.map(|[here, all]| json!({ "here": here, "all": all }));
        json!({
            "found": self.entries[0],
            "entries": self.entries[1],
            "full_texts": texts,
            "pictures": pictures,
            "files": files,
            "missing": missing.collect::<Vec<Value>>(),
        })
    }
}
