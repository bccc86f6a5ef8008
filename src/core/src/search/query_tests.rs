//! Tests of parsed queries and of the errors for invalid ones.

use proptest::prelude::*;

use super::*;

fn read(text: &str) -> Result<Query, QueryFlaw> {
    parse(text, false, "2026-03-02T10:00:00Z".parse().unwrap(), Tz::UTC)
}

/// Parses a query and formats its terms briefly: `-` for excluded, `t:` or `a:` for the field, `+` between words, `*` for a
/// prefix.
fn terms(text: &str, typing: bool) -> Vec<String> {
    let now = "2026-03-02T10:00:00Z".parse().unwrap();
    let query = parse(text, typing, now, Tz::UTC).unwrap();
    let short = |term: &Term| {
        let field = match term.field {
            QueryField::Anywhere => "",
            QueryField::Title => "t:",
            QueryField::Author => "a:",
        };
        let (minus, star) =
            (if term.excluded { "-" } else { "" }, if term.prefix { "*" } else { "" });
        format!("{minus}{field}{}{star}", term.words.join("+"))
    };
    query.terms.iter().map(short).collect()
}

#[test]
fn words_phrases_and_exclusion_are_read() {
    for (text, expected) in [
        ("frost Apple", vec!["frost", "apple"]),
        ("\"Late  frost\" -apple -\"red pear\"", vec!["late+frost", "-apple", "-red+pear"]),
        ("title:wax author:\"Ann Lee\" -title:x", vec!["t:wax", "a:ann+lee", "-t:x"]),
        ("don't fro*", vec!["don+t", "fro*"]),
        ("https://a.example/x std::fs 12:30", vec!["https+a+example+x", "std+fs", "12+30"]),
        ("\"unclosed phrase", vec!["unclosed+phrase"]),
        ("- -- \"\" ++ a", vec!["a"]),
        ("漢字 漢 東京都", vec!["漢字", "漢*", "東京+京都"]),
        ("", vec![]),
    ] {
        assert_eq!(terms(text, false), expected, "{text}");
    }
}

#[test]
fn last_word_matches_as_a_prefix_while_typed() {
    for (text, expected) in [
        ("late fro", vec!["late", "fro*"]),
        ("late fro ", vec!["late", "fro"]),
        ("\"late fro", vec!["late+fro"]),
        ("late -fro", vec!["late", "-fro"]),
        ("title:fro", vec!["t:fro*"]),
        ("fro.", vec!["fro"]),
        ("don't", vec!["don+t*"]),
    ] {
        assert_eq!(terms(text, true), expected, "{text}");
    }
}

#[test]
fn fields_restrict_the_matching_entries() {
    let query = read("feed:\"Orchard Notes\" -tag:news is:unread -is:starred").unwrap();
    assert_eq!(query.feeds, [Named { name: "Orchard Notes".into(), excluded: false }]);
    assert_eq!(query.tags, [Named { name: "news".into(), excluded: true }]);
    assert_eq!(query.states, [(EntryState::Unread, true), (EntryState::Starred, false)]);
    let query = read("after:2014 after:2015-02 before:7d -after:2020").unwrap();
    assert_eq!(query.after.unwrap().to_rfc3339(), "2015-02-01T00:00:00+00:00");
    assert_eq!(query.before.unwrap().to_rfc3339(), "2020-01-01T00:00:00+00:00");
}

#[test]
fn unreadable_query_suggests_the_nearest_name() {
    for (text, expected) in [
        ("titel:x", "there is no field 'titel:'; did you mean 'title:'?"),
        ("fed:x", "there is no field 'fed:'; did you mean 'feed:'?"),
        (
            "zzzzzz:x",
            "there is no field 'zzzzzz:'; the fields are feed, tag, title, author, is, after and before",
        ),
        (
            "is:unred",
            "'is:unred' is unknown; is: takes unread, read, starred, hidden and gap; did you mean 'unread'?",
        ),
        (
            "after:soon",
            "'after:soon' is not a date; write 2014, 2014-03, 2014-03-05, or 7d for seven days ago",
        ),
        ("x feed:", "enter a value after 'feed:'"),
    ] {
        assert_eq!(read(text).unwrap_err().to_string(), expected, "{text}");
    }
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused(text in any::<String>(), typing in any::<bool>()) {
        let now = "2026-03-02T10:00:00Z".parse().unwrap();
        if let Ok(query) = parse(&text, typing, now, Tz::UTC) {
            prop_assert!(query.terms.iter().all(|term| !term.words.is_empty()));
        }
    }

    #[test]
    fn any_mixture_of_parts_is_read_or_refused(
        text in r#"((-|title:|feed:|is:|after:|"|:|\*| |é|漢|字|7d|unread|x|\PC){0,20})"#,
        typing in any::<bool>(),
    ) {
        let now = "2026-03-02T10:00:00Z".parse().unwrap();
        if let Err(flaw) = parse(&text, typing, now, Tz::UTC) {
            prop_assert!(!flaw.to_string().is_empty());
        }
    }
}
