//! A query, and its parser. Its grammar is in `docs/search.md`.

use std::ops::Range;

use chrono_tz::Tz;

use super::condition::{
    Condition, EntryState, Leaf, NameKind, NamePattern, NamePosition, NameTest, RowTest, When,
};
use super::fields::{Field, FieldKind, FlawKind, QueryFlaw, find_field, find_state};
use super::text_test::{Attachment, EntryRegex, LengthLimit, Term, TextField, TextTest};
use super::words::{WordScanner, folded, is_dense};
use crate::InputFlaw;
use crate::words::frequency::RateLimit;

/// A parsed query.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Query {
    /// What entries must meet.
    pub condition: Condition,
    /// Whether the last word was taken as the beginning of a word, because the user may still be typing it.
    pub unfinished: bool,
}

impl Query {
    /// Checks whether the query finds hidden entries too, because it asks for them.
    pub fn finds_hidden(&self) -> bool {
        let hidden = Leaf::Row(RowTest::Is(EntryState::Hidden));
        self.condition.has_leaf(|leaf, wanted| wanted && *leaf == hidden)
    }
}

/// Returns a query for all words of a text in a field, such as `title:(late frost)`; an empty one if there are none.
pub fn field_query(field: &str, text: &str) -> String {
    let has_word = |part: &&str| WordScanner::new(part).next_into(&mut String::new()).is_some();
    let words = text.split(|c: char| c.is_whitespace() || QUOTES.contains(&c)).filter(has_word);
    let quoted = words.map(|word| {
        let is_plain = word.chars().all(char::is_alphanumeric) && !OPERATORS.contains(&word);
        if is_plain { word.to_owned() } else { format!("\"{word}\"") }
    });
    match quoted.collect::<Vec<_>>().as_slice() {
        [] => String::new(),
        [word] => format!("{field}:{word}"),
        words => format!("{field}:({})", words.join(" ")),
    }
}

/// Returns a query with the new names of tags that were renamed; `None` if it names none of them. `renamed` gets names in lower case.
pub fn with_renamed_tags(
    query: &str,
    zone: Tz,
    renamed: impl Fn(&str) -> Option<String>,
) -> Option<String> {
    let condition = parse(query, false, zone).ok()?.condition;
    let mut places = Vec::new();
    condition.has_leaf(|leaf, _| {
        if let Leaf::Name(NameTest { kind: NameKind::Tag, pattern: NamePattern::Is(name), at }) =
            leaf
        {
            places.extend(renamed(name).map(|name| (*at, name)));
        }
        false
    });
    places.sort_by_key(|(at, _)| at.from);
    let (mut text, mut read) = (String::new(), 0);
    for (at, name) in &places {
        let kept = query.chars().skip(read).take(at.from.saturating_sub(read));
        text.extend(kept);
        let is_plain = name.chars().all(|c| c.is_alphanumeric() || "-_/".contains(c));
        let quote = if is_plain { "" } else { "\"" };
        text.extend(["tag:", quote, name, quote]);
        read = at.to;
    }
    text.extend(query.chars().skip(read));
    (!places.is_empty() && parse(&text, false, zone).is_ok()).then_some(text)
}

/// Maximum number of parts in a query.
const PARTS_MAX: usize = 64;
/// Maximum depth of nested parentheses.
const DEPTH_MAX: usize = 16;
/// Words between parts that are not searched for.
const OPERATORS: [&str; 3] = ["OR", "AND", "NOT"];

/// Parses a query. `typing` is true while the user is typing: the last word then matches as a prefix, and what is missing at the end is
/// no error.
pub fn parse(text: &str, typing: bool, zone: Tz) -> Result<Query, QueryFlaw> {
    let mut parser = Parser {
        text,
        at: 0,
        depth: 0,
        parts: 0,
        excluded: false,
        unfinished: false,
        typing,
        zone,
    };
    let read = parser.options(TextField::Anywhere);
    let condition = read.map_err(|(range, why)| QueryFlaw { at: position(text, &range), why })?;
    Ok(Query { condition: condition.unwrap_or_default(), unfinished: parser.unfinished })
}

