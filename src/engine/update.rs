//! The one way into the model: a message and the time in, effects out.

use chrono::{DateTime, Utc};

use super::backfill::history_actions;
use super::backfill::walks;
use super::effect::Effect;
use super::entries::entry_filters;
use super::entries::full_text;
use super::entries::marks;
use super::entries::withdrawn;
use super::feeds::import;
use super::feeds::subscribe;
use super::learn;
use super::model::Model;
use super::msg::HistoryNews;
use super::msg::Msg;
use super::notifications;
use super::politeness::rate_limits;
use super::poll::fetch::FetchId;
use super::poll::fetch::Fetched;
use super::poll::fetch::Purpose;
use super::poll::manual_poll;
use super::poll::polling;
use super::poll::polling::News;
use super::reconfigure;
use super::run_external;
use crate::history::{Counters, FeedKey};
use crate::ui::keys::key_input;
use crate::ui::keys::mouse;
use crate::ui::overlays::filter_dialog;
use crate::ui::overlays::plan_pane;
use crate::ui::overlays::timetable_pane;
use crate::ui::panes::entry_list::day_of;
use crate::ui::panes::feeds_pane;
use crate::ui::panes::gap_rows;
use crate::ui::panes::navigation;
use crate::ui::panes::saved_searches;
use crate::ui::panes::search_pane;
use crate::ui::panes::tour;
use crate::ui::reader::open_entry;
use crate::ui::reader::pictures;
use crate::ui::reader::reading_position;
use crate::ui::screen::Viewport;

/// Changes the model by what happened and says what to do.
pub fn update(model: &mut Model, now: DateTime<Utc>, msg: Msg) -> Vec<Effect> {
    let open = reading_position::open(model);
    let mut effects = happened(model, now, msg);
    let left = reading_position::left(model, open, &effects);
    // What ends the program comes last.
    effects.splice(0..0, left);
    effects.extend(gap_rows::follow(model, now));
    effects.extend(pictures::follow(model));
    tour::follow(model);
    plan_pane::refresh(model, now);
    timetable_pane::refresh(model);
    timetable_pane::sum_up(model, now);
    feeds_pane::resort(model, now);
    effects
}

