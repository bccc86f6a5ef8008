//! Checks that the key tables in the documents match the program.

use std::fmt::Write as _;

use backissue::ui::keys::command_table::{COMMANDS, CommandRow};
use backissue::ui::keys::key_bindings::Keymap;
use backissue::ui::keys::newsboat_keys::{Here, NEWSBOAT_KEYS};
use backissue_core::search::{FIELDS, parse};
use chrono_tz::Tz;

use super::pages::{between, cells, check_part, page};

/// Returns the interface's commands, each with its default keys as the help shows them.
fn commands() -> impl Iterator<Item = (String, &'static CommandRow)> {
    let keys = Keymap::default();
    (0..).zip(COMMANDS).map(move |(place, row)| (keys.keys_of(place), row))
}

#[test]
fn documented_keys_match_the_program() {
    let mut table = "| keys | name | what |\n| --- | --- | --- |\n".to_owned();
    for (keys, row) in commands() {
        let keys = keys.replace('|', "\\|");
        let help = Keymap::default().words(row.help);
        writeln!(table, "| {keys} | `{}` | {help} |", row.name).unwrap();
    }
    check_part("docs/interface.md", "keys", &table);
}

#[test]
fn the_keys_of_the_first_hour_are_keys_of_the_program() {
    let readme = page("README.md");
    let listed: Vec<String> = between(&readme, "first keys")
        .lines()
        .skip(2)
        .filter_map(|row| cells(row).into_iter().next())
        .collect();
    assert!(listed.len() > 15, "{listed:?}");
    let mut table = "| keys | what |\n| --- | --- |\n".to_owned();
    for keys in listed {
        let (_, row) = commands()
            .find(|(shown, _)| *shown == keys)
            .unwrap_or_else(|| panic!("the program has no keys '{keys}'"));
        writeln!(table, "| {keys} | {} |", Keymap::default().words(row.help)).unwrap();
    }
    check_part("README.md", "first keys", &table);
}

#[test]
fn the_keys_of_newsboat_are_documented() {
    let mut table = "| newsboat | key | here |\n| --- | --- | --- |\n".to_owned();
    for row in &NEWSBOAT_KEYS {
        let here = match row.here {
            Here::Command(name) => format!("`{name}`"),
            Here::Unlike(reason) => Keymap::default().words(reason),
            Here::Nothing(reason) => format!("nothing; {}", Keymap::default().words(reason)),
        };
        let [key, here] = [row.key, &here].map(|cell| cell.replace('|', "\\|"));
        writeln!(table, "| `{}` | {key} | {here} |", row.operation).unwrap();
    }
    check_part("docs/newsboat.md", "newsboat keys", &table);
}

#[test]
fn the_fields_of_queries_are_documented() {
    let mut table = "| field | matches | example |\n| --- | --- | --- |\n".to_owned();
    for field in &FIELDS {
        writeln!(table, "| `{}:` | {} | `{}` |", field.name, field.matches, field.example).unwrap();
        assert!(parse(field.example, false, Tz::UTC).is_ok(), "{}", field.example);
    }
    check_part("docs/search.md", "fields", &table);
}
