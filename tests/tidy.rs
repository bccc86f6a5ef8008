//! Tests of project rules: what each module may name, how a file starts, how long it may be and which words it may use.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test may panic"
)]

#[path = "tidy/circles.rs"]
mod circles;
#[path = "tidy/lexer.rs"]
mod lexer;
#[path = "tidy/names.rs"]
mod names;
#[path = "tidy/product.rs"]
mod product;
#[path = "tidy/sentences.rs"]
mod sentences;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use lexer::code_of;
use names::{empty_words, long_test_names};
use product::Module;

/// Maximum number of lines in a source file. One subject is one file, usually of 150 to 500 lines.
const LINES_MAX: usize = 800;
/// Maximum number of product lines of both crates together, as [`Module::lines`] counts them. Only an issue that states by how much
/// raises it; what makes the program smaller lowers it.
const PRODUCT_LINES_MAX: usize = 102_145;
/// Files that use each other in a circle, at most: three whose subjects belong together.
const CIRCLE_FILES_MAX: usize = 3;
/// Product lines of such a circle, at most, so that joining files is no way out of a larger one.
const CIRCLE_LINES_MAX: usize = 600;
/// Files in circles of any size, in both crates. It only goes down.
const IN_CIRCLES_MAX: usize = 8;
/// Top-level modules ("rooms") by layer; code in a room may use only its own room and rooms of earlier layers.
const FLOORS: [&[&str]; 12] = [
    &["words"],
    &["feed"],
    &["history", "schedule"],
    &["lint", "publish", "search", "simulate"],
    &["filters"],
    &["other_readers", "accounts"],
    &["demo"],
    &["engine"],
    &["ui"],
    &["view"],
    &["io"],
    &["cli"],
];
/// Rooms whose code must not use I/O, clocks or the environment.
const PURE: [&str; 15] = [
    "words",
    "feed",
    "history",
    "schedule",
    "lint",
    "publish",
    "search",
    "simulate",
    "filters",
    "other_readers",
    "accounts",
    "demo",
    "engine",
    "ui",
    "view",
];
/// Names of libraries and functions that only the rooms `io` and `cli` may use.
const WORLD: [&str; 9] = [
    "tokio",
    "reqwest",
    "sled",
    "std::fs",
    "std::env",
    "Utc::now",
    "Local::now",
    "Instant::now",
    "SystemTime::now",
];
/// Folders that cargo-fuzz writes and that are not part of the project.
const FUZZED: [&str; 4] =
    ["tests/fuzz/artifacts", "tests/fuzz/corpus", "tests/fuzz/coverage", "tests/fuzz/target"];
/// Words that mark unfinished work, each split so that this file does not contain it.
const UNFINISHED: [&str; 4] = [
    concat!("TO", "DO"),
    concat!("FIX", "ME"),
    concat!("to", "do!"),
    concat!("unimple", "mented!"),
];
/// Names of folders of one particular machine, each split so that this file does not contain it.
const MACHINE_PATHS: [&str; 3] = [concat!("/", "work"), concat!("/", "root"), concat!("/", "tmp")];

/// The file that escapes markup, which everything else uses; the one that lists how servers write a secret in it; and the demo's
/// publisher, which uses no other room.
const MARKUP_WRITERS: [&str; 3] =
    ["src/core/src/feed/text.rs", "src/core/src/accounts/secrets.rs", "src/demo/site.rs"];

/// Files outside the command line that write JSON by hand, because its form is of a protocol or has been promised to scripts. All others
/// derive it.
const JSON_WRITERS: [&str; 9] = [
    "src/core/src/accounts/miniflux.rs",
    "src/core/src/feed/report.rs",
    "src/core/src/lint/report.rs",
    "src/core/src/schedule/learning/learned_plan.rs",
    "src/core/src/schedule/plan.rs",
    "src/engine/entries/entry_view.rs",
    "src/engine/event_json.rs",
    "src/engine/entry_formats.rs",
    "src/io/downloads/player.rs",
];

/// Contents of files, by path relative to the project root.
type Files = BTreeMap<String, String>;

