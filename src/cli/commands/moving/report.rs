//! The table at the end of an import: what was found, what was taken, and why the rest was not.

use super::newsboat_config::ConfigTaken;
use crate::cli::context::CommandContext;
use crate::engine::moving::elsewhere_marks::{ElsewhereNoted, MarksTaken};
use crate::engine::moving::forecast::{Count, Forecast};

/// What is said about parts that were listed before the table.
const NAMED: &str = "the others are named above";

/// A row of the table.
struct ReportRow {
    what: &'static str,
    count: Count,
    note: String,
}

/// What was left out before anything was counted.
pub(super) struct LeftOut<'c> {
    /// Number of lines of the list that are no feeds here.
    pub feeds: usize,
    /// Number of searches in the list that have no counterpart.
    pub searches: usize,
    /// What became of newsboat's configuration.
    pub config: &'c ConfigTaken,
}

/// Prints the table, and the lines for the configuration. `noted` is `None` if nothing was imported, only counted.
pub(super) fn print(
    desk: &CommandContext,
    all: &Forecast,
    noted: Option<&ElsewhereNoted>,
    left_out: &LeftOut<'_>,
) {
    let config = left_out.config;
    let named = |count: Count, otherwise: &str| {
        if count.taken < count.found { NAMED.to_owned() } else { otherwise.to_owned() }
    };
    let more =
        |count: Count, more: usize| Count { found: count.found.saturating_add(more), ..count };
    let subscribed = match all.subscribed {
        0 => String::new(),
        count => format!("{count} already subscribed"),
    };
    let feeds = more(all.feeds, left_out.feeds);
    let searches = more(all.searches, left_out.searches.saturating_add(config.searches_refused));
    let filters = more(all.filters, config.filters_refused);
    let later = "feeds that you have keep their titles";
    let titles = if all.titles.taken < all.titles.found { later } else { "" };
    let marks = |count: Count, taken: Option<MarksTaken>, added: usize| {
        let mut parts = Vec::new();
        if let Some(taken) = taken {
            let marked = taken.here.saturating_sub(added);
            parts.extend((marked > 0).then(|| format!("{marked} marked")));
            parts.extend((added > 0).then(|| format!("{added} added with their texts")));
            let waiting = taken.later;
            parts.extend(
                (waiting > 0).then(|| format!("{waiting} wait for later polls, 90 days at most")),
            );
        }
        let others = count.found.saturating_sub(count.taken);
        parts.extend((others > 0).then(|| format!("{others} in feeds you are not subscribed to")));
        parts.join("; ")
    };
    let read = marks(all.read, noted.map(|noted| noted.read), 0);
    let added = noted.map_or(0, |noted| noted.added);
    let starred = marks(all.starred, noted.map(|noted| noted.starred), added);
    let rows = [
        ReportRow { what: "feeds", count: feeds, note: named(feeds, &subscribed) },
        ReportRow { what: "titles", count: all.titles, note: titles.to_owned() },
        ReportRow { what: "tags", count: all.tags, note: String::new() },
        ReportRow { what: "hidden feeds", count: all.hidden, note: "quiet here".to_owned() },
        ReportRow { what: "read entries", count: all.read, note: read },
        ReportRow { what: "starred entries", count: all.starred, note: starred },
        ReportRow { what: "labels", count: all.labels, note: String::new() },
        ReportRow { what: "saved searches", count: searches, note: named(searches, "") },
        ReportRow { what: "filters", count: filters, note: filters_note(all.filters, filters) },
        ReportRow { what: "keys", count: config.keys, note: named(config.keys, "printed below") },
    ];
    desk.put(&format!("{:<15} {:>7} {:>7}", "", "found", "taken"));
    for ReportRow { what, count, note } in rows.iter().filter(|row| row.count.found > 0) {
        let Count { found, taken } = count;
        desk.put(format!("{what:<15} {found:>7} {taken:>7}  {note}").trim_end());
    }
    config.print_lines(desk);
}

/// Says why filters were not taken. `valid` counts those that have a counterpart here.
fn filters_note(valid: Count, all: Count) -> String {
    let unsubscribed = valid.found.saturating_sub(valid.taken);
    let parts = [
        (all.found > valid.found).then(|| NAMED.to_owned()),
        (unsubscribed > 0).then(|| format!("{unsubscribed} of feeds you are not subscribed to")),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join("; ")
}
