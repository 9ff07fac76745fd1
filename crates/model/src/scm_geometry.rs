//! The shape of the storage-class memory (SCM) of a drive and its one physical numbering.
//!
//! A *slot* is the run of sectors that one transaction accesses; neighbouring slots lie in neighbouring channels,
//! then in neighbouring banks of them, so that a long access spreads over all of them:
//!
//! ```text
//! bank = slot % banks,   channel = bank % channels
//! sector of the bank = (slot / banks) * sectors_per_slot + sector of the slot
//! ```
//!
//! A bank holds more sectors than its slots name: spare ones, which wear levelling uses.

use ninescope_kernel::FastDiv;

use crate::{BankId, ChannelId, GeometryError, SECTOR_BYTES, SlotId};

/// The largest number of sectors in a slot (masks are 32 bits).
pub const SECTORS_PER_SLOT_MAX: u32 = 32;

/// The numbers the shape is made of. All are counts.
#[derive(Clone, Copy, Debug)]
pub struct ScmGeometry {
    /// Channels of the controller for SCM, each with a bus of its own.
    pub channels: u32,
    /// Banks on a channel.
    pub banks_per_channel: u32,
    /// Slots of the drive, a multiple of the banks.
    pub slots: u32,
    /// Sectors in a slot, a power of two up to [`SECTORS_PER_SLOT_MAX`].
    pub sectors_per_slot: u32,
    /// Sectors of each bank that no slot names.
    pub spare_sectors_per_bank: u32,
    banks: FastDiv,
    channels_div: FastDiv,
}

impl ScmGeometry {
    /// Builds the shape from its five numbers (in the order of the fields) after checking them.
    ///
    /// # Errors
    /// Names the first number that is zero, too large, or no power of two where it must be one, or makes a bank
    /// hold more sectors than a 32-bit address can name.
    pub fn checked(
        channels: u32,
        banks_per_channel: u32,
        slots: u32,
        sectors_per_slot: u32,
        spare_sectors_per_bank: u32,
    ) -> Result<Self, GeometryError> {
        let error = |key, message: String| Err(GeometryError { key, message });
        for (key, value) in [
            ("channels", channels),
            ("banks_per_channel", banks_per_channel),
            ("capacity", slots),
            ("slot_size", sectors_per_slot),
        ] {
            if value == 0 {
                return error(key, "must not be zero".into());
            }
        }
        if !sectors_per_slot.is_power_of_two() || sectors_per_slot > SECTORS_PER_SLOT_MAX {
            let most = u64::from(SECTORS_PER_SLOT_MAX) * SECTOR_BYTES;
            return error("slot_size", format!("must be 512 B x 2^n and at most {most} B"));
        }
        let Some(banks) = channels.checked_mul(banks_per_channel).filter(|&banks| banks <= 1 << 20) else {
            let key = if channels > banks_per_channel { "channels" } else { "banks_per_channel" };
            return error(key, format!("makes more than 2^20 banks, {channels} x {banks_per_channel}"));
        };
        if !slots.is_multiple_of(banks) {
            return error("capacity", format!("makes {slots} slots, which {banks} banks cannot share evenly"));
        }
        let per_bank = u64::from(slots / banks) * u64::from(sectors_per_slot) + u64::from(spare_sectors_per_bank);
        if per_bank >= u64::from(u32::MAX) {
            return error(
                "capacity",
                format!("makes banks of {per_bank} sectors, more than a 32-bit address can name"),
            );
        }
        Ok(Self {
            channels,
            banks_per_channel,
            slots,
            sectors_per_slot,
            spare_sectors_per_bank,
            banks: FastDiv::new(banks),
            channels_div: FastDiv::new(channels),
        })
    }

    /// No SCM at all.
    pub fn absent() -> Self {
        Self {
            channels: 0,
            banks_per_channel: 0,
            slots: 0,
            sectors_per_slot: 1,
            spare_sectors_per_bank: 0,
            banks: FastDiv::new(1),
            channels_div: FastDiv::new(1),
        }
    }

    /// Banks of the drive.
    #[inline]
    pub fn banks(&self) -> u32 {
        self.channels * self.banks_per_channel
    }

