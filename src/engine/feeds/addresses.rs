//! Parses typed addresses and compares addresses.

use crate::engine::external::external_command::ExternalCommand;
use crate::engine::state::Engine;
use backissue_core::feed::address::without_logins;
use backissue_core::feed::after_feed_scheme;
use backissue_core::feed::opml::subscription_list::FeedSource;
use backissue_core::history::FeedKey;
use backissue_core::{InputFlaw, flaw};

/// Maximum length of the address of a file or program, in bytes.
const BYTES_MAX: usize = 8_192;

/// Parses the user's input as an address of the web, a file or a program ([`FeedSource`]). Adds `https://` to a bare host name.
pub fn address_of(typed: &str) -> Result<String, InputFlaw> {
    let typed = typed.trim();
    source_address(typed).unwrap_or_else(|| web_address(typed))
}

/// Parses the address of a file or program as the user types it, and returns the form in which it is stored. Returns `None` for an
/// address of the web. The error is a sentence.
fn source_address(typed: &str) -> Option<Result<String, InputFlaw>> {
    let source = FeedSource::of(typed);
    if source == FeedSource::Web {
        return None;
    }
    if typed.len() > BYTES_MAX || typed.contains(char::is_control) {
        return Some(Err(flaw!(
            "an address with '{}' must be one line of at most {BYTES_MAX} bytes",
            typed.split_inclusive(':').next().unwrap_or_default()
        )));
    }
    Some(match source {
        FeedSource::Web | FeedSource::File => file_address(typed),
        FeedSource::Program(command) => check_command(command).map(|()| format!("exec:{command}")),
        FeedSource::Filter { command, url } => filter_address(command, url),
    })
}

fn file_address(typed: &str) -> Result<String, InputFlaw> {
    let wrong = || {
        flaw!(
            "'{typed}' is not the address of a file; it should look like file:///home/me/feed.xml"
        )
    };
    let url = url::Url::parse(typed).map_err(|_| wrong())?;
    let is_path = typed.starts_with("file:/") && url.host().is_none() && url.path().len() > 1;
    if is_path { Ok(url.into()) } else { Err(wrong()) }
}

fn filter_address(command: &str, url: &str) -> Result<String, InputFlaw> {
    if url.is_empty() {
        return Err(
            "a filter needs a command and an address: filter:COMMAND:https://site.example/feed"
                .into(),
        );
    }
    check_command(command)?;
    if without_logins(url) != url {
        return Err(
            "leave the login out of the address of a filter; add it to [[network.credentials]]"
                .into(),
        );
    }
    web_address(url).map(|url| format!("filter:{command}:{url}"))
}

fn check_command(command: &str) -> Result<(), InputFlaw> {
    // The address is stored, shown and exported.
    if without_logins(command) != command {
        return Err(
            "leave the login out of the command; let the program read it from a file".into()
        );
    }
    let parsed = ExternalCommand::typed_at_prompt(command)?;
    let program = parsed.program();
    if program.contains('/') && !program.starts_with(['/', '~']) {
        return Err(flaw!(
            "'{program}' depends on the folder in which backissue runs: write its whole path"
        ));
    }
    Ok(())
}

