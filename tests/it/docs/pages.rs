//! Reads the project's documents: their names, marked parts and tables.

use std::fs;
use std::path::{Path, PathBuf};

/// Returns the root folder of the project.
pub(super) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Returns the text of a document; `path` is relative to the project's root.
pub(super) fn page(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Returns the paths of all documents, relative to the project's root.
pub(super) fn pages() -> Vec<String> {
    let mut pages: Vec<String> = files_below("docs")
        .into_iter()
        .filter(|path| path.extension().is_some_and(|end| end == "md"))
        .map(|path| path.strip_prefix(root()).unwrap().to_str().unwrap().to_owned())
        .collect();
    let at_the_root =
        ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "src/core/README.md"];
    pages.extend(at_the_root.map(str::to_owned));
    pages.sort();
    pages
}

/// Returns all files below a folder of the project.
pub(super) fn files_below(folder: &str) -> Vec<PathBuf> {
    let (mut folders, mut files) = (vec![root().join(folder)], Vec::new());
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { folders.push(path) } else { files.push(path) }
        }
    }
    files
}

/// Returns the text between `<!-- name -->` and `<!-- /name -->`.
pub(super) fn between<'p>(page: &'p str, name: &str) -> &'p str {
    part(page, name).unwrap_or_else(|| panic!("no part '{name}'"))
}

fn part<'p>(page: &'p str, name: &str) -> Option<&'p str> {
    let (_, rest) = page.split_once(&format!("<!-- {name} -->\n"))?;
    rest.split_once(&format!("<!-- /{name} -->")).map(|(inside, _)| inside)
}

/// Checks that a marked part of a document equals `expected`; with `BACKISSUE_DOCS=write` in the environment, first replaces the
/// part by `expected`.
pub(super) fn check_part(path: &str, name: &str, expected: &str) {
    if std::env::var("BACKISSUE_DOCS").is_ok_and(|wish| wish == "write") {
        let text = page(path);
        let (open, close) = (format!("<!-- {name} -->\n"), format!("<!-- /{name} -->"));
        let (before, rest) = text.split_once(&open).unwrap_or_else(|| panic!("no part '{name}'"));
        let (_, after) = rest.split_once(&close).unwrap_or_else(|| panic!("no end of '{name}'"));
        fs::write(root().join(path), [before, &open, expected, &close, after].concat()).unwrap();
    }
    let text = page(path);
    let kept = between(&text, name);
    assert!(
        kept == expected,
        "{path}: '{name}' is not what the program has; BACKISSUE_DOCS=write cargo test --test it docs\n{expected}"
    );
}

/// Returns the cells of a Markdown table row, without backticks.
pub(super) fn cells(row: &str) -> Vec<String> {
    let row = row.trim().trim_start_matches('|').replace("\\|", "\u{0}");
    let row = row.strip_suffix('|').unwrap_or(&row);
    row.split('|')
        .map(|cell| cell.replace('\u{0}', "|").replace('`', "").trim().to_owned())
        .collect()
}

/// Returns the rows of all Markdown tables in a text, without the heading rows.
pub(super) fn table_rows(text: &str) -> Vec<Vec<String>> {
    let lines: Vec<&str> = text.lines().collect();
    let is_rule = |line: &&str| line.starts_with("| --- ");
    let rows = lines.iter().enumerate().filter(|&(at, line)| {
        line.starts_with('|') && !is_rule(line) && !lines.get(at + 1).is_some_and(is_rule)
    });
    rows.map(|(_, line)| cells(line)).collect()
}

#[test]
fn rows_of_a_table_are_read() {
    let table = "\n| keys | what |\n| --- | --- |\n| `j` ↓ | next row |\n| `\\|` | pipe |\n";
    assert_eq!(table_rows(table), [["j ↓", "next row"], ["|", "pipe"]]);
}

#[test]
fn a_part_between_marks_is_read() {
    assert_eq!(part("a\n<!-- x -->\nb\n<!-- /x -->\n", "x"), Some("b\n"));
    assert_eq!(part("a\n<!-- x -->\nb\n", "x"), None);
}
