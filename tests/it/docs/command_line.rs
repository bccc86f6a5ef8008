//! Checks that the help texts and documents name the commands, arguments and flags of the program.

use super::pages::page;
use crate::support::binary::Program;

/// Flags that every command accepts.
const GLOBAL: [&str; 6] = ["--data-dir", "--config", "--offline", "--plain", "-v", "--help"];

/// All commands, with the arguments and flags that the help of each must name.
const COMMANDS: [(&str, &[&str]); 41] = [
    ("demo", &[]),
    ("add", &["URL", "--tag", "--title", "--no-poll", "--account"]),
    ("import", &["FILE"]),
    ("export", &["FILE", "--force"]),
    ("feeds", &["WORDS", "--tag", "--unread", "--failing", "--json"]),
    (
        "entries",
        &["FEED", "--unread", "--starred", "--hidden", "--search", "--since", "--limit", "--json"],
    ),
    ("account", &["add", "list", "remove", "sync", "log"]),
    ("device", &["add", "list", "remove", "undo"]),
    ("unsubscribe", &["FEED"]),
    ("subscribe-again", &["FEED"]),
    ("unread", &["FEED", "--json"]),
    ("open", &["ENTRY", "--keep-unread"]),
    ("undo", &[]),
    ("drip", &["FEED", "D"]),
    ("resume", &["FEED"]),
    ("move", &["FEED", "ANSWER", "accept", "refuse"]),
    ("downloads", &["--json"]),
    ("filters", &["--json"]),
    ("mark", &["AS", "ENTRY", "--feed", "--tag", "--search", "--all", "--before", "--json"]),
    ("label", &["LABEL", "ENTRY", "--remove"]),
    ("show", &["ENTRY", "--text", "--html"]),
    ("poll", &["FEED", "--all", "--force", "--no-history", "--quiet", "--tolerant", "--json"]),
    ("watch", &["--follow", "--serve"]),
    ("events", &["--follow"]),
    ("service", &["WHAT", "install", "remove", "status"]),
    ("plan", &["FEED", "--next", "--json"]),
    (
        "set",
        &[
            "FEED",
            "--pace",
            "--min",
            "--max",
            "--every",
            "--history",
            "--archives",
            "--ignore-cache-lifetime",
            "--ignore-skips",
            "--title",
            "--tag",
            "--learn",
            "--rule",
            "--full-text",
            "--address",
        ],
    ),
    ("history", &["FEED", "--continue", "--retry", "--reread", "--figure", "--svg", "--json"]),
    ("search", &["WORDS", "--limit", "--json"]),
    ("parse", &["FILE", "--url", "--content-type", "--json"]),
    ("lint", &["URL", "FILE", "--url", "--json", "--format", "--fail-on"]),
    ("publish", &["FEED", "--out", "--base-url", "--archives", "--interval", "--whole", "--force"]),
    ("serve", &["DIR", "--port", "--sync"]),
    (
        "simulate",
        &[
            "--feed",
            "--feeds",
            "--policy",
            "--rules",
            "--budget",
            "--retrievals",
            "--min",
            "--max",
            "--train-days",
            "--shifts",
            "--table",
            "--figure",
            "--svg",
        ],
    ),
    ("config", &["--print-default"]),
    ("doctor", &["--repair", "--compact"]),
    ("backup", &["FILE", "--force"]),
    ("restore", &["FILE"]),
    ("completions", &["SHELL"]),
    ("man", &["COMMAND", "--all", "--force"]),
    ("help", &[]),
];

fn built() -> Vec<String> {
    let commands = backissue::cli::command();
    commands.get_subcommands().map(|command| command.get_name().to_owned()).collect()
}

#[test]
fn the_help_of_every_command_names_its_arguments_and_flags() {
    let program = Program::new();
    for (command, flags) in COMMANDS.into_iter().filter(|(name, _)| *name != "help") {
        let help = program.run_bare(&[command, "--help"]).with(0).out;
        for flag in flags.iter().chain(&GLOBAL) {
            assert!(names(&help, flag), "{command} --help does not name {flag}:\n{help}");
        }
    }
}

/// Checks whether a help text contains a flag as a whole word.
fn names(help: &str, flag: &str) -> bool {
    let inside = |char: char| char.is_alphanumeric() || char == '-';
    help.match_indices(flag).any(|(at, _)| {
        let before = help[..at].chars().next_back();
        let after = help[at + flag.len()..].chars().next();
        !before.is_some_and(inside) && !after.is_some_and(inside)
    })
}

#[test]
fn every_command_is_listed_and_in_the_help() {
    let help = Program::new().run_bare(&["--help"]).with(0).out;
    let mut listed = COMMANDS.map(|(name, _)| name);
    listed.sort_unstable();
    let mut built = built();
    built.push("help".to_owned());
    built.sort_unstable();
    assert_eq!(built, listed);
    let rows =
        |name: &str| help.lines().filter(|row| row.starts_with(&format!("  {name} "))).count();
    for command in built.iter().filter(|name| *name != "help") {
        assert_eq!(rows(command), 1, "{command} has one row in the groups:\n{help}");
    }
    for flag in GLOBAL {
        assert!(names(&help, flag), "{flag}:\n{help}");
    }
}

/// Returns the rows of a command in the command table of `docs/interface.md`.
fn rows_of(command: &str) -> String {
    let interface = page("docs/interface.md");
    let name = format!("backissue {command}");
    let rows = interface.lines().filter(|line| line.starts_with("| `backissue"));
    rows.filter(|line| names(line, &name)).map(|line| format!("{line}\n")).collect()
}

/// Returns the flags, such as `--json`, that a text names.
fn flags_in(text: &str) -> Vec<&str> {
    let words = text.split(|char: char| !char.is_ascii_alphanumeric() && char != '-');
    words.filter(|word| word.starts_with("--") && word.len() > 2).collect()
}

