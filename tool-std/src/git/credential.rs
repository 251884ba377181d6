//! The token of a repository and the credential helper that passes it to git.

use std::io::{self, Write as _};
use std::path::Path;

use cap_std::fs::{Dir, OpenOptions, OpenOptionsExt as _};
use tool_core::redact::Redactor;
use tool_core::{ExposeSecret as _, SecretString};

use super::address::Scheme;
use super::settings::Settings;
use super::state::suffix;

/// The file that contains the token and a line end; only its owner may read and write it.
pub(super) const TOKEN: &str = "token";
/// The credential helper that git runs.
pub(super) const HELPER: &str = "helper";

/// The credential request that the helper answers, and the user name that it returns with the token.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scope<'a> {
    pub(super) scheme: &'a str,
    /// The host, with the port if there is one.
    pub(super) host: &'a str,
    /// The path of the repository, without a leading slash.
    pub(super) path: &'a str,
    pub(super) user: &'a str,
}

impl<'a> Scope<'a> {
    /// Returns the scope of the repository at this path of the host's server.
    pub(super) fn of(settings: &'a Settings, path: &'a str) -> Self {
        Self {
            scheme: settings.address.scheme.name(),
            host: &settings.address.authority,
            path,
            user: &settings.user,
        }
    }
}

/// Returns the token of the call if it is needed and not blank. `file` URLs need no token.
pub(super) fn brought(settings: &Settings, token: Option<SecretString>) -> Option<SecretString> {
    let needed = settings.address.scheme != Scheme::File;
    token.filter(|token| needed && !token.expose_secret().trim().is_empty())
}

/// Writes the token and the helper into the folder at `path`. Neither file may exist.
pub(super) fn install(
    dir: &Dir,
    path: &Path,
    scope: Scope<'_>,
    token: &SecretString,
) -> io::Result<()> {
    put(dir, path, scope, token, private)
}

/// Writes the token and the helper and replaces existing ones. Each file changes in one step: a git process that runs the helper meanwhile receives
/// the old token or the new token.
pub(super) fn renew(
    dir: &Dir,
    path: &Path,
    scope: Scope<'_>,
    token: &SecretString,
) -> io::Result<()> {
    put(dir, path, scope, token, replace)
}

/// Writes the token and the helper, each with its mode. Nothing is written if the content of either is invalid.
fn put(
    dir: &Dir,
    path: &Path,
    scope: Scope<'_>,
    token: &SecretString,
    write: fn(&Dir, &str, u32, &[u8]) -> io::Result<()>,
) -> io::Result<()> {
    let (token, script) = (line(token)?, script(&path.join(TOKEN), scope)?);
    write(dir, TOKEN, 0o600, token.expose_secret().as_bytes())?;
    write(dir, HELPER, 0o700, script.as_bytes())
}

fn replace(dir: &Dir, name: &str, mode: u32, content: &[u8]) -> io::Result<()> {
    if dir.read(name).is_ok_and(|known| known == content) {
        return Ok(());
    }
    let fresh = format!("{name}-{}", suffix());
    let placed = private(dir, &fresh, mode, content).and_then(|()| dir.rename(&fresh, dir, name));
    if placed.is_err() {
        let _ = dir.remove_file(&fresh);
    }
    placed
}

/// Returns the content of the token's file: the token, without white space around it, and a line end. Fails if the token contains a line break or a
/// NUL.
fn line(token: &SecretString) -> io::Result<SecretString> {
    let token = token.expose_secret().trim();
    if token.contains(['\n', '\r', '\0']) {
        return Err(io::Error::other("the token contains a line break or a NUL"));
    }
    Ok(SecretString::from(format!("{token}\n")))
}

/// Returns a redactor for the token that is stored in a folder; without a token, it redacts nothing. The token may be from an earlier caller, whose
/// secrets this call does not know.
pub(super) fn redactor(folder: &Path) -> io::Result<Redactor> {
    let token = match std::fs::read_to_string(folder.join(TOKEN)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Redactor::default()),
        read => SecretString::from(read?.trim()),
    };
    // A call with a token that is too short to redact was refused earlier.
    Ok(Redactor::new([("github_token", token)]).unwrap_or_default())
}

/// Creates a file with its final mode, so that no other user can read it at any time.
pub(super) fn private(dir: &Dir, name: &str, mode: u32, content: &[u8]) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true).mode(mode);
    dir.open_with(name, &options)?.write_all(content)
}

