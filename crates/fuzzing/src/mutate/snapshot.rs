//! Changes of a snapshot: damage, which its checks must find, and changes of what its sections hold under checks that are
//! right again.

use super::Rng;
use super::bytes::{bits, splice};
use super::document::json;

/// A section: its name and what it holds.
type Section = (Vec<u8>, Vec<u8>);

/// Magic and format.
const HEAD_BYTES: usize = 12;
/// Bytes of a block, and of all that is unpacked, at most.
const BLOCK_BYTES: usize = 1 << 19;
const CONTENT_MAX: usize = 1 << 22;

/// A changed snapshot.
pub fn snapshot(rng: &mut Rng, input: &[u8], other: &[u8]) -> Vec<u8> {
    match rng.below(8) {
        0 => return bits(rng, input),
        1 => return input[..rng.below(input.len())].to_vec(),
        2 => return splice(rng, input, other),
        _ => {}
    }
    let Some(mut sections) = unpacked(input) else { return bits(rng, input) };
    if sections.is_empty() {
        return bits(rng, input);
    }
    let chosen = rng.below(sections.len());
    match rng.below(12) {
        0 => drop(sections.remove(chosen)),
        1 => sections.swap(0, chosen),
        2 => {
            let section = sections[chosen].clone();
            sections.insert(chosen, section);
        }
        3 => sections[chosen].0 = bits(rng, &sections[chosen].0),
        4 => {
            if let Some(others) = unpacked(other).filter(|others| !others.is_empty()) {
                sections[chosen] = rng.pick(&others).clone();
            }
        }
        5 => sections[0].1 = json(rng, &sections[0].1, &sections[0].1),
        6 => sections[chosen].1 = bits(rng, &sections[chosen].1),
        _ => numbers(rng, &mut sections[chosen].1),
    }
    packed(&input[..HEAD_BYTES], &sections)
}

/// Some little-endian numbers changed, the length being the same.
fn numbers(rng: &mut Rng, content: &mut [u8]) {
    for _ in 0..=rng.below(3) {
        let width = *rng.pick(&[1, 4, 4, 8]);
        let Some(room) = content.len().checked_sub(width) else { return };
        let at = rng.below(room + 1);
        let bytes = &mut content[at..at + width];
        let mut number = [0; 8];
        number[..width].copy_from_slice(bytes);
        let number = u64::from_le_bytes(number);
        let changed = match rng.below(5) {
            0 => number.wrapping_add(1),
            1 => number.wrapping_sub(1),
            2 => u64::MAX,
            3 => rng.bits() >> rng.below(64),
            _ => number ^ 1 << rng.below(width * 8),
        };
        bytes.copy_from_slice(&changed.to_le_bytes()[..width]);
    }
}

/// The sections as far as the file is one, whatever its checks say.
fn unpacked(input: &[u8]) -> Option<Vec<Section>> {
    let mut rest = input.get(HEAD_BYTES + 4..)?;
    let mut take = |len: usize| {
        let (taken, after) = rest.split_at_checked(len)?;
        rest = after;
        Some(taken)
    };
    let mut sections: Vec<Section> = Vec::new();
    let mut bytes_in_all = 0;
    loop {
        let len = take(1)?[0];
        if len == 0 {
            return Some(sections);
        }
        let name = take(usize::from(len))?.to_vec();
        take(4)?;
        let mut content = Vec::new();
        loop {
            let lengths = take(8)?;
            let length = |bytes: &[u8]| u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]) as usize;
            let (bytes, stored) = (length(lengths), length(&lengths[4..]));
            let block = take(stored)?;
            take(4)?;
            if bytes == 0 {
                break;
            }
            bytes_in_all += bytes;
            if bytes > BLOCK_BYTES || bytes_in_all > CONTENT_MAX {
                return None;
            }
            if stored == bytes {
                content.extend_from_slice(block);
            } else {
                content.extend(zstd::bulk::decompress(block, bytes).ok()?);
            }
        }
        sections.push((name, content));
    }
}

/// A file of these sections, stored as they are.
fn packed(head: &[u8], sections: &[Section]) -> Vec<u8> {
    let (mut file, mut checked) = (Vec::new(), crc32fast::Hasher::new());
    let mut put = |pieces: &[&[u8]]| {
        for piece in pieces {
            checked.update(piece);
            file.extend_from_slice(piece);
        }
        file.extend_from_slice(&checked.clone().finalize().to_le_bytes());
    };
    put(&[head]);
    for (name, content) in sections {
        let name = &name[..name.len().min(255)];
        put(&[&[name.len() as u8], name]);
        for block in content.chunks(BLOCK_BYTES) {
            let length = (block.len() as u32).to_le_bytes();
            put(&[&length, &length, block]);
        }
        put(&[&[0; 8]]);
    }
    put(&[&[0]]);
    file
}
