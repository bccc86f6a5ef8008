//! `devices.toml` next to the configuration file: the devices that may read the store, with hashes of their secrets. A password
//! is shown only once, when it is generated. It is random, so a plain hash does not reveal it.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use backissue_core::feed::identity::sha256_digits;
use backissue_core::{InputFlaw, flaw};
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::engine::settings::Settings;
use crate::io::config::credentials;
use crate::io::system::system_words;

const NAME: &str = "devices.toml";
const HEAD: &str = "# Devices that may sync. backissue writes this file with 'backissue device'; keep it private.\n\n";
/// File from which the system's random bytes are read.
const RANDOM: &str = "/dev/urandom";
/// Number of random bytes of a password: 128 bits.
const SECRET_BYTES: usize = 16;
/// Maximum number of characters in a name.
const NAME_MAX: usize = 40;
/// Maximum number of devices.
const DEVICES_MAX: usize = 100;

/// A device.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Device {
    /// Its name, which is unique and is also its user name for the login.
    pub name: String,
    /// SHA-256 of its password.
    password: String,
    /// SHA-256 of the token that it sends after the login.
    token: String,
    /// When it was added.
    pub added: DateTime<Utc>,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct DeviceDocument {
    device: Vec<Device>,
}

fn hash(text: &str) -> String {
    sha256_digits(text.as_bytes())
}

/// Returns a password in the form that is compared, because people type it with other separators and in capitals.
fn plain(password: &str) -> String {
    password
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .map(|char| char.to_ascii_lowercase())
        .collect()
}

/// Computes the token of a device from its password, so that no token has to be stored.
fn token_of(password: &str) -> String {
    hash(&format!("token of {}", plain(password)))
}

/// Returns the value that a device sends with each change. It is not secret, because the token in the header is checked.
pub fn action_token(token: &str) -> String {
    hash(&format!("action of {token}"))
}

/// The file of devices.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeviceFile(PathBuf);

impl DeviceFile {
    /// Returns the file for these settings, or `None` if there is no folder for the configuration.
    pub fn of(settings: &Settings) -> Option<Self> {
        let credentials = settings.network.credentials_file.as_deref()?;
        Some(Self(credentials.with_file_name(NAME)))
    }

    /// Returns the path of the file.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Reads the devices. If the file is missing, there are none. The error is a sentence.
    pub fn read(&self) -> Result<Vec<Device>, InputFlaw> {
        let text = credentials::read(&self.0)?;
        Ok(credentials::parse::<DeviceDocument>(&self.0, &text)?.device)
    }

    fn write(&self, device: Vec<Device>) -> Result<(), InputFlaw> {
        let cannot = |why: &str| flaw!("{} cannot be written: {why}", self.0.display());
        let text = toml::to_string(&DeviceDocument { device });
        let text = text.map_err(|_| cannot("the devices have no text form"))?;
        let written = credentials::write(&self.0, &format!("{HEAD}{text}"));
        written.map_err(|error| cannot(&system_words(&error)))
    }

    /// Adds a device and returns its password. The error is a sentence.
    pub fn add(&self, name: &str, now: DateTime<Utc>) -> Result<String, InputFlaw> {
        let is_usual = |char: char| char.is_ascii_alphanumeric() || "-_.".contains(char);
        if name.is_empty() || name.len() > NAME_MAX || !name.chars().all(is_usual) {
            return Err(flaw!(
                "a device is named by at most {NAME_MAX} letters, digits, '-', '_' and '.'"
            ));
        }
        let mut devices = self.read()?;
        if devices.iter().any(|device| device.name == name) {
            return Err(flaw!(
                "there is a device '{name}': choose another name, or remove it first with 'backissue device remove {name}'"
            ));
        }
        if devices.len() >= DEVICES_MAX {
            return Err(flaw!("there are {DEVICES_MAX} devices: remove one first"));
        }
        let mut secret = [0; SECRET_BYTES];
        let random = File::open(RANDOM).and_then(|mut random| random.read_exact(&mut secret));
        random.map_err(|error| flaw!("{RANDOM} cannot be read: {}", system_words(&error)))?;
        let digits = sha256_digits(&secret);
        let parts = (0..SECRET_BYTES / 4).filter_map(|part| digits.get(part * 8..part * 8 + 8));
        let password = parts.collect::<Vec<_>>().join("-");
        devices.push(Device {
            name: name.to_owned(),
            password: hash(&plain(&password)),
            token: hash(&token_of(&password)),
            added: now,
        });
        self.write(devices)?;
        Ok(password)
    }

    /// Removes a device, whose token then is no longer valid. The error is a sentence.
    pub fn remove(&self, name: &str) -> Result<(), InputFlaw> {
        let mut devices = self.read()?;
        let before = devices.len();
        devices.retain(|device| device.name != name);
        if devices.len() == before {
            return Err(flaw!("there is no device '{name}': see 'backissue device list'"));
        }
        self.write(devices)
    }

    /// Returns the token of a device that logs in, or `None` if there is no such device or the password is wrong.
    pub fn log_in(&self, name: &str, password: &str) -> Result<Option<String>, InputFlaw> {
        let wanted = hash(&plain(password));
        let devices = self.read()?;
        let found = devices.iter().any(|device| device.name == name && device.password == wanted);
        Ok(found.then(|| token_of(password)))
    }

    /// Checks the token of a device.
    pub fn is_valid(&self, name: &str, token: &str) -> Result<bool, InputFlaw> {
        let wanted = hash(token);
        let devices = self.read()?;
        Ok(devices.iter().any(|device| device.name == name && device.token == wanted))
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn a_password_is_random_and_only_its_hash_is_stored() {
        let folder = tempfile::tempdir().unwrap();
        let file = DeviceFile(folder.path().join("made/devices.toml"));
        let now = DateTime::UNIX_EPOCH;
        let (first, second) = (file.add("phone", now).unwrap(), file.add("tablet", now).unwrap());
        assert_eq!(first.len(), "01234567-01234567-01234567-01234567".len());
        assert_ne!(first, second);
        let text = std::fs::read_to_string(file.path()).unwrap();
        let token = file.log_in("phone", &first).unwrap().unwrap();
        for secret in [&first, &plain(&first), &token] {
            assert!(!text.contains(secret.as_str()), "{text}");
        }
        assert_eq!(std::fs::metadata(file.path()).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(
            file.log_in("phone", &first.to_uppercase().replace('-', " ")).unwrap(),
            Some(token.clone())
        );
        for (name, password) in
            [("phone", second.as_str()), ("phone", ""), ("", &first), ("x", &first)]
        {
            assert_eq!(file.log_in(name, password).unwrap(), None, "{name} {password}");
        }
        assert!(file.is_valid("phone", &token).unwrap());
        assert!(!file.is_valid("tablet", &token).unwrap(), "each device has its own");
        assert!(!file.is_valid("phone", &first).unwrap());
        file.remove("phone").unwrap();
        assert!(!file.is_valid("phone", &token).unwrap(), "a removed device");
        assert!(file.remove("phone").is_err());
        for name in ["tablet", "", "a b", "a/b", "ü", &"x".repeat(41)] {
            assert!(file.add(name, now).is_err(), "{name}");
        }
    }
}
