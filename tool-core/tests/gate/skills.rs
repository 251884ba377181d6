//! Skills: reading folders, and the skills that a turn may use.

use std::path::Path;

use tool_core::prelude::*;
use tool_core::skill::{prompt, read, usable};
use tool_core::store::{EnablementStore as _, InstanceId, MemoryStore};
use tool_core::{AgentTool, InstanceRules};

use crate::support::{count, send_mail};

fn write(root: &Path, path: &str, text: &str) {
    let path = root.join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

fn front(name: &str, more: &str) -> String {
    format!("---\nname: {name}\nversion: 1.0.0\ndescription: About {name}.\n{more}---\n# {name}\n")
}

// S1-34: a skill is a folder of Markdown files, and its front matter names the version, the tools and the variables that it needs.
#[test]
fn folders_are_read_as_skills() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    write(
        root,
        "tax/SKILL.md",
        &front(
            "tax",
            "required_tools:\n  - count\n  - agent:law\nenv: [TAX_URL]\n",
        ),
    );
    write(root, "tax/forms/income.md", "Income.\r\nMore.\n");
    write(root, "tax/run.sh", "echo no Markdown");
    write(root, "mail/SKILL.md", &front("mail", ""));
    write(root, "notes/readme.md", "No skill.");
    let skills = read(root).unwrap();
    let [mail, tax] = &skills[..] else {
        panic!("{skills:?}");
    };
    assert_eq!((mail.name.as_str(), mail.required_tools.len()), ("mail", 0));
    assert_eq!(
        (tax.version.as_str(), tax.description.as_str()),
        ("1.0.0", "About tax.")
    );
    assert_eq!(
        (&tax.required_tools[..], &tax.env[..]),
        (
            &["count".to_owned(), "agent:law".to_owned()][..],
            &["TAX_URL".to_owned()][..]
        )
    );
    let files: Vec<_> = tax
        .files
        .iter()
        .map(|(path, text)| (path.as_str(), text.as_str()))
        .collect();
    assert_eq!(
        files,
        [
            ("SKILL.md", "# tax\n"),
            ("forms/income.md", "Income.\nMore.\n")
        ]
    );
}

// S1-34: an error names the file, the line and the correction.
#[test]
fn errors_name_file_line_and_remedy() {
    for (text, expected) in [
        (
            "# No front matter\n",
            "bad/SKILL.md:1: the file must begin with front matter",
        ),
        (
            "---\nname: bad\n",
            "bad/SKILL.md:1: the front matter has no end",
        ),
        (
            &*front("bad", "required_tool: [count]\n"),
            "bad/SKILL.md:5: ",
        ),
        (&*front("bad", "required_tool: [count]\n"), "required_tools"),
        ("---\nname: bad\nversion: 1\n---\n", "description"),
        (
            "---\nname: bad\nversion: 1.0\ndescription: [a]\n---\n",
            "bad/SKILL.md:4: ",
        ),
        (
            &*front("good", ""),
            "bad/SKILL.md:2: the name is `good`, and the folder is `bad`",
        ),
        (
            &*front("Bad", ""),
            "bad/SKILL.md:2: the name `Bad` must have",
        ),
        (
            "---\nname: bad\nversion: ''\ndescription: x\n---\n",
            "bad/SKILL.md:3: the version must have",
        ),
        (
            "---\nname: bad\nversion: 1.0.0\ndescription: ' '\n---\n",
            "bad/SKILL.md:4: the description is empty",
        ),
        (
            &*front("bad", "env: [A, B, A]\n"),
            "bad/SKILL.md:5: `env` has `A` twice",
        ),
        (
            &*front("bad", "required_tools: ['']\n"),
            "bad/SKILL.md:5: `required_tools` has an empty name",
        ),
    ] {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), "bad/SKILL.md", text);
        write(folder.path(), "fine/SKILL.md", &front("fine", ""));
        let error = read(folder.path()).unwrap_err().to_string();
        assert!(error.contains(expected), "{text:?}: {error}");
        assert!(
            error.starts_with(&folder.path().display().to_string()),
            "{error}"
        );
        assert!(!error.contains("fine"), "{error}");
    }
    let folder = tempfile::tempdir().unwrap();
    assert!(
        read(folder.path().join("none"))
            .unwrap_err()
            .to_string()
            .contains("cannot be read")
    );
    write(folder.path(), "long/SKILL.md", &front("long", ""));
    write(folder.path(), "long/more.md", &"x".repeat(1 << 20));
    assert!(
        read(folder.path())
            .unwrap_err()
            .to_string()
            .contains("1 MiB")
    );
}