/// Maximum number of queries that colour the rows of lists.
pub const COLOURS_MAX: usize = 50;

/// Parses a query about what the row of a list shows of an entry: its title, author, link, feed, tags, labels, marks and date. The error
/// is a sentence.
pub fn row_query(query: &str, zone: Tz) -> Result<Condition, InputFlaw> {
    let condition = parse(query, false, zone).map_err(|flaw| flaw.to_string())?.condition;
    let is_unknown = |field: TextField| field.has_body() || field == TextField::Category;
    if condition.has_leaf(|leaf, _| matches!(leaf, Leaf::Text(test) if is_unknown(test.field()))) {
        return Err("lists know neither texts nor categories of entries: name a field for each word, such as title:frost".into());
    }
    Ok(condition)
}

fn position(text: &str, range: &Range<usize>) -> NamePosition {
    let chars = |end: usize| text.get(..end).map_or(0, |before| before.chars().count());
    NamePosition { from: chars(range.start), to: chars(range.end) }
}

/// A flaw and its bytes in the query.
pub(super) type Flawed = (Range<usize>, FlawKind);

pub(super) struct Parser<'t> {
    pub(super) text: &'t str,
    /// Bytes that were read.
    pub(super) at: usize,
    pub(super) depth: usize,
    parts: usize,
    /// Whether the part is negated, so that no longer words may be excluded with it.
    excluded: bool,
    unfinished: bool,
    pub(super) typing: bool,
    zone: Tz,
}

impl<'t> Parser<'t> {
    pub(super) fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn skip_blanks(&mut self) {
        self.at = self.text.len().saturating_sub(self.rest().trim_start().len());
    }

    pub(super) fn skip(&mut self, bytes: usize) -> Range<usize> {
        let from = self.at;
        self.at = from.saturating_add(bytes).min(self.text.len());
        from..self.at
    }

    /// Checks whether a sequence of parts ends here.
    fn is_end(&mut self) -> bool {
        self.skip_blanks();
        self.rest().is_empty() || (self.depth > 0 && self.rest().starts_with(')'))
    }

    /// Returns whether an operator comes next.
    fn is_next(&self, word: &str) -> bool {
        let behind = self.rest().strip_prefix(word);
        behind.is_some_and(|rest| {
            rest.is_empty() || rest.starts_with(|c: char| c.is_whitespace() || "()".contains(c))
        })
    }

    /// Reads an operator if it comes next, and checks that an operand follows. Returns `Some(false)` if the user has yet to type it.
    fn operator(&mut self, word: &'static str) -> Result<Option<bool>, Flawed> {
        if !self.is_next(word) {
            return Ok(None);
        }
        let range = self.skip(word.len());
        let (ends, missing) = (self.is_end(), self.rest().is_empty());
        if missing && self.typing {
            return Ok(Some(false));
        }
        if ends || self.is_next("OR") || self.is_next("AND") {
            return Err((range, FlawKind::NothingAfter(word)));
        }
        Ok(Some(true))
    }

    /// Reads sequences between `OR`s. `None` if there are no conditions.
    fn options(&mut self, field: TextField) -> Result<Option<Condition>, Flawed> {
        let mut options = Vec::new();
        loop {
            let begins = self.at;
            let sequence = self.sequence(field)?;
            if self.is_end() && options.is_empty() {
                return Ok(sequence);
            }
            if sequence.is_none() && !self.typing {
                let typed = self.text.get(begins..self.at).unwrap_or_default();
                let blanks = typed.len().saturating_sub(typed.trim_start().len());
                let word = FlawKind::NoWord(typed.trim().to_owned());
                let from = begins.saturating_add(blanks);
                return Err((from..from.saturating_add(typed.trim().len()), word));
            }
            options.extend(sequence);
            if self.operator("OR")? != Some(true) {
                return Ok(Condition::any(options));
            }
        }
    }

