//! Translates filter expressions of newsboat, such as `unread = "yes" and tags # "news"`, into queries.

use chrono_tz::Tz;

use super::parse_query::parse;
use crate::{InputFlaw, flaw};

/// Maximum depth of nested parentheses.
const DEPTH_MAX: usize = 16;
/// Operators, with those first that begin with another one.
const COMPARISONS: [&str; 12] =
    ["=~", "==", "=", "!~", "!=", "!#", "<=", ">=", "<", ">", "between", "#"];

/// Translates a filter expression of newsboat into a query that finds the same entries. The error is a sentence that names what
/// has no counterpart here, or what newsboat itself does not understand.
pub fn translate_newsboat(expression: &str) -> Result<String, InputFlaw> {
    let mut reader = Reader { rest: expression, depth: 0 };
    let query = reader.chain()?;
    reader.skip_blanks();
    if !reader.rest.is_empty() {
        return Err(flaw!("'{}' follows the end of the expression", reader.rest));
    }
    // Expressions of POSIX may have parts that the regular expressions here do not have.
    parse(&query.text, false, Tz::UTC).map_err(|flaw| flaw.why.to_string())?;
    Ok(query.text)
}

/// A part of a query.
struct QueryPiece {
    text: String,
    /// Whether it is a single part that can be next to others without parentheses.
    single: bool,
}

impl QueryPiece {
    fn enclosed(self) -> String {
        if self.single { self.text } else { format!("({})", self.text) }
    }
}

struct Reader<'e> {
    rest: &'e str,
    depth: usize,
}

impl<'e> Reader<'e> {
    fn skip_blanks(&mut self) {
        self.rest = self.rest.trim_start();
    }

    fn take(&mut self, word: &str) -> bool {
        let behind = self.rest.strip_prefix(word);
        self.rest = behind.unwrap_or(self.rest);
        behind.is_some()
    }

    /// Reads comparisons joined by `and` and `or`. In newsboat neither binds closer: the last ones belong together.
    fn chain(&mut self) -> Result<QueryPiece, InputFlaw> {
        self.depth = self.depth.saturating_add(1);
        if self.depth > DEPTH_MAX {
            return Err(flaw!("it has more than {DEPTH_MAX} parts"));
        }
        let first = self.operand()?;
        self.skip_blanks();
        let joined = if self.take("and") {
            let second = self.chain()?;
            QueryPiece {
                text: format!("{} {}", first.enclosed(), second.enclosed()),
                single: false,
            }
        } else if self.take("or") {
            let second = self.chain()?;
            QueryPiece {
                text: format!("{} OR {}", first.enclosed(), second.enclosed()),
                single: false,
            }
        } else {
            first
        };
        self.depth = self.depth.saturating_sub(1);
        Ok(joined)
    }

    fn operand(&mut self) -> Result<QueryPiece, InputFlaw> {
        self.skip_blanks();
        if !self.take("(") {
            return self.comparison();
        }
        let inner = self.chain()?;
        self.skip_blanks();
        if self.take(")") { Ok(inner) } else { Err("a '(' is not closed".into()) }
    }

    fn comparison(&mut self) -> Result<QueryPiece, InputFlaw> {
        let is_name = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
        let end = self.rest.find(|c| !is_name(c)).unwrap_or(self.rest.len());
        let (attribute, rest) = self.rest.split_at(end);
        self.rest = rest;
        self.skip_blanks();
        let comparison = COMPARISONS.into_iter().find(|comparison| self.take(comparison));
        let (Some(comparison), false) = (comparison, attribute.is_empty()) else {
            return Err(flaw!("a comparison is missing at '{attribute}{}'", self.rest));
        };
        self.skip_blanks();
        let value = self.value()?;
        translated(attribute, comparison, value)
    }

    /// Reads a value in quotation marks, a number or a range of numbers.
    fn value(&mut self) -> Result<&'e str, InputFlaw> {
        let Some(quoted) = self.rest.strip_prefix('"') else {
            let is_number = |c: char| c.is_ascii_digit() || ":-".contains(c);
            let end = self.rest.find(|c| !is_number(c)).unwrap_or(self.rest.len());
            let (number, rest) = self.rest.split_at(end);
            self.rest = rest;
            return if number.is_empty() { Err("a value is missing".into()) } else { Ok(number) };
        };
        let mut escaped = false;
        let end = quoted.find(|c: char| {
            let closes = c == '"' && !escaped;
            escaped = c == '\\' && !escaped;
            closes
        });
        let Some((value, rest)) = end.and_then(|end| quoted.split_at_checked(end)) else {
            return Err("a quotation mark is not closed".into());
        };
        self.rest = rest.strip_prefix('"').unwrap_or(rest);
        Ok(value)
    }
}

