//! `backissue mark` marks entries read, unread, starred or unstarred; `backissue label` labels them; `backissue open` opens an
//! entry's page in the user's browser. `backissue undo` undoes the last change, including one made in the reader.

use std::collections::BTreeSet;

use backissue_core::InputFlaw;
use backissue_core::feed::text::counted_words;
use backissue_core::history::{EntryKey, FeedKey, Flag};
use backissue_core::search::{Matching, RowTest, When};
use chrono::{DateTime, Utc};
use serde_json::json;

use super::UNDO_HINT;
use crate::cli::args_changes::{LabelArgs, MarkArgs, MarkWord, OpenArgs, YesArgs};
use crate::cli::commands::entries;
use crate::cli::context::{CommandContext, confirmed, sentences};
use crate::cli::session::Failure;
use crate::cli::{Done, json as pieces, lookup};
use crate::engine::change::MarkChange;
use crate::engine::request::Request;
use crate::engine::search_query::is_tagged;
use crate::engine::settings::Join;
use crate::engine::state::Engine;
use crate::io::loop_handle::Waited;
use crate::io::store::MarkPlan;

/// Runs `backissue mark`.
pub(in crate::cli) fn run(context: &CommandContext, args: &MarkArgs) -> Result<Done, Failure> {
    let before = args.before.as_deref().map(lookup::parse_instant).transpose()?;
    let (flag, value) = match args.mark {
        MarkWord::Read => (Flag::Read, true),
        MarkWord::Unread => (Flag::Read, false),
        MarkWord::Starred => (Flag::Starred, true),
        MarkWord::Unstarred => (Flag::Starred, false),
    };
    let joins = context.inspect(|engine| engine.settings.join != Join::Never)?;
    let plan = if args.entries.is_empty() {
        let matching = resolve_query(context, args, before)?;
        context.look(move |store| store.find_to_mark(&matching, (flag, value, joins)))?
    } else {
        let keys = find_named(context, &args.entries, before)?;
        context.look(move |store| store.plan_mark(&keys, (flag, value, joins)))?
    };
    let MarkPlan { fitting, changing, all_from_history } = plan;
    let marked = changing.len();
    if marked > 0 {
        // Entries from history count as read only because of their age. With this flag, an undo returns them to that state.
        let flag = if args.mark == MarkWord::Unread && all_from_history {
            Flag::FromHistory
        } else {
            flag
        };
        context.change(Request::Mark(MarkChange { keys: changing, flag, value }))?;
    }
    let word = args.mark.word();
    let done = match args.mark {
        MarkWord::Read | MarkWord::Unread => format!("{marked} marked {word}"),
        MarkWord::Starred | MarkWord::Unstarred => format!("{marked} {word}"),
    };
    if args.json {
        context.put(&pieces::text(&json!({ "marked": marked, "as": word })));
    } else if marked > 0 {
        context.put(&format!("{done}{UNDO_HINT}"));
    } else if fitting > 0 {
        context.put(&format!("{done}: all matching entries are already {word}"));
    } else {
        context.put(&format!("{done}: no entry matches"));
    }
    Ok(Done::All)
}

/// Runs `backissue label`.
pub(in crate::cli) fn label(context: &CommandContext, args: &LabelArgs) -> Result<Done, Failure> {
    let keys = find_named(context, &args.entries, None)?;
    let (name, set) = (args.name.trim_start_matches('#').to_owned(), !args.remove);
    let entries = counted_words(keys.len(), "entry", "entries");
    context.change(Request::Label { name: name.clone(), keys, set })?;
    let done = if set { "labelled" } else { "no longer labelled" };
    context.put(&format!("{entries} {done} '{name}'{UNDO_HINT}"));
    Ok(Done::All)
}

impl MarkWord {
    /// Returns the word for this mark that the user types on the command line.
    const fn word(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Unread => "unread",
            Self::Starred => "starred",
            Self::Unstarred => "unstarred",
        }
    }
}

/// Finds the entries whose numbers the user typed. Fails if one of them does not exist.
fn find_named(
    context: &CommandContext,
    typed: &[String],
    before: Option<DateTime<Utc>>,
) -> Result<Vec<EntryKey>, Failure> {
    let named: Result<BTreeSet<EntryKey>, InputFlaw> =
        typed.iter().map(|one| one.parse()).collect();
    let named = named.map_err(Failure::new)?;
    let dated = context.look(move |store| {
        let dated = named.into_iter().map(|key| Ok((key, store.date_of(key)?)));
        dated.collect::<Result<Vec<_>, _>>()
    })?;
    let mut keys = Vec::with_capacity(dated.len());
    for (key, date) in dated {
        let Some(date) = date else {
            return Err(Failure::new(format!(
                "there is no entry {key}; 'backissue entries' lists them"
            )));
        };
        if before.is_none_or(|before| date < before.timestamp()) {
            keys.push(key);
        }
    }
    Ok(keys)
}

