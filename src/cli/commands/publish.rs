//! `backissue publish`: writes the known history of feeds as Atom documents with archives.

use std::collections::{BTreeMap, BTreeSet};

use backissue_core::feed::outgoing::outgoing_id;
use backissue_core::feed::text::counted_words;
use backissue_core::feed::{IntervalRule, Tombstone};
use backissue_core::history::{EntryBody, EntryKey, FeedKey, IndexRow, KeptEntry};
use backissue_core::publish::{
    DocumentPlan, DocumentRank, GENERATOR_MARK, HistoryOutline, Outline, PublishedEntry,
    PublishedFeed, SUBSCRIPTION_NAME, write_document,
};
use backissue_core::schedule::learning::Publications;
use backissue_core::simulate::stated_rules;
use url::Url;

use super::export::select;
use crate::cli::args_publish::PublishArgs;
use crate::cli::commands::entries::list_keys;
use crate::cli::context::CommandContext;
use crate::cli::session::Failure;
use crate::cli::{Done, lookup};
use crate::engine::entries::rows::{Scope, Show};
use crate::engine::entry_formats::{
    folder_names, may_be_private, published_feed, published_selection,
};
use crate::engine::feeds::subscription::Subscription;
use crate::engine::search_query::is_tagged;
use crate::engine::state::Engine;
use crate::io::clock;
use crate::io::named_files::{FileKind, NamedFile};

/// Number of entries to read from the store at once.
const SLICE: u32 = 256;
/// Minimum and maximum of a stated interval, in minutes: the usual ones of a reader.
const BOUNDS: (i64, i64) = (15, 1440);
/// Minimum duration of the observation, in minutes, before a schedule is stated: three weeks.
const OBSERVED_MIN: i64 = 3 * 10_080;
/// Minimum number of publications before a schedule is stated.
const PUBLICATIONS_MIN: usize = 8;

/// Entries by number, as read from the store.
type Read = BTreeMap<u32, (KeptEntry, Option<EntryBody>)>;

/// Counts of documents and entries, for the report.
#[derive(Debug, Default)]
struct WrittenFeeds {
    documents: usize,
    changed: usize,
    entries: usize,
    deleted: usize,
    without_text: usize,
    unreadable: usize,
}

/// Runs `backissue publish`.
pub(in crate::cli) fn run(context: &CommandContext, args: &PublishArgs) -> Result<Done, Failure> {
    let engine = context.engine()?;
    let base = args.base_url.as_deref().map(read_base).transpose()?;
    if args.feeds.is_empty() {
        return publish_selection(context, &engine, args, base.as_deref().unwrap_or_default());
    }
    let feeds = lookup::find_subscriptions(&engine, &args.feeds)?;
    let folders = folder_names(engine.feeds.values());
    let mut unreadable = 0_usize;
    for key in feeds {
        let (Some(feed), Some(folder)) = (engine.feeds.get(&key), folders.get(&key)) else {
            continue;
        };
        let schedule = if args.interval { learned_schedule(context, feed)? } else { None };
        let base = base.as_ref().map(|base| format!("{base}{folder}/")).unwrap_or_default();
        let job = Publication {
            context,
            args,
            entries: Entries::Feed(key),
            sources: BTreeMap::new(),
            head: published_feed(feed, &base, schedule),
            folder: args.out.join(folder).to_string_lossy().into_owned(),
        };
        let mut history = HistoryOutline::of_record(&feed.history);
        history.has_beginning |= args.whole;
        let written = job.write(history)?;
        unreadable = unreadable.saturating_add(written.unreadable);
        context.put(&format!("{}/{SUBSCRIPTION_NAME}", job.folder));
    }
    Ok(context.tell_left_out(unreadable, "entry", "entries"))
}

