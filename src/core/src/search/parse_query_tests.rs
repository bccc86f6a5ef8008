//! Tests of parsed queries and of the errors for wrong ones.

use proptest::prelude::*;

use super::*;
use crate::search::EntryState;

fn read(text: &str, typing: bool) -> Result<Query, QueryFlaw> {
    parse(text, typing, Tz::UTC)
}

/// Formats a condition briefly: `a & b`, `a | b`, `!a`, `t:` for the field, `+` between words, `word*` for a prefix, `~part~`.
fn brief(condition: &Condition) -> String {
    let joined = |parts: &[Condition], sign: &str| {
        let parts: Vec<String> = parts.iter().map(brief).collect();
        format!("({})", parts.join(sign))
    };
    let short = |field: TextField| match field {
        TextField::Anywhere => "",
        TextField::Title => "t:",
        TextField::Author => "a:",
        TextField::Link => "l:",
        TextField::Category => "c:",
        TextField::Text => "x:",
    };
    match condition {
        Condition::All(parts) => joined(parts, " & "),
        Condition::Any(parts) => joined(parts, " | "),
        Condition::Not(inner) => format!("!{}", brief(inner)),
        Condition::Leaf(Leaf::Text(TextTest::Words(term))) => {
            let star = if term.prefix { "*" } else { "" };
            format!("{}{}{star}", short(term.field), term.words.join("+"))
        }
        Condition::Leaf(Leaf::Text(TextTest::Part(field, part))) => {
            format!("{}~{part}~", short(*field))
        }
        Condition::Leaf(Leaf::Text(TextTest::Regex(field, regex))) => {
            format!("{}{regex:?}", short(*field)).replace("EntryRegex(Regex", "").replace("))", ")")
        }
        Condition::Leaf(Leaf::Text(TextTest::Has(what))) => format!("has {what:?}"),
        Condition::Leaf(Leaf::Text(TextTest::Longer(limit))) => format!("longer {limit:?}"),
        Condition::Leaf(Leaf::Name(test)) => match &test.pattern {
            NamePattern::Is(name) => format!("{:?}={name}", test.kind),
            NamePattern::Regex(_) => format!("{:?}=/", test.kind),
        },
        Condition::Leaf(Leaf::Rate(limit)) => format!("{limit:?}"),
        Condition::Leaf(Leaf::Row(RowTest::Is(state))) => format!("{state:?}"),
        Condition::Leaf(Leaf::Row(RowTest::Since(when))) => format!("since {}", instant(*when)),
        Condition::Leaf(Leaf::Row(RowTest::Before(when))) => format!("before {}", instant(*when)),
        Condition::Leaf(Leaf::Row(RowTest::InFeeds(feeds))) => format!("{feeds:?}"),
    }
}

fn instant(when: When) -> String {
    match when.fixed("2026-03-02T10:00:00Z".parse().unwrap()) {
        When::At(at) => at.format("%Y-%m-%d").to_string(),
        When::Ago(_) => String::new(),
    }
}

#[test]
fn queries_are_read_as_conditions() {
    for (text, expected) in [
        ("frost Apple", "(frost & apple)"),
        ("frost OR apple", "(frost | apple)"),
        ("frost apple OR pear", "(pear | (frost & apple))"),
        ("frost AND apple", "(frost & apple)"),
        ("frost (apple OR pear) -plum", "(frost & !plum & (apple | pear))"),
        ("-apple", "!apple"),
        ("NOT apple", "!apple"),
        ("NOT (apple OR pear)", "!(apple | pear)"),
        ("-(apple pear)", "!(apple & pear)"),
        ("NOT -apple", "apple"),
        ("((frost))", "frost"),
        ("or and not OR'S", "(or & and & not & or+s)"),
        ("\"OR\" \"AND\"", "(or & and)"),
        ("\"Late  frost\" -\"red pear\"", "(late+frost & !red+pear)"),
        ("title:wax author:\"Ann Lee\" text:x", "(t:wax & a:ann+lee & x:x)"),
        ("title:(wax OR \"late frost\")", "(t:wax | t:late+frost)"),
        ("title:(wax -text:frost)", "(t:wax & !x:frost)"),
        ("link:YouTube.com/watch", "l:~youtube.com/watch~"),
        ("category:\"late pruning\"", "c:late+pruning"),
        ("don't fro*", "(don+t & fro*)"),
        ("*Frost* *\"a frost\"*", "(~frost~ & ~a frost~)"),
        ("title:*cafÉ*", "t:~cafe~"),
        ("https://a.example/x std::fs 12:30", "(https+a+example+x & std+fs & 12+30)"),
        ("f(x) :-) a)b", "(f+x & a+b)"),
        ("(f(x) wax)", "(f+x & wax)"),
        ("\"unclosed phrase", "unclosed+phrase"),
        ("- -- \"\" ++ a", "a"),
        ("漢字 漢 東京都", "(漢字 & 漢* & 東京+京都)"),
        ("", "()"),
        ("/spons?ored/", "(\"spons?ored\")"),
        ("title:/a b\\/c/ wax", "(t:(\"a b/c\") & wax)"),
        ("-link:/youtu\\.be/", "!l:(\"youtu\\\\.be\")"),
        ("feed:\"Orchard Notes\" -tag:news", "(!Tag=news & Feed=orchard notes)"),
        ("feed:/^a/ label:later", "(Label=later & Feed=/)"),
        ("feed:a feed:b x", "((Feed=a | Feed=b) & x)"),
        ("tag:a tag:b -tag:c", "(!Tag=c & (Tag=a | Tag=b))"),
        ("(tag:a) AND (tag:b)", "(Tag=a & Tag=b)"),
        ("is:unread -is:starred", "(Unread & !Starred)"),
        ("after:2014 before:7d", "(since 2014-01-01 & before 2026-02-23)"),
        ("age:<3d OR age:>1y", "(since 2026-02-27 | before 2025-03-02)"),
        ("-rate:<weekly", "!RateLimit { order: Less, class: 3 }"),
        ("-age:<3d", "!since 2026-02-27"),
    ] {
        let query = read(text, false).unwrap_or_else(|flaw| panic!("{text}: {flaw}"));
        assert_eq!(brief(&query.condition), expected, "{text}");
    }
}

