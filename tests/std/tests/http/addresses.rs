//! The addresses to which a request may be sent, without redirects.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use tool_core::ErrorKind;
use tool_std::http::{
    Credential, Guard, Http, Method, Request, Resolver as _, SystemResolver, special_range,
};

use super::support::{
    Names, PRIVATE, PUBLIC, Server, client, get, guard, output, policy, response, text,
};

/// Unusual spellings of hosts that are not public, and URLs that every request must refuse.
const HOSTILE: &[&str] = &[
    // Loopback and unspecified addresses with missing parts, in octal and hexadecimal, as a single number, in mixed notation, and with padding.
    "http://127.1/",
    "http://127.0.1/",
    "http://127.0.0.1/",
    "http://127.0.0.1./",
    "http://127.0.0.1:80/",
    "http://127.255.255.254/",
    "http://0x7f.1/",
    "http://0x7f.0.0.1/",
    "http://0x7f.0x0.0x0.0x1/",
    "http://0X7F.0X0.0X0.0X1/",
    "http://0x7f000001/",
    "http://0x7f000001./",
    "http://0177.0.0.1/",
    "http://0177.1/",
    "http://017700000001/",
    "http://0000177.0.0.1/",
    "http://2130706433/",
    "http://02130706433.0/",
    "http://127.0x0.0.01/",
    "http://127.0.0.0x1/",
    "http://0/",
    "http://0.0.0.0/",
    "http://0x0/",
    "http://00000/",
    // Loopback addresses and `localhost` in characters of other scripts, with percent-encoding, and with a soft hyphen.
    "http://１２７.０.０.１/",
    "http://①②⑦.⓪.⓪.①/",
    "http://１２７。０。０。１/",
    "http://127｡0｡0｡1/",
    "http://𝟏𝟐𝟕.𝟎.𝟎.𝟏/",
    "http://%31%32%37.0.0.1/",
    "http://127%2E0%2E0%2E1/",
    "http://0%78%37f.1/",
    "http://127.0.0.1%2f@example.com/",
    "http://%6c%6f%63%61%6c%68%6f%73%74/",
    "http://ｌｏｃａｌｈｏｓｔ/",
    "http://ⓛⓞⓒⓐⓛⓗⓞⓢⓣ/",
    "http://lo\u{ad}calhost/",
    // Private, link-local, shared, benchmarking, multicast and reserved addresses, including the addresses of metadata services.
    "http://10.0.0.1/",
    "http://10.1/",
    "http://167772161/",
    "http://0x0a000001/",
    "http://172.16.0.1/",
    "http://172.31.255.255/",
    "http://192.168.0.1/",
    "http://192.168.1/",
    "http://3232235777/",
    "http://100.64.0.1/",
    "http://100.100.100.200/latest/meta-data/",
    "http://168.63.129.16/machine?comp=goalstate",
    "http://168.63.129.16./",
    "http://0xa83f8110/",
    "http://169.254.169.254/latest/meta-data/",
    "http://169.254.169.254./",
    "http://169.254.43518/",
    "http://0xa9.0xfe.0xa9.0xfe/",
    "http://0251.0376.0251.0376/",
    "http://0xA9FEA9FE/",
    "http://2852039166/",
    "http://169.254.170.2/v2/credentials/",
    "http://192.0.0.192/",
    "http://198.18.0.1/",
    "http://224.0.0.1/",
    "http://239.255.255.250/",
    "http://240.0.0.1/",
    "http://255.255.255.255/",
    "http://4294967295/",
    // IPv6 addresses: loopback, unspecified, mapped, compatible, translated, tunnelled, documentation, discard, local and multicast.
    "http://[::1]/",
    "http://[0:0:0:0:0:0:0:1]/",
    "http://[0000:0000:0000:0000:0000:0000:0000:0001]/",
    "http://[::0.0.0.1]/",
    "http://[::]/",
    "http://[::]:80/",
    "http://[::ffff:127.0.0.1]/",
    "http://[::ffff:7f00:1]/",
    "http://[::FFFF:7F00:0001]/",
    "http://[0:0:0:0:0:ffff:127.0.0.1]/",
    "http://[::ffff:10.0.0.1]/",
    "http://[::ffff:a9fe:a9fe]/",
    "http://[::ffff:8.8.8.8]/",
    "http://[::127.0.0.1]/",
    "http://[::ffff:0:127.0.0.1]/",
    "http://[64:ff9b::7f00:1]/",
    "http://[64:ff9b::169.254.169.254]/",
    "http://[64:ff9b:1::a00:1]/",
    "http://[2002:7f00:1::]/",
    "http://[2002:a9fe:a9fe::1]/",
    "http://[2001:0:7f00:1::]/",
    "http://[2001:0:5ef5:79fd:0:59d:a6ee:5601]/",
    "http://[2001:db8::1]/",
    "http://[3fff::1]/",
    "http://[5f00::1]/",
    "http://[100::1]/",
    "http://[fc00::1]/",
    "http://[fd00:ec2::254]/latest/meta-data/",
    "http://[fd20:ce::254]/",
    "http://[fe80::1]/",
    "http://[fe80::1%25eth0]/",
    "http://[fec0::1]/",
    "http://[ff02::1]/",
    "http://[::1%25lo]/",
    "http://[::1]./",
    // Names that are not on the public internet.
    "http://localhost/",
    "http://localhost./",
    "http://LOCALHOST/",
    "http://a.localhost/",
    "http://localhost.localdomain/",
    "http://metadata/",
    "http://metadata.google.internal/computeMetadata/v1/",
    "http://METADATA.google.INTERNAL./",
    "http://metadata.goog/",
    "http://instance-data.ec2.internal/",
    "http://instance-data/latest/",
    "http://metadata.tencentyun.com/",
    "http://kubernetes.default.svc/",
    "http://kubernetes.default.svc.cluster.local/",
    "http://host.docker.internal/",
    "http://printer.local/",
    "http://router.home.arpa/",
    "http://nas.lan/",
    "http://intranet/",
    "http://something.onion/",
    "http://1.0.0.127.in-addr.arpa/",
    // URLs with other schemes, user names or ports, and texts that are not URLs.
    "file:///etc/passwd",
    "file://localhost/etc/passwd",
    "ftp://example.com/",
    "gopher://127.0.0.1:6379/_FLUSHALL",
    "dict://127.0.0.1:11211/stat",
    "ldap://example.com/",
    "ws://example.com/",
    "jar:http://example.com!/",
    "data:text/plain,hello",
    "javascript:alert(1)",
    "unix:/var/run/docker.sock",
    "http://user@example.com/",
    "http://user:password@example.com/",
    "http://example.com@127.0.0.1/",
    "http://127.0.0.1:80@example.com/",
    "http://example.com:22/",
    "http://example.com:6379/",
    "http://example.com:65536/",
    "http://example.com\\@127.0.0.1/",
    "http:\\\\127.0.0.1\\",
    "http://127.0.0.1\t/",
    "http://exam\nple.com/",
    " http://127.0.0.1/",
    "http://",
    "http:///",
    "http://.../",
    "http://256.256.256.256/",
    "http://1.2.3.4.5/",
    "http://[::1/",
    "http://exa mple.com/",
    "//127.0.0.1/",
    "127.0.0.1",
    "/etc/passwd",
    "",
];

