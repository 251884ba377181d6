//! Test that the HTTP client ignores the proxy variables of the environment.

use super::support::{PRIVATE, PUBLIC, Server, client, get, output, text};

/// The variable with the server's URL. It is set in the child process that runs this test again.
const URL: &str = "STD_TESTS_URL_BEHIND_NO_PROXY";

// S1-102: the client uses no proxy, because a proxy would bypass the check of addresses.
#[tokio::test]
async fn proxy_variables_are_ignored() {
    if let Ok(url) = std::env::var(URL) {
        assert_eq!(output(&get(client(), &url).await)["body"], "direct");
        return;
    }
    let server = Server::start(PUBLIC, |_| text("direct")).await;
    let proxy = Server::start(PRIVATE, |_| text("through a proxy")).await;
    // The test runs itself again in a child process, because it must not change the environment of the test program.
    let mut again = tokio::process::Command::new(std::env::current_exe().unwrap());
    again.args([
        "--exact",
        "proxy::proxy_variables_are_ignored",
        "--nocapture",
    ]);
    for name in ["http_proxy", "https_proxy", "all_proxy"] {
        for name in [name.to_owned(), name.to_uppercase()] {
            again.env(name, format!("http://{}", proxy.address));
        }
    }
    again
        .env("REQUEST_METHOD", "")
        .env("NO_PROXY", "")
        .env("no_proxy", "");
    let done = again
        .env(URL, server.url("public.example", "/"))
        .output()
        .await
        .unwrap();
    assert!(
        done.status.success(),
        "{}",
        String::from_utf8_lossy(&done.stdout)
    );
    assert_eq!((server.seen().len(), proxy.seen().len()), (1, 0));
}