    /// Reads parts until an `OR` or an end. An entry must match all parts. Of several feeds, and of several tags, it must match one.
    fn sequence(&mut self, field: TextField) -> Result<Option<Condition>, Flawed> {
        let (mut all, mut feeds, mut tags) = (Vec::new(), Vec::new(), Vec::new());
        let mut is_first = true;
        while !self.is_end() {
            for word in ["OR", "AND"] {
                if is_first && self.is_next(word) {
                    return Err((self.skip(word.len()), FlawKind::NothingBefore(word)));
                }
            }
            if self.is_next("OR") || self.operator("AND")? == Some(false) {
                break;
            }
            is_first = false;
            let is_group = self.rest().starts_with('(');
            match self.part(field)? {
                None => {}
                Some(part) if !is_group && is_name(&part, NameKind::Feed) => feeds.push(part),
                Some(part) if !is_group && is_name(&part, NameKind::Tag) => tags.push(part),
                Some(part) => all.push(part),
            }
        }
        all.extend(Condition::any(feeds));
        all.extend(Condition::any(tags));
        Ok((!all.is_empty()).then(|| Condition::all(all)))
    }

    /// Reads one part: an excluded part, parentheses, or a value with or without a field. `None` if it contains no words.
    fn part(&mut self, field: TextField) -> Result<Option<Condition>, Flawed> {
        self.parts = self.parts.saturating_add(1);
        if self.parts > PARTS_MAX {
            return Err((self.at..self.text.len(), FlawKind::Long(PARTS_MAX)));
        }
        match self.operator("NOT")? {
            Some(true) => return self.negated(field),
            Some(false) => return Ok(None),
            None => {}
        }
        let is_minus = self.rest().strip_prefix('-').is_some_and(|rest| {
            !rest.is_empty() && !rest.starts_with(|c: char| c.is_whitespace() || c == '-')
        });
        if is_minus {
            self.skip(1);
            return self.negated(field);
        }
        if self.rest().starts_with('(') {
            return self.group(field);
        }
        if self.rest().starts_with(')') {
            return Err((self.skip(1), FlawKind::Unopened));
        }
        match self.field()? {
            None => {
                let value = self.value()?;
                self.text_condition(field, &value)
            }
            Some((range, known)) => self.of_field(range, known),
        }
    }

    fn negated(&mut self, field: TextField) -> Result<Option<Condition>, Flawed> {
        let before = std::mem::replace(&mut self.excluded, true);
        let part = self.part(field)?;
        self.excluded = before;
        Ok(part.map(Condition::negated))
    }

    fn group(&mut self, field: TextField) -> Result<Option<Condition>, Flawed> {
        let open = self.skip(1);
        if self.depth >= DEPTH_MAX {
            return Err((open, FlawKind::Deep(DEPTH_MAX)));
        }
        self.depth = self.depth.saturating_add(1);
        let inner = if self.is_end() { None } else { self.options(field)? };
        self.skip_blanks();
        self.depth = self.depth.saturating_sub(1);
        if self.rest().starts_with(')') {
            self.skip(1);
            if inner.is_none() {
                return Err((open.start..self.at, FlawKind::EmptyGroup));
            }
        } else if !self.typing {
            return Err((open, FlawKind::Unclosed));
        }
        Ok(inner)
    }

