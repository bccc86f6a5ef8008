//! Checks that the configuration in the documents equals the one that the program prints.

use super::pages::{check_part, page, table_rows};
use crate::support::binary::Program;

#[test]
fn the_configuration_is_the_one_that_the_program_prints() {
    let printed = Program::new().run_bare(&["config", "--print-default"]).with(0).out;
    check_part("docs/configuration.md", "config", &format!("```toml\n{printed}```\n"));
}

#[test]
fn the_settings_of_a_feed_are_the_flags_of_set() {
    let text = page("docs/configuration.md");
    let (_, settings) = text.split_once("## Settings of one feed\n").unwrap();
    let (settings, _) = settings.split_once("\n## ").unwrap();
    let named: Vec<String> = table_rows(settings)
        .iter()
        .flat_map(|row| row[0].split([' ', ',']).map(str::to_owned).collect::<Vec<_>>())
        .filter_map(|word| word.strip_prefix("--").map(str::to_owned))
        .collect();
    let commands = backissue::cli::command();
    let set = commands.find_subcommand("set").unwrap();
    let flags: Vec<&str> = set
        .get_arguments()
        .filter(|flag| !flag.is_global_set())
        .filter_map(|flag| flag.get_long())
        .collect();
    for flag in &flags {
        assert!(named.iter().any(|name| name == flag), "--{flag} is not in the table");
    }
    assert_eq!(named.len(), flags.len(), "{named:?}");
}
