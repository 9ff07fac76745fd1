//! Parts of JSON Schemas for what the derived ones cannot know: policies by name, other names of keys. This module must
//! not know which files there are.

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, json_schema};
use serde::Serialize;
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

/// A parameter of a policy, for whoever looks for what can be set.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Parameter {
    /// Its key.
    pub name: String,
    /// What it means.
    pub summary: String,
    /// In what it is counted, where it has no unit of its own: "ns", "count".
    pub unit: Option<String>,
    /// What it may be, in words.
    pub values: String,
    /// What it is where nobody says it; absent: nothing.
    pub default: Option<Value>,
}

/// The parameters of a policy, as its type describes them.
pub fn parameters<T: JsonSchema + Default + Serialize>() -> Vec<Parameter> {
    let generator = SchemaSettings::draft2020_12().into_generator();
    parameters_of(
        &generator.into_root_schema_for::<T>().to_value(),
        &serde_json::to_value(T::default()).unwrap_or_default(),
    )
}

/// The same by the type's schema and its default. Not a part of the other, which is compiled for each type.
fn parameters_of(schema: &Value, defaults: &Value) -> Vec<Parameter> {
    let keys = schema.get("properties").and_then(Value::as_object);
    let parameter = |(name, of): (&String, &Value)| {
        let described = of["description"].as_str().unwrap_or_default();
        let (summary, unit) = without_unit(described);
        let values = values_in_words(of, &schema["$defs"]);
        let default = defaults.get(name).filter(|value| !value.is_null()).cloned();
        Parameter { name: name.clone(), summary, unit, values, default }
    };
    keys.into_iter().flatten().map(parameter).collect()
}

/// A description without its unit in brackets, and the unit.
fn without_unit(described: &str) -> (String, Option<String>) {
    let words = described.split_whitespace().collect::<Vec<_>>().join(" ");
    let taken_apart = words.split_once(" [").and_then(|(before, rest)| Some((before, rest.split_once(']')?)));
    let (summary, unit) = match taken_apart {
        Some((before, (unit, after))) => (format!("{before}{after}"), Some(unit.to_owned())),
        None => (words, None),
    };
    (summary.trim_end_matches('.').to_owned(), unit)
}

/// What a schema allows, in words.
fn values_in_words(schema: &Value, definitions: &Value) -> String {
    let of = |schema: &Value| values_in_words(schema, definitions);
    if let Some(name) = schema["$ref"].as_str().and_then(|path| path.strip_prefix("#/$defs/")) {
        return match name {
            "Duration" => "a time".to_owned(),
            "Bytes" => "a size".to_owned(),
            "BytesPerSecond" => "a rate".to_owned(),
            _ => of(&definitions[name]),
        };
    }
    let ways = ["anyOf", "oneOf"].into_iter().find_map(|key| schema.get(key)?.as_array());
    if let Some(ways) = ways {
        let named = |way: &Value| way["const"].as_str().map(str::to_owned);
        if let Some(names) = ways.iter().map(named).collect::<Option<Vec<_>>>() {
            return names.join(", ");
        }
        // Of a policy its name alone will do; of what may be left out, what it is otherwise.
        let first = ways.iter().find(|way| **way != json!({ "type": "null" }));
        return first.map(of).unwrap_or_default();
    }
    if let Some(names) = schema["enum"].as_array() {
        return names.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(", ");
    }
    let types = schema["type"].as_array().map_or(std::slice::from_ref(&schema["type"]), Vec::as_slice);
    match types.iter().filter_map(Value::as_str).find(|name| *name != "null") {
        Some("integer") => format!("a whole number{}", range_in_words(schema)),
        Some("number") => format!("a number{}", range_in_words(schema)),
        Some("boolean") => "true or false".to_owned(),
        Some("array") => format!("a list, each {}", of(&schema["items"])),
        Some("object") => "a table".to_owned(),
        _ => "a text".to_owned(),
    }
}

