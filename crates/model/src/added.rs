//! Policies that a program adds to a registry. They live in a crate of its own, and are found by their names wherever a
//! configuration is read, written or compared, as those of the registry are.
//!
//! Policies are added before anything is read, once for a process. A run does not know whether one was. What there are policies
//! for is not known here.

use std::any::TypeId;
use std::fmt;
use std::sync::{Arc, RwLock};

use serde::de::{DeserializeOwned, DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde::{Serialize, Serializer};
pub use serde_json::Value as Table;
use serde_json::{Map, Number, Value};

use crate::named_keys::with_named_keys;

/// A table of whatever it is read from. A number that is none, as `nan`, is an error: a [`Table`] would have nothing in its place,
/// as if it had been left out.
///
/// # Errors
/// Those of what it is read from, and of such a number.
pub fn table<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Table, D::Error> {
    Finite.deserialize(deserializer)
}

struct Finite;

impl<'de> DeserializeSeed<'de> for Finite {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Finite {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        Number::from_f64(value)
            .map(Value::Number)
            .ok_or_else(|| E::custom(format_args!("{value} is not a finite number")))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_none<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        self.deserialize(deserializer)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Value, A::Error> {
        let mut values = Vec::new();
        while let Some(value) = list.next_element_seed(Self)? {
            values.push(value);
        }
        Ok(values.into())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut table: A) -> Result<Value, A::Error> {
        let mut values = Map::new();
        while let Some(key) = table.next_key()? {
            values.insert(key, table.next_value_seed(Self)?);
        }
        Ok(values.into())
    }
}

/// A policy that a program added, with what it was told.
pub struct Added<P: ?Sized> {
    name: &'static str,
    /// All of its parameters, those that were left out among them.
    told: Map<String, Value>,
    parameters: Arc<P>,
}

impl<P: ?Sized> Added<P> {
    /// Its name in configurations.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Its parameters, by what all of its kind answer.
    pub fn parameters(&self) -> &P {
        &self.parameters
    }
}

impl<P: ?Sized> Clone for Added<P> {
    fn clone(&self) -> Self {
        Self { name: self.name, told: self.told.clone(), parameters: Arc::clone(&self.parameters) }
    }
}

impl<P: ?Sized> fmt::Debug for Added<P> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {:?}", self.name, self.told)
    }
}

impl<P: ?Sized> PartialEq for Added<P> {
    fn eq(&self, other: &Self) -> bool {
        (self.name, &self.told) == (other.name, &other.told)
    }
}

impl<P: ?Sized> Serialize for Added<P> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let name = ("policy", Value::from(self.name));
        serializer
            .collect_map(std::iter::once((name.0, &name.1)).chain(self.told.iter().map(|(key, value)| (&**key, value))))
    }
}

/// Parameters as they are told, and behind the trait of their kind.
pub type Told<P> = (Map<String, Value>, Arc<P>);

/// What reads the parameters of a policy.
type Read<P> = Arc<dyn Fn(Value) -> Result<Told<P>, String> + Send + Sync>;

struct Entry<P: ?Sized> {
    name: &'static str,
    parameters: TypeId,
    read: Read<P>,
}

/// The policies that were added to one registry.
pub struct Additions<P: ?Sized> {
    entries: RwLock<Vec<Entry<P>>>,
}

impl<P: ?Sized> Additions<P> {
    /// None so far.
    #[allow(clippy::new_without_default)] // there is one for each registry
    pub const fn new() -> Self {
        Self { entries: RwLock::new(Vec::new()) }
    }

    /// Adds a policy to a registry of policies with names of their own. Adding it again, by the same type, does nothing.
    ///
    /// # Errors
    /// Where another one has its name.
    pub fn add(
        &self,
        name: &'static str,
        own: &[(&str, &str)],
        parameters: TypeId,
        read: impl Fn(Value) -> Result<Told<P>, String> + Send + Sync + 'static,
    ) -> Result<(), String> {
        let mut entries = self.entries.write().expect("nobody panics with it");
        match entries.iter().find(|entry| entry.name == name) {
            Some(before) if before.parameters == parameters => Ok(()),
            None if own.iter().all(|(known, _)| *known != name) => {
                entries.push(Entry { name, parameters, read: Arc::new(read) });
                Ok(())
            }
            _ => Err(format!("there is a policy named `{name}` already")),
        }
    }

    /// The policy that a table names; `None` where it was not added, so that the registry has to read it.
    ///
    /// # Errors
    /// What is wrong with its parameters, or with a name that nobody has.
    pub fn named_in(&self, table: &Value, own: &[(&str, &str)]) -> Result<Option<Added<P>>, String> {
        let Some(name) = table["policy"].as_str() else { return Ok(None) };
        let entries = self.entries.read().expect("nobody panics with it");
        let entry = entries.iter().find(|entry| entry.name == name);
        let Some((name, read)) = entry.map(|entry| (entry.name, Arc::clone(&entry.read))) else {
            if own.iter().any(|(known, _)| *known == name) {
                return Ok(None);
            }
            let known = own.iter().map(|(known, _)| *known).chain(entries.iter().map(|entry| entry.name));
            let known: Vec<String> = known.map(|known| format!("`{known}`")).collect();
            return Err(format!("unknown variant `{name}`, expected one of {}", known.join(", ")));
        };
        // Who reads it may take locks of its own, and add policies.
        drop(entries);
        let mut told = table.clone();
        told.as_object_mut().and_then(|table| table.shift_remove("policy"));
        let (told, parameters) = read(told)?;
        Ok(Some(Added { name, told, parameters }))
    }
}

/// The parameters of a type that a table tells, and all of them as a table.
///
/// # Errors
/// What is wrong with one, by its key.
pub fn parameters<T: DeserializeOwned + Serialize>(table: Value) -> Result<(Map<String, Value>, T), serde_json::Error> {
    let parameters: T = with_named_keys(table)?;
    let told = match serde_json::to_value(&parameters)? {
        Value::Object(told) => told,
        // Of a type that has none.
        _ => Map::new(),
    };
    Ok((told, parameters))
}

#[cfg(test)]
mod tests {
    use serde::de::IntoDeserializer;
    use serde::de::value::Error as Said;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_table_is_what_it_is_read_from() {
        let told = json!({ "policy": "a", "counts": [0, -1, u64::MAX], "share": 0.5, "is": true, "none": null, "in": { "b": "c" } });
        assert_eq!(table(told.clone()).expect("reads"), told);
        let text = "policy = 'a'\ncounts = [0, -1]\nshare = 0.5\nin = { b = 'c' }";
        let expected = json!({ "policy": "a", "counts": [0, -1], "share": 0.5, "in": { "b": "c" } });
        assert_eq!(table(toml::Deserializer::parse(text).expect("is TOML")).expect("reads"), expected);
    }

    #[test]
    fn a_number_that_is_none_is_not_left_out() {
        for (value, said) in [(f64::NAN, "NaN is not a finite number"), (f64::INFINITY, "inf is not a finite number")] {
            let read: Result<Value, Said> = table(value.into_deserializer());
            assert_eq!(read.expect_err("refused").to_string(), said);
        }
    }
}
