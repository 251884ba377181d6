//! The `git_push` tool, which pushes a branch to its server.

use tool_core::prelude::*;

use super::command::{Command, Remote};
use super::handle::Pusher;
use super::private;
use super::repository::Repository;
use super::session::{Output, Session, failed, helper, recorded, short};

/// The effect of a push on the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
#[serde(rename_all = "snake_case")]
pub enum PushStatus {
    /// The branch is new on the server.
    Created,
    /// The branch has new commits on the server.
    Updated,
    /// The server had all commits already.
    UpToDate,
}

/// A branch that was pushed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub struct Pushed {
    /// The name of the branch.
    pub branch: String,
    /// The short hash of its last commit.
    pub commit: String,
    /// The effect on the branch of the server.
    pub status: PushStatus,
}

/// Pushes a branch of a repository that `git_clone` cloned to the branch of the same name on the server. It always needs an approval, and
/// never overwrites commits that only the server has: fetch these commits first.
#[tool(
    category = "git",
    approval,
    example("The branch that is checked out", { "path": ".repos/rust-lang/log-1f0c9a3e" }),
    example("Another branch", { "path": ".repos/rust-lang/log-1f0c9a3e", "branch": "fix/typo" }),
)]
pub async fn git_push(
    git: &Pusher,
    #[secret("github_token")] token: Option<SecretString>,
    /// The repository: the `path` that `git_clone` returned.
    path: String,
    /// The branch; null for the current branch.
    branch: Option<String>,
) -> Result<Pushed, ToolError> {
    let session = git.begin();
    let (repository, branch) = session.signed_in(path, branch, token).await?;
    let helper = helper(&repository)?;
    let remote = Remote {
        pushes: true,
        ..recorded(&repository, &session.settings().address, helper.as_deref())?
    };
    let local = format!("refs/heads/{branch}");
    // The branch may move during the push, so the push, the result and the remote-tracking branch all use this commit.
    let commit = Command::new("rev-parse")
        .args(["--verify", "--quiet"])
        .arg(format!("{local}^{{commit}}"))
        .on(&repository);
    let commit = session.line(commit).await?.ok_or_else(|| {
        ToolError::new(format!(
            "there is no branch `{branch}` here, see `git_branch`"
        ))
    })?;
    let output = push(&session, &repository, remote, (&branch, &commit)).await?;
    // `<flag>\t<from>:<to>\t<summary>`
    let told = String::from_utf8_lossy(&output.stdout);
    let flag = told
        .lines()
        .find(|line| line.contains(&format!("\t{local}:{local}\t")))
        .and_then(|line| line.chars().next());
    let status = match flag {
        _ if output.code != 0 => None,
        Some('*') => Some(PushStatus::Created),
        Some('=') => Some(PushStatus::UpToDate),
        Some(' ') => Some(PushStatus::Updated),
        _ => None,
    };
    let Some(status) = status else {
        if told.contains("[rejected]") {
            return Err(ToolError::new(format!(
                "the server has commits on `{branch}` that are not here: fetch them with `git_fetch`, build on them and push again"
            )));
        }
        return Err(failed("push", &output));
    };
    let tracking = Command::new("update-ref")
        .args([&format!("refs/remotes/origin/{branch}"), &commit])
        .on(&repository)
        .writes();
    session.succeed(tracking).await?;
    let short = short(&session, &repository, &commit).await?;
    Ok(Pushed {
        branch,
        commit: short.unwrap_or(commit),
        status,
    })
}

/// Pushes a commit as a branch, from a private repository that [`private::copied`] creates.
pub(super) async fn push(
    session: &Session,
    repository: &Repository,
    remote: Remote<'_>,
    (branch, commit): (&str, &str),
) -> Result<Output, ToolError> {
    let local = format!("refs/heads/{branch}");
    let folder = private::copied(session, repository, Some((branch, commit))).await?;
    let own = folder.repository();
    let command = Command::new("push")
        .args([
            "--porcelain",
            "--no-verify",
            "--no-recurse-submodules",
            "--no-signed",
            "--no-follow-tags",
        ])
        .args(["--receive-pack=git-receive-pack", "--"])
        .arg(remote.url)
        .arg(format!("{local}:{local}"))
        .on(&own)
        .reaches(&folder, remote);
    let output = session.run(command).await;
    session.blocking(|_| folder.remove()).await?;
    output
}
