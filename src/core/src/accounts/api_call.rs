//! Requests to the server of an account as values, for all APIs; the changes that they contain; and the ids of entries. A server
//! may write the id of an entry in decimal, in hexadecimal, or in a long form. All three are read as the same id.

use serde::{Deserialize, Serialize};
use url::Url;
use url::form_urlencoded::Serializer;

use crate::feed::identity::SERVED_PREFIX as LONG;

/// Method of a request, and kind of its body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verb {
    /// GET without a body.
    Get,
    /// POST of a urlencoded form.
    PostForm,
    /// POST of a JSON document.
    PostJson,
    /// PUT of a JSON document, or without a body.
    Put,
    /// DELETE without a body.
    Delete,
}

/// A request below the base address of an account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiCall {
    /// Method and kind of the body.
    pub verb: Verb,
    /// Path and query, to be appended to the base address.
    pub path: String,
    /// The body, which may be empty.
    pub body: String,
}

impl ApiCall {
    /// Creates a request.
    pub const fn new(verb: Verb, path: String, body: String) -> Self {
        Self { verb, path, body }
    }

    /// Creates a GET.
    pub const fn get(path: String) -> Self {
        Self::new(Verb::Get, path, String::new())
    }

    /// Returns the address of the request.
    pub fn address(&self, base: &Url) -> String {
        format!("{}{}", base.as_str().trim_end_matches('/'), self.path)
    }
}

/// Encodes names and values as a query or form.
pub(super) fn encoded<'p>(pairs: impl IntoIterator<Item = (&'p str, &'p str)>) -> String {
    Serializer::new(String::new()).extend_pairs(pairs).finish()
}

/// A change of marks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum MarkAction {
    /// Mark as read.
    Read,
    /// Mark as unread.
    Unread,
    /// Star.
    Star,
    /// Remove the star.
    Unstar,
}

/// A change of a subscription.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SubscriptionEdit<'a> {
    /// Subscribe to an address.
    Add(&'a str),
    /// Unsubscribe.
    Remove,
    /// Change the title.
    Rename(&'a str),
    /// Move the feed from one folder to another. `None` means no folder.
    Move(Option<&'a str>, Option<&'a str>),
}

/// Number of hexadecimal digits of a numeric id in the long form.
const DIGITS: usize = 16;
/// Maximum length of a decimal id, in characters.
const DECIMAL_MAX: usize = 20;
/// Maximum length of an id, in hexadecimal digits. The Old Reader uses 24.
const DIGITS_MAX: usize = 32;

/// Id of an entry on a server: the hexadecimal digits of its long form, in lower case.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ItemId(String);

impl ItemId {
    /// Reads an id in any form. Returns `None` if the text is not an id.
    ///
    /// Without the prefix of the long form, 16 digits that start with 0 are hexadecimal, because no server pads decimal ids. Any
    /// other text that is a 64-bit number, also a negative one, is decimal. Any other text of 16 to 32 hexadecimal digits is
    /// hexadecimal.
    pub fn read(text: &str) -> Option<Self> {
        let text = text.trim();
        let is_hex = |text: &str| text.bytes().all(|byte| byte.is_ascii_hexdigit());
        if let Some(tail) = text.strip_prefix(LONG) {
            let is_id = !tail.is_empty() && tail.len() <= DIGITS_MAX && is_hex(tail);
            return is_id.then(|| Self(format!("{:0>DIGITS$}", tail.to_ascii_lowercase())));
        }
        let is_padded = text.len() == DIGITS && text.starts_with('0');
        if !is_padded && text.len() <= DECIMAL_MAX {
            let signed = text.parse::<i64>().map(i64::cast_unsigned);
            if let Ok(number) = signed.or_else(|_| text.parse::<u64>()) {
                return Some(Self::of_number(number));
            }
        }
        let is_id = (DIGITS..=DIGITS_MAX).contains(&text.len()) && is_hex(text);
        is_id.then(|| Self(text.to_ascii_lowercase()))
    }

    /// Returns the id with this number.
    pub fn of_number(number: u64) -> Self {
        Self(format!("{number:016x}"))
    }

    /// Returns the id as a number, or `None` if it has more than 16 digits.
    pub fn number(&self) -> Option<u64> {
        u64::from_str_radix(&self.0, 16).ok().filter(|_| self.0.len() == DIGITS)
    }

    /// Returns the long form, the only form that every server understands.
    pub fn long(&self) -> String {
        format!("{LONG}{}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_the_same_in_every_form() {
        for (text, digits) in [
            ("1700000000000001", Some("00060a24181e4001")),
            ("00060a24181e4001", Some("00060a24181e4001")),
            ("tag:google.com,2005:reader/item/00060A24181E4001", Some("00060a24181e4001")),
            ("tag:google.com,2005:reader/item/4d2", Some("00000000000004d2")),
            ("1234", Some("00000000000004d2")),
            ("-1", Some("ffffffffffffffff")),
            ("18446744073709551615", Some("ffffffffffffffff")),
            ("ffffffffffffffff", Some("ffffffffffffffff")),
            ("5f0e1d2c3b4a596877665544", Some("5f0e1d2c3b4a596877665544")),
            ("000000000000000000000010", Some("000000000000000000000010")),
            ("123456789012345678901234", Some("123456789012345678901234")),
            (
                "tag:google.com,2005:reader/item/5f0e1d2c3b4a596877665544",
                Some("5f0e1d2c3b4a596877665544"),
            ),
            ("tag:google.com,2005:reader/item/", None),
            ("tag:google.com,2005:reader/item/12 34", None),
            ("tag:other,2005:reader/item/12", None),
            ("4d2", None),
            ("", None),
            ("user/-/state/com.google/read", None),
        ] {
            let read = ItemId::read(text);
            assert_eq!(read.as_ref().map(|id| id.0.as_str()), digits, "{text}");
            if let Some(id) = read {
                assert!(id.number().is_none_or(|number| ItemId::of_number(number) == id), "{text}");
                assert_eq!(ItemId::read(&id.long()), Some(id), "{text}");
            }
        }
    }
}
