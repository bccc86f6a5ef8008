//! `backissue publish`: writes the known history of feeds as Atom documents with archives.

use std::collections::BTreeMap;

use backissue_core::feed::outgoing::outgoing_id;
use backissue_core::feed::text::counted_words;
use backissue_core::feed::{IntervalRule, Tombstone};
use backissue_core::history::{EntryBody, FeedKey, IndexRow, KeptEntry};
use backissue_core::publish::{
    DocumentPlan, GENERATOR_MARK, HistoryOutline, Outline, PublishedEntry, PublishedFeed,
    SUBSCRIPTION_NAME, write_document,
};
use backissue_core::schedule::learning::Publications;
use backissue_core::simulate::stated_rules;
use url::Url;

use crate::cli::args_publish::PublishArgs;
use crate::cli::context::CommandContext;
use crate::cli::session::Failure;
use crate::cli::{Done, lookup};
use crate::engine::feeds::subscription::Subscription;
use crate::engine::moving::entry_formats::{folder_names, published_feed};
use crate::io::clock;
use crate::io::named_files::{FileKind, NamedFile};

/// Number of entries to read from the store at once.
const SLICE: u32 = 256;
/// Bounds of a stated interval, in minutes: the usual ones of a reader.
const BOUNDS: (i64, i64) = (15, 1440);
/// Minimum length of the observation from which a schedule is stated, in minutes: three weeks.
const OBSERVED_MIN: i64 = 3 * 10_080;
/// Minimum number of publications from which a schedule is stated.
const PUBLICATIONS_MIN: usize = 8;

/// Entries by number, as read from the store.
type Read = BTreeMap<u32, (KeptEntry, Option<EntryBody>)>;

/// Numbers of what was written.
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
            key,
            head: published_feed(feed, &base, schedule),
            folder: args.out.join(folder).to_string_lossy().into_owned(),
        };
        let written = job.write(feed)?;
        unreadable = unreadable.saturating_add(written.unreadable);
        context.put(&format!("{}/{SUBSCRIPTION_NAME}", job.folder));
    }
    Ok(context.tell_left_out(unreadable, "entry", "entries"))
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

/// Returns the schedule that a feed's publications suggest; `None`, with a message, if too little is known.
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

/// The publication of one feed.
struct Publication<'a> {
    context: &'a CommandContext,
    args: &'a PublishArgs,
    key: FeedKey,
    head: PublishedFeed,
    folder: String,
}

impl Publication<'_> {
    fn write(&self, feed: &Subscription) -> Result<WrittenFeeds, Failure> {
        let mut written = WrittenFeeds::default();
        let history = self.outline(feed, &mut written)?;
        self.refuse_other_feed()?;
        let plans = DocumentPlan::all(&history, self.args.archives, clock::now());
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
        self.report(feed, &history, &written);
        Ok(written)
    }

    /// Reads the outline of the history: first the rows, then the entries in slices.
    fn outline(
        &self,
        feed: &Subscription,
        written: &mut WrittenFeeds,
    ) -> Result<HistoryOutline, Failure> {
        let mut history = HistoryOutline::of_record(&feed.history);
        history.has_beginning |= self.args.whole;
        let key = self.key;
        let rows: Vec<IndexRow> = self.context.look(move |store| Ok(store.texts().rows(key)))?;
        let numbered: Vec<(u32, IndexRow)> = (0_u32..).zip(rows).collect();
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
        // What cannot be read may lie anywhere, so the history is not called whole.
        history.has_beginning &= written.unreadable == 0;
        Ok(history)
    }

    fn read(&self, seqs: Vec<u32>) -> Result<Read, Failure> {
        let key = self.key;
        self.context.look(move |store| Ok(store.texts().read(key, seqs.into_iter())))
    }

    /// Returns the text of a document.
    fn document(&self, plan: &DocumentPlan, written: &mut WrittenFeeds) -> Result<String, Failure> {
        let (mut entries, mut tombstones) = (Vec::new(), Vec::new());
        let deleted: Vec<u32> = plan.deleted.clone();
        let mut read = self.read(plan.entries.iter().chain(&deleted).copied().collect())?;
        for seq in &plan.entries {
            match read.remove(seq) {
                Some((kept, body)) => entries.push(PublishedEntry::of(kept, body)),
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

    /// Writes a document unless the file contains it already. Returns whether it was written.
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

    fn report(&self, feed: &Subscription, history: &HistoryOutline, written: &WrittenFeeds) {
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
        self.context.tell(&format!("{}: {}", feed.record.shown_title(), parts.join(", ")));
    }
}
