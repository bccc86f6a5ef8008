//! Parses `[[network.headers]]` of the configuration file: an origin, and what requests to it send.

use std::collections::BTreeMap;
use std::path::PathBuf;

use reqwest::header::{HeaderName, HeaderValue};
use serde::Deserialize;

use super::credentials::{SecretText, origin};
use crate::engine::settings::{OriginSettings, Secret};
use backissue_core::feed::text::one_line;
use backissue_core::{InputFlaw, flaw};

/// Headers that the program sets itself, because they state what it can decode, what it has, or how the connection is used.
const RESERVED: [&str; 14] = [
    "a-im",
    "accept-encoding",
    "connection",
    "content-length",
    "expect",
    "host",
    "if-modified-since",
    "if-none-match",
    "keep-alive",
    "proxy-authorization",
    "range",
    "te",
    "transfer-encoding",
    "upgrade",
];
/// Maximum length of a header name that a message repeats, in characters.
const NAME_CHARS_MAX: usize = 40;

/// The fields of one `[[network.headers]]` table.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenOrigin {
    origin: String,
    #[serde(default)]
    headers: HeaderTable,
    user_agent: Option<String>,
    cookies: Option<PathBuf>,
    proxy: Option<SecretText>,
}

/// Names and values of headers. No error repeats a value, not even if it has the wrong type.
#[derive(Debug, Default)]
struct HeaderTable(BTreeMap<String, SecretText>);

impl<'de> Deserialize<'de> for HeaderTable {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let wrong =
            || serde::de::Error::custom("headers must be names and texts: { X-Key = \"...\" }");
        let toml::Value::Table(table) = toml::Value::deserialize(deserializer)? else {
            return Err(wrong());
        };
        let value = |(name, value)| {
            let toml::Value::String(text) = value else { return Err(wrong()) };
            Ok((name, SecretText(Secret::new(text))))
        };
        table.into_iter().map(value).collect::<Result<_, _>>().map(Self)
    }
}

#[derive(Debug, Deserialize)]
#[serde(try_from = "WrittenOrigin")]
pub(in crate::io) struct OriginTable(pub(in crate::io) OriginSettings);

impl TryFrom<WrittenOrigin> for OriginTable {
    type Error = InputFlaw;

    fn try_from(written: WrittenOrigin) -> Result<Self, InputFlaw> {
        let origin = origin(&written.origin)?;
        let WrittenOrigin { headers, user_agent, cookies, proxy, .. } = written;
        if headers.0.is_empty() && user_agent.is_none() && cookies.is_none() && proxy.is_none() {
            return Err(flaw!("{origin} needs headers, user_agent, cookies or proxy"));
        }
        let headers = headers.0.into_iter().map(|(name, SecretText(value))| {
            check_header(&name, value.reveal())?;
            Ok((name.to_ascii_lowercase(), value))
        });
        let headers = headers.collect::<Result<_, InputFlaw>>()?;
        if user_agent.as_ref().is_some_and(|agent| HeaderValue::from_str(agent).is_err()) {
            return Err("user_agent must be printable characters on one line".into());
        }
        let proxy = proxy.map(|SecretText(proxy)| proxy);
        Ok(Self(OriginSettings { origin, headers, user_agent, cookies, proxy }))
    }
}

/// Checks that a header can be sent. The error does not repeat its value.
fn check_header(name: &str, value: &str) -> Result<(), InputFlaw> {
    let shown = one_line(name, NAME_CHARS_MAX);
    let Ok(known) = name.parse::<HeaderName>() else {
        return Err(flaw!("'{shown}' is not the name of a header"));
    };
    if known == "cookie" {
        return Err("the header Cookie is made from a file: cookies = \"cookies.txt\"".into());
    }
    if known == "user-agent" {
        return Err("write user_agent = \"...\" instead of the header User-Agent".into());
    }
    if RESERVED.contains(&known.as_str()) {
        return Err(flaw!("the header '{shown}' is set by backissue"));
    }
    if HeaderValue::from_str(value).is_err() {
        return Err(flaw!("the value of '{shown}' must be printable characters on one line"));
    }
    Ok(())
}

/// Returns the settings of all tables, or an error if two tables have the same origin.
pub(in crate::io) fn one_each(tables: Vec<OriginTable>) -> Result<Vec<OriginSettings>, InputFlaw> {
    let mut all: Vec<OriginSettings> = Vec::with_capacity(tables.len());
    for OriginTable(next) in tables {
        if all.iter().any(|one| one.origin == next.origin) {
            return Err(flaw!("[[network.headers]] names {} twice", next.origin));
        }
        all.push(next);
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<OriginSettings, String> {
        let table: Result<OriginTable, _> = toml::from_str(text);
        table.map(|table| table.0).map_err(|error| error.message().to_owned())
    }

    #[test]
    fn an_origin_has_headers_cookies_agent_and_proxy() {
        let text = "origin = 'https://A.example:443/'\nheaders = { X-Key = 'k', accept = 'a/b' }\n\
                    user_agent = 'me'\ncookies = 'c.txt'\nproxy = 'socks5h://u:p@127.0.0.1:9050'";
        let read = read(text).unwrap();
        assert_eq!(read.origin, "https://a.example");
        let secret = |text: &str| Secret::new(text.to_owned());
        let headers = [("x-key".to_owned(), secret("k")), ("accept".to_owned(), secret("a/b"))];
        assert_eq!(read.headers, headers);
        assert_eq!((read.user_agent.as_deref(), read.cookies), (Some("me"), Some("c.txt".into())));
        assert_eq!(read.proxy, Some(secret("socks5h://u:p@127.0.0.1:9050")));
    }

    #[test]
    fn wrong_header_is_reported_without_its_value() {
        for (rest, sentence) in [
            ("", "needs headers, user_agent, cookies or proxy"),
            ("headers = { 'X Y' = 'hunter2' }", "'X Y' is not the name of a header"),
            ("headers = { Cookie = 'a=hunter2' }", "is made from a file"),
            ("headers = { User-Agent = 'hunter2' }", "write user_agent"),
            ("headers = { If-None-Match = 'hunter2' }", "is set by backissue"),
            ("headers = { X = \"hunter2\\n\" }", "must be printable"),
            ("headers = { X = 4711 }", "headers must be names and texts"),
            ("headers = 'hunter2'", "headers must be names and texts"),
            ("user_agent = \"a\\nb\"", "user_agent must be"),
            ("proxy = 4711", "this must be text in quotes"),
            ("address = 'x'", "unknown field `address`"),
        ] {
            let why = read(&format!("origin = 'https://a.example'\n{rest}")).unwrap_err();
            assert!(why.contains(sentence), "{rest}: {why}");
            assert!(!why.contains("4711") && !why.contains("hunter2"), "{why}");
        }
        let one = || toml::from_str("origin = 'https://a.example'\nuser_agent = 'x'").unwrap();
        assert!(one_each(vec![one(), one()]).unwrap_err().contains("https://a.example twice"));
        assert!(read("user_agent = 'x'").is_err(), "an origin is needed");
    }
}
