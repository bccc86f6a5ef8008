//! Prevents requests to disallowed addresses (SPEC D.6): resolves host names, classifies the addresses, and only then connects to
//! them. Which servers a request may connect to depends on the source of its address.

use std::collections::BTreeSet;
use std::future::Future;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::{fmt, io};

use AddressClass::{Forbidden, LinkLocal, Loopback, Private, Public};
use reqwest::dns;
use url::{Host, Url};

use crate::engine::politeness::address_net::AddressNet;
use crate::engine::poll::fetch::{AddressSource, FetchFailure};

pub type NameLookup = Pin<Box<dyn Future<Output = io::Result<Vec<SocketAddr>>> + Send>>;

/// Resolves host names. The ports of the returned addresses are ignored.
pub trait NameResolver: fmt::Debug + Send + Sync {
    /// Resolves a host name. The result is not cached.
    fn look_up(&self, name: &str) -> NameLookup;
}

#[derive(Debug, Clone, Copy)]
pub struct SystemResolver;

impl NameResolver for SystemResolver {
    fn look_up(&self, name: &str) -> NameLookup {
        let name = name.to_owned();
        Box::pin(async move {
            if is_localhost(&name) {
                // Do not query a name server (RFC 6761, section 6.3), which a system without `/etc/hosts` would do.
                let loopback = [IpAddr::V4(Ipv4Addr::LOCALHOST), IpAddr::V6(Ipv6Addr::LOCALHOST)];
                return Ok(loopback.map(|address| SocketAddr::new(address, 0)).to_vec());
            }
            let found = tokio::net::lookup_host((name, 0)).await?;
            Ok(found.collect())
        })
    }
}

/// The kinds of addresses that a request may connect to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Allowed {
    Public,
    /// Public, private and loopback addresses, and link-local addresses of hosts for which the configuration allows them.
    Near,
}

/// Decides whether a host may be contacted at an address.
#[derive(Debug, Clone)]
pub(super) struct AddressGuard {
    /// Classifies an address; [`AddressClass::classify`] outside of tests.
    pub(super) classify: fn(IpAddr) -> AddressClass,
    /// Hosts whose link-local addresses the configuration allows.
    pub(super) link_local: BTreeSet<String>,
    /// Networks that the configuration allows. Their addresses are treated as public.
    pub(super) allowed: Vec<AddressNet>,
}

/// An address that must not be contacted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RefusedAddress {
    /// The host as written in the URL.
    pub(super) host: String,
    pub(super) address: Option<IpAddr>,
    pub(super) class: AddressClass,
}

impl fmt::Display for RefusedAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.address {
            Some(address) if address.to_string() != self.host => {
                write!(f, "{} is {} ({address})", self.host, self.class.words())
            }
            Some(_) | None => write!(f, "{} is {}", self.host, self.class.words()),
        }
    }
}

impl std::error::Error for RefusedAddress {}

impl AddressGuard {
    /// Classifies an address of a host.
    fn class_of(&self, host: &str, address: IpAddr) -> AddressClass {
        let is_name = host.parse::<IpAddr>().is_err();
        let is_allowed = self.allowed.iter().any(|net| net.contains(address));
        if is_allowed || (is_name && stands_for_a_name(address)) {
            return Public;
        }
        (self.classify)(address)
    }

    /// Checks whether an address of a host counts as public.
    pub(super) fn is_public(&self, host: &str, address: IpAddr) -> bool {
        self.class_of(host, address) == Public
    }

    /// Checks whether a host may be contacted at an address.
    pub(super) fn check(
        &self,
        allowed: Allowed,
        host: &str,
        address: IpAddr,
    ) -> Result<(), RefusedAddress> {
        let class = self.class_of(host, address);
        let good = match (allowed, class) {
            (_, Public) | (Allowed::Near, Private | Loopback) => true,
            (Allowed::Near, LinkLocal) => self.link_local.contains(host),
            (Allowed::Public, _) | (Allowed::Near, Forbidden) => false,
        };
        if good {
            return Ok(());
        }
        Err(RefusedAddress { host: host.to_owned(), address: Some(address), class })
    }

