//! One command inside the array: how far it is, and where it may be interrupted.
//!
//! Progress is *pulse time*: the time pulses were on, without what suspensions cost. An operation is a
//! sequence of equal segments (program pulses, erase loops). Nothing is lost when it stops and goes on, unless
//! it is told to begin the interrupted segment again.

use ninescope_kernel::Ns;

use super::FlashCommand;

/// A command in its array phase, running or parked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Operation {
    /// What runs.
    pub command: FlashCommand,
    /// When the current stretch of pulses began or begins; of a parked operation, its last stretch [ns].
    pub started: Ns,
    /// Pulse time the whole operation needs [ns].
    pub total: Ns,
    /// Pulse time before the current stretch; of a parked operation, all of it [ns].
    pub done: Ns,
    /// Program pulses or erase loops, 1 for a read [count].
    pub segments: u32,
    /// How often it was stopped [count].
    pub suspensions: u32,
    /// Pulse time before which it may not be stopped again [ns].
    pub run_until_at_least: Ns,
    /// When its first stretch began or begins [ns].
    pub began: Ns,
    /// When it was last stopped, zero where it never was [ns].
    pub stopped: Ns,
    /// Pulse time spent on segments that had to begin again [ns].
    pub lost: Ns,
}

impl Operation {
    /// When the array phase ends if nothing stops it [ns].
    #[inline]
    pub fn end(&self) -> Ns {
        self.time_at_progress(self.total)
    }

    /// Pulse time done at `now`, of a running operation [ns].
    #[inline]
    pub fn progress(&self, now: Ns) -> Ns {
        self.total.min(self.done + now.saturating_since(self.started))
    }

    /// Pulse time at the end of loop or pulse `index` (from 0; beyond the last one, all of it) [ns].
    pub fn segment_end(&self, index: u32) -> Ns {
        let segments = u64::from(self.segments);
        self.grid_point(segments.min(u64::from(index) + 1), segments)
    }

    /// The loop or pulse (from 0) that runs at `now`, of a running operation.
    pub fn segment_at(&self, now: Ns) -> u32 {
        let (done, segments) = (u128::from(self.progress(now).0), u128::from(self.segments));
        // The largest j with floor(total * j / segments) <= done.
        let index = ((done + 1) * segments - 1) / u128::from(self.total.0);
        (index as u32).min(self.segments - 1)
    }

    /// Pulse time at the beginning of the loop or pulse that runs at `now` [ns].
    pub fn segment_begin(&self, now: Ns) -> Ns {
        self.grid_point(u64::from(self.segment_at(now)), u64::from(self.segments))
    }

    /// The time of the next safe point at or after `now` where a running operation may be stopped; its
    /// end when there is none before [ns].
    ///
    /// Each loop or pulse is cut into `points_per_segment` equal parts and every part ends in a safe point
    /// (1: between loops only; 0: no safe point at all).
    pub fn next_safe_point(&self, now: Ns, points_per_segment: u32) -> Ns {
        let points = u64::from(self.segments) * u64::from(points_per_segment);
        let least = u128::from(self.progress(now).max(self.run_until_at_least).0);
        // The smallest j with floor(total * j / points) >= least; the beginning is no safe point.
        let index = (least * u128::from(points)).div_ceil(u128::from(self.total.0)).max(1);
        if index >= u128::from(points) {
            return self.end();
        }
        self.time_at_progress(self.grid_point(index as u64, points))
    }

    /// The earliest time at or after `at` at which a running operation may be stopped anywhere [ns].
    pub(super) fn next_stop(&self, at: Ns) -> Ns {
        self.time_at_progress(self.progress(at).max(self.run_until_at_least))
    }

    /// `floor(total * index / points)`: the grid is laid over the whole operation, so that a rounding
    /// error never adds up over segments.
    fn grid_point(&self, index: u64, points: u64) -> Ns {
        Ns((u128::from(self.total.0) * u128::from(index) / u128::from(points)) as u64)
    }

    #[inline]
    fn time_at_progress(&self, progress: Ns) -> Ns {
        self.started + progress.saturating_since(self.done)
    }
}
