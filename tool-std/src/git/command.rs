//! A git command line, and the sandboxed job that runs it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::address::{Address, Scheme, port};
use super::private::{PrivateFolder, alternate};
use super::repository::Repository;
use super::settings::Settings;
use crate::isolate::{Job, Network};

/// A git command to run.
#[derive(Debug)]
pub(super) struct Command<'a> {
    /// The subcommand, which error texts name.
    pub(super) word: &'static str,
    args: Vec<OsString>,
    pub(super) repository: Option<&'a Repository>,
    /// The folder of the call, if the job gets access to it instead of the home of `repository`.
    folder: Option<&'a PrivateFolder>,
    writes: bool,
    reads: Vec<&'a Path>,
    pub(super) remote: Option<Remote<'a>>,
    /// Whether only the beginning of its output is stored.
    pub(super) only_first: bool,
    settings: Vec<(&'static str, &'static str)>,
    env: Vec<(String, OsString)>,
    pub(super) stdin: Option<Vec<u8>>,
}

/// The remote that a git command may reach, and its credentials.
#[derive(Clone, Copy, Debug)]
pub(super) struct Remote<'a> {
    pub(super) address: &'a Address,
    pub(super) url: &'a str,
    /// The folder that contains the token and its helper.
    pub(super) credentials: Option<&'a Path>,
    /// The value of `credential.helper`.
    pub(super) helper: Option<&'a str>,
    /// Whether the command writes to the remote.
    pub(super) pushes: bool,
}

/// Settings of every run, at the command-line level, which overrides a repository's configuration.
///
/// A repository's configuration is checked against an allowlist before git starts. These settings apply in addition.
const SETTINGS: [(&str, &str); 42] = [
    // Start no other program.
    ("core.hooksPath", "/dev/null"),
    ("core.fsmonitor", "false"),
    ("core.sshCommand", "false"),
    ("core.gitProxy", "false"),
    ("core.askPass", ""),
    ("core.editor", "false"),
    ("sequence.editor", "false"),
    ("core.pager", "cat"),
    ("core.alternateRefsCommand", "false"),
    ("credential.helper", ""),
    ("credential.useHttpPath", "true"),
    ("credential.interactive", "false"),
    ("commit.gpgSign", "false"),
    ("tag.gpgSign", "false"),
    ("push.gpgSign", "false"),
    ("merge.verifySignatures", "false"),
    ("log.showSignature", "false"),
    ("gpg.program", "false"),
    ("gpg.ssh.program", "false"),
    ("gpg.x509.program", "false"),
    ("gc.auto", "0"),
    ("maintenance.auto", "false"),
    ("status.submoduleSummary", "false"),
    // Read no file of the host.
    ("core.attributesFile", "/dev/null"),
    ("core.excludesFile", "/dev/null"),
    ("mailmap.file", ""),
    ("mailmap.blob", ""),
    ("log.mailmap", "false"),
    // Ignore repositories inside of the repository.
    ("submodule.recurse", "false"),
    ("fetch.recurseSubmodules", "false"),
    ("push.recurseSubmodules", "no"),
    ("diff.ignoreSubmodules", "all"),
    // Reach no other host over the network.
    ("http.followRedirects", "false"),
    ("http.sslVerify", "true"),
    ("http.extraHeader", ""),
    ("http.cookieFile", ""),
    ("http.saveCookies", "false"),
    ("transfer.bundleURI", "false"),
    // Refuse names that some file systems treat as `.git`, print output in the form that is parsed here, and write no commit graph.
    ("core.protectHFS", "true"),
    ("core.protectNTFS", "true"),
    ("i18n.logOutputEncoding", "UTF-8"),
    ("fetch.writeCommitGraph", "false"),
];

