//! The part of a drive that a job works on, and where in it requests can begin.

use ninescope_model::units::Bytes;
use ninescope_model::{Op, SECTOR_BYTES};

use super::{JobConfig, JobError};

/// The places that requests of a direction can begin at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grid {
    /// From one place to the next [sectors].
    pub stride_sectors: u64,
    /// Places; at least one.
    pub places: u64,
}

/// The part of a drive a job works on, as a grid of places a request can begin at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JobRegion {
    /// First sector.
    pub first_sector: u64,
    /// Its length [sectors].
    pub sectors: u64,
    /// Sectors of each request, of the largest where they differ.
    pub request_sectors: u32,
    /// From one place to the next [sectors].
    pub stride_sectors: u64,
    /// Places; at least one.
    pub places: u64,
    /// The grid of random writes, where that of the reads beside them is another one.
    pub of_writes: Option<Grid>,
}

impl JobRegion {
    /// The first sector behind everything the job can touch, where requests differ in size or have one.
    pub fn end_sector(&self, sizes_differ: bool) -> u64 {
        let last_place = self.first_sector + (self.places - 1) * self.stride_sectors;
        if sizes_differ { self.first_sector + self.sectors } else { last_place + u64::from(self.request_sectors) }
    }
}

impl JobConfig {
    /// The same job where its region is laid out in a part of the drive that begins at `begin` [B].
    #[must_use]
    pub fn within(self, begin: u64, region: &JobRegion) -> Self {
        let (first, bytes) = (region.first_sector * SECTOR_BYTES, region.sectors * SECTOR_BYTES);
        let (offset, size) = (Bytes(begin + first), Some(Bytes(bytes)));
        Self { offset, offset_percent: None, size, size_percent: None, ..self }
    }

    /// Where the region begins [B].
    pub(super) fn begin(&self, drive_bytes: u64) -> u64 {
        let Some(percent) = self.offset_percent else { return self.offset.0 };
        // As in fio: of the whole drive, at the next request.
        let share = (drive_bytes as f64 * percent / 100.0) as u64;
        let begin = share.checked_next_multiple_of(self.smallest().0.max(SECTOR_BYTES)).unwrap_or(u64::MAX);
        begin.saturating_add(self.offset.0)
    }

    /// The key that says where the region begins.
    pub fn key_of_begin(&self) -> &'static str {
        if self.offset_percent.is_some() { "offset_percent" } else { "offset" }
    }

    /// How large a drive must be for the region, as far as the job says it [B].
    pub fn drive_bytes(&self) -> u64 {
        let Some(Bytes(size)) = self.size else { return 0 };
        let end = self.offset.0.saturating_add(size);
        let behind = 1.0 - self.offset_percent.unwrap_or(0.0) / 100.0;
        if behind < 1.0 { libm::ceil((end.saturating_add(self.smallest().0)) as f64 / behind) as u64 } else { end }
    }

    /// The region's length, which must lie on the drive.
    pub(super) fn region_bytes(&self, drive_bytes: u64, begin: u64, least: Bytes) -> Result<u64, JobError> {
        let available = drive_bytes.checked_sub(begin).filter(|&bytes| bytes > 0).ok_or_else(|| {
            let problem = format!("{} lies beyond the drive of {}", Bytes(begin), Bytes(drive_bytes));
            JobError::new(self.key_of_begin(), problem)
        })?;
        if let Some(percent) = self.size_percent {
            // As in fio: of the whole drive, in whole requests.
            let share = (drive_bytes as f64 * percent / 100.0) as u64;
            let cut = share.min(available);
            return Ok(cut - cut % least.0);
        }
        match self.size {
            None => Ok(available),
            Some(Bytes(bytes)) if bytes <= available => Ok(bytes),
            Some(size) => {
                let problem =
                    format!("{size} is more than the {} from the offset to the drive's end", Bytes(available).told());
                Err(JobError::new("size", problem))
            }
        }
    }

    /// The grid of places, and that of random writes where reads have another one: as in fio, random addresses of a
    /// direction are multiples of its own smallest request.
    pub(super) fn grids(&self, region_bytes: u64) -> Result<(Grid, Option<Grid>), JobError> {
        let grid = |ops: &[Op]| -> Result<Grid, JobError> {
            let (least, most) = self.sizes(ops);
            let stride = self.blockalign.filter(|_| self.rw.is_random()).unwrap_or(least);
            let stride_sectors = sectors("blockalign", stride)?;
            Ok(Grid { stride_sectors, places: (region_bytes - most.0) / (stride_sectors * SECTOR_BYTES) + 1 })
        };
        match self.rw.ops() {
            [first, second] if self.rw.is_random() => {
                let (first, second) = (grid(&[*first])?, grid(&[*second])?);
                Ok((first, Some(second).filter(|grid| *grid != first)))
            }
            ops => Ok((grid(ops)?, None)),
        }
    }

    /// How long a pass is, where the job works in passes [sectors].
    pub(super) fn pass_sectors(&self, region: &JobRegion) -> Option<u64> {
        self.each_pass?;
        let whole = region.sectors - region.sectors % u64::from(region.request_sectors);
        let of_region = if self.sizes_differ() { region.sectors } else { whole };
        Some(self.pass_size.map_or(of_region, |bytes| bytes.0.div_ceil(SECTOR_BYTES)))
    }
}

/// A positive size in sectors.
pub(super) fn sectors(key: &'static str, bytes: Bytes) -> Result<u64, JobError> {
    if bytes.0 == 0 || !bytes.0.is_multiple_of(SECTOR_BYTES) {
        return Err(JobError::new(key, format!("{} bytes are no positive multiple of 512", bytes.0)));
    }
    Ok(bytes.0 / SECTOR_BYTES)
}