    /// Returns the addresses at which a host may be contacted.
    ///
    /// If only public addresses are allowed, a single non-public address rejects the host, because a name that resolves to both
    /// public and private addresses is typical of an attack on the local network. If private addresses are allowed too, addresses
    /// that are not allowed are dropped, because machines on a local network often have a link-local address in addition to a
    /// private one.
    fn checked(
        &self,
        allowed: Allowed,
        host: &str,
        found: Vec<SocketAddr>,
    ) -> Result<Vec<SocketAddr>, RefusedAddress> {
        let mut refused = None;
        let mut good = Vec::with_capacity(found.len());
        for address in found {
            match self.check(allowed, host, address.ip()) {
                Ok(()) => good.push(address),
                Err(refusal) => refused = refused.or(Some(refusal)),
            }
        }
        match refused {
            Some(refusal) if allowed == Allowed::Public || good.is_empty() => Err(refusal),
            Some(_) | None => Ok(good),
        }
    }
}

/// The DNS resolver of one client. The client connects to exactly the returned addresses, so a name cannot resolve to another
/// address between the check and the connection.
#[derive(Debug, Clone)]
pub(super) struct GuardedResolver {
    pub(super) names: Arc<dyn NameResolver>,
    pub(super) guard: Arc<AddressGuard>,
    pub(super) allowed: Allowed,
    /// Hosts of proxies, which are exempt from the check because the user configured them.
    pub(super) proxies: Arc<BTreeSet<String>>,
}

impl dns::Resolve for GuardedResolver {
    fn resolve(&self, name: dns::Name) -> dns::Resolving {
        let host = name.as_str().to_owned();
        let (guard, allowed) = (Arc::clone(&self.guard), self.allowed);
        let exempt = self.proxies.contains(&host);
        let looking = self.names.look_up(&host);
        Box::pin(async move {
            let found = looking.await?;
            if found.is_empty() {
                return Err(io::Error::from(io::ErrorKind::NotFound).into());
            }
            let good = if exempt { found } else { guard.checked(allowed, &host, found)? };
            let good: dns::Addrs = Box::new(good.into_iter());
            Ok(good)
        })
    }
}

/// Returns the host of a URL, without brackets around an IPv6 address.
pub(super) fn host_text(url: &Url) -> String {
    match url.host() {
        Some(Host::Domain(name)) => name.to_owned(),
        Some(Host::Ipv4(address)) => address.to_string(),
        Some(Host::Ipv6(address)) => address.to_string(),
        None => String::new(),
    }
}

pub(super) fn literal(url: &Url) -> Option<IpAddr> {
    match url.host()? {
        Host::Domain(_) => None,
        Host::Ipv4(address) => Some(address.into()),
        Host::Ipv6(address) => Some(address.into()),
    }
}

/// Checks whether a name always means this machine (RFC 6761 §6.3).
pub(super) fn is_localhost(name: &str) -> bool {
    let name = name.strip_suffix('.').unwrap_or(name);
    name == "localhost" || name.ends_with(".localhost")
}

/// The class of an IP address (SPEC D.6).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AddressClass {
    Public,
    /// An address within a home or company network.
    Private,
    Loopback,
    /// Link-local; cloud machines also serve their metadata at such an address.
    LinkLocal,
    /// Not usable by a server: unspecified, multicast, reserved, or for documentation only.
    Forbidden,
}

impl AddressClass {
    /// Classifies an address. An IPv6 address that embeds an IPv4 address gets the class of the IPv4 address.
    pub fn classify(address: IpAddr) -> Self {
        match address {
            IpAddr::V4(address) => of_v4(address),
            IpAddr::V6(address) => embedded(address).map_or_else(|| of_v6(address), of_v4),
        }
    }

    /// Returns this class as a phrase, such as "a private address".
    pub const fn words(self) -> &'static str {
        match self {
            Public => "a public address",
            Private => "a private address",
            Loopback => "an address of this machine",
            LinkLocal => "a link-local address",
            Forbidden => "an address that no server can have",
        }
    }
}