#[expect(clippy::too_many_lines, reason = "a table: a line for each message")]
fn happened(model: &mut Model, now: DateTime<Utc>, msg: Msg) -> Vec<Effect> {
    match msg {
        Msg::Key(key) => key_input::pressed(model, now, key),
        Msg::Pasted(text) => key_input::pasted(model, now, &text),
        Msg::Resized(columns, rows) => {
            model.screen.size = (columns, rows);
            Vec::new()
        }
        Msg::Mouse(mouse) => mouse::pointed(model, now, mouse),
        Msg::Focused(focused) => {
            model.screen.unfocused = !focused;
            Vec::new()
        }
        Msg::Suspend => vec![Effect::Suspend],
        Msg::Continued(columns, rows) => {
            model.screen.size = (columns, rows);
            rate_limits::woke(model, now);
            ticked(model, now)
        }
        Msg::NoShell => {
            model.screen.say(now, "there is no shell to go back to: q leaves");
            Vec::new()
        }
        Msg::Tick => ticked(model, now),
        Msg::Woke => {
            rate_limits::woke(model, now);
            ticked(model, now)
        }
        Msg::Fetched(id, fetched) => arrived(model, now, id, *fetched),
        Msg::Committed { feed, counters, new, edited, known, withdrawn } => {
            let news = News { new, edited, known };
            committed(model, now, feed, counters, news, withdrawn)
        }
        Msg::History(feed, news) => history_news(model, now, feed, news),
        Msg::Absorbed { into, counters } => absorbed(model, now, into, counters),
        Msg::CommitFailed { feed, why } => {
            polling::commit_failed(model, now, feed, &why);
            complained(model, now, why)
        }
        Msg::RecordsSaved => {
            model.unsaved = model.unsaved.saturating_sub(1);
            Vec::new()
        }
        Msg::Marked { flag, value, whole_list, marked } => {
            marks::marked(model, now, flag, value, whole_list, marked)
        }
        Msg::RowsLoaded(loaded) => open_entry::rows_loaded(model, now, loaded),
        Msg::EntryLoaded(entry) => open_entry::loaded(model, now, *entry),
        Msg::PipeRead(entry, command) => run_external::piped(model, *entry, command),
        Msg::NewsRead(Ok(entries)) => notifications::read(model, now, entries),
        Msg::NewsRead(Err(why)) => {
            model.screen.complain(now, why);
            notifications::read(model, now, Vec::new())
        }
        Msg::Ran(purpose, ended) => run_external::ran(model, now, purpose, ended),
        Msg::Rendered(made) => {
            open_entry::rendered(model, *made);
            Vec::new()
        }
        Msg::Picture(news) => pictures::told(model, now, *news),
        Msg::Graphics(graphics) => {
            pictures::shown_by(model, graphics);
            Vec::new()
        }
        Msg::PollsLoaded(feed, polls) => {
            plan_pane::polls_loaded(model, feed, polls);
            Vec::new()
        }
        Msg::PublicationsLoaded(feed, publications) => {
            learn::loaded(model, now, feed, publications)
        }
        Msg::Learned(feed, plan) => learn::learned(model, now, feed, plan),
        Msg::Indexed { missing } => search_pane::indexed(model, now, missing),
        Msg::FoundCounted(counts) => saved_searches::counted(model, now, counts),
        Msg::RulesSaved => {
            model.screen.ahead.forget();
            entry_filters::saved(model)
        }
        Msg::RulePreviewed(number, preview) => {
            filter_dialog::previewed(model, number, &preview);
            Vec::new()
        }
        Msg::HitsFound(rule, hits) => entry_filters::found(model, rule, hits),
        Msg::Ruled(ruled) => {
            model.screen.ahead.forget();
            entry_filters::ruled(model, now, *ruled)
        }
        Msg::RuledCounted(counts) => {
            model.rules.counts = counts;
            Vec::new()
        }
        Msg::TodayCounted(count) => marks::counted(model, now, count),
        Msg::RecordsNotSaved(why) => {
            model.unsaved = model.unsaved.saturating_sub(1);
            model.not_saved = Some(why.clone());
            complained(model, now, why)
        }
        Msg::RowsFailed(list, why) => {
            open_entry::rows_failed(model, list);
            complained(model, now, why)
        }
        Msg::EntryFailed(key, why) => {
            open_entry::not_loaded(model, key);
            complained(model, now, why)
        }
        Msg::Trouble(why) | Msg::Unsaved(why) => complained(model, now, why),
        Msg::StoreFailed(why) => {
            model.undo.give_up();
            entry_filters::failed(model);
            complained(model, now, why)
        }
        Msg::Configured(read) => reconfigure::reconfigured(model, now, *read),
        Msg::Poll(wish) => manual_poll::ask(model, now, &wish),
        Msg::Add(wanted) => subscribe::add(model, now, wanted),
        Msg::WantHistory(feed, wish) => history_actions::want(model, now, feed, wish),
        Msg::Import(wanted) => import::import(model, now, wanted),
        Msg::Stop => vec![Effect::Stop],
    }
}

fn complained(model: &mut Model, now: DateTime<Utc>, why: String) -> Vec<Effect> {
    model.screen.complain(now, why);
    Vec::new()
}

/// A poll's result is durable.
fn committed(
    model: &mut Model,
    now: DateTime<Utc>,
    feed: FeedKey,
    counters: Counters,
    news: News,
    withdrawn: Vec<u32>,
) -> Vec<Effect> {
    let first = model.busy.get(&feed).is_some_and(polling::Poll::is_first);
    notifications::arrived(model, now, feed, counters, news, first);
    let changed = news.new > 0 || news.edited > 0 || !withdrawn.is_empty();
    withdrawn::withdrawn(model, now, feed, withdrawn);
    let mut effects = polling::committed(model, now, feed, counters, news);
    effects.extend(learn::polled(model, now, feed, news));
    effects.extend(notifications::tell(model, now));
    effects.extend(followed(model, now, feed, changed));
    effects
}