/// The complete environment of every run, except the variables that [`Command::job`] adds.
const ENV: [(&str, &str); 20] = [
    ("HOME", "/dev/null"), // neither `.gitconfig` nor `.netrc`
    ("XDG_CONFIG_HOME", "/dev/null"),
    ("LC_ALL", "C"),
    ("GIT_CONFIG_NOSYSTEM", "1"),
    ("GIT_CONFIG_SYSTEM", "/dev/null"),
    ("GIT_CONFIG_GLOBAL", "/dev/null"),
    ("GIT_ATTR_NOSYSTEM", "1"),
    ("GIT_TEMPLATE_DIR", ""),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_ASKPASS", ""),
    ("SSH_ASKPASS", ""),
    ("GIT_SSH_COMMAND", "false"),
    ("GIT_EDITOR", "false"),
    ("GIT_SEQUENCE_EDITOR", "false"),
    ("GIT_PAGER", "cat"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_NO_REPLACE_OBJECTS", "1"),
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_LITERAL_PATHSPECS", "1"),
    ("GIT_MERGE_AUTOEDIT", "no"),
];

impl<'a> Command<'a> {
    pub(super) fn new(word: &'static str) -> Self {
        Self {
            word,
            args: vec![OsString::from(word)],
            repository: None,
            folder: None,
            writes: false,
            reads: Vec::new(),
            remote: None,
            only_first: false,
            settings: Vec::new(),
            env: Vec::new(),
            stdin: None,
        }
    }

    pub(super) fn arg(mut self, arg: impl Into<OsString>) -> Self {
        self.args.push(arg.into());
        self
    }

    pub(super) fn args<A: Into<OsString>>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        self.args.extend(args.into_iter().map(Into::into));
        self
    }

    /// Sets the repository to work on. Without this call, git finds no repository.
    pub(super) fn on(mut self, repository: &'a Repository) -> Self {
        self.repository = Some(repository);
        self
    }

    /// Keeps the beginning of the output and drops the rest. The command is not killed for output beyond the limit.
    pub(super) fn first_output(mut self) -> Self {
        self.only_first = true;
        self
    }

    /// Adds a setting to this run only.
    pub(super) fn setting(mut self, key: &'static str, value: &'static str) -> Self {
        self.settings.push((key, value));
        self
    }

    /// Allows writes to the repository's folder.
    pub(super) fn writes(mut self) -> Self {
        self.writes = true;
        self
    }

    /// Lets the command reach a remote from the folder of the call. The command reads and writes the folder of the call, and nothing in the folder of
    /// the conversation.
    pub(super) fn reaches(mut self, folder: &'a PrivateFolder, remote: Remote<'a>) -> Self {
        self.folder = Some(folder);
        self.writes = true;
        self.remote = Some(remote);
        self
    }

    /// Lets the command read the objects of a different repository as if they were its own.
    pub(super) fn borrows(mut self, from: &'a Repository) -> Self {
        self.reads.push(&from.home);
        let objects = from.top.join(".git/objects");
        self.env.push((
            String::from("GIT_ALTERNATE_OBJECT_DIRECTORIES"),
            alternate(&objects),
        ));
        self
    }

    /// Lets the command fetch from the folder of a call.
    pub(super) fn fetches_from(mut self, folder: &'a PrivateFolder) -> Self {
        self.reads.push(folder.path());
        self.env("GIT_ALLOW_PROTOCOL", "file")
    }

    pub(super) fn env(mut self, name: &str, value: &str) -> Self {
        self.env.push((name.to_owned(), value.into()));
        self
    }

    pub(super) fn stdin(mut self, bytes: Vec<u8>) -> Self {
        self.stdin = Some(bytes);
        self
    }

    pub(super) fn job(&self, settings: &Settings) -> Job {
        let mut job = Job::new(&settings.program)
            .args(self.args.iter().cloned())
            .envs(ENV)
            .env("PATH", search_path(settings));
        let home = match (self.folder, self.repository) {
            (Some(folder), _) => Some(folder.path()),
            (None, repository) => repository.map(|repository| repository.home.as_path()),
        };
        if let Some(home) = home {
            job = if self.writes {
                job.writes(home)
            } else {
                job.reads(home)
            };
        }
        for path in &self.reads {
            job = job.reads(path);
        }
        job = match self.repository {
            // Set explicitly, so that git does not search for the repository and no `.git` file or `core.worktree` has an effect.
            Some(repository) => {
                let dot_git = repository.top.join(".git");
                job.cwd(&repository.top)
                    .env("GIT_DIR", &dot_git)
                    .env("GIT_COMMON_DIR", dot_git)
                    .env("GIT_WORK_TREE", &repository.top)
            }
            None => job.cwd("/").env("GIT_CEILING_DIRECTORIES", "/"),
        };
        let mut config: Vec<(String, OsString)> = SETTINGS
            .iter()
            .chain(&self.settings)
            .map(|(key, value)| ((*key).to_owned(), (*value).into()))
            .collect();
        job = match &self.remote {
            None => job.env("GIT_ALLOW_PROTOCOL", ""),
            Some(remote) => remote.open(job, settings, &mut config),
        };
        for path in program_files(settings) {
            job = job.reads(path);
        }
        let mut count = 0;
        for (key, value) in config {
            job = job
                .env(format!("GIT_CONFIG_KEY_{count}"), key)
                .env(format!("GIT_CONFIG_VALUE_{count}"), value);
            count += 1;
        }
        let job = job.env("GIT_CONFIG_COUNT", count.to_string());
        let job = job.envs(self.env.iter().map(|(name, value)| (name, value)));
        match self.stdin {
            Some(_) => job.stdin(),
            None => job,
        }
    }
}

