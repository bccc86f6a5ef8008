//! Checks that every test exists that a conformance sheet (a table of requirements and their tests) names.

use std::collections::BTreeSet;
use std::fs;

use super::citations;
use super::pages::{files_below, page, pages, table_rows};

/// Returns the rows of the conformance sheets in all documents: requirement, citation, test.
fn sheets() -> Vec<Vec<String>> {
    let texts: Vec<String> = pages().iter().map(|path| page(path)).collect();
    let parts = texts.iter().flat_map(|text| text.split("<!-- conformance -->").skip(1));
    let sheets = parts.map(|part| part.split_once("<!-- /conformance -->").unwrap().0);
    sheets.flat_map(table_rows).collect()
}

#[test]
fn every_test_of_a_conformance_sheet_exists() {
    let rows = sheets();
    assert!(rows.len() > 60, "{}", rows.len());
    let files = ["src", "tests"].into_iter().flat_map(files_below);
    let mut tests = BTreeSet::new();
    for path in files.filter(|path| path.extension().is_some_and(|end| end == "rs")) {
        let text = fs::read_to_string(path).unwrap();
        let named = text.split("test]\n").skip(1).filter_map(|test| test.split_once("fn "));
        tests.extend(named.filter_map(|(_, test)| Some(test.split_once('(')?.0.to_owned())));
    }
    for row in rows {
        let [_, _, name] = row.as_slice() else { panic!("three cells: {row:?}") };
        assert!(tests.contains(name), "there is no test {name}");
    }
}

#[test]
fn every_cited_rule_of_a_conformance_sheet_exists() {
    let labels = citations::labels(&page("docs/specification.md"));
    for row in sheets() {
        for label in row[1].split(", ") {
            assert!(labels.contains(label), "{label} in {row:?}");
        }
    }
    assert!(!labels.contains("Z.9"));
}
