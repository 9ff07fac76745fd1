//! Codes, failing bits and what is done about them, of worlds: so weak and so many that everything fails sometimes.

use ninescope_kernel::Ns;
use ninescope_model::units::{Bytes, Duration};
use toml::{Table, Value};

use super::dice::Dice;
use super::keys::{policy_name, put_at, take_at, text, value_at};

/// What a drive has of it.
#[allow(clippy::struct_excessive_bools)] // independent of each other but for what `draw` says
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Wants {
    /// Its flash is guarded by a code.
    codes: bool,
    /// Another copy of its clean data exists, which it keeps apart.
    clean_apart: bool,
    /// Its map may lie in flash.
    map: bool,
    /// It may keep other kinds of data apart.
    streams: bool,
    /// It may put off what TRIMs ask for.
    lazy_trims: bool,
}

/// Policies that may be left out, with the share of the drives that have them [%]. Behind `true`: of those with codes.
const OPTIONAL: [(&str, bool, u64); 11] = [
    ("ftl.wear_leveling", false, 0),
    // What breaks is added to worlds that are there.
    ("nand.wear_out", false, 0),
    ("scm.verify", false, 50),
    ("nand.ecc", true, 100),
    ("nand.ecc.latency", true, 100),
    ("nand.errors", true, 70),
    ("nand.retry", true, 60),
    ("scrub", true, 50),
    ("refresh", false, 25),
    ("tier.back_pressure", false, 50),
    ("tier.placement.victim", false, 80),
];

impl Wants {
    /// Of a drive with flash or without. One of two media does not keep clean data apart.
    pub fn draw(dice: &mut Dice, has_flash: bool, (flash_alone, may_map): (bool, bool)) -> Self {
        let codes = has_flash && dice.chance(55);
        let clean_apart = flash_alone && dice.chance(40);
        let streams = has_flash && !clean_apart && dice.of("streams").chance(20);
        let lazy_trims = flash_alone && !clean_apart && dice.of("lazy trims").chance(25);
        let map = may_map && !clean_apart && !streams && !lazy_trims && dice.of("map").chance(80);
        Self { codes, clean_apart, map, streams, lazy_trims }
    }

    /// Whether a drive without flash, or with it, gets a policy for a key.
    pub fn key(self, dice: &mut Dice, key: &str, has_flash: bool) -> bool {
        let of_flash = !key.starts_with("scm.") && !key.starts_with("tier.") && !key.starts_with("scheduler.");
        match OPTIONAL.iter().find(|(optional, ..)| *optional == key) {
            Some(_) if of_flash && !has_flash => false,
            Some(&(_, of_codes, percent)) => (self.codes || !of_codes) && dice.chance(percent),
            None => has_flash || !of_flash,
        }
    }

    /// The policy of a key of which one was drawn: clean data is kept apart where that is wanted, and nowhere else.
    pub fn name<'a>(self, key: &str, drawn: &'a str) -> &'a str {
        match (key, drawn) {
            ("ftl.streams", _) if self.clean_apart => "clean-apart",
            ("ftl.streams", "clean-apart") => "single",
            ("ftl.streams", _) if !self.streams => "single",
            ("ftl.map", _) if !self.map => "ideal",
            // What goes by what is expected to fail is added to worlds that are there.
            ("refresh", _) => "limits",
            ("ftl.trim", _) => ["at-once", "lazy"][usize::from(self.lazy_trims)],
            _ => drawn,
        }
    }

    /// Groups of a pool that what is kept apart takes beyond those of other drives.
    pub fn more_blocks(self) -> u32 {
        let of_streams = if self.streams { 16 } else { 0 };
        of_streams + if self.clean_apart || self.map { 4 } else { 0 }
    }
}

/// Whether a drive knows which data is clean.
pub(super) fn knows_clean(drive: &Table) -> bool {
    value_at(drive, "ftl.streams.policy").and_then(Value::as_str) == Some("clean-apart")
        || value_at(drive, "ftl.streams").and_then(Value::as_str) == Some("clean-apart")
}

