//! Changes of documents that are trees: a value at a border, a key lost, doubled in another place, or misspelt.
//!
//! TOML passes through the same tree as JSON, so that one set of changes serves both.

use serde_json::{Map, Value};

use super::Rng;
use super::bytes::{NUMBERS, changed_number, text};

/// Words that mean something somewhere in a drive, a job or a request.
const WORDS: [&str; 58] = [
    "greedy",
    "fifo",
    "random",
    "d-choices",
    "least-worn",
    "round-robin",
    "static",
    "free-groups",
    "none",
    "every-safe-point",
    "reads-first",
    "program",
    "buffer",
    "slc",
    "mlc",
    "tlc",
    "qlc",
    "aero",
    "mqsim-default",
    "footprint",
    "full",
    "steady",
    "raw",
    "off",
    "msr",
    "mqsim",
    "vscsi",
    "read",
    "write",
    "trim",
    "randread",
    "randwrite",
    "randtrim",
    "rw",
    "randrw",
    "zipf:0",
    "zipf:1",
    "zipf:10",
    "zipf:1e-300",
    "zipf:nan",
    "uniform",
    "linear",
    "poisson",
    "0B",
    "512B",
    "1KiB",
    "16KiB",
    "1GiB",
    "16777215TiB",
    "0ns",
    "1ns",
    "1us",
    "1h",
    "2562047h",
    "1B/s",
    "18446744073709551615B/s",
    "1MB/s",
    "",
];

/// Settings in the words of `--set`, for the list of them in a request.
const SETS: [&str; 21] = [
    "ftl.victim=d-choices",
    "ftl.victim.d=4294967295",
    "ftl.gc_trigger.beyond_reserve=4294967295",
    "ftl.page_allocation=round-robin",
    "scheduler.suspend=every-safe-point",
    "controller.write_completion=program",
    "controller.command_cost=0",
    "controller.page_timeout=1ns",
    "controller.link_rate=1B/s",
    "nand.channel_rate=1B/s",
    "ftl.mapping_unit=512B",
    "ftl.frontier_planes=1",
    "nand.cell=slc",
    "nand.program_pulses=4294967295",
    "geometry.pages_per_block=1",
    "controller.queue_depth=1",
    "scheduler.multi_plane=false",
    "nand.erase_loop=1h",
    "ftl.over_provisioning=1e300",
    "ftl.gc_pages_in_flight=1",
    "ftl.gc_copybacks=2",
];

/// A changed JSON document; TOML inside a string is changed as TOML.
pub fn json(rng: &mut Rng, input: &[u8], other: &[u8]) -> Vec<u8> {
    let Ok(mut tree) = serde_json::from_slice::<Value>(input) else { return text(rng, input, other) };
    if rng.one_in(12) {
        return text(rng, input, other);
    }
    let donor = serde_json::from_slice::<Value>(other).unwrap_or(Value::Null);
    for _ in 0..=rng.below(3) {
        change(rng, &mut tree, &donor);
    }
    serde_json::to_vec_pretty(&tree).unwrap_or_default()
}

/// A changed TOML document.
pub fn toml(rng: &mut Rng, input: &[u8], other: &[u8]) -> Vec<u8> {
    let table = |bytes| std::str::from_utf8(bytes).ok().and_then(|text| toml::from_str::<toml::Table>(text).ok());
    let Some(table_of_input) = table(input).filter(|_| !rng.one_in(3)) else { return text(rng, input, other) };
    let tree = |table: toml::Table| serde_json::to_value(table).unwrap_or_default();
    let (mut changed, donor) = (tree(table_of_input), table(other).map(tree).unwrap_or_default());
    for _ in 0..=rng.below(3) {
        change(rng, &mut changed, &donor);
    }
    toml::to_string(&changed).map_or_else(|_| text(rng, input, other), String::into_bytes)
}

/// One change somewhere in `tree`.
fn change(rng: &mut Rng, tree: &mut Value, donor: &Value) {
    let paths = paths(tree);
    let path = rng.pick(&paths).clone();
    let Some(node) = tree.pointer_mut(&path) else { return };
    match node {
        Value::Object(map) => change_map(rng, map, donor),
        Value::Array(list) => change_list(rng, list),
        Value::String(string) if string.contains('\n') => {
            *string = String::from_utf8_lossy(&toml(rng, string.as_bytes(), string.as_bytes())).into_owned();
        }
        other => *other = changed_leaf(rng, other),
    }
}

/// The pointer of every node.
fn paths(tree: &Value) -> Vec<String> {
    let mut found = vec![String::new()];
    let mut next = 0;
    while next < found.len() {
        let path = found[next].clone();
        let below = |key: &str| format!("{path}/{}", key.replace('~', "~0").replace('/', "~1"));
        match tree.pointer(&path) {
            Some(Value::Object(map)) => found.extend(map.keys().map(|key| below(key))),
            Some(Value::Array(list)) => found.extend((0..list.len()).map(|index| below(&index.to_string()))),
            _ => {}
        }
        next += 1;
    }
    found
}

/// A key lost, misspelt, new, or taken from the donor.
fn change_map(rng: &mut Rng, map: &mut Map<String, Value>, donor: &Value) {
    let keys: Vec<String> = map.keys().cloned().collect();
    let key = if keys.is_empty() { "x".to_owned() } else { rng.pick(&keys).clone() };
    match rng.below(6) {
        0 => drop(map.remove(&key)),
        1 => {
            let value = map.remove(&key).unwrap_or(Value::Null);
            map.insert(format!("{key}_"), value);
        }
        2 if map.contains_key("policy") || rng.one_in(3) => {
            let policy = *rng.pick(&WORDS);
            map.insert("policy".to_owned(), policy.into());
        }
        _ => {
            let places = paths(donor);
            let place = rng.pick(&places);
            let name = place.rsplit('/').next().unwrap_or_default().to_owned();
            if let Some(value) = donor.pointer(place).filter(|_| !name.is_empty()) {
                map.insert(name, value.clone());
            }
        }
    }
}

/// An entry lost, doubled, or new.
fn change_list(rng: &mut Rng, list: &mut Vec<Value>) {
    let at = rng.below(list.len());
    match rng.below(3) {
        0 if !list.is_empty() => drop(list.remove(at)),
        1 if !list.is_empty() => list.insert(at, list[at].clone()),
        _ => list.push((*rng.pick(&SETS)).into()),
    }
}

/// A value of the same kind or of another.
fn changed_leaf(rng: &mut Rng, old: &Value) -> Value {
    match (old, rng.below(5)) {
        (Value::Bool(old), _) => Value::Bool(!old),
        (Value::String(string), 0..=2) => changed_string(rng, string).into(),
        (Value::Number(number), 0..=2) => {
            let new = changed_number(rng, number.as_u64());
            serde_json::from_str(&new).unwrap_or_else(|_| new.into())
        }
        (_, 3) => (*rng.pick(&WORDS)).into(),
        _ => serde_json::from_str(NUMBERS[rng.below(NUMBERS.len())]).unwrap_or_default(),
    }
}

/// Another number with the same unit, or another word.
fn changed_string(rng: &mut Rng, old: &str) -> String {
    let end = old.find(|character: char| !character.is_ascii_digit()).unwrap_or(old.len());
    let (digits, unit) = old.split_at(end);
    if digits.is_empty() || rng.one_in(3) {
        return (*rng.pick(&WORDS)).to_owned();
    }
    format!("{}{unit}", changed_number(rng, digits.parse().ok()))
}
