//! `accounts.toml` next to the configuration file: the accounts with their passwords. Only the user can read this file.

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::mpsc::channel;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::engine::settings::{NetworkSettings, Settings};
use crate::io::config::credentials;
use crate::io::processes::run_command;
use crate::io::system::system_words;
use backissue_core::{InputFlaw, flaw};

const NAME: &str = "accounts.toml";
const HEAD: &str = "# Accounts on servers. backissue writes this file with 'backissue account'; keep it private.\n\n";
/// Maximum length in bytes of a password that a command prints.
const PASSWORD_MAX: u64 = 4_096;
/// Time limit for a command that prints the password. It may ask the user for a passphrase.
const PASSWORD_PATIENCE: Duration = Duration::from_mins(2);

/// The API that a server speaks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ApiKind {
    /// The Google Reader API.
    #[default]
    GoogleReader,
    /// Miniflux's own API.
    Miniflux,
}

impl ApiKind {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
    fn is_usual(&self) -> bool {
        *self == Self::default()
    }
}

/// An account.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Account {
    /// Name, which is unique.
    pub name: String,
    /// Base address of the API.
    pub api: String,
    /// The API.
    #[serde(skip_serializing_if = "ApiKind::is_usual")]
    pub kind: ApiKind,
    /// Name of the user on the server; empty if the password is an API token.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub user: String,
    /// Password or API token; `None` if a command prints it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub password: Option<String>,
    /// Command that prints the password on its first line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub password_command: Option<String>,
    /// Value that the server returned at the last login. It is sent instead of the password.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub login: Option<String>,
}

impl std::fmt::Debug for Account {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "Account({} {})", self.name, self.place())
    }
}

impl Account {
    /// Returns the user and the server as they are shown in a list.
    pub fn place(&self) -> String {
        let user = if self.user.is_empty() { "API token" } else { &self.user };
        format!("{user} at {}", self.api)
    }

    /// Returns the password, which may run the command. The error is a sentence without a secret.
    pub fn password(&self) -> Result<String, InputFlaw> {
        let Some(command) = &self.password_command else {
            return self
                .password
                .clone()
                .ok_or_else(|| flaw!("the account '{}' has no password: add it again", self.name));
        };
        let cannot = |why: &str| flaw!("the password command of account '{}' {why}", self.name);
        let words = shell_words::split(command).map_err(|_| cannot("has unbalanced quotes"))?;
        let Some((program, arguments)) = words.split_first() else {
            return Err(cannot("is empty"));
        };
        let mut command = run_command::program(program);
        command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped());
        let started = command.spawn();
        let mut child =
            started.map_err(|error| cannot(&format!("cannot start: {}", system_words(&error))))?;
        let (tell, told) = channel();
        if let Some(printed) = child.stdout.take() {
            std::thread::spawn(move || {
                let mut text = Vec::new();
                let read = printed.take(PASSWORD_MAX + 1).read_to_end(&mut text);
                tell.send(read.map(|_| text)).ok();
            });
        }
        let Ok(printed) = told.recv_timeout(PASSWORD_PATIENCE) else {
            child.kill().ok();
            child.wait().ok();
            return Err(cannot("printed nothing within two minutes"));
        };
        let text = printed.map_err(|error| cannot(&system_words(&error)))?;
        if !child.wait().is_ok_and(|status| status.success()) {
            return Err(cannot("failed"));
        }
        let text = String::from_utf8_lossy(&text);
        let first = text.lines().next().unwrap_or_default();
        if first.is_empty() || first.len() as u64 > PASSWORD_MAX {
            return Err(cannot("printed no password"));
        }
        Ok(first.to_owned())
    }
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct AccountDocument {
    account: Vec<Account>,
}

/// The file of accounts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccountFile(PathBuf);

impl AccountFile {
    /// Returns the file for these settings, or `None` if there is no folder for the configuration.
    pub fn of(settings: &Settings) -> Option<Self> {
        Self::of_network(&settings.network)
    }

    /// Returns the file for these network settings, or `None` if there is no folder for the configuration.
    pub fn of_network(settings: &NetworkSettings) -> Option<Self> {
        let credentials = settings.credentials_file.as_deref()?;
        Some(Self(credentials.with_file_name(NAME)))
    }

    /// Returns the path of the file.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Reads the accounts. If the file is missing, there are none. The error is a sentence.
    pub fn read(&self) -> Result<Vec<Account>, InputFlaw> {
        let text = credentials::read(&self.0)?;
        Ok(credentials::parse::<AccountDocument>(&self.0, &text)?.account)
    }

    /// Checks whether the file exists.
    pub fn is_there(&self) -> bool {
        self.0.exists()
    }

    /// Checks whether there is an account with this name.
    pub fn has(&self, name: &str) -> bool {
        self.read().is_ok_and(|accounts| accounts.iter().any(|account| account.name == name))
    }

    /// Changes the accounts and writes the file. The error is a sentence.
    pub fn change(&self, change: impl FnOnce(&mut Vec<Account>)) -> Result<(), InputFlaw> {
        let mut account = self.read()?;
        change(&mut account);
        let cannot = |why: &str| flaw!("{} cannot be written: {why}", self.0.display());
        let text = toml::to_string(&AccountDocument { account });
        let text = text.map_err(|_| cannot("the accounts have no text form"))?;
        let written = credentials::write(&self.0, &format!("{HEAD}{text}"));
        written.map_err(|error| cannot(&system_words(&error)))
    }

    /// Stores the renewed login of an account. If that fails, the next sync has to log in again.
    pub fn keep_login(&self, name: &str, login: Option<&str>) -> Result<(), InputFlaw> {
        self.change(|accounts| {
            for account in accounts.iter_mut().filter(|account| account.name == name) {
                account.login = login.map(str::to_owned);
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn accounts_are_private_and_passwords_come_from_commands() {
        let folder = tempfile::tempdir().unwrap();
        let file = AccountFile(folder.path().join("made/accounts.toml"));
        assert_eq!(file.read(), Ok(Vec::new()));
        let account = |password: Option<&str>, command: Option<&str>| Account {
            name: "rss.example".into(),
            api: "https://rss.example/api/greader.php".into(),
            user: "ann".into(),
            password: password.map(str::to_owned),
            password_command: command.map(str::to_owned),
            ..Account::default()
        };
        let typed = account(Some("a \"b\"\n'c'"), None);
        file.change(|accounts| accounts.push(typed.clone())).unwrap();
        file.keep_login("rss.example", Some("ann/1")).unwrap();
        let mode = std::fs::metadata(file.path()).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, 0o600);
        let read = file.read().unwrap();
        assert_eq!(read, [Account { login: Some("ann/1".into()), ..typed }]);
        assert!(!format!("{read:?}").contains("\"b\""), "a password is never shown");
        for (password, command, expected) in [
            (None, Some("echo 'my secret'"), Ok("my secret")),
            (None, Some("false"), Err("failed")),
            (None, Some("true"), Err("printed no password")),
            (None, Some("'"), Err("unbalanced quotes")),
            (None, Some("/nowhere/program"), Err("cannot start")),
            (None, None, Err("has no password")),
            (Some("x"), None, Ok("x")),
        ] {
            let found = account(password, command).password();
            match expected {
                Ok(secret) => assert_eq!(found.as_deref(), Ok(secret)),
                Err(why) => assert!(found.unwrap_err().contains(why), "{why}"),
            }
        }
        std::fs::write(file.path(), "[[account]]\npasword = \"hunter2\"\n").unwrap();
        let why = file.read().unwrap_err();
        assert!(why.contains("line 2, column 1: ") && !why.contains("hunter2"), "{why}");
    }
}
