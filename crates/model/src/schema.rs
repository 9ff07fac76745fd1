//! Parts of JSON Schemas for what the derived ones cannot know: policies by name, other names of keys. This module must
//! not know which files there are.

use schemars::{Schema, json_schema};
use serde_json::{Map, Value, json};

/// A policy: its name alone, or a table with its name and parameters. Each policy comes with its summary and the
/// schema of its parameters.
pub fn policy(policies: &[(&str, &str, Schema)]) -> Schema {
    let names = policies.iter().map(|(name, summary, _)| json!({ "const": name, "description": summary }));
    let tables = policies.iter().map(|(name, summary, parameters)| {
        let mut table = parameters.clone();
        table.insert("description".to_owned(), json!(summary));
        table.insert("required".to_owned(), json!(["policy"]));
        properties(&mut table).insert("policy".to_owned(), json!({ "const": name }));
        table.to_value()
    });
    let names: Vec<Value> = names.collect();
    json_schema!({ "anyOf": [{ "oneOf": names }, { "anyOf": tables.collect::<Vec<_>>() }] })
}

/// Gives keys their other names: each pair is a key and what may stand in its place, but not beside it.
pub fn with_aliases(schema: &mut Schema, aliases: &[(&str, &str)]) {
    for (key, alias) in aliases {
        let keys = properties(schema);
        let meaning = keys.get(*key).cloned().unwrap_or_default();
        keys.insert((*alias).to_owned(), meaning);
    }
    let both = |(key, alias): &(&str, &str)| json!({ "not": { "required": [key, alias] } });
    schema.insert("allOf".to_owned(), aliases.iter().map(both).collect());
}

/// Gives a word of an enumeration its other name.
pub fn other_word(word: &'static str, other: &'static str) -> impl FnMut(&mut Schema) {
    move |schema| {
        let words = schema.get_mut("oneOf").and_then(Value::as_array_mut);
        let words = words.expect("an enumeration with a description of each word");
        let mut known = words.iter().find(|known| known["const"] == word).expect("a word of the enumeration").clone();
        known["const"] = other.into();
        words.push(known);
    }
}

fn properties(schema: &mut Schema) -> &mut Map<String, Value> {
    let object = schema.ensure_object();
    let keys = object.entry("properties").or_insert_with(|| json!({}));
    keys.as_object_mut().expect("properties are an object")
}