/// Combines the feeds, tags, search and date into one query. If the query needs the search index, waits until the index is up to
/// date.
fn resolve_query(
    context: &CommandContext,
    args: &MarkArgs,
    before: Option<DateTime<Utc>>,
) -> Result<Matching, Failure> {
    let (feeds, tags) = (args.feeds.clone(), args.tags.clone());
    let text = args.search.clone();
    let matching = context.inspect(move |engine| {
        let mut matching = match_search(engine, text.as_deref())?;
        let named = lookup::find_subscriptions(engine, &feeds)?;
        if !named.is_empty() {
            matching.feeds.retain(|feed| named.contains(feed));
        }
        if !tags.is_empty() {
            let tagged = find_tagged(engine, &tags)?;
            matching.feeds.retain(|feed| tagged.contains(feed));
        }
        if let Some(before) = before {
            matching.also(RowTest::Before(When::At(before)));
        }
        Ok::<_, Failure>(matching)
    })??;
    if matching.has_words() {
        entries::catch_up(context)?;
    }
    Ok(matching)
}

/// Returns the query for a search text, or a query that matches everything.
fn match_search(engine: &Engine, text: Option<&str>) -> Result<Matching, Failure> {
    let Some(text) = text else { return entries::resolve(engine, "") };
    let matching = entries::resolve(engine, text)?;
    if matching.wants_gaps() {
        return Err(Failure::new("a gap cannot be marked: remove 'is:gap' from the search"));
    }
    if matching.condition.is_everything() {
        return Err(Failure::new(format!(
            "'{text}' contains no search word and would match every entry; --all marks them all"
        )));
    }
    Ok(matching)
}

/// Returns the feeds that have one of these tags or a tag below it.
fn find_tagged(engine: &Engine, tags: &[String]) -> Result<BTreeSet<FeedKey>, Failure> {
    let mut found = BTreeSet::new();
    for tag in tags {
        let wanted = tag.trim().to_lowercase();
        let tagged = engine.feeds.values().filter(|feed| is_tagged(feed, &wanted));
        let tagged: Vec<FeedKey> = tagged.map(|feed| feed.key).collect();
        if tagged.is_empty() {
            return Err(Failure::new(format!("no subscription has the tag '{tag}'")));
        }
        found.extend(tagged);
    }
    Ok(found)
}

/// Runs `backissue open`.
pub(in crate::cli) fn run_open(context: &CommandContext, args: &OpenArgs) -> Result<Done, Failure> {
    let key: EntryKey = args.entry.parse().map_err(Failure::new)?;
    let found = context.look(move |store| match store.date_of(key)? {
        Some(_) => store.entry(key),
        None => Ok(None),
    })?;
    let Some((kept, _)) = found else {
        return Err(Failure::new(format!(
            "there is no entry {key}; 'backissue entries' lists them"
        )));
    };
    let Some(link) = kept.link else {
        return Err(Failure::new(format!(
            "entry {key} has no link; 'backissue show {key}' shows its text"
        )));
    };
    context.open_link(&link)?;
    if !args.keep_unread {
        let keys = context
            .look(move |store| store.plan_mark(&[key], (Flag::Opened, true, false)))?
            .changing;
        if !keys.is_empty() {
            context.change(Request::Mark(MarkChange { keys, flag: Flag::Opened, value: true }))?;
        }
    }
    context.put(&format!("opened {link}"));
    Ok(Done::All)
}

/// Runs `backissue undo`.
pub(in crate::cli) fn run_undo(context: &CommandContext, args: &YesArgs) -> Result<Done, Failure> {
    if !context.inspect(|engine| engine.undo.can_undo())? {
        context.tell("nothing to undo");
        return Ok(Done::All);
    }
    let yes = args.yes;
    let ask = move |engine: &Engine| match confirmed(engine, Request::Undo, yes, |question| {
        question.removes_feeds
    }) {
        Ok(request) => (request, None),
        Err(question) => (Request::Together(Vec::new()), Some(question)),
    };
    let (mut told, waits, question) = context.ask_about(ask, |engine, told, question| {
        (sentences(told), engine.undo.is_undo_wanted(), question)
    })?;
    if let Some(question) = question {
        return Err(Failure::new(question));
    }
    if waits {
        // The last change is still being applied; it is undone as soon as it is complete.
        let waited = context.follow(
            |engine, events, notes| {
                notes.extend(sentences(events));
                !engine.undo.is_undo_wanted()
            },
            |sentence| told.push(sentence),
        )?;
        if waited == Waited::Cancelled {
            return Err(Failure::new("interrupted; the last change is undone once it is complete"));
        }
    }
    context.wait_until_kept()?;
    for sentence in told {
        context.put(&sentence);
    }
    Ok(Done::All)
}
