//! What parts of a drive draw: what is refused, and what is told.

use crate::support::{expect, result_of, tiny_request};
use serde_json::Value;

/// The tiny drive whose parts draw so much, and more changes.
fn drawing(power: &str, more: &[&str]) -> Value {
    let power = format!("power={{{power}}}");
    let mut sets: Vec<&str> = more.to_vec();
    sets.push(&power);
    tiny_request(&sets)
}

#[test]
fn powers_that_cannot_be_are_refused_by_their_key() {
    expect(&drawing("die_read=\"82.5\"", &[]), &["`82.5` has no unit", "82.5mW"]);
    expect(&drawing("die_read=\"5kW\"", &[]), &["power.die_read is 5kW, at most 1kW"]);
    expect(&drawing("die_suspend=\"5kW\"", &[]), &["power.die_suspend is 5kW"]);
    expect(&drawing("channel_byte=\"5mJ\"", &[]), &["power.channel_byte is 5mJ, at most 1mJ"]);
    expect(&drawing("channel_byte=\"5mW\"", &[]), &["is not a number of joules"]);
    expect(&drawing("window=\"0\"", &[]), &["power.window must not be zero"]);
    expect(&drawing("die_raed=\"1mW\"", &[]), &["did you mean `die_read`"]);
    expect(&drawing("dram=\"1W\"", &[]), &["power.dram is given", "there is no [dram]"]);
    expect(&drawing("scm_read_byte=\"1pJ\"", &[]), &["power.scm_read_byte is given", "there is no [scm]"]);
}

#[test]
fn a_cap_that_no_die_could_work_under_is_refused() {
    let power = "die_read=\"80mW\",die_program=\"90mW\",die_erase=\"70mW\",controller=\"1W\"";
    let capped = |more: &str| drawing(&format!("{power},{more}"), &[]);
    expect(&capped("cap=\"1W\""), &["power.cap is 1W", "makes 1090mW with power.die_program"]);
    expect(&capped("cap=\"2W\",die_suspend=\"80mW\""), &["power.die_suspend is 80mW", "(70mW)"]);
    expect(&capped("cap=5"), &["`5` has no unit"]);
}

