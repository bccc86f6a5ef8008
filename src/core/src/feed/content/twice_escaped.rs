//! Recognises a text whose markup the publisher escaped twice, so that readers would see its tags.

use super::html_names::{element_kind, is_void};
use super::markup::{Piece, walk_markup};
use crate::feed::text::is_block;
use crate::feed::xml::references::resolve;

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

#[cfg(test)]
mod tests {
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
