//! Decoders against queueing theory: pages of many dies that are never busy arrive as they were asked for, so that a
//! decoder is a queue of Poisson arrivals and constant service.

use ninescope_ecc::policies::ecc_scheme::bch::Bch;
use ninescope_engine::{Event, Probe, SimulationError, View, Watched};
use ninescope_kernel::{Ns, RandomStream, Rate};
use ninescope_model::{Arrival, Cause};
use ninescope_oracles::queueing as oracle;

use crate::common::generated;
use crate::common::statistics::{Poisson, mean};
use crate::reliability::drives::{CLEAN, Coded, bch};
use crate::scenario::{Drive, read};

/// When each page was at the decoders, and how long it waited for one [ns].
#[derive(Default)]
struct Waits {
    arrived: Vec<(u64, u64)>,
    waited: Vec<u32>,
}

impl Probe for Waits {
    fn observe(&mut self, _view: &View<'_>, event: Event<'_>) -> Result<(), SimulationError> {
        if let Event::PageDecoded { arrived, begins, until, .. } = event {
            self.arrived.push((arrived.0, (until - begins).0));
            self.waited.push((begins - arrived).0 as u32);
        }
        Ok(())
    }
}

/// 64 dies whose pages are read in no time worth speaking of (1 ns) and cross their channels in none.
fn drive(decoders: u32) -> Drive {
    let mut drive = Drive::with(|drive| {
        (drive.channels, drive.dies_per_channel) = (8, 8);
        drive.logical_units = 24 * 64;
        drive.prepared = (0..24 * 64).collect();
        drive.engine.queue_depth = 65_535;
    });
    drive.timing.read = vec![Ns(1)];
    (drive.timing.command_address, drive.timing.channel_rate) = (Ns::ZERO, Rate(0));
    drive.with_ecc(Bch { shared: true, decoders, ..bch() })
}

fn waits(decoders: u32, rho: f64, requests: u64) -> Waits {
    let drive = drive(decoders);
    let mut arrivals = poisson(decoders, rho);
    let mut places = RandomStream::new(3, "tests", "places");
    let mut left = requests;
    let workload = generated(Arrival::Open, move || {
        left = left.checked_sub(1)?;
        Some(read(arrivals.next(), places.below(24 * 64)))
    });
    let mut device = drive.device::<Watched>(Box::new(workload), Box::new(Waits::default()));
    device.run().expect("the run ends well");
    // What the requests are told is what the pages waited.
    let parts = device.meter().ops[0].attribution.total();
    let waited: u64 = device.probe::<Waits>().waited.iter().map(|&waited| u64::from(waited)).sum();
    assert_eq!(parts.of(Cause::DecoderWait), waited);
    assert_eq!(parts.of(Cause::Decode), requests * CLEAN);
    std::mem::take(&mut Waits {
        arrived: device.probe::<Waits>().arrived.clone(),
        waited: device.probe::<Waits>().waited.clone(),
    })
}

/// What pages wait when this many are asked for: as Kiefer and Wolfowitz's recursion says of all of them, which the
/// simulated first ones follow to the nanosecond. It is quick, and means converge over millions of requests.
fn waits_of_many(decoders: u32, rho: f64, requests: u64) -> Vec<u32> {
    const SIMULATED: u64 = 250_000;
    let mut arrivals = poisson(decoders, rho);
    // A page is at the decoders when it was read, which takes a nanosecond.
    let arrived: Vec<(u64, u64)> = (0..requests).map(|_| (arrivals.next() + 1, CLEAN)).collect();
    let exact: Vec<u32> = oracle::first_come_first_served_waits(decoders as usize, &arrived)
        .into_iter()
        .map(|wait| wait as u32)
        .collect();
    let simulated = waits(decoders, rho, SIMULATED);
    assert_follows(&simulated, decoders, rho);
    // Two pages that are asked of one die within a nanosecond leave it one after the other.
    let apart = |(simulated, exact): (&u32, &u32)| simulated.abs_diff(*exact) > 2;
    let differs = simulated.waited.iter().zip(&exact).position(apart);
    assert_eq!(differs, None, "the page that the recursion says otherwise of, {decoders} decoders at {rho}");
    exact
}

fn poisson(decoders: u32, rho: f64) -> Poisson {
    Poisson::new(3, CLEAN as f64 / rho / f64::from(decoders))
}

#[test]
fn the_waits_at_a_decoder_are_those_of_the_md1_queue() {
    for (rho, requests) in [(0.5, 1_000_000), (0.7, 1_500_000), (0.9, 4_000_000)] {
        let waited = waits_of_many(1, rho, requests);
        let expected = oracle::md1_mean_wait(rho, CLEAN as f64);
        let error = mean(&waited) / expected - 1.0;
        println!("rho {rho}: {:.1} ns, expected {expected:.1}, {:+.2} %", mean(&waited), 100.0 * error);
        assert!(error.abs() < 0.02, "rho {rho}: {} for {expected}", mean(&waited));
        let at_once = waited.iter().filter(|&&waited| waited == 0).count() as f64 / requests as f64;
        assert!((at_once - (1.0 - rho)).abs() < 0.01, "Poisson arrivals find it idle for 1 - rho of the time");
    }
}

#[test]
fn the_waits_at_several_decoders_are_those_of_the_mdc_queue() {
    for (decoders, rho) in [(2, 0.5), (2, 0.9), (4, 0.7), (4, 0.9)] {
        let waited = waits_of_many(decoders, rho, 3_000_000);
        let expected = oracle::mdc_mean_wait(decoders, rho, CLEAN as f64);
        let error = mean(&waited) / expected - 1.0;
        println!("{decoders} at {rho}: {:.1} ns, expected {expected:.1}, {:+.2} %", mean(&waited), 100.0 * error);
        assert!(error.abs() < 0.02, "{decoders} at {rho}: {} for {expected}", mean(&waited));
    }
}

#[test]
fn every_wait_at_decoders_follows_kiefer_and_wolfowitz_to_the_nanosecond() {
    for (decoders, rho) in [(1, 0.5), (1, 0.99), (2, 0.9), (5, 0.95)] {
        assert_follows(&waits(decoders, rho, 50_000), decoders, rho);
    }
}

/// Each page waited as long as the recursion says of when pages were there.
fn assert_follows(Waits { arrived, waited }: &Waits, decoders: u32, rho: f64) {
    assert!(arrived.is_sorted_by_key(|(time, _)| *time), "served in the order of arrival");
    let expected = oracle::first_come_first_served_waits(decoders as usize, arrived);
    for (index, (waited, expected)) in waited.iter().zip(&expected).enumerate() {
        assert_eq!(u64::from(*waited), *expected, "page {index}, {decoders} decoders at {rho}");
    }
}
