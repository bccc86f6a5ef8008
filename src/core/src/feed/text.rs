//! Makes text safe for a terminal: plain, without control characters and of bounded length (SPEC G.52).

use std::borrow::Cow;

use super::characters::{
    FlagTags, Shift, is_bidi_control, is_harmless, is_invisible, is_joiner, is_mark,
};
use super::content::absolute_addresses::attribute;
use super::content::markup_starts::{MarkupStarts, Place};
use super::content::math::{formula_text, is_formula};
use super::xml::references::{push_resolved, resolve, windows_1252};

/// Maximum length of a title, in characters.
pub const TITLE_MAX: usize = 1_000;
/// Maximum length of a name, category or other short text, in characters.
pub const NAME_MAX: usize = 300;
/// Maximum length of the names of all authors of an entry, in characters.
const AUTHORS_MAX: usize = 4_000;
/// Maximum number of consecutive combining marks kept on one letter.
const MARKS_MAX: usize = 4;

/// Converts text to one line of at most `max` characters. Removes control and bidi characters and runs of invisible characters, and
/// collapses and trims white space. If the text is cut, the last character is an ellipsis.
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

/// Appends an ellipsis to `out`. If `out` already has its maximum length (`full`), the ellipsis replaces the last character.
fn push_ellipsis(out: &mut String, full: bool) {
    if full {
        out.pop();
    }
    if out.ends_with(' ') {
        out.pop();
    }
    out.push('…');
}

/// Converts the markup of a title or name to one line of plain text. Removes tags and resolves character references once.
pub fn plain_line(markup: &str, max: usize) -> String {
    if markup.contains('<') {
        one_line(&without_markup(markup, Place::Line), max)
    } else if markup.contains('&') {
        one_line(&resolve(markup), max)
    } else {
        one_line(markup, max)
    }
}

/// Resolves the character references of a title or name without markup once, in one line.
pub(crate) fn resolved_line(text: &str, max: usize) -> String {
    one_line(&resolve(text), max)
}

/// Joins the names of authors to one line.
pub(crate) fn joined_names(names: impl Iterator<Item = String>) -> Option<String> {
    let mut all: Vec<String> = Vec::new();
    for name in names {
        if !all.contains(&name) {
            all.push(name);
        }
    }
    Some(one_line(&all.join(", "), AUTHORS_MAX)).filter(|line| !line.is_empty())
}

/// Shortens a list of more than three authors to the first two and the number of the others.
pub fn short_authors(authors: &str) -> Cow<'_, str> {
    let names: Vec<&str> = authors.split(", ").collect();
    // Titles such as `PhD` follow a name after a comma, too.
    let are_names = names.iter().all(|name| name.trim().contains([' ', '.']));
    match names.as_slice() {
        [first, second, _, _, ..] if are_names => {
            Cow::Owned(format!("{first}, {second} and {} more", names.len().saturating_sub(2)))
        }
        _ => Cow::Borrowed(authors),
    }
}

/// Like [`plain_line`], but returns `None` if the result is empty.
pub(crate) fn some_line(markup: &str, max: usize) -> Option<String> {
    Some(plain_line(markup, max)).filter(|line| !line.is_empty())
}

/// Removes control and bidi characters except line ends and tabs. Converts C1 controls to the windows-1252 characters with the same
/// byte values.
pub(crate) fn safe_text(text: &str) -> Cow<'_, str> {
    if text.chars().all(is_harmless) {
        return Cow::Borrowed(text);
    }
    let meant =
        |c: char| if matches!(c, '\u{80}'..='\u{9f}') { windows_1252(u32::from(c)) } else { c };
    Cow::Owned(text.chars().map(meant).filter(|&c| is_harmless(c)).collect())
}

/// Decides for each character of a line whether it is kept.
#[derive(Default)]
struct Filter {
    /// Whether an invisible joining character may follow, because the last character was visible.
    visible: bool,
    /// Whether the last character shows the visible one before it as an emoji.
    is_emoji: bool,
    marks: usize,
    flags: FlagTags,
}

impl Filter {
    fn admits(&mut self, c: char) -> bool {
        if self.flags.admits(c) {
            return true;
        }
        if c.is_control() || is_bidi_control(c) || is_invisible(c) {
            return false;
        }
        if is_joiner(c) {
            let is_emoji = std::mem::replace(&mut self.is_emoji, self.visible && c == '\u{fe0f}');
            // An emoji is joined to the next one after its variation selector: U+FE0F, U+200D.
            return std::mem::replace(&mut self.visible, false) || (is_emoji && c == '\u{200d}');
        }
        self.is_emoji = false;
        if is_mark(c) {
            self.marks += 1;
            return self.marks <= MARKS_MAX;
        }
        self.visible = true;
        self.marks = 0;
        true
    }
}

