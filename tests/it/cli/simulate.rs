//! `simulate` through the real binary, on small generated histories.

use serde_json::{Value, json};

use crate::support::binary::Program;

/// The Monday 2026-01-05T00:00:00Z, in minutes since the Unix epoch.
const MONDAY: i64 = 1_767_571_200 / 60;
const DAY: i64 = 1440;

/// Returns a feed's history of eight weeks as JSON: each working day has twelve publications half an hour apart, and one at a
/// varying time.
fn history(name: &str, panel: &str) -> String {
    let days = (0..56).filter(|day: &i64| day % 7 < 5);
    let minutes = days.flat_map(|day| {
        let mut times: Vec<i64> = (0..12).map(|number| 541 + number * 30).collect();
        times.push(1000 + day * 37 % 300);
        times.into_iter().map(move |minute| MONDAY + day * DAY + minute)
    });
    let minutes: Vec<i64> = minutes.collect();
    let end = MONDAY + 56 * DAY;
    json!({ "name": name, "start": MONDAY, "end": end, "panel": panel, "minutes": minutes })
        .to_string()
}

/// Returns the numbers in the row `name` of a printed table.
pub(super) fn row(table: &str, name: &str) -> Vec<f64> {
    let line = table
        .lines()
        .find(|line| line.starts_with(name))
        .unwrap_or_else(|| panic!("{name}: {table}"));
    line[name.len()..].split_whitespace().map(|cell| cell.parse().unwrap()).collect()
}

#[test]
fn simulation_lists_all_policies_and_the_learned_one_wins() {
    let program = Program::new();
    let feeds = program.write("feeds.jsonl", history("a", "paper") + "\n" + &history("b", "paper"));
    let told =
        program.run_bare(&["simulate", "--feeds", &feeds, "--table", "--shifts", "30"]).with(0).out;
    assert!(told.contains("training weeks, paper, 2 feeds"), "{told}");
    let test = &told[told.find("test weeks").unwrap()..];
    assert!(
        test.starts_with("test weeks, paper, where rules help (2 of 2 with several rules)"),
        "{test}"
    );
    for linear in
        [row(test, "gain of mean delay, %")[0], row(test, "  or polls saved, same delay, %")[0]]
    {
        assert!(linear.abs() < 3.0, "a linear poller gains nothing on itself: {test}");
    }
    assert!(test.lines().nth(1).unwrap().contains("entry-frequency"), "{test}");
    let gains = row(test, "gain of mean delay, %");
    assert_eq!(gains.len(), 5, "{test}");
    let (rules, learned) = (gains[1], gains[2]);
    assert!(learned > 30.0 && learned > rules && rules > 0.0, "{test}");
    for (hits, misses) in row(test, "hits, %").iter().zip(row(test, "misses, %")) {
        assert!((hits + misses - 100.0).abs() < 0.02, "{test}");
    }
}

#[test]
fn rules_and_budgets_are_followed_and_every_run_is_written() {
    let program = Program::new();
    let feeds = program.write("feeds.jsonl", history("a", ""));
    let budget = program.write("budget.json", r#"{"a":{"rules_per_week":70}}"#);
    let out = program.write("out.jsonl", "");
    let args = ["simulate", "--feeds", &feeds, "--budget", &budget, "--policy", "learned"];
    let more = ["--shifts", "5", "--retrievals", &out];
    program.run_bare(&[args.as_slice(), &more].concat()).with(0);
    let lines = std::fs::read_to_string(&out).unwrap();
    assert_eq!(lines.lines().count(), 5);
    for (shift, line) in lines.lines().enumerate() {
        let run: Value = serde_json::from_str(line).unwrap();
        let minutes: Vec<i64> = run["minutes"]
            .as_array()
            .unwrap()
            .iter()
            .map(|minute| minute.as_i64().unwrap())
            .collect();
        assert_eq!(run["start_offset"], json!(shift));
        assert_eq!(minutes[0], MONDAY + 42 * DAY + i64::try_from(shift).unwrap());
        assert!(minutes.windows(2).all(|pair| (15..=240).contains(&(pair[1] - pair[0]))), "{line}");
        assert!((125..=155).contains(&minutes.len()), "two weeks of 70: {}", minutes.len());
    }
    let rules = program.write(
        "rules.json",
        r#"{"a":{"default":240,"rules":[{"startday":1,"endday":5,"starthour":9,"endhour":17,"interval":30}]}}"#,
    );
    let args =
        ["simulate", "--feeds", &feeds, "--rules", &rules, "--policy", "rules", "--shifts", "5"];
    let told = program.run_bare(&args).with(0).out;
    let polls = row(&told, "polls per run")[0];
    assert!((230.0..=270.0).contains(&polls), "two weeks of 9 x 2 x 5 and the rest: {told}");
}

#[test]
fn figures_are_drawn_in_the_terminal_or_as_svg() {
    let program = Program::new();
    let feeds = program.write("feeds.jsonl", history("a", ""));
    let figures = ["simulate", "--feeds", &feeds, "--shifts", "3"];
    let run = |more: &[&str]| program.run_bare(&[&figures[..], more].concat());
    let (activity, delay) = ("Publications by hour and weekday", "Average delay of entries");
    for (more, shown) in [
        (&["--figure"][..], [true, true, false]),
        (&["--figure", "activity"], [true, false, false]),
        (&["--figure", "delay"], [false, true, false]),
        (&["--figure", "delay", "--table"], [false, true, true]),
    ] {
        let told = run(more).with(0).out;
        let parts = [activity, delay, "test weeks"].map(|part| told.contains(part));
        assert_eq!(parts, shown, "{more:?}: {told}");
        assert!(told.lines().all(|line| line.len() <= 80 || shown[2]), "{told}");
    }
    let svg = program.write("figure.svg", "");
    for _ in 0..2 {
        assert_eq!(run(&["--figure", "--svg", &svg]).with(0).out, "");
        assert!(std::fs::read_to_string(&svg).unwrap().starts_with("<svg "));
    }
    let why = run(&["--figure", "--svg", &feeds]).refused(2);
    assert!(why.contains("not a file of figures") && why.contains("--force"), "{why}");
    run(&["--svg", &svg]).with(2);
}

#[test]
fn impossible_simulation_is_refused_in_words() {
    let program = Program::new();
    let why = program.run_bare(&["simulate"]).refused(2);
    assert!(why.contains("--feeds") && why.contains("--feed,"), "{why}");
    let bad = program.write("bad.jsonl", history("a", "") + "\n{}");
    let why = program.run_bare(&["simulate", "--feeds", &bad]).refused(2);
    assert!(why.contains("line 2:"), "{why}");
    let empty = program.write("empty.jsonl", "\n");
    assert!(
        program.run_bare(&["simulate", "--feeds", &empty]).refused(2).contains("contains no feed")
    );
    let why =
        program.run_bare(&["simulate", "--feeds", &bad, "--min", "60", "--max", "30"]).refused(2);
    assert!(why.contains("--min must not be greater than --max"), "{why}");
}
