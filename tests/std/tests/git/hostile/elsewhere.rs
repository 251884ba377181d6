//! Git configuration that redirects git to other hosts or to files outside of the workspace.

use std::fs;

use super::target::Target;
use crate::server::Server;
use crate::world::{World, http, tree};

/// Configuration entries that redirect git to a different host or to files outside of the workspace.
const ELSEWHERE: [&str; 34] = [
    "[url \"OTHER/\"]\n insteadOf = HOST/",
    "[url \"OTHER/\"]\n insteadOf = http",
    "[url \"OTHER/\"]\n pushInsteadOf = HOST/",
    "[http]\n proxy = OTHER",
    "[http \"HOST\"]\n proxy = OTHER",
    "[http \"HOST/acme/site.git\"]\n proxy = OTHER",
    "[http \"HOST/\"]\n proxy = OTHER",
    "[remote \"origin\"]\n proxy = OTHER",
    "[remote \"origin\"]\n pushurl = OTHER/acme/site.git",
    "[remote \"HOST/acme/site.git\"]\n url = OTHER/acme/site.git",
    "[remote \"HOST/acme/site.git\"]\n proxy = OTHER",
    "[remote \"HOST/acme/site.git\"]\n pushurl = OTHER/acme/site.git",
    "[remote]\n pushDefault = OTHER/acme/site.git",
    "[branch \"main\"]\n remote = OTHER/acme/site.git",
    "[branch \"main\"]\n pushRemote = OTHER/acme/site.git",
    "[http]\n followRedirects = true",
    "[http]\n sslVerify = false",
    "[http]\n sslCAInfo = /tmp/x",
    "[http]\n curloptResolve = 127.0.0.1:80:127.0.0.2",
    "[http]\n extraHeader = X-Evil: 1",
    "[http]\n cookieFile = OUTSIDE/secret\n saveCookies = true",
    "[http]\n emptyAuth = true",
    "[http \"OTHER\"]\n extraHeader = X-Evil: 1",
    "[fetch]\n bundleURI = OTHER/bundle",
    "[transfer]\n bundleURI = true",
    "[core]\n worktree = OUTSIDE",
    "[core]\n attributesFile = OUTSIDE/secret",
    "[core]\n excludesFile = OUTSIDE/secret",
    "[core]\n bare = true",
    "[commit]\n template = OUTSIDE/secret",
    "[mailmap]\n file = OUTSIDE/secret",
    "[log]\n mailmap = true\n[mailmap]\n file = OUTSIDE/secret",
    "[diff]\n orderFile = OUTSIDE/secret",
    "[blame]\n ignoreRevsFile = OUTSIDE/secret",
];

// S1-85, S1-86: no configuration entry redirects the tools or the token.
#[tokio::test]
async fn no_config_entry_redirects_the_tools_or_the_token() {
    let world = World::new();
    let (server, other) = (
        world.server(),
        Server::start(&world.path("srv"), Some("tok-of-the-other")),
    );
    fs::create_dir(world.path("outside")).unwrap();
    fs::write(world.path("outside/secret"), "outside\n").unwrap();
    let target = Target::with(world, http(&server)).await;
    let outside = target.world.path("outside");
    let plant = |text: &str| {
        target.restore();
        let text = text
            .replace("HOST", &server.base())
            .replace("OTHER", &other.base())
            .replace("OUTSIDE", &outside.display().to_string());
        target.config(&text);
    };
    let mut token = 0;
    for text in ELSEWHERE {
        plant(text);
        for (tool, said) in target.everything().await {
            let message = said.expect_err(&format!("{tool} took {text}"));
            assert!(
                message.contains(".git/config"),
                "{tool} on {text}: {message}"
            );
        }
        assert!(other.seen().is_empty(), "{text}: {:?}", other.seen());
        assert_eq!(tree(&outside).len(), 1, "{text}");
    }
    // Control test: these entries redirect plain git.
    for text in &ELSEWHERE[..9] {
        plant(text);
        let before = other.seen().len();
        target.plainly(&["fetch origin", "push origin HEAD:refs/heads/x"]);
        let seen = other.seen();
        assert!(
            seen.len() > before,
            "the attack does not work on plain git: {text}"
        );
        token += usize::from(
            seen[before..]
                .iter()
                .any(|seen| seen.authorization.is_some()),
        );
    }
    assert!(token > 0, "plain git sent the token to no other host");
    // The remote in the repository's configuration is ignored.
    target.restore();
    let config = target.clone.join(".git/config");
    let ours = fs::read_to_string(&config).unwrap();
    let theirs = ours.replace(&server.base(), &other.base());
    assert_ne!(ours, theirs);
    fs::write(config, theirs).unwrap();
    let before = other.seen().len();
    for (tool, said) in target.everything().await {
        said.unwrap_or_else(|message| panic!("{tool}: {message}"));
    }
    assert_eq!(other.seen().len(), before);
}
