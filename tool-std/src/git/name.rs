//! Validation of the names that a model writes, before any process starts.

use tool_core::{Issue, ToolError};

/// A repository, written as `owner/name` with the characters `[a-zA-Z0-9._-]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Repo {
    pub(super) owner: String,
    pub(super) name: String,
}

impl Repo {
    pub(super) fn parse(text: &str) -> Result<Self, ToolError> {
        let fault = || {
            let expected = "`owner/name` of letters, digits, `.`, `_` and `-`";
            invalid("/repo", expected, text)
        };
        let (owner, name) = text.split_once('/').ok_or_else(fault)?;
        let name = name.strip_suffix(".git").unwrap_or(name);
        if !is_folder(owner) || !is_folder(name) {
            return Err(fault());
        }
        Ok(Self {
            owner: owner.to_owned(),
            name: name.to_owned(),
        })
    }
}

/// Returns whether a text is a valid owner or name of a repository, which becomes the name of a folder.
fn is_folder(name: &str) -> bool {
    let legal = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    (1..=100).contains(&name.len())
        && name.bytes().all(legal)
        && !name.starts_with('-')
        && !matches!(name, "." | "..")
        && !name.eq_ignore_ascii_case(".git")
}

/// Validates the name of a branch: `[a-zA-Z0-9._/-]` within git's own rules.
pub(super) fn branch<'a>(pointer: &str, text: &'a str) -> Result<&'a str, ToolError> {
    if is_branch(text) {
        return Ok(text);
    }
    let expected = "the name of a branch: letters, digits, `.`, `_`, `-` and `/` between them, no `-` at its beginning";
    Err(invalid(pointer, expected, text))
}

/// Returns whether a text is accepted as the name of a branch. The rules are stricter than those of `git check-ref-format --branch`: for example, at
/// most 200 characters, from a smaller set.
pub(super) fn is_branch(text: &str) -> bool {
    let legal = |byte: u8| byte.is_ascii_alphanumeric() || b"._-/".contains(&byte);
    let part = |part: &str| {
        !part.is_empty() && !part.starts_with('.') && !part.ends_with('.') && !has_lock_suffix(part)
    };
    text.len() <= 200
        && text.bytes().all(legal)
        && !text.starts_with('-')
        && !text.contains("..")
        && text != "HEAD"
        && text.split('/').all(part)
}

fn has_lock_suffix(part: &str) -> bool {
    part.len() >= 5 && part[part.len() - 5..].eq_ignore_ascii_case(".lock")
}

/// Validates a commit: a hash, a branch, a tag or `HEAD`, optionally followed by steps to its ancestors, such as `~2` or `^`.
pub(super) fn revision<'a>(pointer: &str, text: &'a str) -> Result<&'a str, ToolError> {
    let end = text.find(['~', '^']).unwrap_or(text.len());
    let (name, steps) = text.split_at(end);
    let steps_are_some = steps
        .bytes()
        .all(|byte| byte.is_ascii_digit() || byte == b'~' || byte == b'^');
    if (name == "HEAD" || is_branch(name)) && steps_are_some && steps.len() <= 20 {
        return Ok(text);
    }
    let expected =
        "a commit: a hash, a branch, a tag or `HEAD`, optionally followed by `~2` or `^`";
    Err(invalid(pointer, expected, text))
}

/// Validates paths that follow `--` at the end of a command line.
pub(super) fn paths(pointer: &str, paths: &[String]) -> Result<(), ToolError> {
    for (i, path) in paths.iter().enumerate() {
        if path.is_empty() || path.contains('\0') || path.starts_with('/') || path.len() > 4096 {
            let expected = "a path relative to the repository, such as `src/main.rs`";
            return Err(invalid(&format!("{pointer}/{i}"), expected, path));
        }
    }
    Ok(())
}

