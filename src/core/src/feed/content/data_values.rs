//! Removes images embedded in markup as `data:` URLs. They can make up most of the bytes of an entry but contain no readable text.

use std::borrow::Cow;

/// Maximum length of a `data:` URL that is kept unchanged, in bytes.
const SHORT: usize = 256;

/// Returns markup without the contents of `data:` URLs, so that a size limit counts only readable content.
pub fn without_data_values(markup: &str) -> Cow<'_, str> {
    let mut out = String::new();
    let mut copied = 0;
    for at in memchr::memmem::find_iter(markup.as_bytes(), b"data:") {
        let before = markup.as_bytes().get(at.wrapping_sub(1)).copied().unwrap_or_default();
        if at < copied || !matches!(before, b'"' | b'\'' | b'(' | b'=' | b',' | b' ') {
            continue;
        }
        let value = markup.get(at..).unwrap_or_default();
        let ends = |byte: u8| {
            byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\'' | b')' | b'<' | b'>')
        };
        let length = value.bytes().position(ends).unwrap_or(value.len());
        if length > SHORT {
            out.push_str(markup.get(copied..at).unwrap_or_default());
            out.push_str("data:,");
            copied = at + length;
        }
    }
    if copied == 0 {
        return Cow::Borrowed(markup);
    }
    out.push_str(markup.get(copied..).unwrap_or_default());
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_data_urls_are_removed_and_the_rest_stays() {
        let picture = format!("data:image/png;base64,{}", "iVBORw0KGgo+/".repeat(100));
        let markup = format!(
            "a <img src=\"{picture}\" alt=\"x\"> b <p style='background:url({picture})'>c</p>"
        );
        assert_eq!(
            without_data_values(&markup),
            "a <img src=\"data:,\" alt=\"x\"> b <p style='background:url(data:,)'>c</p>"
        );
        for text in ["data: 1, 2", "<img src='data:image/gif;base64,R0lGOD'>", "mydata:x"] {
            assert_eq!(without_data_values(text), text);
        }
    }
}
