//! Addresses as they are typed, and as they are compared.

use super::typed_logins::without_login;
use crate::engine::poll::fetch::{FailureClass, FetchFailure, Fetched};
use crate::engine::state::Engine;
use crate::history::FeedKey;

/// What the reader typed, as an address: `https://` is put before a bare host name.
pub fn address_of(typed: &str) -> Result<String, String> {
    let typed = typed.trim();
    let typed = typed.strip_prefix("feed:").map_or(typed, |rest| rest.trim_start_matches("//"));
    let with_scheme =
        if typed.contains("://") { typed.to_owned() } else { format!("https://{typed}") };
    let wrong = |why: &str| {
        format!(
            "'{}' is not the address of a site or feed ({why}); it should look like https://site.example/",
            without_login(typed)
        )
    };
    let url = url::Url::parse(&with_scheme).map_err(|error| wrong(&error.to_string()))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(wrong("only http and https can be read"));
    }
    match url.host() {
        Some(url::Host::Domain(name)) if !name.contains('.') && name != "localhost" => {
            Err(wrong("the host name has no dot"))
        }
        Some(_) => Ok(url.into()),
        None => Err(wrong("there is no host name")),
    }
}

/// Where an address that was typed without a scheme can be asked without encryption, after it could not be asked with it.
pub(in crate::engine) fn plain_address(
    typed: &str,
    asked: &str,
    fetched: &Fetched,
) -> Option<String> {
    let is_reachable = matches!(&fetched.result, Err(failure)
        if failure.class() == FailureClass::Unanswered
            || matches!(failure, FetchFailure::Timeout { .. }));
    let rest = asked.strip_prefix("https://")?;
    (is_reachable && !typed.contains("://")).then(|| format!("http://{rest}"))
}

/// The feed with this address, in whatever spelling.
pub fn subscribed_as(engine: &Engine, url: &str) -> Option<FeedKey> {
    let wanted = comparable(url);
    engine.feeds.values().find(|feed| comparable(&feed.record.url) == wanted).map(|feed| feed.key)
}

/// An address in the spelling in which addresses are compared.
pub(in crate::engine) fn comparable(url: &str) -> String {
    url::Url::parse(url).map_or_else(
        |_| url.to_owned(),
        |mut url| {
            url.set_fragment(None);
            url.into()
        },
    )
}

#[cfg(test)]
mod tests {
    use crate::engine::feeds::addresses::*;

    #[test]
    fn a_bare_host_name_gets_https() {
        assert_eq!(address_of(" site.example "), Ok("https://site.example/".into()));
        assert_eq!(address_of("feed://site.example/rss"), Ok("https://site.example/rss".into()));
        assert_eq!(
            address_of("feed:https://site.example/rss"),
            Ok("https://site.example/rss".into())
        );
        assert_eq!(address_of("http://localhost:8080/x"), Ok("http://localhost:8080/x".into()));
        assert_eq!(address_of("127.0.0.1:8080"), Ok("https://127.0.0.1:8080/".into()));
    }

    #[test]
    fn only_what_was_typed_without_a_scheme_and_is_there_is_offered_without_encryption() {
        use chrono::{DateTime, Utc};
        let failed = |failure| Fetched {
            started: DateTime::<Utc>::UNIX_EPOCH,
            wire_bytes: 0,
            hops: Vec::new(),
            conditional: false,
            result: Err(failure),
        };
        let refused = failed(FetchFailure::Connect("a.example".into()));
        let unknown = failed(FetchFailure::Name("a.example".into()));
        let untrusted = failed(FetchFailure::Tls("it shows a self-made certificate".into()));
        let (asked, plain) = ("https://a.example/x", Some("http://a.example/x".to_owned()));
        for (typed, fetched, expected) in [
            ("a.example/x", &refused, plain.clone()),
            ("feed:a.example/x", &untrusted, plain),
            ("a.example/x", &unknown, None),
            ("https://a.example/x", &refused, None),
            ("feed://a.example/x", &refused, None),
        ] {
            assert_eq!(plain_address(typed, asked, fetched), expected, "{typed}");
        }
    }

    #[test]
    fn what_is_no_address_is_refused_with_an_example() {
        for typed in ["word", "", "ftp://a.example/", "file:///etc/passwd", "https://", "two words"]
        {
            assert!(address_of(typed).unwrap_err().contains("https://site.example/"), "{typed}");
        }
    }
}