/// Parses the user's input as an address of the web. Adds `https://` to a bare host name.
pub fn web_address(typed: &str) -> Result<String, InputFlaw> {
    let typed = typed.trim();
    let typed = after_feed_scheme(typed).map_or(typed, |rest| rest.trim_start_matches("//"));
    let with_scheme = if typed.contains("://") {
        typed.to_owned()
    } else {
        profile_of_handle(typed).unwrap_or_else(|| format!("https://{typed}"))
    };
    let wrong = |why: &str| {
        flaw!(
            "'{}' is not the address of a site or feed ({why}); it should look like https://site.example/",
            without_logins(typed)
        )
    };
    // Several pasted addresses: a URL parser would join them into one address.
    let has_second = typed.split_whitespace().skip(1).any(|word| word.contains("://"));
    if typed.contains(['\n', '\r', '\t']) || has_second {
        return Err(wrong("these are several addresses: enter one at a time"));
    }
    let url = url::Url::parse(&with_scheme).map_err(|error| wrong(&error.to_string()))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(wrong("only http and https are supported"));
    }
    match url.host() {
        Some(url::Host::Domain(name)) if !name.contains('.') && name != "localhost" => {
            Err(wrong("the host name has no dot"))
        }
        // Only a login before the host is moved to the credentials. A login in another part would be stored and shown as part of
        // the address.
        Some(_) if holds_further_login(&url) => {
            Err(wrong("a login can only come before the host name; write any other @ as %40"))
        }
        Some(_) => Ok(url.into()),
        None => Err(wrong("there is no host name")),
    }
}

/// Returns the address of the profile of a handle as Mastodon writes it, `@user@host`. Without this, the user would count as a
/// login.
fn profile_of_handle(typed: &str) -> Option<String> {
    let (user, host) = typed.strip_prefix('@')?.split_once('@')?;
    let is_user = |c: char| c.is_ascii_alphanumeric() || "_.-".contains(c);
    let is_handle = !user.is_empty() && user.chars().all(is_user) && !host.contains(['@', '/']);
    is_handle.then(|| format!("https://{host}/@{user}"))
}

/// Checks whether an address may contain a login after its host.
fn holds_further_login(url: &url::Url) -> bool {
    let further = &url[url::Position::BeforeHost..];
    without_logins(further) != further
}

/// Returns the subscribed feed with this address, in any spelling of the address.
pub fn subscribed_as(engine: &Engine, url: &str) -> Option<FeedKey> {
    let wanted = comparable(url);
    engine.feeds.values().find(|feed| comparable(&feed.record.url) == wanted).map(|feed| feed.key)
}

/// Returns the normalized spelling of an address, for comparison with other addresses.
pub fn comparable(url: &str) -> String {
    // The address of a program is a command, in which `#` begins no fragment.
    if FeedSource::of(url).is_program() {
        return url.to_owned();
    }
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
        for scheme in ["FEED", "feeds", "itpc", "pcast", "podcast", "rss"] {
            let typed = format!("{scheme}://site.example/rss");
            assert_eq!(address_of(&typed), Ok("https://site.example/rss".into()));
        }
        assert_eq!(
            address_of("feed:https://site.example/rss"),
            Ok("https://site.example/rss".into())
        );
        assert_eq!(address_of("http://localhost:8080/x"), Ok("http://localhost:8080/x".into()));
        assert_eq!(address_of("127.0.0.1:8080"), Ok("https://127.0.0.1:8080/".into()));
        let profile = Ok("https://social.example/@ada.l".into());
        assert_eq!(address_of("social.example/@ada.l"), profile);
        assert_eq!(address_of(" @ada.l@social.example "), profile);
        assert_eq!(address_of("@a:b@social.example"), Ok("https://%40a:b@social.example/".into()));
    }

    #[test]
    fn invalid_address_is_refused_with_an_example() {
        for typed in ["word", "", "ftp://a.example/", "https://", "two words"] {
            assert!(address_of(typed).unwrap_err().contains("https://site.example/"), "{typed}");
        }
        for typed in [
            "http://a.example/1\nhttp://a.example/2",
            "http://a.example/1 http://a.example/2",
            "a\tb",
        ] {
            assert!(address_of(typed).unwrap_err().contains("several addresses"), "{typed}");
        }
        assert!(address_of("https://a.example/two words").is_ok());
        for typed in
            ["https://a.example/x me:secret@b", "https://a.example/?u=https://me:secret@b/"]
        {
            let why = address_of(typed).unwrap_err();
            assert!(why.contains("only come before the host") && !why.contains("secret"), "{why}");
            assert!(address_of(&typed.replace('@', "%40")).is_ok(), "as the message says");
        }
    }
}