/// Makes what the registries gave a drive fit its pages, and adds what no registry has.
pub(super) fn complete(dice: &mut Dice, drive: &mut Table) {
    if let Some(page) = bytes_at(drive, "geometry.page_size") {
        flash(dice, drive, page);
        limits(dice, drive);
        fit_map(&mut dice.of("map of its size"), drive);
        seldom_too_old(drive);
        seldom_scrubbed(drive);
    }
    for medium in ["scm", "storage_scm"] {
        if drive.contains_key(medium) && dice.chance(40) {
            sectors(dice, drive, medium);
        }
    }
}

/// Pages of the map of a drive, if the host saw all of its flash.
fn map_pages_at_most(drive: &Table, unit: u64) -> u64 {
    let pages = blocks(drive) * count_at(drive, "geometry.pages_per_block");
    let units = pages * bytes_at(drive, "geometry.page_size").unwrap_or(unit) / unit.max(1);
    (units * 4).div_ceil(unit.max(1))
}

/// Gives the cache of a map that lies in flash room for a page of it, or for a few; of single entries it may hold fewer.
fn fit_map(dice: &mut Dice, drive: &mut Table) {
    let whole_pages =
        ["pages", "runs"].map(|name| value_at(drive, "ftl.map.policy").and_then(Value::as_str) == Some(name));
    let (Some(unit), Some(size)) = (bytes_at(drive, "ftl.mapping_unit"), bytes_at(drive, "ftl.map.size")) else {
        return;
    };
    if whole_pages.contains(&true) {
        // A page in which each unit begins a run takes two entries for each.
        put_at(drive, "ftl.map.size", (2 * unit + size * unit / 512).cast_signed());
    }
    if !whole_pages.contains(&true) && map_pages_at_most(drive, unit) > 8 {
        put_at(drive, "ftl.map.size", size.max(unit).cast_signed());
    }
    if dice.chance(30) && !whole_pages.contains(&true) && value_at(drive, "nand.ecc").is_none() {
        put_at(drive, "ftl.map.fetch_size", unit.min(512).cast_signed());
    }
    let mut entries = dice.of("map entries");
    if entries.chance(25) && !whole_pages.contains(&true) {
        put_at(drive, "ftl.map.entry_size", i64::from(entries.small(3, 12)));
        // It may be a map of more pages then.
        put_at(drive, "ftl.map.size", size.max(unit).cast_signed());
    }
    if dice.of("map reads first").chance(40) {
        put_at(drive, "ftl.map.reads_first", true);
    }
    let beside = value_at(drive, "ftl.map.writes_wait").and_then(Value::as_bool) == Some(false);
    // What a cache takes all of is written to flash by nobody who waits.
    let all_above = policy_name(drive, "tier.placement").is_some_and(|name| name == "wb");
    if beside && !all_above && dice.of("programs wait").chance(60) {
        put_at(drive, "ftl.map.programs_wait", true);
    }
    if dice.of("warm map").chance(25) {
        put_at(drive, "ftl.map.warm", true);
    }
    if dice.of("changed entries").chance(25) {
        put_at(drive, "ftl.map.changed_at_start", 0.5);
    }
    put_at(drive, "ftl.map.rebuild_time", text(dice.time(0, 6)));
    if value_at(drive, "ftl.map.written").and_then(Value::as_bool) == Some(false) {
        // Nothing is written, and so not some at a time.
        take_at(drive, "ftl.map.updates_in_flight");
    }
    if dice.chance(40) && value_at(drive, "controller.interface").and_then(Value::as_str) != Some("sata") {
        put_at(drive, "ftl.map.host_memory", (2 * unit * u64::from(dice.small(1, 20))).cast_signed());
        put_at(drive, "ftl.map.host_access", text(dice.time(0, 6)));
        if dice.of("host link").chance(50) {
            put_at(drive, "ftl.map.host_link", true);
        }
    }
}

pub(super) fn bytes_at(drive: &Table, key: &str) -> Option<u64> {
    value_at(drive, key)?.clone().try_into::<Bytes>().ok().map(|bytes| bytes.0)
}

