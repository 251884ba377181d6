//! The allowlist of the host's environment variables for programs.

use std::ffi::OsString;

/// The variables that programs usually need. [`environment`] passes no others from the host to a job: no `DATABASE_URL`, `ENCRYPTION_KEY`,
/// `AUTH_SECRET` or key of a provider.
///
/// The address of a proxy may contain a password. `run_command` passes proxies only to commands that may use a network, and removes the user name
/// and the password. A host that passes [`environment`] to its own job passes the addresses unchanged.
pub const PASSED: [&str; 20] = [
    "PATH",
    "HOME",
    "USER",
    "SHELL",
    "TMPDIR",
    "TERM",
    // The language and the character encoding.
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    // The files and folders with root certificates.
    "NODE_EXTRA_CA_CERTS",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    // The addresses of the proxies, in both spellings.
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "no_proxy",
    // The mode and the options of Node.js.
    "NODE_ENV",
    "NODE_OPTIONS",
];

/// Returns the [`PASSED`] variables that are set in this process, for [`Job::envs`](super::Job::envs). Add other variables of a job after them;
/// later values override earlier ones.
///
/// ```
/// use tool_isolate::{Job, environment};
///
/// let job = Job::new("git").envs(environment()).env("GIT_TERMINAL_PROMPT", "0");
/// # let _ = job;
/// ```
pub fn environment() -> impl Iterator<Item = (OsString, OsString)> {
    PASSED
        .into_iter()
        .filter_map(|name| Some((name.into(), std::env::var_os(name)?)))
}
