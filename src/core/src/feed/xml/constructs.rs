//! Texts of elements: Atom text constructs, texts whose markup was escaped twice, and the names of authors, which may include an
//! email address or be split into several elements.

use std::borrow::Cow;

use url::Url;

use super::super::content::html_names::{element_kind, is_void};
use super::super::content::markup::{Piece, walk_markup};
use super::names::Ns;
use super::tree::XmlElement;
use crate::feed::text::{self, NAME_MAX, is_block};
use crate::feed::xml::references::resolve;

/// Text of an element, as plain text or as HTML.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::feed) enum Construct<'a> {
    /// Plain text, in which `<` is an ordinary character.
    Plain(Cow<'a, str>),
    Markup(Cow<'a, str>),
}

impl<'a> Construct<'a> {
    /// Reads the text of an element. For Atom and Media RSS elements, attributes state whether it is plain text or HTML. Elements
    /// of other vocabularies contain HTML.
    ///
    /// Relative URLs in the text are resolved against `base`.
    pub(in crate::feed) fn read(element: XmlElement<'_, 'a>, base: Option<&Url>) -> Self {
        let ns = element.ns();
        if ns == Ns::Atom {
            read_atom_text(element, base)
        } else if ns == Ns::Media && !element.has_elements() {
            read_media_text(element)
        } else if ns == Ns::Xhtml {
            Self::Markup(Cow::Owned(element.written_out(base)))
        } else {
            Self::Markup(without_cdata_mark(element.markup(base)))
        }
    }

    pub(in crate::feed) fn into_markup(self) -> Cow<'a, str> {
        match self {
            Self::Markup(markup) => markup,
            Self::Plain(plain) if plain.contains(['<', '&', '>']) => {
                let mut out = String::with_capacity(plain.len() + 16);
                text::push_escaped(&mut out, &plain, false);
                Cow::Owned(out)
            }
            Self::Plain(plain) => plain,
        }
    }

    /// Converts the text to one line of plain text.
    pub(in crate::feed) fn into_line(self, max: usize) -> String {
        match self {
            Self::Plain(plain) => text::one_line(&plain, max),
            Self::Markup(markup) => text::plain_line(&markup, max),
        }
    }
}

/// Reads a text construct as defined in RFC 4287 §3.1 and §4.1.3, with the `mode` of Atom 0.3.
fn read_atom_text<'a>(element: XmlElement<'_, 'a>, base: Option<&Url>) -> Construct<'a> {
    let stated = element.attribute("type").map(|value| value.to_ascii_lowercase());
    let kind = stated
        .as_deref()
        .map(|value| value.split(';').next().unwrap_or(value).trim())
        .unwrap_or_default();
    let mode =
        element.attribute("mode").map(|value| value.to_ascii_lowercase()).unwrap_or_default();
    if element.has_elements() {
        // Only in Atom 1.0 is the enclosing `div` not part of the content (RFC 4287 §3.1.1.3).
        let inside =
            if kind == "xhtml" { inside_of_div(element, base) } else { element.written_out(base) };
        return Construct::Markup(Cow::Owned(inside));
    }
    let text = element.text();
    let is_content = element.local() == "content";
    if (mode == "base64" || (mode.is_empty() && is_binary(kind)))
        && let Some(decoded) =
            decode_base64(&text).or_else(|| (is_content && is_base64(&text)).then(String::new))
    {
        let is_markup = kind.contains("html") || looks_like_markup(&decoded);
        let decoded = Cow::Owned(decoded);
        return if is_markup { Construct::Markup(decoded) } else { Construct::Plain(decoded) };
    }
    match kind {
        "" if looks_like_markup(&text) => Construct::Markup(text),
        "" | "text" => Construct::Plain(text),
        _ if kind.starts_with("text/") && kind != "text/html" && kind != "text/xml" => {
            Construct::Plain(text)
        }
        _ => Construct::Markup(without_cdata_mark(text)),
    }
}

/// Reads the text of `media:title` or `media:description` (Media RSS 1.5.1). The text is plain if `type` is `plain`, or if there
/// is no `type` and the text contains no tags.
fn read_media_text<'a>(element: XmlElement<'_, 'a>) -> Construct<'a> {
    let text = element.text();
    let stated = element.attribute("type");
    match stated.as_deref() {
        Some("plain") => Construct::Plain(text),
        None | Some("") if !looks_like_markup(&text) => Construct::Plain(text),
        Some(_) | None => Construct::Markup(text),
    }
}