fn translated(attribute: &str, comparison: &str, value: &str) -> Result<QueryPiece, InputFlaw> {
    match attribute {
        "title" => text("title", comparison, value),
        "author" => text("author", comparison, value),
        "content" => text("text", comparison, value),
        "link" => text("link", comparison, value),
        // A query looks for both in one field, so the result can be larger.
        "feedtitle" | "rssurl" => text("feed", comparison, value),
        "tags" => tags(comparison, value),
        "unread" => unread(comparison, value),
        "age" => age(comparison, value),
        "flags" => flags(comparison, value),
        "date" | "guid" | "enclosure_url" | "enclosure_type" | "articleindex" | "description"
        | "feedlink" | "feeddate" | "unread_count" | "total_count" | "feedindex"
        | "latest_article_age" => Err(flaw!("queries here cannot ask for '{attribute}'")),
        _ => Err(flaw!("newsboat has no attribute '{attribute}'")),
    }
}

/// Puts a minus before a part of a query if `negated`.
fn piece(negated: bool, part: &str) -> QueryPiece {
    let minus = if negated { "-" } else { "" };
    // Next to each other, parts for feeds or tags are alternatives.
    let single = negated || !(part.starts_with("feed:") || part.starts_with("tag:"));
    QueryPiece { text: format!("{minus}{part}"), single }
}

fn text(field: &str, comparison: &str, value: &str) -> Result<QueryPiece, InputFlaw> {
    let expression = match comparison {
        "=~" | "!~" => slashes_escaped(value),
        "=" | "==" | "!=" => format!("(?-i)^{}$", slashes_escaped(&regex::escape(value))),
        "#" | "!#" => format!("(?-i)(^| ){}( |$)", slashes_escaped(&regex::escape(value))),
        _ => return Err(flaw!("queries here cannot compare texts with '{comparison}'")),
    };
    if expression.is_empty() {
        return Err("an empty regular expression matches everything".into());
    }
    Ok(piece(comparison.starts_with('!'), &format!("{field}:/{expression}/")))
}

fn slashes_escaped(expression: &str) -> String {
    expression.replace("\\/", "/").replace('/', "\\/")
}

fn tags(comparison: &str, value: &str) -> Result<QueryPiece, InputFlaw> {
    let negated = comparison.starts_with('!');
    match comparison {
        "#" | "!#" => Ok(piece(negated, &format!("tag:\"{value}\""))),
        "=~" | "!~" => text("tag", comparison, value),
        _ => Err(flaw!(
            "queries here compare single tags, not the whole list: '#' instead of '{comparison}'"
        )),
    }
}

/// The import makes a label of each letter.
fn flags(comparison: &str, value: &str) -> Result<QueryPiece, InputFlaw> {
    let is_letter = value.len() == 1 && value.bytes().all(|byte| byte.is_ascii_alphabetic());
    if !is_letter || !["=~", "!~", "#", "!#"].contains(&comparison) {
        return Err("queries here ask for one letter of 'flags': flags =~ \"s\"".into());
    }
    Ok(piece(comparison.starts_with('!'), &format!("label:{value}")))
}

fn unread(comparison: &str, value: &str) -> Result<QueryPiece, InputFlaw> {
    match (comparison, value) {
        ("=" | "==", "yes") | ("!=", "no") => Ok(piece(false, "is:unread")),
        ("=" | "==", "no") | ("!=", "yes") => Ok(piece(false, "is:read")),
        _ => Err("'unread' is compared with \"yes\" or \"no\"".into()),
    }
}

