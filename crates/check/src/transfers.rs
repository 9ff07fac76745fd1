//! Channels and the host link: one transfer at a time, and every nanosecond of it in the utilization.

use ninescope_engine::{Utilization, View};
use ninescope_kernel::Ns;
use ninescope_model::DieId;

use crate::rule::{Checked, require};

/// A resource that moves one transfer at a time.
#[derive(Clone, Copy, Debug, Default)]
pub struct Booking {
    until: Ns,
    /// Since measuring began [ns].
    busy: u64,
}

impl Booking {
    /// Takes the resource; returns whether it was free.
    #[inline]
    pub fn take(&mut self, from: Ns, until: Ns) -> bool {
        let free = from >= self.until && until >= from;
        self.busy += until.saturating_since(from).0;
        self.until = until;
        free
    }

    pub fn until(&self) -> Ns {
        self.until
    }

    pub fn busy(&self) -> u64 {
        self.busy
    }

    pub fn measuring_began(&mut self, now: Ns) {
        self.busy = self.until.saturating_since(now).0;
    }
}

/// All channels and both directions of the link.
#[derive(Debug, Default)]
pub struct Transfers {
    channels: Vec<Booking>,
    link_in: Booking,
    link_out: Booking,
    /// One link is for both directions: the latter's, and transfers are told at their end.
    one_link: bool,
    measured_since: Ns,
}

impl Transfers {
    pub fn has_one_link(&mut self) {
        self.one_link = true;
    }

    pub fn started(&mut self, channels: u32) {
        self.channels = vec![Booking::default(); channels as usize];
    }

    #[inline]
    pub fn channel_taken(&mut self, view: &View<'_>, die: DieId, until: Ns) -> Checked {
        let channel = view.ftl.geometry().channel_of_die(die);
        let booking = &mut self.channels[channel.index()];
        let busy_until = booking.until;
        require!(
            booking.take(view.now, until),
            ChannelDoubleBooked,
            view.now,
            "channel {channel} is taken for die {die} from {} to {until}, a transfer runs on it until {busy_until}",
            view.now
        );
        Ok(())
    }

    #[inline]
    pub fn link_in(&mut self, view: &View<'_>, slot: u32, from: Ns, until: Ns) -> Checked {
        if self.one_link {
            return self.inbound(view, slot, from, until);
        }
        let busy_until = self.link_in.until;
        require!(
            self.link_in.take(from, until) && from >= view.now,
            LinkDoubleBooked,
            view.now,
            "data of slot {slot} cross the link to the device from {from} to {until}, it is taken until {busy_until}"
        );
        Ok(())
    }

    /// What was fetched of the host's memory takes the link to the device.
    pub fn map_link_in(&mut self, view: &View<'_>, page: u32, from: Ns, until: Ns) -> Checked {
        let busy_until = self.link_in.until;
        require!(
            from == view.now.max(busy_until) && self.link_in.take(from, until),
            LinkDoubleBooked,
            view.now,
            "entries of page {page} of the map cross the link from {from} to {until}, it is taken until {busy_until}"
        );
        Ok(())
    }

    /// The data of a write crossed the link that is for both directions.
    fn inbound(&mut self, view: &View<'_>, slot: u32, from: Ns, until: Ns) -> Checked {
        let (busy_until, busy) = (self.link_out.until, self.link_out.busy);
        require!(
            self.link_out.take(from, until) && until == view.now,
            LinkDoubleBooked,
            view.now,
            "data of slot {slot} crossed the one link from {from} to {until}, it was taken until {busy_until}"
        );
        self.link_out.busy = busy;
        self.link_in.busy += until.saturating_since(from.max(self.measured_since)).0;
        Ok(())
    }

    #[inline]
    pub fn link_out(&mut self, view: &View<'_>, slot: u32, from: Ns) -> Checked {
        let busy_until = self.link_out.until;
        let measured = from.max(self.measured_since);
        require!(
            self.link_out.take(from, view.now),
            LinkDoubleBooked,
            view.now,
            "data of slot {slot} crossed the link to the host from {from}, it was taken until {busy_until}"
        );
        // A transfer is told at its end: what lies before measuring began does not count.
        self.link_out.busy -= (measured - from).0;
        Ok(())
    }

    pub fn measuring_began(&mut self, now: Ns) {
        self.measured_since = now;
        self.channels.iter_mut().for_each(|channel| channel.measuring_began(now));
        self.link_in.measuring_began(now);
        self.link_out = Booking { until: self.link_out.until, busy: 0 };
    }

    pub fn finished(&self, view: &View<'_>, used: &Utilization) -> Checked {
        let now = view.now;
        for (index, (own, busy)) in self.channels.iter().zip(&used.channels).enumerate() {
            require!(own.until <= now, Leftover, now, "a transfer on channel {index} runs until {}", own.until);
            compare(now, &format!("channel {index}"), own.busy, *busy, used.elapsed)?;
        }
        compare(now, "the link to the device", self.link_in.busy, used.link_in, used.elapsed)?;
        compare(now, "the link to the host", self.link_out.busy, used.link_out, used.elapsed)
    }
}

pub fn compare(now: Ns, resource: &str, seen: u64, said: Ns, elapsed: Ns) -> Checked {
    require!(seen == said.0, BusyTime, now, "{resource} moved data for {seen} ns, its utilization says {} ns", said.0);
    require!(said <= elapsed, BusyTime, now, "{resource} was busy for {said} of {elapsed}");
    Ok(())
}