    /// Sectors of a bank that slots name.
    pub fn logical_sectors_per_bank(&self) -> u32 {
        self.slots.checked_div(self.banks()).map_or(0, |slots| slots * self.sectors_per_slot)
    }

    /// Sectors a bank has, spare ones included.
    pub fn sectors_per_bank(&self) -> u32 {
        self.logical_sectors_per_bank() + self.spare_sectors_per_bank
    }

    /// Sectors that slots name.
    pub fn logical_sectors(&self) -> u64 {
        u64::from(self.slots) * u64::from(self.sectors_per_slot)
    }

    /// Sectors there are, spare ones included.
    pub fn raw_sectors(&self) -> u64 {
        u64::from(self.sectors_per_bank()) * u64::from(self.banks())
    }

    /// The bank of a slot.
    #[inline]
    pub fn bank_of_slot(&self, slot: SlotId) -> BankId {
        BankId(self.banks.div_rem(slot.0).1)
    }

    /// The channel of a bank.
    #[inline]
    pub fn channel_of_bank(&self, bank: BankId) -> ChannelId {
        ChannelId(self.channels_div.div_rem(bank.0).1)
    }

    /// The sector of its bank at which a slot begins.
    #[inline]
    pub fn first_sector_of_slot(&self, slot: SlotId) -> u32 {
        self.banks.quotient(slot.0) * self.sectors_per_slot
    }
}

/// The storage-class memories of a drive behind each other: slots, banks and channels are numbered through them.
#[derive(Clone, Copy, Debug)]
pub struct ScmLayout {
    media: [ScmGeometry; 2],
}

impl ScmLayout {
    /// Media in the order of numbering, at most two.
    pub fn new(media: &[ScmGeometry]) -> Self {
        let mut all = [ScmGeometry::absent(); 2];
        all[..media.len()].copy_from_slice(media);
        Self { media: all }
    }

    /// The shape of a medium; an absent one has nothing.
    pub fn medium(&self, medium: usize) -> &ScmGeometry {
        &self.media[medium]
    }

    /// Which medium a slot lies in, and its number there.
    #[inline]
    fn slot_within(&self, slot: SlotId) -> (usize, SlotId) {
        match slot.0.checked_sub(self.media[0].slots) {
            None => (0, slot),
            Some(behind) => (1, SlotId(behind)),
        }
    }

    /// Which medium a slot lies in.
    #[inline]
    pub fn medium_of_slot(&self, slot: SlotId) -> usize {
        self.slot_within(slot).0
    }

    /// Which medium a bank belongs to.
    #[inline]
    pub fn medium_of_bank(&self, bank: BankId) -> usize {
        usize::from(bank.0 >= self.media[0].banks())
    }

    /// The number of a medium's first slot.
    #[inline]
    pub fn first_slot(&self, medium: usize) -> u32 {
        if medium == 0 { 0 } else { self.media[0].slots }
    }

    /// The number of a medium's first bank.
    pub fn first_bank(&self, medium: usize) -> u32 {
        if medium == 0 { 0 } else { self.media[0].banks() }
    }

    /// Slots of all media.
    pub fn slots(&self) -> u32 {
        self.media[0].slots + self.media[1].slots
    }

    /// Banks of all media.
    pub fn banks(&self) -> u32 {
        self.media[0].banks() + self.media[1].banks()
    }

    /// Channels of all media.
    pub fn channels(&self) -> u32 {
        self.media[0].channels + self.media[1].channels
    }

    /// Sectors in a slot.
    #[inline]
    pub fn sectors_per_slot(&self, slot: SlotId) -> u32 {
        self.media[self.medium_of_slot(slot)].sectors_per_slot
    }

    /// The bank of a slot.
    #[inline]
    pub fn bank_of_slot(&self, slot: SlotId) -> BankId {
        let (medium, slot) = self.slot_within(slot);
        BankId(self.media[medium].bank_of_slot(slot).0 + self.first_bank(medium))
    }

    /// The sector of its bank at which a slot begins.
    #[inline]
    pub fn first_sector_of_slot(&self, slot: SlotId) -> u32 {
        let (medium, slot) = self.slot_within(slot);
        self.media[medium].first_sector_of_slot(slot)
    }

