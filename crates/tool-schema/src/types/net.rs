//! `StrictSchema` for IP and socket addresses.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};
use tool_rules::Rule;

use super::{by_serde, format, refused, strict};
use crate::schema::{Format, Schema, StrictSchema};

strict! {
    format(Format::Ipv4) => Ipv4Addr;
    format(Format::Ipv6) => Ipv6Addr;
    format(Format::Ip) => IpAddr;
    refused(&Rule::SOCKET_ADDRESS) => SocketAddr, SocketAddrV4, SocketAddrV6;
}

by_serde!(IpAddr, Ipv4Addr, Ipv6Addr);
