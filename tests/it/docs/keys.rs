//! Checks that the key tables in the documents match the program.

use std::fmt::Write as _;

use backissue::ui::keys::commands::{COMMANDS, CommandRow};
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
        writeln!(table, "| {keys} | `{}` | {} |", row.name, row.help).unwrap();
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
        writeln!(table, "| {keys} | {} |", row.help).unwrap();
    }
    check_part("README.md", "first keys", &table);
}

#[test]
fn the_keys_of_newsboat_are_documented() {
    let mut table = "| newsboat | key | here |\n| --- | --- | --- |\n".to_owned();
    for row in &NEWSBOAT_KEYS {
        let here = match row.here {
            Here::Command(name) => format!("`{name}`"),
            Here::Unlike(reason) => reason.to_owned(),
            Here::Nothing(reason) => format!("nothing; {reason}"),
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

/// Checks that a name in code marks on our side of the options of newsboat exists.
fn exists(name: &str, config: &str) -> bool {
    if let Some(field) = name.strip_prefix('[') {
        let (section, field) = field.split_once(']').unwrap();
        let Some((_, part)) = config.split_once(&format!("\n[{section}]\n")) else { return false };
        let part = part.split("\n[").next().unwrap();
        let set = format!("{} =", field.trim());
        let is_field = |line: &str| line.trim_start_matches("# ").starts_with(&set);
        return field.is_empty() || part.lines().any(is_field);
    }
    if let Some(command) = name.strip_prefix("backissue ") {
        let help = page("docs/interface.md");
        return help.contains(&format!("backissue {}", command.split(' ').next().unwrap()));
    }
    let others = ["--data-dir", "credentials.toml", "display", "!"];
    COMMANDS.iter().any(|row| row.name == name) || others.contains(&name)
}

#[test]
fn the_options_of_newsboat_name_what_exists_here() {
    let (table, config) = (page("docs/newsboat.md"), format!("\n{}", page("assets/config.toml")));
    let rows = between(&table, "newsboat options").lines().skip(2);
    let here: Vec<String> = rows.filter_map(|row| cells(row).into_iter().nth(1)).collect();
    assert!(here.len() > 100, "{}", here.len());
    for cell in here {
        for name in cell.split('`').skip(1).step_by(2) {
            assert!(exists(name, &config), "'{name}' of '{cell}'");
        }
    }
    for absent in ["[ui] nothing", "[nothing] at_all", "backissue dance", "dance"] {
        assert!(!exists(absent, &config), "{absent}");
    }
}
