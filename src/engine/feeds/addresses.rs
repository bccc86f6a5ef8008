//! Parses typed addresses and compares addresses. A login within one (`https://me:secret@a.example/feed`) is moved to the
//! credentials, so that no listed, printed, or exported address shows it.

use std::collections::BTreeMap;

use backissue_core::feed::address::without_logins;
use backissue_core::feed::after_feed_scheme;
use backissue_core::feed::opml::subscription_list::FeedSource;
use backissue_core::history::FeedKey;
use backissue_core::{InputFlaw, flaw};
use url::Url;

use super::addition::LoginToKeep;
use super::subscription::GivenBy;
use crate::engine::external_command::ExternalCommand;
use crate::engine::request::Effect;
use crate::engine::settings::{Credentials, Login, NetworkSettings, Secret};
use crate::engine::state::Engine;

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
    let url = Url::parse(typed).map_err(|_| wrong())?;
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
    let url = Url::parse(&with_scheme).map_err(|error| wrong(&error.to_string()))?;
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
fn holds_further_login(url: &Url) -> bool {
    let further = &url[url::Position::BeforeHost..];
    without_logins(further) != further
}

/// Returns the subscribed feed with this address, in any spelling of the address.
pub fn subscribed_as(engine: &Engine, url: &str) -> Option<FeedKey> {
    let wanted = comparable(url);
    engine.feeds.values().find(|feed| comparable(&feed.record.url) == wanted).map(|feed| feed.key)
}

/// Returns the subscribed feeds by their addresses, in the spelling of [`comparable`]. A feed that moved is also there by its former
/// addresses, unless another feed has them now.
pub fn by_address(engine: &Engine) -> BTreeMap<String, FeedKey> {
    let former = engine.feeds.values().flat_map(|feed| {
        // What the user left may be another feed.
        let moved = feed.record.former.iter().filter(|former| !former.by_user);
        moved.map(|former| (comparable(&former.url), feed.key))
    });
    let present = engine.feeds.values().map(|feed| (comparable(&feed.record.url), feed.key));
    former.chain(present).collect()
}

/// Returns the normalized spelling of an address, for comparison with other addresses.
pub fn comparable(url: &str) -> String {
    // The address of a program is a command, in which `#` begins no fragment.
    if FeedSource::of(url).is_program() {
        return url.to_owned();
    }
    Url::parse(url).map_or_else(
        |_| url.to_owned(),
        |mut url| {
            url.set_fragment(None);
            url.into()
        },
    )
}

/// An address and the login that was removed from it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SplitAddress {
    /// Address without the login.
    pub address: String,
    /// Login for the origin of the address.
    pub credentials: Credentials,
}

/// Splits an address into the address without the login, and the login. Returns `None` if the address has no login.
pub fn split_login(address: &str) -> Option<SplitAddress> {
    if !address.contains('@') {
        return None;
    }
    let mut url = Url::parse(address).ok().filter(Url::has_host)?;
    let (user, password) = (url.username().to_owned(), url.password().map(str::to_owned));
    if user.is_empty() && password.is_none() {
        return None;
    }
    url.set_username("").and_then(|()| url.set_password(None)).ok()?;
    let login = Login::Basic {
        user: Secret::new(percent_decoded(&user)),
        password: Secret::new(percent_decoded(&password.unwrap_or_default())),
    };
    let origin = url.origin().ascii_serialization();
    Some(SplitAddress { address: url.into(), credentials: Credentials { origin, login } })
}

/// Adds a login to the credentials. Returns the added credentials, or `None` if they were already known. If the origin already has
/// another login, the new login applies only to the address.
pub fn add_login(network: &mut NetworkSettings, split: &SplitAddress) -> Option<Credentials> {
    let mut wanted = split.credentials.clone();
    if network.credentials.contains(&wanted) {
        return None;
    }
    if network.credentials.iter().any(|one| one.origin == wanted.origin) {
        wanted.origin.clone_from(&split.address);
        network.credentials.retain(|one| one.origin != wanted.origin);
    }
    network.credentials.push(wanted.clone());
    Some(wanted)
}