    /// The channel of a bank.
    #[inline]
    pub fn channel_of_bank(&self, bank: BankId) -> ChannelId {
        let medium = self.medium_of_bank(bank);
        let first = if medium == 0 { 0 } else { self.media[0].channels };
        let within = BankId(bank.0 - self.first_bank(medium));
        ChannelId(self.media[medium].channel_of_bank(within).0 + first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_and_sectors_of_banks_are_a_bijection() {
        let geometry = ScmGeometry::checked(2, 3, 24, 4, 5).expect("a legal shape");
        let mut seen = [false; 24 * 4];
        for slot in (0..24).map(SlotId) {
            let (bank, first) = (geometry.bank_of_slot(slot), geometry.first_sector_of_slot(slot));
            assert!(bank.0 < 6 && geometry.channel_of_bank(bank).0 == bank.0 % 2);
            for sector in first..first + 4 {
                let place = (bank.0 * geometry.logical_sectors_per_bank() + sector) as usize;
                assert!(!std::mem::replace(&mut seen[place], true), "slot {slot}");
            }
        }
        assert!(seen.iter().all(|&seen| seen));
        assert_eq!((geometry.sectors_per_bank(), geometry.raw_sectors(), geometry.logical_sectors()), (21, 126, 96));
    }

    #[test]
    fn neighbouring_slots_lie_on_different_channels() {
        let geometry = ScmGeometry::checked(4, 2, 16, 32, 0).expect("a legal shape");
        let channel = |slot| geometry.channel_of_bank(geometry.bank_of_slot(SlotId(slot))).0;
        assert_eq!((0..5).map(channel).collect::<Vec<_>>(), [0, 1, 2, 3, 0]);
        assert_ne!(geometry.bank_of_slot(SlotId(0)), geometry.bank_of_slot(SlotId(4)));
    }

    #[test]
    fn an_impossible_shape_names_its_key() {
        let key = |result: Result<ScmGeometry, GeometryError>| result.expect_err("refused").key;
        assert_eq!(key(ScmGeometry::checked(0, 1, 1, 1, 0)), "channels");
        assert_eq!(key(ScmGeometry::checked(1, 0, 1, 1, 0)), "banks_per_channel");
        assert_eq!(key(ScmGeometry::checked(1, 1, 0, 1, 0)), "capacity");
        assert_eq!(key(ScmGeometry::checked(1, 1, 1, 64, 0)), "slot_size");
        assert_eq!(key(ScmGeometry::checked(1, 1, 1, 24, 0)), "slot_size");
        assert_eq!(key(ScmGeometry::checked(1 << 16, 1 << 16, 1, 1, 0)), "banks_per_channel");
        assert_eq!(key(ScmGeometry::checked(2, 2, 6, 1, 0)), "capacity");
        assert_eq!(key(ScmGeometry::checked(1, 1, 1 << 31, 32, 0)), "capacity");
    }

    #[test]
    fn slots_and_banks_are_numbered_through_both_media() {
        let shape = |channels, slots| ScmGeometry::checked(channels, 2, slots, 4, 0).expect("a legal shape");
        let layout = ScmLayout::new(&[shape(1, 4), shape(3, 12)]);
        assert_eq!((layout.slots(), layout.banks(), layout.channels()), (16, 8, 4));
        let of_slot = |slot| (layout.medium_of_slot(SlotId(slot)), layout.bank_of_slot(SlotId(slot)).0);
        assert_eq!((0..6).map(of_slot).collect::<Vec<_>>(), [(0, 0), (0, 1), (0, 0), (0, 1), (1, 2), (1, 3)]);
        assert_eq!(layout.first_sector_of_slot(SlotId(3)), 4, "the second slot of its bank");
        assert_eq!(layout.first_sector_of_slot(SlotId(4 + 6)), 4);
        let channels: Vec<_> = (0..8).map(|bank| layout.channel_of_bank(BankId(bank)).0).collect();
        assert_eq!(channels, [0, 0, 1, 2, 3, 1, 2, 3]);
        assert_eq!((layout.medium_of_bank(BankId(1)), layout.medium_of_bank(BankId(2))), (0, 1));
    }

    #[test]
    fn a_drive_without_scm_has_nothing_of_it() {
        let absent = ScmGeometry::absent();
        assert_eq!((absent.banks(), absent.logical_sectors(), absent.raw_sectors()), (0, 0, 0));
    }
}
