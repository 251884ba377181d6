//! The text of a file, and windows of it.
//!
//! A file is read once from beginning to end, in pieces; each piece is checked to be text and its lines are counted. A short file is kept in
//! memory. Of a longer file, only the parts that are needed are read again, so a long file costs time but not memory.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};

use memchr::{memchr_iter, memrchr_iter};

/// Number of bytes that are read at once. They stay in the processor's cache between the copy, the check and the count of lines.
const PIECE: usize = 256 << 10;

/// Number of bytes of a window that are read at first; its lines are usually within them.
const GLANCE: usize = 64 << 10;

/// Number of bytes that are searched for a NUL byte, which text does not contain and binary files usually contain near their beginning.
const LOOKED_AT: usize = 8 << 10;

/// A file that was read from beginning to end.
pub(super) struct Text {
    held: Held,
    /// The offset of each piece, and the number of lines that end before it.
    pieces: Vec<(u64, u64)>,
    /// Size of the file in bytes.
    pub(super) size: u64,
    /// Number of lines, including text after the last line end.
    pub(super) lines: u64,
}

/// The part of a file that is in memory.
enum Held {
    All(String),
    /// The file, some bytes of it, and the offset of the first of these bytes.
    Some(File, Vec<u8>, u64),
}

/// The reason why a file cannot be read as text.
pub(super) enum Unreadable {
    Io(io::Error),
    /// The file contains a NUL byte in its first [`LOOKED_AT`] bytes.
    Binary,
    /// The file is not valid UTF-8 at this offset, or the offset is within a character.
    Encoding(u64),
    /// The file is longer than this many bytes.
    Long(u64),
    /// The call was cancelled.
    Cancelled,
}

impl From<io::Error> for Unreadable {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl Text {
    /// Reads the whole file, up to `most` bytes, and keeps it in memory if it has at most `kept` bytes.
    pub(super) fn read(
        mut file: File,
        expected: u64,
        most: u64,
        kept: usize,
        cancelled: impl Fn() -> bool,
    ) -> Result<Self, Unreadable> {
        if expected > most {
            return Err(Unreadable::Long(most));
        }
        // For a file that is kept, the buffer has one byte more than the expected size, so that the read reaches the end of the file.
        let room = usize::try_from(expected).ok().filter(|size| *size <= kept);
        let room = room.map_or(PIECE, |size| size + 1);
        let mut buffer = Vec::with_capacity(room);
        (&file).take(room as u64).read_to_end(&mut buffer)?;
        let mut held = buffer.len();
        let mut ended = held < room;
        if memchr::memchr(0, &buffer[..held.min(LOOKED_AT)]).is_some() {
            return Err(Unreadable::Binary);
        }
        if ended && held <= kept {
            let all = String::from_utf8(buffer);
            let all =
                all.map_err(|error| Unreadable::Encoding(error.utf8_error().valid_up_to() as u64))?;
            let lines = newlines(all.as_bytes());
            return Ok(Self {
                pieces: vec![(0, 0)],
                size: all.len() as u64,
                lines: lines + u64::from(!all.is_empty() && !all.ends_with('\n')),
                held: Held::All(all),
            });
        }
        let (mut at, mut lines, mut pieces) = (0, 0, Vec::new());
        let mut last = b'\n';
        loop {
            if at + held as u64 > most {
                return Err(Unreadable::Long(most));
            }
            let bytes = &buffer[..held];
            let whole = whole_characters(bytes).map_err(|bad| Unreadable::Encoding(at + bad))?;
            pieces.push((at, lines));
            lines += newlines(&bytes[..whole]);
            last = *bytes[..whole].last().unwrap_or(&last);
            if ended && whole < held {
                return Err(Unreadable::Encoding(at + whole as u64));
            }
            if ended {
                break;
            }
            if cancelled() {
                return Err(Unreadable::Cancelled);
            }
            // Keep the beginning of a character whose other bytes follow.
            buffer.copy_within(whole..held, 0);
            held -= whole;
            at += whole as u64;
            if buffer.len() < PIECE {
                buffer.resize(PIECE, 0);
            }
            held += fill(&mut file, &mut buffer[held..])?;
            ended = held < buffer.len();
        }
        buffer.truncate(held);
        Ok(Self {
            size: at + held as u64,
            lines: lines + u64::from(last != b'\n'),
            held: Held::Some(file, buffer, at),
            pieces,
        })
    }

