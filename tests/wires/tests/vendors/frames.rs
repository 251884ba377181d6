//! An encoder of AWS event stream frames, which have lengths, headers, a payload and checksums.

use serde_json::Value;

/// Encodes the events of a file as frames. Each line of the file contains one event as `{"name":{…}}`.
pub(crate) fn frames(events: &str) -> Vec<u8> {
    let frames = events.lines().map(|line| {
        let event: Value = serde_json::from_str(line).unwrap();
        let (name, payload) = event.as_object().unwrap().iter().next().unwrap();
        frame(name, &payload.to_string())
    });
    frames.flatten().collect()
}

fn frame(event: &str, payload: &str) -> Vec<u8> {
    let mut headers = Vec::new();
    for (name, value) in [
        (":event-type", event),
        (":content-type", "application/json"),
        (":message-type", "event"),
    ] {
        headers.push(u8::try_from(name.len()).unwrap());
        headers.extend(name.as_bytes());
        // Type 7 is a string that is preceded by its length.
        headers.push(7);
        headers.extend(u16::try_from(value.len()).unwrap().to_be_bytes());
        headers.extend(value.as_bytes());
    }
    let length = |length: usize| u32::try_from(length).unwrap().to_be_bytes();
    let mut frame = Vec::new();
    frame.extend(length(12 + headers.len() + payload.len() + 4));
    frame.extend(length(headers.len()));
    frame.extend(checksum(&frame).to_be_bytes());
    frame.extend(headers);
    frame.extend(payload.as_bytes());
    frame.extend(checksum(&frame).to_be_bytes());
    frame
}

/// Returns the CRC-32 that zip and Ethernet use.
fn checksum(bytes: &[u8]) -> u32 {
    let step = |sum: u32, byte: &u8| {
        (0..8).fold(sum ^ u32::from(*byte), |sum, _| {
            (sum >> 1) ^ (0xEDB8_8320 * (sum & 1))
        })
    };
    !bytes.iter().fold(!0, step)
}