/// Removes `<![CDATA[` and `]]>` if they are part of the text, because some publishers escape them together with the content.
fn without_cdata_mark(markup: Cow<'_, str>) -> Cow<'_, str> {
    let inside = markup.trim_start().strip_prefix("<![CDATA[");
    let inside = inside.map(|inside| inside.trim_end().replacen("]]>", "", 1));
    inside.map_or(markup, Cow::Owned)
}

/// Returns the content of the single XHTML `div` in an element, or the whole content if the element does not consist of a single
/// `div`.
fn inside_of_div(element: XmlElement<'_, '_>, base: Option<&Url>) -> String {
    let mut children = element.children();
    match (children.next(), children.next()) {
        (Some(div), None) if div.local() == "div" && element.leading_text().trim().is_empty() => {
            div.written_out(base)
        }
        _ => element.written_out(base),
    }
}

/// Checks whether content with this media type is base64-encoded (RFC 4287 §4.1.3.3).
fn is_binary(kind: &str) -> bool {
    kind.contains('/')
        && !kind.starts_with("text/")
        && !kind.contains("xml")
        && !kind.contains("html")
}

/// Checks whether a text that does not state its type contains tags. Plain text is unlikely to contain them.
fn looks_like_markup(text: &str) -> bool {
    const SIGNS: [&str; 8] = ["<p>", "<br", "<img ", "</p>", "</a>", "</b>", "</div>", "</span>"];
    text.contains('<') && SIGNS.iter().any(|sign| text.contains(sign))
}

/// Decodes base64. Returns `None` if the decoded bytes are not text.
fn decode_base64(text: &str) -> Option<String> {
    let mut out = Vec::with_capacity(text.len() / 4 * 3);
    let (mut bits, mut held) = (0_u32, 0_u32);
    for byte in text.bytes().filter(|byte| !byte.is_ascii_whitespace() && *byte != b'=') {
        bits = (bits << 6 | sextet(byte)?) & 0xff_ffff;
        held += 6;
        if held >= 8 {
            held -= 8;
            out.push((bits >> held).to_le_bytes()[0]);
        }
    }
    String::from_utf8(out).ok().map(|text| text::safe_text(&text).into_owned())
}

/// Checks whether a text consists only of base64 characters and white space. Such a text is unreadable for users, whatever it
/// encodes.
fn is_base64(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_whitespace() || byte == b'=' || sextet(byte).is_some())
}

fn sextet(byte: u8) -> Option<u32> {
    let value = match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'+' | b'-' => 62,
        b'/' | b'_' => 63,
        _ => return None,
    };
    Some(u32::from(value))
}

/// Returns the markup of a text that consists of nothing but escaped elements, each of them closed. Returns `None` for any other
/// text, because it may be about markup.
pub(in crate::feed) fn unescaped_if_twice(text: &str) -> Option<String> {
    let trimmed = text.trim();
    if !trimmed.starts_with("&lt;") || !trimmed.ends_with("&gt;") || text.contains('<') {
        return None;
    }
    Some(resolve(trimmed)).filter(|markup| is_balanced(markup))
}

/// Checks whether markup consists of block elements that are properly nested and closed, without text beside them.
fn is_balanced(markup: &str) -> bool {
    let mut open: Vec<String> = Vec::new();
    let mut is_balanced = true;
    walk_markup(markup, |piece| match piece {
        Piece::Open(tag) => {
            let name = tag.name();
            let fits = !open.is_empty() || is_block(name) || is_void(name);
            is_balanced &= fits && element_kind(name).is_some();
            if !is_void(name) && !tag.is_self_closing() {
                open.push(name.to_owned());
            }
        }
        Piece::Close(name) => is_balanced &= open.pop().is_some_and(|last| last == name),
        Piece::Text(text) => is_balanced &= !open.is_empty() || text.trim().is_empty(),
    });
    is_balanced && open.is_empty()
}

/// Returns the name of an author as one line of text. An email address in addition to the name is removed.
pub(in crate::feed) fn author_name(element: XmlElement<'_, '_>) -> Option<String> {
    let part = |local: &str| {
        element
            .children()
            .find(|child| child.local() == local)
            .and_then(|child| text::some_line(&child.text(), NAME_MAX))
    };
    let stated = if element.has_elements() {
        part("name").or_else(|| part("email")).or_else(|| part("uri"))
    } else {
        text::some_line(&element.text(), NAME_MAX)
    }?;
    Some(without_address(&stated)).filter(|name| !name.is_empty())
}