#[test]
fn pure_rooms_never_name_the_world() {
    none(&broken(
        &files("src"),
        |path, text| {
            if pure(path) { world_names(&code_of(text)) } else { Vec::new() }
        },
    ));
    let planted = "use std::{fmt, fs::File};\nfn a() { chrono::Utc::now(); } // tokio\n";
    assert_eq!(world_names(&code_of(planted)), ["std::fs", "Utc::now"]);
    assert_eq!(world_names(&code_of("fn misled() { say(\"sled\"); }")), [""; 0]);
}

#[test]
fn no_floor_reaches_down_the_list() {
    none(&broken(&files("src"), |path, text| match room(path) {
        Some(room) => lower_rooms(room, &code_of(text)),
        None => Vec::new(),
    }));
    let planted =
        "use crate::{feed::Entry, io::{http, store}};\nfn a() { super::super::cli::main() }";
    assert_eq!(lower_rooms("engine", &code_of(planted)), ["cli", "io"]);
    assert_eq!(lower_rooms("cli", &code_of(planted)), ["cli"; 0]);
    assert_eq!(lower_rooms("engine", "use crate::ui::app::App;"), ["ui"]);
    assert_eq!(lower_rooms("ui", "use crate::view::draw;"), ["view"]);
    assert_eq!(lower_rooms("history", "use crate::schedule::Plan;"), ["schedule"]);
    for planted in ["use crate::feed::Entry;", "use backissue_core::feed::Entry;"] {
        assert_eq!(lower_rooms("demo", planted), ["feed"], "demo uses no other room");
    }
}

#[test]
fn circles_of_files_are_small() {
    let (mut in_circles, mut offences) = (0, Vec::new());
    for (_, modules) in crates_of_product() {
        for circle in circles::circles(&modules) {
            let lines: usize = circle.iter().map(|module| modules[module].lines()).sum();
            in_circles += circle.len();
            if circle.len() > CIRCLE_FILES_MAX || lines > CIRCLE_LINES_MAX {
                offences.push(format!(
                    "{} files, {lines} lines: {}",
                    circle.len(),
                    circle.join(" ")
                ));
            }
        }
    }
    assert!(offences.is_empty(), "{}", offences.join("\n"));
    assert_eq!(
        in_circles, IN_CIRCLES_MAX,
        "files in circles: if there are fewer, lower the figure"
    );
}

#[test]
fn product_lines_stay_within_their_budget() {
    let crates = crates_of_product()
        .map(|(name, modules)| (name, modules.values().map(Module::lines).sum::<usize>()));
    let lines: usize = crates.iter().map(|(_, lines)| lines).sum();
    assert!(lines > 10_000, "{crates:?}");
    assert!(
        lines <= PRODUCT_LINES_MAX,
        "{lines} product lines, {PRODUCT_LINES_MAX} at most: {crates:?}"
    );
}

#[test]
fn the_map_in_the_crate_doc_lists_the_rooms_in_floor_order() {
    let libraries = ["src/core/src/lib.rs", "src/lib.rs"]
        .map(|path| fs::read_to_string(root().join(path)).unwrap())
        .concat();
    let listed: Vec<&str> = libraries
        .lines()
        .filter_map(|line| line.strip_prefix("//! | [`")?.split_once("`] |"))
        .map(|(room, _)| room)
        .collect();
    assert_eq!(listed, FLOORS.concat());
}

#[test]
fn every_source_file_starts_with_a_description() {
    let all = sources();
    none(&broken(
        &all,
        |_, text| if opens_well(text) { vec![] } else { vec!["no `//!` line".into()] },
    ));
    assert!(!opens_well("use std::fmt;\n"));
    assert!(!opens_well("//!\n"));
    assert!(opens_well("//! What it is.\n"));
}

#[test]
fn no_source_file_is_longer_than_the_limit() {
    let all = sources();
    none(&broken(&all, |_, text| too_long(text).into_iter().collect()));
    assert_eq!(too_long(&"\n".repeat(LINES_MAX)), None);
    assert_eq!(too_long(&"\n".repeat(LINES_MAX + 1)), Some("801 lines".to_owned()));
}

