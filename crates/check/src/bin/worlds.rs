//! `make worlds N=200 SEED=7`: hunts in random worlds. See `ninescope_check::worlds`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use lexopt::prelude::*;
use ninescope_check::worlds::{Failure, Hunt, World, generate, run, shrink, situations, trace};

const HELP: &str = "\
worlds [--count N] [--seed S] [--threads T] [--with KEY[=POLICY]]... [--until NAME] [--keep DIR | --no-keep]
       [--table FILE]
    hunts in N worlds from seed S on, in those of them alone whose drives have all of these keys, or until one fails
    by this name; shrinks what fails and keeps it in DIR (out/worlds)
worlds --replay FILE...
    runs kept worlds
worlds --trace FILE [--shared]
    runs a kept world, with --shared its requests dealt to several tenants, and prints every event the checker sees
worlds --show SEED
    prints the world of a seed
worlds --minimal DIR [--count N] [--seed S]
    writes the smallest world found for each mark that has none in DIR
    that hits it";

/// Worlds that are expected to hit every mark.
const WORLDS_FOR_ALL_MARKS: u64 = 1_500;
/// Trials for shrinking a world.
const SHRINK_ATTEMPTS: u32 = 4_000;

struct Options {
    count: u64,
    seed: u64,
    threads: usize,
    /// What the drives of worlds must have.
    with: Vec<String>,
    /// The failure that ends the hunt.
    until: Option<String>,
    /// Where failing worlds are kept, shrunk; `None`: they are only named.
    keep: Option<PathBuf>,
    table: Option<PathBuf>,
    /// Where the minimal worlds are.
    marks: PathBuf,
    replay: Vec<PathBuf>,
    trace: Option<PathBuf>,
    /// What is traced has several tenants.
    shared: bool,
    show: Option<u64>,
    minimal: Option<PathBuf>,
}

fn main() -> ExitCode {
    match options() {
        Ok(Some(options)) => act(&options),
        Ok(None) => {
            println!("{HELP}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("worlds: error: {error}\n{HELP}");
            ExitCode::from(2)
        }
    }
}

fn options() -> Result<Option<Options>, lexopt::Error> {
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let mut options = Options {
        count: 200,
        seed: 1,
        threads,
        with: Vec::new(),
        until: None,
        keep: Some(PathBuf::from("out/worlds")),
        table: None,
        marks: PathBuf::from("crates/check/worlds/marks"),
        replay: Vec::new(),
        trace: None,
        shared: false,
        show: None,
        minimal: None,
    };
    let mut parser = lexopt::Parser::from_env();
    while let Some(argument) = parser.next()? {
        match argument {
            Long("count") => options.count = parser.value()?.parse()?,
            Long("seed") => options.seed = parser.value()?.parse()?,
            Long("threads") => options.threads = parser.value()?.parse()?,
            Long("with") => options.with.push(parser.value()?.parse()?),
            Long("until") => options.until = Some(parser.value()?.parse()?),
            Long("keep") => options.keep = Some(parser.value()?.into()),
            Long("no-keep") => options.keep = None,
            Long("table") => options.table = Some(parser.value()?.into()),
            Long("trace") => options.trace = Some(parser.value()?.into()),
            Long("shared") => options.shared = true,
            Long("show") => options.show = Some(parser.value()?.parse()?),
            Long("minimal") => options.minimal = Some(parser.value()?.into()),
            Long("replay") => options.replay.extend(parser.values()?.map(PathBuf::from)),
            Short('h') | Long("help") => return Ok(None),
            _ => return Err(argument.unexpected()),
        }
    }
    if options.count == 0 {
        return Err("--count must be at least 1".into());
    }
    Ok(Some(options))
}

fn act(options: &Options) -> ExitCode {
    // What a world panics with is in its failure; a reader of the output that has seen enough ends the program.
    let says_where = options.trace.is_some();
    std::panic::set_hook(Box::new(move |panic| {
        if panic.to_string().contains("failed printing") {
            std::process::exit(1);
        }
        if says_where {
            eprintln!("{panic}\n{}", std::backtrace::Backtrace::capture());
        }
    }));
    if let Some(seed) = options.show {
        print!("{}", toml::to_string(&generate(seed)).unwrap_or_default());
        return ExitCode::SUCCESS;
    }
    if let Some(file) = &options.trace {
        return trace_world(file, options.shared);
    }
    if !options.replay.is_empty() {
        return replay(&options.replay);
    }
    match &options.minimal {
        Some(folder) => write_minimal_worlds(options, folder),
        None => hunt(options),
    }
}

fn trace_world(file: &Path, shared: bool) -> ExitCode {
    let world = match World::read(file) {
        Ok(world) => world,
        Err(error) => {
            eprintln!("worlds: error: {error}");
            return ExitCode::from(2);
        }
    };
    match trace(&world, shared, Box::new(|line| println!("{line}"))) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            println!("{}: {}", failure.name, failure.message);
            ExitCode::FAILURE
        }
    }
}

