//! Hit ratios of the tier alone, without time, under the independent reference model: reads of single pages drawn by
//! Zipf's law, each of which is copied up where it misses. Few pages against King's exact formula, many against Che's
//! approximation. `crates/engine/tests/engine/tier_mechanisms.rs` does it once more through the engine.

use ninescope_kernel::{RandomStream, Zipf};
use ninescope_oracles::caches::{che_lru, king_lru, zipf};
use ninescope_tier::{Eviction, OnRead, PlacementConfig, Tier, WriteTo};

const SECTORS: u32 = 8;

/// One access of a page; what misses goes up, in place of the page used longest ago.
fn access(tier: &mut Tier, page: u32, writes: bool) {
    let slot = tier.residency().slot_of(page);
    if writes {
        assert_eq!(tier.write(page, tier.whole(), SECTORS), WriteTo::Upper);
    } else {
        let above = slot.map_or(0, |slot| tier.slot(slot).valid);
        let on_read = tier.read(page, tier.whole(), above, SECTORS);
        assert_eq!(on_read, if slot.is_some() { OnRead::Stay } else { OnRead::Copy });
    }
    let slot = slot.unwrap_or_else(|| {
        match tier.next_eviction(0, 1) {
            None => {}
            Some(Eviction::Dropped { .. }) => assert!(!writes, "what was written is dirty"),
            Some(Eviction::CopyDown(slot)) => {
                tier.residency_mut().read_to_leave(slot.0);
                assert!(tier.left(slot.0), "nobody wrote it meanwhile");
            }
        }
        tier.residency_mut().take(page, 0).expect("a slot is free")
    });
    let whole = tier.whole();
    if writes {
        tier.residency_mut().touch_written(slot, false);
        tier.residency_mut().written(slot, whole, whole);
    } else {
        tier.residency_mut().filled(slot, whole, false);
    }
}

/// The measured hit ratio of `slots` slots for `pages` pages, the first quarter of the accesses left out.
fn measured(pages: u32, exponent: f64, slots: u32, accesses: u32, writes: bool) -> f64 {
    let config: PlacementConfig = serde_json::from_value(serde_json::json!({ "policy": "wb" })).expect("a policy");
    let mut tier = Tier::new(&config, slots, pages, SECTORS).expect("two media");
    let law = Zipf::new(u64::from(pages), exponent);
    let mut stream = RandomStream::new(7, "tests", "hit ratios");
    for index in 0..accesses {
        if index == accesses / 4 {
            tier.clear_counters();
        }
        access(&mut tier, law.draw(&mut stream) as u32, writes);
    }
    let counters = tier.counters();
    let evicted = counters.evicted_clean + counters.evicted_dirty;
    assert_eq!(evicted, counters.page_accesses - counters.page_hits, "a miss on a full tier sends one page away");
    counters.page_hits as f64 / counters.page_accesses as f64
}

#[test]
fn hit_ratios_of_few_pages_are_exact() {
    for exponent in [0.0, 0.8, 1.2] {
        for slots in [1, 2, 3, 5] {
            let exact = king_lru(&zipf(7, exponent), slots as usize);
            for writes in [false, true] {
                let hits = measured(7, exponent, slots, 250_000, writes);
                // Four standard deviations of independent draws, twice as many for correlated hits.
                assert!((hits - exact).abs() < 0.009, "{exponent} {slots}: {hits} and {exact}");
            }
        }
    }
}

#[test]
fn hit_ratios_of_many_pages_are_those_of_che() {
    for (exponent, slots) in [(0.8, 512), (1.0, 512), (1.0, 2048)] {
        let expected = che_lru(&zipf(10_000, exponent), slots as usize);
        let hits = measured(10_000, exponent, slots, 400_000, false);
        assert!((hits - expected).abs() < 0.01, "{exponent} {slots}: {hits} and {expected}");
    }
}
