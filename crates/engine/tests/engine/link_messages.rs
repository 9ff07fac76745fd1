//! More than data on the link, and reads whose data cross it together: scenes whose times are worked out by hand.
//!
//! The link moves a byte in a nanosecond. A packet is 28 B longer than what it carries: an entry has 64 B, a completion 16 B.

use crate::common::{Bench, Prefill, at, closed, flush, open, read, slc, write};
use ninescope_engine::{
    Coalescing, Device, Interface, LaneConfig, LinkCarries, LinkReads, NoProbe, Plain, ProtocolConfig,
};
use ninescope_kernel::{Ns, Rate};
use ninescope_model::{Cause, Op, Request};

const UNIT: u64 = 4_096;
const COST: u64 = 1_000;
const REQUEST: u64 = 28;
const ENTRY: u64 = 28 + 64;
const COMPLETION: u64 = 28 + 16;
/// The link among the causes of waits behind others.
const LINK: usize = 10;

fn commands() -> ProtocolConfig {
    ProtocolConfig { link_carries: LinkCarries::Commands, ..ProtocolConfig::default() }
}

fn whole() -> ProtocolConfig {
    ProtocolConfig { link_reads: LinkReads::Whole, ..ProtocolConfig::default() }
}

/// A drive with nothing on its media: what is read is answered by the controller at once.
fn empty(protocol: ProtocolConfig) -> Bench {
    let mut bench = Bench { prefill: Prefill::Nothing, timing: slc(50_000, 400_000), ..Bench::tiny() };
    bench.engine.command_cost = Ns(COST);
    bench.engine.link_rate = Rate(1_000_000_000);
    bench.engine.protocol = protocol;
    bench
}

fn latencies(device: &Device) -> Vec<u64> {
    let mut log: Vec<_> = device.request_log().iter().map(|entry| (entry.id, entry.latency.0)).collect();
    log.sort_unstable();
    log.into_iter().map(|(_, latency)| latency).collect()
}

fn part(device: &Device, op: Op, cause: Cause) -> u64 {
    device.meter().ops[op as usize].attribution.total().of(cause)
}

#[test]
fn entry_request_for_data_and_completion_cross_the_link_with_each_command() {
    let around = REQUEST + ENTRY + COMPLETION;
    for (request, data, messages) in
        [(read(0, 8), UNIT, 3), (write(0, 8), REQUEST + UNIT, 4), (flush(), 0, 3), (read(0, 16), 2 * UNIT, 3)]
    {
        let mut device = empty(commands()).run(open(vec![request]));
        assert_eq!(latencies(&device), [around + COST + data], "{request:?}");
        assert_eq!(part(&device, request.op, Cause::Link), around + data);
        assert_eq!(device.counters().link_messages, messages);
        let used = device.utilization();
        let (inward, outward) = match request.op {
            Op::Write => (ENTRY + UNIT, 2 * REQUEST + COMPLETION),
            _ => (ENTRY, REQUEST + COMPLETION + data),
        };
        assert_eq!((used.link_in.0, used.link_out.0), (inward, outward));
        let data_alone = empty(ProtocolConfig::default()).run(open(vec![request]));
        assert_eq!(data_alone.counters().link_messages, 0);
    }
}

#[test]
fn a_command_is_asked_for_behind_data_that_are_on_the_link() {
    let device = empty(commands()).run(open(vec![read(0, 8), at(2_000, read(0, 8))]));
    // The first one's data cross from 1 120 to 5 216, with its completion behind them; then the request for the second one's entry.
    let first = REQUEST + ENTRY + COST + UNIT + COMPLETION;
    assert_eq!(latencies(&device), [first, 2 * first - 2_000]);
}

#[test]
fn jobs_that_wait_for_completions_go_on_together() {
    // Four at a time: what is next is asked for behind the data and completions of all four, and the first data of the next round
    // set out when their entry has come. By data alone each goes on with its own, and the link never rests.
    let took = |protocol: ProtocolConfig| {
        let mut bench = empty(protocol);
        (bench.limits.closed_queue_depth, bench.engine.command_cost) = (4, Ns::ZERO);
        bench.run(closed(vec![read(0, 8); 400])).now().0
    };
    assert_eq!(took(ProtocolConfig::default()), 400 * UNIT);
    assert_eq!(took(commands()), 100 * (4 * (UNIT + COMPLETION) + REQUEST + ENTRY));
}