/// Returns a count with its noun: `1 time`, `2 times`.
pub fn counted_words(count: impl std::fmt::Display, one: &str, many: &str) -> String {
    let count = count.to_string();
    let noun = if count == "1" { one } else { many };
    format!("{count} {noun}")
}

/// Converts the markup of an entry to text. Removes tags, comments and the contents of `script` and `style`, and resolves
/// character references once. The run time is linear in the input.
pub fn strip_markup(markup: &str) -> String {
    without_markup(markup, Place::Body)
}

fn without_markup(markup: &str, place: Place) -> String {
    let mut starts = MarkupStarts::new(markup, place);
    let mut out = String::with_capacity(markup.len());
    let mut from = 0;
    let mut raised = None;
    while let Some(at) = starts.next(from) {
        push_resolved(&mut out, markup.get(from..at).unwrap_or_default());
        let tail = markup.get(at..).unwrap_or_default();
        let Some(end) = markup_length(tail) else { return out };
        let (tag, after) = tail.split_at(end);
        from = at + end;
        if let Some(inside) = cdata(tag) {
            out.push_str(inside);
            continue;
        }
        let name = tag_name(tag);
        if is_block(name) {
            out.push(' ');
        }
        // In a title, an image often replaces a word, so its `alt` text is used.
        if place == Place::Line && name.eq_ignore_ascii_case("img") {
            let alt =
                attribute(tag, "alt").filter(|alt| !alt.contains('<') && !alt.contains("&lt;"));
            push_resolved(&mut out, alt.unwrap_or_default());
        }
        let is_end = tag.starts_with("</");
        if let Some(length) = formula_length(tag, after) {
            out.push_str(&formula_text(markup.get(at..from + length).unwrap_or_default()));
            from += length;
            continue;
        }
        if let Some(shift) = Shift::of(name) {
            raised = if is_end {
                raised.take().and_then(|from| shift_end(&mut out, from, shift))
            } else {
                Some(out.len())
            };
        } else if !is_end && HIDDEN.iter().any(|known| name.eq_ignore_ascii_case(known)) {
            from += hidden_length(after, name);
        }
    }
    push_resolved(&mut out, markup.get(from..).unwrap_or_default());
    out
}

/// Returns the length of the formula that `tag` begins, with its end tag. Returns `None` if `tag` begins no formula.
fn formula_length(tag: &str, after: &str) -> Option<usize> {
    let name = tag.strip_prefix('<')?;
    let name = name.get(..name.find(|c: char| !c.is_ascii_alphanumeric() && c != ':')?)?;
    if !is_formula(name) || tag.ends_with("/>") {
        return None;
    }
    let end = memchr::memmem::find(after.as_bytes(), format!("</{name}").as_bytes())?;
    Some(end + after.get(end..)?.find('>')? + 1)
}

/// Converts the text in `out` from the byte offset `from` onwards to superscript or subscript.
fn shift_end(out: &mut String, from: usize, shift: Shift) -> Option<usize> {
    let inside = out.split_off(from.min(out.len()));
    let shifted = shift.apply(&inside, out.chars().next_back());
    out.push_str(&shifted);
    None
}

/// Elements whose content is not displayed.
const HIDDEN: [&str; 2] = ["script", "style"];

/// Returns the text of a CDATA section. HTML does not define CDATA sections, but publishers write them.
fn cdata(tag: &str) -> Option<&str> {
    let (start, inside) = tag.split_at_checked("<![CDATA[".len())?;
    let is_cdata = start.eq_ignore_ascii_case("<![CDATA[");
    is_cdata.then(|| inside.strip_suffix("]]>").unwrap_or(inside))
}

/// Returns the length of the tag, comment or CDATA section at the start of `text`, or `None` if its end is missing.
fn markup_length(text: &str) -> Option<usize> {
    let up_to = |mark: &str| {
        memchr::memmem::find(text.as_bytes(), mark.as_bytes()).map(|end| end + mark.len())
    };
    if text.starts_with("<!--") {
        return up_to("-->");
    }
    if cdata(text).is_some() {
        return Some(up_to("]]>").unwrap_or(text.len()));
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

/// Checks whether an element separates the words before and after its tags.
pub(super) fn is_block(name: &str) -> bool {
    // Only names of the same length are compared, because a text has many tags.
    let known: &[&str] = match name.len() {
        1 => &["p"],
        2 => &[
            "br", "li", "h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "td", "tr", "dd", "dl",
            "dt", "hr",
        ],
        3 => &["div", "pre"],
        5 => &["aside", "table"],
        6 => &["center", "figure", "footer", "header"],
        7 => &["article", "caption", "section"],
        10 => &["blockquote", "figcaption"],
        _ => return false,
    };
    known.iter().any(|known| name.eq_ignore_ascii_case(known))
}

/// Returns the length of `text` up to the end tag of the hidden element `name`, or the whole length if there is no such end tag.
fn hidden_length(text: &str, name: &str) -> usize {
    for at in memchr::memmem::find_iter(text.as_bytes(), b"</") {
        let tail = text.get(at + 2..).unwrap_or("");
        if tail.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name)) {
            return tail.find('>').map_or(text.len(), |end| at + 2 + end + 1);
        }
    }
    text.len()
}

