//! Prevents requests to disallowed addresses (SPEC D.6): resolves host names, checks the addresses, and only then connects to
//! them.

use std::collections::BTreeSet;
use std::future::Future;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::{fmt, io};

use reqwest::dns;
use url::{Host, Url};

use super::address_class::{AddressClass, stands_for_a_name};
use crate::engine::politeness::address_net::AddressNet;

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
                // No name server is asked (RFC 6761, section 6.3), as a system without /etc/hosts would do.
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
            return AddressClass::Public;
        }
        (self.classify)(address)
    }

    /// Checks whether an address of a host counts as public.
    pub(super) fn is_public(&self, host: &str, address: IpAddr) -> bool {
        self.class_of(host, address) == AddressClass::Public
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
            (_, AddressClass::Public)
            | (Allowed::Near, AddressClass::Private | AddressClass::Loopback) => true,
            (Allowed::Near, AddressClass::LinkLocal) => self.link_local.contains(host),
            (Allowed::Public, _) | (Allowed::Near, AddressClass::Forbidden) => false,
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
}