/// Returns the value of `credential.helper` for the helper of a folder.
pub(super) fn setting(folder: &Path) -> io::Result<String> {
    Ok(format!("!{}", quoted(text(&folder.join(HELPER))?)?))
}

/// Returns the helper script. It uses only built-in commands of the shell, so no argument and no environment variable contains the token.
fn script(token: &Path, scope: Scope<'_>) -> io::Result<String> {
    let Scope {
        scheme,
        host,
        path,
        user,
    } = scope;
    Ok(format!(
        r#"#!/bin/sh
# Prints the token of one repository for git. For any other repository it answers `quit=1`.
[ "$1" = get ] || exit 0
protocol= host= path=
while IFS= read -r line && [ -n "$line" ]; do
    case $line in
    protocol=*) protocol=${{line#*=}} ;;
    host=*) host=${{line#*=}} ;;
    path=*) path=${{line#*=}} ;;
    esac
done
if [ "$protocol" = {} ] && [ "$host" = {} ] && [ "$path" = {} ] && IFS= read -r token <{}; then
    printf 'username=%s\npassword=%s\n' {} "$token"
else
    echo quit=1
fi
"#,
        quoted(scheme)?,
        quoted(host)?,
        quoted(path)?,
        quoted(text(token)?)?,
        quoted(user)?,
    ))
}

/// Quotes a text as one word of the shell.
fn quoted(text: &str) -> io::Result<String> {
    if text.contains(char::is_control) {
        return Err(io::Error::other(
            "a path, host or user name contains a control character",
        ));
    }
    Ok(format!("'{}'", text.replace('\'', r"'\''")))
}

fn text(path: &Path) -> io::Result<&str> {
    path.to_str()
        .ok_or_else(|| io::Error::other("the path to the workspaces is not UTF-8"))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use std::io::Write as _;
    use std::process::{Command, Stdio};

    use cap_std::ambient_authority;
    use rustix::fs::inotify::{self, CreateFlags, ReadFlags, WatchFlags};

    use super::*;

    fn folder(below: &str) -> (tempfile::TempDir, std::path::PathBuf, Dir) {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join(below);
        std::fs::create_dir(&path).unwrap();
        let dir = Dir::open_ambient_dir(&path, ambient_authority()).unwrap();
        (root, path, dir)
    }

    const SCOPE: Scope<'_> = Scope {
        scheme: "https",
        host: "github.com",
        path: "o/r.git",
        user: "x-access-token",
    };

    fn ask(path: &Path, word: &str, question: &str) -> String {
        // Git runs the helper through the shell, too.
        let mut shell = Command::new("sh")
            .args(["-c", &format!("{} {word}", &setting(path).unwrap()[1..])])
            .env_clear()
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let _ = shell.stdin.take().unwrap().write_all(question.as_bytes());
        String::from_utf8(shell.wait_with_output().unwrap().stdout).unwrap()
    }

    // S1-84, S1-85: the token is created with mode 0600 and the helper with 0700, with no chmod afterwards
    #[test]
    fn secret_files_are_created_with_their_modes() {
        use cap_std::fs::PermissionsExt as _;

        let (_root, path, dir) = folder("s");
        let watch = inotify::init(CreateFlags::NONBLOCK).unwrap();
        inotify::add_watch(&watch, &path, WatchFlags::CREATE | WatchFlags::ATTRIB).unwrap();
        install(&dir, &path, SCOPE, &SecretString::from("tok-1234567")).unwrap();
        let mode = |name| dir.metadata(name).unwrap().permissions().mode() & 0o7777;
        assert_eq!((mode(TOKEN), mode(HELPER)), (0o600, 0o700));
        // No mode was changed after the creation.
        let mut buffer = [std::mem::MaybeUninit::uninit(); 4096];
        let mut reader = inotify::Reader::new(&watch, &mut buffer);
        let mut created = Vec::new();
        while let Ok(event) = reader.next() {
            assert!(!event.events().contains(ReadFlags::ATTRIB), "{event:?}");
            created.push(event.file_name().unwrap().to_str().unwrap().to_owned());
        }
        assert_eq!(created, [TOKEN, HELPER]);
        // An install over existing files fails.
        assert!(install(&dir, &path, SCOPE, &SecretString::from("tok-7654321")).is_err());
    }

    // S1-84, S1-86: a new token replaces the old one atomically and keeps its mode
    #[test]
    fn token_is_replaced_atomically_and_keeps_its_mode() {
        use cap_std::fs::PermissionsExt as _;

        let (_root, path, dir) = folder("s");
        let renewed = |token: &str, user: &'static str| {
            let scope = Scope { user, ..SCOPE };
            renew(&dir, &path, scope, &SecretString::from(token)).unwrap();
        };
        let asked = || {
            ask(
                &path,
                "get",
                "protocol=https\nhost=github.com\npath=o/r.git\n\n",
            )
        };
        for (token, user) in [
            ("tok-1234567", "x"),
            ("tok-7654321", "x"),
            ("tok-7654321", "y"),
        ] {
            // A reader that opened the file before the renewal still reads the old token.
            let before = dir.open(TOKEN).ok().map(cap_std::fs::File::into_std);
            let known = dir.read_to_string(TOKEN).ok();
            renewed(token, user);
            assert_eq!(asked(), format!("username={user}\npassword={token}\n"));
            let open = before.map(|file| std::io::read_to_string(file).unwrap());
            assert_eq!(open, known);
            let mode = |name| dir.metadata(name).unwrap().permissions().mode() & 0o7777;
            assert_eq!((mode(TOKEN), mode(HELPER)), (0o600, 0o700));
            assert_eq!(dir.entries().unwrap().count(), 2);
        }
        assert!(renew(&dir, &path, SCOPE, &SecretString::from("a\nb")).is_err());
        assert!(asked().contains("tok-7654321"));
    }

    // S1-85: the helper script contains the path of the token, not the token
    #[test]
    fn credential_helper_contains_a_path_but_no_token() {
        let (_root, path, dir) = folder("it's a \"$HOME\" `id` folder");
        install(&dir, &path, SCOPE, &SecretString::from("tok-1234567")).unwrap();
        let script = dir.read_to_string(HELPER).unwrap();
        assert!(!script.contains("tok-1234567"));
        assert!(script.contains("/token'"));
        let told = ask(
            &path,
            "get",
            "protocol=https\nhost=github.com\npath=o/r.git\n\n",
        );
        assert_eq!(told, "username=x-access-token\npassword=tok-1234567\n");
    }

    // S1-85, S1-86: the helper answers only for the repository that was cloned
    #[test]
    fn credential_helper_answers_only_for_its_repository() {
        let (_root, path, dir) = folder("s");
        install(&dir, &path, SCOPE, &SecretString::from("tok-1234567")).unwrap();
        let right = "protocol=https\nhost=github.com\npath=o/r.git\n";
        assert!(
            ask(&path, "get", right).contains("tok-1234567"),
            "a request without the empty line at its end is answered"
        );
        for question in [
            "",
            "\n",
            "protocol=http\nhost=github.com\npath=o/r.git\n\n",
            "protocol=https\nhost=evil.example\npath=o/r.git\n\n",
            "protocol=https\nhost=github.com:444\npath=o/r.git\n\n",
            "protocol=https\nhost=github.com.evil.example\npath=o/r.git\n\n",
            "protocol=https\nhost=GITHUB.COM\npath=o/r.git\n\n",
            "protocol=https\nhost=github.com\npath=o/r2.git\n\n",
            "protocol=https\nhost=github.com\npath=o/r.git/../x.git\n\n",
            "protocol=https\nhost=github.com\npath=o/r\n\n",
            "protocol=https\nhost=github.com\n\n",
            "protocol=https\nhost=*\npath=*\n\n",
            "protocol=https\n\nhost=github.com\npath=o/r.git\n\n",
            "protocol=https\nhost=github.com\npath=o/r.git\nhost=evil.example\n\n",
            "url=https://github.com/o/r.git\n\n",
        ] {
            assert_eq!(ask(&path, "get", question), "quit=1\n", "{question:?}");
        }
        for word in ["store", "erase", "", "approve", "get2"] {
            assert_eq!(ask(&path, word, right), "", "{word}");
        }
    }

    // S1-84: a token with a line break or a NUL is refused
    #[test]
    fn token_with_a_line_break_or_nul_is_refused() {
        let (_root, path, dir) = folder("s");
        for token in ["a\nhost=evil", "a\rb", "a\0b"] {
            assert!(install(&dir, &path, SCOPE, &SecretString::from(token)).is_err());
        }
        assert_eq!(dir.entries().unwrap().count(), 0);
        install(&dir, &path, SCOPE, &SecretString::from("tok-1234567\n")).unwrap();
        assert_eq!(dir.read_to_string(TOKEN).unwrap(), "tok-1234567\n");
    }
}
