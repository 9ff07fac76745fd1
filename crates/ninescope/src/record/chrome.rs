//! A timeline in Chrome's trace-event format, which Perfetto and `chrome://tracing` show.
//!
//! A process per channel holds a thread for the channel's transfers and one for each of its dies; host requests are
//! asynchronous events of a process of their own. Times are in microseconds. What reaches beyond the window is cut
//! to it; its arguments hold the times uncut.

use std::cmp::Reverse;

use ninescope_kernel::Ns;
use ninescope_media::nand::CommandKind;
use ninescope_model::{DieId, Geometry};
use serde_json::{Value, json};

use super::account::Account;
use super::dies::{DieSlice, Doing, Shows, Stretch};
use super::json::parts;
use super::timeline::{Timeline, Transfer};
use super::work::Work;
use crate::version::VERSION;

/// The process of host requests; channel `c` is process `c + 2`.
const HOST: u32 = 1;
/// The thread of a channel's transfers; the dies of the channel follow.
const TRANSFERS: u32 = 1;

/// The whole document, an event per line. It is written event by event: as one value it would take ten times the room.
pub fn document(timeline: &Timeline, geometry: Option<&Geometry>) -> String {
    let (from, until) = timeline.window();
    let head = json!({
        "simulator": format!("ninescope {}", VERSION),
        "window_from_ns": from.0,
        "window_until_ns": until.0,
    });
    let mut events =
        Events { text: format!("{{\"displayTimeUnit\":\"ns\",\"otherData\":{head},\"traceEvents\":["), any: false };
    if let Some(geometry) = geometry {
        names(geometry, &mut events);
        slices(timeline, geometry, &mut events);
    }
    for account in timeline.requests() {
        request(timeline, account, &mut events);
    }
    events.text.push_str("\n]}\n");
    events.text
}

/// Events as text.
struct Events {
    text: String,
    any: bool,
}

impl Events {
    fn push(&mut self, event: &Value) {
        self.text.push_str(if std::mem::replace(&mut self.any, true) { ",\n" } else { "\n" });
        self.text.push_str(&event.to_string());
    }
}

// ---- tracks ----------------------------------------------------------------------------------------

fn track(die: DieId, geometry: &Geometry) -> (u32, u32) {
    (geometry.channel_of_die(die).0 + 2, TRANSFERS + 1 + die.0 % geometry.dies_per_channel())
}

/// Names and order of processes and threads.
fn names(geometry: &Geometry, events: &mut Events) {
    let mut name = |what: &str, pid: u32, tid: u32, arguments: Value| {
        events.push(&json!({ "name": what, "ph": "M", "ts": 0, "pid": pid, "tid": tid, "args": arguments }));
    };
    name("process_name", HOST, 0, json!({ "name": "host requests" }));
    name("process_sort_index", HOST, 0, json!({ "sort_index": 0 }));
    for channel in 0..geometry.channels {
        let pid = channel + 2;
        name("process_name", pid, 0, json!({ "name": format!("channel {channel}") }));
        name("process_sort_index", pid, 0, json!({ "sort_index": pid }));
        name("thread_name", pid, TRANSFERS, json!({ "name": "transfers" }));
        name("thread_sort_index", pid, TRANSFERS, json!({ "sort_index": 0 }));
    }
    for die in (0..geometry.dies()).map(DieId) {
        let (pid, tid) = track(die, geometry);
        let package = die.0 % geometry.dies_per_channel() / geometry.dies_per_package;
        name("thread_name", pid, tid, json!({ "name": format!("die {die} (package {package})") }));
        name("thread_sort_index", pid, tid, json!({ "sort_index": tid }));
    }
}

// ---- slices ------------------------------------------------------------------------------------------

/// What is drawn on a track.
enum Drawn<'a> {
    Die(&'a DieSlice),
    Transfer(&'a Transfer),
}

impl Drawn<'_> {
    /// From and until [ns].
    fn times(&self) -> (Ns, Ns) {
        match self {
            Self::Die(slice) => (slice.stretch.from, slice.stretch.until),
            Self::Transfer(transfer) => (transfer.from, transfer.until),
        }
    }

    /// By track and time; what holds others goes before them.
    fn order(&self, geometry: &Geometry) -> ((u32, u32), Ns, Reverse<Ns>, u8) {
        let (from, until) = self.times();
        let (track, depth) = match self {
            Self::Die(DieSlice { stretch, shows }) => (track(stretch.die, geometry), *shows as u8),
            Self::Transfer(transfer) => ((track(transfer.die, geometry).0, TRANSFERS), 0),
        };
        (track, from, Reverse(until), depth)
    }
}

