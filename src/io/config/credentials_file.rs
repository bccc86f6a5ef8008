//! `credentials.toml` next to the configuration file: the logins that the user typed as part of feed addresses, and headers that the
//! user put there. Only the user can read this file.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::credentials::{CredentialsTable, origin};
use super::origins::{OriginTable, one_each};
use super::private_toml;
use crate::engine::settings::{Credentials, Login, Settings};
use crate::io::system::words::system_words;
use backissue_core::InputFlaw;

const NAME: &str = "credentials.toml";
const HEAD: &str =
    "# Logins from addresses that you entered. backissue writes this file; keep it private.\n";

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct CredentialsDocument {
    credentials: Vec<CredentialsTable>,
    headers: Vec<OriginTable>,
}

/// Returns the path of the credentials file for a configuration file.
fn place(configuration: &Path) -> PathBuf {
    configuration.with_file_name(NAME)
}

/// Adds the logins of the credentials file to the settings. For the same origin, the configuration file takes precedence. The
/// error is a sentence.
pub(super) fn add_to(settings: &mut Settings, configuration: &Path) -> Result<(), InputFlaw> {
    let path = place(configuration);
    let file: CredentialsDocument = private_toml::parse(&path, &private_toml::read(&path)?)?;
    let network = &mut settings.network;
    for CredentialsTable(one) in file.credentials {
        if network.credentials.iter().all(|other| other.origin != one.origin) {
            network.credentials.push(one);
        }
    }
    for one in one_each(file.headers)? {
        if network.origins.iter().all(|other| other.origin != one.origin) {
            network.origins.push(one);
        }
    }
    network.credentials_file = Some(path);
    Ok(())
}

/// Adds a login to the credentials file. The error is a sentence that contains no secret.
pub fn keep(path: &Path, credentials: &Credentials) -> Result<(), String> {
    let cannot = |why: &dyn std::fmt::Display| {
        format!(
            "the login for {} cannot be saved in {} ({why}) and is not sent: put it in config.toml under [[network.credentials]]",
            credentials.origin,
            path.display()
        )
    };
    let mut text = private_toml::read(path).map_err(|why| cannot(&why))?;
    if text.is_empty() {
        text.push_str(HEAD);
    } else if !text.ends_with('\n') {
        text.push('\n');
    }
    text.push_str(&table(credentials));
    // Check that the new text can be parsed, because an invalid credentials file would prevent the program from starting.
    toml::from_str::<CredentialsDocument>(&text).map_err(|error| cannot(&error.message()))?;
    private_toml::write(path, &text).map_err(|error| cannot(&system_words(&error)))
}

fn table(credentials: &Credentials) -> String {
    let quoted = |text: &str| toml::Value::String(text.to_owned()).to_string();
    let login = match &credentials.login {
        Login::Basic { user, password } => {
            format!("user = {}\npassword = {}", quoted(user.reveal()), quoted(password.reveal()))
        }
        Login::Bearer { token } => format!("token = {}", quoted(token.reveal())),
    };
    let place = if origin(&credentials.origin).is_ok() { "origin" } else { "address" };
    format!("\n[[credentials]]\n{place} = {}\n{login}\n", quoted(&credentials.origin))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use crate::engine::settings::Secret;
    use crate::io::config::credentials_file::*;

    fn login(origin: &str, password: &str) -> Credentials {
        let (user, password) = (Secret::new("me".into()), Secret::new(password.into()));
        Credentials { origin: origin.into(), login: Login::Basic { user, password } }
    }

    #[test]
    fn credentials_file_round_trips_and_is_private() {
        let folder = tempfile::tempdir().unwrap();
        let configuration = folder.path().join("made/config.toml");
        let file = place(&configuration);
        let (one, other) = (
            login("https://a.example", "a \"quoted\"\n'ünïque' \\ one"),
            login("https://a.example/feed?x=1", ""),
        );
        keep(&file, &one).unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).unwrap();
        keep(&file, &other).unwrap();
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&file), mode(file.parent().unwrap())), (0o600, 0o700));
        let mut settings = Settings::default();
        let configured = login("https://a.example", "newer");
        settings.network.credentials.push(configured.clone());
        add_to(&mut settings, &configuration).unwrap();
        assert_eq!(settings.network.credentials, [configured, other]);
        let mut settings = Settings::default();
        add_to(&mut settings, &configuration).unwrap();
        assert_eq!(settings.network.credentials.first(), Some(&one));
    }

    #[test]
    fn unreadable_credentials_are_reported_and_kept() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(NAME);
        std::fs::write(&file, "[[credentials]]\npasword = \"hunter2\"\n").unwrap();
        let why = add_to(&mut Settings::default(), &folder.path().join("config.toml")).unwrap_err();
        assert!(why.contains("line 2, column 1: ") && !why.contains("hunter2"), "{why}");
        let why = keep(&file, &login("https://b.example", "hunter3")).unwrap_err();
        assert!(why.contains("https://b.example") && !why.contains("hunter"), "{why}");
        assert!(std::fs::read_to_string(&file).unwrap().ends_with("\"hunter2\"\n"));
    }
}