/// Publishes chosen entries of several feeds as one feed. Entries of feeds that may be private are left out.
fn publish_selection(
    context: &CommandContext,
    engine: &Engine,
    args: &PublishArgs,
    base: &str,
) -> Result<Done, Failure> {
    let (what, title, mut keys) = if let Some(tag) = &args.tag {
        let tagged = engine.feeds.values().filter(|feed| is_tagged(feed, tag));
        let feeds: Vec<FeedKey> = tagged.map(|feed| feed.key).collect();
        if feeds.is_empty() {
            return Err(Failure::new(format!("no feed has the tag '{tag}'")));
        }
        (format!("tag {tag}"), tag.clone(), list_keys(context, Scope::Feeds(feeds), Show::All)?)
    } else if let Some(query) = &args.query {
        let found = select(context, engine, Some(query))?;
        (format!("query {query}"), "Selected entries".to_owned(), found)
    } else {
        ("starred".to_owned(), "Starred entries".to_owned(), select(context, engine, None)?)
    };
    let all = keys.len();
    let public = engine.feeds.values().filter(|feed| !may_be_private(engine, feed));
    let sources: BTreeMap<FeedKey, PublishedFeed> =
        public.map(|feed| (feed.key, published_feed(feed, "", None))).collect();
    let is_private = |key: &EntryKey| !sources.contains_key(&key.feed);
    let private: BTreeSet<FeedKey> =
        keys.iter().filter(|key| is_private(key)).map(|key| key.feed).collect();
    keys.retain(|key| !is_private(key));
    // Entries with the same date are ordered by their numbers, which must not depend on other entries.
    keys.sort_unstable();
    let title = args.title.as_deref().unwrap_or(&title);
    // If there are no entries, the document states this time, which never changes.
    let since = engine.feeds.values().map(|feed| feed.record.added).min().unwrap_or_default();
    let (head, folder) = published_selection(engine, (&what, title), base, since);
    let folder = args.out.join(folder).to_string_lossy().into_owned();
    let left_out = all - keys.len();
    if left_out > 0 {
        let entries = counted_words(left_out, "entry", "entries");
        let feeds = counted_words(private.len(), "feed", "feeds");
        context.tell(&format!(
            "left out {entries} of {feeds} that may be private: with a login, a query, a program or an account"
        ));
    }
    let job = Publication { context, args, entries: Entries::Chosen(keys), sources, head, folder };
    let history = HistoryOutline { has_beginning: true, ..HistoryOutline::default() };
    let written = job.write(history)?;
    context.put(&format!("{}/{SUBSCRIPTION_NAME}", job.folder));
    Ok(context.tell_left_out(written.unreadable, "entry", "entries"))
}

/// Reads the address of the published folder, with a slash at its end.
fn read_base(typed: &str) -> Result<String, Failure> {
    let url = Url::parse(typed).ok().filter(|url| {
        matches!(url.scheme(), "http" | "https")
            && url.username().is_empty()
            && url.query().is_none()
            && url.fragment().is_none()
    });
    let url = url.ok_or_else(|| {
        Failure::new(format!(
            "'{typed}' is not the address of a folder: use one such as 'https://site.example/feeds/'"
        ))
    })?;
    Ok(format!("{}/", url.as_str().trim_end_matches('/')))
}

/// Returns the schedule that the publications of a feed suggest. If too little is known, prints a message and returns `None`.
fn learned_schedule(
    context: &CommandContext,
    feed: &Subscription,
) -> Result<Option<(Vec<IntervalRule>, u32)>, Failure> {
    let key = feed.key;
    let publications: Publications = context.look(move |store| store.publications(key))?;
    let now = clock::now().timestamp().div_euclid(60);
    let start = publications.since().unwrap_or(now);
    if now - start < OBSERVED_MIN || publications.len() < PUBLICATIONS_MIN {
        let title = feed.record.shown_title();
        let known = counted_words(publications.len(), "publication", "publications");
        let days = counted_words((now - start) / 1440, "day", "days");
        context.tell(&format!(
            "no schedule stated for '{title}': only {known} in {days} are known; {PUBLICATIONS_MIN} in 21 days are needed"
        ));
        return Ok(None);
    }
    // An entry is visible from the minute after its timestamp.
    let minutes: Vec<i64> = publications.minutes().map(|minute| minute + 1).collect();
    Ok(Some(stated_rules(&minutes, (start, now), BOUNDS)))
}

