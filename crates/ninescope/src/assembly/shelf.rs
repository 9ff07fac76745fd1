//! Times without power, by which the data of a prepared drive is older than its description says.

use std::fmt;

use ninescope_engine::reliability::NandReliability;
use ninescope_kernel::Ns;
use ninescope_media::ParameterError;
use ninescope_media::health::Arrhenius;
use ninescope_model::units::Duration;
use serde::{Deserialize, Serialize};

use crate::config::{NandConfig, TemperatureSection};
use crate::error::Error;

/// A time without power.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shelf {
    /// How long it was.
    pub time: Duration,
    /// How warm it was there; none: as warm as it is where ages are told [C].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub celsius: Option<f64>,
}

impl fmt::Display for Shelf {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "the drive lay without power for {}", self.time)?;
        match self.celsius {
            Some(celsius) => write!(formatter, " at {celsius} C: its data is older by that"),
            None => formatter.write_str(": its data is older by that"),
        }
    }
}

/// Adds what shelves made of the age of a drive's data, by the clock and at the temperature at which ages are told.
///
/// # Errors
/// [`Error::Input`] where one has a temperature, and the drive none.
pub fn lay_on(part: &mut NandReliability, nand: &NandConfig, shelves: &[Shelf]) -> Result<(), Error> {
    for shelf in shelves {
        part.initial_age = Ns(part.initial_age.0.saturating_add(shelf.time.0));
        match (&mut part.ageing, shelf.celsius, nand.temperature) {
            (Some(ageing), celsius, Some(TemperatureSection { activation_energy, reference, .. })) => {
                let internal = |error: ParameterError| Error::Internal(error.to_string());
                let law = Arrhenius::new(activation_energy, reference).map_err(internal)?;
                let factor = law.acceleration("shelf", celsius.unwrap_or(reference)).map_err(internal)?;
                ageing.initial = Ns(ageing.initial.0.saturating_add((shelf.time.0 as f64 * factor) as u64));
            }
            (_, Some(celsius), _) => {
                let message = format!(
                    "the snapshot lay on a shelf of {celsius} degrees Celsius, and the drive says nothing of temperatures: \
                     give nand.temperature"
                );
                return Err(Error::Input(message));
            }
            _ => {}
        }
    }
    Ok(())
}