#[test]
fn last_word_matches_as_a_prefix_while_typed() {
    for (text, expected, unfinished) in [
        ("late fro", "(late & fro*)", true),
        ("late fro ", "(late & fro)", false),
        ("\"late fro", "late+fro", false),
        ("late -fro", "(late & !fro)", false),
        ("late -(fro", "(late & !fro)", false),
        ("(late OR fro", "(late | fro*)", true),
        ("title:fro", "t:fro*", true),
        ("fro.", "fro", false),
        ("don't", "don+t*", true),
        ("frost OR", "frost", false),
        ("frost OR ", "frost", false),
        ("frost AND", "frost", false),
        ("frost NOT", "frost", false),
        ("frost (", "frost", false),
        ("frost OR \"", "frost", false),
        ("frost *app", "(frost & ~app~)", false),
        ("frost *\"app", "(frost & ~app~)", false),
    ] {
        let query = read(text, true).unwrap_or_else(|flaw| panic!("{text}: {flaw}"));
        assert_eq!(
            (brief(&query.condition).as_str(), query.unfinished),
            (expected, unfinished),
            "{text}"
        );
    }
}

/// Wrong queries, each with the part that is marked and a part of the sentence.
const WRONG: [(&str, &str, &str); 39] = [
    ("titel:x", "titel:", "there is no field 'titel:'; did you mean 'title:'?"),
    ("a fed:x", "fed:", "there is no field 'fed:'; did you mean 'feed:'?"),
    (
        "zzzzzz:x",
        "zzzzzz:",
        "the fields are title, author, text, link, category, feed, tag, label, is, has, longer, shorter, age, rate, after and before",
    ),
    ("é -titel:x", "titel:", "did you mean 'title:'?"),
    ("(wax titel:x)", "titel:", "did you mean 'title:'?"),
    (
        "is:unred",
        "unred",
        "'is:unred' is unknown; is: takes unread, read, starred, edited, hidden and gap; did you mean 'unread'?",
    ),
    ("has:sound", "sound", "'has:sound' is unknown; has: takes file and picture"),
    ("longer:6m", "6m", "'6m' is not a length; write 400 for words or 6min"),
    ("wax is:/x/", "/x/", "'is:' takes no regular expression"),
    (
        "after:soon",
        "soon",
        "'soon' is not a date; write 2014, 2014-03, 2014-03-05, or 7d for seven days ago",
    ),
    ("wax before:2014-13", "2014-13", "is not a date"),
    ("rate:rare", "rare", "'rare' is not a frequency; write <weekly"),
    ("age:3d", "3d", "'3d' is not an age; write <3d"),
    ("age:<2014", "<2014", "is not an age"),
    ("wax age:<", "<", "is not an age"),
    ("x feed:", "feed:", "enter a value after 'feed:'"),
    ("title: wax", "title:", "enter a value after 'title:'"),
    ("title:\"\" wax", "title:", "enter a value after 'title:'"),
    ("(feed:)", "feed:", "enter a value after 'feed:'"),
    ("feed:(a OR b)", "feed:", "write (feed:a OR feed:b)"),
    ("OR wax", "OR", "there is nothing before 'OR'"),
    ("wax OR", "OR", "there is nothing after 'OR'"),
    ("wax OR OR frost", "OR", "there is nothing after 'OR'"),
    ("wax (OR frost)", "OR", "there is nothing before 'OR'"),
    ("AND wax", "AND", "there is nothing before 'AND'"),
    ("(wax AND) frost", "AND", "there is nothing after 'AND'"),
    ("wax NOT", "NOT", "there is nothing after 'NOT'"),
    ("NOT OR wax", "NOT", "there is nothing after 'NOT'"),
    ("++ OR wax", "++", "'++' contains no word to search for"),
    ("wax OR  -++", "-++", "contains no word"),
    ("wax (frost", "(", "this '(' is not closed"),
    ("(wax (frost)", "(", "this '(' is not closed"),
    ("wax )", ")", "this ')' closes nothing"),
    ("wax ( )", "( )", "there is nothing in these parentheses"),
    ("漢 /frost", "/frost", "this regular expression has no '/' at its end"),
    ("/a/b wax", "/a/", "leave a space after a regular expression"),
    ("title:/(/", "/(/", "'/(/' is not a valid regular expression: unclosed group"),
    ("/(a{900}){900}/", "/(a{900}){900}/", "too large"),
    ("wax *frost", "*frost", "*frost* finds the letters inside words"),
];