// S1-102: odd spellings of private addresses such as 127.1, [::1] and 169.254.169.254 are refused.
#[tokio::test]
async fn guard_refuses_odd_spellings_of_private_addresses() {
    assert!(HOSTILE.len() >= 120, "{}", HOSTILE.len());
    let names = Names::new();
    let http = Http::default().guard(Guard::default().resolver(names.clone()));
    for url in HOSTILE {
        assert!(
            Guard::default().url(url).is_err(),
            "the guard accepted {url:?}"
        );
        if url.is_empty() {
            continue; // the schema refuses it before the tool runs
        }
        let result = get(http.clone(), url).await;
        let error = result
            .error()
            .unwrap_or_else(|| panic!("{url:?} was requested"));
        let kind = error.kind();
        assert!(
            matches!(kind, ErrorKind::Denied | ErrorKind::Failed),
            "{url:?}: {kind:?}"
        );
        assert!(
            !error.model_text().contains("could not be resolved"),
            "{url:?} was looked up"
        );
    }
    assert_eq!(names.asked(), [""; 0], "a literal host was looked up");
}

/// The first and the last address of each range that is not public: special ranges in IANA's registries, multicast, and unassigned IPv6 ranges.
const RANGES: &[(&str, &str)] = &[
    ("0.0.0.0", "0.255.255.255"),
    ("10.0.0.0", "10.255.255.255"),
    ("100.64.0.0", "100.127.255.255"),
    ("127.0.0.0", "127.255.255.255"),
    ("169.254.0.0", "169.254.255.255"),
    ("172.16.0.0", "172.31.255.255"),
    ("192.0.0.0", "192.0.0.255"),
    ("192.0.2.0", "192.0.2.255"),
    ("192.31.196.0", "192.31.196.255"),
    ("192.52.193.0", "192.52.193.255"),
    ("192.88.99.0", "192.88.99.255"),
    ("192.168.0.0", "192.168.255.255"),
    ("192.175.48.0", "192.175.48.255"),
    ("198.18.0.0", "198.19.255.255"),
    ("198.51.100.0", "198.51.100.255"),
    ("203.0.113.0", "203.0.113.255"),
    ("224.0.0.0", "255.255.255.255"),
    ("::", "1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
    ("2001::", "2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff"),
    ("2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff"),
    ("2002::", "2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
    ("2620:4f:8000::", "2620:4f:8000:ffff:ffff:ffff:ffff:ffff"),
    ("3fff::", "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff"),
    ("4000::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
];

fn step(address: IpAddr, up: bool) -> Option<IpAddr> {
    match address {
        IpAddr::V4(address) => {
            let bits = address.to_bits();
            let next = if up {
                bits.checked_add(1)
            } else {
                bits.checked_sub(1)
            };
            next.map(|bits| Ipv4Addr::from_bits(bits).into())
        }
        IpAddr::V6(address) => {
            let bits = address.to_bits();
            let next = if up {
                bits.checked_add(1)
            } else {
                bits.checked_sub(1)
            };
            next.map(|bits| Ipv6Addr::from_bits(bits).into())
        }
    }
}

// S1-102: a name that resolves to an address of a special range is refused.
#[tokio::test]
async fn names_that_resolve_to_special_ranges_are_refused() {
    for (first, last) in RANGES {
        let (first, last): (IpAddr, IpAddr) = (first.parse().unwrap(), last.parse().unwrap());
        for address in [first, last] {
            assert!(
                special_range(address).is_some(),
                "{address} is treated as public"
            );
            // The special address is tested alone and after a public address, because all addresses of a name are checked.
            for addresses in [vec![address], vec![[8, 8, 8, 8].into(), address]] {
                let names = Names::new().with("name.example", addresses);
                let http = Http::default().guard(Guard::default().resolver(names.clone()));
                let result = get(http, "http://name.example/").await;
                let error = result.error().unwrap();
                assert_eq!(error.kind(), ErrorKind::Denied, "{address}");
                assert!(
                    !error.model_text().contains(&address.to_string()),
                    "the model sees {address}"
                );
                assert!(error.operator_text().contains(&address.to_string()));
                assert_eq!(names.asked(), ["name.example"]);
            }
        }
        // The address next to the range is public, unless another range contains it.
        let inside = |address: IpAddr| {
            RANGES.iter().any(|(first, last)| {
                let (first, last): (IpAddr, IpAddr) =
                    (first.parse().unwrap(), last.parse().unwrap());
                first.is_ipv4() == address.is_ipv4() && first <= address && address <= last
            })
        };
        for outside in [step(first, false), step(last, true)].into_iter().flatten() {
            assert_eq!(
                special_range(outside).is_some(),
                inside(outside),
                "{outside}"
            );
        }
    }
}

// S1-102: the guard accepts public hosts in several spellings, and normalizes their URLs.
#[test]
fn public_hosts_pass_in_every_spelling() {
    let guard = Guard::default();
    for (url, read_as) in [
        ("https://example.com", "https://example.com/"),
        ("http://example.com:80/a?b#c", "http://example.com/a?b#c"),
        ("https://example.com:443/", "https://example.com/"),
        ("https://example.com./", "https://example.com./"),
        ("https://EXAMPLE.com/", "https://example.com/"),
        ("https://bücher.example/", "https://xn--bcher-kva.example/"),
        ("http://8.8.8.8/", "http://8.8.8.8/"),
        ("http://134744072/", "http://8.8.8.8/"),
        ("http://[2606:4700::1111]/", "http://[2606:4700::1111]/"),
        (
            "https://localhost.example.com/",
            "https://localhost.example.com/",
        ),
        (
            "https://example.com/http://127.0.0.1/",
            "https://example.com/http://127.0.0.1/",
        ),
    ] {
        assert_eq!(guard.url(url).unwrap().as_str(), read_as);
    }
}

// S1-102: a name whose lookup fails or returns no address is refused (fail closed).
#[tokio::test]
async fn a_name_that_cannot_be_looked_up_is_refused() {
    let nobody: [IpAddr; 0] = [];
    let names = Names::new().with("empty.example", nobody);
    let http = Http::default().guard(guard().resolver(names));
    for name in ["unknown.example", "empty.example"] {
        let result = get(http.clone(), &format!("http://{name}/")).await;
        let error = result.error().unwrap();
        assert_eq!(
            error.model_text(),
            format!("`{name}` could not be resolved, check its spelling")
        );
    }
}

// S1-102: the connection uses the address that was checked, so DNS rebinding has no effect.
#[tokio::test]
async fn connection_is_pinned_against_dns_rebinding() {
    let public = Server::start(PUBLIC, |_| text("public")).await;
    let private = Server::at((PRIVATE, public.port()).into(), |_| text("private")).await;
    let names = Names::default()
        .with("rebind.example", [PUBLIC])
        .with("rebind.example", [PRIVATE]);
    let http = Http::default().guard(guard().resolver(names.clone()));

    let result = get(http.clone(), &public.url("rebind.example", "/")).await;
    assert_eq!(output(&result)["body"], "public");
    assert_eq!(names.asked(), ["rebind.example"]);

    // The next request resolves the name again, and is refused.
    let result = get(http, &public.url("rebind.example", "/")).await;
    assert_eq!(result.error().unwrap().kind(), ErrorKind::Denied);
    assert_eq!(public.seen().len(), 1);
    assert_eq!(private.seen().len(), 0);
}

// S1-102: if the first checked address refuses the connection, the next checked address is used.
#[tokio::test]
async fn connection_uses_the_checked_addresses() {
    let server = Server::start(PUBLIC, |_| text("here")).await;
    // No server listens on the first address.
    let names = Names::default().with("two.example", [super::support::OTHER, PUBLIC]);
    let http = Http::default().guard(guard().resolver(names));
    let result = get(http, &server.url("two.example", "/")).await;
    assert_eq!(output(&result)["body"], "here");
    // The `Host` header contains the name instead of the address, so that virtual hosts work.
    assert_eq!(
        server.seen()[0].header("host"),
        Some(&*format!("two.example:{}", server.port()))
    );
}

// S1-102: with an allowlist, requests to all other hosts are refused. Requests to ports that are not allowed are refused too.
#[tokio::test]
async fn allowlist_limits_the_reachable_hosts() {
    let server = Server::start(PUBLIC, |_| text("hello")).await;
    let http = client().guard(
        guard()
            .allow(["public.example", "private.example", "127.0.0.2"])
            .unwrap(),
    );
    for (host, passes) in [
        ("public.example", true),
        ("api.public.example", true),
        ("public.example.", true),
        ("127.0.0.2", true),
        ("0x7f.2", true),
        ("evilpublic.example", false),
        ("other.example", false),
        ("127.0.0.3", false),
        ("private.example", false), // the host is allowed, but not public
    ] {
        let result = get(http.clone(), &server.url(host, "/")).await;
        assert_eq!(
            !result.is_error(),
            passes,
            "{host}: {}",
            result.model_text()
        );
    }
    // An empty allowlist allows no host, unlike a missing allowlist.
    let nothing: [&str; 0] = [];
    let result = get(
        client().guard(guard().allow(nothing).unwrap()),
        &server.url("public.example", "/"),
    )
    .await;
    assert_eq!(result.error().unwrap().kind(), ErrorKind::Denied);
    // If a host is both blocked and allowed, it is blocked.
    let both = guard()
        .allow(["public.example"])
        .unwrap()
        .block(["*.public.example"])
        .unwrap();
    let result = get(client().guard(both), &server.url("api.public.example", "/")).await;
    assert_eq!(result.error().unwrap().kind(), ErrorKind::Denied);
    // An invalid host pattern is an error; it does not allow all hosts.
    for text in ["https://public.example", "public.example:80", "*", ""] {
        assert!(guard().block([text]).is_err() && guard().allow([text]).is_err());
        assert!(Credential::for_hosts([text]).is_err(), "{text}");
    }
    let other_port = guard().ports([80]);
    let result = get(
        client().guard(other_port),
        &server.url("public.example", "/"),
    )
    .await;
    assert_eq!(result.error().unwrap().kind(), ErrorKind::Denied);
}

// S1-102: the tests' address policy treats only the addresses that it lists as public.
#[tokio::test]
async fn test_policy_makes_only_named_addresses_public() {
    let private = Server::start(PRIVATE, |_| text("private")).await;
    assert_eq!(policy(PRIVATE.into()), Some("loopback (RFC 1122)"));
    for host in ["127.0.0.1", "private.example", "[::ffff:127.0.0.2]"] {
        let result = get(client(), &private.url(host, "/")).await;
        assert_eq!(result.error().unwrap().kind(), ErrorKind::Denied, "{host}");
    }
    assert_eq!(private.seen().len(), 0);
}

// A service that the host configured may have a private address, but its redirects to private addresses are refused.
#[tokio::test]
async fn hosts_own_service_may_be_private_and_its_redirects_may_not() {
    let own = Server::start(PRIVATE, |_| text("own")).await;
    let elsewhere = Server::start(PRIVATE, |_| text("elsewhere")).await;
    let beyond = elsewhere.url("private.example", "/");
    let leads = Server::start(PRIVATE, move |_| {
        response(302, &[("location", &beyond)], "moved")
    })
    .await;
    let request = |url| Request::new(Method::Get, url);
    let url = own.url("private.example", "/");
    let refused = client().send(request(url.clone())).await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Denied);
    let answer = client().send_to_own(request(url)).await.unwrap();
    assert_eq!(answer.status(), 200);
    assert_eq!(own.seen().len(), 1);
    let url = leads.url("private.example", "/");
    client().send_to_own(request(url)).await.unwrap_err();
    assert_eq!((leads.seen().len(), elsewhere.seen().len()), (1, 0));
}

// S1-102: the default resolver resolves `localhost` to loopback addresses.
#[tokio::test]
async fn system_resolver_resolves_localhost() {
    let found = SystemResolver.resolve("localhost").await.unwrap();
    assert!(
        !found.is_empty() && found.iter().all(IpAddr::is_loopback),
        "{found:?}"
    );
}
