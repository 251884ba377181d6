//! The allowlist for the configuration of a repository.

use tool_core::ToolError;

/// Checks every entry of a configuration that `git config --null --list` printed. `helper` is the credential helper that `git_clone` configured.
///
/// This is an allowlist, not a denylist: git has hundreds of settings that name a program, a file or a host, and new versions add more.
pub(super) fn check(listed: &[u8], helper: Option<&str>) -> Result<(), ToolError> {
    let listed = String::from_utf8_lossy(listed);
    for entry in listed.split_terminator('\0') {
        // An entry without a value is true.
        let (key, value) = entry.split_once('\n').unwrap_or((entry, "true"));
        if !admits(key, value, helper) {
            return Err(refused(key));
        }
    }
    Ok(())
}

fn admits(key: &str, value: &str, helper: Option<&str>) -> bool {
    let (Some((section, rest)), Some((_, name))) = (key.split_once('.'), key.rsplit_once('.'))
    else {
        return false;
    };
    // The subsection is the text between the first and the last dot, if there are two dots.
    let subsection = rest
        .strip_suffix(name)
        .and_then(|rest| rest.strip_suffix('.'));
    let truth = matches!(value, "true" | "false");
    match (section, subsection, name) {
        ("core", None, "repositoryformatversion") => matches!(value, "0" | "1"),
        ("core", None, "bare") => value == "false",
        ("core", None, "autocrlf") => truth || value == "input",
        ("core", None, "eol") => matches!(value, "lf" | "crlf" | "native"),
        ("extensions", None, "objectformat") => matches!(value, "sha1" | "sha256"),
        // Git uses these entries only to look up an upstream: the tools connect only to the URL that was cloned.
        ("remote", Some(remote), "url" | "fetch" | "tagopt") => is_nick(remote),
        ("branch", Some(_), "remote") => is_nick(value),
        // The helper that `git_clone` has configured, which authenticates a manual `git fetch`. The tools pass their own helper to git and use no
        // other.
        ("credential", None, "helper") => value.is_empty() || helper == Some(value),
        ("credential", None, "usehttppath") => value == "true",
        (
            "core",
            None,
            "filemode" | "ignorecase" | "logallrefupdates" | "precomposeunicode" | "symlinks",
        )
        | ("advice", None, _)
        | ("push", None, "autosetupremote") => truth,
        // Names of people and branches, and settings that do not affect the commands of the tools. The tools do not enter submodules.
        ("branch", Some(_), "merge" | "rebase")
        | ("user", None, "name" | "email")
        | ("init", None, "defaultbranch")
        | ("pull", None, "rebase" | "ff")
        | ("fetch", None, "prune")
        | ("push", None, "default")
        | ("submodule", Some(_), "url" | "active") => true,
        _ => false,
    }
}

/// Returns whether the text is a plain name of a remote, and neither a URL nor a path.
fn is_nick(name: &str) -> bool {
    let legal = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    !name.is_empty() && !name.starts_with(['.', '-']) && name.bytes().all(legal)
}

/// Creates the error for a refused entry. It contains the section and the key, but not the subsection, which is free text.
fn refused(key: &str) -> ToolError {
    let word = |text: &str| text.chars().take(40).collect::<String>();
    let key = match (key.split_once('.'), key.rsplit_once('.')) {
        (Some((section, rest)), Some((_, name))) if rest == name => {
            format!("{}.{}", word(section), word(name))
        }
        (Some((section, _)), Some((_, name))) => format!("{}.….{}", word(section), word(name)),
        _ => word(key),
    };
    ToolError::new(format!(
        "the repository's `.git/config` has `{key}`, which these tools do not accept because it may start programs or redirect git: \
         remove that entry, or clone the repository again"
    ))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    fn one(key: &str, value: &str) -> bool {
        let entry = format!("{key}\n{value}\0");
        check(entry.as_bytes(), Some("!'/s/helper'")).is_ok()
    }

    #[test]
    fn config_that_git_writes_is_accepted() {
        for (key, value) in [
            ("core.repositoryformatversion", "0"),
            ("core.filemode", "true"),
            ("core.bare", "false"),
            ("remote.origin.url", "https://github.com/o/r.git"),
            (
                "remote.origin.fetch",
                "+refs/heads/main:refs/remotes/origin/main",
            ),
            ("branch.main.remote", "origin"),
            ("branch.feature/x.y.merge", "refs/heads/feature/x.y"),
            ("credential.helper", ""),
            ("credential.helper", "!'/s/helper'"),
            ("credential.usehttppath", "true"),
        ] {
            assert!(one(key, value), "{key}={value}");
        }
        check(b"core.symlinks\0", None).unwrap();
        check(b"", None).unwrap();
    }

    #[test]
    fn only_the_credential_helper_of_git_clone_is_accepted() {
        assert!(!one("credential.helper", "!'/s/other'"));
        assert!(check(b"credential.helper\n!'/s/helper'\0", None).is_err());
        assert!(!one("credential.https://github.com.helper", "!'/s/helper'"));
    }

    #[test]
    fn url_as_a_remote_name_is_refused() {
        assert!(!one(
            "remote.https://github.com/o/r.git.url",
            "https://evil.example"
        ));
        assert!(!one("remote.../x.url", "y"));
        assert!(!one("branch.main.remote", "https://evil.example"));
    }

    #[test]
    fn config_error_names_the_entry_without_untrusted_text() {
        let told = check(b"core.fsmonitor\n/tmp/x\0", None).unwrap_err();
        assert!(told.model_text().contains("`core.fsmonitor`"));
        let told = check(b"url.obey me.insteadof\nx\0", None).unwrap_err();
        assert!(told.model_text().contains("`url.….insteadof`"));
    }
}