    /// Reads the name of a field and its colon if they come next. An address, a time or a path (`a::b`) has no field.
    fn field(&mut self) -> Result<Option<(Range<usize>, &'static Field)>, Flawed> {
        let Some((name, value)) = self.rest().split_once(':') else { return Ok(None) };
        let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphabetic());
        if !is_name || value.starts_with("//") || value.starts_with(':') {
            return Ok(None);
        }
        let range = self.at..self.at.saturating_add(name.len()).saturating_add(1);
        match find_field(name) {
            Ok(field) => {
                self.at = range.end;
                Ok(Some((range, field)))
            }
            Err(_) if value.starts_with('/') => Ok(None),
            Err(nearest) => Err((range, FlawKind::Field { name: name.to_owned(), nearest })),
        }
    }

    /// Reads what follows the name of a field.
    fn of_field(
        &mut self,
        name: Range<usize>,
        field: &'static Field,
    ) -> Result<Option<Condition>, Flawed> {
        if self.rest().starts_with('(') {
            return match field.kind {
                FieldKind::Text(of) => self.group(of),
                FieldKind::Name(_)
                | FieldKind::Rate
                | FieldKind::Is
                | FieldKind::After
                | FieldKind::Before
                | FieldKind::Age
                | FieldKind::Has
                | FieldKind::Longer
                | FieldKind::Shorter => Err((name, FlawKind::GroupedField(field.name))),
            };
        }
        let value = self.value()?;
        if value.text.trim().is_empty() {
            return Err((name, FlawKind::NoValue(field.name)));
        }
        if value.form == Form::Regex
            && !matches!(field.kind, FieldKind::Text(_) | FieldKind::Name(_))
        {
            return Err((value.range, FlawKind::FieldRegex(field.name)));
        }
        let typed = value.text.trim();
        let range = value.range.clone();
        let date = || {
            When::typed(typed, self.zone)
                .ok_or_else(|| (range.clone(), FlawKind::Date(typed.to_owned())))
        };
        let leaf = match field.kind {
            FieldKind::Text(of) => return self.text_condition(of, &value),
            FieldKind::Name(kind) => {
                let pattern = match value.form {
                    Form::Regex => NamePattern::Regex(compile(typed, &range)?),
                    Form::Bare | Form::Quoted | Form::Part => NamePattern::Is(typed.to_lowercase()),
                };
                let at = position(self.text, &(name.start..range.end));
                Leaf::Name(NameTest { kind, pattern, at })
            }
            FieldKind::Is => Leaf::Row(RowTest::Is(find_state(typed).map_err(|nearest| {
                (range.clone(), FlawKind::State { word: typed.to_owned(), nearest })
            })?)),
            FieldKind::After => Leaf::Row(RowTest::Since(date()?)),
            FieldKind::Before => Leaf::Row(RowTest::Before(date()?)),
            FieldKind::Has => Leaf::Text(TextTest::Has(match typed.to_lowercase().as_str() {
                "file" => Attachment::File,
                "picture" => Attachment::Picture,
                _ => return Err((range, FlawKind::Attachment(typed.to_owned()))),
            })),
            FieldKind::Longer | FieldKind::Shorter => {
                let limit = LengthLimit::typed(typed);
                let limit = limit.ok_or_else(|| (range, FlawKind::Length(typed.to_owned())))?;
                let longer = Condition::Leaf(Leaf::Text(TextTest::Longer(limit)));
                let is_longer = matches!(field.kind, FieldKind::Longer);
                return Ok(Some(if is_longer { longer } else { longer.negated() }));
            }
            FieldKind::Rate => Leaf::Rate(
                RateLimit::typed(typed)
                    .ok_or_else(|| (range.clone(), FlawKind::Rate(typed.to_owned())))?,
            ),
            FieldKind::Age => Leaf::Row(
                age(typed, self.zone)
                    .ok_or_else(|| (range.clone(), FlawKind::Age(typed.to_owned())))?,
            ),
        };
        Ok(Some(Condition::Leaf(leaf)))
    }

    /// Returns the condition for a value in a field of an entry's texts; `None` if the value contains no words.
    fn text_condition(
        &mut self,
        field: TextField,
        value: &Value<'_>,
    ) -> Result<Option<Condition>, Flawed> {
        let part = |text: &str| {
            let part = folded(text.trim());
            (!part.is_empty()).then_some(TextTest::Part(field, part))
        };
        let test = match value.form {
            Form::Regex if value.text.is_empty() => None,
            Form::Regex => Some(TextTest::Regex(field, compile(value.text, &value.range)?)),
            Form::Part => part(value.text),
            Form::Bare | Form::Quoted if field == TextField::Link => {
                part(value.text.trim_end_matches('*'))
            }
            Form::Bare | Form::Quoted => self.term(field, value).map(TextTest::Words),
        };
        Ok(test.map(|test| Condition::Leaf(Leaf::Text(test))))
    }

    /// Returns the words of a value as a term; `None` if it contains no words.
    fn term(&mut self, field: TextField, value: &Value<'_>) -> Option<Term> {
        let (mut scanner, mut folded, mut words) =
            (WordScanner::new(value.text), String::new(), Vec::new());
        let mut end = 0;
        while let Some(word) = scanner.next_into(&mut folded) {
            words.push(folded.clone());
            end = word.to;
        }
        let bare = value.form == Form::Bare;
        let behind = value.text.get(end..).unwrap_or_default();
        let last = self.rest().is_empty();
        let open = self.typing && last && bare && behind.is_empty() && !self.excluded;
        // In scripts without spaces, the text may continue after the typed characters. The pairs of typed characters already
        // match its beginning, so the last word, which is a single character, is dropped.
        let dense = words.len() > 1 && words.last().is_some_and(|last| ends_run(value.text, last));
        if dense {
            words.pop();
        }
        let single = words.len() == 1 && words.first().is_some_and(|word| is_one_dense(word));
        let prefix = (open || (behind == "*" && bare) || single) && !dense;
        self.unfinished |= open && prefix && !words.is_empty();
        (!words.is_empty()).then_some(Term { field, words, prefix })
    }
}