#[test]
fn only_one_screen_file_changes_the_engine() {
    let all = files("src");
    none(&broken(&all, |path, text| {
        let screen = path.starts_with("src/ui/") || path.starts_with("src/view/");
        // Only `App::ask` and `App::tell_engine` may change the engine (by passing inputs to it); all other code only reads it.
        let changes =
            |code: &str| code.contains("&mut app.engine") || code.contains("&mut self.engine");
        let way_in = path == "src/ui/follow.rs";
        if screen && !way_in && changes(&code_of(text)) {
            vec!["it changes the engine".into()]
        } else {
            vec![]
        }
    }));
}

#[test]
fn no_name_is_an_empty_word() {
    let crates = crates();
    let all = sources();
    none(&broken(&all, |path, text| {
        let mut found = empty_words(path.trim_end_matches(".rs"));
        found.extend(empty_words(&code_of(text)));
        found.retain(|name| !crates.contains(name));
        found
    }));
    let planted = "struct KeyHandler; fn text_utils() {} let x = \"helper\"; // misc";
    assert_eq!(empty_words(&code_of(planted)), ["KeyHandler", "text_utils"]);
    assert_eq!(empty_words("src/misc"), ["misc"]);
    assert_eq!(empty_words("fn commonwealth() {}"), [""; 0]);
}

#[test]
fn no_test_name_is_longer_than_the_limit() {
    none(&broken(&sources(), |_, text| long_test_names(&code_of(text))));
    let (longest, longer) = ("a".repeat(60), "b".repeat(61));
    let planted = format!(
        "#[test]\nfn {longest}() {{}}\n#[tokio::test]\nasync fn {longer}() {{}}\nfn c{longer}() {{}}"
    );
    assert_eq!(long_test_names(&planted), [longer]);
}

#[test]
fn markup_is_escaped_in_one_place() {
    none(&broken(&files("src"), |path, text| {
        let product = text.split("#[cfg(test)]").next().unwrap_or_default();
        let is_known = MARKUP_WRITERS.contains(&path);
        if is_known || !writes_references(product) {
            vec![]
        } else {
            vec!["it escapes markup".into()]
        }
    }));
    for planted in
        ["text.replace('&', \"&amp;\")", "'&' => out.push_str(\"&amp;\"),", "b'&' => \"&amp;\","]
    {
        assert!(writes_references(planted), "{planted}");
    }
    assert!(!writes_references("const PARTS: [&str; 2] = [\"&amp;\", \"&lt;\"];"));
}

#[test]
fn json_is_derived_and_failures_are_typed() {
    none(&broken(&files("src"), |path, text| {
        let product = text.split("#[cfg(test)]").next().unwrap_or_default();
        let may_write = path.contains("src/cli/")
            || path.contains("/examples/")
            || JSON_WRITERS.contains(&path);
        let is_test = path.ends_with("tests.rs") || path.contains("/tests/");
        let mut flaws = Vec::new();
        if product.contains("json!(") && !may_write && !is_test {
            flaws.push("it writes JSON by hand".into());
        }
        if reads_words(product) && !is_test {
            flaws.push("it reads the words of a failure".into());
        }
        flaws
    }));
    assert!(reads_words("Reason::Unanswered(why) if why.starts_with(\"answered \")"));
    assert!(reads_words("failure.to_string().strip_prefix(\"not \")"));
    assert!(!reads_words("name.starts_with(\"user/\")"));
}

/// Checks whether code takes decisions by the text of a failure.
fn reads_words(code: &str) -> bool {
    let failures = ["why", "reason", "failure", "fault", "flaw"];
    let looks = [".starts_with(", ".strip_prefix("];
    let of = |name: &str, look: &str| {
        let direct = [format!(" {name}{look}"), format!("({name}{look}")];
        direct.iter().any(|text| code.contains(text.as_str()))
            || code.contains(&format!("{name}.to_string(){look}"))
    };
    failures.iter().any(|name| looks.iter().any(|look| of(name, look)))
}

#[test]
fn only_one_test_file_names_the_work_of_the_store() {
    let port = "tests/it/support/store_port.rs";
    none(&broken(&files("tests"), |path, text| {
        let names_it = path != port && text.contains(concat!("engine::store", "_work"));
        names_it.then(|| format!("only {port} may name it")).into_iter().collect()
    }));
}

#[test]
fn nothing_is_marked_as_unfinished() {
    none(&broken(&everything(), |_, text| unfinished(text)));
    let planted = concat!("// TO", "DO: later\nfn a() { to", "do!() }");
    assert_eq!(unfinished(planted).len(), 2);
    assert_eq!(unfinished("method!()"), [""; 0]);
}

