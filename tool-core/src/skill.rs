//! Skills: folders of Markdown files with front matter, and the skills that a turn may use (features `host` and `yaml`).
//!
//! A skill is a folder with the file `SKILL.md`, which begins with front matter in YAML, and any number of other Markdown files:
//!
//! ```text
//! skills/
//!   tax-return/
//!     SKILL.md
//!     forms/income.md
//! ```
//!
//! ```text
//! ---
//! name: tax-return
//! version: 1.2.0
//! description: Fills in a tax return. Use it when the user asks about taxes.
//! required_tools: [read_file, write_file]
//! env: [TAX_OFFICE_URL]
//! ---
//! # Tax return
//! …
//! ```
//!
//! [`read`] reads all skills in a folder. [`InstanceRules::enable_skill`](crate::InstanceRules::enable_skill) pins a version for an instance and
//! enables the tools that this version requires. [`usable`] filters the pinned versions for a turn, and [`prompt`] lists them for a model.

use std::collections::BTreeMap;
use std::fmt;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::store::{SkillPin, SkillVersion};
use crate::toolset::Toolset;

/// Name of the file that makes a folder a skill.
const ENTRY: &str = "SKILL.md";
/// Maximum size of the Markdown files of a skill together, in bytes.
const MOST_BYTES: u64 = 1 << 20;
/// Maximum length of a name or version, in bytes.
const MOST_NAME: usize = 64;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FrontMatter {
    name: String,
    version: String,
    description: String,
    #[serde(default)]
    required_tools: Vec<String>,
    #[serde(default)]
    env: Vec<String>,
}

/// The faults found while reading skills. Displays each fault on its own line, with its file and, if known, its line number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkillError(Vec<Fault>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Fault {
    path: PathBuf,
    line: Option<u64>,
    text: String,
}

impl Fault {
    fn new(path: &Path, line: Option<u64>, text: impl Into<String>) -> Self {
        Self {
            path: path.to_owned(),
            line,
            text: text.into(),
        }
    }

    fn unreadable(path: &Path, error: &std::io::Error) -> Self {
        Self::new(path, None, format!("it cannot be read: {error}"))
    }
}

impl fmt::Display for SkillError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, Fault { path, line, text }) in self.0.iter().enumerate() {
            f.write_str(if i == 0 { "" } else { "\n" })?;
            write!(f, "{}:", path.display())?;
            if let Some(line) = line {
                write!(f, "{line}:")?;
            }
            write!(f, " {text}")?;
        }
        Ok(())
    }
}

impl std::error::Error for SkillError {}

/// Reads all skills in a folder, sorted by name. Each direct subfolder with a `SKILL.md` is a skill. Fails if the folder cannot be read or a skill
/// has a fault.
///
/// All Markdown files of a skill are read, at most 1 MiB in total. Other files are ignored, and symbolic links within a skill are refused.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = tempfile::tempdir()?;
/// # let root = folder.path();
/// std::fs::create_dir(root.join("mail"))?;
/// std::fs::write(
///     root.join("mail/SKILL.md"),
///     "---\nname: mail\nversion: 1.0.0\ndescription: Answers mail.\nrequired_tools: [read_mail]\n---\n# Mail\n",
/// )?;
/// let skills = tool_core::skill::read(root)?;
/// assert_eq!(skills[0].required_tools, ["read_mail"]);
/// assert_eq!(skills[0].files["SKILL.md"], "# Mail\n");
/// # Ok(())
/// # }
/// ```
pub fn read(folder: impl AsRef<Path>) -> Result<Vec<SkillVersion>, SkillError> {
    let mut skills = Vec::new();
    let mut faults = Vec::new();
    let folders = match children(folder.as_ref()) {
        Ok(folders) => folders,
        Err(fault) => return Err(SkillError(vec![fault])),
    };
    for folder in folders {
        if folder.join(ENTRY).is_file() {
            match read_folder(&folder) {
                Ok(skill) => skills.push(skill),
                Err(found) => faults.extend(found),
            }
        }
    }
    if faults.is_empty() {
        Ok(skills)
    } else {
        Err(SkillError(faults))
    }
}

/// Reads one skill: a folder with a `SKILL.md`.
pub fn read_one(folder: impl AsRef<Path>) -> Result<SkillVersion, SkillError> {
    read_folder(folder.as_ref()).map_err(SkillError)
}