#[test]
fn what_is_no_data_waits_behind_those_of_another_tenant() {
    let bench = empty(commands());
    let lane = |requests: Vec<Request>| LaneConfig::new(Box::new(open(requests)), 1);
    let (ftl, lanes) = (bench.ftl(), vec![lane(vec![read(0, 8)]), lane(vec![at(2_000, read(0, 8))])]);
    let nand = bench.nand(&ftl);
    let mut device = Device::<Plain>::with_lanes(&bench.engine, &bench.limits, ftl, nand, lanes, NoProbe);
    device.run().expect("the run ends well");
    let behind = |lane: usize, holder: usize| device.meter().lanes[lane].ops[0].behind.total().behind[holder][LINK];
    // The second is asked for behind the data and the completion of the first one.
    assert_eq!(behind(1, 0), REQUEST + ENTRY + COST + UNIT + COMPLETION - 2_000);
    assert_eq!([behind(0, 0), behind(0, 1), behind(1, 1)], [0; 3]);
}

#[test]
fn a_completion_that_crossed_is_told_of_with_others() {
    let interrupts = Some(Coalescing { completions: 2, time: Ns(50_000) });
    let device = empty(ProtocolConfig { interrupts, ..commands() }).run(open(vec![flush(), at(100_000, flush())]));
    let done = REQUEST + ENTRY + COST + COMPLETION;
    assert_eq!(latencies(&device), [done + 50_000, done + 50_000]);
    assert_eq!(part(&device, Op::Flush, Cause::Interrupt), 100_000);
    assert_eq!(part(&device, Op::Flush, Cause::Link), 2 * (REQUEST + ENTRY + COMPLETION));
}

#[test]
fn a_place_is_free_before_the_completion_has_crossed() {
    let mut bench = empty(commands());
    bench.engine.queue_depth = 1;
    let device = bench.run(open(vec![read(0, 8), at(10, flush())]));
    // The second is taken in with the end of the data, and asked for behind the completion, which was there first.
    let data_over = REQUEST + ENTRY + COST + UNIT;
    let second = data_over + COMPLETION + REQUEST + ENTRY + COST + COMPLETION;
    assert_eq!(latencies(&device), [data_over + COMPLETION, second - 10]);
    assert_eq!(part(&device, Op::Flush, Cause::HostQueue), data_over - 10);
}

// ---- reads that leave whole ------------------------------------------------------------------------

/// A die of 4-unit pages with all of them written, and a read of two pages: each is there so long after the one before.
fn two_pages(protocol: ProtocolConfig) -> (Device<Plain>, u64) {
    let mut bench = Bench { prefill: Prefill::Sequential, ..empty(protocol) };
    bench.engine.link_rate = Rate(500_000_000);
    let page = bench.run(open(vec![read(0, 32)])).request_log()[0].latency.0 - COST - 2 * 4 * UNIT;
    let mut bench = Bench { prefill: Prefill::Sequential, ..empty(protocol) };
    bench.engine.link_rate = Rate(500_000_000);
    (bench.run(open(vec![read(0, 64)])), page)
}

#[test]
fn the_data_of_a_read_cross_when_all_of_them_are_there() {
    let link = 2 * 4 * UNIT;
    let (by_page, page) = two_pages(ProtocolConfig::default());
    assert_eq!(
        by_page.request_log()[0].latency.0,
        COST + 2 * page + link,
        "the first crosses beside the second one's read"
    );
    assert_eq!(by_page.counters().whole_reads, 0);
    let (whole, page) = two_pages(whole());
    assert_eq!(whole.request_log()[0].latency.0, COST + 2 * page + 2 * link);
    assert_eq!((whole.counters().whole_reads, part(&whole, Op::Read, Cause::Link)), (1, 2 * link));
}

#[test]
fn sata_has_no_commands_on_its_link_but_reads_may_leave_whole() {
    let protocol = ProtocolConfig { interface: Interface::Sata, ..whole() };
    let (device, page) = two_pages(protocol);
    assert_eq!(device.request_log()[0].latency.0, COST + 2 * page + 4 * 4 * UNIT);
}
