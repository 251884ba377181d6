//! Conversion of thrown values to errors with positions in the original code.

use rquickjs::{Ctx, Object, Type, Value};

use super::compile::{Files, Places};
use super::modules::module_of;
use crate::outcome::CodeError;

/// The file name of the code in the engine.
pub(super) const CODE: &str = "code";

/// Length in bytes at which each text of an error is cut.
const LONGEST: usize = 4096;
/// Maximum number of stack lines.
const FRAMES: usize = 12;

/// The positions of the code and of its files.
pub(super) struct Sources<'a> {
    pub(super) code: &'a Places,
    pub(super) files: &'a Files,
    /// The files in the order of the program.
    pub(super) order: &'a [(String, String)],
}

/// Returns the index of a file in the program, or `None` if the program does not contain the file.
pub(super) fn number_of(path: &str, order: &[(String, String)]) -> Option<u16> {
    let place = order.iter().position(|(own, _)| own == path)?;
    u16::try_from(place).ok()
}

/// Converts a thrown value to an error, and returns the error and the index of the file of its position. The index is `None` for a position in the
/// code itself, and if no file is known.
pub(super) fn fault<'js>(
    ctx: &Ctx<'js>,
    thrown: &Value<'js>,
    sources: &Sources<'_>,
) -> (CodeError, Option<u16>) {
    // If memory runs out, `normalize` leaves this value; code cannot throw it.
    if thrown.type_of() == Type::Uninitialized {
        return (CodeError::new("InternalError", "out of memory"), None);
    }
    let Some(object) = thrown.as_object().filter(|object| object.is_error()) else {
        let text = super::global::text_of(ctx, thrown);
        let text = format!("the code threw {}", cut(&text));
        return (CodeError::new("Error", text), None);
    };
    let mut file = None;
    let name = read(ctx, object, "name").unwrap_or_else(|| "Error".to_owned());
    let message = read(ctx, object, "message").unwrap_or_default();
    let mut error = CodeError::new(&cut(&name), cut(&message));
    if let Some(stack) = read(ctx, object, "stack") {
        let (stack, first) = mapped(&stack, sources);
        error.stack = (!stack.is_empty()).then_some(stack);
        if let Some((own, place)) = first {
            error = error.at(Some(place));
            file = own.and_then(|path| number_of(path, sources.order));
        }
    }
    (error, file)
}

/// The file of a position, and the position.
type FilePlace<'a> = (Option<&'a str>, (u32, u32));

/// Returns whether this is the error with which the engine reports that it ran out of memory or that a string is too long.
pub(super) fn is_out_of_memory(error: &CodeError) -> bool {
    error.name == "InternalError" && ["out of memory", "string too long"].contains(&&*error.message)
}

/// Reads a property if it is a string. A getter may run code and throw.
fn read<'js>(ctx: &Ctx<'js>, object: &Object<'js>, key: &str) -> Option<String> {
    if let Ok(value) = object.get::<_, Value<'js>>(key) {
        return Some(value.as_string()?.to_string().unwrap_or_default());
    }
    drop(ctx.catch());
    None
}

/// Maps a stack to positions in the original code, and returns the first position too.
fn mapped<'a>(stack: &str, sources: &Sources<'a>) -> (String, Option<FilePlace<'a>>) {
    let modules: Vec<(String, Option<&str>, &Places)> = [(CODE.to_owned(), None, sources.code)]
        .into_iter()
        .chain(sources.files.iter().map(|(path, file)| {
            let path = path.as_str();
            (module_of(path), Some(path), &file.places)
        }))
        .collect();
    let mut first = None;
    let mut text = String::new();
    for frame in stack.lines().take(FRAMES) {
        let found = modules.iter().find_map(|(module, file, places)| {
            place(frame, module).map(|place| (*file, *places, place))
        });
        let frame = match found {
            Some((file, places, (before, line, column, after))) => {
                let Some((line, column)) = places.original(line, column) else {
                    continue;
                };
                first.get_or_insert((file, (line, column)));
                let name = file.unwrap_or(CODE);
                format!("{before}{name}:{line}:{column}{after}")
            }
            None => frame.to_owned(),
        };
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(frame.trim());
    }
    (cut(&text), first)
}

/// Returns the position in a frame of a module such as `    at f (code:3:7)`, and the text before and after it.
fn place<'f>(frame: &'f str, module: &str) -> Option<(&'f str, u32, u32, &'f str)> {
    let marked = [("(", ":"), (" ", ":")];
    let at = marked.iter().find_map(|(open, colon)| {
        let mark = format!("{open}{module}{colon}");
        frame
            .rfind(&mark)
            .map(|at| (at + open.len(), at + mark.len()))
    });
    let (begin, numbers) = at?;
    let rest = &frame[numbers..];
    let end = rest.find(')').unwrap_or(rest.len());
    let (line, column) = rest[..end].split_once(':').unwrap_or((&rest[..end], "1"));
    Some((
        &frame[..begin],
        line.parse().ok()?,
        column.parse().ok()?,
        &rest[end..],
    ))
}

pub(super) fn cut(text: &str) -> String {
    if text.len() <= LONGEST {
        return text.to_owned();
    }
    let end = (0..=LONGEST).rev().find(|end| text.is_char_boundary(*end));
    format!("{}…", &text[..end.unwrap_or(0)])
}
