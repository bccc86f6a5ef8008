//! The same facts, read from the screen, from JSON, from plain output, from exports and from the state file, agree.
//!
//! `BACKISSUE_STORES` is the number of random stores.

use std::collections::{BTreeMap, BTreeSet};

use backissue::engine::change::value::MarkChange;
use backissue::engine::feeds::addition::Subscribe;
use backissue::engine::poll::fetch::AnswerHeaders;
use backissue::engine::request::Request;
use backissue::ui::panes::feeds_pane::count_unread;
use backissue::ui::settings::MarkRead;
use backissue::ui::state::feeds_pane::FeedsRow;
use backissue_core::history::{EntryKey, FeedKey, Flag};
use backissue_core::words;
use chrono::TimeDelta;
use serde_json::Value;

use crate::support::binary::{Ended, bare, ended};
use crate::support::dice::Dice;
use crate::support::scripted::Scripted;
use crate::support::world::{World, start};

/// Number of random stores if the environment names none.
const STORES: u64 = 8;
/// Labels that entries may have.
const LABELS: [&str; 3] = ["later", "work", "zoo"];

/// What the screen shows of an entry.
#[derive(Debug, Default, PartialEq, Eq)]
struct Shown {
    date: String,
    labels: BTreeSet<String>,
    read: bool,
    starred: bool,
    /// The word that is only in the text of the feed or only in the text of the page.
    text: String,
}

/// A page whose text is long enough for an article and holds one word that is nowhere else.
fn page(word: &str) -> String {
    let text =
        format!("The {word} is warmed slowly, in water, and never over a flame. ").repeat(12);
    format!("<html><body><article><h1>Wax</h1><p>{text}</p><p>{text}</p></article></body></html>")
}

/// A feed with some entries, and with an archive that is served, missing, or not linked.
fn atom(number: u64, entries: &[(String, i64)], archive: bool) -> String {
    let link = if archive { "<link rel=\"prev-archive\" href=\"old\"/>" } else { "" };
    let mut items = String::new();
    for (name, hours) in entries {
        let date = (start() - TimeDelta::hours(*hours)).to_rfc3339();
        let item = format!(
            "<entry><id>urn:{name}</id><title>{name}</title><updated>{date}</updated>\
             <link href=\"https://f{number}.example/{name}\"/><content type=\"html\">&lt;p>feed-{name}&lt;/p></content></entry>"
        );
        items.push_str(&item);
    }
    format!(
        "<feed xmlns=\"http://www.w3.org/2005/Atom\"><title>Feed {number}</title><id>urn:{number}</id>{link}\
         <updated>{}</updated>{items}</feed>",
        start().to_rfc3339()
    )
}

/// A world with random feeds, marks, labels and fetched pages.
fn world(dice: &mut Dice) -> World {
    let mut feeds = Vec::new();
    let mut archives = Vec::new();
    for number in 1..=dice.between(1, 4).unsigned_abs() {
        let count = dice.between(1, 5);
        let name = |entry: i64| (format!("e{number}x{entry}"), 2 * entry + 1);
        let archive = dice.roll(3);
        let entries: Vec<_> = (1..=count).map(name).collect();
        feeds.push((format!("https://f{number}.example/"), atom(number, &entries, archive > 0)));
        archives.push((number, archive, atom(number, &[name(9)], false)));
    }
    let mut world = World::new(160, 50);
    for (number, archive, document) in archives {
        let url = format!("https://f{number}.example/old");
        if archive == 1 {
            let feed = "<feed xmlns=\"http://www.w3.org/2005/Atom\">";
            let marked = document.replace(
                feed,
                "<feed xmlns=\"http://www.w3.org/2005/Atom\" xmlns:fh=\"http://purl.org/syndication/history/1.0\"><fh:archive/>",
            );
            world.serve(&url, &marked);
        } else {
            world.refuse(&url, 404, AnswerHeaders::default());
        }
    }
    for (url, body) in &feeds {
        world.serve(url, body);
    }
    let wanted =
        feeds.iter().map(|(url, _)| Subscribe { address: url.clone(), ..Subscribe::default() });
    world.subscribe_to_all(wanted.collect());
    for number in 1..=feeds.len() {
        world.poll(FeedKey(u32::try_from(number).unwrap()));
    }
    world.rest();
    for feed in keys_of_feeds(&world) {
        let mut chosen = world.app.engine.feeds[&feed].record.chosen();
        (chosen.feed_settings.quiet, chosen.feed_settings.full_text) =
            (dice.one_in(3), dice.one_in(2));
        world.tell(Request::Set(feed, Box::new(chosen)));
    }
    for key in keys_of_entries(&world) {
        let (kept, _) = world.store.entry(key).unwrap().unwrap();
        let (name, url) = (kept.title.unwrap(), kept.link.unwrap());
        if dice.one_in(2) {
            let body = page(&format!("page-{name}"));
            world
                .network
                .insert(url.clone(), Scripted { status: 200, body, ..Scripted::default() });
            world.tell(Request::FetchPage { key, url, kept: None });
            world.pass(TimeDelta::seconds(3));
        }
        for flag in [Flag::Read, Flag::Starred] {
            if dice.one_in(2) {
                world.tell(Request::Mark(MarkChange { flag, value: true, keys: vec![key] }));
            }
        }
        for name in LABELS {
            if dice.one_in(4) {
                world.tell(Request::Label { name: name.into(), keys: vec![key], set: true });
            }
        }
    }
    world
}

