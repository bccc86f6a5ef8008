//! Checks that what the documents refer to exists: project files, other documents, headings, and top-level modules ("rooms").

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use regex::Regex;

use super::pages::{page, pages, root, table_rows};

/// Returns the project paths in backticks that a text names and that do not exist.
fn missing_paths(text: &str) -> Vec<String> {
    let named = Regex::new(r"`((?:src|tests|assets|docs|benches)/[^`\s]*)`").unwrap();
    let paths = named.captures_iter(text).map(|found| found[1].to_owned());
    paths.filter(|path| !root().join(path.trim_end_matches('/')).exists()).collect()
}

/// Returns the links of a document whose file or heading does not exist.
fn broken_links(path: &str, text: &str) -> Vec<String> {
    let link = Regex::new(r"\]\(([^)\s]+)\)").unwrap();
    let targets = link.captures_iter(text).map(|found| found[1].to_owned());
    let own = targets.filter(|target| !target.contains("://"));
    own.filter(|target| !leads(path, text, target)).collect()
}

fn leads(path: &str, text: &str, target: &str) -> bool {
    let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
    let text = if file.is_empty() {
        text.to_owned()
    } else {
        let folder = Path::new(path).parent().unwrap_or(Path::new(""));
        let file = root().join(folder).join(file);
        match fs::read_to_string(&file) {
            Ok(text) => text,
            Err(_) => return file.exists() && anchor.is_empty(),
        }
    };
    anchor.is_empty() || anchors(&text).contains(anchor)
}

/// Returns the anchors by which links reach a document's headings.
fn anchors(text: &str) -> BTreeSet<String> {
    let headings = text.lines().filter(|line| line.starts_with('#'));
    let slug = |heading: &str| {
        let words = heading.trim_start_matches('#').trim().to_lowercase();
        let kept =
            words.chars().filter(|char| char.is_alphanumeric() || matches!(char, ' ' | '-' | '_'));
        kept.map(|char| if char == ' ' { '-' } else { char }).collect()
    };
    headings.map(slug).collect()
}

#[test]
fn every_path_named_in_a_document_exists() {
    let (mut named, mut missing) = (0, Vec::new());
    for path in pages() {
        let text = page(&path);
        named += text.matches("`src/").count();
        missing.extend(missing_paths(&text).into_iter().map(|lost| format!("{path}: {lost}")));
    }
    assert!(named > 80, "only {named} paths were found");
    assert!(missing.is_empty(), "\n{}", missing.join("\n"));
    let planted = "open `src/lib.rs` and `src/nowhere/at_all.rs`, below `tests/`";
    assert_eq!(missing_paths(planted), ["src/nowhere/at_all.rs"]);
}

#[test]
fn every_link_between_documents_resolves() {
    let broken: Vec<String> = pages()
        .into_iter()
        .flat_map(|path| {
            let broken = broken_links(&path, &page(&path));
            broken.into_iter().map(move |link| format!("{path}: {link}"))
        })
        .collect();
    assert!(broken.is_empty(), "\n{}", broken.join("\n"));
    let planted =
        "[a](docs/README.md) [b](docs/none.md) [c](#two-words) [d](#three)\n## Two words\n";
    assert_eq!(broken_links("README.md", planted), ["docs/none.md", "#three"]);
}

#[test]
fn links_of_the_book_stay_in_the_book() {
    let pages = |text: &str| {
        let link = Regex::new(r"\]\(([^)#\s]+\.md)").unwrap();
        link.captures_iter(text).map(|found| found[1].to_owned()).collect::<Vec<String>>()
    };
    let listed = pages(&page("docs/SUMMARY.md"));
    // mdBook shows the first page as index.html, too, so that its links start at the top.
    assert!(!listed[0].contains('/'), "{}", listed[0]);
    for chapter in &listed {
        let folder = if chapter.starts_with("guide/") { "guide/" } else { "" };
        for link in pages(&page(&format!("docs/{chapter}"))) {
            let target = match link.strip_prefix("../") {
                Some(above) => above.to_owned(),
                None => format!("{folder}{link}"),
            };
            assert!(link.contains("://") || listed.contains(&target), "{chapter}: {link}");
        }
    }
}

