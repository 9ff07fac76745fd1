//! The keys of a drive, by the schema of the type that reads them.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use schemars::{JsonSchema, Schema};
use serde_json::{Value, json};

use super::DriveConfig;

/// Where a schema lists what a value may be.
pub(crate) const WAYS: [&str; 2] = ["anyOf", "oneOf"];

/// Every key of a drive with its tables ("ftl.victim.d"), tables among them, in the order of the alphabet.
pub fn drive_keys() -> &'static [String] {
    /// Every drive with sources asks for them, and to make the schema takes longer than to read a drive.
    static KEYS: LazyLock<Vec<String>> = LazyLock::new(|| {
        let schema = schema_of::<DriveConfig>();
        let mut keys = BTreeSet::new();
        keys_of(&schema, &schema["$defs"], "", &mut keys);
        keys.into_iter().collect()
    });
    &KEYS
}

/// The keys of a table and of those in it; the tables of lists have no names.
fn keys_of(schema: &Value, definitions: &Value, table: &str, keys: &mut BTreeSet<String>) {
    if let Some(name) = referred(schema) {
        keys_of(&definitions[&name], definitions, table, keys);
    }
    for way in WAYS.iter().filter_map(|ways| schema.get(ways)?.as_array()).flatten() {
        keys_of(way, definitions, table, keys);
    }
    for (key, of) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
        let key = if table.is_empty() { key.clone() } else { format!("{table}.{key}") };
        keys_of(of, definitions, &key, keys);
        keys.insert(key);
    }
}

/// The schema of a type that is read from TOML.
pub(crate) fn schema_of<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with_transform(RecursiveTransform(without_null));
    settings.into_generator().into_root_schema_for::<T>().to_value()
}

/// TOML has no null: what may be absent is left out.
fn without_null(schema: &mut Schema) {
    if let Some(Value::Array(types)) = schema.get_mut("type") {
        types.retain(|name| name != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            schema.insert("type".to_owned(), only);
        }
    }
    if let Some(Value::Array(ways)) = schema.get_mut("anyOf") {
        ways.retain(|way| *way != json!({ "type": "null" }));
    }
    if schema.get("default") == Some(&Value::Null) {
        schema.remove("default");
    }
}

/// The definition that a schema refers to.
pub(crate) fn referred(schema: &Value) -> Option<String> {
    schema.get("$ref")?.as_str()?.strip_prefix("#/$defs/").map(str::to_owned)
}
