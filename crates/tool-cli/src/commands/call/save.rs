//! The `--save` option: writes the files of a result into a folder.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use serde::Serialize;
use tool_core::{CallResult, hidden};

use super::files::{self, Content, Found};
use crate::outcome::{Exit, Failure};
use crate::screen::{DIM, GOOD, Screen, WARN, paint};

/// Maximum length of a name in bytes, so that a number can be appended on every file system.
const LONGEST: usize = 200;

/// Maximum number of files with the same name in a folder.
const MOST_OF_ONE_NAME: u32 = 10_000;

/// Names that Windows treats as devices, with any extension. The names with a digit, such as `com1`, are not listed.
const DEVICES: [&str; 4] = ["con", "prn", "aux", "nul"];

/// Creates the folder before the tool runs, because a call whose files cannot be saved should not run.
pub(super) fn prepare(folder: &Path) -> Result<(), Failure> {
    fs::create_dir_all(folder).map_err(|error| {
        Failure::usage(format!(
            "`--save {}`: the folder cannot be created: {error}",
            folder.display()
        ))
        .hint("name a folder, which is created if it does not exist")
    })
}

/// The outcome for one file.
#[derive(Serialize)]
pub(super) struct Saved {
    /// The name that the file should have.
    name: String,
    /// The path that was written.
    path: Option<String>,
    /// The reason why the file was not written, or has a different name.
    problem: Option<String>,
    #[serde(skip)]
    bytes: usize,
    /// Whether writing to the folder failed.
    #[serde(skip)]
    failed: bool,
}

/// Writes the files of a result.
pub(super) fn save(result: &CallResult, folder: &Path) -> Vec<Saved> {
    let files = files::of_result(result).into_iter();
    files
        .map(|file| {
            let name = name(&file, result.name());
            let mut saved = Saved {
                name,
                path: None,
                problem: None,
                bytes: 0,
                failed: false,
            };
            saved.problem = match file.content {
                Content::Bytes(bytes) => {
                    saved.bytes = bytes.len();
                    match write(folder, &saved.name, &bytes) {
                        Ok((path, number)) => {
                            saved.path = Some(path.display().to_string());
                            (number > 1).then(|| format!("a file `{}` already exists", saved.name))
                        }
                        Err(error) => {
                            saved.failed = true;
                            Some(error.to_string())
                        }
                    }
                }
                Content::Address(address) => Some(format!(
                    "it was returned as the address {}",
                    hidden::escape(&address)
                )),
                Content::LeftOut => Some("it is left out because it contains a secret".to_owned()),
                Content::Broken => Some("its data is not base64".to_owned()),
            };
            saved
        })
        .collect()
}

/// Prints the paths of the files.
pub(super) fn tell(all: &[Saved], screen: Screen) {
    if all.is_empty() {
        screen.note(paint(DIM, "the result has no files"));
    }
    for saved in all {
        let problem = saved.problem.as_deref();
        match &saved.path {
            Some(path) => screen.note(format_args!(
                "{} {path} ({}){}",
                paint(GOOD, "saved:"),
                files::size(saved.bytes),
                problem.map_or_else(String::new, |why| format!(
                    " under this name, because {why}"
                ))
            )),
            None => screen.note(format_args!(
                "{} `{}`: {}",
                paint(WARN, "not saved:"),
                saved.name,
                problem.unwrap_or_default()
            )),
        }
    }
}

/// Fails if a file could not be written.
pub(super) fn check(all: &[Saved]) -> Result<(), Failure> {
    let Some(saved) = all.iter().find(|saved| saved.failed) else {
        return Ok(());
    };
    let why = saved.problem.as_deref().unwrap_or_default();
    let text = format!("`{}` cannot be saved: {why}", saved.name);
    let hint = "the tool has run, and running it again may repeat its effect; `--format json` prints files too";
    Err(Failure::of(Exit::Failed, text).hint(hint))
}

/// Writes a file under its name, with a number appended if the name is taken. Returns the path and the number.
/// Overwrites no file and follows no link.
fn write(folder: &Path, name: &str, bytes: &[u8]) -> io::Result<(PathBuf, u32)> {
    let (stem, extension) = split(name);
    for number in 1..=MOST_OF_ONE_NAME {
        let path = folder.join(match number {
            1 => name.to_owned(),
            number => format!("{stem}-{number}{extension}"),
        });
        let mut file = match OpenOptions::new().write(true).create_new(true).open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
            Err(error) => return Err(error),
        };
        if let Err(error) = file.write_all(bytes) {
            drop(file);
            // A partial file would look like a complete file.
            let _ = fs::remove_file(&path);
            return Err(error);
        }
        return Ok((path, number));
    }
    Err(io::Error::new(
        io::ErrorKind::AlreadyExists,
        format!("the folder has {MOST_OF_ONE_NAME} files with this name"),
    ))
}

