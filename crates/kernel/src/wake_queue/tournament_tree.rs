//! A tournament over all resources, eight to a match.

use super::{ResourceId, WakeQueue};
use crate::Ns;

/// Contestants of a match: eight times are a cache line, and are compared without a branch.
const MATCH: usize = 8;

/// A wake-up as the winner of a match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Entry {
    at: Ns,
    resource: u32,
}

/// Nobody: it loses every match, and is never found by its number.
const NOBODY: Entry = Entry { at: Ns::NEVER, resource: u32::MAX };

impl Entry {
    /// Among equals the lower number wins.
    #[inline]
    fn is_before(self, other: Self) -> bool {
        self.at < other.at || (self.at == other.at && self.resource < other.resource)
    }
}

/// The times of all resources, the winners of matches among eight, the winners of halls of eight matches each, and the winner of
/// all. Most wake-ups that are set come after that of their match's winner, and change nothing. Where a winner leaves, its match
/// is played again, and its hall, and where it was the winner of all, the final.
#[derive(Debug)]
pub struct TournamentTree {
    /// By resource, padded to whole halls.
    times: Vec<Ns>,
    /// The same.
    matches: Vec<Entry>,
    halls: Vec<Entry>,
    winner: Entry,
}

/// The first of the least among eight times.
#[inline]
fn least(times: &[Ns; MATCH]) -> (usize, Ns) {
    let mut best = (0, times[0]);
    for (index, &at) in times.iter().enumerate().skip(1) {
        best = if at < best.1 { (index, at) } else { best };
    }
    best
}

/// The first among winners, which come in the order of their numbers.
#[inline]
fn first(entries: &[Entry]) -> Entry {
    entries.iter().fold(NOBODY, |best, &entry| if entry.at < best.at { entry } else { best })
}

/// The match that a contestant is in.
#[inline]
fn match_of<T>(contestants: &[T], number: usize) -> &[T; MATCH] {
    let start = number * MATCH;
    contestants[start..start + MATCH].try_into().expect("matches are whole")
}

impl TournamentTree {
    /// The winner of a resource's first match.
    #[inline]
    fn play(&self, number: usize) -> Entry {
        let (index, at) = least(match_of(&self.times, number));
        if at == Ns::NEVER { NOBODY } else { Entry { at, resource: (number * MATCH + index) as u32 } }
    }

    /// Sets a time, and what follows from it.
    #[inline]
    fn set(&mut self, resource: ResourceId, at: Ns) {
        let leaves = |winner: Entry| winner.resource == resource.0;
        self.times[resource.index()] = at;
        let number = resource.index() / MATCH;
        let mut entry = Entry { at, resource: resource.0 };
        let of_match = self.matches[number];
        if !entry.is_before(of_match) {
            if !leaves(of_match) {
                return;
            }
            entry = self.play(number);
        }
        self.matches[number] = entry;
        let of_hall = self.halls[number / MATCH];
        if !entry.is_before(of_hall) {
            if !leaves(of_hall) {
                return;
            }
            entry = first(match_of(&self.matches, number / MATCH));
        }
        self.halls[number / MATCH] = entry;
        if entry.is_before(self.winner) {
            self.winner = entry;
        } else if leaves(self.winner) {
            self.winner = first(&self.halls);
        }
    }
}

impl WakeQueue for TournamentTree {
    fn new(resources: usize) -> Self {
        let halls = resources.max(1).div_ceil(MATCH * MATCH);
        let matches = halls * MATCH;
        Self {
            times: vec![Ns::NEVER; matches * MATCH],
            matches: vec![NOBODY; matches],
            halls: vec![NOBODY; halls],
            winner: NOBODY,
        }
    }

    #[inline]
    fn schedule(&mut self, resource: ResourceId, at: Ns) {
        self.set(resource, at);
    }

    #[inline]
    fn cancel(&mut self, resource: ResourceId) {
        if self.wake_time(resource) != Ns::NEVER {
            self.set(resource, Ns::NEVER);
        }
    }

    #[inline]
    fn wake_time(&self, resource: ResourceId) -> Ns {
        self.times[resource.index()]
    }

    #[inline]
    fn peek(&self) -> Option<(Ns, ResourceId)> {
        (self.winner.at != Ns::NEVER).then_some((self.winner.at, ResourceId(self.winner.resource)))
    }

    #[inline]
    fn pop(&mut self) -> Option<(Ns, ResourceId)> {
        let (at, winner) = self.peek()?;
        // It has won all of its matches: each is played again, without asking.
        let number = winner.index() / MATCH;
        self.times[winner.index()] = Ns::NEVER;
        self.matches[number] = self.play(number);
        self.halls[number / MATCH] = first(match_of(&self.matches, number / MATCH));
        self.winner = first(&self.halls);
        Some((at, winner))
    }
}