fn replay(files: &[PathBuf]) -> ExitCode {
    let mut code = ExitCode::SUCCESS;
    for file in files {
        match World::read(file) {
            Err(error) => {
                eprintln!("worlds: error: {error}");
                return ExitCode::from(2);
            }
            Ok(world) => match run(&world) {
                Ok(outcome) => println!("{}: {} requests, {}", file.display(), outcome.requests, outcome.digest),
                Err(failure) => {
                    println!("{}: {}: {}", file.display(), failure.name, failure.message);
                    code = ExitCode::FAILURE;
                }
            },
        }
    }
    code
}

fn hunt(options: &Options) -> ExitCode {
    let hunt = Hunt {
        first_seed: options.seed,
        worlds: options.count,
        threads: options.threads,
        failures_max: 20,
        with: options.with.clone(),
        until: options.until.clone(),
    };
    let step = (options.count / 10).max(1);
    let report = hunt.run(&|done| {
        if done % step == 0 {
            eprintln!("{done} of {} worlds", options.count);
        }
    });
    println!(
        "{} worlds from seed {}: {} requests, {} events, {} checked, {} failures",
        report.worlds,
        options.seed,
        report.requests,
        report.events,
        report.checked,
        report.failures.len()
    );
    for (world, failure) in &report.failures {
        println!("\nseed {}: {}: {}", world.seed, failure.name, failure.message);
        println!("  again: make worlds N=1 SEED={}", world.seed);
        if let Some(folder) = &options.keep {
            keep(world, failure, folder);
        }
    }
    let missed = report.missed();
    if options.count < WORLDS_FOR_ALL_MARKS {
        println!("{} marks were not hit; some {WORLDS_FOR_ALL_MARKS} worlds hit all", missed.len());
    } else if !missed.is_empty() {
        println!("marks that nothing hit: {}", missed.join(", "));
    }
    if let Some(table) = &options.table
        && let Err(error) = write_table(table, &report.table(&minimal_worlds(&options.marks)))
    {
        eprintln!("worlds: error: {}: {error}", table.display());
        return ExitCode::from(2);
    }
    if report.failures.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn write_table(file: &Path, table: &str) -> std::io::Result<()> {
    if let Some(folder) = file.parent() {
        std::fs::create_dir_all(folder)?;
    }
    std::fs::write(file, table)?;
    println!("which worlds and which minimal test hit each mark: {}", file.display());
    Ok(())
}

/// Requests of the minimal world of each mark.
fn minimal_worlds(folder: &Path) -> BTreeMap<String, usize> {
    let files = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    files.filter_map(|file| World::read(&file).ok()).map(|world| (world.about, world.requests.len())).collect()
}

/// Shrinks a world that failed and writes it down.
fn keep(world: &World, failure: &Failure, folder: &Path) {
    let mut smallest =
        shrink(world, SHRINK_ATTEMPTS, &mut |world| run(world).is_err_and(|other| other.name == failure.name));
    let shrunk = run(&smallest).err().unwrap_or_else(|| failure.clone());
    smallest.about = format!("{}: {}", shrunk.name, shrunk.message);
    let file = folder.join(format!("{}-{}.toml", failure.name, world.seed));
    let written = std::fs::create_dir_all(folder).map_err(|error| error.to_string());
    match written.and_then(|()| smallest.write(&file).map_err(|error| error.to_string())) {
        Ok(()) => {
            println!("  shrunk to {} requests: {}", smallest.requests.len(), file.display());
            println!(
                "  the shrunk one again: cargo run --release -p ninescope-check --bin worlds -- --replay {}",
                file.display()
            );
        }
        Err(error) => eprintln!("worlds: error: {}: {error}", file.display()),
    }
    println!("  {}", shrunk.message);
}

/// For each mark without a minimal world that hits it, shrinks the first world of the hunt that hits it.
fn write_minimal_worlds(options: &Options, folder: &Path) -> ExitCode {
    if let Err(error) = std::fs::create_dir_all(folder) {
        eprintln!("worlds: error: {}: {error}", folder.display());
        return ExitCode::from(2);
    }
    let hunt = Hunt {
        first_seed: options.seed,
        worlds: options.count,
        threads: options.threads,
        failures_max: 1,
        with: Vec::new(),
        until: None,
    };
    let report = hunt.run(&|_| {});
    for mark in situations() {
        let file = folder.join(format!("{}.toml", file_name(&mark)));
        let Some(sighting) = report.marks.get(&mark) else {
            println!("{mark}: never hit");
            continue;
        };
        let hits =
            |world: &World| run(world).is_ok_and(|outcome| outcome.marks.get(&mark).is_some_and(|&hits| hits > 0));
        if World::read(&file).is_ok_and(|world| hits(&world)) {
            continue;
        }
        let mut smallest = shrink(&generate(sighting.first_seed), SHRINK_ATTEMPTS, &mut |world| hits(world));
        smallest.about.clone_from(&mark);
        if let Err(error) = smallest.write(&file) {
            eprintln!("worlds: error: {error}");
            return ExitCode::from(2);
        }
        println!("{mark}: {} requests, from seed {}", smallest.requests.len(), sighting.first_seed);
    }
    ExitCode::SUCCESS
}

/// A mark as a file name.
fn file_name(mark: &str) -> String {
    mark.replace(" = ", "-").replace('.', "-")
}
