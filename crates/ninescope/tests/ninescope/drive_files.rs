//! Files of drives and what is set on top of them: what they come to, and how mistakes in them are told.

use ninescope::config::{drive_keys, load_drive};
use ninescope::presets;

fn error(text: &str, sets: &[&str]) -> String {
    let sets: Vec<String> = sets.iter().map(|&set| set.to_owned()).collect();
    load_drive("drive.toml", text, &sets).expect_err("must be refused").to_string()
}

#[test]
fn every_preset_loads_and_survives_a_round_trip() {
    for preset in presets() {
        let loaded = load_drive(preset.name, preset.toml, &[]).expect("a preset loads");
        let written = toml::to_string(&loaded.config).expect("a config can be written");
        let again = load_drive("again", &written, &[]).expect("what was written loads");
        assert_eq!(loaded.config, again.config, "{}", preset.name);
    }
}

#[test]
fn a_drive_that_lacks_keys_is_told_of_bases_unless_it_has_one() {
    let told = error("[nand]\nread = '40us'", &[]);
    assert!(
        told.contains("the key `cell` is missing; a drive says everything itself, or begins with `base = \"tlc\"`")
    );
    let rows = "base = 'tlc'\n[nand.suspend_limit]\nyoung_cycles = 3";
    let with_base = error(rows, &[]);
    assert!(with_base.contains("is missing") && !with_base.contains("base = "), "{with_base}");
}

#[test]
fn a_base_that_is_a_file_is_told_to_be_none() {
    for file in ["./b.toml", "b.toml", "drives/b", "C:\\drives\\b"] {
        let told = error(&format!("base = '{file}'"), &[]);
        assert!(told.contains(&format!("base: `{file}` is a file, and a base is one of the presets: tlc, ")), "{told}");
        assert!(told.contains("--set"), "{told}");
    }
    assert!(error("base = 'tcl'", &[]).contains("Did you mean `tlc`?"));
}

#[test]
fn a_number_of_many_digits_is_told_with_its_power_of_ten() {
    let told = error("base = 'tlc'", &["nand.endurance_cycles=1e99"]);
    assert!(told.ends_with("a whole number of at most 4294967295 is wanted, not 1e99"), "{told}");
}

#[test]
fn a_capacity_of_scm_replaces_an_inherited_ratio() {
    let ratio = |text: &str, sets: &[&str]| {
        let sets: Vec<String> = sets.iter().map(|&set| set.to_owned()).collect();
        load_drive("x", text, &sets).expect("legal").config.tier.scm_ratio
    };
    assert_eq!(ratio("base = \"hybrid-wo\"", &[]), Some(0.03));
    assert_eq!(ratio("base = \"hybrid-wo\"\n[scm]\ncapacity = \"1GiB\"", &[]), None);
    assert_eq!(ratio("base = \"hybrid-wo\"", &["scm.capacity=1GiB"]), None);
    assert_eq!(ratio("base = \"hybrid-wo\"", &["scm.capacity=1GiB", "tier.scm_ratio=0.5"]), Some(0.5));
    let both = "base = \"hybrid-wo\"\n[scm]\ncapacity = \"1GiB\"\n[tier]\nscm_ratio = 0.2";
    assert_eq!(ratio(both, &[]), Some(0.2));
}