    /// Returns the whole text.
    pub(super) fn into_string(mut self) -> Result<String, Unreadable> {
        let size = as_length(self.size);
        match self.held {
            Held::All(text) => Ok(text),
            Held::Some(..) => {
                let bytes = self.bytes(0, size)?.to_vec();
                String::from_utf8(bytes).map_err(|_| Unreadable::Encoding(0))
            }
        }
    }

    /// Returns the number of the line that the byte at `offset` is in.
    pub(super) fn line_at(&mut self, offset: u64) -> Result<u64, Unreadable> {
        let offset = offset.min(self.size);
        let piece = self.pieces.partition_point(|(at, _)| *at <= offset);
        let Some(&(at, before)) = piece
            .checked_sub(1)
            .and_then(|piece| self.pieces.get(piece))
        else {
            return Ok(1);
        };
        let bytes = self.bytes(at, as_length(offset - at))?;
        Ok(before + newlines(bytes) + 1)
    }

    /// Returns the offset at which a line begins; lines are counted from 1. For a line that the file does not have, returns the size of the file.
    pub(super) fn start_of(&mut self, line: u64) -> Result<u64, Unreadable> {
        let before = line.saturating_sub(1);
        if before == 0 {
            return Ok(0);
        }
        if line > self.lines {
            return Ok(self.size);
        }
        let piece = self.pieces.partition_point(|(_, lines)| *lines < before);
        let Some(&(at, lines)) = piece
            .checked_sub(1)
            .and_then(|piece| self.pieces.get(piece))
        else {
            return Ok(0);
        };
        let end = self.pieces.get(piece).map_or(self.size, |(at, _)| *at);
        let nth = as_length(before - lines - 1);
        let bytes = self.bytes(at, as_length(end - at))?;
        let newline = memchr_iter(b'\n', bytes).nth(nth);
        Ok(newline.map_or(self.size, |newline| at + newline as u64 + 1))
    }

    /// Returns the offset of the first line that begins at `offset` or later; if no line begins there, the offset of the first whole character.
    pub(super) fn line_within(&mut self, offset: u64) -> Result<u64, Unreadable> {
        let rest = as_length(self.size - offset);
        let bytes = self.bytes(offset.saturating_sub(1), rest + 1)?;
        let skipped = match memchr::memchr(b'\n', bytes) {
            Some(newline) if newline + 1 < bytes.len() => newline,
            _ => bytes
                .iter()
                .skip(1)
                .take_while(|byte| is_inside(**byte))
                .count(),
        };
        Ok(offset + skipped as u64)
    }

    /// Returns whole characters from `offset` on, up to `lines` lines and `most` bytes. If the last line would exceed `most`, it is left for the next
    /// window; only a first line that is longer than `most` is cut.
    pub(super) fn window(
        &mut self,
        offset: u64,
        lines: usize,
        most: usize,
    ) -> Result<String, Unreadable> {
        let size = self.size;
        let mut glance = most.min(GLANCE);
        let end = loop {
            let bytes = self.bytes(offset, glance)?;
            if bytes.first().is_some_and(|byte| is_inside(*byte)) {
                return Err(Unreadable::Encoding(offset));
            }
            match memchr_iter(b'\n', bytes).nth(lines - 1) {
                Some(newline) => break newline + 1,
                None if offset + bytes.len() as u64 >= size => break bytes.len(),
                None if glance < most => glance = most.min(glance.saturating_mul(4)),
                None => match memrchr_iter(b'\n', bytes).next() {
                    Some(newline) => break newline + 1,
                    None => break bytes.len() - cut_character(bytes),
                },
            }
        };
        if let Held::All(text) = &self.held {
            let from = as_length(offset.min(size));
            let window = text.get(from..from + end).map(str::to_owned);
            return window.ok_or(Unreadable::Encoding(offset));
        }
        let window = self.bytes(offset, end)?.to_vec();
        String::from_utf8(window).map_err(|_| Unreadable::Encoding(offset))
    }

