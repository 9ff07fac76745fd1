//! The tests of the crate from outside: one program, because each program links all of it again.

mod codec;
mod latency;
mod mathematics;
mod policies;
