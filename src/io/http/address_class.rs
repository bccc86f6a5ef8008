//! Classifies IP addresses: public, private, loopback, link-local, or not usable by a server (SPEC D.6).

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::engine::politeness::address_net::AddressNet;

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

use AddressClass::{Forbidden, LinkLocal, Loopback, Private, Public};

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
pub(super) fn stands_for_a_name(address: IpAddr) -> bool {
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

#[cfg(test)]
mod tests {
    use crate::io::http::address_class::*;

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