/// IPv4 networks by first address and prefix length (RFC 6890 and the IANA registry based on it); all others are public.
const V4: [(Ipv4Addr, u32, AddressClass); 16] = [
    (Ipv4Addr::UNSPECIFIED, 8, Forbidden),
    (Ipv4Addr::new(10, 0, 0, 0), 8, Private),
    (Ipv4Addr::new(100, 64, 0, 0), 10, Private),
    (Ipv4Addr::new(127, 0, 0, 0), 8, Loopback),
    (Ipv4Addr::new(169, 254, 0, 0), 16, LinkLocal),
    (Ipv4Addr::new(172, 16, 0, 0), 12, Private),
    (Ipv4Addr::new(192, 0, 0, 0), 24, Forbidden),
    (Ipv4Addr::new(192, 0, 2, 0), 24, Forbidden),
    (Ipv4Addr::new(192, 88, 99, 0), 24, Forbidden),
    (Ipv4Addr::new(192, 168, 0, 0), 16, Private),
    (Ipv4Addr::new(198, 18, 0, 0), 15, Forbidden),
    (Ipv4Addr::new(198, 51, 100, 0), 24, Forbidden),
    (Ipv4Addr::new(203, 0, 113, 0), 24, Forbidden),
    // The multicast addresses, followed by the reserved addresses, the last of which is the broadcast address.
    (Ipv4Addr::new(224, 0, 0, 0), 4, Forbidden),
    (Ipv4Addr::new(240, 0, 0, 0), 4, Forbidden),
    (Ipv4Addr::BROADCAST, 32, Forbidden),
];

/// IPv6 networks, narrower ones first; an address in none of them is forbidden.
const V6: [(Ipv6Addr, u32, AddressClass); 10] = [
    (Ipv6Addr::LOCALHOST, 128, Loopback),
    (Ipv6Addr::new(0x64, 0xff9b, 1, 0, 0, 0, 0, 0), 48, Private),
    (Ipv6Addr::new(0xfc00, 0, 0, 0, 0, 0, 0, 0), 7, Private),
    (Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0, 0, 0), 10, LinkLocal),
    // Site-local addresses, which the unique local addresses of RFC 4193 replaced.
    (Ipv6Addr::new(0xfec0, 0, 0, 0, 0, 0, 0, 0), 10, Private),
    // Reserved for protocols: Teredo, ORCHID, benchmarks.
    (Ipv6Addr::new(0x2001, 0, 0, 0, 0, 0, 0, 0), 23, Forbidden),
    (Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0), 32, Forbidden),
    (Ipv6Addr::new(0x3fff, 0, 0, 0, 0, 0, 0, 0), 20, Forbidden),
    (Ipv6Addr::new(0x2000, 0, 0, 0, 0, 0, 0, 0), 3, Public),
    (Ipv6Addr::UNSPECIFIED, 0, Forbidden),
];

fn of_v4(address: Ipv4Addr) -> AddressClass {
    let within = |net: Ipv4Addr, bits: u32| {
        let mask = u32::MAX.checked_shl(32 - bits).unwrap_or(0);
        address.to_bits() & mask == net.to_bits()
    };
    V4.iter().find(|&&(net, bits, _)| within(net, bits)).map_or(Public, |&(_, _, class)| class)
}

fn of_v6(address: Ipv6Addr) -> AddressClass {
    let within = |net: Ipv6Addr, bits: u32| {
        let mask = u128::MAX.checked_shl(128 - bits).unwrap_or(0);
        address.to_bits() & mask == net.to_bits()
    };
    V6.iter().find(|&&(net, bits, _)| within(net, bits)).map_or(Forbidden, |&(_, _, class)| class)
}

/// Networks that contain no servers. DNS servers of proxies (Clash, mihomo, Surge, sing-box) answer each name with an address
/// from these networks, and connections to that address go through the proxy.
const NAMES_NETS: [AddressNet; 3] = [
    AddressNet::new(IpAddr::V4(Ipv4Addr::new(198, 18, 0, 0)), 15),
    AddressNet::new(IpAddr::V6(Ipv6Addr::new(0xfc00, 0, 0, 0, 0, 0, 0, 0)), 18),
    AddressNet::new(IpAddr::V6(Ipv6Addr::new(0xfdfe, 0xdcba, 0x9876, 0, 0, 0, 0, 0)), 64),
];

/// Checks whether the DNS server of a proxy may return this address for a host name. The first two addresses of each network
/// belong to the proxy itself.
fn stands_for_a_name(address: IpAddr) -> bool {
    let number = |address: IpAddr| match address.to_canonical() {
        IpAddr::V4(address) => u128::from(address.to_bits()),
        IpAddr::V6(address) => address.to_bits(),
    };
    let is_own = |net: &AddressNet| number(address).wrapping_sub(number(net.first())) < 2;
    NAMES_NETS.iter().any(|net| net.contains(address) && !is_own(net))
}