fn keys_of_feeds(world: &World) -> Vec<FeedKey> {
    world.app.engine.feeds.keys().copied().collect()
}

fn keys_of_entries(world: &World) -> Vec<EntryKey> {
    let feeds = world.app.engine.feeds.values();
    feeds
        .flat_map(|feed| (0..feed.counters.next_seq).map(|seq| EntryKey { feed: feed.key, seq }))
        .collect()
}

/// Selects a row of the subscriptions pane with keys, and returns the screen.
fn select(world: &mut World, wanted: impl Fn(&FeedsRow) -> bool) -> String {
    let place = world.app.ui.feeds.rows.iter().position(wanted).unwrap();
    world.press(&format!("hhg{}", "j".repeat(place)));
    world.draw()
}

/// Reads the facts from the screen: the unread entries by the name of their list, what each feed's list says of its history, and the
/// entries.
fn of_screen(world: &mut World) -> (u64, BTreeMap<FeedKey, String>, BTreeMap<String, Shown>) {
    let screen = select(world, |row| *row == FeedsRow::AllUnread);
    let line = screen.lines().find(|line| line.contains("● All unread")).unwrap();
    let after = line.split("All unread").nth(1).unwrap_or_default();
    let number = after.split('│').next().and_then(|it| it.split_whitespace().last());
    let unread = number.and_then(|it| it.parse().ok()).unwrap_or(0);
    assert_eq!(unread, u64::from(count_unread(&world.app, &FeedsRow::AllUnread)), "{screen}");
    let plans = world.app.engine.feeds.values();
    let next = plans.filter_map(|feed| Some((feed.plan.next_poll?, feed.record.shown_title())));
    let (at, name) = next.min().unwrap();
    let next = format!("next check: {name} {}", words::coming(at, world.now));
    assert!(screen.contains(&next), "{next} in\n{screen}");
    let title = world.app.title();
    assert_eq!(title.contains(&format!("{unread} unread")), unread > 0, "{title}");
    let (mut histories, mut entries) = (BTreeMap::new(), BTreeMap::new());
    for feed in keys_of_feeds(world) {
        let screen = select(world, |row| row.feed() == Some(feed));
        histories.insert(feed, screen);
        // In words, all marks of an entry are in one line.
        world.app.ui.appearance.plain = true;
        world.press("<enter>g");
        for _ in 0..world.app.ui.list.total {
            let row = world.app.ui.list.selected_row().unwrap().clone();
            if row.key.entry().is_some() {
                let screen = world.draw();
                let line = screen.lines().find(|line| line.contains(&row.title));
                let line = line.unwrap_or_else(|| panic!("no {} in\n{screen}", row.title));
                let words: Vec<&str> = line.split([',', '>']).map(str::trim).collect();
                let labels = words.iter().filter_map(|word| word.strip_prefix("labelled "));
                let mut shown = Shown {
                    labels: labels.flat_map(|it| it.split(' ')).map(str::to_owned).collect(),
                    read: !words.contains(&"unread"),
                    starred: words.contains(&"starred"),
                    date: row.listed.format("%Y-%m-%dT%H:%M:%SZ").to_string(),
                    text: String::new(),
                };
                world.press("<enter>");
                shown.text = which(&world.draw(), &row.title);
                entries.insert(row.title.clone(), shown);
                world.press("q");
            }
            world.press("j");
        }
        world.app.ui.appearance.plain = false;
    }
    (unread, histories, entries)
}

/// Returns which of its two texts an output contains.
fn which(output: &str, name: &str) -> String {
    let words = [format!("feed-{name}"), format!("page-{name}")];
    let found: Vec<&String> = words.iter().filter(|word| output.contains(*word)).collect();
    assert_eq!(found.len(), 1, "one text of {name} in\n{output}");
    found[0].clone()
}

fn text(value: &Value, field: &str) -> String {
    value[field].as_str().unwrap_or_default().to_owned()
}

/// Returns the labels in a field of JSON.
fn labels(value: &Value) -> BTreeSet<String> {
    value["labels"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|it| it.as_str().unwrap().to_owned())
        .collect()
}

