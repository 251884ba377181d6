//! The difference of two texts, by lines.

use std::fmt::Write as _;

/// The number of unchanged lines around a change.
const AROUND: usize = 3;

/// Returns the lines that differ: `-` marks a line of the file, and `+` a line of the new transcript.
pub(crate) fn between(expected: &str, happened: &str) -> String {
    let old: Vec<&str> = expected.lines().collect();
    let new: Vec<&str> = happened.lines().collect();
    // The length of the longest common subsequence of the remaining lines, for each pair of positions.
    let mut common = vec![vec![0_u32; new.len() + 1]; old.len() + 1];
    for i in (0..old.len()).rev() {
        for j in (0..new.len()).rev() {
            common[i][j] = if old[i] == new[j] {
                common[i + 1][j + 1] + 1
            } else {
                common[i + 1][j].max(common[i][j + 1])
            };
        }
    }
    let (mut i, mut j) = (0, 0);
    let mut lines: Vec<(char, &str)> = Vec::new();
    while i < old.len() || j < new.len() {
        if i < old.len() && j < new.len() && old[i] == new[j] {
            lines.push((' ', old[i]));
            (i, j) = (i + 1, j + 1);
        } else if j == new.len() || i < old.len() && common[i + 1][j] >= common[i][j + 1] {
            lines.push(('-', old[i]));
            i += 1;
        } else {
            lines.push(('+', new[j]));
            j += 1;
        }
    }
    let mut text = String::new();
    let mut is_cut = false;
    for (at, (mark, line)) in lines.iter().enumerate() {
        let near = &lines[at.saturating_sub(AROUND)..(at + AROUND + 1).min(lines.len())];
        if near.iter().any(|(mark, _)| *mark != ' ') {
            let _ = writeln!(text, "{mark} {line}");
            is_cut = false;
        } else if !is_cut {
            text.push_str("  …\n");
            is_cut = true;
        }
    }
    text
}

#[test]
fn difference_shows_changed_lines_and_their_surroundings() {
    let lines: Vec<String> = (0..20).map(|line| line.to_string()).collect();
    let old = lines.join("\n");
    let new = old.replace("\n10\n", "\nten\n");
    let expected = "  …\n  7\n  8\n  9\n- 10\n+ ten\n  11\n  12\n  13\n  …\n";
    assert_eq!(between(&old, &new), expected);
    assert_eq!(between(&old, &old), "  …\n");
}
