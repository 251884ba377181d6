//! Validation of tokens: the tokens that are accepted, and the reasons of refusals.

use std::time::Duration;

use base64::Engine as _;
use base64::prelude::{BASE64_STANDARD, BASE64_URL_SAFE_NO_PAD as BASE64};
use serde_json::{Value, json};
use tool_mcp::{HttpJwks, JwtAlgorithm, JwtConfigError, JwtVerifier};

use super::signer::{OTHER_RSA, RSA, Signer, hmac_token, unsigned};
use super::{ISSUER, RESOURCE, Setup, claims, now, with, without};

// Tokens of every allowed algorithm are accepted.
#[tokio::test]
async fn tokens_of_every_allowed_algorithm_are_accepted() {
    let (p256, p384, ed) = (Signer::p256("p256"), Signer::p384("p384"), Signer::ed("ed"));
    let setup = Setup::of(&[&RSA, &p256, &p384, &ed]).await;
    for signer in [&*RSA, &p256, &p384, &ed] {
        let answer = setup.call(&signer.token(&claims())).await;
        let text = &answer.json()["result"]["content"][0]["text"];
        assert_eq!(text, r#"Some("alice") in None"#, "{}", signer.algorithm());
    }
    // A key without `alg` may serve several algorithms.
    let mut key = RSA.jwk();
    key.as_object_mut().unwrap().remove("alg");
    key["kid"] = json!("any");
    let setup = Setup::of(&[]).await;
    setup.issuer.publish_keys(&[key], None);
    for algorithm in ["RS256", "PS256"] {
        let token = RSA.with_header(&json!({ "alg": algorithm, "kid": "any" }), &claims());
        assert_eq!(setup.status(&token).await, 200, "{algorithm}");
    }
}

// The public key of RS256 is never used as an HMAC secret of HS256.
#[tokio::test]
async fn public_key_is_never_an_hmac_secret() {
    let setup = Setup::of(&[&RSA]).await;
    let public = RSA.public();
    let jwk = RSA.jwk();
    let modulus = BASE64.decode(jwk["n"].as_str().unwrap()).unwrap();
    let lines: Vec<_> = BASE64_STANDARD
        .encode(&public)
        .into_bytes()
        .chunks(64)
        .map(<[u8]>::to_vec)
        .collect();
    let pem = |name: &str| {
        let body = lines.join(&b'\n');
        [
            format!("-----BEGIN {name}-----\n").as_bytes(),
            &body,
            format!("\n-----END {name}-----\n").as_bytes(),
        ]
        .concat()
    };
    let secrets = [
        public.clone(),
        modulus,
        jwk["n"].as_str().unwrap().as_bytes().to_vec(),
        jwk.to_string().into_bytes(),
        json!({ "keys": [jwk] }).to_string().into_bytes(),
        pem("RSA PUBLIC KEY"),
        pem("PUBLIC KEY"),
        Vec::new(),
    ];
    for secret in &secrets {
        for algorithm in ["HS256", "HS384", "HS512"] {
            let header = json!({ "alg": algorithm, "typ": "JWT", "kid": "rsa-1" });
            setup
                .refuses(
                    &hmac_token(&header, &claims(), secret),
                    "the token's `alg` is not accepted",
                )
                .await;
            // The header may name an algorithm that did not sign the token.
            let header = json!({ "alg": "RS256", "kid": "rsa-1" });
            setup
                .refuses(
                    &hmac_token(&header, &claims(), secret),
                    "the token's signature is wrong",
                )
                .await;
        }
    }
    // A secret that the issuer publishes by mistake does not verify tokens either.
    let secret =
        json!({ "kty": "oct", "kid": "oct", "alg": "HS256", "k": BASE64.encode("secret") });
    setup.issuer.publish_keys(&[secret], None);
    setup.clock.advance(Duration::from_secs(40));
    let token = hmac_token(
        &json!({ "alg": "HS256", "kid": "oct" }),
        &claims(),
        b"secret",
    );
    setup
        .refuses(&token, "the token's `alg` is not accepted")
        .await;
}

// A token whose `alg` is `none` is refused in every spelling.
#[tokio::test]
async fn alg_none_is_refused_in_every_spelling() {
    let setup = Setup::of(&[&RSA]).await;
    let real = RSA.token(&claims());
    let (_, signature) = real.rsplit_once('.').unwrap();
    let spellings = [
        r#""none""#,
        r#""None""#,
        r#""NONE""#,
        r#""nOnE""#,
        r#""none ""#,
        r#"" none""#,
        r#""no\u006ee""#,
        r#""none\u0000""#,
        r#""""#,
        "null",
        "0",
        "false",
        "[]",
        r#"["none"]"#,
        "{}",
    ];
    for spelling in spellings {
        for rest in [r#","kid":"rsa-1""#, "", r#","typ":"JWT""#] {
            for signature in ["", signature, "AA"] {
                let header = format!(r#"{{"alg":{spelling}{rest}}}"#);
                let token = unsigned(&header, &claims(), signature);
                setup.refuses(&token, "the token is not a signed JWT").await;
            }
        }
    }
    let without = unsigned(r#"{"kid":"rsa-1"}"#, &claims(), signature);
    setup
        .refuses(&without, "the token is not a signed JWT")
        .await;
    let twice = unsigned(
        r#"{"alg":"RS256","alg":"none","kid":"rsa-1"}"#,
        &claims(),
        "",
    );
    setup.refuses(&twice, "the token is not a signed JWT").await;
    assert_eq!(setup.issuer.fetches(), 0, "no token caused a fetch");
}

// `kid` is only compared with the issuer's keys, even if it is a path, SQL, a URL, very long, missing or duplicated.
#[tokio::test]
async fn kid_is_only_compared_with_the_keys_of_the_issuer() {
    let attacker = Signer::rsa("rsa-1");
    let theirs = super::issuer::Issuer::of(&[&attacker]).await;
    let setup = Setup::of(&[&RSA, &OTHER_RSA]).await;
    let unknown = "no key of the issuer matches the token";
    let url = theirs.url();
    for kid in [
        "../../../../dev/null",
        "/etc/passwd",
        "file:///dev/null",
        "rsa-1' OR '1'='1",
        "x' UNION SELECT 'key'; --",
        url.as_str(),
        "http://169.254.169.254/latest",
        "rsa-1\u{0}",
        "rsa-1 ",
        " rsa-1",
        "RSA-1",
        "rsa-1,rsa-2",
        "*",
        "%72sa-1",
        "",
        "$(touch /tmp/kid)",
        "\r\nx-evil: 1",
        "rsa-1\u{202e}",
    ] {
        let header = json!({ "alg": "RS256", "kid": kid });
        setup
            .refuses(&attacker.with_header(&header, &claims()), unknown)
            .await;
        setup
            .refuses(&RSA.with_header(&header, &claims()), unknown)
            .await;
    }
    let long = json!({ "alg": "RS256", "kid": "k".repeat(5000) });
    setup
        .refuses(
            &RSA.with_header(&long, &claims()),
            "the token's `kid` is too long",
        )
        .await;
    for kid in [r#"["rsa-1"]"#, "1", r#"{"$ne":""}"#, "true"] {
        let header = format!(r#"{{"alg":"RS256","kid":{kid}}}"#);
        let token = RSA.of_texts(&header, &claims().to_string());
        setup.refuses(&token, "the token is not a signed JWT").await;
    }
    let twice = RSA.of_texts(
        r#"{"alg":"RS256","kid":"rsa-2","kid":"rsa-1"}"#,
        &claims().to_string(),
    );
    setup.refuses(&twice, "the token is not a signed JWT").await;
    let missing = "the token has no `kid`, and several keys of the issuer match";
    setup
        .refuses(
            &RSA.with_header(&json!({ "alg": "RS256" }), &claims()),
            missing,
        )
        .await;
    // The token contains a key, or the address of a key.
    for (name, value) in [
        ("jku", json!(theirs.url())),
        ("x5u", json!(theirs.url())),
        ("jwk", attacker.jwk()),
        ("x5c", json!([BASE64_STANDARD.encode(attacker.public())])),
    ] {
        let mut header = attacker.header();
        header[name] = value;
        setup
            .refuses(
                &attacker.with_header(&header, &claims()),
                "the token's signature is wrong",
            )
            .await;
    }
    assert_eq!(theirs.fetches(), 0);
    assert_eq!(
        setup.issuer.fetches(),
        1,
        "unknown keys are fetched at most once in 30 seconds"
    );
}

#[tokio::test]
async fn token_without_kid_needs_exactly_one_matching_key() {
    let p256 = Signer::p256("p256");
    let setup = Setup::of(&[&RSA, &p256]).await;
    // With one key for each algorithm, the algorithm decides.
    for signer in [&*RSA, &p256] {
        let token = signer.with_header(&json!({ "alg": signer.algorithm() }), &claims());
        assert_eq!(setup.status(&token).await, 200);
    }
    // The new key set contains a different key, also without `kid`.
    let mut key = OTHER_RSA.jwk();
    key.as_object_mut().unwrap().remove("kid");
    setup.issuer.publish_keys(&[key], None);
    setup.clock.advance(Duration::from_hours(1));
    let header = json!({ "alg": "RS256" });
    assert_eq!(
        setup
            .status(&OTHER_RSA.with_header(&header, &claims()))
            .await,
        200
    );
    setup
        .refuses(
            &RSA.with_header(&header, &claims()),
            "the token's signature is wrong",
        )
        .await;
}

// Keys for a different use, type or algorithm, malformed keys and keys with a private part do not verify tokens.
#[tokio::test]
async fn keys_that_are_not_for_signatures_are_refused() {
    let p256 = Signer::p256("p256");
    let rsa = |changes: Value| changed(RSA.jwk(), changes);
    let cases = [
        rsa(json!({ "use": "enc" })),
        rsa(json!({ "use": "SIG" })),
        rsa(json!({ "use": null, "key_ops": ["encrypt", "sign"] })),
        rsa(json!({ "key_ops": [] })),
        rsa(json!({ "alg": "RS512" })),
        rsa(json!({ "alg": "PS256" })),
        rsa(json!({ "alg": "RSA-OAEP" })),
        rsa(json!({ "alg": "HS256" })),
        rsa(json!({ "alg": "none" })),
        rsa(json!({ "kty": "oct", "k": "AAAA" })),
        rsa(json!({ "kty": "EC" })),
        // The private part was published by mistake.
        rsa(json!({ "d": "AAAA" })),
        rsa(json!({ "n": "!!" })),
        rsa(json!({ "n": null })),
        rsa(json!({ "e": null })),
        rsa(json!({ "kid": 7 })),
    ];
    for key in cases {
        let setup = Setup::of(&[]).await;
        setup.issuer.publish_keys(&[key.clone(), p256.jwk()], None);
        let token = RSA.token(&claims());
        let refused = setup.call(&token).await;
        assert_eq!(refused.status, 401, "{key}");
        assert_eq!(
            setup.status(&p256.token(&claims())).await,
            200,
            "the other key verifies the token: {key}"
        );
    }
    // The key is accepted with valid values of these three members.
    let setup = Setup::of(&[]).await;
    let good = rsa(json!({ "use": null, "key_ops": ["verify"], "e": "AAEAAQ" }));
    setup.issuer.publish_keys(&[good], None);
    assert_eq!(setup.status(&RSA.token(&claims())).await, 200);
    // The curve does not match the algorithm.
    let setup = Setup::of(&[]).await;
    let wrong = changed(p256.jwk(), json!({ "crv": "P-384", "alg": null }));
    setup.issuer.publish_keys(&[wrong], None);
    setup
        .refuses(
            &p256.token(&claims()),
            "no key of the issuer matches the token",
        )
        .await;
}

/// Returns the object with these members replaced; null removes a member.
fn changed(mut object: Value, changes: Value) -> Value {
    let Value::Object(changes) = changes else {
        unreachable!("changes are an object");
    };
    for (name, value) in changes {
        if value.is_null() {
            object.as_object_mut().unwrap().remove(&name);
        } else {
            object[name] = value;
        }
    }
    object
}

#[tokio::test]
async fn algorithm_that_the_host_does_not_allow_is_refused() {
    let p256 = Signer::p256("p256");
    let setup = Setup::with(&[&RSA, &p256], |verifier| {
        verifier.algorithms([JwtAlgorithm::Es256])
    })
    .await;
    assert_eq!(setup.status(&p256.token(&claims())).await, 200);
    setup
        .refuses(&RSA.token(&claims()), "the token's `alg` is not accepted")
        .await;
}

// A key with a modulus of 1024 bits is refused, because it can be factored.
#[tokio::test]
async fn key_with_a_short_modulus_is_refused() {
    // Created with `openssl genrsa 1024` and `openssl dgst -sha256 -sign`; the token is valid until the year 2200.
    const MODULUS: &str = "txcQQWzbkiA1-Zd_ydHBdXw0YTrheFriXKe-PLBec8gXgAjuWRkt83vfwRIusA__vrRqId_OBYgfDzb6ycUDVPJNRLFmNUEPPUknS4wddYTusNwQZcpC5DZVn3RHXUuj1LyyPM7acCuA1fZjltDGjcSOI_WtdGcaw_cl14pH54M";
    const TOKEN: &str = "eyJhbGciOiJSUzI1NiIsImtpZCI6InNtYWxsIn0.eyJpc3MiOiJodHRwczovL2xvZ2luLmV4YW1wbGUuY29tIiwiYXVkIjoiaHR0cHM6Ly9tY3AuZXhhbXBsZS5jb20vbWNwIiwic3ViIjoiYWxpY2UiLCJleHAiOjcyNTgxMTg0MDAsInNjb3BlIjoidG9vbHM6Y2FsbCJ9.jVOpQqBIjH_HZccN4tYhTi0o5mzsn9onZSbbI5h1_J_J-DiSfLqCUPk2H811MA_7BaaZ5Ykqz_jgH4Xo9a2GHgKHVT1XfwSJM4OVMkiA4ySxM3erAzRb1K98duokHWyROyGdElRjxfGw41vKqxu4fa-Q_vBL2jyizBM1rggYLYg";
    let bytes = BASE64.decode(MODULUS).unwrap();
    let padded = BASE64.encode([&[0; 128][..], &bytes].concat());
    for modulus in [MODULUS, &padded] {
        let setup = Setup::of(&[]).await;
        let key = json!({ "kty": "RSA", "kid": "small", "n": modulus, "e": "AQAB" });
        setup.issuer.publish_keys(&[key], None);
        setup
            .refuses(TOKEN, "no key of the issuer matches the token")
            .await;
    }
}

// The leeway applies to clock skew in both directions.
#[tokio::test]
async fn clocks_may_differ_by_the_leeway() {
    let setup = Setup::with(&[&RSA], |verifier| verifier.leeway(Duration::from_mins(1))).await;
    for (claim, offset, reason) in [
        ("exp", -50, None),
        ("exp", -70, Some("the token has expired")),
        ("nbf", 50, None),
        ("nbf", 70, Some("the token is not valid yet")),
        ("nbf", -3600, None),
        // `iat` is ignored.
        ("iat", 3600, None),
    ] {
        let token = RSA.token(&with(claim, now() + offset));
        match reason {
            None => assert_eq!(setup.status(&token).await, 200, "{claim} {offset}"),
            Some(reason) => setup.refuses(&token, reason).await,
        }
    }
    // A valid token expires while the server runs.
    let token = RSA.token(&claims());
    setup.clock.advance(Duration::from_mins(59));
    assert_eq!(setup.status(&token).await, 200);
    setup.clock.advance(Duration::from_mins(3));
    setup.refuses(&token, "the token has expired").await;

    let setup = Setup::with(&[&RSA], |verifier| verifier.leeway(Duration::ZERO)).await;
    setup
        .refuses(&RSA.token(&with("exp", now() - 1)), "the token has expired")
        .await;
    setup
        .refuses(
            &RSA.token(&with("nbf", now() + 10)),
            "the token is not valid yet",
        )
        .await;
}

#[tokio::test]
async fn missing_and_malformed_times_are_refused() {
    let setup = Setup::of(&[&RSA]).await;
    setup
        .refuses(&RSA.token(&without("exp")), "the token has no `exp`")
        .await;
    setup
        .refuses(
            &RSA.token(&with("exp", Value::Null)),
            "the token has no `exp`",
        )
        .await;
    let malformed = "a claim of the token is malformed or occurs twice";
    for value in [json!("9999999999"), json!(true), json!([]), json!({})] {
        setup
            .refuses(&RSA.token(&with("exp", value.clone())), malformed)
            .await;
        setup
            .refuses(&RSA.token(&with("nbf", value)), malformed)
            .await;
    }
    for (exp, accepted) in [
        ("1e12", true),
        ("18446744073709551616", true),
        ("9999999999.75", true),
        ("-1", false),
        ("0", false),
        ("-1e300", false),
    ] {
        let text = without("exp")
            .to_string()
            .replacen('{', &format!(r#"{{"exp":{exp},"#), 1);
        let token = RSA.of_texts(&RSA.header().to_string(), &text);
        assert_eq!(setup.status(&token).await == 200, accepted, "{exp}");
    }
    let endless = without("exp")
        .to_string()
        .replacen('{', r#"{"exp":1e999,"#, 1);
    setup
        .refuses(
            &RSA.of_texts(&RSA.header().to_string(), &endless),
            malformed,
        )
        .await;
}

// A token for a different audience is refused, as a text and as a list.
#[tokio::test]
async fn token_for_a_different_resource_is_refused() {
    let setup = Setup::of(&[&RSA]).await;
    for good in [
        json!(RESOURCE),
        json!([RESOURCE]),
        json!(["https://other.example", RESOURCE]),
        json!(format!("{RESOURCE}/")),
    ] {
        assert_eq!(
            setup.status(&RSA.token(&with("aud", good.clone()))).await,
            200,
            "{good}"
        );
    }
    let other = "the token is not for this resource";
    for bad in [
        json!("https://other.example/mcp"),
        json!(["https://other.example/mcp", "https://mcp.example.com"]),
        json!("https://mcp.example.com/"),
        json!("https://mcp.example.com/mcp2"),
        json!("https://mcp.example.com/mcp/admin"),
        json!(format!("{RESOURCE} https://other.example")),
        json!(format!("{RESOURCE}\u{0}")),
        json!("HTTPS://MCP.EXAMPLE.COM/MCP"),
        json!("*"),
        json!(""),
        json!([]),
        json!([""]),
        Value::Null,
    ] {
        setup.refuses(&RSA.token(&with("aud", bad)), other).await;
    }
    setup.refuses(&RSA.token(&without("aud")), other).await;
    let malformed = "a claim of the token is malformed or occurs twice";
    for bad in [
        json!([[RESOURCE]]),
        json!({ "0": RESOURCE }),
        json!([RESOURCE, 7]),
        json!(7),
    ] {
        setup
            .refuses(&RSA.token(&with("aud", bad)), malformed)
            .await;
    }
}

// A token of a different issuer is refused.
#[tokio::test]
async fn token_of_a_different_issuer_is_refused() {
    let setup = Setup::of(&[&RSA]).await;
    for bad in [
        json!("https://evil.example.com"),
        json!(format!("{ISSUER}/")),
        json!(format!("{ISSUER}.evil.example")),
        json!("https://LOGIN.example.com"),
        json!("http://login.example.com"),
        json!(""),
        Value::Null,
    ] {
        setup
            .refuses(
                &RSA.token(&with("iss", bad)),
                "the token is from a different issuer",
            )
            .await;
    }
    setup
        .refuses(
            &RSA.token(&without("iss")),
            "the token is from a different issuer",
        )
        .await;
    let list = RSA.token(&with("iss", json!([ISSUER])));
    setup
        .refuses(&list, "a claim of the token is malformed or occurs twice")
        .await;
}

#[tokio::test]
async fn token_without_a_subject_is_refused() {
    let setup = Setup::of(&[&RSA]).await;
    for token in [without("sub"), with("sub", ""), with("sub", Value::Null)] {
        setup
            .refuses(&RSA.token(&token), "the token has no `sub`")
            .await;
    }
    let number = RSA.token(&with("sub", 7));
    setup
        .refuses(&number, "a claim of the token is malformed or occurs twice")
        .await;
    for claim in ["sub", "iss", "aud", "exp", "nbf", "scope"] {
        let value = claims()[claim].clone();
        let value = if value.is_null() { json!(1) } else { value };
        let text = claims().to_string();
        let twice = text.replacen(
            '{',
            &format!(r#"{{"{claim}":{value},"{claim}":{value},"#),
            1,
        );
        let token = RSA.of_texts(&RSA.header().to_string(), &twice);
        setup
            .refuses(&token, "a claim of the token is malformed or occurs twice")
            .await;
    }
    for payload in ["", "null", "[]", "\"alice\"", "{", "\u{0}"] {
        let token = RSA.of_texts(&RSA.header().to_string(), payload);
        assert_eq!(setup.status(&token).await, 401, "{payload}");
    }
}

#[tokio::test]
async fn unsupported_token_headers_are_refused() {
    let setup = Setup::of(&[&RSA]).await;
    let headed = |name: &str, value: Value| {
        let mut header = RSA.header();
        header[name] = value;
        RSA.with_header(&header, &claims())
    };
    for crit in [json!(["exp"]), json!(["b64"]), json!([])] {
        setup
            .refuses(&headed("crit", crit), "the token's `crit` is not supported")
            .await;
    }
    for typ in [
        "logout+jwt",
        "dpop+jwt",
        "secevent+jwt",
        "application/json",
        "",
    ] {
        let reason = "the token's `typ` is not that of an access token";
        setup.refuses(&headed("typ", json!(typ)), reason).await;
    }
    for typ in ["JWT", "jwt", "at+jwt", "AT+JWT", "application/at+jwt"] {
        assert_eq!(setup.status(&headed("typ", json!(typ))).await, 200, "{typ}");
    }
}

#[tokio::test]
async fn changed_token_parts_are_refused() {
    let (p256, ed) = (Signer::p256("p256"), Signer::ed("ed"));
    let setup = Setup::of(&[&RSA, &p256, &ed]).await;
    let wrong = "the token's signature is wrong";
    let admin = BASE64.encode(with("sub", "admin").to_string());
    for signer in [&*RSA, &p256, &ed] {
        let token = signer.token(&claims());
        let parts: Vec<&str> = token.split('.').collect();
        let [header, payload, signature] = parts[..] else {
            unreachable!("a token has three parts");
        };
        let size = BASE64.decode(signature).unwrap().len();
        setup
            .refuses(&format!("{header}.{admin}.{signature}"), wrong)
            .await;
        for signature in [
            "",
            &signature[..signature.len() - 8],
            &BASE64.encode(vec![0; size]),
            &BASE64.encode([]),
            &BASE64.encode(vec![0xff; size]),
            &BASE64.encode([&BASE64.decode(signature).unwrap()[..], &[0]].concat()),
        ] {
            assert_eq!(
                setup
                    .status(&format!("{header}.{payload}.{signature}"))
                    .await,
                401
            );
        }
        for odd in [
            format!("{header}.{payload}"),
            format!("{token}.{signature}"),
            format!("{header}..{payload}.{signature}"),
            format!("..{signature}"),
            ".".to_owned(),
            "..".to_owned(),
            "....".to_owned(),
            format!("{header}.{payload}.{signature}="),
        ] {
            assert_eq!(setup.status(&odd).await, 401, "{odd}");
        }
    }
    // The header names a different algorithm than the algorithm of the key.
    let header = json!({ "alg": "RS256", "kid": "p256" });
    setup
        .refuses(
            &p256.with_header(&header, &claims()),
            "no key of the issuer matches the token",
        )
        .await;
}

// Tokens of more than 16 KiB are refused before they are parsed.
#[tokio::test]
async fn very_long_tokens_are_refused_before_they_are_parsed() {
    let setup = Setup::of(&[&RSA]).await;
    let long = RSA.token(&with("padding", "x".repeat(20_000)));
    setup
        .refuses(&long, "the token is longer than 16 KiB")
        .await;
    for length in [100_000, 1_000_000] {
        let token = RSA.token(&with("padding", "x".repeat(length)));
        let status = setup.status(&token).await;
        assert!(matches!(status, 401 | 431), "{status}");
    }
    assert_eq!(setup.issuer.fetches(), 0);
    let large = RSA.token(&with("groups", json!(vec!["a group of this user"; 300])));
    assert_eq!(setup.status(&large).await, 200, "{}", large.len());
}

// Scopes are passed to the host's rules, which decide which tools are visible.
#[tokio::test]
async fn scopes_are_passed_to_the_host_and_its_rules() {
    let setup = Setup::of(&[&RSA]).await;
    let cases = [
        (json!({ "scope": "tools:call tools:take" }), 200, true),
        (json!({ "scope": ["tools:call", "tools:take"] }), 200, true),
        (
            json!({ "scope": null, "scp": ["tools:call", "tools:take"] }),
            200,
            true,
        ),
        (
            json!({ "scope": null, "scp": "tools:call tools:take" }),
            200,
            true,
        ),
        (
            json!({ "scope": "tools:call", "scp": ["tools:take"] }),
            200,
            false,
        ),
        (json!({ "scope": " tools:call  " }), 200, false),
        (json!({ "scope": "tools:take" }), 403, false),
        (json!({ "scope": "tools:call2" }), 403, false),
        (json!({ "scope": "TOOLS:CALL" }), 403, false),
        (json!({ "scope": "" }), 403, false),
        (json!({ "scope": null }), 403, false),
    ];
    for (changes, status, takes) in cases {
        let token = RSA.token(&changed(claims(), changes.clone()));
        let authorization = format!("Bearer {token}");
        let headers = [("authorization", authorization.as_str())];
        let answer = setup.web.modern(&headers, "tools/list", json!({})).await;
        assert_eq!(answer.status, status, "{changes}");
        assert_eq!(answer.text.contains(r#""take""#), takes, "{changes}");
        if status == 403 {
            let challenge = answer.header("www-authenticate");
            assert!(
                challenge.contains(r#"error="insufficient_scope""#),
                "{challenge}"
            );
            assert!(challenge.contains(r#"scope="tools:call""#), "{challenge}");
        }
    }
    let odd = RSA.token(&with("scope", json!({ "tools:call": true })));
    assert_eq!(setup.status(&odd).await, 401);
}

#[tokio::test]
async fn workspace_comes_from_the_claim_that_the_host_names() {
    let setup = Setup::with(&[&RSA], |verifier| verifier.workspace_claim("tenant")).await;
    let answer = setup.call(&RSA.token(&with("tenant", "acme"))).await;
    let text = &answer.json()["result"]["content"][0]["text"];
    assert_eq!(text, r#"Some("alice") in Some("acme")"#);
    for bad in [
        claims(),
        with("tenant", ""),
        with("tenant", 7),
        with("tenant", json!(["acme"])),
    ] {
        setup
            .refuses(&RSA.token(&bad), "the token does not name a workspace")
            .await;
    }
}

#[test]
fn insecure_verifier_settings_are_refused() {
    let builder = |issuer: &str| {
        let keys = HttpJwks::new("https://login.example.com/jwks.json").unwrap();
        JwtVerifier::builder(issuer, keys)
    };
    assert!(matches!(builder("").build(), Err(JwtConfigError::Issuer)));
    let none = builder(ISSUER).algorithms([]).build();
    assert!(matches!(none, Err(JwtConfigError::Algorithms)));
    let long = builder(ISSUER).leeway(Duration::from_mins(6)).build();
    assert!(matches!(long, Err(JwtConfigError::Leeway(_))));
    assert!(
        builder(ISSUER)
            .leeway(Duration::from_mins(5))
            .build()
            .is_ok()
    );
}