/// Moves the login within an address to the credentials, which take effect at once. Writes the login to the credentials file.
/// Returns the address without the login, and the login that was added; `None` if there was none, or a known one.
pub(in crate::engine) fn take_login(
    engine: &mut Engine,
    url: String,
    given_by: GivenBy,
) -> (String, Option<Credentials>) {
    let network = &mut engine.settings.network;
    let split = split_login(&url);
    if given_by.is_supplied() {
        // A login would be sent to every address of its host, on the word of a server or a device.
        return (split.map_or(url, |split| split.address), None);
    }
    // Without a credentials file, the login stays in the address.
    let split = network.credentials_file.clone().zip(split);
    let Some((file, split)) = split else { return (url, None) };
    let known = network.credentials.clone();
    let login = add_login(network, &split);
    if let Some(credentials) = login.clone() {
        engine.typed_logins.note(credentials.clone(), None);
        let before = known.into_iter().find(|one| one.origin == credentials.origin);
        let network = Box::new(network.clone());
        engine.carry_out(Effect::KeepLogin(Box::new(LoginToKeep { file, credentials, before })));
        engine.carry_out(Effect::Reconnect(network));
    }
    (split.address, login)
}

/// Handles the result of writing a login to the credentials file. After a failure, the login is no longer sent.
pub(in crate::engine) fn kept(engine: &mut Engine, login: LoginToKeep, result: Result<(), String>) {
    let LoginToKeep { file, credentials, before } = login;
    let network = &mut engine.settings.network;
    let outcome = match result {
        Ok(()) => {
            let text = format!(
                "the login for {} is kept in {}, which only you can read, and no longer in the address",
                credentials.origin,
                file.display()
            );
            engine.say(text.clone());
            Ok(text)
        }
        Err(why) => {
            // Remove the login again. If it stayed, it would count as known when it is typed again, and would never be written.
            let place = network.credentials.iter().position(|one| *one == credentials);
            if let Some(place) = place {
                network.credentials.remove(place);
                network.credentials.extend(before);
                let network = Box::new(network.clone());
                engine.carry_out(Effect::Reconnect(network));
            }
            engine.complain(why.clone());
            Err(why)
        }
    };
    engine.typed_logins.note(credentials, Some(outcome));
}