/// The store did something about a feed's history.
fn history_news(
    model: &mut Model,
    now: DateTime<Utc>,
    feed: FeedKey,
    news: HistoryNews,
) -> Vec<Effect> {
    match news {
        HistoryNews::Kept { counters, new, edited } => {
            let mut effects = walks::kept(model, now, feed, counters, new);
            effects.extend(followed(model, now, feed, new > 0 || edited > 0));
            effects
        }
        HistoryNews::Failed(why) => {
            walks::not_kept(model, now, feed, why);
            Vec::new()
        }
        HistoryNews::Nodes(nodes) => walks::nodes_loaded(model, now, feed, *nodes),
        HistoryNews::Restored(marked) => {
            withdrawn::restored(model, now, &marked);
            followed(model, now, feed, true)
        }
    }
}

/// A feed took over the entries of another.
fn absorbed(
    model: &mut Model,
    now: DateTime<Utc>,
    into: FeedKey,
    counters: Counters,
) -> Vec<Effect> {
    if let Some(subscription) = model.feeds.get_mut(&into) {
        subscription.counters = counters;
    }
    followed(model, now, into, true)
}

/// What the program asks for before the first message: the rows of the first list.
pub fn begin(model: &mut Model, now: DateTime<Utc>) -> Vec<Effect> {
    let mut effects = navigation::open_list(model, now);
    model.screen.today_since = Some(feeds_pane::day_start(now, model.zone));
    effects.push(Effect::BackUp(day_of(now, model.zone)));
    effects.extend(marks::counting(model, now));
    effects.extend(saved_searches::counting(model, now));
    effects
}

/// Time passed: polls fall due, and a new day begins at midnight.
fn ticked(model: &mut Model, now: DateTime<Utc>) -> Vec<Effect> {
    let mut effects = polling::tick(model, now);
    effects.extend(notifications::tell(model, now));
    let today = Some(feeds_pane::day_start(now, model.zone));
    // A command that polls once is over before a backup is made: it makes one at its end.
    let lasts = model.screen.is_on() || model.polls_by_itself;
    if lasts && model.screen.today_since != today {
        model.screen.today_since = today;
        effects.push(Effect::BackUp(day_of(now, model.zone)));
        if model.screen.is_on() {
            effects.extend(marks::counting(model, now));
            effects.extend(navigation::refresh_list(model, now));
        }
    }
    effects
}

/// The screen was drawn and its panes were measured: selections are brought into sight, and the text being
/// read is laid out for its column.
pub fn measured(model: &mut Model, viewport: Viewport) -> Vec<Effect> {
    let before = std::mem::replace(&mut model.screen.viewport, viewport);
    let mut effects = open_entry::render(model);
    if before != viewport {
        model.screen.feeds.keep_in_sight(usize::from(viewport.feeds_rows));
        timetable_pane::refresh(model);
        effects.extend(navigation::settle(model));
        effects.extend(pictures::follow(model));
    }
    effects
}

fn arrived(model: &mut Model, now: DateTime<Utc>, id: FetchId, fetched: Fetched) -> Vec<Effect> {
    let Some(ended) = model.traffic.end(id, now, &model.settings.network) else {
        return Vec::new();
    };
    match ended.waiting.purpose {
        Purpose::Poll(feed) => polling::fetched(model, now, id, &ended.waiting, feed, fetched),
        Purpose::Archive(feed) => walks::fetched(model, now, id, &ended.waiting, feed, fetched),
        Purpose::FullText(key) => full_text::fetched(model, now, key, &ended.waiting.url, fetched),
        Purpose::Picture(_) => pictures::fetched(model, now, ended.waiting.url, fetched),
        Purpose::Discover(addition) => {
            subscribe::fetched(model, now, addition, &ended.waiting.url, fetched)
        }
    }
}

/// A poll's result is durable: the open list shows it, if anybody looks.
fn followed(model: &mut Model, now: DateTime<Utc>, feed: FeedKey, changed: bool) -> Vec<Effect> {
    if changed {
        model.screen.ahead.forget_feed(feed);
    }
    if !changed || !model.screen.is_on() {
        return plan_pane::polled(model, feed).into_iter().collect();
    }
    let mut effects = marks::counting(model, now);
    effects.extend(plan_pane::polled(model, feed));
    if !feeds_pane::concerns(model, feed) {
        return effects;
    }
    if model.screen.list.waiting {
        model.screen.list.stale = true;
    } else {
        effects.extend(navigation::refresh_list(model, now));
    }
    effects
}