fn is_name(part: &Condition, kind: NameKind) -> bool {
    matches!(part, Condition::Leaf(Leaf::Name(name)) if name.kind == kind)
}

/// Compiles the regular expression of a value.
fn compile(expression: &str, range: &Range<usize>) -> Result<EntryRegex, Flawed> {
    let plain = expression.replace("\\/", "/");
    EntryRegex::compile(&plain).map_err(|why| {
        (range.clone(), FlawKind::Regex { expression: expression.to_owned(), why: why.into() })
    })
}

/// Parses an age, such as `<3d` for entries younger than three days.
fn age(typed: &str, zone: Tz) -> Option<RowTest> {
    let (younger, period) = match typed.strip_prefix('<') {
        Some(period) => (true, period),
        None => (false, typed.strip_prefix('>')?),
    };
    match When::typed(period.trim(), zone)? {
        When::At(_) => None,
        ago @ When::Ago(_) if younger => Some(RowTest::Since(ago)),
        ago @ When::Ago(_) => Some(RowTest::Before(ago)),
    }
}

/// Checks whether the last word of a text is a single letter that ends a run of two or more letters of a script
/// without spaces.
fn ends_run(text: &str, last: &str) -> bool {
    is_one_dense(last) && folded(text.trim_end_matches('*')).chars().rev().take(2).all(is_dense)
}

fn is_one_dense(word: &str) -> bool {
    let mut chars = word.chars();
    chars.next().is_some_and(is_dense) && chars.next().is_none()
}

/// Characters around phrases.
const QUOTES: [char; 3] = ['"', '“', '”'];

/// The value of a part as typed.
pub(super) struct Value<'t> {
    pub(super) text: &'t str,
    pub(super) form: Form,
    /// Bytes of the whole value in the query.
    pub(super) range: Range<usize>,
}

/// How a value is written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// One word.
    Bare,
    /// Between quotation marks.
    Quoted,
    /// Between asterisks.
    Part,
    /// Between slashes.
    Regex,
}