#[test]
fn the_interface_names_every_command_with_all_its_flags() {
    let commands = backissue::cli::command();
    for command in commands.get_subcommands() {
        let rows = rows_of(command.get_name());
        assert!(!rows.is_empty(), "{} is not in the table", command.get_name());
        let inner = command.get_subcommands().flat_map(clap::Command::get_arguments);
        let flags = command.get_arguments().chain(inner).filter(|flag| !flag.is_global_set());
        for flag in flags.filter_map(|flag| flag.get_long()).filter(|flag| *flag != "json") {
            let flag = format!("--{flag}");
            assert!(names(&rows, &flag), "the row of {} lacks {flag}", command.get_name());
        }
    }
    let interface = page("docs/interface.md");
    for flag in commands.get_arguments().filter_map(|flag| flag.get_long()) {
        assert!(names(&interface, &format!("--{flag}")), "--{flag} is not named");
    }
}

#[test]
fn the_interface_names_no_flag_that_the_program_lacks() {
    let commands = backissue::cli::command();
    for command in commands.get_subcommands() {
        let rows = rows_of(command.get_name());
        for flag in flags_in(&rows) {
            let known = |name: &str| format!("--{name}") == flag;
            let inner = command.get_subcommands().flat_map(clap::Command::get_arguments);
            let all = command.get_arguments().chain(inner);
            let is_known = all.filter_map(|flag| flag.get_long()).any(known);
            assert!(is_known, "{} has no {flag}", command.get_name());
        }
    }
    assert_eq!(flags_in("`--a`, --b-c; x--d -e --"), ["--a", "--b-c"]);
}

#[test]
fn every_command_that_writes_json_is_named_as_such() {
    let interface = page("docs/interface.md");
    let sentence = interface.lines().find(|line| line.starts_with("`--json` makes ")).unwrap();
    for command in backissue::cli::command().get_subcommands() {
        let writes = command.get_arguments().any(|flag| flag.get_long() == Some("json"));
        let mut called = vec![command.get_name()];
        called.extend(command.get_all_aliases());
        // The command for filters is still called `rules` internally.
        called.extend((command.get_name() == "rules").then_some("filters"));
        let named = called.iter().any(|name| names(sentence, &format!("`{name}`")));
        assert_eq!(named, writes, "{}", command.get_name());
    }
}

/// Returns the names of all subcommands of a command, recursively, each with its help text.
fn helps(command: &clap::Command, above: &str) -> Vec<(String, String)> {
    let inner = command.get_subcommands().filter(|inner| inner.get_name() != "help");
    let each = inner.flat_map(|inner| {
        let name = format!("{above}{}", inner.get_name());
        let own = (name.clone(), inner.clone().render_long_help().to_string());
        std::iter::once(own).chain(helps(inner, &format!("{name} ")))
    });
    each.collect()
}

#[test]
fn every_command_help_has_valid_examples() {
    for (name, help) in helps(&backissue::cli::command(), "") {
        let (_, examples) =
            help.split_once("\nExamples:\n").unwrap_or_else(|| panic!("{name}: {help}"));
        let lines: Vec<&str> = examples.lines().filter(|line| line.starts_with("  ")).collect();
        assert!(!lines.is_empty(), "{name}");
        for line in lines {
            let line = line.split(" | ").find(|part| part.contains("backissue ")).unwrap();
            let line = line.split(" > ").next().unwrap().trim();
            assert!(line.starts_with(&format!("backissue {name}")), "{name}: {line}");
            let words = shell_words::split(line).unwrap();
            let read = backissue::cli::command().try_get_matches_from(words);
            assert!(read.is_ok(), "{line}: {}", read.unwrap_err());
        }
    }
}

/// Returns all subcommands of a command, recursively.
fn all_below(command: &clap::Command) -> Vec<&clap::Command> {
    let inner = command.get_subcommands();
    inner.flat_map(|inner| std::iter::once(inner).chain(all_below(inner))).collect()
}

#[test]
fn usage_lists_arguments_in_typing_order() {
    let program = backissue::cli::command();
    for command in all_below(&program) {
        let usage = command.clone().render_usage().to_string();
        let line = usage.lines().next().unwrap();
        let places: Vec<usize> = command
            .get_positionals()
            .map(|word| {
                let name = word.get_value_names().unwrap()[0].to_string();
                line.find(&format!("<{name}>"))
                    .or_else(|| line.find(&format!("[{name}]")))
                    .unwrap_or_else(|| panic!("{name}: {line}"))
            })
            .collect();
        assert!(places.is_sorted(), "{line}");
    }
}

#[test]
fn global_options_are_under_one_heading() {
    let program = Program::new();
    for command in ["poll", "mark", "undo"] {
        let help = program.run_bare(&[command, "--help"]).with(0).out;
        let (own, of_every) = help.split_once("\nGlobal options:\n").unwrap();
        for flag in ["--data-dir", "--config", "--offline", "--plain", "--verbose"] {
            assert!(names(of_every, flag) && !names(own, flag), "{command} {flag}: {help}");
        }
        assert!(!names(of_every, "--json"), "{command}: {help}");
    }
}

#[test]
fn version_matches_the_manifest() {
    let told = Program::new().run_bare(&["--version"]).with(0).out;
    assert_eq!(told, concat!("backissue ", env!("CARGO_PKG_VERSION"), "\n"));
}

#[test]
fn the_environment_names_are_in_the_help() {
    let help = Program::new().run_bare(&["--help"]).with(0).out;
    for name in ["BACKISSUE_DATA_DIR", "BACKISSUE_CONFIG"] {
        assert!(help.contains(name), "{help}");
    }
}
