//! Documents and servers of the second list of bug reports, in the folder that `BACKISSUE_WILD2` names, and what a reader must see.

use std::path::{Path, PathBuf};

use backissue::io::http::article::extract_article;

use super::servers::Served;
use crate::support::binary::{Program, wait_until};

/// Returns the folder that `BACKISSUE_WILD2` names; prints a message and returns `None` if the variable is not set.
pub(super) fn folder() -> Option<PathBuf> {
    let folder = std::env::var_os("BACKISSUE_WILD2").map(PathBuf::from);
    if folder.is_none() {
        crate::feeds::corpus::tell("BACKISSUE_WILD2 is not set: nothing is checked");
    }
    folder
}

/// Subscribes to a file, and returns what `show` prints for each of its entries.
fn shown(file: &Path) -> Vec<String> {
    let program = Program::new();
    program.run(&["add", &format!("file://{}", file.display())]).with(0);
    let entries = program.run(&["entries", "--json"]).with(0).json();
    let show = |number: usize| program.run(&["show", &format!("1.{number}")]).with(0).out;
    (0..entries.as_array().unwrap().len()).map(show).collect()
}

/// Checks that the text of each entry of a case contains these parts, and does not contain those that begin with `!`.
fn check(case: &str, expected: &[&[&str]]) {
    let Some(folder) = folder() else { return };
    let shown = shown(&folder.join(case));
    assert_eq!(shown.len(), expected.len(), "{case}");
    for (text, parts) in shown.iter().zip(expected) {
        for part in *parts {
            let (is_wanted, part) =
                part.strip_prefix('!').map_or((true, *part), |part| (false, part));
            assert_eq!(text.contains(part), is_wanted, "{case}: {part:?} in\n{text}");
        }
    }
}

#[test]
fn formulas_keep_their_structure() {
    check("01-katex-twice/feed.xml", &[&["The area is A=πr² for every pond."], &["\na/b+1\n"]]);
    check(
        "02-mathml/feed.xml",
        &[
            &["Half is 1/2 of"],
            &["x²+yᵢ is"],
            &["√2 exactly"],
            &["Mean (a+b)/2 taken"],
            &["E=mc² since"],
        ],
    );
}

#[test]
fn code_lists_and_tables_are_shown_as_meant() {
    check(
        "03-code-line-numbers/feed.xml",
        &[
            &["name = \"pond\"\ndepth = 3"],
            &["make all\nmake install"],
            &["cd pond\nls -l"],
            &["let a = 1;\n  use(a);", "!1\n"],
            &["alpha()\nbeta()", "!1alpha"],
            &["(setq a 1)\n(setq b 2)"],
        ],
    );
    check("04-lists/feed.xml", &[&[], &["3. x\n2. y\n1. z"], &[], &[], &[], &["10. ten"], &[]]);
    check(
        "32-list-directly-in-list/feed.xml",
        &[
            &["• Monday\n  ◦ swim\n  ◦ eat\n• Tuesday"],
            &["1. First step\n   1. detail one\n   2. detail two\n2. Second step\n   ◦ note"],
            &["• A\n  ◦ B\n    – C\n  ◦ D\n• E"],
        ],
    );
    check(
        "39-mail-tables/feed.xml",
        &[&["!│", "Next"], &["An otter"], &["Read online[1]"], &["│ Gate open"], &["!│"], &["│"]],
    );
    check(
        "29-pre-wrap/feed.xml",
        &[&["water has\nrisen", "hand\n\n* first point\n* second point"]],
    );
    check(
        "38-white-space-styles/feed.xml",
        &[
            &["message\nsecond line\n\n    indented"],
            &["swim\nTuesday"],
            &["def dive():\n    return 1"],
        ],
    );
    check(
        "36-heading-anchors/feed.xml",
        &[&["One\n", "!#", "![1]"], &["Install\n", "![1]"], &["One\n", "!Section", "![1]"]],
    );
}

#[test]
fn direction_is_the_declared_one() {
    check(
        "21-rtl/feed.xml",
        &[&["      Pictier"], &["        פריט ראשון •", "        ציטוט │"], &[]],
    );
}