#[test]
fn wrong_queries_are_refused_with_place_and_reason() {
    for (text, part, reason) in WRONG {
        let flaw = read(text, false).expect_err(text);
        let sentence = flaw.to_string();
        assert!(sentence.contains(reason) && !sentence.contains('\n'), "{text}: {sentence}");
        let NamePosition { from, to } = flaw.at;
        let marked: String = text.chars().take(to).skip(from).collect();
        assert_eq!(marked, part, "{text}: {sentence}");
        assert!(sentence.starts_with(&format!("character {}: ", from + 1)), "{sentence}");
    }
    let doubled = read("wax OR OR frost", false).unwrap_err();
    assert_eq!(doubled.at.from, 4, "the first one has nothing after it");
    assert_eq!(read("(wax (frost)", false).unwrap_err().at.from, 0);
}

#[test]
fn long_and_deep_queries_are_refused() {
    let long = read(&"a ".repeat(65), false).unwrap_err();
    assert_eq!((long.at.from, long.why), (128, FlawKind::Long(64)));
    let deep = read(&"(".repeat(17), false).unwrap_err();
    assert_eq!((deep.at.from, deep.why), (16, FlawKind::Deep(16)));
    let negated = read(&"NOT ".repeat(100_000), false).unwrap_err();
    assert_eq!(negated.why, FlawKind::Long(64));
    let regex = format!("/{}/", "x".repeat(1001));
    assert!(read(&regex, false).unwrap_err().to_string().contains("more than 1000 characters"));
}

#[test]
fn only_a_wanted_state_finds_hidden_entries() {
    for (text, finds) in
        [("is:hidden", true), ("a OR is:hidden", true), ("-is:hidden", false), ("a", false)]
    {
        let query = read(text, false).unwrap();
        assert_eq!(query.finds_hidden(), finds, "{text}");
    }
    let gap = Condition::Leaf(Leaf::Row(RowTest::Is(EntryState::Gap)));
    assert_eq!(read("is:gap", false).unwrap().condition, gap);
}

#[test]
fn renamed_tags_are_renamed_in_queries() {
    let renamed = |query: &str| {
        with_renamed_tags(query, Tz::UTC, |tag| match tag {
            "old" => Some("new".to_owned()),
            "old/sub" => Some("New Name/sub".to_owned()),
            _ => None,
        })
    };
    for (query, expected) in [
        ("é tag:old x", Some("é tag:new x")),
        ("(frost -tag:\"Old\") OR tag:old/sub", Some("(frost -tag:new) OR tag:\"New Name/sub\"")),
        ("tag:older title:old old \"tag:old\"", None),
        ("tag:/old/", None),
        ("tag:old (", None),
    ] {
        assert_eq!(renamed(query).as_deref(), expected, "{query}");
    }
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused(text in any::<String>(), typing in any::<bool>()) {
        if let Ok(query) = read(&text, typing) {
            let terms = query.condition.terms();
            prop_assert!(terms.iter().all(|(term, _)| !term.words.is_empty()));
        }
    }

    #[test]
    fn any_mixture_of_parts_is_read_or_refused_in_place(
        text in r#"((-|title:|feed:|is:|after:|age:|link:|"|:|\*|/|\(|\)|OR |AND |NOT | |é|漢|字|7d|<|unread|x|\PC){0,20})"#,
        typing in any::<bool>(),
    ) {
        if let Err(flaw) = read(&text, typing) {
            prop_assert!(!flaw.to_string().is_empty());
            prop_assert!(flaw.at.from < flaw.at.to && flaw.at.to <= text.chars().count(), "{:?}", flaw);
        }
    }
}
