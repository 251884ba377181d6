//! Server-sent events parser: accepts bytes in pieces of any size, and returns the data of complete events.

/// Collects bytes until an event is complete.
#[derive(Debug, Default)]
pub(super) struct Sse {
    line: Vec<u8>,
    data: Option<String>,
    /// Whether the last byte was a carriage return. A line feed after it belongs to the same line ending.
    returned: bool,
    /// Whether the first line was read. Only the first line may start with a byte order mark.
    begun: bool,
    /// Lines with an unknown field, which do not belong to any event, up to a limit.
    foreign: String,
}

/// The greatest length of [`Sse::foreign`]. Bodies of errors are shorter.
const FOREIGN: usize = 64 << 10;

impl Sse {
    /// Accepts bytes, and calls `each` with the data of every event that they complete. Returns an error of `each`, or `not_utf8` for a line
    /// that is not UTF-8.
    pub(super) fn feed<E>(
        &mut self,
        bytes: &[u8],
        mut each: impl FnMut(&str) -> Result<(), E>,
        not_utf8: impl Fn() -> E,
    ) -> Result<(), E> {
        for byte in bytes {
            let after_return = std::mem::take(&mut self.returned);
            match byte {
                b'\n' if after_return => {}
                b'\n' | b'\r' => {
                    self.returned = *byte == b'\r';
                    let line = std::mem::take(&mut self.line);
                    let line = str::from_utf8(&line).map_err(|_| not_utf8())?;
                    if let Some(data) = self.line(line) {
                        each(&data)?;
                    }
                }
                byte => self.line.push(*byte),
            }
        }
        Ok(())
    }

    /// Reads one line. Returns the data if the line ends an event.
    fn line(&mut self, line: &str) -> Option<String> {
        let line = if std::mem::replace(&mut self.begun, true) {
            line
        } else {
            line.strip_prefix('\u{feff}').unwrap_or(line)
        };
        if line.is_empty() {
            return self.data.take();
        }
        // The data repeats the event's name; comments, ids and retry times are not needed.
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        if field == "data" {
            let value = value.strip_prefix(' ').unwrap_or(value);
            match &mut self.data {
                None => self.data = Some(value.to_owned()),
                Some(data) => {
                    data.push('\n');
                    data.push_str(value);
                }
            }
        } else if !matches!(field, "" | "event" | "id" | "retry")
            && self.foreign.len() + line.len() < FOREIGN
        {
            self.foreign.push_str(line);
            self.foreign.push('\n');
        }
        None
    }

    /// Returns the lines that do not belong to any event: a body that is not a stream.
    pub(super) fn foreign(&self) -> &str {
        &self.foreign
    }

    /// Returns the data of the last event if the stream ended without an empty line after it.
    pub(super) fn rest(&mut self) -> Option<String> {
        let line = std::mem::take(&mut self.line);
        if let Ok(line) = str::from_utf8(&line) {
            self.line(line);
        }
        self.data.take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(pieces: &[&[u8]]) -> Vec<String> {
        let (mut sse, mut events) = (Sse::default(), Vec::new());
        for piece in pieces {
            let fed = sse.feed(
                piece,
                |data| {
                    events.push(data.to_owned());
                    Ok::<_, ()>(())
                },
                || (),
            );
            assert_eq!(fed, Ok(()));
        }
        events.extend(sse.rest());
        events
    }

    #[test]
    fn every_standard_line_ending_is_accepted() {
        for text in [
            "data: a\n\ndata:b\n\n",
            "data: a\r\n\r\ndata: b\r\n\r\n",
            "\u{feff}data: a\r\rdata: b\r\r",
        ] {
            assert_eq!(read(&[text.as_bytes()]), ["a", "b"], "{text:?}");
            let each: Vec<&[u8]> = text.as_bytes().chunks(1).collect();
            assert_eq!(read(&each), ["a", "b"], "{text:?} byte by byte");
        }
    }

    #[test]
    fn event_joins_its_data_lines_and_ignores_other_fields() {
        let text = ": hello\nevent: x\nid: 1\ndata: {\ndata:  }\nretry: 9\n\n\n";
        for text in [text.to_owned(), text.replace('\n', "\r\n")] {
            assert_eq!(read(&[text.as_bytes()]), ["{\n }"]);
            let each: Vec<&[u8]> = text.as_bytes().chunks(1).collect();
            assert_eq!(read(&each), ["{\n }"]);
        }
        assert_eq!(read(&[b"data"]), [""]);
        assert_eq!(read(&[b"data: cut"]), ["cut"]);
    }
}