#[test]
fn no_file_names_a_folder_of_one_machine() {
    none(&broken(&everything(), |_, text| machine_paths(text)));
    assert_eq!(machine_paths(concat!("see /", "work/notes")).len(), 1);
    assert_eq!(machine_paths(concat!("\"/", "tmp\"")).len(), 1);
    assert_eq!(machine_paths("https://site.example/works and /roots"), [""; 0]);
}

#[test]
fn the_lexer_keeps_code_and_drops_comments_and_texts() {
    for (text, expected) in [
        ("a /* b /* c */ d */ e", "a  e"),
        ("a // b\nc", "a \nc"),
        ("f(\"x \\\" y\", 'z', '\\'', b\"q\")", "f(\"\", '', '', b\"\")"),
        ("r#\"a \" b\"# c r\"d\" e", "r\"\" c r\"\" e"),
        ("fn f<'a>(x: &'a str) {}", "fn f<'a>(x: &'a str) {}"),
        ("\"http://x\" y", "\"\" y"),
    ] {
        assert_eq!(code_of(text), expected, "{text}");
    }
}

/// Fails if the list of offences is not empty, printing each offence on a separate line.
fn none(offences: &[String]) {
    assert!(offences.is_empty(), "\n{}", offences.join("\n"));
}

fn broken(files: &Files, rule: impl Fn(&str, &str) -> Vec<String>) -> Vec<String> {
    assert!(!files.is_empty(), "there is nothing to check");
    let offences = files.iter().flat_map(|(path, text)| {
        rule(path, text).into_iter().map(move |offence| format!("{path}: {offence}"))
    });
    offences.collect()
}

fn world_names(code: &str) -> Vec<String> {
    let paths = used_paths(code);
    let named = |name: &&&str| {
        word_at(code, name).is_some() || paths.iter().any(|path| word_at(path, name).is_some())
    };
    WORLD.iter().filter(named).map(ToString::to_string).collect()
}

/// Returns the rooms that `code` names although code in `room` may not use them, in alphabetical order.
fn lower_rooms(room: &str, code: &str) -> Vec<String> {
    let floor = |room: &str| FLOORS.iter().position(|rooms| rooms.contains(&room));
    let may_use = |other: &str| {
        room == other || (room != "demo" && floor(other).is_some() && floor(other) < floor(room))
    };
    let paths = used_paths(code);
    let names = |other: &&str| {
        let stems = ["crate", "super", "backissue_core"].map(|from| format!("{from}::{other}"));
        stems.iter().any(|stem| {
            word_at(code, stem).is_some() || paths.iter().any(|path| word_at(path, stem).is_some())
        })
    };
    let mut found: Vec<String> = FLOORS
        .concat()
        .into_iter()
        .filter(|other| !may_use(other))
        .filter(names)
        .map(str::to_owned)
        .collect();
    found.sort();
    found
}

/// Checks whether code replaces a character by a reference.
fn writes_references(code: &str) -> bool {
    let code: String = code.split_whitespace().collect();
    ["=>\"&amp;\"", "',\"&amp;\")", "push_str(\"&amp;\")", "\"&\",\"&amp;\")"]
        .iter()
        .any(|form| code.contains(form))
}

fn opens_well(text: &str) -> bool {
    text.lines().next().is_some_and(|line| line.starts_with("//! ") && line.len() > 8)
}

fn too_long(text: &str) -> Option<String> {
    let lines = text.lines().count();
    (lines > LINES_MAX).then(|| format!("{lines} lines"))
}

fn unfinished(text: &str) -> Vec<String> {
    let marks = UNFINISHED.iter().filter(|mark| word_at(text, mark).is_some());
    marks.map(ToString::to_string).collect()
}

fn machine_paths(text: &str) -> Vec<String> {
    let named = |path: &&&str| {
        text.match_indices(**path).any(|(at, _)| {
            let after = text[at + path.len()..].chars().next();
            let before = text[..at].chars().next_back();
            !after.is_some_and(|char| char.is_alphanumeric() || matches!(char, '-' | '_' | '.'))
                && !before.is_some_and(|char| char.is_alphanumeric() || char == '}')
        })
    };
    MACHINE_PATHS.iter().filter(named).map(ToString::to_string).collect()
}