/// Gives refresh one limit or both, or has it go by what is expected to fail.
fn limits(dice: &mut Dice, drive: &mut Table) {
    if value_at(drive, "refresh").is_none() {
        return;
    }
    let mut by_rate = dice.of("refresh by rate");
    if by_rate.chance(30) && value_at(drive, "nand.errors").is_some() {
        put_at(drive, "refresh.policy", "expected-errors");
        put_at(drive, "refresh.rber", by_rate.one_of(&[1e-6, 1e-5, 1e-4, 1e-3, 1e-2]));
        put_at(drive, "refresh.period", text(by_rate.time(5, 9)));
    }
    if value_at(drive, "refresh.policy").and_then(Value::as_str) == Some("expected-errors") {
        return;
    }
    let which = dice.small(1, 3);
    if which & 1 == 1 {
        put_at(drive, "refresh.reads", i64::from(dice.one_of(&[1, 3, 10, 30, 100, 1_000])));
    }
    if which & 2 == 2 {
        put_at(drive, "refresh.retention", text(dice.time(3, 9)));
    }
}

fn flash(dice: &mut Dice, drive: &mut Table, page: u64) {
    if value_at(drive, "nand.ecc").is_none() {
        return;
    }
    let policy = |drive: &Table, key: &str| value_at(drive, key).and_then(Value::as_str).map(str::to_owned);
    if policy(drive, "nand.retry.policy").as_deref() == Some("soft-sensing")
        && policy(drive, "nand.ecc.policy").as_deref() != Some("ldpc")
    {
        put_at(drive, "nand.ecc", Table::from_iter([("policy".to_owned(), "ldpc".into())]));
    }
    let bits = fit_code(dice, drive, "nand.ecc", page);
    if value_at(drive, "nand.errors").is_some() {
        let reach = correctable(drive, "nand.ecc") + 1.0;
        fit_errors(dice, drive, "nand.errors", reach / bits);
    }
    if value_at(drive, "nand.retry").is_some() {
        fit_retry(dice, drive);
    }
    if dice.chance(30) {
        put_at(drive, "nand.initial_age", text(Duration(dice.one_of(&[1, 1_000_000, 90 * 86_400_000_000_000]))));
    }
    warm(&mut dice.of("temperature"), drive);
    vary(&mut dice.of("variation"), drive);
    if dice.chance(60) {
        corruption(dice, drive);
    }
    if knows_clean(drive) && dice.chance(80) {
        detecting_code(dice, drive, page);
    }
}

/// Has data of some drives age otherwise than the clock says.
fn warm(dice: &mut Dice, drive: &mut Table) {
    if value_at(drive, "nand.errors").is_none() || !dice.chance(30) {
        return;
    }
    let mut section = Table::from_iter([
        ("running".to_owned(), dice.one_of(&[-20.0, 25.0, 40.0, 70.0, 125.0]).into()),
        ("activation_energy".to_owned(), dice.one_of(&[0.0, 0.5, 1.1, 2.0]).into()),
    ]);
    if value_at(drive, "nand.initial_age").is_some() && dice.chance(50) {
        section.insert("stored".to_owned(), dice.one_of(&[0.0, 30.0, 85.0]).into());
    }
    put_at(drive, "nand.temperature", section);
}

/// Has the bits of some pages and blocks of some drives fail more often than those of others.
fn vary(dice: &mut Dice, drive: &mut Table) {
    if value_at(drive, "nand.errors").is_none() || !dice.chance(30) {
        return;
    }
    let mut factors = |count: usize| -> Vec<f64> { (0..count).map(|_| dice.one_of(&[0.3, 1.0, 1.5, 4.0])).collect() };
    let cell = value_at(drive, "nand.cell").and_then(Value::as_str);
    let bits = ["slc", "mlc", "tlc", "qlc"].iter().position(|name| Some(*name) == cell).map_or(1, |bits| bits + 1);
    let section = [("page_types", factors(bits)), ("layers", factors(2))];
    let mut section: Table = section.map(|(key, factors)| (key.to_owned(), factors.into())).into_iter().collect();
    if dice.chance(50) {
        section.insert("blocks".to_owned(), dice.one_of(&[0.1, 0.5, 2.0]).into());
    }
    put_at(drive, "nand.variation", section);
}

