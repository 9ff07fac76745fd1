//! The policy registry: one macro line per policy gives its module, its configuration, its name and its place in
//! the list that documentation, smoke tests and the Python face are made from.

use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::value::{MapAccessDeserializer, MapDeserializer};
use serde::de::{Deserializer, Error, MapAccess, Visitor};

/// Declares the registry of one kind of policy, in the `mod.rs` of the folder of that kind.
///
/// ```text
/// policy_registry! {
///     /// Which block group garbage collection empties next.
///     VictimSelectionConfig as dyn VictimSelectionParameters;
///     "greedy" => greedy::Greedy, "the candidate with the fewest valid units";
/// }
/// ```
/// declares the module of each policy, and makes `enum VictimSelectionConfig` (serde: a policy's name alone, or a table with
/// `policy = "name"` and the policy's parameters), `VictimSelectionConfig::LIST` of `(name, summary)`,
/// `VictimSelectionConfig::parameters()`, what each can be told, and `config.chosen()`, the parameters of the policy behind the
/// trait of the kind: whatever else is to be known of a policy is asked there. Each parameter type implements that trait,
/// `Default`, `Serialize`, `Deserialize` (with unknown fields refused) and `JsonSchema`. The first policy is the default, unless
/// the first line ends with `, by default Variant;`. `VictimSelectionConfig::add` takes in one that lives in a program's own crate
/// ([`crate::added`]).
///
/// `cargo fmt` does not see modules that a macro declares: `make lint` hands them to rustfmt by name.
#[macro_export]
macro_rules! policy_registry {
    ($(#[$meta:meta])* $config:ident as dyn $kind:path; $first:literal $($rest:tt)+) => {
        $crate::policy_registry! { @of_kind $(#[$meta])* $config as dyn $kind; $first $($rest)+ }
        $crate::policy_registry! { @first $config; $first $($rest)+ }
    };
    ($(#[$meta:meta])* $config:ident as dyn $kind:path, by default $default:ident; $($policies:tt)+) => {
        $crate::policy_registry! { @of_kind $(#[$meta])* $config as dyn $kind; $($policies)+ }
        $crate::policy_registry! { @default $config; $default }
    };
    (@of_kind $(#[$meta:meta])* $config:ident as dyn $kind:path; $($name:literal => $module:ident::$variant:ident, $summary:literal;)+) => {
        $(pub mod $module;)+

        $crate::policy_registry! {
            @policies $(#[$meta])* $config as dyn $kind; $($name => $variant($module::$variant), $summary;)+
        }

        impl $config {
            /// The parameters of the policy, by what all of its kind answer.
            pub fn chosen(&self) -> &dyn $kind {
                match self {
                    $(Self::$variant(parameters) => parameters,)+
                    Self::Added(policy) => policy.parameters(),
                }
            }
        }
    };
    (@first $config:ident; $name:literal => $module:ident::$first:ident, $($others:tt)+) => {
        $crate::policy_registry! { @default $config; $first }
    };
    (@default $config:ident; $first:ident) => {
        impl Default for $config {
            fn default() -> Self {
                Self::$first(Default::default())
            }
        }
    };
    (@policies $(#[$meta:meta])* $config:ident as dyn $kind:path; $($name:literal => $variant:ident($parameters:ty), $summary:literal;)+) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
        #[serde(tag = "policy", remote = "Self")]
        pub enum $config {
            $(
                #[doc = $summary]
                #[serde(rename = $name, deserialize_with = "ninescope_model::named_keys::with_named_keys")]
                $variant($parameters),
            )+
            /// One that a program added, by its own name.
            #[serde(skip)]
            Added($crate::added::Added<dyn $kind + Send + Sync>),
        }

        impl serde::Serialize for $config {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                match self {
                    Self::Added(policy) => policy.serialize(serializer),
                    // What is derived has the same name, and comes first.
                    policy => Self::serialize(policy, serializer),
                }
            }
        }

        impl<'de> serde::Deserialize<'de> for $config {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                // Whatever it is read from, it is read as a table: parameters are compiled for one way of reading, not for each.
                let table = $crate::added::table(deserializer)?;
                match Self::additions().named_in(&table, Self::LIST).map_err(serde::de::Error::custom)? {
                    Some(policy) => Ok(Self::Added(policy)),
                    None => Self::deserialize(table).map_err(serde::de::Error::custom),
                }
            }
        }

        impl schemars::JsonSchema for $config {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($config).into()
            }

            fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                $crate::schema::policy(&[
                    $(($name, $summary, <$parameters as schemars::JsonSchema>::json_schema(generator)),)+
                ])
            }
        }

        impl $config {
            /// Every policy of this registry: (name, one-line summary).
            pub const LIST: &'static [(&'static str, &'static str)] = &[$(($name, $summary),)+];

            /// Every policy with its default parameters, in registry order.
            pub fn all() -> Vec<Self> {
                vec![$(Self::$variant(<$parameters>::default()),)+]
            }

            /// The parameters of every policy, in registry order.
            pub fn parameters() -> Vec<Vec<$crate::schema::Parameter>> {
                vec![$($crate::schema::parameters::<$parameters>(),)+]
            }

            /// The name in configurations.
            pub fn name(&self) -> &'static str {
                match self {
                    $(Self::$variant(_) => $name,)+
                    Self::Added(policy) => policy.name(),
                }
            }

            /// Adds a policy of a program's own, by its parameters and its name in configurations. To be called before anything
            /// is read; calling it again does nothing.
            ///
            /// # Panics
            /// Where another policy has its name.
            pub fn add<T>(name: &'static str)
            where
                T: $kind + serde::Serialize + serde::de::DeserializeOwned + Send + Sync + 'static,
            {
                let read = |table| {
                    let (told, parameters) = $crate::added::parameters::<T>(table).map_err(|error| error.to_string())?;
                    Ok((told, std::sync::Arc::new(parameters) as std::sync::Arc<dyn $kind + Send + Sync>))
                };
                if let Err(problem) = Self::additions().add(name, Self::LIST, std::any::TypeId::of::<T>(), read) {
                    panic!("{problem}");
                }
            }

            /// The same for parameters that are no type of their own: `read` makes them of a table, and says which they are.
            ///
            /// # Errors
            /// Where another policy has its name.
            pub fn add_read_by<T>(
                name: &'static str,
                read: impl Fn($crate::added::Table) -> Result<$crate::added::Told<T>, String> + Send + Sync + 'static,
            ) -> Result<(), String>
            where
                T: $kind + Send + Sync + 'static,
            {
                let read = move |table| {
                    read(table).map(|(told, parameters)| (told, parameters as std::sync::Arc<dyn $kind + Send + Sync>))
                };
                Self::additions().add(name, Self::LIST, std::any::TypeId::of::<T>(), read)
            }

            fn additions() -> &'static $crate::added::Additions<dyn $kind + Send + Sync> {
                static ADDITIONS: $crate::added::Additions<dyn $kind + Send + Sync> = $crate::added::Additions::new();
                &ADDITIONS
            }
        }
    };
}

/// Deserializes a registry's enum from a policy name alone (`"greedy"`) or a table
/// (`{ policy = "d-choices", d = 4 }`). For `#[serde(deserialize_with = "string_or_table")]`.
///
/// # Errors
/// Those of the table form; an unknown name lists the known ones.
pub fn string_or_table<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    struct StringOrTable<T>(PhantomData<T>);

    impl<'de, T: Deserialize<'de>> Visitor<'de> for StringOrTable<T> {
        type Value = T;

        fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
            formatter.write_str("a policy name, or a table with `policy` and its parameters")
        }

        fn visit_str<E: Error>(self, name: &str) -> Result<T, E> {
            T::deserialize(MapDeserializer::new(std::iter::once(("policy", name))))
        }

        fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
            T::deserialize(MapAccessDeserializer::new(map))
        }
    }

    deserializer.deserialize_any(StringOrTable(PhantomData))
}

/// The same for a policy that may be left out: `#[serde(default, deserialize_with = "optional_string_or_table")]`.
///
/// # Errors
/// Those of [`string_or_table`].
pub fn optional_string_or_table<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    string_or_table(deserializer).map(Some)
}