/// Returns the position of `word` in `text`, where it must not be part of a longer name.
fn word_at(text: &str, word: &str) -> Option<usize> {
    let in_name = |char: char| char.is_alphanumeric() || char == '_';
    text.match_indices(word).map(|(at, _)| at).find(|&at| {
        let before = text[..at].chars().next_back();
        let after = text[at + word.len()..].chars().next();
        !before.is_some_and(in_name) && (word.ends_with('!') || !after.is_some_and(in_name))
    })
}

/// Returns the paths of all `use` items with groups expanded: `use a::{b, c::d};` gives `a::b` and `a::c::d`.
fn used_paths(code: &str) -> Vec<String> {
    let mut paths = Vec::new();
    for item in code.split(';') {
        let Some(at) = word_at(item, "use") else { continue };
        let tree: String = item[at + 3..].split_whitespace().collect();
        write_out("", &tree, &mut paths);
    }
    paths
}

fn write_out(stem: &str, tree: &str, paths: &mut Vec<String>) {
    let Some(open) = tree.find('{') else {
        // Nothing follows the last comma of a group.
        paths.extend((!tree.is_empty()).then(|| format!("{stem}{tree}")));
        return;
    };
    let stem = format!("{stem}{}", &tree[..open]);
    let inside = tree[open + 1..].trim_end_matches(';');
    let (mut depth, mut from) = (0_usize, 0);
    for (at, char) in inside.char_indices() {
        match char {
            '{' => depth += 1,
            '}' if depth > 0 => depth -= 1,
            ',' | '}' if depth == 0 => {
                write_out(&stem, &inside[from..at], paths);
                from = at + 1;
                if char == '}' {
                    return;
                }
            }
            _ => {}
        }
    }
}

fn room(path: &str) -> Option<&str> {
    let outer = path.strip_prefix("src/").filter(|inside| !inside.starts_with("core/"));
    let inside = path.strip_prefix("src/core/src/").or(outer)?;
    Some(inside.split_once('/')?.0)
}

fn pure(path: &str) -> bool {
    room(path).is_some_and(|room| PURE.contains(&room))
}

fn is_rust(path: &str) -> bool {
    Path::new(path).extension().is_some_and(|ending| ending == "rs")
}

/// Returns the names of all dependencies as written in code; the rules on names do not apply to them.
fn crates() -> Vec<String> {
    let manifests = ["Cargo.toml", "src/core/Cargo.toml"]
        .map(|path| fs::read_to_string(root().join(path)).unwrap())
        .concat();
    let names =
        manifests.lines().filter_map(|line| Some(line.split_once(" = ")?.0.replace('-', "_")));
    names.collect()
}

/// Returns the product code of both crates, each with its name.
fn crates_of_product() -> [(&'static str, product::Modules); 2] {
    let all = files("src");
    [
        ("backissue", product::product(&all, "src/", "src/core/")),
        ("backissue-core", product::product(&all, "src/core/src/", "")),
    ]
}

/// Returns all Rust files of the project.
fn sources() -> Files {
    let mut all = files("src");
    all.extend(files("tests"));
    all.retain(|path, _| is_rust(path));
    all
}

fn everything() -> Files {
    let mut all = files("src");
    for folder in ["tests", "assets", "docs"] {
        all.extend(files(folder));
    }
    for page in ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md"] {
        all.insert(page.into(), fs::read_to_string(root().join(page)).unwrap());
    }
    all
}

fn files(folder: &str) -> Files {
    let mut found = Files::new();
    collect(folder, &mut found);
    found
}

fn collect(folder: &str, found: &mut Files) {
    for entry in fs::read_dir(root().join(folder)).unwrap() {
        let entry = entry.unwrap();
        let path = format!("{folder}/{}", entry.file_name().to_string_lossy());
        if FUZZED.contains(&path.as_str()) {
            continue;
        }
        if entry.file_type().unwrap().is_dir() {
            collect(&path, found);
        } else {
            let bytes = fs::read(entry.path()).unwrap();
            found.insert(path, String::from_utf8_lossy(&bytes).into_owned());
        }
    }
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}
