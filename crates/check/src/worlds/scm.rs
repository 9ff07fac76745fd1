//! Storage-class memory of worlds: a few slots, so that everything waits for them.

use ninescope::config::{CopyPathConfig, DramConfig, PulseOrderConfig, ScmConfig, TierSection, TransferTime};
use ninescope_model::units::Bytes;
use ninescope_tier::policies::Below;

use super::dice::Dice;

/// What a description has that says nothing of banks, which only a cache has.
const DRAM_BANKS: u32 = 8;

/// A medium of slots, `times` as many as the smallest has.
pub(super) fn scm(dice: &mut Dice, slot: Bytes, times: u64) -> ScmConfig {
    let (channels, banks_per_channel) = (dice.small(1, 3), dice.small(1, 3));
    let slots_per_bank = times * dice.one_of(&[1, 1, 2, 3, 5, 12, 40]);
    ScmConfig {
        channels,
        banks_per_channel,
        capacity: Bytes(u64::from(channels * banks_per_channel) * slots_per_bank * slot.0),
        slot_size: slot,
        read: dice.time(1, 4),
        set: dice.time(1, 5),
        reset: dice.time(1, 5),
        pulse_order: dice.one_of(&[PulseOrderConfig::Together, PulseOrderConfig::InTurn]),
        command_address: dice.time(0, 3),
        channel_rate: dice.rate(),
        ecc: None,
        errors: None,
        endurance_writes: None,
        bit_cost: None,
        wear_leveling: Default::default(),
        wear_leveling_copies: dice.one_of(&[CopyPathConfig::ThroughController, CopyPathConfig::InMemory]),
        verify: None,
    }
}

/// In some drives that cache, the upper memory is DRAM, as large.
pub(super) fn dram(dice: &mut Dice, drive: &mut toml::Table, caches: bool) {
    if !caches || !dice.chance(50) {
        return;
    }
    let Some(scm) = drive.remove("scm").and_then(|scm| scm.try_into::<ScmConfig>().ok()) else { return };
    let dram = DramConfig {
        capacity: scm.capacity,
        cache: None,
        write_buffer: false,
        cut_through: false,
        read_data: false,
        map: false,
        banks: scm.channels * scm.banks_per_channel,
        access: scm.command_address,
        rate: scm.channel_rate,
        transfer_times: Vec::new(),
        jobs_in_turn: false,
        power_protected: dice.chance(20),
    };
    drive.insert("dram".to_owned(), toml::Value::try_from(dram).expect("a cache is TOML"));
}

/// What data of some sizes take of the bus, which need not be more for more of them.
fn transfer_times(dice: &mut Dice) -> Vec<TransferTime> {
    let mut size = 0;
    let told = (0..dice.small(1, 4)).map(|_| {
        size += u64::from(dice.small(1, 20)) * 512;
        TransferTime { size: Bytes(size), time: dice.time(1, 4) }
    });
    told.collect()
}

/// Beside a cache in DRAM, or without one, data and the map go through it on some drives with flash.
pub(super) fn shared_dram(dice: &mut Dice, drive: &mut toml::Table) {
    let cache = drive.remove("dram").and_then(|dram| dram.try_into::<DramConfig>().ok());
    let mut dram = cache.clone().unwrap_or_else(|| DramConfig {
        capacity: Bytes(0),
        cache: None,
        write_buffer: false,
        cut_through: false,
        read_data: false,
        map: false,
        banks: DRAM_BANKS,
        access: dice.time(0, 4),
        rate: dice.rate(),
        transfer_times: Vec::new(),
        jobs_in_turn: false,
        power_protected: false,
    });
    let uses = [60, 60, 50].map(|percent| dice.chance(percent));
    if dice.chance(50) && uses.contains(&true) {
        [dram.write_buffer, dram.read_data, dram.map] = uses;
        dram.cut_through = dram.write_buffer && dice.chance(30);
        dram.jobs_in_turn = dice.chance(30);
        if dice.chance(25) {
            dram.transfer_times = transfer_times(dice);
        }
        dram.cache = cache.as_ref().map(|cache| cache.capacity);
        dram.capacity = Bytes(dram.capacity.0 + (1 << 30));
    } else if cache.is_none() {
        return;
    }
    drive.insert("dram".to_owned(), toml::Value::try_from(dram).expect("a memory is TOML"));
}

/// What moves between two media; the placement is set later.
pub(super) fn tier(dice: &mut Dice, below: Below) -> TierSection {
    let bounded = below != Below::Nothing && dice.chance(60);
    TierSection { migrations_in_flight: bounded.then(|| dice.small(1, 4)), ..TierSection::default() }
}