/// Returns the entries of a folder, sorted.
fn children(folder: &Path) -> Result<Vec<PathBuf>, Fault> {
    let unreadable = |error: std::io::Error| Fault::unreadable(folder, &error);
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        paths.push(entry.map_err(unreadable)?.path());
    }
    paths.sort_unstable();
    Ok(paths)
}

fn read_folder(folder: &Path) -> Result<SkillVersion, Vec<Fault>> {
    let mut files = BTreeMap::new();
    let mut rest = MOST_BYTES;
    collect(folder, folder, &mut files, &mut rest).map_err(|fault| vec![fault])?;
    let path = folder.join(ENTRY);
    let Some(entry) = files.remove(ENTRY) else {
        let text = "this file is missing: add it, with front matter";
        return Err(vec![Fault::new(&path, None, text)]);
    };
    let (front, body) =
        split(&entry).map_err(|(line, text)| vec![Fault::new(&path, Some(line), text)])?;
    let front: FrontMatter = serde_saphyr::from_str(&front).map_err(|error| {
        let line = error.location().map(|location| location.line());
        vec![Fault::new(&path, line, error.without_snippet().to_string())]
    })?;
    let name = folder.file_name().and_then(|name| name.to_str());
    let faults = front.faults(name.unwrap_or_default());
    if !faults.is_empty() {
        let fault = |(key, text): (&str, String)| {
            let line = entry.lines().position(|line| line.starts_with(key));
            let line = line.and_then(|at| u64::try_from(at + 1).ok());
            Fault::new(&path, line, text)
        };
        return Err(faults.into_iter().map(fault).collect());
    }
    files.insert(ENTRY.to_owned(), body.to_owned());
    let mut skill = SkillVersion::new(front.name, front.version);
    skill.description = front.description;
    skill.required_tools = front.required_tools;
    skill.env = front.env;
    skill.files = files;
    Ok(skill)
}

/// Reads the Markdown files of a folder and of its subfolders.
fn collect(
    root: &Path,
    folder: &Path,
    files: &mut BTreeMap<String, String>,
    rest: &mut u64,
) -> Result<(), Fault> {
    for path in children(folder)? {
        let unreadable = |error: std::io::Error| Fault::unreadable(&path, &error);
        let metadata = fs::symlink_metadata(&path).map_err(unreadable)?;
        if metadata.is_symlink() {
            let text = "a skill must not contain symbolic links: copy the file into the folder";
            return Err(Fault::new(&path, None, text));
        }
        if metadata.is_dir() {
            collect(root, &path, files, rest)?;
            continue;
        }
        let is_markdown = path.extension().is_some_and(|extension| extension == "md");
        if !metadata.is_file() || !is_markdown {
            continue;
        }
        *rest = rest.checked_sub(metadata.len()).ok_or_else(|| {
            let text = "the Markdown files of the skill are longer than 1 MiB together: shorten them or split the skill";
            Fault::new(&path, None, text)
        })?;
        let text = fs::read_to_string(&path).map_err(unreadable)?;
        let inner = path.strip_prefix(root).unwrap_or(&path);
        let parts: Option<Vec<&str>> = inner.iter().map(|part| part.to_str()).collect();
        let Some(parts) = parts else {
            return Err(Fault::new(&path, None, "its name is not UTF-8: rename it"));
        };
        files.insert(parts.join("/"), text.replace("\r\n", "\n"));
    }
    Ok(())
}

/// Splits a file into its front matter, whose line numbers are the same as in the file, and the text after it.
fn split(text: &str) -> Result<(String, &str), (u64, &'static str)> {
    let Some(rest) = text.strip_prefix("---\n") else {
        return Err((
            1,
            "the file must begin with front matter: a line `---`, the keys `name`, `version` and `description`, and a line `---`",
        ));
    };
    let end = rest.match_indices("---").map(|(at, _)| at).find(|at| {
        let is_start = *at == 0 || rest[..*at].ends_with('\n');
        let after = &rest[at + 3..];
        is_start && (after.is_empty() || after.starts_with('\n'))
    });
    let Some(end) = end else {
        return Err((
            1,
            "the front matter has no end: add a line `---` after its keys",
        ));
    };
    let body = rest[end + 3..].strip_prefix('\n').unwrap_or_default();
    // The leading line break replaces the line with the first `---`, so that the parser reports the line numbers of the file.
    Ok((format!("\n{}", &rest[..end]), body))
}

