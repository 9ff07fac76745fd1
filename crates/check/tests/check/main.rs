//! The checker seen from outside: one program, because each program links the whole engine again.
//! What deliberate faults do to it is in `mutations`, which compiles a copy of its own.

mod checker;
mod recorded;
mod scm;
mod snapshots;
mod support;
mod tier;
mod worlds;
