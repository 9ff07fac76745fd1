//! What a drive's media cost, in units of a GB (1e9 B) of TLC flash.

use std::collections::BTreeMap;

use serde::Serialize;

use super::medium::ratio;

const GB: f64 = 1e9;

/// What the bits of one medium are bought at.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Price {
    /// Bytes there are, over-provisioning and spare sectors included [B].
    pub raw_bytes: u64,
    /// Cost of a bit, that of TLC flash being 1.
    pub bit_cost: Option<f64>,
    /// The key that would say it.
    pub key: &'static str,
}

/// What one medium costs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MediumCost {
    /// Bytes that are paid for, over-provisioning and spare sectors included [B].
    pub raw_bytes: u64,
    /// Cost of a bit, that of TLC flash being 1.
    pub bit_cost: Option<f64>,
    /// [GB of TLC flash].
    pub cost: Option<f64>,
}

/// What a drive costs, and what it gives for that. Controller, DRAM and the rest of the drive are not in it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Cost {
    /// What costs are counted in.
    pub unit: &'static str,
    /// By medium.
    pub media: BTreeMap<&'static str, MediumCost>,
    /// Of all media [GB of TLC flash].
    pub total: Option<f64>,
    /// The same per GB that the host can address.
    pub per_logical_gb: Option<f64>,
    /// Requests of any kind per second of the measured time, per unit of cost.
    pub iops_per_cost: Option<f64>,
    /// Why there is no `total`.
    pub reason: Option<String>,
}

impl Cost {
    /// What the media cost. `iops` is none where no time was measured.
    pub fn of(prices: &[(&'static str, Price)], logical_bytes: u64, iops: Option<f64>) -> Self {
        let media: BTreeMap<_, _> = prices.iter().map(|&(name, price)| (name, MediumCost::of(price))).collect();
        let total: Option<f64> = media.values().map(|medium| medium.cost).sum();
        let unsaid = prices.iter().find(|(_, price)| price.bit_cost.is_none());
        Self {
            unit: "GB (1e9 B) of TLC flash",
            media,
            total,
            per_logical_gb: total.and_then(|total| ratio(total, logical_bytes as f64 / GB)),
            iops_per_cost: total.zip(iops).and_then(|(total, iops)| ratio(iops, total)),
            reason: unsaid.map(|(_, price)| format!("unknown: the drive does not say {}", price.key)),
        }
    }
}

impl MediumCost {
    fn of(price: Price) -> Self {
        let cost = price.bit_cost.map(|cost| cost * (price.raw_bytes as f64 / GB));
        Self { raw_bytes: price.raw_bytes, bit_cost: price.bit_cost, cost }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "scm.bit_cost";

    #[test]
    fn the_published_mixes_cost_what_the_slides_say() {
        // Bit costs of 20 and 6: 20 x + 6 (1 - x) per GB; 5, 8 and 10 % of M-SCM cost 1.117, 1.187 and 1.233 of S-SCM
        // alone.
        let mix = |share: u64| {
            let price = |raw_bytes, bit_cost| Price { raw_bytes, bit_cost: Some(bit_cost), key: KEY };
            let fast = ("scm", price(share * 1_000_000_000, 20.0));
            let slow = ("storage_scm", price((100 - share) * 1_000_000_000, 6.0));
            Cost::of(&[fast, slow], 100_000_000_000, Some(1_000.0))
        };
        for (share, relative) in [(5, 1.117), (8, 1.187), (10, 1.233)] {
            let per_gb = mix(share).per_logical_gb.expect("both say their cost");
            assert!((per_gb / 6.0 - relative).abs() < 5e-4, "{share} %: {per_gb}");
        }
        let cost = mix(10);
        assert_eq!((cost.total, cost.iops_per_cost), (Some(740.0), Some(1_000.0 / 740.0)));
        assert_eq!((cost.media["scm"].cost, cost.media["storage_scm"].cost), (Some(200.0), Some(540.0)));
    }

    #[test]
    fn spare_bytes_are_paid_for() {
        let price = Price { raw_bytes: 1_280_000_000, bit_cost: Some(1.0), key: "nand.bit_cost" };
        let cost = Cost::of(&[("nand", price)], 1_000_000_000, Some(640.0));
        assert_eq!((cost.total, cost.per_logical_gb, cost.iops_per_cost), (Some(1.28), Some(1.28), Some(500.0)));
    }

    #[test]
    fn a_medium_that_does_not_say_leaves_the_total_open() {
        let prices = [
            ("nand", Price { raw_bytes: 1 << 30, bit_cost: Some(1.0), key: "nand.bit_cost" }),
            ("scm", Price { raw_bytes: 1 << 20, bit_cost: None, key: KEY }),
        ];
        let cost = Cost::of(&prices, 1 << 30, Some(1.0));
        assert_eq!((cost.total, cost.per_logical_gb, cost.iops_per_cost), (None, None, None));
        assert_eq!(cost.reason.as_deref(), Some("unknown: the drive does not say scm.bit_cost"));
        assert!(cost.media["nand"].cost.is_some());
        assert_eq!(Cost::of(&prices[..1], 1 << 30, None).iops_per_cost, None, "no time was measured");
    }
}
