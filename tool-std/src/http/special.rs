//! Addresses that do not belong to the public internet.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// A range of addresses: the first address, the number of bits that all of them share, and a description.
type Range<A> = (A, u8, &'static str);

/// IANA IPv4 Special-Purpose Address Registry, <https://www.iana.org/assignments/iana-ipv4-special-registry>. The list includes the registry's
/// globally reachable entries, because they host no public page or service. Multicast has a separate registry.
const V4: [Range<[u8; 4]>; 18] = [
    ([0, 0, 0, 0], 8, "this network (RFC 791)"),
    ([10, 0, 0, 0], 8, "a private network (RFC 1918)"),
    ([100, 64, 0, 0], 10, "shared address space (RFC 6598)"),
    ([127, 0, 0, 0], 8, "loopback (RFC 1122)"),
    ([169, 254, 0, 0], 16, "link-local (RFC 3927)"),
    ([172, 16, 0, 0], 12, "a private network (RFC 1918)"),
    ([192, 0, 0, 0], 24, "protocol assignments (RFC 6890)"),
    ([192, 0, 2, 0], 24, "documentation (RFC 5737)"),
    ([192, 31, 196, 0], 24, "AS112 (RFC 7535)"),
    ([192, 52, 193, 0], 24, "multicast tunnels (RFC 7450)"),
    ([192, 88, 99, 0], 24, "6to4 relays (RFC 7526)"),
    ([192, 168, 0, 0], 16, "a private network (RFC 1918)"),
    ([192, 175, 48, 0], 24, "AS112 (RFC 7534)"),
    ([198, 18, 0, 0], 15, "benchmarking (RFC 2544)"),
    ([198, 51, 100, 0], 24, "documentation (RFC 5737)"),
    ([203, 0, 113, 0], 24, "documentation (RFC 5737)"),
    ([224, 0, 0, 0], 4, "multicast (RFC 5771)"),
    ([240, 0, 0, 0], 4, "reserved (RFC 1112)"),
];

/// Public addresses at which a provider's machines reach services of the provider; no registry lists them.
///
/// Azure's address serves `WireServer`, DNS and DHCP, <https://learn.microsoft.com/azure/virtual-network/what-is-ip-address-168-63-129-16>. A client
/// gets the certificates and the configuration of the machine's extensions from it.
const PROVIDERS: [Range<[u8; 4]>; 1] = [(
    [168, 63, 129, 16],
    32,
    "the virtual public IP address of Azure",
)];

/// IANA IPv6 Special-Purpose Address Registry, <https://www.iana.org/assignments/iana-ipv6-special-registry>: the entries inside of global unicast.
/// All addresses outside of global unicast are refused.
const V6: [Range<[u16; 8]>; 5] = [
    (
        [0x2001, 0, 0, 0, 0, 0, 0, 0],
        23,
        "protocol assignments, Teredo among them (RFC 2928, RFC 4380)",
    ),
    (
        [0x2001, 0xdb8, 0, 0, 0, 0, 0, 0],
        32,
        "documentation (RFC 3849)",
    ),
    ([0x2002, 0, 0, 0, 0, 0, 0, 0], 16, "6to4 (RFC 3056)"),
    (
        [0x2620, 0x4f, 0x8000, 0, 0, 0, 0, 0],
        48,
        "AS112 (RFC 7534)",
    ),
    (
        [0x3fff, 0, 0, 0, 0, 0, 0, 0],
        20,
        "documentation (RFC 9637)",
    ),
];

/// The only block allocated for global unicast, <https://www.iana.org/assignments/ipv6-address-space>.
const GLOBAL_UNICAST: ([u16; 8], u8) = ([0x2000, 0, 0, 0, 0, 0, 0, 0], 3);

/// Returns the special range that an address is in; `None` for an address of the public internet.
///
/// The ranges are from IANA's special-purpose registries, and also include multicast and the address at which Azure serves its machines. In IPv6,
/// only `2000::/3` is public. So IPv6 addresses that embed an IPv4 address (mapped, compatible, NAT64 under `64:ff9b::/32`) are special regardless of
/// that address. 6to4 and Teredo addresses are special too, although they are inside of `2000::/3`.
///
/// ```
/// use tool_std::http::special_range;
///
/// assert_eq!(special_range([169, 254, 169, 254].into()), Some("link-local (RFC 3927)"));
/// assert_eq!(special_range("::ffff:8.8.8.8".parse().unwrap()), Some("outside of global unicast (RFC 4291)"));
/// assert!(special_range([168, 63, 129, 16].into()).is_some()); // Azure's own services
/// assert_eq!(special_range([8, 8, 8, 8].into()), None);
/// ```
pub fn special_range(address: IpAddr) -> Option<&'static str> {
    match address {
        IpAddr::V4(address) => V4
            .iter()
            .chain(&PROVIDERS)
            .find(|(first, bits, _)| shares_v4(address, Ipv4Addr::from(*first), *bits))
            .map(|(.., what)| *what),
        IpAddr::V6(address) => {
            let (first, bits) = GLOBAL_UNICAST;
            if !shares_v6(address, Ipv6Addr::from(first), bits) {
                return Some("outside of global unicast (RFC 4291)");
            }
            V6.iter()
                .find(|(first, bits, _)| shares_v6(address, Ipv6Addr::from(*first), *bits))
                .map(|(.., what)| *what)
        }
    }
}

fn shares_v4(one: Ipv4Addr, other: Ipv4Addr, bits: u8) -> bool {
    (one.to_bits() ^ other.to_bits()).leading_zeros() >= bits.into()
}

fn shares_v6(one: Ipv6Addr, other: Ipv6Addr, bits: u8) -> bool {
    (one.to_bits() ^ other.to_bits()).leading_zeros() >= bits.into()
}