/// The entries that are published. The plan of the documents numbers them.
enum Entries {
    /// All entries of a feed, by their numbers in it.
    Feed(FeedKey),
    /// These entries, by their places.
    Chosen(Vec<EntryKey>),
}

/// The publication of one feed.
struct Publication<'a> {
    context: &'a CommandContext,
    args: &'a PublishArgs,
    entries: Entries,
    /// Feeds of chosen entries.
    sources: BTreeMap<FeedKey, PublishedFeed>,
    head: PublishedFeed,
    folder: String,
}

impl Publication<'_> {
    fn write(&self, history: HistoryOutline) -> Result<WrittenFeeds, Failure> {
        let mut written = WrittenFeeds::default();
        let history = self.outline(history, &mut written)?;
        self.refuse_other_feed()?;
        let mut plans = DocumentPlan::all(&history, self.args.archives, clock::now());
        if matches!(self.entries, Entries::Chosen(_)) {
            // Entries that are no longer chosen were not deleted, so readers must keep them.
            for plan in plans.iter_mut().filter(|plan| plan.rank == DocumentRank::Complete) {
                plan.rank = DocumentRank::Subscription;
            }
        }
        let all = u64::try_from(plans.len()).unwrap_or(0);
        for (done, plan) in (0_u64..).zip(&plans) {
            if self.context.is_closed() {
                break;
            }
            self.context.show_progress("documents", done, all);
            let text = self.document(plan, &mut written)?;
            written.documents = written.documents.saturating_add(1);
            written.changed = written.changed.saturating_add(usize::from(self.put(plan, &text)?));
        }
        self.context.end_progress();
        self.report(&history, &written);
        Ok(written)
    }

    /// Reads the outline of the history: the rows first, then the entries in slices.
    fn outline(
        &self,
        mut history: HistoryOutline,
        written: &mut WrittenFeeds,
    ) -> Result<HistoryOutline, Failure> {
        let numbered = self.rows()?;
        for slice in numbered.chunks(SLICE as usize) {
            let read = self.read(slice.iter().map(|(seq, _)| *seq).collect())?;
            for (seq, row) in slice {
                let Some((kept, body)) = read.get(seq) else {
                    written.unreadable = written.unreadable.saturating_add(1);
                    continue;
                };
                let Some(outline) = Outline::of(*seq, row, kept, body.as_ref()) else { continue };
                if outline.is_deleted {
                    written.deleted = written.deleted.saturating_add(1);
                } else {
                    written.entries = written.entries.saturating_add(1);
                    let is_bare = body.is_none() && row.content != 0;
                    let lost = row.content == backissue_core::history::TEXT_LOST;
                    written.without_text += usize::from(is_bare || lost);
                }
                history.entries.push(outline);
            }
        }
        // An unreadable entry may be anywhere in the history, so the history is not called complete.
        history.has_beginning &= written.unreadable == 0;
        Ok(history)
    }

    /// Returns the rows of the entries, each with its number.
    fn rows(&self) -> Result<Vec<(u32, IndexRow)>, Failure> {
        let rows_of = |key| self.context.look(move |store| Ok(store.texts().rows(key)));
        let keys = match &self.entries {
            Entries::Feed(key) => return Ok((0_u32..).zip(rows_of(*key)?).collect()),
            Entries::Chosen(keys) => keys,
        };
        let feeds: BTreeSet<FeedKey> = keys.iter().map(|key| key.feed).collect();
        let rows = feeds.into_iter().map(|feed| Ok((feed, rows_of(feed)?)));
        let rows: BTreeMap<FeedKey, Vec<IndexRow>> = rows.collect::<Result<_, Failure>>()?;
        let row = |key: &EntryKey| rows.get(&key.feed)?.get(key.seq as usize).copied();
        Ok((0_u32..).zip(keys).filter_map(|(number, key)| Some((number, row(key)?))).collect())
    }

    fn read(&self, numbers: Vec<u32>) -> Result<Read, Failure> {
        let keys = match &self.entries {
            Entries::Feed(key) => {
                let key = *key;
                let numbers = numbers.into_iter();
                return self.context.look(move |store| Ok(store.texts().read(key, numbers)));
            }
            Entries::Chosen(keys) => keys,
        };
        let chosen = |number: u32| Some((number, *keys.get(number as usize)?));
        let chosen: Vec<(u32, EntryKey)> = numbers.into_iter().filter_map(chosen).collect();
        self.context.look(move |store| {
            let read = |(number, key): (u32, EntryKey)| {
                let found = store.texts().read(key.feed, std::iter::once(key.seq));
                Some((number, found.into_values().next()?))
            };
            Ok(chosen.into_iter().filter_map(read).collect())
        })
    }

    /// Returns the feed of a chosen entry.
    fn source(&self, number: u32) -> Option<PublishedFeed> {
        let Entries::Chosen(keys) = &self.entries else { return None };
        self.sources.get(&keys.get(number as usize)?.feed).cloned()
    }

    /// Returns the text of a document.
    fn document(&self, plan: &DocumentPlan, written: &mut WrittenFeeds) -> Result<String, Failure> {
        let (mut entries, mut tombstones) = (Vec::new(), Vec::new());
        let deleted: Vec<u32> = plan.deleted.clone();
        let mut read = self.read(plan.entries.iter().chain(&deleted).copied().collect())?;
        for seq in &plan.entries {
            match read.remove(seq) {
                Some((kept, body)) => {
                    let source = self.source(*seq);
                    entries.push(PublishedEntry { source, ..PublishedEntry::of(kept, body) });
                }
                None => written.unreadable = written.unreadable.saturating_add(1),
            }
        }
        for seq in &deleted {
            if let Some((kept, _)) = read.remove(seq)
                && let Some(when) = kept.deleted
            {
                tombstones.push(Tombstone { id: outgoing_id(&kept.id), when });
            }
        }
        Ok(write_document(&self.head, plan, &entries, &tombstones))
    }

    /// Writes a document, unless the file already has the same content. Returns whether it was written.
    fn put(&self, plan: &DocumentPlan, text: &str) -> Result<bool, Failure> {
        let path = format!("{}/{}", self.folder, plan.name);
        if self.context.read_file(&path).is_ok_and(|bytes| bytes == text.as_bytes()) {
            return Ok(false);
        }
        let file = NamedFile { path, kind: FileKind::Published, force: self.args.force };
        self.context.write_file(&file, &mut |file| file.write_all(text.as_bytes()))?;
        Ok(true)
    }

    /// Refuses a folder that contains the documents of another feed.
    fn refuse_other_feed(&self) -> Result<(), Failure> {
        let path = format!("{}/{SUBSCRIPTION_NAME}", self.folder);
        let Ok(bytes) = self.context.read_file(&path) else { return Ok(()) };
        let there = backissue_core::feed::parse(&bytes, &backissue_core::feed::Origin::default());
        let is_ours = String::from_utf8_lossy(&bytes).contains(GENERATOR_MARK);
        let is_same = there.head.id.as_deref() == Some(self.head.id.trim());
        if self.args.force || bytes.is_empty() || (is_ours && is_same) {
            return Ok(());
        }
        Err(Failure::new(format!(
            "{path} is not a document of this feed: choose another folder, or overwrite it with --force"
        )))
    }

    fn report(&self, history: &HistoryOutline, written: &WrittenFeeds) {
        let documents = counted_words(written.documents, "document", "documents");
        let entries = counted_words(written.entries, "entry", "entries");
        let mut parts = vec![entries, format!("{documents} ({} written)", written.changed)];
        if written.deleted > 0 {
            parts.push(counted_words(written.deleted, "deleted entry", "deleted entries"));
        }
        if !history.gaps.is_empty() {
            parts.push(counted_words(history.gaps.len(), "gap", "gaps"));
        }
        if !history.has_beginning {
            parts.push("older entries may exist".to_owned());
        }
        if written.without_text > 0 {
            parts.push(format!("{} without their text, which is not stored", written.without_text));
        }
        self.context.tell(&format!("{}: {}", self.head.title, parts.join(", ")));
    }
}
