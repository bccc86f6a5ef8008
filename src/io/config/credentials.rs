//! The credentials and headers of requests to an origin: `[[network.credentials]]` and `[[network.headers]]` of the configuration
//! file (SPEC D.1), and `credentials.toml` next to it, with the logins that the user typed as part of feed addresses. Only the
//! user can read files with secrets.

use std::collections::BTreeMap;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use backissue_core::feed::text::one_line;
use backissue_core::{InputFlaw, flaw};
use reqwest::header::{HeaderName, HeaderValue};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use url::Url;

use super::key_bindings::located;
use crate::engine::settings::{Credentials, Login, OriginSettings, Secret, Settings};
use crate::io::private_files::{create_private_folder, make_private, replace_private};
use crate::io::regular_files;
use crate::io::system::system_words;

/// The fields of one `[[network.credentials]]` table.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenCredentials {
    origin: Option<String>,
    /// The address of one feed, instead of an origin.
    address: Option<String>,
    user: Option<SecretText>,
    password: Option<SecretText>,
    token: Option<SecretText>,
}

/// A secret text, such as a password, that never appears in an error message, not even if the value has the wrong type.
#[derive(Debug)]
pub(super) struct SecretText(pub(super) Secret);

impl<'de> Deserialize<'de> for SecretText {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let toml::Value::String(text) = toml::Value::deserialize(deserializer)? else {
            return Err(serde::de::Error::custom("this must be text in quotes"));
        };
        Ok(Self(Secret::new(text)))
    }
}

#[derive(Debug, Deserialize)]
#[serde(try_from = "WrittenCredentials")]
pub(in crate::io) struct CredentialsTable(pub(in crate::io) Credentials);

impl TryFrom<WrittenCredentials> for CredentialsTable {
    type Error = InputFlaw;

    fn try_from(written: WrittenCredentials) -> Result<Self, InputFlaw> {
        let origin = match (&written.origin, &written.address) {
            (Some(written), None) => origin(written)?,
            (None, Some(written)) => address(written)?,
            (_, Some(_)) => {
                return Err("credentials are for an origin or an address, not both".into());
            }
            (None, None) => return Err("missing field `origin`".into()),
        };
        let login = match (written.user, written.password, written.token) {
            (Some(SecretText(user)), Some(SecretText(password)), None) => {
                if user.reveal().contains(':') {
                    return Err("a user name must not contain a colon".into());
                }
                Login::Basic { user, password }
            }
            (None, None, Some(SecretText(token))) => {
                let sendable = token.reveal().bytes().all(|byte| byte.is_ascii_graphic());
                if token.reveal().is_empty() || !sendable {
                    return Err("a token must be visible ASCII characters without spaces".into());
                }
                Login::Bearer { token }
            }
            (_, _, Some(_)) => {
                return Err("credentials are user and password, or a token, not both".into());
            }
            (Some(_), None, None) => return Err("the password of this user is missing".into()),
            (None, Some(_), None) => return Err("the user of this password is missing".into()),
            (None, None, None) => {
                return Err("credentials need user and password, or a token".into());
            }
        };
        Ok(Self(Credentials { origin, login }))
    }
}

/// Normalises an origin (scheme, host and port), such as `https://a.example` or `http://nas.lan:8080`.
pub(super) fn origin(written: &str) -> Result<String, InputFlaw> {
    let url = place(written)?;
    let origin = url.origin().ascii_serialization();
    if url.path() != "/" || url.query().is_some() || url.fragment().is_some() {
        return Err(flaw!("an origin ends after the host or port; write {origin}"));
    }
    Ok(origin)
}

/// Normalises the address of one feed.
fn address(written: &str) -> Result<String, InputFlaw> {
    place(written).map(String::from)
}

