//! Which ninescope this is.

/// Version of ninescope.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