impl FrontMatter {
    /// Returns the faults of the values, each with its key.
    fn faults(&self, folder: &str) -> Vec<(&'static str, String)> {
        let mut faults = Vec::new();
        let is_slug = |name: &str| {
            (1..=MOST_NAME).contains(&name.len())
                && name
                    .chars()
                    .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
        };
        if !is_slug(&self.name) {
            let text = format!(
                "the name `{}` must have 1 to {MOST_NAME} of the characters `a` to `z`, `0` to `9` and `-`",
                self.name
            );
            faults.push(("name", text));
        } else if self.name != folder {
            let text = format!(
                "the name is `{}`, and the folder is `{folder}`: give both the same name",
                self.name
            );
            faults.push(("name", text));
        }
        if self.version.trim().is_empty() || self.version.len() > MOST_NAME {
            let text =
                format!("the version must have 1 to {MOST_NAME} characters, such as `1.0.0`");
            faults.push(("version", text));
        }
        if self.description.trim().is_empty() {
            let text = "the description is empty: write what the skill does and when to use it";
            faults.push(("description", text.to_owned()));
        }
        for (key, names) in [("required_tools", &self.required_tools), ("env", &self.env)] {
            for (at, name) in names.iter().enumerate() {
                if name.trim().is_empty() {
                    faults.push((key, format!("`{key}` has an empty name: remove it")));
                } else if names[..at].contains(name) {
                    faults.push((
                        key,
                        format!("`{key}` has `{name}` twice: remove one of them"),
                    ));
                }
            }
        }
        faults
    }
}

/// Returns the skills that a turn may use, in the order of `pins`. A skill is usable if all its required tools are visible to the turn, and if
/// `has_variable` returns true for all its environment variables. Other skills are hidden from the model, because the model could not follow them.
///
/// `pins` is the result of [`EnablementStore::skills`](crate::store::EnablementStore::skills), so that each instance reads the version that it has
/// pinned. For variables of the process, pass `|name| std::env::var_os(name).is_some_and(|value| !value.is_empty())`.
///
/// ```
/// use tool_core::prelude::*;
/// use tool_core::skill::{prompt, usable};
/// use tool_core::store::{SkillPin, SkillVersion, Timestamp};
///
/// /// Reads the mail of the user.
/// #[tool(read_only)]
/// async fn read_mail() -> &'static str {
///     "No mail."
/// }
///
/// # fn main() -> Result<(), tool_core::RegistryError> {
/// let mut mail = SkillVersion::new("mail", "1.0.0");
/// mail.description = "Answers mail.".to_owned();
/// mail.required_tools = vec!["read_mail".to_owned()];
/// let pins = [SkillPin::new(mail, "olga", Timestamp::now())];
///
/// let tools = Registry::builder().tool::<read_mail>().build()?.open();
/// assert_eq!(prompt(usable(&pins, &tools, |_| true)), "- mail: Answers mail.\n");
/// let none = Registry::builder().build()?.open();
/// assert_eq!(usable(&pins, &none, |_| true).count(), 0);
/// # Ok(())
/// # }
/// ```
pub fn usable<'a>(
    pins: &'a [SkillPin],
    tools: &'a Toolset,
    has_variable: impl Fn(&str) -> bool + 'a,
) -> impl Iterator<Item = &'a SkillVersion> + 'a {
    let has_tool = |name: &String| {
        // The name of an agent tool in a skill is its row name, `agent:<slug>`, which is the tool's origin.
        tools.explain(name).is_visible()
            || name.starts_with("agent:") && tools.tools().any(|def| def.origin_text() == *name)
    };
    pins.iter().map(|pin| &pin.skill).filter(move |skill| {
        skill.required_tools.iter().all(has_tool) && skill.env.iter().all(|name| has_variable(name))
    })
}

/// Lists skills for a model, each on a line with its name and description. Each sequence of white space in a description becomes a space.
pub fn prompt<'a>(skills: impl IntoIterator<Item = &'a SkillVersion>) -> String {
    let mut text = String::new();
    for skill in skills {
        let words = skill.description.split_whitespace();
        let description = words.collect::<Vec<_>>().join(" ");
        // Writing to a `String` cannot fail.
        let _ = writeln!(text, "- {}: {description}", skill.name);
    }
    text
}
