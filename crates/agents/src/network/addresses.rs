//! Which addresses lie on the internet, which are somebody's own, and which nobody shall reach.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// What an address leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum AddressKind {
    /// A host on the internet.
    Public,
    /// This machine or its own network.
    Private,
    /// Where clouds keep credentials, no single host at all, or another address in disguise.
    Forbidden,
}

impl AddressKind {
    /// Returns what `address` leads to.
    pub(crate) fn of(address: IpAddr) -> Self {
        match address {
            IpAddr::V4(address) => Self::of_old(address),
            IpAddr::V6(address) => Self::of_new(address),
        }
    }

    fn of_old(address: Ipv4Addr) -> Self {
        /// A metadata service outside the link-local range.
        const ALIBABA: Ipv4Addr = Ipv4Addr::new(100, 100, 100, 200);
        match address.octets() {
            [0 | 224..=255, ..] | [169, 254, ..] => Self::Forbidden,
            _ if address == ALIBABA => Self::Forbidden,
            [10 | 127, ..]
            | [172, 16..=31, ..]
            | [192, 168, ..]
            // Networks of providers behind one address, of tests and of examples.
            | [100, 64..=127, ..]
            | [192, 0, 0 | 2, _]
            | [192, 88, 99, _]
            | [198, 18 | 19, ..]
            | [198, 51, 100, _]
            | [203, 0, 113, _] => Self::Private,
            _ => Self::Public,
        }
    }

    fn of_new(address: Ipv6Addr) -> Self {
        /// A metadata service outside the link-local range.
        const AWS: Ipv6Addr = Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254);
        let [.., a, b, c, d] = address.octets();
        let inner = Ipv4Addr::new(a, b, c, d);
        match address.segments() {
            _ if address == AWS || address.is_unspecified() => Self::Forbidden,
            _ if address.is_loopback() => Self::Private,
            // An older address as a newer one, and behind a translator: it is what it leads to.
            [0, 0, 0, 0, 0, 0xffff, ..] | [0x64, 0xff9b, 0, 0, 0, 0, ..] => Self::of_old(inner),
            // Other ways to write an older address, which no host of today needs.
            [0, 0, 0, 0, 0, 0, ..]
            | [0, 0, 0, 0, 0xffff, 0, ..]
            | [0x64, 0xff9b, ..]
            | [0x2002 | 0x100, ..]
            | [0x2001, 0, ..] => Self::Forbidden,
            // Link-local, its predecessor for sites, and groups.
            [0xfe80..=0xffff, ..] => Self::Forbidden,
            [0xfc00..=0xfdff, ..] | [0x2001, 0xdb8, ..] => Self::Private,
            _ => Self::Public,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_of_an_address_is_seen_through() {
        use AddressKind::{Forbidden, Private, Public};
        for (kind, addresses) in [
            (
                Public,
                &[
                    "8.8.8.8",
                    "160.79.104.10",
                    "2606:4700::1111",
                    "::ffff:8.8.8.8",
                    "64:ff9b::808:808",
                ][..],
            ),
            (
                Private,
                &[
                    "127.0.0.1",
                    "127.9.9.9",
                    "10.0.0.1",
                    "172.16.0.1",
                    "172.31.255.255",
                    "192.168.1.1",
                    "100.64.0.1",
                    "198.18.0.1",
                    "::1",
                    "fd12::1",
                    "::ffff:127.0.0.1",
                    "::ffff:10.0.0.1",
                    "64:ff9b::7f00:1",
                ],
            ),
            (
                Forbidden,
                &[
                    "0.0.0.0",
                    "169.254.169.254",
                    "100.100.100.200",
                    "224.0.0.1",
                    "255.255.255.255",
                    "::",
                    "fe80::1",
                    "ff02::1",
                    "fd00:ec2::254",
                    "::ffff:169.254.169.254",
                    "::a9fe:a9fe",
                    "::7f00:1",
                    "2002:a9fe:a9fe::1",
                    "2002:7f00:1::",
                    "64:ff9b::a9fe:a9fe",
                    "64:ff9b:1::a9fe:a9fe",
                    "2001:0:1::1",
                ],
            ),
        ] {
            for address in addresses {
                let found = AddressKind::of(address.parse().expect("an address"));
                assert_eq!(found, kind, "{address}");
            }
        }
    }
}