impl<'t> Parser<'t> {
    /// Reads a value: words in quotation marks, a part of a word between asterisks, a regular expression, or one word.
    pub(super) fn value(&mut self) -> Result<Value<'t>, Flawed> {
        let from = self.at;
        if self.rest().starts_with('/') {
            return self.regex();
        }
        let starred = self.rest().strip_prefix('*').is_some_and(|rest| rest.starts_with(QUOTES));
        if starred {
            self.skip(1);
        }
        let Some(quote) = self.rest().chars().next().filter(|first| QUOTES.contains(first)) else {
            return self.bare();
        };
        self.skip(quote.len_utf8());
        let inner = self.rest();
        // The closing quotation mark may not have been typed yet.
        let end = inner.find(QUOTES).unwrap_or(inner.len());
        let text = inner.get(..end).unwrap_or_default();
        self.skip(end);
        let closing = self.rest().chars().next().map_or(0, char::len_utf8);
        self.skip(closing);
        let mut form = Form::Quoted;
        if starred {
            form = Form::Part;
            if self.rest().starts_with('*') {
                self.skip(1);
            } else if !(self.typing && self.rest().is_empty()) {
                return Err((from..self.at, FlawKind::Asterisk));
            }
        }
        Ok(Value { text, form, range: from..self.at })
    }

    fn bare(&mut self) -> Result<Value<'t>, Flawed> {
        let (rest, mut open) = (self.rest(), 0_usize);
        let ends = |c: char| {
            match c {
                '(' => open = open.saturating_add(1),
                ')' if open == 0 => return self.depth > 0,
                ')' => open = open.saturating_sub(1),
                _ => return c.is_whitespace(),
            }
            false
        };
        let text = rest.get(..rest.find(ends).unwrap_or(rest.len())).unwrap_or_default();
        let range = self.skip(text.len());
        let Some(inner) = text.strip_prefix('*').filter(|inner| inner.contains(|c: char| c != '*'))
        else {
            return Ok(Value { text, form: Form::Bare, range });
        };
        match inner.strip_suffix('*') {
            Some(part) => Ok(Value { text: part, form: Form::Part, range }),
            None if self.typing && self.rest().is_empty() => {
                Ok(Value { text: inner, form: Form::Part, range })
            }
            None => Err((range, FlawKind::Asterisk)),
        }
    }

    fn regex(&mut self) -> Result<Value<'t>, Flawed> {
        let from = self.skip(1).start;
        let mut escaped = false;
        let end = self.rest().find(|c: char| {
            let closes = c == '/' && !escaped;
            escaped = c == '\\' && !escaped;
            closes
        });
        let Some(end) = end else {
            return Err((from..self.text.len(), FlawKind::UnclosedRegex));
        };
        let text = self.rest().get(..end).unwrap_or_default();
        self.skip(end.saturating_add(1));
        let range = from..self.at;
        if !self.rest().is_empty()
            && !self.rest().starts_with(|c: char| c.is_whitespace() || c == ')')
        {
            return Err((range, FlawKind::AfterRegex));
        }
        Ok(Value { text, form: Form::Regex, range })
    }
}

#[cfg(test)]
mod query_tests {
    use chrono_tz::Tz;
    use proptest::prelude::*;

    use super::*;
    use crate::search::parse;

    #[test]
    fn words_of_a_text_become_a_query() {
        for (text, query) in [
            ("Sponsored", "title:Sponsored"),
            ("Late frost - don't", "title:(Late frost \"don't\")"),
            ("a \"b\" OR (c)", "title:(a b \"OR\" \"(c)\")"),
            ("--", ""),
        ] {
            assert_eq!(field_query("title", text), query);
        }
    }

    proptest! {
        #[test]
        fn the_query_of_any_words_is_understood(text in "(a|OR|-|\\*|/|\\(|\\)|:|\"| |é|東京){0,12}") {
            let query = parse(&field_query("title", &text), false, Tz::UTC);
            prop_assert!(query.is_ok(), "{:?}", query);
        }
    }
}

#[cfg(test)]
#[path = "parse_query_tests.rs"]
mod tests;