/// The slices of dies and channels.
fn slices(timeline: &Timeline, geometry: &Geometry, events: &mut Events) {
    let dies = timeline.dies().iter().map(Drawn::Die);
    let mut drawn: Vec<Drawn<'_>> = dies.chain(timeline.transfers().iter().map(Drawn::Transfer)).collect();
    drawn.retain(|drawn| timeline.takes(drawn.times().0, drawn.times().1));
    drawn.sort_by_key(|drawn| drawn.order(geometry));
    for drawn in drawn {
        let (name, category, mut arguments) = match drawn {
            Drawn::Die(slice) => die_slice(slice),
            Drawn::Transfer(transfer) => transfer_slice(transfer),
        };
        let ((pid, tid), from, Reverse(until), _) = drawn.order(geometry);
        let (begin, end) = cut(timeline, from, until);
        if (begin, end) != (from, until) {
            arguments["uncut_from_ns"] = from.0.into();
            arguments["uncut_until_ns"] = until.0.into();
        }
        events.push(&json!({
            "name": name,
            "cat": category,
            "ph": "X",
            "ts": microseconds(begin),
            "dur": microseconds(end - begin),
            "pid": pid,
            "tid": tid,
            "args": arguments,
        }));
    }
}

/// Name, category and arguments.
fn die_slice(slice: &DieSlice) -> (String, &'static str, Value) {
    let DieSlice { shows, stretch } = slice;
    let work = &stretch.work;
    let mut arguments = arguments(stretch.die, work);
    match shows {
        Shows::Command => (command_name(work), "command", arguments),
        Shows::Parked => (format!("parked: {}", work.name()), "die", arguments),
        Shows::Stretch => {
            if let Some(words) = stretch.segments_in_words() {
                arguments["segments"] = words.into();
            }
            (stretch_name(stretch), "die", arguments)
        }
    }
}

fn arguments(die: DieId, work: &Work) -> Value {
    let mut arguments = json!({
        "die": die.0,
        "command": work.kind(),
        "planes": (0..4).filter(|plane| work.planes >> plane & 1 == 1).collect::<Vec<u32>>(),
        "blocks": work.blocks(),
        "suspensions": work.suspensions,
    });
    if work.segment() != Some("loop") {
        arguments["page"] = work.page.into();
    }
    let requests: Vec<u64> = work.requests.ids().collect();
    if !requests.is_empty() {
        arguments["requests"] = requests.into();
    }
    arguments
}

fn command_name(work: &Work) -> String {
    match work.suspensions {
        0 => work.name(),
        times => format!("{} (suspended {times}x)", work.name()),
    }
}

fn stretch_name(stretch: &Stretch) -> String {
    match stretch.doing {
        Doing::Idle => "idle".to_owned(),
        Doing::WaitingForPower => "waits for power".to_owned(),
        Doing::ThrottledByHeat => "throttled by heat".to_owned(),
        Doing::WaitingForChannel => "waits for the channel".to_owned(),
        Doing::Sending if stretch.work.segment() == Some("pulse") => "command and data in".to_owned(),
        Doing::Sending => "command".to_owned(),
        Doing::Array { .. } => match stretch.segments_in_words() {
            Some(words) => format!("{} ({words})", stretch.work.name()),
            None => "sensing".to_owned(),
        },
        Doing::DataOut => "data out".to_owned(),
        Doing::Recovering => "recovery".to_owned(),
        Doing::Ramping => "ramp".to_owned(),
    }
}

/// Name, category and arguments.
fn transfer_slice(transfer: &Transfer) -> (String, &'static str, Value) {
    let what = match (transfer.kind, transfer.out) {
        (CommandKind::Read, true) => "read data",
        (CommandKind::Read, false) => "read command",
        (CommandKind::Program, _) => "program data",
        (CommandKind::Erase, _) => "erase command",
    };
    let die = transfer.die;
    (format!("{what}, die {die}"), "channel", json!({ "die": die.0 }))
}

// ---- requests ------------------------------------------------------------------------------------------

/// A request and its stages as nested asynchronous events. All requests of an operation have one name, so that
/// viewers put them under one heading.
fn request(timeline: &Timeline, account: &Account, events: &mut Events) {
    let (submitted, completed) = (account.request.submitted, account.completed);
    if !timeline.takes(submitted, completed) {
        return;
    }
    let id = format!("{:#x}", account.id);
    let event = |phase: &str, at: Ns, name: &str, arguments: Value| {
        json!({
            "name": name, "cat": "request", "ph": phase, "ts": microseconds(at), "pid": HOST, "tid": 0, "id": id,
            "args": arguments,
        })
    };
    let (begin, end) = cut(timeline, submitted, completed);
    let arguments = json!({
        "request": account.id,
        "lba": account.request.lba.0,
        "sectors": account.request.sectors,
        "submitted_ns": submitted.0,
        "completed_ns": completed.0,
        "latency_ns": account.latency().0,
        "parts_ns": parts(account),
    });
    let name = account.request.op.name();
    events.push(&event("b", begin, name, arguments));
    for stage in account.stages.iter().filter(|stage| timeline.takes(stage.from, stage.until)) {
        let (begin, end) = cut(timeline, stage.from, stage.until);
        let arguments = stage.die.map_or_else(|| json!({}), |die| json!({ "die": die.0 }));
        let name = stage.name.replace('_', " ");
        events.push(&event("b", begin, &name, arguments));
        events.push(&event("e", end, &name, json!({})));
    }
    events.push(&event("e", end, name, json!({})));
}

// ---- times -----------------------------------------------------------------------------------------------

fn cut(timeline: &Timeline, from: Ns, until: Ns) -> (Ns, Ns) {
    let (begin, end) = timeline.window();
    (from.max(begin), until.min(end))
}

fn microseconds(time: Ns) -> f64 {
    time.0 as f64 / 1e3
}
