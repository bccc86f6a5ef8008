//! Masks the secrets of an account in the answers of its server, which can repeat the request: on the screen, in the log, in the store and
//! in its backups they would be readable.

use memchr::memmem;
use url::form_urlencoded::byte_serialize;

/// What is shown instead of a secret.
const MASK: &[u8] = b"***";
/// Minimum length of a secret that is masked within a word, in bytes.
const WITHIN_WORDS: usize = 8;
const BASE_64: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// The secrets of an account, in the forms in which requests contain them.
#[derive(Default)]
pub struct Secrets {
    /// Forms of the password: texts can contain it by chance.
    typed: Vec<Vec<u8>>,
    /// Forms of tokens, which no text contains by chance.
    made: Vec<Vec<u8>>,
}

impl Secrets {
    /// Adds a password; without a user, it is a token.
    pub fn add_password(&mut self, user: &str, password: &str) {
        if user.is_empty() {
            return self.add_token(password);
        }
        add(&mut self.typed, password);
        add(&mut self.made, &base_64(format!("{user}:{password}").as_bytes()));
    }

    /// Adds a token that a server made.
    pub fn add_token(&mut self, token: &str) {
        add(&mut self.made, token);
    }

    /// Masks the secrets in an answer. In data, which consist of texts of other people, a password is not masked.
    pub fn mask(&self, answer: &mut Vec<u8>, is_data: bool) {
        let typed = self.typed.iter().filter(|_| !is_data);
        // The longest first, because one form can contain another.
        let mut forms: Vec<&Vec<u8>> = self.made.iter().chain(typed).collect();
        forms.sort_by_key(|form| std::cmp::Reverse(form.len()));
        for form in forms {
            let found: Vec<usize> = memmem::find_iter(answer, form)
                .filter(|start| form.len() >= WITHIN_WORDS || is_word(answer, *start, form.len()))
                .collect();
            for start in found.into_iter().rev() {
                answer.splice(start..start.saturating_add(form.len()), MASK.iter().copied());
            }
        }
    }
}

fn add(forms: &mut Vec<Vec<u8>>, secret: &str) {
    let json = serde_json::Value::from(secret).to_string();
    let json = json.strip_prefix('"').and_then(|json| json.strip_suffix('"')).unwrap_or_default();
    let form: String = byte_serialize(secret.as_bytes()).collect();
    let markup = secret.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let all = [
        secret.to_owned(),
        form.replace('+', "%20"),
        form,
        json.replace('/', "\\/"),
        json.to_owned(),
        markup.replace('"', "&#34;").replace('\'', "&#39;"),
        markup.replace('"', "&quot;").replace('\'', "&#039;"),
    ];
    for form in all.map(String::into_bytes) {
        if !form.is_empty() && !forms.contains(&form) {
            forms.push(form);
        }
    }
}

fn is_word(text: &[u8], start: usize, length: usize) -> bool {
    let is_letter = |place: Option<usize>| {
        place.and_then(|place| text.get(place)).is_some_and(u8::is_ascii_alphanumeric)
    };
    !is_letter(start.checked_sub(1)) && !is_letter(start.checked_add(length))
}

/// Encodes bytes as the header of a Basic login does.
fn base_64(bytes: &[u8]) -> String {
    let mut text = String::new();
    for group in bytes.chunks(3) {
        let byte = |place: usize| u32::from(group.get(place).copied().unwrap_or_default());
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for place in 0..4_usize {
            let digit = bits >> (18_usize.saturating_sub(place.saturating_mul(6))) & 63;
            let digit = usize::try_from(digit).ok().and_then(|digit| BASE_64.get(digit));
            let is_given = place <= group.len();
            text.push(char::from(digit.copied().filter(|_| is_given).unwrap_or(b'=')));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_masked_in_every_form() {
        let mut secrets = Secrets::default();
        secrets.add_password("ann", "a&b=\"c/d\"");
        secrets.add_password("ann", "pw");
        secrets.add_token("ann/0123456789abcdef");
        for (answer, page, data) in [
            ("Passwd=a%26b%3D%22c%2Fd%22&x", "Passwd=***&x", "Passwd=a%26b%3D%22c%2Fd%22&x"),
            (r#"{"p":"a&b=\"c/d\""}"#, r#"{"p":"***"}"#, r#"{"p":"a&b=\"c/d\""}"#),
            (r#"{"p":"a&b=\"c\/d\""}"#, r#"{"p":"***"}"#, r#"{"p":"a&b=\"c\/d\""}"#),
            ("<p>a&amp;b=&quot;c/d&quot;", "<p>***", "<p>a&amp;b=&quot;c/d&quot;"),
            ("Basic YW5uOnB3", "Basic ***", "Basic ***"),
            (
                "GoogleLogin auth=ann/0123456789abcdef",
                "GoogleLogin auth=***",
                "GoogleLogin auth=***",
            ),
            ("auth%3Dann%2F0123456789abcdef0", "auth%3D***0", "auth%3D***0"),
            ("pw=pw, pwd", "***=***, pwd", "pw=pw, pwd"),
        ] {
            for (is_data, expected) in [(false, page), (true, data)] {
                let mut bytes = answer.as_bytes().to_vec();
                secrets.mask(&mut bytes, is_data);
                assert_eq!(String::from_utf8_lossy(&bytes), expected, "{answer} {is_data}");
            }
        }
    }

    #[test]
    fn base_64_is_that_of_rfc_4648() {
        for (text, expected) in
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg==")]
        {
            assert_eq!(base_64(text.as_bytes()), expected);
        }
    }
}