/// Newsboat compares whole days: an entry of 3 days and an hour has the age 3.
fn age(comparison: &str, value: &str) -> Result<QueryPiece, InputFlaw> {
    let days =
        |text: &str| text.parse::<u32>().map_err(|_| format!("'{text}' is not a number of days"));
    let next = |days: u32| days.saturating_add(1);
    let between = |from: u32, to: u32| format!("-age:<{from}d age:<{}d", next(to));
    if comparison == "between" {
        let (from, to) = value.split_once(':').unwrap_or((value, value));
        let (from, to) = (days(from)?, days(to)?);
        return Ok(QueryPiece { text: between(from.min(to), from.max(to)), single: false });
    }
    let days = days(value)?;
    match comparison {
        "<" => Ok(piece(false, &format!("age:<{days}d"))),
        "<=" => Ok(piece(false, &format!("age:<{}d", next(days)))),
        ">=" => Ok(piece(true, &format!("age:<{days}d"))),
        ">" => Ok(piece(true, &format!("age:<{}d", next(days)))),
        "=" | "==" => Ok(QueryPiece { text: between(days, days), single: false }),
        "!=" => Ok(piece(true, &format!("({})", between(days, days)))),
        _ => Err(flaw!("queries here cannot compare ages with '{comparison}'")),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn expressions_of_the_manual_are_translated() {
        for (expression, query) in [
            ("age between 0:10", "-age:<0d age:<11d"),
            (
                r#"( author =~ "Frank" or author =~ "John" ) and ( title =~ "Linux" or title =~ "FreeBSD" )"#,
                "(author:/Frank/ OR author:/John/) (title:/Linux/ OR title:/FreeBSD/)",
            ),
            (r#"rssurl =~ "^https:""#, "feed:/^https:/"),
            (r#"unread = "yes""#, "is:unread"),
            (r#"tags # "tag1""#, "tag:\"tag1\""),
            (
                r#"unread = "yes" and tags # "a" and tags # "b""#,
                "is:unread ((tag:\"a\") (tag:\"b\"))",
            ),
            (r#"tags !# "a" and age < 3"#, "-tag:\"a\" age:<3d"),
            (r#"title == "a/b""#, "title:/(?-i)^a\\/b$/"),
            (r#"title != "a""#, "-title:/(?-i)^a$/"),
            (r#"title # "a""#, "title:/(?-i)(^| )a( |$)/"),
            (r#"content !~ "ad""#, "-text:/ad/"),
            (r#"link =~ "youtube\.com/""#, "link:/youtube\\.com\\//"),
            (r#"feedtitle =~ "x" or age >= 3"#, "(feed:/x/) OR -age:<3d"),
            (r#"flags =~ "s" and flags !# "x""#, "label:s -label:x"),
            ("age > 3", "-age:<4d"),
            ("age <= 3", "age:<4d"),
            ("age = 3", "-age:<3d age:<4d"),
            ("age != 3", "-(-age:<3d age:<4d)"),
            (r#"unread != "yes" and (tags =~ "^n")"#, "is:read (tag:/^n/)"),
            (r#"age < 1 and title =~ "a" or title =~ "b""#, "age:<1d (title:/a/ OR title:/b/)"),
        ] {
            assert_eq!(translate_newsboat(expression).as_deref(), Ok(query), "{expression}");
        }
    }

    #[test]
    fn what_has_no_counterpart_is_named() {
        for (expression, part) in [
            ("unread_count > 0", "unread_count"),
            ("( unread_count > 0 and unread_count < 10 ) or total_count > 100", "unread_count"),
            ("total_count > 100", "total_count"),
            (r#"date =~ "2026""#, "date"),
            (r#"guid = "a""#, "guid"),
            (r#"enclosure_url != """#, "enclosure_url"),
            (r#"enclosure_type =~ "audio""#, "enclosure_type"),
            (r#"flags = "sx""#, "one letter of 'flags'"),
            ("articleindex < 10", "articleindex"),
            (r#"description =~ "a""#, "description"),
            (r#"feedlink =~ "a""#, "feedlink"),
            (r#"feeddate =~ "a""#, "feeddate"),
            ("feedindex = 1", "feedindex"),
            ("latest_article_age > 3", "latest_article_age"),
            (r#"titel = "a""#, "no attribute 'titel'"),
            (r#"title < "a""#, "cannot compare texts"),
            (r#"tags = "a b""#, "single tags"),
            (r#"unread =~ "y""#, "\"yes\" or \"no\""),
            ("age # 3", "ages"),
            ("age < x", "value is missing"),
            (r#"title =~ "(""#, "not a valid regular expression"),
            (r#"title =~ """#, "empty"),
            (r#"title = "a"#, "quotation mark"),
            (r#"( title = "a""#, "'(' is not closed"),
            (r#"title = "a" x"#, "'x' follows"),
            ("title", "comparison is missing"),
            ("", "comparison is missing"),
        ] {
            let why = translate_newsboat(expression).expect_err(expression);
            assert!(why.contains(part), "{expression}: {why}");
        }
    }

    proptest! {
        #[test]
        fn any_expression_is_translated_or_named(
            text in r#"((title|age|tags|unread|and|or|between|=~|=|#|!|<|"[a-z/("\\]{0,4}"|\(|\)| |3|1:2|\PC){0,16})"#,
        ) {
            match translate_newsboat(&text) {
                Ok(query) => prop_assert!(parse(&query, false, Tz::UTC).is_ok(), "{}", query),
                Err(why) => prop_assert!(!why.is_empty()),
            }
        }
    }
}
