//! What the help and the README promise is what the program has.

use backissue::ui::keys::keymap::BINDINGS;

use crate::support::binary::Program;

/// Flags every command takes.
const GLOBAL: [&str; 6] = ["--data-dir", "--config", "--offline", "--plain", "-v", "--help"];

/// All commands there are, with the arguments and flags that may not change.
const COMMANDS: [(&str, &[&str]); 24] = [
    ("demo", &[]),
    ("add", &["URL", "--tag", "--title", "--no-poll"]),
    ("import", &["FILE"]),
    ("export", &["FILE"]),
    ("feeds", &["--json"]),
    ("entries", &["FEED", "--unread", "--starred", "--hidden", "--since", "--limit", "--json"]),
    ("filters", &["--json"]),
    ("show", &["ENTRY", "--text", "--html"]),
    ("poll", &["FEED", "--all", "--force", "--no-history", "--json"]),
    ("watch", &[]),
    ("plan", &["FEED", "--next", "--document", "--facts", "--json"]),
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
        ],
    ),
    ("history", &["FEED", "--continue", "--retry", "--reread", "--json"]),
    ("search", &["WORDS", "--limit", "--json"]),
    ("parse", &["FILE", "--url", "--content-type", "--json"]),
    ("lint", &["URL", "FILE", "--url", "--json"]),
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
            "--stdio",
            "--table",
        ],
    ),
    ("config", &["--print-default"]),
    ("doctor", &["--repair", "--compact"]),
    ("backup", &["FILE"]),
    ("restore", &["FILE"]),
    ("completions", &["SHELL"]),
    ("man", &[]),
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

/// Whether a flag stands in a help as a word of its own.
fn names(help: &str, flag: &str) -> bool {
    let inside = |char: char| char.is_alphanumeric() || char == '-';
    help.match_indices(flag).any(|(at, _)| {
        let before = help[..at].chars().next_back();
        let after = help[at + flag.len()..].chars().next();
        !before.is_some_and(inside) && !after.is_some_and(inside)
    })
}

#[test]
fn every_command_is_one_of_the_list_and_the_help_names_it() {
    let help = Program::new().run_bare(&["--help"]).with(0).out;
    let mut listed = COMMANDS.map(|(name, _)| name);
    listed.sort_unstable();
    let mut built = built();
    built.push("help".to_owned());
    built.sort_unstable();
    assert_eq!(built, listed);
    for command in built {
        assert!(names(&help, &command), "{command}:\n{help}");
    }
    for flag in GLOBAL {
        assert!(names(&help, flag), "{flag}:\n{help}");
    }
}

#[test]
fn the_readme_names_every_command_with_all_its_flags() {
    let readme = include_str!("../../README.md");
    let commands = backissue::cli::command();
    for command in commands.get_subcommands() {
        let row = readme
            .lines()
            .filter(|line| line.starts_with("| `") && names(line, command.get_name()));
        let rows: String = row.collect();
        assert!(!rows.is_empty(), "{} is not in the table", command.get_name());
        let flags = command.get_arguments().filter(|flag| !flag.is_global_set());
        for flag in flags.filter_map(|flag| flag.get_long()).filter(|flag| *flag != "json") {
            let flag = format!("--{flag}");
            assert!(names(&rows, &flag), "README: {} lacks {flag}", command.get_name());
        }
    }
    for flag in commands.get_arguments().filter_map(|flag| flag.get_long()) {
        assert!(names(readme, &format!("--{flag}")), "README does not name --{flag}");
    }
}

#[test]
fn the_version_is_that_of_the_manifest() {
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

#[test]
fn the_key_table_of_the_readme_is_the_table_of_the_program() {
    let readme = include_str!("../../README.md");
    let table = readme
        .split_once("<!-- keys -->")
        .and_then(|(_, rest)| rest.split_once("<!-- /keys -->"))
        .map(|(table, _)| table)
        .expect("the README has a key table between <!-- keys --> and <!-- /keys -->");
    let expected: Vec<(String, String)> =
        BINDINGS.iter().map(|binding| (binding.keys.into(), binding.help.into())).collect();
    assert_eq!(rows(table), expected);
}

#[test]
fn the_configuration_of_the_readme_is_the_one_the_program_prints() {
    let readme = include_str!("../../README.md");
    let block = readme.split("<!-- config -->\n```toml\n").nth(1).unwrap();
    let block = block.split("```\n<!-- /config -->").next().unwrap();
    let printed = Program::new().run_bare(&["config", "--print-default"]).with(0).out;
    assert_eq!(block, printed);
}

/// The rows of a Markdown table of two columns below its heading, without code marks.
fn rows(table: &str) -> Vec<(String, String)> {
    let lines = table.lines().map(str::trim).filter(|line| line.starts_with('|')).skip(2);
    lines
        .map(|line| {
            let line = line.replace("\\|", "\u{0}");
            let mut cells = line
                .trim_matches('|')
                .split('|')
                .map(|cell| cell.replace('\u{0}', "|").replace('`', "").trim().to_owned());
            let row = (cells.next().unwrap(), cells.next().unwrap());
            assert_eq!(cells.next(), None, "two columns: {line}");
            row
        })
        .collect()
}

#[test]
fn rows_of_a_table_are_read() {
    let table = "\n| keys | what |\n| --- | --- |\n| `j` ↓ | next row |\n| `\\|` | pipe |\n";
    let expected = [("j ↓", "next row"), ("|", "pipe")];
    assert_eq!(rows(table), expected.map(|(keys, what)| (keys.to_owned(), what.to_owned())));
}

#[test]
fn every_test_that_the_conformance_sheet_names_is_there() {
    let readme = include_str!("../../README.md");
    let sheet = readme.split("<!-- conformance -->").nth(1).unwrap();
    let sheet = sheet.split("<!-- /conformance -->").next().unwrap();
    let named: Vec<&str> = sheet.lines().filter_map(|line| line.rsplit('`').nth(1)).collect();
    assert!(named.len() > 40, "{}", named.len());
    let sources = sources(std::path::Path::new(env!("CARGO_MANIFEST_DIR")));
    for name in named {
        let test = format!("fn {name}(");
        assert!(sources.iter().any(|text| text.contains(&test)), "there is no test {name}");
    }
}

/// All Rust files below `src` and `tests`.
fn sources(root: &std::path::Path) -> Vec<String> {
    let mut folders = vec![root.join("src"), root.join("tests")];
    let mut texts = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|end| end == "rs") {
                texts.push(std::fs::read_to_string(path).unwrap());
            }
        }
    }
    texts
}
