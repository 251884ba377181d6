//! What is generated: one tool for each definition that can be typed, however many lines share it.

use crate::names::{self, Names};
use crate::sample::{Function, Line};
use crate::shape::{self, Fault, Property};

/// A definition of the sample.
#[derive(Debug)]
pub struct Definition {
    /// As the leaderboard has it.
    pub function: Function,
    /// Part of the leaderboard where it comes first.
    pub category: String,
    /// Lines (counted from zero) whose call is of this function.
    pub lines: Vec<usize>,
    /// The tool, or why there is none.
    pub tool: Result<Tool, Vec<Fault>>,
}

/// A tool to generate.
#[derive(Debug)]
pub struct Tool {
    /// Its name.
    pub name: String,
    /// Its parameters.
    pub parameters: Vec<Property>,
}

/// Groups the lines by definition, in order of appearance, and names the tools.
pub fn plan(lines: &[Line]) -> Vec<Definition> {
    let mut names = Names::default();
    let mut definitions: Vec<Definition> = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let known = definitions
            .iter_mut()
            .find(|definition| definition.function == line.function);
        if let Some(definition) = known {
            definition.lines.push(at);
            continue;
        }
        let function = line.function.clone();
        let tool = shape::of_parameters(&function.parameters).map(|parameters| Tool {
            name: names.unique(&names::tool(&function.name), "_"),
            parameters,
        });
        definitions.push(Definition {
            function,
            category: line.category.clone(),
            lines: vec![at],
            tool,
        });
    }
    definitions
}