#[test]
fn a_summary_is_inherited_by_what_it_fits_alone() {
    let summary = |text: &str, sets: &[&str]| {
        let sets: Vec<String> = sets.iter().map(|&set| set.to_owned()).collect();
        load_drive("dir/mine.toml", text, &sets).expect("legal").config.summary
    };
    let tlc = presets().iter().find(|preset| preset.name == "tlc").expect("it is shipped");
    // Nothing is changed, or to what it was.
    assert_eq!(summary("base = \"tlc\"\n", &[]), tlc.summary());
    assert_eq!(summary("base = \"tlc\"\n[geometry]\nchannels = 8\n", &["geometry.channels=8"]), tlc.summary());
    assert_eq!(summary(tlc.toml, &[]), tlc.summary());
    let changed = "base = \"tlc\"\n[geometry]\nchannels = 2\n";
    assert_eq!(summary(changed, &[]), "tlc, with changes in geometry");
    assert_eq!(
        summary(changed, &["ftl.over_provisioning=0.5", "sources.nand=a book"]),
        "tlc, with changes in ftl, geometry"
    );
    assert_eq!(summary(changed, &["summary=Two channels"]), "Two channels");
    let own = format!("summary = \"Mine\"\n{changed}");
    assert_eq!(summary(&own, &[]), "Mine");
    assert_eq!(summary(&own, &["geometry.channels=2"]), "Mine");
    assert_eq!(summary(&own, &["geometry.channels=4"]), "mine, with changes in geometry");
    let load = |sets: &[String]| load_drive("preset tlc", tlc.toml, sets).expect("legal").config.summary;
    assert_eq!(load(&["geometry.channels=4".to_owned()]), "tlc, with changes in geometry");
}

#[test]
fn values_are_set_by_path_with_units_and_policies() {
    let sets = ["ftl.victim=d-choices", "ftl.victim.d=4", "nand.erase_loop=5ms", "ftl.over_provisioning=0.5"];
    let sets: Vec<String> = sets.iter().map(|&set| set.to_owned()).collect();
    let loaded = load_drive("x", "base = \"tlc\"\n[geometry]\nchannels = 2\n", &sets).expect("legal");
    assert_eq!(loaded.config.geometry.expect("flash").channels, 2);
    assert_eq!(loaded.config.nand.expect("flash").erase_loop.0, 5_000_000);
    assert!((loaded.config.ftl.over_provisioning - 0.5).abs() < 1e-12);
    let victim = serde_json::to_value(&loaded.config.ftl.victim).expect("a policy can be written");
    assert_eq!(victim, serde_json::json!({"policy": "d-choices", "d": 4}));
}

#[test]
fn mistakes_name_the_file_the_line_and_what_was_meant() {
    let preset = presets()[0].toml;
    let misspelt = preset.replace("page_size", "pgae_size");
    let message = error(&misspelt, &[]);
    assert!(
        message.contains("drive.toml") && message.contains("line") && message.contains("did you mean `page_size`"),
        "{message}"
    );
    let unit = preset.replace("\"3500us\"", "\"3500 parsecs\"");
    assert!(error(&unit, &[]).contains("3500 parsecs"));
    let set = error(preset, &["ftl.over_provisoning=0.1"]);
    assert!(set.contains("--set") && set.contains("did you mean `over_provisioning`"), "{set}");
    assert!(error(preset, &["ftl.victim=greedi"]).contains("did you mean `greedy`"));
    assert!(error(preset, &["nonsense"]).contains("key=value"));
    assert!(error("base = \"tcl\"", &[]).contains("Did you mean `tlc`"));
    assert!(error(preset, &["nand.read=[45us]"]).contains("texts within are quoted"));
    let based = error("base = \"tlc\"\n\n[geometry]\nchanels = 4\n", &[]);
    assert!(based.contains("line 4, column 1") && based.ends_with('^') && based.contains("`channels`"), "{based}");
    assert!(error("", &[]).contains("is empty"));
    assert!(error("bas = \"tlc\"", &[]).contains("did you mean `base`"));
    assert!(!error("[geometry]\nbas = 1\n", &[]).contains("did you mean `base`"));
    assert!(!error(preset, &["bas=tlc"]).contains("did you mean `base`"));
}

#[test]
fn a_key_of_another_table_is_named_with_its_table() {
    let meant = |text: &str, sets: &[&str]| {
        let message = error(text, sets);
        let (_, meant) = message.split_once("did you mean ").unwrap_or_else(|| panic!("{message}"));
        meant.split('?').next().unwrap_or_default().to_owned()
    };
    let tlc = "base = \"tlc\"\n";
    for (set, key) in [
        ("over_provisioning=0.2", "`ftl.over_provisioning`"),
        ("over_provisoning=0.2", "`ftl.over_provisioning`"),
        ("nand.page_size=4KiB", "`geometry.page_size`"),
        ("nand_erase_loop=5ms", "`nand.erase_loop`"),
        ("nand_erase_lop=5ms", "`nand.erase_loop`"),
        ("queue_depth=4", "`controller.queue_depth`"),
        ("capacity=1GiB", "`dram.capacity` or `scm.capacity` or `storage_scm.capacity`"),
    ] {
        assert_eq!(meant(tlc, &[set]), key, "{set}");
    }
    assert_eq!(meant("base = \"tlc\"\nover_provisioning = 0.2\n", &[]), "`ftl.over_provisioning`");
}