/// Splits a name before its extension; the extension includes the dot.
fn split(name: &str) -> (&str, &str) {
    match name.rfind('.') {
        // A longer end is part of a sentence, not an extension.
        Some(at) if at > 0 && name.len() - at <= 16 => name.split_at(at),
        _ => (name, ""),
    }
}

/// Returns a safe name for a file: its own name without characters that could select a different folder or mislead a reader. If no characters
/// are left, or the file has no name, the name consists of the name of the tool and the extension of the media type.
fn name(file: &Found, tool: &str) -> String {
    let own = file.name.as_deref().map(safe).unwrap_or_default();
    if !own.is_empty() {
        return own;
    }
    let tool = Some(safe(tool)).filter(|name| !name.is_empty());
    format!(
        "{}.{}",
        tool.as_deref().unwrap_or("file"),
        extension(&file.media_type)
    )
}

/// Returns the last component of a name without invisible characters. Characters that file systems reject become `_`. The result may be empty.
fn safe(name: &str) -> String {
    let last = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let shown = hidden::remove(last);
    let mut safe: String = shown
        .chars()
        .filter(|letter| !letter.is_control())
        .map(|letter| match letter {
            // `:` denotes a stream on Windows.
            ':' | '*' | '?' | '"' | '<' | '>' | '|' => '_',
            letter => letter,
        })
        .collect();
    // A leading dot hides a file, and Windows removes trailing dots and blanks.
    safe = safe
        .trim_start_matches(['.', ' '])
        .trim_end_matches(['.', ' '])
        .to_owned();
    let (stem, extension) = split(&safe);
    let device = stem.split('.').next().unwrap_or_default();
    let device = device.trim_end().to_ascii_lowercase();
    let is_numbered = |prefix: &str| {
        let number = device.strip_prefix(prefix);
        number.is_some_and(|number| number.chars().count() == 1)
    };
    // A command would read a leading `-` as an option.
    let is_taken = DEVICES.contains(&&*device)
        || is_numbered("com")
        || is_numbered("lpt")
        || safe.starts_with('-');
    let before = if is_taken { "_" } else { "" };
    let mut end = stem.len().min(LONGEST - extension.len());
    while !stem.is_char_boundary(end) {
        end -= 1;
    }
    format!("{before}{}{extension}", &stem[..end])
}

/// Returns the file extension of a media type.
fn extension(media_type: &str) -> &'static str {
    let essence = media_type.split(';').next().unwrap_or_default().trim();
    match essence {
        "image/png" => "png",
        "image/jpeg" => "jpg",
        "image/gif" => "gif",
        "image/webp" => "webp",
        "image/svg+xml" => "svg",
        "audio/wav" | "audio/x-wav" => "wav",
        "audio/mpeg" => "mp3",
        "audio/ogg" => "ogg",
        "audio/flac" => "flac",
        "video/mp4" => "mp4",
        "application/pdf" => "pdf",
        "application/json" => "json",
        "application/zip" => "zip",
        "application/xml" | "text/xml" => "xml",
        "text/csv" => "csv",
        "text/html" => "html",
        "text/markdown" => "md",
        text if text.starts_with("text/") => "txt",
        _ => "bin",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_made_safe() {
        for (name, expected) in [
            ("a.png", "a.png"),
            ("../../a.png", "a.png"),
            ("/etc/passwd", "passwd"),
            (r"C:\temp\a.png", "a.png"),
            ("a:b.png", "a_b.png"),
            ("..", ""),
            ("a/", ""),
            (" .bashrc. ", "bashrc"),
            ("a\u{1b}[31m\n\r\0.png", "a[31m.png"),
            ("\u{202e}gnp.exe", "gnp.exe"),
            ("nul.tar.gz", "_nul.tar.gz"),
            ("com1.txt", "_com1.txt"),
            ("common.txt", "common.txt"),
            ("-rf", "_-rf"),
            ("Bericht für Ä.pdf", "Bericht für Ä.pdf"),
        ] {
            assert_eq!(safe(name), expected, "{name:?}");
        }
        let long = safe(&format!("{}.png", "ä".repeat(300)));
        assert!(long.len() <= LONGEST && long.ends_with("ä.png"), "{long}");
    }

    #[test]
    fn file_without_a_name_has_the_name_of_the_tool_and_the_extension_of_its_type() {
        let of = |media_type: &str, name: Option<&str>| {
            let file = Found {
                media_type: media_type.to_owned(),
                name: name.map(str::to_owned),
                content: Content::Broken,
            };
            super::name(&file, "draw")
        };
        assert_eq!(of("image/png", None), "draw.png");
        assert_eq!(of("text/plain; charset=utf-8", Some("..")), "draw.txt");
        assert_eq!(of("application/x-own", None), "draw.bin");
        assert_eq!(of("image/png", Some("chart")), "chart");
    }
}