/// Gives a code user data that divides a page, and few decoders. Returns the bits of a codeword, about.
fn fit_code(dice: &mut Dice, drive: &mut Table, key: &str, page: u64) -> f64 {
    let of_code = |parameter: &str| format!("{key}.{parameter}");
    let sizes = page.ilog2() - 9;
    let user_data = 512_u64 << dice.small(0, sizes);
    put_at(drive, &of_code("user_data"), user_data.cast_signed());
    if value_at(drive, &of_code("policy")).and_then(Value::as_str) == Some("none") {
        return user_data as f64 * 8.0;
    }
    put_at(drive, &of_code("decoders"), i64::from(dice.small(1, 3)));
    for (parameter, percent) in [("shared", 30), ("moves_parity", 50), ("holds_die", 50)] {
        put_at(drive, &of_code(parameter), dice.chance(percent));
    }
    if value_at(drive, &of_code("shared")) == Some(&Value::Boolean(true)) {
        put_at(drive, &of_code("holds_die"), false);
    }
    match value_at(drive, &of_code("policy")).and_then(Value::as_str) {
        Some("bch") => put_at(drive, &of_code("correctable"), dice.one_of(&[1, 1, 2, 3, 8, 40])),
        Some("crc") => put_at(drive, &of_code("width"), dice.one_of(&[1, 4, 8, 16, 32])),
        Some("ldpc") => {
            put_at(drive, &of_code("parity"), dice.one_of(&[16, 64, 256]));
            put_at(drive, &of_code("correctable"), dice.one_of(&[1, 2, 8, 20]));
            // It has no stages to count cycles of.
            if value_at(drive, &of_code("latency.encode")).is_none() {
                put_at(drive, &of_code("latency"), "fixed");
            }
        }
        _ => {}
    }
    user_data as f64 * 8.0
}

fn correctable(drive: &Table, code: &str) -> f64 {
    value_at(drive, &format!("{code}.correctable")).and_then(Value::as_integer).map_or(0.0, |bits| bits as f64)
}

/// Gives an error model rates about `rber`, at which half of all codewords fail.
fn fit_errors(dice: &mut Dice, drive: &mut Table, key: &str, rber: f64) {
    let rber = (rber * dice.one_of(&[0.02, 0.1, 0.3, 0.6, 1.0, 2.0])).min(0.5);
    let of_model = |parameter: &str| format!("{key}.{parameter}");
    match value_at(drive, &of_model("policy")).and_then(Value::as_str) {
        Some("constant") => put_at(drive, &of_model("rber"), rber),
        Some("power-law") => {
            for (parameter, value) in [
                ("floor", rber * 0.3),
                ("cycles_factor", rber * 0.1),
                ("cycles_exponent", 0.3),
                ("reads_factor", rber * 0.1),
                ("reads_cycles_exponent", 0.1),
                ("reads_exponent", 0.7),
                ("retention_factor", rber),
                ("retention_cycles_exponent", 0.0),
                ("retention_exponent", 0.5),
                ("suspensions_factor", rber * 0.3),
                ("suspensions_exponent", 1.0),
            ] {
                put_at(drive, &of_model(parameter), value);
            }
        }
        Some("table") => {
            let row = |cycles: i64, rates: [f64; 2]| {
                let rates = rates.map(|rate: f64| Value::Float(rate.min(0.5)));
                Table::from_iter([("cycles".to_owned(), cycles.into()), ("rber".to_owned(), rates.to_vec().into())])
            };
            let rows = vec![row(0, [rber * 0.5, rber]), row(dice.one_of(&[1, 10, 1_000]), [rber, rber * 2.0])];
            put_at(drive, &of_model("rows"), rows);
            let ages = vec![text(Duration(0)), text(dice.time(1_000, 8))];
            put_at(drive, &of_model("retention"), ages);
        }
        _ => {}
    }
}

