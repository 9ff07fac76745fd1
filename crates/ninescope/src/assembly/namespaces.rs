//! The namespaces of a drive: parts of its addresses, one behind the other from the first sector on.

use std::ops::Range;

use ninescope_model::SECTOR_BYTES;
use ninescope_model::units::Bytes;

use super::Assembly;
use crate::config::LoadedDrive;
use crate::error::Error;

impl Assembly {
    /// Checks that the namespaces fit.
    ///
    /// # Errors
    /// [`Error::Input`] that names the first one that does not.
    pub(super) fn check_namespaces(&self, drive: &LoadedDrive) -> Result<(), Error> {
        let (unit, capacity) = (self.unit_bytes(), self.logical_bytes());
        let mut sum = 0_u128;
        for (index, size) in self.config.namespaces.iter().map(|namespace| namespace.size.0).enumerate() {
            sum += u128::from(size);
            let problem = if size == 0 {
                "must not be zero".to_owned()
            } else if !size.is_multiple_of(unit) {
                format!("is {}, which is no multiple of {}, which the drive maps as a whole", Bytes(size), Bytes(unit))
            } else if sum > u128::from(capacity) {
                let before = Bytes((sum - u128::from(size)) as u64).told();
                format!(
                    "is {}, with {before} of those before it more than the {} of the drive",
                    Bytes(size),
                    Bytes(capacity).told()
                )
            } else {
                continue;
            };
            return Err(drive.error_at(&format!("namespaces[{index}].size"), &problem));
        }
        Ok(())
    }

    /// What the drive maps as a whole [B].
    fn unit_bytes(&self) -> u64 {
        let slot = self.scm.lowest().map(|shape| u64::from(shape.sectors_per_slot) * SECTOR_BYTES);
        match self.timing {
            Some(_) => u64::from(self.geometry.unit_bytes),
            None => slot.unwrap_or(SECTOR_BYTES),
        }
    }

    /// The bytes of a namespace, by its number from 1 on; without any, the whole drive is the first one.
    pub fn namespace(&self, number: u32) -> Option<Range<u64>> {
        let sizes = &self.config.namespaces;
        if sizes.is_empty() {
            return (number == 1).then(|| 0..self.logical_bytes());
        }
        let index = number.checked_sub(1)? as usize;
        let size = sizes.get(index)?.size.0;
        let begin = sizes[..index].iter().map(|before| before.size.0).sum::<u64>();
        Some(begin..begin + size)
    }

    /// Bytes of the first one, in which everything goes that says nothing of namespaces.
    pub fn first_namespace_bytes(&self) -> u64 {
        self.namespace(1).map_or(0, |bytes| bytes.end)
    }

    /// Units of flash that belong to a namespace; what lies behind them is spare.
    pub fn addressed_units(&self) -> u32 {
        let sizes = &self.config.namespaces;
        if sizes.is_empty() || self.timing.is_none() {
            return self.ftl.logical_units;
        }
        (sizes.iter().map(|namespace| namespace.size.0).sum::<u64>() / u64::from(self.geometry.unit_bytes)) as u32
    }
}
