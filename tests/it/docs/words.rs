//! Checks that the program's sentences use the words of docs/words.md and none of the old forms.

use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// Returns the old forms in the table.
fn old_forms() -> Vec<String> {
    let text = fs::read_to_string(root().join("docs/words.md")).unwrap();
    let table = text.split("<!-- words -->").nth(1).unwrap();
    let table = table.split("<!-- /words -->").next().unwrap();
    let rows = table.lines().filter_map(|line| line.strip_prefix("| ")?.split_once(" | "));
    rows.skip(1).map(|(old, _)| old.to_lowercase()).filter(|old| !old.starts_with("---")).collect()
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|end| end == "rs") {
            found.push(path);
        }
    }
}

/// Returns the texts of a source file that readers see, without comments and tests; for the command line also its help, which is
/// in comments.
fn said(path: &Path) -> String {
    let text = fs::read_to_string(path).unwrap();
    let product = text.split("#[cfg(test)]").next().unwrap_or_default();
    let is_help = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("args"));
    let says = |line: &&str| {
        let line = line.trim_start();
        !line.starts_with("//") || (is_help && line.starts_with("///"))
    };
    let lines: Vec<&str> = product.lines().filter(says).collect();
    // A sentence may continue on the next line.
    lines.join("\n").replace("\\\n", "").split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn program_and_reader_documents_have_no_old_wording() {
    let old = old_forms();
    assert!(old.len() > 20, "{old:?}");
    let mut texts = Vec::new();
    let mut paths = Vec::new();
    sources(&root().join("src"), &mut paths);
    for path in paths {
        if !path.to_string_lossy().ends_with("_tests.rs") {
            texts.push((path.display().to_string(), said(&path)));
        }
    }
    for document in
        ["README.md", "docs/interface.md", "docs/configuration.md", "assets/config.toml"]
    {
        texts.push((document.to_owned(), fs::read_to_string(root().join(document)).unwrap()));
    }
    let mut found = Vec::new();
    for (place, text) in texts {
        let text = text.to_lowercase();
        let has = old.iter().filter(|form| text.contains(form.as_str()));
        found.extend(has.map(|form| format!("{place}: '{form}'")));
    }
    assert!(found.is_empty(), "docs/words.md says better words:\n{}", found.join("\n"));
}