/// Extracts the name from `mail@host (Name)`, `Name <mail@host>` and similar texts. If there is only an email address, returns the
/// address, or its part before the `@` if it is not ASCII.
fn without_address(text: &str) -> String {
    let Some(mail) = text.split_whitespace().find(|word| word.contains('@')) else {
        return text.to_owned();
    };
    let rest: String =
        text.split_whitespace().filter(|word| *word != mail).collect::<Vec<_>>().join(" ");
    let name = match (rest.find('('), rest.rfind(')')) {
        (Some(open), Some(close)) if open < close => rest.get(open + 1..close).unwrap_or(&rest),
        _ => &rest,
    };
    let name = name.trim_matches(|c: char| {
        c.is_whitespace() || matches!(c, '(' | ')' | '<' | '>' | '"' | ',' | '-')
    });
    let bare = mail.trim_matches(|c: char| matches!(c, '(' | ')' | '<' | '>' | '[' | ']' | ','));
    let bare = bare.strip_prefix("mailto:").unwrap_or(bare);
    match (name.contains('@') || name.is_empty(), bare.is_ascii()) {
        (false, _) => name.to_owned(),
        (true, true) => bare.to_owned(),
        (true, false) => bare.split('@').next().unwrap_or_default().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use crate::feed::flaws::Flaws;
    use crate::feed::xml::constructs::*;
    use crate::feed::xml::tree_builder;

    fn check(content: &str, expected: &Construct<'_>) {
        let document = format!("<entry>{content}</entry>");
        let tree = tree_builder::build_tree(&document, &mut Flaws::default());
        let element = tree.root().and_then(|root| root.children().next()).expect("an element");
        assert_eq!(&Construct::read(element, None), expected, "{content}");
    }

    #[test]
    fn the_type_decides_what_a_text_is() {
        let plain = |text: &'static str| Construct::Plain(Cow::Borrowed(text));
        let markup = |text: &'static str| Construct::Markup(Cow::Borrowed(text));
        check("<title>a &lt;b> c</title>", &plain("a <b> c"));
        check("<title type='html'>a &lt;b&gt;c&lt;/b&gt;</title>", &markup("a <b>c</b>"));
        check("<content>&lt;p&gt;lazy&lt;/p&gt;</content>", &markup("<p>lazy</p>"));
        check("<content type='text/plain'>1 &lt; 2</content>", &plain("1 < 2"));
        check("<content type=''><![CDATA[x]]></content>", &plain("x"));
        check("<content type='application/octet-stream'>\n SGVsbG8= </content>", &plain("Hello"));
        check(
            "<content type='text/html' mode='base64'>PGI+eDwvYj4=</content>",
            &markup("<b>x</b>"),
        );
        check(
            "<content type='image/svg+xml'><svg><g a='\"'/></svg></content>",
            &markup("<svg><g a=\"&quot;\"></g></svg>"),
        );
    }

    #[test]
    fn xhtml_is_written_out_without_its_div_and_prefixes() {
        let expected = "a <b title=\"&quot;q&quot; &amp; b\">b</b> &lt;c&gt;<br />";
        check(
            "<content type='xhtml' xmlns:x='http://www.w3.org/1999/xhtml'> <x:div>a <x:b title='&quot;q&quot; &amp; b'>b</x:b> &lt;c&gt;<x:br/></x:div></content>",
            &Construct::Markup(Cow::Borrowed(expected)),
        );
    }

    #[test]
    fn plain_text_becomes_markup_that_shows_it() {
        assert_eq!(Construct::Plain(Cow::Borrowed("a < b")).into_markup(), "a &lt; b");
        assert_eq!(Construct::Plain(Cow::Borrowed("a <b> ")).into_line(10), "a <b>");
        assert_eq!(Construct::Markup(Cow::Borrowed("a <b>b</b>")).into_line(10), "a b");
    }
}

#[cfg(test)]
mod twice_escaped_tests {
    use super::*;

    #[test]
    fn only_a_text_of_balanced_elements_is_unescaped() {
        for (text, expected) in [
            (
                "&lt;p&gt;a &lt;b&gt;b&lt;/b&gt;&lt;br&gt;c&lt;/p&gt; &lt;p&gt;d&lt;/p&gt;",
                Some("<p>a <b>b</b><br>c</p> <p>d</p>"),
            ),
            (
                "&lt;p&gt;a &amp;amp; b &lt;a href=&#34;x&#34;&gt;c&lt;/a&gt;&lt;/p&gt;",
                Some("<p>a &amp; b <a href=\"x\">c</a></p>"),
            ),
            ("&lt;b&gt;", None),
            ("&lt;b&gt;a&lt;/b&gt;", None),
            ("&lt;p&gt;a", None),
            ("&lt;p&gt; and &lt;/p&gt; in text &lt;p&gt;", None),
            ("&lt;p&gt;a&lt;/p&gt; text &lt;p&gt;b&lt;/p&gt;", None),
            ("<p>&lt;p&gt;a&lt;/p&gt;</p>", None),
        ] {
            assert_eq!(unescaped_if_twice(text).as_deref(), expected);
        }
    }
}

#[cfg(test)]
mod person_tests {
    use crate::feed::xml::constructs::*;

    #[test]
    fn a_name_is_found_beside_an_address() {
        for (text, expected) in [
            ("Ada Lovelace", "Ada Lovelace"),
            ("ada@example.org (Ada Lovelace)", "Ada Lovelace"),
            ("Ada Lovelace <ada@example.org>", "Ada Lovelace"),
            ("Ada Lovelace (ada@example.org)", "Ada Lovelace"),
            ("“Ada” <ada@example.org>", "“Ada”"),
            ("mailto:ada@example.org", "ada@example.org"),
            ("ada@example.org", "ada@example.org"),
        ] {
            assert_eq!(without_address(text), expected);
        }
    }
}
