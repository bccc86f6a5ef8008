//! Parses `[[network.credentials]]` of the configuration file: an origin and its login (SPEC D.1).

use serde::Deserialize;
use url::Url;

use crate::engine::settings::{Credentials, Login, Secret};
use backissue_core::{InputFlaw, flaw};

/// The fields of one `[[network.credentials]]` table.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenCredentials {
    origin: Option<String>,
    /// The address of one feed, instead of an origin.
    address: Option<String>,
    user: Option<SecretText>,
    password: Option<SecretText>,
    token: Option<SecretText>,
}

/// A secret text, such as a password, that never appears in an error message, not even if the value has the wrong type.
#[derive(Debug)]
pub(super) struct SecretText(pub(super) Secret);

impl<'de> Deserialize<'de> for SecretText {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let toml::Value::String(text) = toml::Value::deserialize(deserializer)? else {
            return Err(serde::de::Error::custom("this must be text in quotes"));
        };
        Ok(Self(Secret::new(text)))
    }
}

#[derive(Debug, Deserialize)]
#[serde(try_from = "WrittenCredentials")]
pub(in crate::io) struct CredentialsTable(pub(in crate::io) Credentials);

impl TryFrom<WrittenCredentials> for CredentialsTable {
    type Error = InputFlaw;

    fn try_from(written: WrittenCredentials) -> Result<Self, InputFlaw> {
        let origin = match (&written.origin, &written.address) {
            (Some(written), None) => origin(written)?,
            (None, Some(written)) => address(written)?,
            (_, Some(_)) => {
                return Err("credentials are for an origin or an address, not both".into());
            }
            (None, None) => return Err("missing field `origin`".into()),
        };
        let login = match (written.user, written.password, written.token) {
            (Some(SecretText(user)), Some(SecretText(password)), None) => {
                if user.reveal().contains(':') {
                    return Err("a user name must not contain a colon".into());
                }
                Login::Basic { user, password }
            }
            (None, None, Some(SecretText(token))) => {
                let sendable = token.reveal().bytes().all(|byte| byte.is_ascii_graphic());
                if token.reveal().is_empty() || !sendable {
                    return Err("a token must be visible ASCII characters without spaces".into());
                }
                Login::Bearer { token }
            }
            (_, _, Some(_)) => {
                return Err("credentials are user and password, or a token, not both".into());
            }
            (Some(_), None, None) => return Err("the password of this user is missing".into()),
            (None, Some(_), None) => return Err("the user of this password is missing".into()),
            (None, None, None) => {
                return Err("credentials need user and password, or a token".into());
            }
        };
        Ok(Self(Credentials { origin, login }))
    }
}

/// Normalises an origin (scheme, host and port), such as `https://a.example` or `http://nas.lan:8080`.
pub(super) fn origin(written: &str) -> Result<String, InputFlaw> {
    let url = place(written)?;
    let origin = url.origin().ascii_serialization();
    if url.path() != "/" || url.query().is_some() || url.fragment().is_some() {
        return Err(flaw!("an origin ends after the host or port; write {origin}"));
    }
    Ok(origin)
}

/// Normalises the address of one feed.
fn address(written: &str) -> Result<String, InputFlaw> {
    place(written).map(String::from)
}

fn place(written: &str) -> Result<Url, InputFlaw> {
    let form = "write it like https://a.example";
    let url = Url::parse(written).map_err(|_| format!("this is not a valid origin; {form}"))?;
    if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
        return Err(flaw!("an origin starts with http:// or https://; {form}"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err("an origin must not contain a user; write user and password below it".into());
    }
    Ok(url)
}

#[cfg(test)]
mod tests {
    use crate::io::config::credentials::*;

    fn read(text: &str) -> Result<Credentials, String> {
        let table: Result<CredentialsTable, _> = toml::from_str(text);
        table.map(|table| table.0).map_err(|error| error.message().to_owned())
    }

    fn secret(text: &str) -> Secret {
        Secret::new(text.to_owned())
    }

    #[test]
    fn a_user_or_a_token_belongs_to_an_origin() {
        let basic = Login::Basic { user: secret("me"), password: secret("a:b") };
        let bearer = Login::Bearer { token: secret("t.0-_~+/=") };
        for (written, origin, login) in [
            (
                "https://A.example:443/\"\nuser = \"me\"\npassword = \"a:b",
                "https://a.example",
                &basic,
            ),
            ("http://nas.lan:8080\"\ntoken = \"t.0-_~+/=", "http://nas.lan:8080", &bearer),
            (
                "https://bücher.example\"\ntoken = \"t.0-_~+/=",
                "https://xn--bcher-kva.example",
                &bearer,
            ),
        ] {
            let expected = Credentials { origin: origin.into(), login: login.clone() };
            assert_eq!(read(&format!("origin = \"{written}\"")), Ok(expected), "{written}");
        }
    }

    #[test]
    fn wrong_credentials_are_reported_without_the_secret() {
        let user = "user = \"me\"\npassword = \"hunter2\"";
        let at = |origin: &str| format!("origin = \"{origin}\"\n{user}");
        let with = |rest: &str| format!("origin = \"https://a.example\"\n{rest}");
        for (text, sentence) in [
            (at("a.example"), "this is not a valid origin; write it like https://a.example"),
            (at("ftp://a.example"), "an origin starts with http:// or https://"),
            (at("https://x:y@a.example"), "an origin must not contain a user"),
            (at("https://a.example/feed"), "ends after the host or port; write https://a.example"),
            (at("https://a.example?x"), "ends after the host or port"),
            (user.to_owned(), "missing field `origin`"),
            (with(""), "credentials need user and password, or a token"),
            (with("user = \"me\""), "the password of this user is missing"),
            (with("password = \"hunter2\""), "the user of this password is missing"),
            (with(&format!("{user}\ntoken = \"hunter2\"")), "not both"),
            (with("token = \"hunter2 \""), "visible ASCII"),
            (with("token = \"\""), "visible ASCII"),
            (with("user = \"a:hunter2\"\npassword = \"x\""), "must not contain a colon"),
            (with("user = \"me\"\npassword = 4711"), "this must be text in quotes"),
            (with("token = [\"hunter2\"]"), "this must be text in quotes"),
            (with("pasword = \"hunter2\""), "unknown field `pasword`"),
        ] {
            let why = read(&text).unwrap_err();
            assert!(why.contains(sentence), "{text}: {why}");
            assert!(!why.contains("hunter2") && !why.contains("4711"), "{why}");
        }
    }
}
