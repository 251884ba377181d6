//! The setup of a race: a conversation with a clone, servers and all tools.

use std::fs;
use std::path::PathBuf;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use tool_core::prelude::*;
use tool_std::fs::{
    edit_file, find_files, list_directory, read_file, read_file_parts, search_files, write_file,
};
use tool_std::git::{
    Git, git_branch, git_clone, git_commit, git_diff, git_fetch, git_log, git_status,
};
use tool_std::http::{Http, http_get, http_request};
use tool_std::process::{Commands, run_command};
use tool_std::web::{Search, SearchHit, SearchProvider, SearchQuery, fetch_webpage, search_web};

use crate::outside::Outside;
use crate::server::Server;
use crate::stand_ins::{self, PUBLIC, client, response};
use crate::world::{TOKEN, World, clone, isolation};

/// The file of the clone that all tools use.
pub(crate) const FILE: &str = "README.md";

/// Returns a text with one line for the edits of each call and many identical lines. A mixture of two such texts is detectable.
pub(crate) fn text(marker: &str) -> String {
    let line = format!("{marker} {}\n", "-".repeat(80));
    format!("slot-0\nslot-1\n{}", line.repeat(400))
}

/// Returns the text after the call with this number has edited its line.
pub(crate) fn edited(text: &str, seat: usize, by: &str) -> String {
    text.replace(&format!("slot-{seat}\n"), &format!("slot-{seat} by {by}\n"))
}

pub(crate) struct Scene {
    pub(crate) world: World,
    pub(crate) git_server: Server,
    /// A server on the same port of a different address, to which a malicious setting would redirect git.
    pub(crate) other_server: Server,
    pub(crate) web_server: stand_ins::Server,
    pub(crate) cx: ToolContext,
    pub(crate) tools: Toolset,
    pub(crate) clone: PathBuf,
    pub(crate) outside: Outside,
}

impl Scene {
    pub(crate) async fn new() -> Self {
        let world = World::new();
        let git_server = world.server();
        let port = git_server.port();
        let other_server = Server::start_at(
            &world.path("srv"),
            Some(TOKEN),
            ([127, 0, 0, 2], port).into(),
        );
        let web_server = stand_ins::Server::start(PUBLIC, |seen| {
            if seen.path().starts_with("/article") {
                let headers = &[("content-type", "text/html; charset=utf-8")];
                return response(200, headers, include_str!("../../data/web/article.html"));
            }
            stand_ins::text(&format!("{} {}", seen.path(), seen.body))
        })
        .await;
        let git = Git::new()
            .host(&format!("http://localhost:{port}"))
            .unwrap()
            .author("Bot", "bot@example.org")
            .deadline(std::time::Duration::from_secs(20));
        let cx = ToolContext::builder()
            .workspace("acme")
            .conversation("c1")
            .secret("github_token", SecretString::from(TOKEN))
            .with(world.workspaces())
            .with(isolation())
            .with(Commands::new(isolation()))
            .with(git)
            .with(client())
            .with(Search::only(Engine))
            .build();
        let clone = clone(&cx, "acme/site").await;
        let scene = Self {
            outside: Outside::around(&world.workspace()),
            tools: tools(),
            world,
            git_server,
            other_server,
            web_server,
            cx,
            clone,
        };
        fs::write(scene.file(), text("main")).unwrap();
        scene.git(&["commit", "-qam", "Begin the race"]);
        scene.git(&["switch", "-qc", "side"]);
        fs::write(scene.file(), text("side")).unwrap();
        scene.git(&["commit", "-qam", "Another text"]);
        scene.git(&["switch", "-q", "main"]);
        scene
    }

    pub(crate) fn workspace(&self) -> PathBuf {
        self.world.workspace()
    }

    /// Returns the path of the file that all tools use.
    pub(crate) fn file(&self) -> PathBuf {
        self.clone.join(FILE)
    }

    /// Returns a path in the clone in the form that a model writes.
    pub(crate) fn shown(&self, below: &str) -> String {
        let clone = self.clone.strip_prefix(self.workspace()).unwrap();
        clone.join(below).to_str().unwrap().to_owned()
    }

    /// Runs plain git in the clone.
    pub(crate) fn git(&self, args: &[&str]) -> String {
        self.world.git(&self.clone, args)
    }

    /// Runs plain git in the repository of the server.
    pub(crate) fn git_there(&self, args: &[&str]) -> String {
        self.world.git(&self.world.path("srv/acme/site.git"), args)
    }

    /// Reverts the changes of the last round in the working tree.
    pub(crate) fn reset(&self) {
        self.git(&["checkout", "-qf", "main"]);
        self.git(&["clean", "-ffdqx"]);
    }

    pub(crate) fn url(&self, path: &str) -> String {
        self.web_server.url("public.example", path)
    }

    /// Lists temporary files that a tool has not removed.
    pub(crate) fn left_behind(&self) -> Vec<PathBuf> {
        let mut left: Vec<PathBuf> = crate::world::tree(&self.workspace())
            .into_keys()
            .filter(|path| {
                let name = path.file_name().unwrap().to_string_lossy();
                name.starts_with(".~") || path.extension().is_some_and(|end| end == "lock")
            })
            .collect();
        let work = self.world.path("ws/acme/git-work/c1");
        left.extend(crate::world::tree(&work).into_keys());
        left
    }
}

/// Returns the tools for files, commands, git and HTTP. `git_push` is left out, because it needs an approval; the tests call its body directly.
fn tools() -> Toolset {
    Registry::builder()
        .tool::<read_file>()
        .tool::<read_file_parts>()
        .tool::<write_file>()
        .tool::<edit_file>()
        .tool::<list_directory>()
        .tool::<find_files>()
        .tool::<search_files>()
        .tool::<run_command>()
        .tool::<git_clone>()
        .tool::<git_status>()
        .tool::<git_diff>()
        .tool::<git_log>()
        .tool::<git_commit>()
        .tool::<git_branch>()
        .tool::<git_fetch>()
        .tool::<http_get>()
        .tool::<http_request>()
        .tool::<fetch_webpage>()
        .tool::<search_web>()
        .build()
        .unwrap()
        .open()
}

/// A search engine with one result for each query.
struct Engine;

impl SearchProvider for Engine {
    fn name(&self) -> &'static str {
        "engine"
    }

    fn needs_key(&self) -> bool {
        false
    }

    fn search<'a>(
        &'a self,
        _: &'a Http,
        _: Option<&'a SecretString>,
        query: &'a SearchQuery,
    ) -> BoxFuture<'a, Result<Vec<SearchHit>, ToolError>> {
        let hit = SearchHit {
            title: query.query.clone(),
            url: String::from("https://a.example/"),
            snippet: String::new(),
            score: None,
        };
        async { Ok(vec![hit]) }.boxed()
    }
}
