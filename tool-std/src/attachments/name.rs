//! Names of stored files.

/// Maximum length of a file name without its extension, in characters.
const MOST_STEM: usize = 64;

/// Maximum length of the extension of a file name, in characters.
const MOST_ENDING: usize = 16;

/// Returns the safe stem and the extension of a file name, without everything up to the last `/` or `\`. In the stem, each group of characters other
/// than ASCII letters, digits and `_` becomes a `-`, or is removed at either end. An empty stem becomes `file`. The extension becomes lower case,
/// and is empty unless it consists of ASCII letters and digits. Both are cut to their maximum lengths.
pub(super) fn safe(name: &str) -> (String, String) {
    let name = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let (stem, ending) = match name.rsplit_once('.') {
        Some((stem, ending)) if ending.chars().all(|letter| letter.is_ascii_alphanumeric()) => {
            (stem, ending)
        }
        _ => (name, ""),
    };
    let mut kept = String::new();
    for letter in stem.chars() {
        if letter.is_ascii_alphanumeric() || letter == '_' {
            kept.push(letter);
        } else if !kept.is_empty() && !kept.ends_with('-') {
            kept.push('-');
        }
    }
    kept.truncate(MOST_STEM);
    let kept = kept.trim_end_matches('-');
    let stem = if kept.is_empty() { "file" } else { kept };
    let ending: String = ending.chars().take(MOST_ENDING).collect();
    (stem.to_owned(), ending.to_ascii_lowercase())
}

/// Returns the name of a file with its number, such as `report-2.pdf`. The file with the number 1 has no number in its name.
pub(super) fn numbered(stem: &str, ending: &str, number: u32) -> String {
    let number = if number > 1 {
        format!("-{number}")
    } else {
        String::new()
    };
    let dot = if ending.is_empty() { "" } else { "." };
    format!("{stem}{number}{dot}{ending}")
}

#[cfg(test)]
mod tests {
    use super::{numbered, safe};

    #[test]
    fn unsafe_characters_of_a_file_name_are_replaced() {
        for (name, expected) in [
            ("Q3 report.PDF", "Q3-report.pdf"),
            ("../../etc/passwd", "passwd"),
            (r"C:\Users\ann\a.txt", "a.txt"),
            ("..", "file"),
            (".env", "file.env"),
            ("", "file"),
            ("報告.pdf", "file.pdf"),
            ("a\0b\n.txt", "a-b.txt"),
            ("a.b.tar gz", "a-b-tar-gz"),
        ] {
            let (stem, ending) = safe(name);
            assert_eq!(numbered(&stem, &ending, 1), expected, "{name:?}");
        }
        let (stem, ending) = safe(&format!("{}.{}", "a".repeat(300), "b".repeat(300)));
        assert_eq!((stem.len(), ending.len()), (64, 16));
        assert_eq!(numbered("a", "txt", 2), "a-2.txt");
    }
}