/// Runs a command on a store.
type Run<'r> = &'r dyn Fn(&[&str]) -> Ended;

/// Checks the unread entries, and what is said of each history.
fn feeds_agree(run: Run<'_>, why: &str, unread: u64, histories: &BTreeMap<FeedKey, String>) {
    let counted = run(&["unread", "--json"]).json();
    assert_eq!(counted["unread"], unread, "{why}");
    assert_eq!(run(&["unread"]).out.trim(), unread.to_string(), "{why}");
    let listed = run(&["entries", "--unread"]).out;
    let listed = listed.lines().filter(|line| line.contains('●')).count();
    assert_eq!(u64::try_from(listed).unwrap(), unread, "{why}");
    let feeds = run(&["feeds", "--json"]).json();
    let feeds = feeds.as_array().unwrap();
    let all = feeds.iter().map(|feed| feed["unread"].as_u64().unwrap()).sum::<u64>();
    assert_eq!(all - unread, counted["unread_in_quiet_feeds"].as_u64().unwrap(), "{why}");
    for feed in feeds {
        let screen = &histories[&FeedKey(u32::try_from(feed["number"].as_u64().unwrap()).unwrap())];
        let said = text(&feed["history"], "text");
        // A list says nothing of a history that its feed does not offer.
        let shows = feed["history"]["state"] != "not_offered";
        assert_eq!(screen.contains(&said), shows, "{why}: '{said}' in\n{screen}");
    }
}

/// Checks the marks, labels, dates and texts of all entries.
fn entries_agree(run: Run<'_>, why: &str, entries: &BTreeMap<String, Shown>) {
    let listed = run(&["entries", "--json"]).json();
    let listed = listed.as_array().unwrap().iter().filter(|it| it["kind"] == "entry");
    let items =
        run(&["export", "--entries", "is:read OR is:unread", "--format", "json-feed"]).json();
    let state = run(&["export", "--state"]).out;
    let state: Vec<Value> = state.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let lines = run(&["entries"]).out;
    let mut seen = 0;
    for entry in listed {
        seen += 1;
        let name = text(entry, "title");
        let why = format!("{why}, {name}");
        let shown = &entries[&name];
        let item = items["items"].as_array().unwrap().iter().find(|it| it["title"] == *name);
        let item = item.unwrap_or_else(|| panic!("{why} is not exported: {items}"));
        let known = state.iter().find(|it| text(it, "id") == format!("urn:{name}"));
        let known = known.unwrap_or_else(|| panic!("{why} is not in the state file"));
        let line = lines.lines().find(|line| line.ends_with(&name)).unwrap();
        for (place, fields) in [("JSON", entry), ("feed", &item["_backissue"]), ("state", known)] {
            let marks = (&fields["read"], &fields["starred"], labels(fields));
            let expected = (&shown.read.into(), &shown.starred.into(), shown.labels.clone());
            assert_eq!(marks, expected, "{why}: {place}");
        }
        let marks = (line.contains('●'), line.contains('★'), line.contains(&shown.date[..10]));
        assert_eq!(marks, (!shown.read, shown.starred, true), "{why}: {line}");
        let dates = [text(entry, "listed"), text(item, "date_modified"), text(known, "updated")];
        assert_eq!(dates, [shown.date.as_str(); 3], "{why}");
        let number = text(entry, "number");
        let mut outputs = vec![text(item, "content_html")];
        // These print one entry a run.
        if name.ends_with("x1") {
            outputs.push(run(&["show", &number]).out);
            outputs.push(run(&["export", "--entry", &number, "--format", "markdown"]).out);
        }
        for output in outputs {
            assert_eq!(which(&output, &name), shown.text, "{why}");
        }
    }
    assert_eq!(seen, entries.len(), "{why}");
}

#[test]
fn screen_json_plain_output_exports_and_state_agree() {
    let stated = std::env::var("BACKISSUE_STORES").ok().and_then(|count| count.parse().ok());
    for seed in 1..=stated.unwrap_or(STORES) {
        let mut world = world(&mut Dice::of(seed, "agreement", 0));
        world.app.ui.settings.mark_read = MarkRead::Never;
        let (unread, histories, entries) = of_screen(&mut world);
        let World { store, folder, .. } = world;
        drop(store);
        let data = folder.path().to_str().unwrap();
        let home = tempfile::tempdir().unwrap();
        let run = |args: &[&str]| -> Ended {
            let place = ["--data-dir", data, "--offline"];
            ended(bare(home.path()).args(place).args(args).spawn().unwrap(), b"").with(0)
        };
        let why = format!("store {seed}");
        feeds_agree(&run, &why, unread, &histories);
        entries_agree(&run, &why, &entries);
    }
}