fn invalid(pointer: &str, expected: &str, found: &str) -> ToolError {
    let found: String = found.chars().take(80).collect();
    ToolError::invalid_arguments(vec![Issue {
        pointer: pointer.to_owned(),
        expected: expected.to_owned(),
        found: format!("{found:?}"),
    }])
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    // S1-91: only `owner/name` of `[a-zA-Z0-9._-]` is accepted as a repository
    #[test]
    fn repository_must_be_owner_and_name() {
        for text in ["o/r", "rust-lang/rust", "a.b_c-d/.github", "0/9", "o/r.git"] {
            Repo::parse(text).unwrap();
        }
        assert_eq!(Repo::parse("o/r.git").unwrap(), Repo::parse("o/r").unwrap());
        for text in [
            "",
            "o",
            "/r",
            "o/",
            "o/r/x",
            "../r",
            "o/..",
            "./r",
            "o/.",
            ".git/r",
            "o/.GIT",
            "o/.git",
            "-o/r",
            "o/-r",
            "o r/x",
            "o/r\n",
            "o/r\0",
            "ö/r",
            "o\\r",
            "https://github.com/o/r",
            "git@github.com:o/r",
            "o/r;id",
            "o/$(id)",
            "o/r~1",
        ] {
            assert!(Repo::parse(text).is_err(), "{text:?}");
        }
    }

    // S1-91: names of branches that could be options, paths or reference expressions are refused
    #[test]
    fn only_branch_names_are_accepted_as_branches() {
        for text in [
            "main",
            "feature/x",
            "a/b/c",
            "release-1.2",
            "v1.0_x",
            "a-",
            "x.lock.y",
        ] {
            assert!(is_branch(text), "{text}");
        }
        for text in [
            "",
            "-",
            "--upload-pack=x",
            "-b",
            "/a",
            "a/",
            "a//b",
            ".a",
            "a/.b",
            "a.",
            "a./b",
            "a..b",
            "a.lock",
            "a.lock/b",
            "a.LOCK",
            "HEAD",
            "a b",
            "a~1",
            "a^",
            "a:b",
            "a?",
            "a*",
            "a[",
            "a\\b",
            "a\n",
            "a\0",
            "a@{1}",
            "@",
            "ä",
            "+a",
            "a;id",
        ] {
            assert!(!is_branch(text), "{text:?}");
        }
    }

    // S1-91: git itself accepts every name of a branch that is accepted here
    #[test]
    fn git_accepts_every_branch_name_that_we_accept() {
        // Try all sequences of up to four of these pieces, and some longer sequences.
        let pieces = ["a", ".", "-", "/", "_", ".lock", "HEAD", "..", "9"];
        let mut texts: Vec<String> = vec![String::new()];
        for _ in 0..4 {
            let longer: Vec<String> = texts
                .iter()
                .flat_map(|text| pieces.map(|piece| format!("{text}{piece}")))
                .collect();
            texts.extend(longer);
        }
        texts.sort();
        texts.dedup();
        texts.retain(|text| is_branch(text));
        assert!(texts.len() > 300, "{}", texts.len());
        // One `git check-ref-format` process for each text would take long; `git fetch` checks its refspecs by the same rules.
        let folder = tempfile::tempdir().unwrap();
        let git = |args: &[&str]| {
            let mut git = std::process::Command::new("git");
            git.args(args).current_dir(folder.path());
            git.env("GIT_CONFIG_GLOBAL", "/dev/null")
                .env("GIT_CONFIG_NOSYSTEM", "1");
            git
        };
        assert!(git(&["init", "-q"]).status().unwrap().success());
        for part in texts.chunks(200) {
            let names = part.iter().map(String::as_str);
            let specs: Vec<_> = names
                .map(|name| format!("refs/heads/{name}:refs/heads/{name}"))
                .collect();
            let refspecs: Vec<&str> = specs.iter().map(String::as_str).collect();
            let told = git(&["fetch", "--dry-run", "."])
                .args(&refspecs)
                .output()
                .unwrap();
            let told = String::from_utf8_lossy(&told.stderr).into_owned();
            assert!(told.contains("couldn't find remote ref"), "{told}");
        }
        for text in ["a.", "a..b", "a.lock"] {
            let spec = format!("refs/heads/{text}");
            let told = git(&["fetch", "--dry-run", ".", &format!("{spec}:{spec}")])
                .output()
                .unwrap();
            assert!(
                String::from_utf8_lossy(&told.stderr).contains("invalid refspec"),
                "{text}"
            );
        }
    }

    #[test]
    fn revision_is_a_name_with_optional_parent_steps() {
        for text in [
            "HEAD",
            "HEAD~3",
            "main^",
            "origin/main~1^2",
            "v1.0",
            "0123abc",
        ] {
            revision("/from", text).unwrap();
        }
        for text in [
            "",
            "-x",
            "a..b",
            "a:b",
            "HEAD@{1}",
            ":/fix",
            "a b",
            "--output=x",
            "~1",
            "a~x",
        ] {
            assert!(revision("/from", text).is_err(), "{text:?}");
        }
    }
}
