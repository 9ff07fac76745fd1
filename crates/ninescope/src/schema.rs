//! JSON Schemas (draft 2020-12) of the files that people write, for editors. They come from the types that read the
//! files, so that they cannot differ from them; what only a whole drive can be wrong in stays with `check`.

use std::collections::BTreeSet;

use ninescope_generators::profile::Profile;
use ninescope_model::LANES_MAX;
use serde_json::{Map, Value, json};

use crate::config::{DriveConfig, JobConfig, JobTables, JobsTable, WAYS, referred, schema_of};
use crate::presets::presets;

/// A kind of file with a schema.
struct Kind {
    name: &'static str,
    title: &'static str,
    schema: fn() -> Value,
}

const KINDS: &[Kind] = &[
    Kind { name: "drive", title: "A drive of ninescope", schema: drive },
    Kind { name: "job", title: "A job of ninescope", schema: job },
    Kind { name: "profile", title: "A profile of ninescope", schema: schema_of::<Profile> },
];

/// The schemas by the kind of file: its name, and the schema as JSON.
pub fn schemas() -> Vec<(&'static str, String)> {
    let text = |kind: &Kind| {
        let mut schema = (kind.schema)();
        schema["title"] = kind.title.into();
        (kind.name, format!("{schema:#}"))
    };
    KINDS.iter().map(text).collect()
}

/// A drive: whole, or what differs from a preset.
fn drive() -> Value {
    let mut schema = schema_of::<DriveConfig>();
    let mut whole = required_taken_out(&mut schema);
    // Of flash, of storage-class memory, or of both.
    whole["anyOf"] = json!([{ "required": ["geometry", "nand"] }, { "required": ["scm"] }]);
    let names: Vec<&str> = presets().iter().map(|preset| preset.name).collect();
    let description = "The preset from which everything comes that is not written here.";
    schema["properties"]["base"] = json!({ "description": description, "enum": names });
    schema["if"] = json!({ "required": ["base"] });
    schema["else"] = whole;
    schema
}

/// Takes the demands for keys out of a schema and the tables in it, and returns them as a schema of their own. Those
/// inside lists stay: a list is replaced as a whole.
fn required_taken_out(root: &mut Value) -> Value {
    let mut reached = BTreeSet::new();
    let demands = demands_of(root, &root["$defs"], &mut reached);
    relax(root);
    for name in reached {
        relax(&mut root["$defs"][name]);
    }
    demands
}

/// What a schema, and the definitions reached from its keys, demand.
fn demands_of(schema: &Value, definitions: &Value, reached: &mut BTreeSet<String>) -> Value {
    if let Some(name) = referred(schema) {
        reached.insert(name.clone());
        return demands_of(&definitions[&name], definitions, reached);
    }
    let mut demands = Map::new();
    for way in WAYS.iter().filter_map(|ways| schema.get(ways)?.as_array()).flatten() {
        // All tables that a key may hold demand the same, and of what is no table nothing is demanded.
        merge(&mut demands, demands_of(way, definitions, reached));
    }
    if let Some(required) = schema.get("required") {
        demands.insert("required".to_owned(), required.clone());
    }
    let keys = schema.get("properties").and_then(Value::as_object);
    let of_keys = keys.into_iter().flatten().map(|(key, of)| (key.clone(), demands_of(of, definitions, reached)));
    let of_keys: Map<String, Value> = of_keys.filter(|(_, of)| *of != json!({})).collect();
    if !of_keys.is_empty() {
        demands.insert("properties".to_owned(), of_keys.into());
    }
    demands.into()
}

fn relax(schema: &mut Value) {
    let Some(schema) = schema.as_object_mut() else { return };
    schema.remove("required");
    for ways in WAYS {
        schema.get_mut(ways).and_then(Value::as_array_mut).into_iter().flatten().for_each(relax);
    }
}

/// Jobs: the keys of one at top level, or tables: one workload, perhaps behind a host cache, or several jobs.
fn job() -> Value {
    let mut schema = schema_of::<JobConfig>();
    for file in [schema_of::<JobsTable>(), schema_of::<JobTables>()] {
        for part in ["$defs", "properties"] {
            if let Some(into) = schema[part].as_object_mut() {
                merge(into, file[part].clone());
            }
        }
    }
    schema["properties"]["jobs"]["maxItems"] = LANES_MAX.into();
    for keys in ["/properties", "/$defs/JobConfig/properties"] {
        if let Some(numjobs) = schema.pointer_mut(&format!("{keys}/numjobs")) {
            numjobs["maximum"] = LANES_MAX.into();
        }
    }
    let alone = |workload: &str, others: &[&str]| {
        let keys = [&["summary", workload], others].concat();
        json!({ "required": [workload], "propertyNames": { "enum": keys } })
    };
    let tables = [
        alone("jobs", &["traces"]),
        alone("traces", &["jobs"]),
        alone("job", &["host_cache"]),
        alone("file_system", &["host_cache"]),
        alone("job", &["zone_log"]),
        alone("file_system", &["zone_log"]),
    ];
    let of_tables = ["summary", "jobs", "traces", "job", "file_system", "host_cache", "zone_log"];
    schema["if"] = json!({ "anyOf": of_tables.map(|table| json!({ "required": [table] })) });
    schema["then"] = json!({ "anyOf": tables });
    schema["else"] = json!({ "minProperties": 1 });
    // Behind a host cache there is one job, on a disk with a size of its own.
    let elsewhere = ["startdelay", "ramp_time", "thinktime"].map(|key| json!({ "required": [key] }));
    schema["dependentSchemas"] = json!({ "host_cache": { "properties": { "job": {
        "required": ["size"],
        "properties": { "numjobs": { "const": 1 }, "stonewall": { "const": false } },
        "not": { "anyOf": elsewhere },
    } } } });
    schema
}

fn merge(into: &mut Map<String, Value>, more: Value) {
    if let Value::Object(more) = more {
        into.extend(more);
    }
}