#[test]
fn states_that_cannot_be_are_refused_by_their_key() {
    let of = |states: &str| drawing(&format!("controller=\"1W\",states=[{states}]"), &[]);
    let first = r#"{after="1ms",power="70mW",enter="50us",leave="500us"}"#;
    expect(&of(r#"{after="1ms"}"#), &["power"]);
    expect(&of(r#"{after="1ms",power="70mW",exit="1ms"}"#), &["exit", "leave"]);
    expect(&of(r#"{after="1ms",power="2W"}"#), &["power.states[0].power is 2W", "what the drive draws at rest (1W)"]);
    expect(
        &of(&format!(r#"{first},{{after="2ms",power="80mW"}}"#)),
        &["power.states[1].power is 80mW", "power.states[0] (70mW)"],
    );
    expect(&of(&format!(r#"{first},{{after="1ms",power="5mW"}}"#)), &["power.states[1].after is 1ms", "1050us"]);
    expect(&of(r#"{after="48h",power="5mW"}"#), &["power.states[0].after is", "at most"]);
}

#[test]
fn heat_that_cannot_be_is_refused_by_its_key() {
    let power = "die_read=\"80mW\",die_program=\"90mW\",die_erase=\"70mW\",controller=\"1W\"";
    let of = |heat: &str, more: &str| drawing(&format!("{power}{more},heat={{{heat}}}"), &[]);
    let body = "resistance=10,time_constant=\"1s\"";
    expect(&of("resistance=10", ""), &["time_constant"]);
    expect(&of("time_constant=\"1s\"", ""), &["resistance"]);
    expect(&of(&format!("{body},limit=70"), ""), &["limit"]);
    expect(&of("resistance=0,time_constant=\"1s\"", ""), &["power.heat.resistance is 0, it must lie above 0"]);
    expect(&of("resistance=nan,time_constant=\"1s\"", ""), &["power.heat.resistance is NaN"]);
    expect(&of("resistance=10,time_constant=0", ""), &["power.heat.time_constant must not be zero"]);
    expect(&of("resistance=10,time_constant=\"31d\"", ""), &["power.heat.time_constant is 31d, at most 30d"]);
    expect(&of(&format!("{body},window=\"0\""), ""), &["power.heat.window must not be zero"]);
    expect(&of(&format!("{body},window=\"999ns\""), ""), &["power.heat.window is 999ns", "1us"]);
    expect(&of(&format!("{body},window=\"2h\""), ""), &["power.heat.window is 2h, at most 1h"]);
    expect(&of(&format!("{body},ambient=-60"), ""), &["power.heat.ambient is -60, it must lie between -55 and 150"]);
    expect(&of(&format!("{body},begins_at=151"), ""), &["power.heat.begins_at is 151"]);
}

#[test]
fn a_throttle_that_cannot_be_is_refused_by_its_key() {
    let power = "die_read=\"80mW\",die_program=\"90mW\",die_erase=\"70mW\",controller=\"1W\"";
    let of = |steps: &str, more: &str| {
        let heat = format!("heat={{resistance=10,time_constant=\"1s\",throttle=[{steps}]}}");
        drawing(&format!("{power}{more},{heat}"), &[])
    };
    let first = "{above=70,until=65,cap=\"1.3W\"}";
    expect(&of("{above=70,cap=\"1.3W\"}", ""), &["until"]);
    expect(&of("{above=170,until=65,cap=\"1.3W\"}", ""), &["power.heat.throttle[0].above is 170"]);
    expect(&of("{above=70,until=71,cap=\"1.3W\"}", ""), &["power.heat.throttle[0].until is 71", "above 70"]);
    expect(&of("{above=70,until=25,cap=\"1.3W\"}", ""), &["power.heat.throttle[0].until is 25", "no cooler"]);
    let hot = ["power.heat.throttle[0].cap is 1W", "makes 1090mW with power.die_program"];
    expect(&of("{above=70,until=65,cap=\"1W\"}", ""), &hot);
    expect(&of(first, ",cap=\"1.2W\""), &["power.heat.throttle[0].cap is 1300mW, no less than power.cap (1200mW)"]);
    expect(&of(first, ",die_suspend=\"80mW\""), &["power.die_suspend is 80mW", "power.heat.throttle[0].cap"]);
    let second = |step: &str| of(&format!("{first},{step}"), "");
    expect(&second("{above=70,until=66,cap=\"1.2W\"}"), &["power.heat.throttle[1].above is 70", "above 70"]);
    expect(&second("{above=80,until=64,cap=\"1.2W\"}"), &["power.heat.throttle[1].until is 64", "ends at 65"]);
    expect(&second("{above=80,until=66,cap=\"1.3W\"}"), &["power.heat.throttle[1].cap is 1300mW", "throttle[0]"]);
}

#[test]
fn how_warm_it_was_is_told() {
    let power = "die_read=\"80mW\",die_program=\"90mW\",die_erase=\"70mW\",controller=\"1W\"";
    let body = "heat={ambient=20,resistance=30,time_constant=\"1ms\",begins_at=30,window=\"10us\"";
    let free = result_of(&drawing(&format!("{power},{body}}}"), &[])).expect("a drive");
    let heat = &free["energy"]["heat"];
    let number = |heat: &Value, key: &str| heat[key].as_f64().unwrap_or_else(|| panic!("{key} in {heat}"));
    // At rest it gets to 50 C.
    assert!((50.0..60.0).contains(&number(heat, "celsius")), "{heat}");
    assert!(number(heat, "highest_celsius") >= number(heat, "celsius"), "{heat}");
    assert!((30.0..60.0).contains(&number(heat, "mean_celsius")), "{heat}");
    assert_eq!((&heat["throttles"], &heat["steps"]), (&Value::from(0), &Value::Array(Vec::new())));
    let step = "throttle=[{above=51,until=50.5,cap=\"1090mW\"}]";
    let hot = result_of(&drawing(&format!("{power},{body},{step}}}"), &[])).expect("a drive");
    let (heat, counters) = (&hot["energy"]["heat"], &hot["counters"]);
    assert!(heat["throttles"].as_u64() > Some(0), "{heat}");
    assert_eq!(heat["throttles"], counters["thermal_throttles"]);
    assert_eq!(heat["throttled_ns"], heat["steps"][0]["time_ns"]);
    assert_eq!(heat["steps"][0]["cap_watts"], 1.09);
    assert!(counters["power_waits"].as_u64() > Some(0), "{counters}");
    assert!(hot["utilisation"]["dies"]["occupancy"]["throttled_by_heat"].as_f64() > Some(0.0));
    assert!(number(heat, "highest_celsius") < number(&free["energy"]["heat"], "highest_celsius"), "{heat}");
}

#[test]
fn dies_wait_for_power() {
    let power = "die_read=\"80mW\",die_program=\"90mW\",die_erase=\"70mW\",controller=\"1W\"";
    let run = |cap: &str| result_of(&drawing(&format!("{power}{cap}"), &[])).expect("a drive");
    let (free, capped) = (run(""), run(",cap=\"1090mW\""));
    assert_eq!(free["counters"]["power_waits"], 0);
    assert_eq!((&free["energy"]["cap_watts"], &capped["energy"]["cap_watts"]), (&Value::Null, &Value::from(1.09)));
    assert!(capped["counters"]["power_waits"].as_u64() > Some(10));
    assert!(capped["utilisation"]["dies"]["occupancy"]["waiting_for_power"].as_f64() > Some(0.0));
    assert!(capped["energy"]["peak_watts"].as_f64() <= Some(1.09), "{}", capped["energy"]);
}

#[test]
fn what_is_drawn_is_told() {
    let power = "die_read=\"80mW\",die_program=\"90mW\",die_erase=\"70mW\",channel_byte=\"40pJ\",controller=\"1W\",\
                 core=\"250mW\",window=\"100us\"";
    let result = result_of(&drawing(power, &[])).expect("a drive");
    let energy = &result["energy"];
    let number = |value: &Value| value.as_f64().unwrap_or_else(|| panic!("{value} in {energy}"));
    let sum = |of: &str| energy[of].as_object().expect("a table").values().map(&number).sum::<f64>();
    let whole = number(&energy["joules"]);
    for of in ["by_cause", "by_part"] {
        assert!((sum(of) / whole - 1.0).abs() < 1e-12, "{of}: {energy}");
    }
    let seconds = number(&energy["elapsed_ns"]) / 1e9;
    assert!((number(&energy["by_part"]["at_rest"]) / seconds - 1.0).abs() < 1e-12, "1 W at any time: {energy}");
    assert!((number(&energy["average_watts"]) * seconds / whole - 1.0).abs() < 1e-12, "{energy}");
    assert!(energy["peak_watts"].as_f64() >= energy["average_watts"].as_f64(), "{energy}");
    assert_eq!(energy["peak_window_ns"], 100_000);
    let requests = number(&result["requests"]);
    assert!((number(&energy["joules_per_request"]) * requests / whole - 1.0).abs() < 1e-12, "{energy}");
    // Each erase takes as long as another one on this drive.
    let (erases, of_erases) = (number(&result["counters"]["erase_commands"]), &energy["by_cause"]["erase"]);
    assert!(erases > 0.0 && number(of_erases) > 0.0, "{energy}");
    assert_eq!(result["config"]["drive"]["power"]["die_read"], "80mW");
}

#[test]
fn nothing_is_told_where_nothing_is_said() {
    let result = result_of(&tiny_request(&[])).expect("a drive");
    assert!(result.get("energy").is_none());
}
