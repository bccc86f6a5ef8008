//! Ranges of IP addresses in the configuration.

use std::net::IpAddr;
use std::str::FromStr;

use backissue_core::{InputFlaw, flaw};
use serde::Deserialize;

/// A range of IP addresses, such as `10.0.0.0/8`, or a single address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct AddressNet {
    first: IpAddr,
    bits: u32,
}

impl AddressNet {
    /// Creates the range of all addresses whose first `bits` bits are those of `first`.
    pub const fn new(first: IpAddr, bits: u32) -> Self {
        Self { first, bits }
    }

    /// Returns the address that the range was created from.
    pub const fn first(&self) -> IpAddr {
        self.first
    }

    /// Checks whether an address is in the range.
    pub fn contains(&self, address: IpAddr) -> bool {
        let is_within = |all: u32, difference: u128| {
            difference.checked_shr(all.saturating_sub(self.bits)).unwrap_or(0) == 0
        };
        match (self.first, address.to_canonical()) {
            (IpAddr::V4(first), IpAddr::V4(address)) => {
                is_within(32, u128::from(first.to_bits() ^ address.to_bits()))
            }
            (IpAddr::V6(first), IpAddr::V6(address)) => {
                is_within(128, first.to_bits() ^ address.to_bits())
            }
            (IpAddr::V4(_), IpAddr::V6(_)) | (IpAddr::V6(_), IpAddr::V4(_)) => false,
        }
    }
}

impl FromStr for AddressNet {
    type Err = InputFlaw;

    fn from_str(text: &str) -> Result<Self, InputFlaw> {
        let (address, bits) = text
            .trim()
            .split_once('/')
            .map_or((text.trim(), None), |(address, bits)| (address, Some(bits)));
        let read = || {
            let first = address.parse::<IpAddr>().ok()?;
            let all = if first.is_ipv4() { 32 } else { 128 };
            let bits = bits.map_or(Some(all), |bits| bits.parse().ok())?;
            (bits <= all).then_some(Self { first, bits })
        };
        read().ok_or_else(|| {
            flaw!(
                "'{text}' is not an IP address or an address range; write it like \"192.168.1.7\", \"198.18.0.0/15\" or \"fd00::/8\""
            )
        })
    }
}

impl TryFrom<String> for AddressNet {
    type Error = InputFlaw;

    fn try_from(text: String) -> Result<Self, InputFlaw> {
        text.parse()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn address_range_contains_matching_prefixes() {
        for (net, address, within) in [
            ("198.18.0.0/15", "198.18.0.0", true),
            ("198.18.0.0/15", "198.19.255.255", true),
            ("198.18.0.0/15", "198.20.0.0", false),
            ("198.18.0.9/15", "198.18.0.0", true),
            (" 10.1.2.3 ", "10.1.2.3", true),
            ("10.1.2.3", "10.1.2.4", false),
            ("0.0.0.0/0", "9.9.9.9", true),
            ("0.0.0.0/0", "2600::1", false),
            ("10.0.0.0/8", "::ffff:10.1.2.3", true),
            ("fc00::/18", "fc00:3fff::1", true),
            ("fc00::/18", "fc00:4000::1", false),
            ("::/0", "fe80::1", true),
            ("::/0", "10.0.0.1", false),
            ("fd00::1/128", "fd00::2", false),
        ] {
            let range: AddressNet = net.parse().unwrap();
            assert_eq!(range.contains(address.parse().unwrap()), within, "{net} {address}");
        }
    }

    #[test]
    fn invalid_address_range_is_refused_with_a_sentence() {
        for text in
            ["", "a.example", "10.0.0.0/33", "::/129", "10.0.0.0/", "10/8", "[::1]", "10.0.0.1:80"]
        {
            assert!(
                text.parse::<AddressNet>().unwrap_err().contains("not an IP address"),
                "{text}"
            );
        }
    }
}