    /// Returns `length` bytes from `offset` on, fewer at the end of the file.
    fn bytes(&mut self, offset: u64, length: usize) -> Result<&[u8], Unreadable> {
        let offset = offset.min(self.size);
        let wanted = length.min(as_length(self.size - offset));
        match &mut self.held {
            Held::All(text) => {
                let from = as_length(offset);
                Ok(&text.as_bytes()[from..from + wanted])
            }
            Held::Some(file, held, at) => {
                if offset < *at || offset + wanted as u64 > *at + held.len() as u64 {
                    file.seek(SeekFrom::Start(offset))?;
                    held.resize(wanted, 0);
                    *at = offset;
                    let read = fill(file, held)?;
                    held.truncate(read);
                    if read < wanted {
                        // The file has become shorter since it was counted.
                        return Err(Unreadable::Io(io::ErrorKind::UnexpectedEof.into()));
                    }
                }
                let from = as_length(offset - *at);
                Ok(&held[from..from + wanted])
            }
        }
    }
}

/// Reads until the buffer is full or the file ends; returns the number of bytes read.
fn fill(file: &mut File, buffer: &mut [u8]) -> io::Result<usize> {
    let mut at = 0;
    while at < buffer.len() {
        match file.read(&mut buffer[at..]) {
            Ok(0) => break,
            Ok(read) => at += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(at)
}

/// Counts the line ends. The bytes are rows of 64 columns, and the loop adds up each column, which the compiler vectorizes; this takes half the time
/// of a search for each newline.
fn newlines(bytes: &[u8]) -> u64 {
    let (rows, rest) = bytes.as_chunks::<64>();
    let mut lines = 0;
    // The sum of a column is one byte, so it can count 255 rows.
    for rows in rows.chunks(255) {
        let mut columns = [0_u8; 64];
        for row in rows {
            for (column, byte) in columns.iter_mut().zip(row) {
                *column += u8::from(*byte == b'\n');
            }
        }
        lines += columns.into_iter().map(u64::from).sum::<u64>();
    }
    lines + memchr_iter(b'\n', rest).count() as u64
}

/// Converts a length; a length beyond `usize::MAX` becomes `usize::MAX`.
fn as_length(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX)
}

/// Returns the number of bytes that form whole characters: all, or all but an incomplete character at the end. The error is the offset of an invalid
/// byte.
fn whole_characters(bytes: &[u8]) -> Result<usize, u64> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Ok(text.len()),
        Err(error) if error.error_len().is_none() => Ok(error.valid_up_to()),
        Err(error) => Err(error.valid_up_to() as u64),
    }
}

/// Returns whether a byte continues a character.
fn is_inside(byte: u8) -> bool {
    byte & 0b1100_0000 == 0b1000_0000
}

/// Returns the number of bytes at the end that belong to an incomplete character.
fn cut_character(bytes: &[u8]) -> usize {
    match std::str::from_utf8(bytes) {
        Ok(_) => 0,
        Err(error) => bytes.len() - error.valid_up_to(),
    }
}

#[cfg(test)]
mod tests {
    use super::newlines;

    // readFile: the number of lines is right for any length of text and any position of line ends
    #[test]
    fn newlines_are_counted_at_every_position() {
        for size in [0, 1, 63, 64, 65, 64 * 255, 64 * 255 + 1, 64 * 600 + 7] {
            assert_eq!(newlines(&vec![b'\n'; size]), size as u64);
            assert_eq!(newlines(&vec![b'\r'; size]), 0);
            for step in [2, 3, 64, 79] {
                let bytes: Vec<u8> = (0..size)
                    .map(|at| if at % step == 0 { b'\n' } else { b'x' })
                    .collect();
                assert_eq!(
                    newlines(&bytes),
                    size.div_ceil(step) as u64,
                    "{size} {step}"
                );
            }
        }
    }
}