/// Returns the IPv4 address embedded in a mapped (`::ffff:0:0/96`), translated (`64:ff9b::/96`, RFC 6052) or 6to4
/// (`2002::/16`, RFC 3056) address.
fn embedded(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let pair = |high: u16, low: u16| Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low));
    match address.segments() {
        [0, 0, 0, 0, 0, 0xffff, high, low] | [0x64, 0xff9b, 0, 0, 0, 0, high, low] => {
            Some(pair(high, low))
        }
        [0x2002, high, low, ..] => Some(pair(high, low)),
        _ => None,
    }
}

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
            (Self::Typed, LinkLocal) => format!(
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

    fn guard() -> AddressGuard {
        AddressGuard {
            classify: AddressClass::classify,
            link_local: BTreeSet::from(["nas.lan".to_owned()]),
            allowed: ["192.168.7.0/24", "fd00:7::/32", "203.0.113.7"]
                .map(|net| net.parse().unwrap())
                .to_vec(),
        }
    }

    fn sockets(addresses: &[&str]) -> Vec<SocketAddr> {
        addresses.iter().map(|ip| SocketAddr::new(ip.parse().unwrap(), 0)).collect()
    }

    fn check(allowed: Allowed, host: &str, found: &[&str], expected: Result<&[&str], &str>) {
        let got = guard().checked(allowed, host, sockets(found));
        let got = got.map_err(|refusal| refusal.to_string());
        assert_eq!(got, expected.map(sockets).map_err(str::to_owned), "{host} {found:?}");
    }

    #[tokio::test]
    async fn localhost_is_this_machine_without_a_name_server() {
        for name in ["localhost", "a.localhost"] {
            let found = SystemResolver.look_up(name).await.unwrap();
            let found: Vec<String> = found.iter().map(|found| found.ip().to_string()).collect();
            assert_eq!(found, ["127.0.0.1", "::1"], "{name}");
        }
    }

    /// SPEC D.6: all addresses that a host name resolves to are checked.
    #[test]
    fn one_private_address_blocks_a_public_only_name() {
        let private = "a.example is a private address (10.0.0.1)";
        check(Allowed::Public, "a.example", &["9.9.9.9", "2600::1"], Ok(&["9.9.9.9", "2600::1"]));
        check(Allowed::Public, "a.example", &["9.9.9.9", "10.0.0.1"], Err(private));
        check(Allowed::Public, "a.example", &["10.0.0.1", "127.0.0.1"], Err(private));
    }

    /// SPEC D.6: the DNS servers of some proxies answer every host name with an address from certain networks, which is allowed
    /// for a name only.
    #[test]
    fn fake_ip_is_allowed_for_a_name_but_not_typed() {
        for address in ["198.18.0.7", "198.19.255.255", "fc00::7", "fdfe:dcba:9876::7"] {
            for allowed in [Allowed::Public, Allowed::Near] {
                check(allowed, "a.example", &[address], Ok(&[address]));
            }
            check(Allowed::Public, address, &[address], Err(&refused(address)));
        }
        // Addresses of the proxy itself, through which every service of this machine could be reached.
        for address in ["198.18.0.0", "198.18.0.1", "fc00::1", "fdfe:dcba:9876::1"] {
            assert!(guard().check(Allowed::Public, "a.example", address.parse().unwrap()).is_err());
        }
        let private = "a.example is a private address (10.0.0.1)";
        check(Allowed::Public, "a.example", &["198.18.0.7", "10.0.0.1"], Err(private));
    }

    fn refused(address: &str) -> String {
        let class = AddressClass::classify(address.parse().unwrap());
        format!("{address} is {}", class.words())
    }

    /// SPEC D.6: addresses in the setting `allow_addresses` count as public.
    #[test]
    fn allowed_addresses_count_as_public() {
        for address in ["192.168.7.9", "fd00:7::1", "203.0.113.7"] {
            for host in ["a.example", address] {
                check(Allowed::Public, host, &[address], Ok(&[address]));
                assert!(guard().is_public(host, address.parse().unwrap()));
            }
        }
        check(Allowed::Public, "192.168.8.1", &["192.168.8.1"], Err(&refused("192.168.8.1")));
    }

    /// SPEC D.6: typed addresses may resolve to public, private and loopback addresses.
    #[test]
    fn local_name_keeps_only_permitted_addresses() {
        let near = Allowed::Near;
        check(near, "a.lan", &["10.0.0.1", "127.0.0.1"], Ok(&["10.0.0.1", "127.0.0.1"]));
        check(near, "a.lan", &["fe80::1", "10.0.0.1"], Ok(&["10.0.0.1"]));
        check(near, "a.lan", &["fe80::1"], Err("a.lan is a link-local address (fe80::1)"));
        check(near, "nas.lan", &["fe80::1"], Ok(&["fe80::1"]));
        let nowhere = "a.lan is an address that no server can have (0.0.0.0)";
        check(near, "a.lan", &["0.0.0.0"], Err(nowhere));
        check(near, "nas.lan", &["0.0.0.0", "fe80::1"], Ok(&["fe80::1"]));
    }

    /// RFC 6761 §6.3: `localhost` and names below it always mean this machine.
    #[test]
    fn loopback_names_are_recognised_by_suffix() {
        for (name, here) in [
            ("localhost", true),
            ("localhost.", true),
            ("a.localhost", true),
            ("notlocalhost", false),
            ("localhost.example", false),
        ] {
            assert_eq!(is_localhost(name), here, "{name}");
        }
    }

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

#[cfg(test)]
mod address_class_tests {
    use crate::io::http::address_guard::*;

    fn check(class: AddressClass, addresses: &[&str]) {
        for address in addresses {
            assert_eq!(AddressClass::classify(address.parse().unwrap()), class, "{address}");
        }
    }

    /// SPEC D.6: the first and the last address of each network belong to the class of the network.
    #[test]
    fn each_net_has_its_class_from_its_first_address_to_its_last() {
        check(
            Public,
            &[
                "1.0.0.0",
                "9.255.255.255",
                "11.0.0.0",
                "100.63.255.255",
                "100.128.0.0",
                "126.255.255.255",
                "128.0.0.0",
                "169.253.255.255",
                "169.255.0.0",
                "172.15.255.255",
                "172.32.0.0",
                "192.0.1.0",
                "192.167.255.255",
                "192.169.0.0",
                "198.17.255.255",
                "198.20.0.0",
                "223.255.255.255",
                "2600::1",
                "2001:200::1",
                "2a00:1450::1",
            ],
        );
        check(
            Private,
            &[
                "10.0.0.0",
                "10.255.255.255",
                "172.16.0.0",
                "172.31.255.255",
                "192.168.0.0",
                "192.168.255.255",
                "100.64.0.0",
                "100.127.255.255",
                "fc00::",
                "fdff:ffff::1",
                "fec0::1",
                "64:ff9b:1::1",
            ],
        );
        check(Loopback, &["127.0.0.0", "127.0.0.1", "127.255.255.255", "::1"]);
        check(
            LinkLocal,
            &["169.254.0.0", "169.254.169.254", "169.254.255.255", "fe80::", "febf::1"],
        );
    }

    /// SPEC D.6: addresses that no server can use are forbidden.
    #[test]
    fn unroutable_address_is_forbidden() {
        check(
            Forbidden,
            &[
                "0.0.0.0",
                "0.255.255.255",
                "192.0.0.8",
                "192.0.2.1",
                "192.88.99.1",
                "198.18.0.0",
                "198.19.255.255",
                "198.51.100.7",
                "203.0.113.7",
                "224.0.0.1",
                "239.255.255.255",
                "240.0.0.1",
                "255.255.255.255",
                "::",
                "::2",
                "::7f00:1",
                "100::1",
                "2001::1",
                "2001:db8::1",
                "3fff::1",
                "4000::1",
                "5f00::1",
                "ff02::1",
            ],
        );
    }

    /// SPEC D.6: IPv4-mapped, NAT64 and 6to4 addresses have the class of the embedded IPv4 address.
    #[test]
    fn embedded_ipv4_address_decides_the_class() {
        for (inner, class) in [
            ("127.0.0.1", Loopback),
            ("10.1.2.3", Private),
            ("169.254.169.254", LinkLocal),
            ("0.0.0.0", Forbidden),
            ("9.9.9.9", Public),
        ] {
            let v4: Ipv4Addr = inner.parse().unwrap();
            let [a, b, c, d] = v4.octets();
            check(
                class,
                &[
                    &format!("::ffff:{inner}"),
                    &format!("64:ff9b::{inner}"),
                    &format!("2002:{a:02x}{b:02x}:{c:02x}{d:02x}::1"),
                ],
            );
        }
    }
}