fn fit_retry(dice: &mut Dice, drive: &mut Table) {
    let attempts = dice.small(1, 3);
    let integers = |values: &[i64]| -> Value {
        values.iter().take(attempts as usize).map(|&value| Value::Integer(value)).collect::<Vec<_>>().into()
    };
    match value_at(drive, "nand.retry.policy").and_then(Value::as_str) {
        Some("levels") => {
            let success: Vec<_> = (0..attempts).map(|_| Value::Float(dice.one_of(&[0.0, 0.3, 0.5, 0.9]))).collect();
            put_at(drive, "nand.retry.success", success);
        }
        Some("table") => {
            let mut retries = dice.of("table of retries");
            let ages = vec![text(Duration(0)), text(retries.time(1_000, 8))];
            put_at(drive, "nand.retry.retention", ages);
            let mut shares = || -> Value {
                let shares: [&[f64]; 4] = [&[1.0], &[0.5, 0.3], &[0.0, 0.5, 0.5], &[0.2]];
                vec![retries.one_of(&shares).to_vec(), retries.one_of(&shares).to_vec()].into()
            };
            let mut row =
                |cycles: i64| Table::from_iter([("cycles".to_owned(), cycles.into()), ("shares".to_owned(), shares())]);
            let rows = vec![row(0), row(1_000)];
            put_at(drive, "nand.retry.rows", rows);
        }
        Some("shifted-reference") => put_at(drive, "nand.retry.attempts", i64::from(attempts)),
        Some("soft-sensing") => {
            let corrected = correctable(drive, "nand.ecc") as i64;
            put_at(drive, "nand.retry.correctable", integers(&[corrected + 1, corrected + 2, corrected + 5]));
            put_at(drive, "nand.retry.senses", integers(&[2, 1, 7]));
            let times: Vec<_> = (0..attempts).map(|_| text(dice.time(0, 5))).collect();
            put_at(drive, "nand.retry.decode", times);
        }
        _ => {}
    }
}

fn corruption(dice: &mut Dice, drive: &mut Table) {
    let bits = bytes_at(drive, "ftl.mapping_unit").unwrap_or(4096) as f64 * 8.0;
    let at = if dice.chance(50) { Duration(0) } else { dice.time(1, 8) };
    let mut section = vec![
        ("initial_rber".to_owned(), (dice.one_of(&[0.0, 0.02, 0.1, 0.7]) / bits).into()),
        ("at".to_owned(), text(at)),
        // One per hour and unit at most: seldom in what a world lasts.
        ("hourly_rber".to_owned(), dice.one_of(&[0.0, 0.5, 0.5]).into()),
    ];
    if dice.chance(40) {
        section.push(("until".to_owned(), text(Duration(at.0 + dice.time(1, 8).0.max(1)))));
    }
    put_at(drive, "nand.corruption", Table::from_iter(section));
}

/// Clean data under a code of its own, with the store that it is fetched from.
fn detecting_code(dice: &mut Dice, drive: &mut Table, page: u64) {
    let policy = dice.one_of(&["crc", "crc", "crc", "bch"]);
    let of_code = Table::from_iter([("policy".to_owned(), policy.into())]);
    put_at(drive, "nand.edc", of_code);
    fit_code(dice, drive, "nand.edc", page);
    let store = [
        ("read".to_owned(), text(dice.time(1, 6))),
        ("parallel".to_owned(), Value::Integer(i64::from(dice.small(1, 3)))),
    ];
    put_at(drive, "backing_store", Table::from_iter(store));
}

/// A code for the sectors of storage-class memory.
fn sectors(dice: &mut Dice, drive: &mut Table, medium: &str) {
    let (code, errors) = (format!("{medium}.ecc"), format!("{medium}.errors"));
    let policy = dice.one_of(&["bch", "bch", "crc", "ldpc", "none"]);
    put_at(drive, &code, Table::from_iter([("policy".to_owned(), policy.into())]));
    let bits = fit_code(dice, drive, &code, 512);
    if dice.chance(75) {
        let policy = dice.one_of(&["constant", "constant", "power-law"]);
        put_at(drive, &errors, Table::from_iter([("policy".to_owned(), policy.into())]));
        let reach = correctable(drive, &code) + 1.0;
        fit_errors(dice, drive, &errors, reach / bits);
    }
}

