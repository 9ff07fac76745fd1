//! Changes of a compressed file, and of what is inside it.

use std::io::{Read, Write};

use lzma_rust2::{XzOptions, XzReader, XzWriter};

use super::Rng;
use super::bytes::{bits, splice, trace};

/// What is taken out of an archive at most [bytes].
const CONTENT_MAX: u64 = 1 << 16;
/// What taking it out may need [KiB].
const XZ_MEMORY_KIB: u32 = 160 * 1024;

/// A changed archive: damaged, cut, joined with another, or sound with changed content.
pub fn archive(rng: &mut Rng, input: &[u8], other: &[u8]) -> Vec<u8> {
    match rng.below(6) {
        0 => bits(rng, input),
        1 => input[..rng.below(input.len())].to_vec(),
        2 => splice(rng, input, other),
        // Several members in one file.
        3 => [input, other].concat(),
        _ => {
            let (content, changed_by) = (content(input), content(other));
            let changed = trace(rng, &content, &changed_by);
            pack(rng, &changed)
        }
    }
}

/// The content as far as it can be read; the input itself where it is no archive.
fn content(input: &[u8]) -> Vec<u8> {
    let mut content = Vec::new();
    let read = if input.starts_with(&[0x1f, 0x8b]) {
        flate2::read::MultiGzDecoder::new(input).take(CONTENT_MAX).read_to_end(&mut content)
    } else if input.starts_with(b"BZh") {
        bzip2::read::MultiBzDecoder::new(input).take(CONTENT_MAX).read_to_end(&mut content)
    } else if input.starts_with(b"\xfd7zXZ") {
        XzReader::new_mem_limit(input, true, XZ_MEMORY_KIB).take(CONTENT_MAX).read_to_end(&mut content)
    } else {
        zstd::stream::read::Decoder::new(input).and_then(|decoder| decoder.take(CONTENT_MAX).read_to_end(&mut content))
    };
    if read.is_err() && content.is_empty() { input.to_vec() } else { content }
}

/// The content compressed in one of the ways.
fn pack(rng: &mut Rng, content: &[u8]) -> Vec<u8> {
    if rng.one_in(2) {
        return zstd::bulk::compress(content, 1).unwrap_or_default();
    }
    if rng.one_in(3) {
        let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
        return encoder.write_all(content).and_then(|()| encoder.finish()).unwrap_or_default();
    }
    if rng.one_in(2) {
        let encoder = XzWriter::new(Vec::new(), XzOptions::with_preset(0));
        let packed = encoder.and_then(|mut encoder| encoder.write_all(content).and_then(|()| encoder.finish()));
        return packed.unwrap_or_default();
    }
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(content).and_then(|()| encoder.finish()).unwrap_or_default()
}
