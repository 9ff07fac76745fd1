//! State that is saved and restored goes on as if nothing had happened, and what cannot be is refused.

use ninescope_kernel::{BitTable, RandomStream, SectionReader, SectionWriter, Snapshot, SnapshotError};

fn saved(state: &impl Snapshot) -> Vec<u8> {
    let mut bytes = Vec::new();
    state.save(&mut bytes).expect("memory takes everything");
    bytes
}

#[test]
fn a_random_stream_goes_on_where_it_was() {
    let mut stream = RandomStream::new(7, "test", "draws");
    (0..100).for_each(|_| {
        stream.bits();
    });
    let mut again = RandomStream::new(8, "another", "stream");
    again.load(&mut saved(&stream).as_slice()).expect("what was saved");
    assert!((0..100).all(|_| again.bits() == stream.bits()));
}

#[test]
fn a_random_stream_of_zeros_is_refused() {
    let refused = RandomStream::new(7, "test", "draws").load(&mut [0; 32].as_slice());
    assert!(matches!(refused, Err(SnapshotError::Impossible(_))), "{refused:?}");
}

#[test]
fn bits_come_back_and_none_beyond_the_last() {
    for len in [0, 1, 63, 64, 65, 700_000] {
        let mut bits = BitTable::new(len);
        (0..len).filter(|index| index % 3 == 0 || index + 1 == len).for_each(|index| bits.set(index));
        let mut bytes = saved(&bits);
        let mut again = BitTable::new(len);
        again.load(&mut bytes.as_slice()).expect("what was saved");
        assert!((0..len).all(|index| bits.get(index) == again.get(index)), "{len}");
        if !len.is_multiple_of(64) {
            *bytes.last_mut().expect("a byte") |= 0x80;
            assert!(matches!(again.load(&mut bytes.as_slice()), Err(SnapshotError::Impossible(_))), "{len}");
        }
    }
}

#[test]
fn columns_of_any_length_come_back() {
    for len in [0_u32, 1, 4095, 4096, 4097, 20_000] {
        let values: Vec<u32> = (0..len).map(|index| index.wrapping_mul(0x9e37_79b9)).collect();
        let mut bytes = Vec::new();
        let writer: &mut dyn SectionWriter = &mut bytes;
        writer.column(values.iter().copied()).expect("memory takes everything");
        assert_eq!(bytes.len(), values.len() * 4);
        let mut rest = bytes.as_slice();
        let reader: &mut dyn SectionReader = &mut rest;
        let mut again = vec![0_u32; values.len()];
        reader.column(&mut again, |value| value).expect("what was written");
        assert_eq!(again, values);
        assert!(reader.u8().is_err(), "nothing is left");
    }
}