impl Remote<'_> {
    /// Lets a job reach this remote: for a `file` URL the folder of the repositories, otherwise the TCP ports of the remote, the proxy and DNS.
    fn open(self, job: Job, settings: &Settings, config: &mut Vec<(String, OsString)>) -> Job {
        let scheme = self.address.scheme;
        let mut job = job.env("GIT_ALLOW_PROTOCOL", scheme.name());
        if let Some(folder) = self.address.folder() {
            return if self.pushes {
                job.writes(folder)
            } else {
                job.reads(folder)
            };
        }
        if let (Some(folder), Some(helper)) = (self.credentials, self.helper) {
            job = job.reads(folder);
            config.push((String::from("credential.helper"), helper.into()));
        }
        let proxy = proxy(settings, scheme);
        // Git uses the setting with the longest matching URL, regardless of the file that contains it. No URL is longer than the complete one.
        for (name, value) in [
            ("sslVerify", OsString::from("true")),
            ("followRedirects", OsString::from("false")),
            ("extraHeader", OsString::new()),
            ("cookieFile", OsString::new()),
            ("saveCookies", OsString::from("false")),
            ("proxy", proxy.clone()),
        ] {
            config.push((format!("http.{}.{name}", self.url), value));
        }
        for (name, as_git_has_it) in [
            ("SSL_CERT_FILE", "GIT_SSL_CAINFO"),
            ("SSL_CERT_DIR", "GIT_SSL_CAPATH"),
        ] {
            if let Some(path) = settings.env(name) {
                job = job.env(as_git_has_it, path).reads(PathBuf::from(path));
            }
        }
        for name in ["NO_PROXY", "no_proxy"] {
            if let Some(hosts) = settings.env(name) {
                job = job.env(name, hosts);
            }
        }
        // DNS uses TCP for long responses.
        let ports = self.address.port().into_iter().chain([53]);
        job.network(Network::tcp(ports.chain(proxy_port(&proxy))))
    }
}

/// Returns the host's proxy for a scheme. An empty value means no proxy, and prevents git from looking for a different one.
fn proxy(settings: &Settings, scheme: Scheme) -> OsString {
    let names = match scheme {
        Scheme::Https => ["https_proxy", "HTTPS_PROXY"],
        Scheme::Http | Scheme::File => ["http_proxy", "HTTP_PROXY"],
    };
    let mut found = names.into_iter().filter_map(|name| settings.env(name));
    found.next().cloned().unwrap_or_default()
}

fn proxy_port(proxy: &OsString) -> Option<u16> {
    let text = proxy.to_str().filter(|text| !text.is_empty())?;
    let rest = text.split_once("://").map_or(text, |(_, rest)| rest);
    let authority = rest.split('/').next().unwrap_or(rest);
    Some(port(authority).unwrap_or(1080))
}

/// Returns the host's `PATH` without relative entries, or a default if nothing is left.
fn search_path(settings: &Settings) -> OsString {
    let absolute = settings.env("PATH").map(|path| {
        std::env::join_paths(std::env::split_paths(path).filter(|folder| folder.is_absolute()))
    });
    match absolute {
        Some(Ok(path)) if !path.is_empty() => path,
        _ => OsString::from("/usr/local/bin:/usr/bin:/bin"),
    }
}

/// Returns the files that the sandbox must allow if the host names git by an absolute path: the program and its `libexec/git-core`.
fn program_files(settings: &Settings) -> Vec<PathBuf> {
    let program = Path::new(&settings.program);
    if !program.is_absolute() {
        return Vec::new();
    }
    let parts = program
        .parent()
        .and_then(Path::parent)
        .map(|prefix| prefix.join("libexec/git-core"))
        .filter(|parts| parts.is_dir());
    std::iter::once(program.to_owned()).chain(parts).collect()
}
