//! `StrictSchema` for IP and socket addresses.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};

use super::{by_serde, format, refused, strict};
use crate::schema::{Format, Schema, StrictSchema};

strict! {
    format(Format::Ipv4) => Ipv4Addr;
    format(Format::Ipv6) => Ipv6Addr;
    format(Format::Ip) => IpAddr;
    refused(
        "format-unknown",
        "a socket address has no string format, take the address (`IpAddr`) and the port (`u16`) as two fields",
    ) => SocketAddr, SocketAddrV4, SocketAddrV6;
}

by_serde!(IpAddr, Ipv4Addr, Ipv6Addr);
