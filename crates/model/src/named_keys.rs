//! Errors of parameters that name the key, wherever these are read from.

use serde::Deserialize;
use serde::de::{Deserializer, Error};

/// Deserializes the parameters of a policy so that an error names the parameter, which is lost otherwise: to learn the
/// policy's name first, its table is read into a buffer that knows no keys.
///
/// # Errors
/// Those of the parameters.
pub fn with_named_keys<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    serde_path_to_error::deserialize(deserializer).map_err(|error| {
        let key = error.path().to_string();
        D::Error::custom(below_key(&key, &error.into_inner().to_string()))
    })
}

/// A message about what stands below `key`, which may name the key by itself, or one that stands below it.
pub fn below_key(key: &str, message: &str) -> String {
    if key == "." {
        return message.to_owned();
    }
    let is_key = |text: &str| text.bytes().all(|byte| byte.is_ascii_lowercase() || b"._[]0123456789".contains(&byte));
    match message.split_once(": ") {
        Some((below, _)) if is_key(below) => format!("{key}.{message}"),
        _ => format!("{key}: {message}"),
    }
}
