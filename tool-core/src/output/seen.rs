//! Collects the files of an output while the output is serialized, so that the model sees the files instead of reading base64.
//!
//! An [`Image`](crate::Image), a [`Part`] and similar types register themselves when they are serialized while an output [is watched](watch).
//! This finds files anywhere in types of any crate, without an annotation by the author. An output without files costs only a few more instructions.

use std::cell::{Cell, RefCell};

use memchr::memmem;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::model::{Content, ModelOutput, Named, Part, Source};
use crate::error::ToolError;
use crate::json::quote;

/// Whether this thread is writing an output, and whether the output has files.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Watch {
    /// The thread writes no output.
    Off,
    /// The thread writes an output, without a file so far.
    Empty,
    /// The thread writes an output, and the files are in [`FILES`].
    Noted,
}

thread_local! {
    // The state is separate from the files: a `Cell` without a destructor costs a few instructions per call, but a list with a destructor costs 200.
    static WATCH: Cell<Watch> = const { Cell::new(Watch::Off) };
    static FILES: RefCell<Vec<Part>> = const { RefCell::new(Vec::new()) };
}

/// Registers a file that is being written. Returns whether an output is being written.
pub(super) fn note(part: impl FnOnce() -> Part) -> bool {
    match WATCH.get() {
        Watch::Off => return false,
        Watch::Empty => {
            FILES.set(vec![part()]);
            WATCH.set(Watch::Noted);
        }
        Watch::Noted => FILES.with_borrow_mut(|files| files.push(part())),
    }
    true
}

/// Collects the files of the output that this thread writes, until the guard is dropped.
pub(crate) struct CollectFiles {
    outer: Option<Outer>,
}

/// The state of an enclosing output. A `Serialize` impl may run a tool, and the files of that tool do not belong to the enclosing output.
type Outer = Box<(Watch, Vec<Part>)>;

/// Starts to collect the files that are written.
#[inline]
pub(crate) fn watch() -> CollectFiles {
    let before = WATCH.replace(Watch::Empty);
    let outer = (before != Watch::Off).then(|| Box::new((before, FILES.take())));
    CollectFiles { outer }
}

impl Drop for CollectFiles {
    #[inline]
    fn drop(&mut self) {
        if WATCH.replace(Watch::Off) == Watch::Noted || self.outer.is_some() {
            resume(self.outer.take());
        }
    }
}

#[cold]
fn resume(outer: Option<Outer>) {
    let (watch, files) = outer.map_or((Watch::Off, Vec::new()), |outer| *outer);
    FILES.set(files);
    WATCH.set(watch);
}

/// Returns whether the output that is being written has files so far.
#[inline]
pub(crate) fn has_files() -> bool {
    WATCH.get() == Watch::Noted
}

/// Returns the model output for the last written output, if that output has files: the tool's own model output, or a model output that is built from
/// the files.
#[cold]
pub(crate) fn model(
    payload: &RawValue,
    view: Option<ModelOutput>,
) -> Result<ModelOutput, ToolError> {
    let files = FILES.take();
    match view {
        Some(view) => Ok(view.with_files(payload, files)),
        None => shown(payload, files).proven(),
    }
}

/// Builds the model output of a payload with files: texts and files in their order if the payload contains nothing else, else the payload as
/// JSON that names the files, followed by the files.
fn shown(payload: &RawValue, files: Vec<Part>) -> ModelOutput {
    let (mut slots, mut at) = (Vec::new(), 0);
    if slots_of(payload, &files, &mut at, &mut slots) && at == files.len() {
        let mut files = files.into_iter();
        let parts = slots.into_iter().filter_map(|slot| match slot {
            Slot::Text(text) => Some(Part::text(text)),
            Slot::File => files.next(),
        });
        return ModelOutput::parts(parts.collect::<Vec<_>>());
    }
    let Named { text, files } = named(payload, files);
    ModelOutput::parts(behind(text, files))
}

/// Builds the model output of a payload with files. The model reads at most `limit` bytes of the payload at a time, and sees all files.
pub(crate) fn bounded(payload: &RawValue, files: Vec<Part>, limit: usize) -> ModelOutput {
    ModelOutput(Content::Bounded(
        limit,
        Some(Box::new(named(payload, files))),
    ))
}

/// Returns a text followed by files. Several files are numbered, because the text refers to them by their numbers.
pub(crate) fn behind(text: String, files: Vec<Part>) -> Vec<Part> {
    let several = files.len() > 1;
    let mut parts = vec![Part::text(text)];
    for (at, file) in files.into_iter().enumerate() {
        if several {
            parts.push(Part::text(format!("file {}:", at + 1)));
        }
        parts.push(file);
    }
    parts
}

/// Returns the payload as text in which each file is named by its number, and the files in the order of their numbers.
fn named(payload: &RawValue, files: Vec<Part>) -> Named {
    let mut number = 0;
    let (text, places) = replaced(payload.get(), &files, |_| {
        number += 1;
        format!("[file {number}]")
    });
    // A `Serialize` impl can register a file without writing it into the output. The payload does not contain such a file.
    let mut files: Vec<Option<Part>> = files.into_iter().map(Some).collect();
    let mut ordered: Vec<Part> = places
        .iter()
        .filter_map(|at| files.get_mut(*at)?.take())
        .collect();
    // These files are written as URLs in the JSON.
    let at_address = |file: &Part| {
        matches!(
            file,
            Part::File {
                source: Source::Url(_),
                ..
            }
        )
    };
    ordered.extend(files.into_iter().flatten().filter(at_address));
    Named {
        text,
        files: ordered,
    }
}

