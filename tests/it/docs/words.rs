//! Checks that the program's sentences, the documents and the comments use the words of docs/words.md and none of the old wordings
//! that its tables replace.

use std::fs;
use std::path::{Path, PathBuf};

use regex::Regex;

use super::pages::{between, pages, table_rows};

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// Returns the old wordings: the first column of the table `name` in docs/words.md.
fn old_forms(name: &str) -> Vec<String> {
    let text = fs::read_to_string(root().join("docs/words.md")).unwrap();
    let table = between(&text, name);
    let rows = table.lines().filter_map(|line| line.strip_prefix("| ")?.split_once(" | "));
    let forms = rows.skip(1).map(|(old, _)| old.trim_matches('`').to_lowercase());
    forms.filter(|old| !old.starts_with("---")).collect()
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

/// Returns the code of a source file, including the texts for users, without comments and tests. The comments of the command line's
/// argument files are included, because they are the help.
fn said(path: &Path) -> String {
    let text = fs::read_to_string(path).unwrap();
    let product = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
    let is_help = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("args"));
    let says = |line: &&str| {
        let line = line.trim_start();
        !line.starts_with("//") || (is_help && line.starts_with("///"))
    };
    let lines: Vec<&str> = product.lines().filter(says).collect();
    // Join the lines, because a string may continue on the next line.
    lines.join("\n").replace("\\\n", "").split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn program_and_reader_documents_have_no_old_wording() {
    let old = old_forms("words");
    assert!(old.len() > 20, "{old:?}");
    let mut texts = Vec::new();
    let mut paths = Vec::new();
    sources(&root().join("src"), &mut paths);
    for path in paths {
        if !path.to_string_lossy().ends_with("_tests.rs") {
            texts.push((path.display().to_string(), said(&path)));
        }
    }
    let mut documents = pages();
    documents.retain(|page| page.starts_with("docs/guide/"));
    documents.extend(
        ["README.md", "docs/interface.md", "docs/configuration.md", "assets/config.toml"]
            .map(str::to_owned),
    );
    for document in documents {
        let text = fs::read_to_string(root().join(&document)).unwrap();
        texts.push((document, text));
    }
    let mut found = Vec::new();
    for (place, text) in texts {
        let text = text.to_lowercase();
        let has = old.iter().filter(|form| text.contains(form.as_str()));
        found.extend(has.map(|form| format!("{place}: '{form}'")));
    }
    assert!(found.is_empty(), "docs/words.md says better words:\n{}", found.join("\n"));
}

#[test]
fn terms_have_plain_words_on_the_screen() {
    let text = fs::read_to_string(root().join("docs/words.md")).unwrap();
    let rows = table_rows(between(&text, "terms"));
    assert!(rows.len() >= 10, "{rows:?}");
    for row in rows {
        let [term, words, file] = row.as_slice() else { panic!("three cells: {row:?}") };
        let text = fs::read_to_string(root().join(file)).unwrap();
        assert!(text.contains(words), "{file} does not say '{words}' for '{term}'");
    }
}

/// Returns the comments of a source file as one text.
fn comments(path: &Path) -> String {
    let text = fs::read_to_string(path).unwrap();
    let lines = text.lines().filter_map(|line| line.trim_start().strip_prefix("//"));
    lines.map(|line| line.trim_start_matches(['/', '!'])).collect()
}

#[test]
fn messages_comments_and_documents_have_no_old_words() {
    let words = old_forms("everywhere").join("|");
    let old = Regex::new(&format!(r"(?i)\b(?:{words})\b")).unwrap();
    let mut paths = Vec::new();
    for folder in ["src", "tests", "benches"] {
        sources(&root().join(folder), &mut paths);
    }
    // The strings of tests are also the publishers' texts.
    let words_of = |path: &PathBuf| {
        let messages =
            if path.starts_with(root().join("src")) { said(path) } else { String::new() };
        (path.display().to_string(), comments(path) + &messages)
    };
    let mut texts: Vec<(String, String)> = paths.iter().map(words_of).collect();
    let documents = pages().into_iter().filter(|page| !page.ends_with("words.md"));
    texts.extend(
        documents.map(|page| (page.clone(), fs::read_to_string(root().join(page)).unwrap())),
    );
    let found: Vec<String> = texts
        .iter()
        .flat_map(|(place, text)| {
            old.find_iter(text).map(move |it| format!("{place}: '{}'", it.as_str()))
        })
        .collect();
    assert!(old.is_match("It stands in the list.") && texts.len() > 500);
    assert!(found.is_empty(), "docs/words.md says better words:\n{}", found.join("\n"));
}
