//! The tests of the crate from outside: one program, because each program links all of it again.

mod boundaries;
mod die_machine;
mod every_command_in_every_state;
mod harness;
mod program_verify;
mod scm;
mod time_factors;
