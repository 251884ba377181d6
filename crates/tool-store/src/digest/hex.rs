//! Hex encoding of bytes and numbers.

/// Returns the 16 hex digits of a number.
pub fn hex_number(number: u64) -> [u8; 16] {
    let mut digits = [0; 16];
    write_hex(&number.to_be_bytes(), &mut digits);
    digits
}

/// Writes bytes as hex. Each audit row has several hex fields, and formatting byte by byte costs more than the hash itself. Without a
/// lookup table the compiler vectorizes this loop.
#[inline]
pub(super) fn write_hex(bytes: &[u8], digits: &mut [u8]) {
    let digit = |nibble: u8| nibble + if nibble < 10 { b'0' } else { b'a' - 10 };
    for (pair, byte) in digits.as_chunks_mut().0.iter_mut().zip(bytes) {
        *pair = [digit(byte >> 4), digit(byte & 15)];
    }
}

#[cfg(test)]
mod tests {
    use super::hex_number;

    #[test]
    fn a_number_has_sixteen_digits() {
        for number in [0, 1, 0x0123_4567_89ab_cdef, u64::MAX] {
            assert_eq!(hex_number(number), *format!("{number:016x}").as_bytes());
        }
    }
}