#[test]
fn pictures_and_players_leave_their_links() {
    let Some(folder) = folder() else { return };
    let all = shown(&folder.join("10-lazy-images/feed.xml")).concat();
    for number in 1..=12 {
        assert!(
            all.lines()
                .any(|line| line.starts_with('[') && line.contains(&format!("real{number}"))),
            "{number}: {all}"
        );
    }
    let is_dropped = |file: &str| !all.contains(file);
    assert!(["placeholder.svg", "blank.gif", "lazyload.gif"].into_iter().all(is_dropped), "{all}");
    check(
        "11-embeds/feed.xml",
        &[
            &["youtube.com/embed/AAAAAAAAAAA"],
            &["player.vimeo.com/video/123", "dailymotion.com/embed/video/x1"],
            &["a.mp4", "a.ogg"],
            &["old.swf"],
            &["Amp picture", "watch?v=AAAAAAAAAAA"],
            &["watch?v=AAAAAAAAAAA"],
            &["before", "after"],
        ],
    );
    check(
        "33-mastodon-pictures/feed.xml",
        &[
            &["[image: A heron on one leg in the reeds][1]", "[image: The same heron, flying][2]"],
            &["Map of the lake with the closed shore in red\n", "c.png"],
            &["A film"],
        ],
    );
}

#[test]
fn texts_authors_and_dates_are_those_of_the_publisher() {
    check(
        "13-double-escaped/feed.xml",
        &[
            &["by two metres in May.\n\nSee the map[1]."],
            &["First paragraph.\n\nSecond"],
            &["<iframe>", "<b>never</b>"],
            &[],
        ],
    );
    check(
        "31-content-choice/feed.xml",
        &[
            &["Full text A"],
            &["Only text B"],
            &["c.jpg", "long description C"],
            &["Short D"],
            &["Full text E"],
            &["Caption F"],
            &["Full text G"],
            &["XHTML body H"],
        ],
    );
    check(
        "37-external-url/feed.json",
        &[&["https://other.example/article"], &["https://other.example/only"], &[]],
    );
    let Some(folder) = folder() else { return };
    for (file, authors) in [
        ("rss.xml", &["Ada Otter, Bo Heron, Cy Swan", "A. Otter, B. Heron"][..]),
        ("atom.xml", &["Ada Otter, Bo Heron"]),
        ("feed.json", &["Ada, Bo"]),
    ] {
        let file = folder.join("16-authors").join(file);
        let parsed =
            Program::new().run(&["parse", &file.display().to_string(), "--json"]).with(0).json();
        for (entry, expected) in parsed["entries"].as_array().unwrap().iter().zip(authors) {
            assert_eq!(entry["author"].as_str(), Some(*expected), "{}", file.display());
        }
    }
    let file = folder.join("23-journal-dates/feed.xml");
    let parsed =
        Program::new().run(&["parse", &file.display().to_string(), "--json"]).with(0).json();
    let dates = parsed["entries"].as_array().unwrap().iter().map(|entry| {
        entry["published"].as_str().unwrap_or_default().get(..10).unwrap_or_default().to_owned()
    });
    assert_eq!(dates.collect::<Vec<_>>(), ["2026-10-05", "2026-09-01", "2026-08-01", "2026-07-01"]);
}

#[test]
fn joined_emoji_stay_and_letter_forms_are_found() {
    let titles = [
        "Flag \u{1f3f3}\u{fe0f}\u{200d}\u{1f308} x",
        "The oﬃce",
        "جمـيل",
        "ﾊﾟﾝ",
        "\u{1112}\u{1161}\u{11ab}\u{1100}\u{116e}\u{11a8}",
    ];
    let items: String = titles
        .iter()
        .map(|title| format!("<item><title>{title}</title><guid>{title}</guid></item>"))
        .collect();
    let program = Program::new();
    let file = program.path("feed.xml");
    std::fs::write(&file, format!("<rss><channel><title>t</title>{items}</channel></rss>"))
        .unwrap();
    program.run(&["add", &format!("file://{}", file.display())]).with(0);
    let listed = program.run(&["entries", "--json"]).with(0).json();
    let listed: Vec<&str> =
        listed.as_array().unwrap().iter().filter_map(|entry| entry["title"].as_str()).collect();
    assert!(listed.contains(&titles[0]), "{listed:?}");
    for (query, title) in
        [("office", titles[1]), ("جميل", "جم"), ("パン", titles[3]), ("한국", titles[4])]
    {
        let found = program.run(&["search", "--", query]).out.replace(['«', '»'], "");
        assert!(found.contains(title), "{query}: {found}");
    }
}

