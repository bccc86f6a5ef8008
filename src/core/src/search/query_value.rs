//! Reads the values in a query: words, phrases, parts of words and regular expressions.

use std::ops::Range;

use super::parse_query::{Flawed, Parser};
use super::query_flaw::FlawKind;

/// Characters around phrases.
pub(super) const QUOTES: [char; 3] = ['"', '“', '”'];

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