/// Data is written anew faster than it grows old, or the drive would do nothing else; nor does it do nothing but look at ages.
fn seldom_too_old(drive: &mut Table) {
    if let Some(period) = time_at(drive, "refresh.period").filter(|_| value_at(drive, "refresh.rber").is_some()) {
        // What is new may be due at once.
        put_at(drive, "refresh.period", text(Duration(period.max(2 * time_to_rewrite(drive)))));
    }
    let Some(retention) = time_at(drive, "refresh.retention") else { return };
    let retention = retention.max(20_000_000_000 + time_to_rewrite(drive));
    put_at(drive, "refresh.retention", text(Duration(retention)));
    if let Some(period) = time_at(drive, "refresh.period") {
        put_at(drive, "refresh.period", text(Duration(period.max(retention / 5_000))));
    }
}

/// A pass is over long before the next one, so that a slow world does not read for ever; nor do its reads alone make all data
/// due for refresh faster than it is written anew.
fn seldom_scrubbed(drive: &mut Table) {
    let Some(period) = time_at(drive, "scrub.period") else { return };
    let pages_per_block = count_at(drive, "geometry.pages_per_block");
    let of_pass = blocks(drive) * pages_per_block * 20_000;
    let reads = value_at(drive, "refresh.reads").and_then(Value::as_integer);
    let of_refresh = reads.map_or(0, |reads| time_to_rewrite(drive) * pages_per_block / reads as u64);
    put_at(drive, "scrub.period", text(Duration(period.max(of_pass).max(of_refresh))));
}

fn count_at(drive: &Table, key: &str) -> u64 {
    value_at(drive, key).and_then(Value::as_integer).unwrap_or(1) as u64
}

/// [ns]
fn time_at(drive: &Table, key: &str) -> Option<u64> {
    value_at(drive, key).and_then(|value| value.clone().try_into::<Duration>().ok()).map(|time| time.0)
}

fn blocks(drive: &Table) -> u64 {
    let shape = ["channels", "packages_per_channel", "dies_per_package", "planes_per_die", "blocks_per_plane"];
    shape.iter().map(|key| count_at(drive, &format!("geometry.{key}"))).product()
}

/// More than all data takes to be written anew, page by page, each unit fetched where a store has it [ns]. Slow codecs and
/// channels come on top.
fn time_to_rewrite(drive: &Table) -> u64 {
    let erase = time_at(drive, "nand.erase_loop").map_or(0, |time| time * 5);
    let page: u64 = ["read", "program"].iter().map(|key| longest(drive, key)).sum();
    let units =
        bytes_at(drive, "geometry.page_size").unwrap_or(1) / bytes_at(drive, "ftl.mapping_unit").unwrap_or(4096);
    let fetched = time_at(drive, "backing_store.read").unwrap_or(0) * units;
    blocks(drive) * (erase + count_at(drive, "geometry.pages_per_block") * (page + fetched)) * 4
}

fn longest(drive: &Table, key: &str) -> u64 {
    let times = value_at(drive, &format!("nand.{key}")).and_then(Value::as_array);
    let times = times.into_iter().flatten().filter_map(|time| time.clone().try_into::<Duration>().ok());
    times.map(|time| time.0).max().unwrap_or(0)
}

/// What comes again and again comes so seldom that a world of that length ends.
pub(super) fn slow_down(drive: &mut Table, length: Ns) {
    for (key, times) in [("scrub.period", 50), ("refresh.period", 20)] {
        let Some(period) = value_at(drive, key).and_then(|value| value.clone().try_into::<Duration>().ok()) else {
            continue;
        };
        let least = length.0 / times;
        if period.0 < least {
            put_at(drive, key, text(Duration(least)));
        }
    }
}
