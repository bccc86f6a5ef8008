//! `credentials.toml` next to the configuration file: the logins that the user typed as part of feed addresses, and headers that the
//! user put there. Only the user can read this file.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::credentials::{CredentialsTable, origin};
use super::origins::{OriginTable, one_each};
use super::toml_errors::located;
use crate::engine::settings::{Credentials, Login, Settings};
use crate::io::private_files::{create_private_folder, make_private, replace_private};
use crate::io::small_files;
use crate::io::system::words::system_words;

const NAME: &str = "credentials.toml";
const HEAD: &str =
    "# Logins from addresses that you entered. backissue writes this file; keep it private.\n";
const BYTES_MAX: u64 = 1024 * 1024;

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
pub(super) fn add_to(settings: &mut Settings, configuration: &Path) -> Result<(), String> {
    let path = place(configuration);
    let text = read(&path)?;
    let file: CredentialsDocument = toml::from_str(&text).map_err(|error| {
        format!("the file {} has an error: {}", path.display(), located(&text, &error))
    })?;
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

fn read(path: &Path) -> Result<String, String> {
    let cannot = |why: String| format!("the file {} cannot be read: {why}", path.display());
    let text = match small_files::read_text(path, BYTES_MAX) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(String::new()),
        read => read.map_err(|error| cannot(system_words(&error)))?,
    };
    // Restrict the permissions, because the user may have created the file with an editor and default permissions.
    make_private(path, 0o600);
    Ok(text)
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
    let mut text = read(path).map_err(|why| cannot(&why))?;
    if text.is_empty() {
        text.push_str(HEAD);
    } else if !text.ends_with('\n') {
        text.push('\n');
    }
    text.push_str(&table(credentials));
    // Check that the new text can be parsed, because an invalid credentials file would prevent the program from starting.
    toml::from_str::<CredentialsDocument>(&text).map_err(|error| cannot(&error.message()))?;
    write(path, &text).map_err(|error| cannot(&system_words(&error)))
}

fn write(path: &Path, text: &str) -> std::io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    create_private_folder(folder)?;
    replace_private(path, text.as_bytes())
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
