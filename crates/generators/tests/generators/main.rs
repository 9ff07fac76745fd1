//! Jobs, profiles, file systems and host caches as their users see them: one program for all of it, which is linked once.

mod file_system;
mod host_cache;
mod jobs;
mod naive_cache;
mod profiles;
mod stand_ins;
mod zone_log;
