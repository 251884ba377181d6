//! Tests with a connection pooler in transaction mode between the store and the server.

use std::fs;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;
use test_support::postgres::{Server, server};
use test_support::{Missing, Ran};
use tool_store::suite::records::{audit, intent, key, message, thread};
use tool_store::*;

use crate::database::Database;

/// PgBouncer with few connections to the server, so that transactions of one client use different connections.
pub(crate) struct Pooler {
    child: Child,
    port: u16,
    _folder: TempDir,
}

impl Drop for Pooler {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Pooler {
    /// Starts a pooler for a server.
    pub(crate) fn start(server: &Server) -> Result<Self, Missing> {
        let server = server.address();
        let paths = [
            "/usr/sbin/pgbouncer",
            "/usr/bin/pgbouncer",
            "/usr/local/bin/pgbouncer",
        ];
        let program = paths.into_iter().find(|path| Path::new(path).exists());
        let program = program.ok_or_else(|| {
            Missing::new("`pgbouncer` is not installed, install the package `pgbouncer`")
        })?;
        let folder = tempfile::tempdir().unwrap();
        let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = port.local_addr().unwrap().port();
        let (config, users) = (folder.path().join("ini"), folder.path().join("users"));
        fs::write(&users, "\"postgres\" \"\"\n").unwrap();
        let text = format!(
            "[databases]\n* = host=127.0.0.1 port={}\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\nunix_socket_dir =\n\
             auth_type = trust\nauth_file = {}\npool_mode = transaction\ndefault_pool_size = 3\nmax_client_conn = 200\n",
            server.port(),
            users.display()
        );
        fs::write(&config, text).unwrap();
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
        // PgBouncer refuses to run as root.
        let mut command = if rustix::process::geteuid().is_root() {
            let mut command = Command::new("setpriv");
            command.args(["--reuid=65534", "--regid=65534", "--clear-groups", program]);
            command
        } else {
            Command::new(program)
        };
        let child = command
            .arg(&config)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let pooler = Self {
            child,
            port,
            _folder: folder,
        };
        let began = Instant::now();
        while TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err() {
            assert!(
                began.elapsed() < Duration::from_secs(20),
                "pgbouncer did not start"
            );
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(pooler)
    }

    /// Returns the URL of a database of the server through the pooler.
    pub(crate) fn url(&self, database: &Database) -> String {
        let (_, name) = database.url.rsplit_once('/').unwrap();
        format!("postgres://postgres@127.0.0.1:{}/{name}", self.port)
    }
}

// The store works with a pooler that uses a different server connection for each transaction of a client.
pub(crate) async fn store_works_behind_a_pooler_in_transaction_mode_case() -> Ran {
    let database = Database::create().await?;
    let pooler = Pooler::start(server()?)?;
    let url = pooler.url(&database);
    let mut stores = Vec::new();
    for _ in 0..3 {
        let options = PostgresOptions::new(&url).unwrap().unprepared(true);
        let options = options.migrator(&database.url).unwrap();
        let options = options.listener(&database.url).unwrap();
        stores.push(options.clock(PostgresClock::Caller).open().await.unwrap());
    }
    let calls = (0..24).map(|task: usize| {
        let store = stores[task % 3].clone();
        tokio::spawn(async move {
            for round in 0..10 {
                let name = format!("{task} {round}");
                let begun = store.begin(intent(&name), Some(audit(&name))).await;
                assert_eq!(begun.unwrap(), Begun::New);
                let begun = store.begin(intent("shared"), None).await.unwrap();
                assert!(matches!(begun, Begun::New | Begun::Replay(_)));
                store.append(message("t", Role::User, None)).await.unwrap();
                let row = EffectLedger::get(&store, &key(&name)).await.unwrap();
                assert_eq!(row.unwrap().state, EffectState::Running);
            }
        })
    });
    for call in calls.collect::<Vec<_>>() {
        call.await.unwrap();
    }
    let [store, ..] = &stores[..] else {
        panic!("no store was opened");
    };
    let messages = ThreadStore::read(store, &thread("t"), None).await.unwrap();
    assert_eq!(messages.len(), 240);
    let rows = EffectLedger::list(store, Scope::All, None).await.unwrap();
    assert_eq!(rows.len(), 241);
    Ok(())
}
