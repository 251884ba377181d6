//! The plan of the generated code: one tool for each definition that can be typed, even if several lines use the definition.

use crate::names::{self, Names};
use crate::sample::{Function, Line};
use crate::shape::{self, Fault, Property};

/// A definition of the sample.
#[derive(Debug)]
pub struct Definition {
    /// The function as the leaderboard defines it.
    pub function: Function,
    /// The part of the leaderboard in which it occurs first.
    pub category: String,
    /// The lines (counted from zero) that call this function.
    pub lines: Vec<usize>,
    /// The tool, or the reasons why the definition cannot be typed.
    pub tool: Result<Tool, Vec<Fault>>,
}

/// A tool to generate.
#[derive(Debug)]
pub struct Tool {
    /// The name of the tool.
    pub name: String,
    /// The parameters of the tool.
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
