//! MD5 (RFC 1321), for `hash_md5` alone: a short name for a text, never a proof of anything.

use std::sync::LazyLock;

const SHIFTS: [[u32; 4]; 4] = [
    [7, 12, 17, 22],
    [5, 9, 14, 20],
    [4, 11, 16, 23],
    [6, 10, 15, 21],
];

/// The digest as 32 lowercase hexadecimal digits.
pub(super) fn hex(input: &[u8]) -> String {
    let mut state = [0x6745_2301u32, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476];
    let (blocks, rest) = input.as_chunks::<64>();
    for block in blocks {
        mix(&mut state, block);
    }
    let mut tail = rest.to_vec();
    tail.push(0x80);
    while tail.len() % 64 != 56 {
        tail.push(0);
    }
    let bits = (input.len() as u64).wrapping_mul(8);
    tail.extend_from_slice(&bits.to_le_bytes());
    for block in tail.as_chunks::<64>().0 {
        mix(&mut state, block);
    }
    let mut text = String::with_capacity(32);
    for byte in state.iter().flat_map(|word| word.to_le_bytes()) {
        for digit in [byte >> 4, byte & 15] {
            text.push(char::from_digit(u32::from(digit), 16).unwrap_or('0'));
        }
    }
    text
}

fn mix(state: &mut [u32; 4], block: &[u8; 64]) {
    let mut words = [0u32; 16];
    for (word, bytes) in words.iter_mut().zip(block.as_chunks::<4>().0) {
        *word = u32::from_le_bytes(*bytes);
    }
    let [mut a, mut b, mut c, mut d] = *state;
    for step in 0..64usize {
        let (mixed, word) = match step / 16 {
            0 => ((b & c) | (!b & d), step),
            1 => ((d & b) | (!d & c), 5 * step + 1),
            2 => (b ^ c ^ d, 3 * step + 5),
            _ => (c ^ (b | !d), 7 * step),
        };
        let sum = a
            .wrapping_add(mixed)
            .wrapping_add(CONSTANTS[step])
            .wrapping_add(words[word % 16]);
        a = d;
        d = c;
        c = b;
        b = b.wrapping_add(sum.rotate_left(SHIFTS[step / 16 % 4][step % 4]));
    }
    for (word, value) in state.iter_mut().zip([a, b, c, d]) {
        *word = word.wrapping_add(value);
    }
}

/// `floor(2^32 * |sin(step + 1)|)`, as the RFC defines its table.
static CONSTANTS: LazyLock<[u32; 64]> = LazyLock::new(|| {
    std::array::from_fn(|step| {
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let constant = ((step as f64 + 1.0).sin().abs() * 4_294_967_296.0) as u32;
        constant
    })
});

#[cfg(test)]
mod tests {
    use super::hex;

    #[test]
    fn digests_of_the_rfc() {
        for (input, digest) in [
            ("", "d41d8cd98f00b204e9800998ecf8427e"),
            ("a", "0cc175b9c0f1b6a831c399e269772661"),
            ("abc", "900150983cd24fb0d6963f7d28e17f72"),
            ("message digest", "f96b697d7cb7938d525a2f31aaf161d0"),
            (
                "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
                "d174ab98d277d9f5a5611c2c9f419d9f",
            ),
            (
                "12345678901234567890123456789012345678901234567890123456789012345678901234567890",
                "57edf4a22be3c955ac49da2e2107b67a",
            ),
        ] {
            assert_eq!(hex(input.as_bytes()), digest);
        }
    }
}
