//! Kinds of login that a server accepts, as stated in a 401 response (RFC 9110 §11.6.1).

use backissue_core::feed::text::one_line;

/// Kinds of login that the credentials file supports.
const SUPPORTED: [&str; 2] = ["basic", "bearer"];
/// Maximum length of the list of login kinds in a message, in characters.
const KINDS_CHARS_MAX: usize = 60;

/// Returns the kinds of login that a `WWW-Authenticate` header lists, if the credentials file supports none of them.
pub(super) fn unsupported_logins(challenges: &str) -> Option<String> {
    let mut kinds: Vec<&str> = Vec::new();
    for part in split_unquoted(challenges) {
        let mut words = part.split_ascii_whitespace();
        let (first, second) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let is_parameter = first.contains('=') || second.starts_with('=');
        let is_known = kinds.iter().any(|kind| kind.eq_ignore_ascii_case(first));
        if !first.is_empty() && !is_parameter && !is_known {
            kinds.push(first);
        }
    }
    let is_supported = |kind: &&str| SUPPORTED.iter().any(|known| kind.eq_ignore_ascii_case(known));
    (!kinds.is_empty() && !kinds.iter().any(is_supported))
        .then(|| one_line(&kinds.join(" or "), KINDS_CHARS_MAX))
}

/// Splits a list at the commas that are not within quotes.
fn split_unquoted(list: &str) -> impl Iterator<Item = &str> {
    let (mut is_quoted, mut is_escaped) = (false, false);
    list.split(move |char| {
        let is_literal = std::mem::take(&mut is_escaped);
        is_quoted ^= char == '"' && !is_literal;
        is_escaped = is_quoted && char == '\\' && !is_literal;
        char == ',' && !is_quoted
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unsupported_login_scheme_is_named() {
        for (challenges, kinds) in [
            (r#"Digest realm="d, Basic x", nonce="abc", qop="auth", algorithm=MD5"#, "Digest"),
            (r#"Digest realm="a \", Basic b", nonce = "x""#, "Digest"),
            ("Negotiate, NTLM", "Negotiate or NTLM"),
            ("Negotiate oYG2MIG=, NTLM TlRM==, negotiate", "Negotiate or NTLM"),
            (r#"Digest realm="x", basic realm="y""#, ""),
            (r#"BASIC realm="x""#, ""),
            ("Bearer", ""),
            ("", ""),
            ("realm=x, , ,", ""),
        ] {
            assert_eq!(unsupported_logins(challenges).unwrap_or_default(), kinds, "{challenges}");
        }
        assert!(unsupported_logins(&"x".repeat(9000)).unwrap().len() < 100);
    }
}