fn range_in_words(schema: &Value) -> String {
    let bound = |keys: [&'static str; 2]| keys.into_iter().find_map(move |key| Some((key, schema.get(key)?)));
    let lower = bound(["minimum", "exclusiveMinimum"]);
    let upper = bound(["maximum", "exclusiveMaximum"]).filter(|(_, most)| most.as_u64() != Some(u64::from(u32::MAX)));
    let from = match lower {
        Some(("minimum", least)) => format!(" from {least}"),
        Some((_, least)) => format!(" above {least}"),
        None => String::new(),
    };
    let to = match upper {
        Some(("maximum", most)) if lower.is_some() => format!(" to {most}"),
        Some(("maximum", most)) => format!(" of at most {most}"),
        Some((_, most)) if lower.is_some() => format!(" and below {most}"),
        Some((_, most)) => format!(" below {most}"),
        None if matches!(lower, Some(("minimum", _))) => " on".to_owned(),
        None => String::new(),
    };
    format!("{from}{to}")
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

/// A quantity of nothing, in whatever unit: "0us", "0.0 MiB".
const NOTHING: &str = r"^\s*\+?0*(\.0*)?\s*[^0-9.]*$";

/// Refuses 0 of a number, of a quantity, and within a list of them: a key that something has to be of.
pub fn above_zero(schema: &mut Schema) {
    let object = schema.ensure_object();
    let kinds = object.get("type").cloned().unwrap_or_default();
    let is = |kind: &str| kinds == kind || kinds.as_array().is_some_and(|kinds| kinds.contains(&kind.into()));
    if is("integer") {
        object.insert("minimum".to_owned(), 1.into());
    }
    if is("number") {
        object.insert("exclusiveMinimum".to_owned(), 0.into());
    }
    if object.contains_key("$ref") {
        let nothing = json!({ "anyOf": [{ "const": 0 }, { "type": "string", "pattern": NOTHING }] });
        object.insert("not".to_owned(), nothing);
    }
    let ways = ["anyOf", "oneOf"].map(|key| object.remove(key).map(|ways| (key, ways)));
    for (key, mut ways) in ways.into_iter().flatten() {
        ways.as_array_mut().into_iter().flatten().for_each(above_zero_of);
        object.insert(key.to_owned(), ways);
    }
    object.get_mut("items").into_iter().for_each(above_zero_of);
}

fn above_zero_of(schema: &mut Value) {
    if let Ok(schema) = <&mut Schema>::try_from(schema) {
        above_zero(schema);
    }
}

fn properties(schema: &mut Schema) -> &mut Map<String, Value> {
    let object = schema.ensure_object();
    let keys = object.entry("properties").or_insert_with(|| json!({}));
    keys.as_object_mut().expect("properties are an object")
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use super::*;
    use crate::units::Duration;

    /// Parameters of all kinds.
    #[derive(Serialize, JsonSchema)]
    #[serde(default)]
    struct Told {
        /// How long it waits
        /// at most [ns]; absent: for ever.
        #[serde(skip_serializing_if = "Option::is_none")]
        wait: Option<Duration>,
        /// Candidates [count].
        draws: NonZeroU32,
        /// Share.
        #[schemars(range(min = 0, max = 1))]
        share: f64,
        /// Whether.
        flag: bool,
        /// Rates [1/bit].
        rates: Vec<f64>,
    }

    impl Default for Told {
        fn default() -> Self {
            let draws = NonZeroU32::new(10).expect("is not zero");
            Self { wait: None, draws, share: 0.5, flag: false, rates: vec![0.1] }
        }
    }

    #[test]
    fn nothing_is_refused_of_a_key_that_has_to_be_of_something() {
        /// Keys of every kind.
        #[derive(JsonSchema)]
        #[allow(dead_code)] // its schema is what is looked at
        struct Keys {
            #[schemars(transform = above_zero)]
            time: Option<Duration>,
            #[schemars(transform = above_zero)]
            count: Option<u32>,
            #[schemars(transform = above_zero)]
            share: f64,
            #[schemars(transform = above_zero)]
            times: Vec<Duration>,
        }
        let schema = SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<Keys>().to_value();
        let keys = &schema["properties"];
        let nothing = json!({ "anyOf": [{ "const": 0 }, { "type": "string", "pattern": NOTHING }] });
        assert_eq!(keys["time"]["anyOf"][0]["not"], nothing);
        assert_eq!(keys["count"]["minimum"], 1);
        assert_eq!(keys["share"]["exclusiveMinimum"], 0);
        assert_eq!(keys["times"]["items"]["not"], nothing);
    }

    #[test]
    fn parameters_are_told_with_range_default_and_unit() {
        let told = |name: &str, summary: &str, unit: Option<&str>, values: &str, default: Option<Value>| Parameter {
            name: name.to_owned(),
            summary: summary.to_owned(),
            unit: unit.map(str::to_owned),
            values: values.to_owned(),
            default,
        };
        let expected = [
            told("wait", "How long it waits at most; absent: for ever", Some("ns"), "a time", None),
            told("draws", "Candidates", Some("count"), "a whole number from 1 on", Some(json!(10))),
            told("share", "Share", None, "a number from 0 to 1", Some(json!(0.5))),
            told("flag", "Whether", None, "true or false", Some(json!(false))),
            told("rates", "Rates", Some("1/bit"), "a list, each a number", Some(json!([0.1]))),
        ];
        assert_eq!(parameters::<Told>(), expected);
    }
}