fn place(written: &str) -> Result<Url, InputFlaw> {
    let form = "write it like https://a.example";
    let url = Url::parse(written).map_err(|_| format!("this is not a valid origin; {form}"))?;
    if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
        return Err(flaw!("an origin starts with http:// or https://; {form}"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err("an origin must not contain a user; write user and password below it".into());
    }
    Ok(url)
}

/// Headers that only the program sets, because they state what it can decode, what it already has, or how the connection is used.
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
fn place_of_file(configuration: &Path) -> PathBuf {
    configuration.with_file_name(NAME)
}

/// Adds the logins of the credentials file to the settings. For the same origin, the configuration file takes precedence. The
/// error is a sentence.
pub(super) fn add_to(settings: &mut Settings, configuration: &Path) -> Result<(), InputFlaw> {
    let path = place_of_file(configuration);
    let file: CredentialsDocument = parse(&path, &read(&path)?)?;
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

const BYTES_MAX: u64 = 1024 * 1024;

/// Reads the text of a file. If the file is missing, the text is empty.
pub(in crate::io) fn read(path: &Path) -> Result<String, InputFlaw> {
    let text = match regular_files::read_text(path, BYTES_MAX) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(String::new()),
        read => read.map_err(|error| {
            flaw!("the file {} cannot be read: {}", path.display(), system_words(&error))
        })?,
    };
    // Restrict the permissions, because the user may have created the file with an editor and default permissions.
    make_private(path, 0o600);
    Ok(text)
}

/// Parses the text of a file.
pub(in crate::io) fn parse<T: DeserializeOwned>(path: &Path, text: &str) -> Result<T, InputFlaw> {
    toml::from_str(text).map_err(|error| {
        flaw!("the file {} has an error: {}", path.display(), located(text, &error))
    })
}

/// Writes a file. Creates its folder if it does not exist.
pub(in crate::io) fn write(path: &Path, text: &str) -> io::Result<()> {
    create_private_folder(path.parent().unwrap_or(Path::new(".")))?;
    replace_private(path, text.as_bytes())
}

#[cfg(test)]
mod tests {
    use crate::io::config::credentials::*;

    fn read(text: &str) -> Result<Credentials, String> {
        let table: Result<CredentialsTable, _> = toml::from_str(text);
        table.map(|table| table.0).map_err(|error| error.message().to_owned())
    }

    fn secret(text: &str) -> Secret {
        Secret::new(text.to_owned())
    }

    #[test]
    fn a_user_or_a_token_belongs_to_an_origin() {
        let basic = Login::Basic { user: secret("me"), password: secret("a:b") };
        let bearer = Login::Bearer { token: secret("t.0-_~+/=") };
        for (written, origin, login) in [
            (
                "https://A.example:443/\"\nuser = \"me\"\npassword = \"a:b",
                "https://a.example",
                &basic,
            ),
            ("http://nas.lan:8080\"\ntoken = \"t.0-_~+/=", "http://nas.lan:8080", &bearer),
            (
                "https://bücher.example\"\ntoken = \"t.0-_~+/=",
                "https://xn--bcher-kva.example",
                &bearer,
            ),
        ] {
            let expected = Credentials { origin: origin.into(), login: login.clone() };
            assert_eq!(read(&format!("origin = \"{written}\"")), Ok(expected), "{written}");
        }
    }

    #[test]
    fn wrong_credentials_are_reported_without_the_secret() {
        let user = "user = \"me\"\npassword = \"hunter2\"";
        let at = |origin: &str| format!("origin = \"{origin}\"\n{user}");
        let with = |rest: &str| format!("origin = \"https://a.example\"\n{rest}");
        for (text, sentence) in [
            (at("a.example"), "this is not a valid origin; write it like https://a.example"),
            (at("ftp://a.example"), "an origin starts with http:// or https://"),
            (at("https://x:y@a.example"), "an origin must not contain a user"),
            (at("https://a.example/feed"), "ends after the host or port; write https://a.example"),
            (at("https://a.example?x"), "ends after the host or port"),
            (user.to_owned(), "missing field `origin`"),
            (with(""), "credentials need user and password, or a token"),
            (with("user = \"me\""), "the password of this user is missing"),
            (with("password = \"hunter2\""), "the user of this password is missing"),
            (with(&format!("{user}\ntoken = \"hunter2\"")), "not both"),
            (with("token = \"hunter2 \""), "visible ASCII"),
            (with("token = \"\""), "visible ASCII"),
            (with("user = \"a:hunter2\"\npassword = \"x\""), "must not contain a colon"),
            (with("user = \"me\"\npassword = 4711"), "this must be text in quotes"),
            (with("token = [\"hunter2\"]"), "this must be text in quotes"),
            (with("pasword = \"hunter2\""), "unknown field `pasword`"),
        ] {
            let why = read(&text).unwrap_err();
            assert!(why.contains(sentence), "{text}: {why}");
            assert!(!why.contains("hunter2") && !why.contains("4711"), "{why}");
        }
    }
}

#[cfg(test)]
mod origins_tests {
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

#[cfg(test)]
mod credentials_file_tests {
    use std::os::unix::fs::PermissionsExt;

    use crate::engine::settings::Secret;
    use crate::io::config::credentials::*;

    fn login(origin: &str, password: &str) -> Credentials {
        let (user, password) = (Secret::new("me".into()), Secret::new(password.into()));
        Credentials { origin: origin.into(), login: Login::Basic { user, password } }
    }

    #[test]
    fn credentials_file_round_trips_and_is_private() {
        let folder = tempfile::tempdir().unwrap();
        let configuration = folder.path().join("made/config.toml");
        let file = place_of_file(&configuration);
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
