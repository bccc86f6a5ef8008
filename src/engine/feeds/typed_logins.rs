//! Logins within a typed or imported address (`https://me:secret@a.example/feed`). Such a login is moved to the credentials, so
//! that no listed, printed, or exported address shows it.

use url::Url;

use super::addition::LoginToKeep;
use super::subscription::GivenBy;
use crate::engine::effect::Effect;
use crate::engine::settings::{Credentials, Login, NetworkSettings, Secret};
use crate::engine::state::Engine;

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

/// An address whose login moved to the credentials.
pub(in crate::engine) struct TakenLogin {
    /// Address without the login.
    pub(in crate::engine) url: String,
    pub(in crate::engine) effects: Vec<Effect>,
    /// Login that was added to the credentials; `None` if the address had no login, or one that was already known.
    pub(in crate::engine) login: Option<Credentials>,
}

/// Moves the login within an address to the credentials, which take effect at once. The effects write the login to the credentials
/// file.
pub(in crate::engine) fn take_login(
    engine: &mut Engine,
    url: String,
    given_by: GivenBy,
) -> TakenLogin {
    let network = &mut engine.settings.network;
    let split = split_login(&url);
    if given_by == GivenBy::Account {
        // A login would be sent to every address of its host, on the word of a server.
        let url = split.map_or(url, |split| split.address);
        return TakenLogin { url, effects: Vec::new(), login: None };
    }
    // Without a credentials file, the login stays in the address.
    let split = network.credentials_file.clone().zip(split);
    let Some((file, split)) = split else {
        return TakenLogin { url, effects: Vec::new(), login: None };
    };
    let (mut effects, known) = (Vec::new(), network.credentials.clone());
    let login = add_login(network, &split);
    if let Some(credentials) = login.clone() {
        engine.typed_logins.note(credentials.clone(), None);
        let before = known.into_iter().find(|one| one.origin == credentials.origin);
        effects.push(Effect::KeepLogin(Box::new(LoginToKeep { file, credentials, before })));
        effects.push(Effect::Reconnect(Box::new(network.clone())));
    }
    TakenLogin { url: split.address, effects, login }
}

/// Handles the result of writing a login to the credentials file. After a failure, the login is no longer sent.
pub(in crate::engine) fn kept(
    engine: &mut Engine,
    login: LoginToKeep,
    result: Result<(), String>,
) -> Vec<Effect> {
    let LoginToKeep { file, credentials, before } = login;
    let (mut effects, network) = (Vec::new(), &mut engine.settings.network);
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
                effects.push(Effect::Reconnect(Box::new(network.clone())));
            }
            engine.complain(why.clone());
            Err(why)
        }
    };
    engine.typed_logins.note(credentials, Some(outcome));
    effects
}

fn percent_decoded(text: &str) -> String {
    percent_encoding::percent_decode_str(text).decode_utf8_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use chrono::{DateTime, Utc};

    use super::*;
    use crate::engine::event::Event;
    use crate::engine::feeds::addition::Subscribe;
    use crate::engine::input::Input;
    use crate::engine::request::Request;
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