#[cfg(unix)]
#[test]
fn symbolic_link_in_a_skill_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "bad/SKILL.md", &front("bad", ""));
    std::os::unix::fs::symlink("/etc/hostname", folder.path().join("bad/more.md")).unwrap();
    assert!(
        read(folder.path())
            .unwrap_err()
            .to_string()
            .contains("symbolic links")
    );
}

// S1-40: a skill whose tool or variable is missing is not in the prompt.
#[tokio::test]
async fn prompt_omits_skills_with_missing_tools_or_variables() {
    let folder = tempfile::tempdir().unwrap();
    write(
        folder.path(),
        "adds/SKILL.md",
        &front("adds", "required_tools: [count]\n"),
    );
    write(
        folder.path(),
        "asks/SKILL.md",
        &front("asks", "required_tools: ['agent:law']\n"),
    );
    write(
        folder.path(),
        "mails/SKILL.md",
        &front(
            "mails",
            "required_tools: [count, send_mail]\nenv: [MAIL_URL]\n",
        ),
    );
    let store = MemoryStore::default();
    let builder = || Registry::builder().tool::<count>();
    let registry = builder().tool::<send_mail>().boot(&store).await.unwrap();
    let instances = InstanceRules::open(store.clone()).await.unwrap();
    let own = InstanceId::new("acme", "support");
    for skill in read(folder.path()).unwrap() {
        instances.enable_skill(&own, skill, "olga").await.unwrap();
    }
    let law = AgentTool::ask("law", "Knows the law.", |_, _| async { Ok(String::new()) }).unwrap();
    let listed = async |registry: &Registry, variable: &str, has_agent: bool| {
        let mut rules = instances.rules(&own).await.unwrap();
        if has_agent {
            rules = rules.agent_tool(law.clone());
        }
        let tools = registry.toolset(&ToolContext::anonymous(), &rules);
        let pins = store.skills(&own).await.unwrap();
        prompt(usable(&pins, &tools, |name| name == variable))
    };
    let all = "- adds: About adds.\n- asks: About asks.\n- mails: About mails.\n";
    assert_eq!(listed(&registry, "MAIL_URL", true).await, all);
    assert_eq!(
        listed(&registry, "MAIL_URL", false).await,
        "- adds: About adds.\n- mails: About mails.\n"
    );
    assert_eq!(
        listed(&registry, "OTHER", false).await,
        "- adds: About adds.\n"
    );
    // The skill is hidden while the program lacks its tool, and usable again when the program has the tool again.
    let fewer = builder().boot(&store).await.unwrap();
    instances.refresh().await.unwrap();
    assert_eq!(
        listed(&fewer, "MAIL_URL", false).await,
        "- adds: About adds.\n"
    );
    let registry = builder().tool::<send_mail>().boot(&store).await.unwrap();
    instances.refresh().await.unwrap();
    assert_eq!(listed(&registry, "MAIL_URL", true).await, all);
}

// S1-34: the required tools are the tools of the pinned version, even if the folder has changed since.
#[tokio::test]
async fn changed_folder_does_not_change_a_pinned_skill() {
    let folder = tempfile::tempdir().unwrap();
    let store = MemoryStore::default();
    let builder = Registry::builder().tool::<count>().tool::<send_mail>();
    builder.boot(&store).await.unwrap();
    let instances = InstanceRules::open(store.clone()).await.unwrap();
    let own = InstanceId::new("acme", "support");
    write(
        folder.path(),
        "adds/SKILL.md",
        &front("adds", "required_tools: [count]\n"),
    );
    let one = read(folder.path()).unwrap().remove(0);
    instances
        .enable_skill(&own, one.clone(), "olga")
        .await
        .unwrap();
    let changed = front("adds", "required_tools: [send_mail]\n");
    write(folder.path(), "adds/SKILL.md", &changed);
    let same_number = read(folder.path()).unwrap().remove(0);
    let refused = instances
        .enable_skill(&own, same_number, "olga")
        .await
        .unwrap_err();
    assert!(
        refused
            .to_string()
            .contains("give the changed skill a new version"),
        "{refused}"
    );
    assert_eq!(store.skills(&own).await.unwrap()[0].skill, one);
    write(
        folder.path(),
        "adds/SKILL.md",
        &changed.replace("1.0.0", "1.1.0"),
    );
    let two = read(folder.path()).unwrap().remove(0);
    let change = instances.enable_skill(&own, two, "olga").await.unwrap();
    assert_eq!(
        (change.added, change.removed),
        (vec!["send_mail".to_owned()], vec!["count".to_owned()])
    );
}
