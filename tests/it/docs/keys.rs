//! The tables of keys are the table of the program.

use std::fmt::Write as _;

use backissue::ui::keys::command_names;
use backissue::ui::keys::keymap::BINDINGS;

use super::pages::{between, cells, check_part, page};

#[test]
fn the_table_of_keys_is_the_table_of_the_program() {
    let mut table = "| keys | name | what |\n| --- | --- | --- |\n".to_owned();
    for binding in BINDINGS {
        let (keys, name) =
            (binding.keys.replace('|', "\\|"), command_names::name(binding.command()));
        writeln!(table, "| {keys} | `{name}` | {} |", binding.help).unwrap();
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
        let binding = BINDINGS.iter().find(|binding| binding.keys == keys);
        let binding = binding.unwrap_or_else(|| panic!("the program has no keys '{keys}'"));
        writeln!(table, "| {keys} | {} |", binding.help).unwrap();
    }
    check_part("README.md", "first keys", &table);
}
