//! Makes text fit for a terminal: plain, without control characters, of bounded length (SPEC G.52).

use std::borrow::Cow;

use super::characters::{is_bidi_control, is_harmless, is_invisible, is_joiner, is_mark};
use super::xml::references::{push_resolved, windows_1252};

/// Longest title kept, in characters.
pub const TITLE_MAX: usize = 1_000;
/// Longest name, category or other short text kept, in characters.
pub const NAME_MAX: usize = 300;
/// How many combining marks may follow one another on one letter.
const MARKS_MAX: usize = 4;

/// Makes one line of plain text: without control and bidi characters and runs of invisible ones, with white
/// space collapsed and trimmed, at most `max` characters long (the last one is an ellipsis if it was cut).
pub fn one_line(text: &str, max: usize) -> String {
    let mut out = String::with_capacity(text.len().min(max.saturating_mul(4)));
    let mut filter = Filter::default();
    let mut gap = false;
    let mut count = 0_usize;
    for c in text.chars() {
        if c.is_whitespace() {
            gap = count > 0;
            continue;
        }
        if !filter.admits(c) {
            continue;
        }
        if count + 1 + usize::from(gap) > max {
            push_ellipsis(&mut out, count >= max);
            return out;
        }
        if gap {
            out.push(' ');
            count += 1;
            gap = false;
        }
        out.push(c);
        count += 1;
    }
    while out.ends_with(is_joiner) {
        out.pop();
    }
    out
}

/// Appends an ellipsis. Where the text is full it takes the place of the last character.
fn push_ellipsis(out: &mut String, full: bool) {
    if full {
        out.pop();
    }
    if out.ends_with(' ') {
        out.pop();
    }
    out.push('…');
}

/// Makes one line of plain text from markup: without tags, with character references resolved once.
pub fn plain_line(markup: &str, max: usize) -> String {
    if markup.contains(['<', '&']) {
        one_line(&strip_markup(markup), max)
    } else {
        one_line(markup, max)
    }
}

/// Like [`plain_line`], but `None` where nothing is left.
pub fn some_line(markup: &str, max: usize) -> Option<String> {
    Some(plain_line(markup, max)).filter(|line| !line.is_empty())
}

/// Removes control and bidi characters but line ends and tabs. C1 controls that stand for characters of
/// windows-1252 become those.
pub fn safe_text(text: &str) -> Cow<'_, str> {
    if text.chars().all(is_harmless) {
        return Cow::Borrowed(text);
    }
    let meant =
        |c: char| if matches!(c, '\u{80}'..='\u{9f}') { windows_1252(u32::from(c)) } else { c };
    Cow::Owned(text.chars().map(meant).filter(|&c| is_harmless(c)).collect())
}

/// Decides character by character what a line may hold.
#[derive(Default)]
struct Filter {
    /// The last character was visible.
    visible: bool,
    marks: usize,
}

impl Filter {
    fn admits(&mut self, c: char) -> bool {
        if c.is_control() || is_bidi_control(c) || is_invisible(c) {
            return false;
        }
        if is_joiner(c) {
            return std::mem::replace(&mut self.visible, false);
        }
        if is_mark(c) {
            self.marks += 1;
            return self.marks <= MARKS_MAX;
        }
        self.visible = true;
        self.marks = 0;
        true
    }
}

/// Returns the text of markup, without tags, comments and the insides of `script` and `style`, with
/// character references resolved once. The time is linear in the input.
pub fn strip_markup(markup: &str) -> String {
    let mut out = String::with_capacity(markup.len());
    let mut rest = markup;
    while let Some((text, tail)) = split_at_tag(rest) {
        push_resolved(&mut out, text);
        let Some(end) = tag_end(tail) else {
            if !tail.starts_with("<!--") {
                push_resolved(&mut out, tail);
            }
            return out;
        };
        let (tag, after) = tail.split_at(end);
        rest = after;
        let name = tag_name(tag);
        if is_block(name) {
            out.push(' ');
        }
        if !tag.starts_with("</")
            && let Some(hidden) = HIDDEN.iter().find(|known| name.eq_ignore_ascii_case(known))
        {
            rest = skip_hidden(rest, hidden);
        }
    }
    push_resolved(&mut out, rest);
    out
}

/// Elements whose content is not text.
const HIDDEN: [&str; 2] = ["script", "style"];

/// Returns the text before the next tag, and the rest that starts with it.
fn split_at_tag(text: &str) -> Option<(&str, &str)> {
    let bytes = text.as_bytes();
    memchr::memchr_iter(b'<', bytes)
        .find(|&at| {
            bytes
                .get(at + 1)
                .is_some_and(|&b| b.is_ascii_alphabetic() || matches!(b, b'/' | b'!' | b'?'))
        })
        .and_then(|at| text.split_at_checked(at))
}