#[test]
fn a_parameter_of_another_policy_is_told_as_that() {
    let tlc = "base = \"tlc\"\n";
    let of_greedy = "ftl.victim.d: `d` is a parameter of d-choices, not of greedy";
    assert_eq!(error(tlc, &["ftl.victim=greedy", "ftl.victim.d=3"]), format!("--set ftl.victim.d=3: {of_greedy}"));
    let in_file = error("base = \"tlc\"\n[ftl.victim]\npolicy = \"greedy\"\nd = 3\n", &[]);
    assert!(in_file.starts_with(&format!("drive.toml: {of_greedy}\n  at line 4")), "{in_file}");
    // Other keys of that name are named, and those that nobody has get no answer.
    assert!(error(tlc, &["nand.d=3"]).ends_with("did you mean `ftl.victim.d`?"));
    for set in ["x=1", "ftl.victim.x=1"] {
        assert!(!error(tlc, &[set]).contains("did you mean"), "{set}");
    }
}

#[test]
fn no_key_is_answered_with_itself() {
    // Many of them belong to policies that this drive does not choose.
    for key in drive_keys() {
        let sets = [format!("{key}=1")];
        let Err(told) = load_drive("drive.toml", "base = \"tlc\"\n", &sets) else { continue };
        let told = told.to_string();
        let meant = told.split_once("did you mean ").map_or("", |(_, meant)| meant);
        assert!(!meant.contains(&format!("`{key}`")), "{told}");
    }
}

#[test]
fn a_value_that_was_changed_loses_its_source() {
    let sources = |text: &str, sets: &[&str]| {
        let sets: Vec<String> = sets.iter().map(|&set| set.to_owned()).collect();
        load_drive("x", text, &sets).expect(text).config.sources
    };
    let base = "base = \"aero\"\n";
    let all = sources(base, &[]);
    assert!(all.contains_key("nand.erase_loop") && all.contains_key("geometry.channels"), "{all:?}");
    let without = |key: &str| {
        let mut left = all.clone();
        left.remove(key);
        left
    };
    assert_eq!(sources(&format!("{base}[geometry]\nchannels = 3\n"), &[]), without("geometry.channels"));
    assert_eq!(sources(base, &["nand.erase_loop=5ms"]), without("nand.erase_loop"));
    // The same value is still from there, however it is written.
    assert_eq!(sources(base, &["nand.erase_loop=3500us"]), all);
    let own = sources(
        &format!("{base}[nand]\nerase_loop = \"5ms\"\n[sources]\n\"nand.erase_loop\" = \"a measurement\"\n"),
        &[],
    );
    assert_eq!(own.get("nand.erase_loop").map(String::as_str), Some("a measurement"));
}

#[test]
fn sources_are_of_keys_that_there_are() {
    let of = |key: &str| error(&format!("base = \"tlc\"\n[sources]\n\"{key}\" = \"a book\"\n"), &[]);
    let message = of("nand.raed");
    assert!(message.contains("`nand.raed`; did you mean `nand.read`?") && message.contains("line 3"), "{message}");
    assert!(of("read").contains("or `nand.read` or"), "{}", of("read"));
    assert!(error("base = \"tlc\"", &["sources.x=y"]).starts_with("--set sources.x=y: sources: no key"));
    assert!(of("colour").ends_with('^') && !of("colour").contains("did you mean"), "{}", of("colour"));
    for key in ["nand", "nand.read", "ftl.victim", "ftl.victim.d", "scheduler.suspend.points_per_loop"] {
        load_drive("x", &format!("base = \"tlc\"\n[sources]\n\"{key}\" = \"a book\"\n"), &[]).expect(key);
    }
}
