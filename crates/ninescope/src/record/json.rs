//! The slowest requests as JSON.

use ninescope_model::{Cause, Occupancy};
use serde_json::{Map, Value, json};

use super::account::{Account, Stage};
use super::dies::{Doing, Stretch};
use super::slowest::Slowest;

/// All requests of an operation, slowest first.
pub fn accounts(slowest: &Slowest) -> Value {
    slowest.ranked().into_iter().map(account).collect()
}

fn account(account: &Account) -> Value {
    json!({
        "id": account.id,
        "lba": account.request.lba.0,
        "sectors": account.request.sectors,
        "submitted_ns": account.request.submitted.0,
        "completed_ns": account.completed.0,
        "latency_ns": account.latency().0,
        "parts_ns": parts(account),
        "stages": account.stages.iter().map(stage).collect::<Value>(),
    })
}

/// The parts that are not zero, largest first.
pub fn parts(account: &Account) -> Map<String, Value> {
    let mut parts: Vec<(Cause, u64)> = Cause::ALL.into_iter().zip(account.parts.lanes()).collect();
    parts.retain(|&(_, time)| time > 0);
    parts.sort_by_key(|&(cause, time)| (std::cmp::Reverse(time), cause));
    parts.into_iter().map(|(cause, time)| (cause.name().to_owned(), time.into())).collect()
}

fn stage(stage: &Stage) -> Value {
    let mut value = json!({ "stage": stage.name, "from_ns": stage.from.0, "until_ns": stage.until.0 });
    if let Some(die) = stage.die {
        value["die"] = die.0.into();
    }
    if stage.behind_others {
        value["behind_others"] = true.into();
    }
    if !stage.acts.listed.is_empty() {
        value["die_did"] = stage.acts.listed.iter().map(|stretch| act(stretch, stage)).collect();
    }
    let own = ("own_parts".to_owned(), stage.acts.earlier_own.0);
    let earlier: Map<String, Value> = Occupancy::ALL
        .into_iter()
        .zip(stage.acts.earlier)
        .map(|(occupancy, time)| (occupancy.name().to_owned(), time))
        .chain([own])
        .filter(|&(_, time)| time > 0)
        .map(|(name, time)| (name, time.into()))
        .collect();
    if !earlier.is_empty() {
        value["die_did_earlier_ns"] = earlier.into();
    }
    value
}

fn act(stretch: &Stretch, stage: &Stage) -> Value {
    let occupancy = stretch.occupancy();
    let own = stretch.is_for(stage.acts.request);
    let mut value = json!({
        "from_ns": stretch.from.0,
        "until_ns": stretch.until.0,
        "occupancy": occupancy.name(),
        "what": in_words(stretch, own),
    });
    if own {
        value["own"] = true.into();
    }
    if stage.die.is_none() {
        value["die"] = stretch.die.0.into();
    }
    if occupancy != Occupancy::Idle {
        value["command"] = stretch.work.kind().into();
        value["blocks"] = stretch.work.blocks().into();
        value["suspensions"] = stretch.work.suspensions.into();
        let requests: Vec<u64> = stretch.work.requests.ids().collect();
        if !requests.is_empty() {
            value["requests"] = requests.into();
        }
    }
    value
}

/// "erase of block 17 (loops 1-2 of 3, suspended 1x)".
fn in_words(stretch: &Stretch, own: bool) -> String {
    let words = act_in_words(stretch, own);
    // As the cause is called that such time counts for.
    if own { format!("own parts: {words}") } else { words }
}

fn act_in_words(stretch: &Stretch, own: bool) -> String {
    let work = &stretch.work;
    let title = if own { format!("{} of this request", work.kind()) } else { work.title() };
    let main = match stretch.doing {
        Doing::Idle => return "idle".to_owned(),
        Doing::WaitingForPower => return "waiting for power".to_owned(),
        Doing::ThrottledByHeat => return "throttled by heat".to_owned(),
        Doing::WaitingForChannel => return format!("{title}, waiting for the channel"),
        Doing::Recovering => format!("recovery after suspending the {title}"),
        Doing::Ramping => format!("ramp before resuming the {title}"),
        Doing::Sending | Doing::Array { .. } | Doing::DataOut => title,
    };
    let suspended = (work.suspensions > 0).then(|| format!("suspended {}x", work.suspensions));
    // Which pulses of a program is of interest only where it was interrupted.
    let whole = work.segment() == Some("pulse") && work.suspensions == 0;
    let segments = stretch.segments_in_words().filter(|_| !whole);
    let remarks: Vec<String> = segments.into_iter().chain(suspended).collect();
    if remarks.is_empty() { main } else { format!("{main} ({})", remarks.join(", ")) }
}
