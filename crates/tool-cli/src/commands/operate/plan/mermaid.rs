//! A run of a plan as a flowchart in the language of Mermaid, <https://mermaid.js.org/syntax/flowchart.html>.

use std::fmt::Write as _;

use tool_core::store::{PlanNodeKind, PlanNodeStatus, PlanRow};

/// Returns the flowchart. Nodes have the ids `n0`, `n1` and so on, because the ids of a plan may be words of the language.
pub(super) fn text(row: &PlanRow) -> String {
    let draft = row.spec.draft();
    let mut text = "flowchart TD\n".to_owned();
    // Writing to a string does not fail.
    for (at, (node, run)) in draft.nodes.iter().zip(&row.nodes).enumerate() {
        let name = if node.label.is_empty() {
            &node.id
        } else {
            &node.label
        };
        let label = format!("\"{}<br/>{}\"", escaped(name), run.status);
        let shape = match node.kind {
            PlanNodeKind::Switch => format!("{{{label}}}"),
            PlanNodeKind::Join | PlanNodeKind::DeliberationFork => format!("(({label}))"),
            _ => format!("[{label}]"),
        };
        let _ = writeln!(text, "    n{at}{shape}:::{}", run.status);
    }
    for edge in &draft.edges {
        let (Some((from, _)), Some((to, _))) = (row.spec.node(&edge.from), row.spec.node(&edge.to))
        else {
            continue;
        };
        let condition = edge.when.as_ref().map(|when| match &when.equals {
            Some(wanted) => format!("{} = {wanted}", when.pointer),
            None => when.pointer.clone(),
        });
        let condition =
            condition.map_or_else(String::new, |text| format!("|\"{}\"|", escaped(&text)));
        let _ = writeln!(text, "    n{from} -->{condition} n{to}");
    }
    for status in PlanNodeStatus::ALL {
        let color = match status {
            PlanNodeStatus::Pending | PlanNodeStatus::Skipped => "#eeeeee",
            PlanNodeStatus::Ready => "#cce5ff",
            PlanNodeStatus::Running => "#fff3bf",
            PlanNodeStatus::Completed => "#d3f9d8",
            PlanNodeStatus::Blocked | PlanNodeStatus::Failed => "#ffc9c9",
        };
        let _ = writeln!(
            text,
            "    classDef {status} fill:{color},stroke:#555555,color:#111111"
        );
    }
    text.trim_end().to_owned()
}

/// Escapes a text of a model, so that it stays in its label: each character except letters, digits and some punctuation is written as a character code.
fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for character in text.chars() {
        if character.is_alphanumeric() || " .,:/_-=()".contains(character) {
            escaped.push(character);
        } else {
            let _ = write!(escaped, "#{};", u32::from(character));
        }
    }
    escaped
}