/// Returns the payload with a line in place of each file's bytes; `None` if it has no such bytes.
pub(crate) fn without_bytes(payload: &str, parts: &[Part]) -> Option<String> {
    if parts.is_empty() {
        return None;
    }
    let (text, places) = replaced(payload, parts, |part| match part {
        Part::File {
            media_type, source, ..
        } => format!("[{media_type}, {} bytes]", source.size()),
        Part::Text { .. } => String::new(),
    });
    (!places.is_empty()).then_some(text)
}

/// Returns the payload with `why` in place of the bytes of certain files; `None` if it has no such bytes.
pub(crate) fn without(payload: &str, parts: &[Part], why: &str) -> Option<String> {
    if parts.is_empty() {
        return None;
    }
    let (text, places) = replaced(payload, parts, |_| why.to_owned());
    (!places.is_empty()).then_some(text)
}

/// Replaces the bytes of files in a JSON text: the value of a key `base64` that equals the base64 text of a file, or a `data:` URL with that text.
/// Also returns the indices of the files that were found, in the order of the text.
fn replaced(
    text: &str,
    files: &[Part],
    mut stand_in: impl FnMut(&Part) -> String,
) -> (String, Vec<usize>) {
    let mut found: Vec<(usize, usize, usize)> = Vec::new();
    let mut from = 0;
    for (at, file) in files.iter().enumerate() {
        let Part::File {
            source: Source::Base64(data),
            ..
        } = file
        else {
            continue;
        };
        // Files are registered in the order in which they are written, so the search continues after the last one.
        let free = |place: &(usize, usize)| found.iter().all(|(start, ..)| *start != place.0);
        let place = string_of(text, data, from).or_else(|| string_of(text, data, 0));
        if let Some((start, end)) = place.filter(free) {
            found.push((start, end, at));
            from = end;
        }
    }
    found.sort_unstable();
    let (mut out, mut from) = (String::with_capacity(text.len().min(4096)), 0);
    for (start, end, at) in &found {
        out.push_str(&text[from..*start]);
        quote(&mut out, &stand_in(&files[*at]));
        from = *end;
    }
    out.push_str(&text[from..]);
    (out, found.into_iter().map(|(.., at)| at).collect())
}

/// Returns the position of the base64 text of a file in a JSON text: as the value of a key `base64`, or at the end of a `data:` URL. The position
/// includes the quotes.
fn string_of(text: &str, data: &str, from: usize) -> Option<(usize, usize)> {
    const SCHEME: &str = "\"data:";
    let rest = &text[from..];
    memmem::find_iter(rest.as_bytes(), data).find_map(|at| {
        let (start, end) = (from + at, from + at + data.len());
        if !text[end..].starts_with('"') {
            return None;
        }
        let before = &text[..start];
        // Stores write a `Part` in this form.
        if before.ends_with(r#""base64":""#) {
            return Some((start - 1, end + 1));
        }
        // A media type is short and has no unescaped quote.
        let opened = before
            .ends_with(";base64,")
            .then(|| before.rfind(SCHEME))
            .flatten()?;
        (start - opened < 300).then_some((opened, end + 1))
    })
}

/// A part of a model output. Files are taken in their order.
enum Slot {
    Text(String),
    File,
}

/// Splits a payload that contains only texts, files and null, directly or in lists. Returns false for any other payload.
fn slots_of(payload: &RawValue, files: &[Part], at: &mut usize, slots: &mut Vec<Slot>) -> bool {
    let text = payload.get();
    match text.as_bytes().first() {
        Some(b'"') => {
            let Ok(text) = serde_json::from_str(text) else {
                return false;
            };
            slots.push(Slot::Text(text));
            true
        }
        Some(b'[') => serde_json::from_str::<Vec<&RawValue>>(text).is_ok_and(|items| {
            items
                .into_iter()
                .all(|item| slots_of(item, files, at, slots))
        }),
        Some(b'{') => {
            let is_next = files.get(*at).is_some_and(|file| is_file(text, file));
            if is_next {
                slots.push(Slot::File);
                *at += 1;
            }
            is_next
        }
        // An optional file may be `null`.
        Some(b'n') => true,
        _ => false,
    }
}

/// Returns whether an object is exactly this file.
fn is_file(text: &str, file: &Part) -> bool {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase", deny_unknown_fields)]
    struct Shape<'a> {
        r#type: &'a str,
        #[serde(borrow)]
        media_type: std::borrow::Cow<'a, str>,
        #[serde(default, rename = "filename")]
        _filename: Option<serde::de::IgnoredAny>,
        #[serde(borrow)]
        url: std::borrow::Cow<'a, str>,
    }
    let (
        Part::File {
            media_type, source, ..
        },
        Ok(shape),
    ) = (file, serde_json::from_str::<Shape<'_>>(text))
    else {
        return false;
    };
    let same = match source {
        Source::Url(url) => shape.url == *url,
        Source::Base64(data) => shape.url.ends_with(data.as_str()),
    };
    shape.r#type == "file" && shape.media_type == *media_type && same
}