#[test]
fn files_are_received_by_their_newest_addresses() {
    let Some(folder) = folder() else { return };
    let script = folder.join("72-expiring-enclosures/handler.py");
    let Some(served) = Served::start_file(&folder, &script) else { return };
    served.add("/feed");
    let program = &served.program;
    program.run(&["downloads", "add", "1.0"]).with(0);
    // Of two copies that were fetched in the same second, the first one stays.
    let second = || chrono::Utc::now().timestamp();
    let added = second();
    wait_until("the second ends", || second() > added);
    served.poll();
    program.run(&["downloads", "run"]).with(0);
    served.poll();
    let again = program.run(&["downloads", "add", "1.0"]);
    assert!(again.out.contains("already") || again.err.contains("already"), "{again:#?}");
    let list = program.run(&["downloads"]).with(0).out;
    assert!(!list.contains("failed") && !list.contains("(2)"), "{list}");

    let Some(served) = Served::start_file(&folder, &folder.join("73-downloads/pods.py")) else {
        return;
    };
    served.add("/feed");
    for number in 0..13 {
        served.program.run(&["downloads", "add", &format!("1.{number}")]).with(0);
    }
    served.program.run(&["downloads", "run"]);
    let list = served.program.run(&["downloads"]).with(0).out;
    let state = |title: &str| {
        let row = list.lines().find(|line| line.contains(title));
        row.is_some_and(|row| row.contains("failed"))
    };
    assert!(!state("chain9") && state("empty") && state("head404"), "{list}");
}

/// What must be in the text of each page of case 69.
const PAGES: [(&str, &[&str]); 20] = [
    ("list", &["ITEM0", "ITEM9", "Short intro"]),
    ("table", &["POND0", "POND5", "twenty-four", "word2-3"]),
    ("headings", &["HEADING0", "HEADING3", "word3-2"]),
    ("shortqa", &["QUESTION0", "QUESTION7"]),
    ("thread", &["FIRSTPOST"]),
    ("image", &["COMICALT", "COMICCAPTION"]),
    ("recipe", &["INGREDIENT1", "INGREDIENT2", "STEP1", "STEP2"]),
    ("video", &["youtube.com", "word2-3"]),
    ("code", &["fn CODE() {", "    dive();"]),
    ("divs", &["DIVTEXT0", "DIVTEXT4"]),
    ("br", &["BRTEXT1", "BRTEXT5"]),
    ("japanese", &["段落0", "段落5"]),
    ("jsonld", &["JSONLDBODY"]),
    ("lazy", &["LAZYALT", "word2-3"]),
    ("latin1", &["Überschwemmung", "Straße"]),
    ("split", &["word1-2", "PARTTWO", "word3-2", "PARTTHREE", "word4-2"]),
    ("lead", &["LEADTEXT", "word3-2"]),
    ("dl", &["TERM1", "DEF2"]),
    ("footnote", &["FOOTNOTE1"]),
    ("hidden", &["word1-2", "DETAILTEXT"]),
];

/// What must not be in the text of any page.
const SURROUNDINGS: [&str; 9] = [
    "SIDEBAR",
    "COMMENT 1",
    "RELATED other",
    "COOKIE",
    "FOOTER",
    "AD Buy",
    "NEWSLETTER",
    "VISITORTEXT",
    "15 thoughts",
];

#[test]
fn full_text_of_a_page_is_its_article() {
    let Some(folder) = folder() else { return };
    let script = folder.join("69-full-text/handler.py");
    let Some(served) = Served::start_file(&folder, &script) else { return };
    let pages = PAGES.map(|(name, parts)| (format!("/ft/page/{name}"), parts));
    let post = ("/wpc/2026/11/short-post/".to_owned(), &["POSTTEXT", "Thanks to all"][..]);
    for (path, wanted) in pages.into_iter().chain([post]) {
        let text = extract_article(&served.get(&path), &served.at(&path), Some("text/html"));
        let text = text.unwrap_or_else(|why| panic!("{path}: {why}"));
        for part in wanted {
            assert!(text.contains(part), "{path}: {part} is not in {text}");
        }
        for part in SURROUNDINGS {
            assert!(!text.contains(part), "{path}: {part} is in {text}");
        }
    }
}
