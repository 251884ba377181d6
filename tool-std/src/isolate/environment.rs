//! What of the host's environment a program may see.

use std::ffi::OsString;

/// The variables that programs usually need. No other passes from the host to a job, so no `DATABASE_URL`, `ENCRYPTION_KEY`,
/// `AUTH_SECRET` and no key of a provider does.
///
/// A proxy's address may hold a password of its own. `run_command` passes proxies only to commands that reach a network, and without
/// that; a host that gives [`environment`] to a job of its own passes them as they are.
pub const PASSED: [&str; 20] = [
    "PATH",
    "HOME",
    "USER",
    "SHELL",
    "TMPDIR",
    "TERM",
    // Locale.
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    // Certificates.
    "NODE_EXTRA_CA_CERTS",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    // Proxies.
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "no_proxy",
    // Node.
    "NODE_ENV",
    "NODE_OPTIONS",
];

/// Those of the [`PASSED`] variables that this process has, for [`Job::envs`](super::Job::envs). What a job needs beside them is added
/// after them, and what is added has the last word.
///
/// ```
/// use tool_std::isolate::{Job, environment};
///
/// let job = Job::new("git").envs(environment()).env("GIT_TERMINAL_PROMPT", "0");
/// # let _ = job;
/// ```
pub fn environment() -> impl Iterator<Item = (OsString, OsString)> {
    PASSED
        .into_iter()
        .filter_map(|name| Some((name.into(), std::env::var_os(name)?)))
}