/// Length of the tag or comment at the start of `text`, which starts with `<`.
fn tag_end(text: &str) -> Option<usize> {
    if text.starts_with("<!--")
        && let Some(end) = memchr::memmem::find(text.as_bytes(), b"-->")
    {
        return Some(end + 3);
    }
    let mut quote = None;
    for (at, byte) in text.bytes().enumerate() {
        match (quote, byte) {
            (None, b'>') => return Some(at + 1),
            (None, b'"' | b'\'') => quote = Some(byte),
            (Some(open), _) if open == byte => quote = None,
            _ => {}
        }
    }
    memchr::memchr(b'>', text.as_bytes()).map(|at| at + 1)
}

fn tag_name(tag: &str) -> &str {
    let inner = tag.trim_start_matches(['<', '/']);
    let end = inner.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(inner.len());
    inner.get(..end).unwrap_or("")
}

/// Elements that separate words.
fn is_block(name: &str) -> bool {
    const BLOCK: [&str; 27] = [
        "article",
        "aside",
        "blockquote",
        "br",
        "caption",
        "center",
        "dd",
        "div",
        "dl",
        "dt",
        "figcaption",
        "figure",
        "footer",
        "h1",
        "h2",
        "h3",
        "h4",
        "header",
        "hr",
        "li",
        "ol",
        "p",
        "pre",
        "table",
        "td",
        "tr",
        "ul",
    ];
    BLOCK.iter().any(|known| name.eq_ignore_ascii_case(known))
}

/// Returns what follows the end tag of a hidden element, nothing where there is none.
fn skip_hidden<'a>(text: &'a str, name: &str) -> &'a str {
    for at in memchr::memmem::find_iter(text.as_bytes(), b"</") {
        let tail = text.get(at + 2..).unwrap_or("");
        if tail.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name)) {
            return tail.find('>').and_then(|end| tail.get(end + 1..)).unwrap_or("");
        }
    }
    ""
}

/// Appends text escaped for markup.
pub(super) fn push_escaped(out: &mut String, text: &str) {
    push_replaced(out, text, |byte| matches!(byte, b'&' | b'<' | b'>'));
}

/// Like [`push_escaped`], for the value of an attribute in double quotes.
pub(super) fn push_escaped_attribute(out: &mut String, text: &str) {
    push_replaced(out, text, |byte| matches!(byte, b'&' | b'<' | b'>' | b'"'));
}

fn push_replaced(out: &mut String, text: &str, special: impl Fn(u8) -> bool) {
    let mut rest = text;
    while let Some(at) = rest.bytes().position(&special) {
        let (before, tail) = rest.split_at(at);
        out.push_str(before);
        out.push_str(match tail.as_bytes().first() {
            Some(b'&') => "&amp;",
            Some(b'<') => "&lt;",
            Some(b'>') => "&gt;",
            _ => "&quot;",
        });
        rest = tail.get(1..).unwrap_or("");
    }
    out.push_str(rest);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(markup: &str, expected: &str) {
        assert_eq!(plain_line(markup, TITLE_MAX), expected, "{markup:?}");
    }

    #[test]
    fn markup_becomes_one_plain_line() {
        check("a <b>bold</b> move", "a bold move");
        check("one<br/>two<p>three</p>", "one two three");
        check("AT&amp;T &lt;b&gt; &#8217; &#x41;", "AT&T <b> ’ A");
        check("&#150; is a dash", "– is a dash");
        check("fish & chips &nosuch; &", "fish & chips &nosuch; &");
        check("1 < 2 <3", "1 < 2 <3");
        check("x<script>alert('<p>')</script>y<style>p{}</style>z", "xyz");
        check("<!-- hidden > -->shown", "shown");
        check("<a title=\"a > b\">x</a>", "x");
        check("open <a href='x", "open <a href='x");
    }

    #[test]
    fn what_could_steer_a_terminal_or_hide_text_is_removed() {
        check("a\u{1b}[31mred\u{7}\u{9b}", "a[31mred");
        check("&#27;[2J", "[2J");
        check("abc\u{202e}fed\u{2066}", "abcfed");
        check("z\u{200b}\u{feff}w\u{ad}", "zw");
        check("\u{200d}a\u{200d}\u{200d}\u{200d}b\u{200d}", "a\u{200d}b");
        check("a\u{0301}\u{0301}\u{0301}\u{0301}\u{0301}\u{0301}", "a\u{301}\u{301}\u{301}\u{301}");
        check(" a \t\n\u{2028} b\u{a0}", "a b");
    }

    #[test]
    fn long_lines_are_cut_with_an_ellipsis() {
        assert_eq!(one_line("abcdef", 6), "abcdef");
        assert_eq!(one_line("abcdefg", 6), "abcde…");
        assert_eq!(one_line("abc def", 4), "abc…");
        assert_eq!(one_line(&"x".repeat(10_000), TITLE_MAX).chars().count(), TITLE_MAX);
        assert_eq!(one_line("x", 0), "…");
    }

    #[test]
    fn bodies_keep_lines_and_lose_controls() {
        assert_eq!(safe_text("a\nb\tc"), "a\nb\tc");
        assert_eq!(safe_text("a\u{1b}\u{202e}\u{92}b"), "a’b");
    }
}
