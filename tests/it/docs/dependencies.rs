//! Checks that every dependency is listed with its purpose, and that every threat in `SECURITY.md` has its named test.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use regex::Regex;

use super::pages::root;

/// Returns the cells in backticks from the first column of a document's tables.
fn first_column(text: &str) -> BTreeSet<String> {
    let cell = Regex::new(r"(?m)^\| `([^`]+)` \|").unwrap();
    cell.captures_iter(text).map(|found| found[1].to_owned()).collect()
}

#[test]
fn every_dependency_is_listed_with_its_purpose() {
    let manifest = |path: &str| -> toml::Table {
        fs::read_to_string(root().join(path)).unwrap().parse().unwrap()
    };
    let (program, core) = (manifest("Cargo.toml"), manifest("src/core/Cargo.toml"));
    let tables = [&program["dependencies"], &core["dependencies"]];
    assert!(program.get("target").is_none(), "code that uses it would not build elsewhere");
    let names: BTreeSet<String> =
        tables.iter().flat_map(|table| table.as_table().unwrap().keys().cloned()).collect();
    let listed = first_column(&fs::read_to_string(root().join("docs/dependencies.md")).unwrap());
    assert_eq!(listed, names);
}

fn rust_files(folder: &Path, text: &mut String) {
    for file in fs::read_dir(folder).unwrap().flatten() {
        if file.file_type().unwrap().is_dir() {
            rust_files(&file.path(), text);
        } else if file.path().extension().is_some_and(|ending| ending == "rs") {
            text.push_str(&fs::read_to_string(file.path()).unwrap());
        }
    }
}

#[test]
fn every_threat_has_its_named_test() {
    let page = fs::read_to_string(root().join("SECURITY.md")).unwrap();
    let named = Regex::new(r"`([a-z0-9]+(?:_[a-z0-9]+){3,})`").unwrap();
    let named: BTreeSet<String> = named.captures_iter(&page).map(|it| it[1].to_owned()).collect();
    assert!(named.len() >= 15, "{named:?}");
    let mut code = String::new();
    rust_files(&root().join("src"), &mut code);
    rust_files(&root().join("tests"), &mut code);
    let missing: Vec<&String> =
        named.iter().filter(|name| !code.contains(&format!("fn {name}("))).collect();
    assert!(missing.is_empty(), "{missing:?}");
}
