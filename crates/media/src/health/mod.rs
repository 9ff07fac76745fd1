//! How media wear and what that does to bit errors: pure functions of what a block went through. They know no
//! block, no clock and no policy.

mod suspend_limit;

pub use suspend_limit::{LimitByWear, LimitError, SuspendLimit, WearPoint};
