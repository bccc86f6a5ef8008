//! Logins that stand within an address that was typed or imported (`https://me:secret@a.example/feed`): they move into
//! the credentials, so that no address that is listed, printed or exported shows them.

use url::Url;

use crate::engine::effect::Effect;
use crate::engine::settings::{Credentials, Login, NetworkSettings, Secret};
use crate::engine::state::Engine;

/// An address without the login that stood in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SplitAddress {
    /// The address alone.
    pub address: String,
    /// The login, for the origin of the address.
    pub credentials: Credentials,
}

/// Takes the login out of an address; `None`: there is none.
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

/// Adds a login to the credentials, and returns it if it was not among them. If its origin has another one already, it is
/// that of the address alone.
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

/// An address whose login moved to the credentials.
pub(in crate::engine) struct TakenLogin {
    /// The address without it.
    pub(in crate::engine) url: String,
    pub(in crate::engine) effects: Vec<Effect>,
    /// Where it is kept now, as a sentence; `None`: there was none, or it was known.
    pub(in crate::engine) told: Option<String>,
}

/// Moves the login within an address to the credentials and says so.
pub(in crate::engine) fn take_login(engine: &mut Engine, url: String) -> TakenLogin {
    let network = &mut engine.settings.network;
    // Where there is no place to keep it, it stays where it is.
    let split = network.credentials_file.clone().zip(split_login(&url));
    let Some((file, split)) = split else {
        return TakenLogin { url, effects: Vec::new(), told: None };
    };
    let (mut effects, mut told) = (Vec::new(), None);
    if let Some(credentials) = add_login(network, &split) {
        let text = format!(
            "the login for {} is kept in {}, which only you can read, and no longer in the address",
            credentials.origin,
            file.display()
        );
        effects.push(Effect::KeepLogin(file, Box::new(credentials)));
        effects.push(Effect::Reconnect(Box::new(network.clone())));
        engine.say(text.clone());
        told = Some(text);
    }
    TakenLogin { url: split.address, effects, told }
}

/// A text that may be an address, without a login in it: for messages about what cannot be read as one.
pub fn without_login(typed: &str) -> String {
    if let Some(split) = split_login(typed) {
        return split.address;
    }
    if Url::parse(typed).is_ok_and(|url| url.has_host()) {
        return typed.to_owned();
    }
    // Where an address cannot be read it is not known where its login ends, either: a password may hold a slash.
    let begin = typed.find("://").map_or(0, |at| at.saturating_add(3));
    let (scheme, rest) = typed.split_at_checked(begin).unwrap_or(("", typed));
    let host = rest.rsplit_once('@').map_or(rest, |(_, host)| host);
    format!("{scheme}{host}")
}

/// What was typed where an address may stand among other things, without a login if it is one.
pub fn hide_login(typed: &str) -> String {
    if typed.contains("://") { without_login(typed) } else { typed.to_owned() }
}

fn percent_decoded(text: &str) -> String {
    percent_encoding::percent_decode_str(text).decode_utf8_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::settings::Settings;

    fn basic(user: &str, password: &str) -> Login {
        Login::Basic {
            user: Secret::new(user.to_owned()),
            password: Secret::new(password.to_owned()),
        }
    }

    #[test]
    fn the_login_of_an_address_is_split_off_and_decoded() {
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
    fn what_cannot_be_read_is_told_without_its_login() {
        for (typed, told) in [
            ("ftp://me:secret@a.example/x", "ftp://a.example/x"),
            ("https://me:se@cret@a b/", "https://a b/"),
            ("me:secret@word", "word"),
            ("https://a.example/@me", "https://a.example/@me"),
            ("https://me:se/cret@a.example/", "https://a.example/"),
            ("two words", "two words"),
        ] {
            assert_eq!(without_login(typed), told);
        }
        assert_eq!(hide_login("me@home"), "me@home", "it is no address");
        assert_eq!(hide_login("--x=https://me:secret@a.example/"), "--x=https://a.example/");
    }
}
