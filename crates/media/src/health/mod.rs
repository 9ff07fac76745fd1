//! How media wear and age, and what that does to bit errors: pure functions of what a block went through. They know no
//! block, no clock and no policy of the drive.

mod suspend_limit;
mod temperature;

pub use crate::policies::error_model::table::place;
pub use crate::policies::error_model::{self, ErrorModel, ErrorModelConfig, Health, RBER_MAX};
pub use suspend_limit::{LimitByWear, LimitError, SuspendLimit, WearPoint};
pub use temperature::{ACTIVATION_ENERGY_MAX, Arrhenius, BOLTZMANN, CELSIUS};
