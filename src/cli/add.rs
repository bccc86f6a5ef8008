//! `backissue add`: finds the feed of a site, subscribes, polls it at once.

use super::args::{AddArgs, Options};
use super::session::{self, Failure, at_rest, block_on};
use super::{Done, history};
use crate::app::model::Model;
use crate::app::msg::Msg;
use crate::app::subscribing::{Added, Addition, Wanted};
use crate::io::{clock, console};
use crate::view;

/// Runs the command.
pub(super) fn run(options: &Options, args: &AddArgs) -> Result<Done, Failure> {
    block_on(async {
        let mut runtime = session::quiet(options)?;
        for (id, address) in (1_u32..).zip(&args.urls) {
            runtime.tell(Msg::Add(Wanted {
                id,
                address: address.clone(),
                title: args.title.clone(),
                tags: args.tags.clone(),
                unasked: args.no_poll,
                ..Wanted::default()
            }));
        }
        runtime.until(at_rest).await;
        let mut failures = Vec::new();
        for addition in runtime.model.additions.values() {
            match &addition.ended {
                Some(Ok(added)) => console::put(&told(&runtime.model, addition, added)),
                Some(Err(why)) => failures.push(why.clone()),
                None => failures
                    .push(format!("interrupted before {} was read", addition.wanted.address)),
            }
        }
        if let Some(why) = runtime.model.not_saved.take() {
            return Err(Failure::new(why));
        }
        runtime.stop()?;
        if let [only] = failures.as_slice()
            && args.urls.len() == 1
        {
            return Err(Failure::new(only));
        }
        for why in &failures {
            console::tell(&format!("backissue: {why}"));
        }
        match failures.len() {
            0 => Ok(Done::All),
            some if some < args.urls.len() => Ok(Done::WithFailures),
            _ => Err(Failure::new("none of the addresses could be subscribed to")),
        }
    })
}

/// What came of an address: which feeds were found, which was taken, how much came, when it is polled next.
fn told(model: &Model, addition: &Addition, added: &Added) -> String {
    let Some(feed) = model.feeds.get(&added.feed) else { return String::new() };
    let title = feed.record.shown_title();
    if added.known {
        return format!("already subscribed: {} '{title}' {}", feed.key, feed.record.url);
    }
    let mut lines = Vec::new();
    if addition.found.len() > 1 {
        lines.push(format!(
            "{} names {} feeds; the first was taken:",
            addition.wanted.address,
            addition.found.len()
        ));
        lines.extend(addition.found.iter().map(|candidate| {
            format!("  {}  {}", candidate.url, candidate.title.as_deref().unwrap_or_default())
        }));
    }
    lines.push(format!("subscribed: {} '{title}' {}", feed.key, feed.record.url));
    if !addition.wanted.unasked {
        lines.push(format!("  {} entries", feed.counters.total));
        lines.push(format!("  {}", history::standing(model, feed)));
    }
    if let Some(next) = feed.plan.next_poll {
        let why = feed.plan.settled_by.word().replace('_', " ");
        lines.push(format!("  next poll {} ({why})", view::relative(next, clock::now())));
    }
    lines.join("\n")
}
