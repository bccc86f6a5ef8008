//! The trust in an address: the source of an address determines which servers a request to that address may connect to (SPEC
//! D.6).

use url::Url;

use super::address_class::AddressClass;
use super::address_guard::{Allowed, RefusedAddress};
use crate::engine::poll::fetch::{AddressSource, FetchFailure};

/// The source of an address; see [`AddressSource`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Trust {
    Typed,
    /// The address comes from a document or a response.
    Supplied {
        /// The address of that document. `None` if that address cannot be parsed; then only public addresses are allowed.
        by: Option<Url>,
        /// `true` if the document came from a public address.
        public: bool,
    },
}

impl Trust {
    pub(super) fn from_source(source: &AddressSource) -> Self {
        match source {
            AddressSource::Typed => Self::Typed,
            AddressSource::Supplied { by, public } => {
                Self::Supplied { by: Url::parse(by).ok(), public: *public }
            }
        }
    }

    /// Returns the addresses that a request to this URL may connect to.
    ///
    /// A typed address may be private. An address from a public document must be public, even on the document's own host: a
    /// host whose name suddenly resolves to a private address is an attack. An address from a private document must be
    /// public, or have the same host and port.
    pub(super) fn allowed(&self, to: &Url) -> Allowed {
        match self {
            Self::Typed => Allowed::Near,
            Self::Supplied { by: Some(by), public: false } if same_place(by, to) => Allowed::Near,
            Self::Supplied { .. } => Allowed::Public,
        }
    }

    /// Rejects, before any DNS lookup, a supplied address that contains a login, and an http address supplied by an https
    /// document (SPEC D.3, D.6).
    pub(super) fn check(&self, to: &Url, allow_insecure: bool) -> Result<(), FetchFailure> {
        let Self::Supplied { by, .. } = self else { return Ok(()) };
        if carries_credentials(to) {
            return Err(FetchFailure::Blocked("the address contains a login".into()));
        }
        let secure = by.as_ref().is_some_and(|by| by.scheme() == "https");
        if secure && to.scheme() == "http" && !allow_insecure {
            return Err(FetchFailure::Insecure { to: to.to_string() });
        }
        Ok(())
    }

    /// Converts a refused address to a failure that explains why the address is not allowed.
    pub(super) fn explain_refusal(&self, refusal: &RefusedAddress) -> FetchFailure {
        let advice = match (self, refusal.class) {
            (Self::Typed, AddressClass::LinkLocal) => format!(
                "; to allow it, put allow_link_local = [\"{}\"] under [network] in the configuration",
                refusal.host
            ),
            (Self::Typed, _) => refusal.address.map_or_else(String::new, |address| format!(
                "; to allow it, put allow_addresses = [\"{address}\"] under [network] in the configuration"
            )),
            (Self::Supplied { by: Some(by), public: true }, _) => {
                format!(", and {} is a public site, which is not allowed to point there", place(by))
            }
            (Self::Supplied { by: Some(by), public: false }, _) => {
                format!(", and {} may point only to its own host and port", place(by))
            }
            (Self::Supplied { by: None, .. }, _) => {
                ", and servers of accounts may not lead there; to allow it, subscribe to this address by typing it".to_owned()
            }
        };
        FetchFailure::Blocked(format!("{refusal}{advice}"))
    }
}

/// Returns the host of a URL, with its port if that is not the default.
fn place(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
}

fn same_place(one: &Url, other: &Url) -> bool {
    one.host() == other.host() && one.port_or_known_default() == other.port_or_known_default()
}

/// Checks whether a URL contains user information.
pub(super) fn carries_credentials(url: &Url) -> bool {
    !url.username().is_empty() || url.password().is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn supplied(by: &str, public: bool) -> Trust {
        Trust::from_source(&AddressSource::Supplied { by: by.into(), public })
    }

    fn url(text: &str) -> Url {
        Url::parse(text).unwrap()
    }

    /// SPEC D.6: an address from a document may be private only if the document is private and has the same host and port.
    #[test]
    fn only_a_local_document_may_name_its_own_origin() {
        let near = "http://localhost:8080/feed";
        for (trust, to, allowed) in [
            (Trust::Typed, "http://localhost/", Allowed::Near),
            (supplied(near, false), "http://localhost:8080/archive", Allowed::Near),
            (supplied(near, false), "http://localhost:631/", Allowed::Public),
            (supplied(near, false), "http://127.0.0.1:8080/", Allowed::Public),
            (supplied("http://nas.lan/", false), "http://nas.lan:80/a", Allowed::Near),
            (supplied("http://nas.lan/", false), "https://nas.lan/a", Allowed::Public),
            (supplied("http://a.example/", true), "http://a.example/b", Allowed::Public),
            (supplied("no address", false), "http://a.example/b", Allowed::Public),
        ] {
            assert_eq!(trust.allowed(&url(to)), allowed, "{trust:?} to {to}");
        }
    }

    /// SPEC D.6: addresses from a document are rejected if they contain a login, or if they use http and the document uses https.
    #[test]
    fn supplied_insecure_or_credential_address_is_refused() {
        let insecure = |to: &str| Err(FetchFailure::Insecure { to: to.into() });
        let word = supplied("https://a.example/feed", true);
        assert!(matches!(
            word.check(&url("https://u:p@b.example/"), true),
            Err(FetchFailure::Blocked(_))
        ));
        assert_eq!(word.check(&url("http://b.example/"), false), insecure("http://b.example/"));
        assert_eq!(word.check(&url("http://b.example/"), true), Ok(()));
        let plain = supplied("http://a.example/feed", true);
        assert_eq!(plain.check(&url("http://b.example/"), false), Ok(()));
        assert_eq!(Trust::Typed.check(&url("http://u:p@b.example/"), false), Ok(()));
    }

    /// SPEC D.6: the message about every address that is not allowed gives the reason or a remedy.
    #[test]
    fn a_refusal_says_why() {
        let refusal = |host: &str, address: &str| {
            let address = address.parse().unwrap();
            RefusedAddress {
                host: host.into(),
                address: Some(address),
                class: AddressClass::classify(address),
            }
        };
        for (trust, refusal, sentence) in [
            (
                Trust::Typed,
                refusal("169.254.169.254", "169.254.169.254"),
                "not requested: 169.254.169.254 is a link-local address; to allow it, put allow_link_local = [\"169.254.169.254\"] under [network] in the configuration",
            ),
            (
                Trust::Typed,
                refusal("a.example", "192.0.2.1"),
                "not requested: a.example is an address that no server can have (192.0.2.1); to allow it, put allow_addresses = [\"192.0.2.1\"] under [network] in the configuration",
            ),
            (
                supplied("https://a.example/feed", true),
                refusal("127.0.0.1", "127.0.0.1"),
                "not requested: 127.0.0.1 is an address of this machine, and a.example is a public site, which is not allowed to point there",
            ),
            (
                supplied("http://localhost:8080/feed", false),
                refusal("localhost", "127.0.0.1"),
                "not requested: localhost is an address of this machine (127.0.0.1), and localhost:8080 may point only to its own host and port",
            ),
        ] {
            assert_eq!(trust.explain_refusal(&refusal).to_string(), sentence);
        }
    }
}