fn percent_decoded(text: &str) -> String {
    percent_encoding::percent_decode_str(text).decode_utf8_lossy().into_owned()
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

#[cfg(test)]
mod typed_logins_tests {
    use chrono::{DateTime, Utc};

    use super::*;
    use crate::engine::feeds::addition::Subscribe;
    use crate::engine::request::{Event, Input, Request};
    use crate::engine::settings::Settings;
    use crate::engine::update::{Output, update};

    const NOW: DateTime<Utc> = DateTime::UNIX_EPOCH;

    /// Returns an engine with a credentials file.
    fn engine() -> Engine {
        let mut settings = Settings::default();
        settings.network.credentials_file = Some("logins.toml".into());
        Engine::new(settings, chrono_tz::Tz::UTC, 0, Vec::new(), NOW)
    }

    /// Subscribes to an address and returns the login to write to the credentials file, if any.
    fn typed(engine: &mut Engine, address: &str) -> Option<(Box<LoginToKeep>, Output)> {
        let wanted = Subscribe {
            id: engine.next_addition(),
            address: address.to_owned(),
            unasked: true,
            ..Subscribe::default()
        };
        let output = update(engine, NOW, Input::Request(Request::Subscribe(Box::new(wanted))));
        let login = output.effects.iter().find_map(|effect| {
            let Effect::KeepLogin(login) = effect else { return None };
            Some(login.clone())
        });
        login.map(|login| (login, output))
    }

    fn sentences(output: &Output) -> Vec<String> {
        let sentence = |event: &Event| {
            let Event::Notice { text, .. } = event else { return None };
            Some(text.clone())
        };
        output.events.iter().filter_map(sentence).collect()
    }

    fn basic(user: &str, password: &str) -> Login {
        Login::Basic {
            user: Secret::new(user.to_owned()),
            password: Secret::new(password.to_owned()),
        }
    }

    #[test]
    fn login_in_an_address_is_split_off_and_decoded() {
        let split =
            split_login("https://me%40x:o%70en%20s%C3%A9same@a.example:8443/f?x=1").unwrap();
        assert_eq!(split.address, "https://a.example:8443/f?x=1");
        assert_eq!(split.credentials.origin, "https://a.example:8443");
        assert_eq!(split.credentials.login, basic("me@x", "open sésame"));
        assert_eq!(
            split_login("https://token@a.example/").unwrap().credentials.login,
            basic("token", "")
        );
        for address in ["https://a.example/@me", "nonsense", "mailto:a@b.example"] {
            assert_eq!(split_login(address), None, "{address}");
        }
    }

    #[test]
    fn two_logins_at_one_origin_are_both_kept() {
        let mut network = Settings::default().network;
        let at = |address: &str| split_login(address).unwrap();
        let first = at("https://me:one@a.example/1");
        assert!(add_login(&mut network, &first).is_some());
        assert_eq!(add_login(&mut network, &first), None, "it is known");
        let second = add_login(&mut network, &at("https://me:two@a.example/2")).unwrap();
        assert_eq!(second.origin, "https://a.example/2");
        let origins: Vec<&str> =
            network.credentials.iter().map(|one| one.origin.as_str()).collect();
        assert_eq!(origins, ["https://a.example", "https://a.example/2"]);
    }

    #[test]
    fn login_is_reported_kept_only_when_it_was_saved() {
        let mut engine = engine();
        let address = "https://me:one@a.example/feed";
        let Some((login, output)) = typed(&mut engine, address) else { panic!("it is new") };
        assert_eq!(sentences(&output), [""; 0], "nobody knows yet");
        let sent = engine.settings.network.credentials.clone();
        assert_eq!(sent, std::slice::from_ref(&login.credentials), "it is needed at once");
        assert!(typed(&mut engine, address).is_none(), "it is on its way");

        let credentials = login.credentials.clone();
        assert_eq!(engine.typed_logins.outcome(&credentials), None);
        let why = "the disk is full".to_owned();
        let output = update(&mut engine, NOW, Input::LoginKept(login, Err(why.clone())));
        assert_eq!(sentences(&output), ["the disk is full"]);
        assert_eq!(engine.typed_logins.outcome(&credentials), Some(&Err(why)));
        let without = Box::new(engine.settings.network.clone());
        assert!(without.credentials.is_empty());
        assert_eq!(output.effects, [Effect::Reconnect(without)]);

        let Some((login, _)) = typed(&mut engine, address) else { panic!("it is written again") };
        let output = update(&mut engine, NOW, Input::LoginKept(login, Ok(())));
        let told = "the login for https://a.example is kept in logins.toml, which only you can read, and no longer in the address";
        assert_eq!((sentences(&output), output.effects), (vec![told.to_owned()], Vec::new()));
        assert_eq!(engine.typed_logins.outcome(&credentials), Some(&Ok(told.to_owned())));
        assert!(typed(&mut engine, address).is_none(), "it is known");
    }

    #[test]
    fn unsavable_login_keeps_the_previous_one() {
        let mut engine = engine();
        for password in ["one", "two"] {
            typed(&mut engine, &format!("https://me:{password}@a.example/feed")).unwrap();
        }
        let before = engine.settings.network.credentials.clone();
        let (third, _) = typed(&mut engine, "https://me:three@a.example/feed").unwrap();
        assert_ne!(engine.settings.network.credentials, before);
        update(&mut engine, NOW, Input::LoginKept(third, Err("the disk is full".into())));
        assert_eq!(engine.settings.network.credentials, before);
    }
}