/// Appends text and escapes `&`, `<` and `>` for markup, and `"` for an attribute in double quotes.
pub(super) fn push_escaped(out: &mut String, text: &str, is_attribute: bool) {
    let mut rest = text;
    let is_special = |byte| matches!(byte, b'&' | b'<' | b'>') || (is_attribute && byte == b'"');
    while let Some(at) = rest.bytes().position(is_special) {
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
        check(
            "10<sup>6</sup> of C<sub>2</sub>H<sub>6</sub>, the 4<sup>th</sup>",
            "10⁶ of C₂H₆, the 4th",
        );
        check("x<sup>a/b</sup> <sup>6", "x^a/b <sup>6");
        check("<![CDATA[a & <T>]]> b", "a & <T> b");
        check("<img src=x alt='Chart of &eacute;'> and <img src=y>", "Chart of é and");
    }

    #[test]
    fn angle_brackets_that_are_no_markup_are_kept() {
        check("Vec&lt;T> beats List<T>", "Vec<T> beats List<T>");
        check("The <b> tag &amp; <blink>", "The <b> tag & <blink>");
        let text = "for all $k<n$ it holds,<br>for $m>n$ not: <ada@a.example>";
        assert_eq!(strip_markup(text), "for all $k<n$ it holds, for $m>n$ not: <ada@a.example>");
        assert_eq!(strip_markup("a <!-- cut"), "a ");
    }

    #[test]
    fn terminal_controls_and_hidden_text_are_removed() {
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
    fn flags_of_parts_of_countries_keep_their_tag_characters() {
        let wales = "\u{1f3f4}\u{e0067}\u{e0062}\u{e0077}\u{e006c}\u{e0073}\u{e007f}";
        check(&format!("{wales} Rain"), &format!("{wales} Rain"));
        check("Rain\u{e0067}\u{e0062}", "Rain");
        check(&format!("{wales}\u{e0067} Rain"), &format!("{wales} Rain"));
        let long = format!("\u{1f3f4}{}", "\u{e0061}".repeat(20));
        check(&long, &format!("\u{1f3f4}{}", "\u{e0061}".repeat(7)));
    }

    #[test]
    fn an_emoji_is_joined_to_the_next_one() {
        for emoji in ["\u{1f3f3}\u{fe0f}\u{200d}\u{1f308}", "\u{2764}\u{fe0f}\u{200d}\u{1f525}"] {
            check(&format!("a {emoji} b"), &format!("a {emoji} b"));
        }
        check("a\u{fe0f}\u{fe0f}\u{200d}b", "a\u{fe0f}b");
    }

    #[test]
    fn long_lists_of_authors_are_shortened() {
        for (authors, expected) in [
            ("Ada Otter, Bo Heron, Cy Swan", "Ada Otter, Bo Heron, Cy Swan"),
            ("Ada Otter, Bo Heron, Cy Swan, Di Coot, E. Rail", "Ada Otter, Bo Heron and 3 more"),
            ("Ada Otter, MD, PhD, FRS", "Ada Otter, MD, PhD, FRS"),
        ] {
            assert_eq!(short_authors(authors), expected);
        }
    }

    #[test]
    fn formulas_in_titles_keep_their_structure() {
        check("A <math><mfrac><mn>1</mn><mn>2</mn></mfrac></math> b", "A 1/2 b");
        check(
            "<mml:math><mml:msup><mml:mi>x</mml:mi><mml:mn>2</mml:mn></mml:msup></mml:math>",
            "x²",
        );
    }

    #[test]
    fn bodies_keep_lines_and_lose_controls() {
        assert_eq!(safe_text("a\nb\tc"), "a\nb\tc");
        assert_eq!(safe_text("a\u{1b}\u{202e}\u{92}b"), "a’b");
    }

    #[test]
    fn counts_have_their_noun() {
        assert_eq!(
            [1, 2].map(|count| counted_words(count, "entry", "entries")),
            ["1 entry", "2 entries"]
        );
    }
}