#[test]
fn the_index_leads_to_every_document() {
    let index = page("docs/README.md") + &page("docs/SUMMARY.md");
    for path in pages() {
        let Some(name) = path.strip_prefix("docs/").filter(|name| *name != "README.md") else {
            continue;
        };
        assert!(index.contains(&format!("({name})")), "docs/README.md does not name {name}");
    }
}

#[test]
fn the_readme_is_short_and_names_what_people_look_for() {
    let text = page("README.md");
    let lines = text.lines().count();
    assert!(lines <= 120, "{lines} lines");
    for word in ["sync", "account", "FreshRSS", "Miniflux", "search", "podcasts", "newsboat"] {
        assert!(text.contains(word), "{word}");
    }
}

#[test]
fn the_table_of_changes_names_a_place_for_each() {
    let text = page("docs/architecture.md");
    let (_, table) = text.split_once("## Where to change what\n").unwrap();
    let (table, _) = table.split_once("\n## ").unwrap();
    let rows = table_rows(table);
    assert!(rows.len() >= 25, "{} rows", rows.len());
    for row in rows {
        let [_, place] = row.as_slice() else { panic!("two cells: {row:?}") };
        assert!(place.contains("src/") || place.contains("assets/"), "{row:?}");
        // A code item named after a file must occur in that file.
        let mut file = None;
        for quoted in place.split('`').skip(1).step_by(2) {
            if Path::new(quoted).extension().is_some_and(|extension| extension == "rs") {
                file = Some(quoted);
            } else if let Some(file) = file.filter(|_| is_a_name(quoted)) {
                let name = quoted.rsplit("::").next().unwrap_or(quoted);
                assert!(page(file).contains(name), "{file} does not name {quoted}");
            }
        }
    }
}

#[test]
fn the_map_of_tests_names_every_subject() {
    let text = page("docs/architecture.md");
    let (_, map) = text.split_once("## Where a feature is tested\n").unwrap();
    let rows = table_rows(map.split_once("\n## ").unwrap().0);
    assert!(rows.iter().all(|row| row.len() == 2 && row[1].contains("tests/")), "{rows:?}");
    let folders = fs::read_dir(root().join("tests/it")).unwrap().map(|found| found.unwrap().path());
    for folder in folders.filter(|path| path.is_dir()) {
        let name = folder.file_name().unwrap().to_str().unwrap().to_owned();
        let is_subject = !["support", "fixtures", "docs"].contains(&name.as_str());
        let place = format!("`tests/it/{name}/");
        assert!(!is_subject || map.contains(&place), "the map does not name {place}`");
    }
}

/// Checks whether a quoted text is the name of a code item, such as `Gap::text` or `GapLines`.
fn is_a_name(quoted: &str) -> bool {
    quoted.starts_with(char::is_uppercase)
        && quoted.split("::").all(|part| !part.contains(['/', ' ', '-', '.']))
}

#[test]
fn documented_rooms_match_the_crate_order() {
    let library = [page("src/core/src/lib.rs"), page("src/lib.rs")].concat();
    let listed: Vec<&str> = library
        .lines()
        .filter_map(|line| line.strip_prefix("//! | [`")?.split_once("`] |"))
        .map(|(room, _)| room)
        .collect();
    let text = page("docs/architecture.md");
    let (_, rooms) = text.split_once("## Rooms\n").unwrap();
    let (rooms, _) = rooms.split_once("\n## ").unwrap();
    let rooms: Vec<String> = table_rows(rooms)
        .iter()
        .map(|row| row[0].trim_start_matches("src/core/"))
        .map(|row| row.trim_start_matches("src/").trim_end_matches('/').trim_end_matches(".rs"))
        .map(str::to_owned)
        .collect();
    assert!(listed.len() > 10, "{listed:?}");
    assert_eq!(rooms, listed);
}
