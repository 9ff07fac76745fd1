//! One request as a trace states it, before its time is put in order.

use ninescope_model::{Op, REQUEST_SECTORS_MAX, SECTOR_BYTES};

use crate::LineProblem;

/// The sector no request reaches: beyond it a byte address does not fit 64 bits.
const SECTOR_LIMIT: u64 = 1 << 55;

/// One request of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TraceRecord {
    /// Time as stamped, from the format's own zero [ns].
    pub time_ns: u64,
    /// First sector.
    pub lba: u64,
    /// Sectors; 0 only for [`Op::Flush`].
    pub sectors: u32,
    /// What to do.
    pub op: Op,
    /// Of a write: it asks to be on the media when it completes.
    pub fua: bool,
    /// Whether the trace's bytes did not begin and end with a sector.
    pub is_unaligned: bool,
    /// What tells one volume of the trace from another.
    pub device: u64,
    /// Of a write: the stream that the trace names for it; 0 for none.
    pub stream: u8,
}

impl TraceRecord {
    /// A request of `bytes` from byte `offset`, widened to whole sectors.
    pub fn from_bytes(time_ns: u64, device: u64, offset: u64, bytes: u64, op: Op) -> Result<Self, LineProblem> {
        if bytes == 0 && op != Op::Flush {
            return Err(LineProblem::ZeroSize);
        }
        let end = offset.checked_add(bytes).ok_or(LineProblem::Overflow("address"))?;
        let lba = offset / SECTOR_BYTES;
        let record = Self::from_sectors(time_ns, device, lba, end.div_ceil(SECTOR_BYTES) - lba, op)?;
        let is_unaligned = !(offset.is_multiple_of(SECTOR_BYTES) && bytes.is_multiple_of(SECTOR_BYTES));
        Ok(Self { is_unaligned, ..record })
    }

    /// The same, which asks to be on the media if it is a write.
    pub fn forced(self, fua: bool) -> Self {
        Self { fua: fua && self.op == Op::Write, ..self }
    }

    /// A request of `sectors` from sector `lba`.
    pub fn from_sectors(time_ns: u64, device: u64, lba: u64, sectors: u64, op: Op) -> Result<Self, LineProblem> {
        if sectors == 0 && op != Op::Flush {
            return Err(LineProblem::ZeroSize);
        }
        let count = u32::try_from(sectors).ok().filter(|&count| count <= REQUEST_SECTORS_MAX);
        let count = count.ok_or(LineProblem::Overflow("size"))?;
        if lba.checked_add(sectors).is_none_or(|end| end >= SECTOR_LIMIT) {
            return Err(LineProblem::Overflow("address"));
        }
        Ok(Self { time_ns, lba, sectors: count, op, fua: false, is_unaligned: false, device, stream: 0 })
    }
}
