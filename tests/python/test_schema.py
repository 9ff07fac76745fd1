"""The JSON Schemas say what the parsers accept: no less, and no more where a schema can tell."""

from __future__ import annotations

import functools
import json
import re
import tempfile
from typing import Any

import pytest

from conftest import NATIVE, ROOT
from schema_tables import Around, Path, Table, tables, with_value

pytestmark = pytest.mark.skipif(not NATIVE, reason="the engine is not built")
KINDS = ("drive", "job", "profile")
# Where a job file may hold its keys, but for its top level; they do not go together.
WRAPPINGS = (("job",), ("jobs",))
TABLES = {"traces", "summary", "job", "jobs", "file_system", "host_cache", "zone_log"}
CACHE = '[host_cache]\nsize = "2MiB"\n'
ZONE_LOG = '[zone_log]\nsize = "1GiB"\n'
FILE_SYSTEM = (
    '[file_system]\npersonality = "varmail"\ndisk_size = "1GiB"\npage_cache = "16MiB"\nrequests = 9\n'
)
FILES = [
    *(("drive", path) for path in sorted(ROOT.glob("presets/drives/*.toml"))),
    *(("drive", path) for path in sorted(ROOT.glob("examples/drives/*.toml"))),
    *(("job", path) for path in sorted(ROOT.glob("presets/jobs/*.toml"))),
    *(("job", path) for path in sorted(ROOT.glob("examples/jobs/*.toml"))),
    *(("profile", path) for path in sorted(ROOT.glob("presets/profiles/*.toml"))),
]
PROFILE = (ROOT / "presets/profiles/tpcc.toml").read_text()
PROFILE_MISTAKES = (
    ("profile = 1\n", "profile = 2\n"),
    ("profile = 1\n", "profile = 1\nnmae = 1\n"),
    ('name = "tpcc"\n', ""),
    ("requests = 6999\n", "requests = 0\n"),
    ("requests = 6999\n", 'requests = "many"\n'),
    ('duration = "136489us"', 'duration = "4KiB"'),
    ('span = "227259192KiB"', 'span = "16us"'),
    ('continues = "anew"', 'continues = "afresh"'),
    ("mean = 0.0", "mean = -1.0"),
    ("phases = [[0, 892], ", "phases = [[0], "),
    ("phases = [[0, 892], ", "phases = [[0, -1], "),
    ('op = "write"', 'op = "wirte"'),
)
# Of every type and unit, right for some keys and wrong for others.
VALUES: tuple[Any, ...] = (
    *(
        0,
        1,
        3,
        17,
        100,
        101,
        4096,
        -1,
        0.5,
        2.5,
        1e10,
        True,
        "",
        "x",
        "4k",
        "16KiB",
        "1.5 mib",
        "40us",
        "40 US",
    ),
    *("82.5mW", "1.5 W", "40pJ", "7\u00b5J"),
    *("40 US", "7\u00b5s", "3min", "1200MB/s", "1.2gib/s", "12", "-4k", "4parsec", [], [1], ["34us"] * 3),
    *("slc", "tlc", "buffer", "program", "readwrite", "randrw", "linear", "fixed", "poisson", "job"),
    *(
        "random",
        "zipf:1.2",
        "zipf: +.5",
        "pareto:2e-1",
        "zoned:60/10:40/90",
        "zoned_abs:60/4k:40/1MiB",
        "hotcold:90/10",
        "hotcold: 90 / 10",
    ),
    *(
        "4k/60:64k/40",
        "4k:64k",
        "4k,8k,16k",
        "4k-16k",
        "4k - 16KiB,512-512",
        "8k/2k,64k/ 1k",
        "1.5k-3k",
        "4k/",
        "greedy",
        "fifo",
        "immediate",
        "reads-first",
        "round-robin",
    ),
    *(
        "varmail",
        "oltp",
        "lru",
        "full",
        "again",
        "anew",
        "write",
        "own",
        "whole",
        [[1, 1]],
        [["whole", 1]],
        [5, 5],
    ),
    *({"policy": "d-choices", "d": 4}, {"policy": "every-safe-point", "points_per_loop": 3}, {"d": 4}),
    *([{"cycles": 0, "shares": [1.0]}], {"nand.read": "a data sheet"}),
)


@pytest.fixture(scope="module")
def validators() -> dict[str, Any]:
    """A validator by kind of file."""
    from jsonschema import Draft202012Validator

    from ninescope.common import catalogue

    schemas = {kind: json.loads(text) for kind, text in catalogue.schemas().items()}
    for schema in schemas.values():
        Draft202012Validator.check_schema(schema)
    return {kind: Draft202012Validator(schema) for kind, schema in schemas.items()}


def problem(kind: str, document: dict[str, Any]) -> str:
    """What the engine says is wrong with a file; nothing where it takes it."""
    from ninescope import ConfigError, _native
    from ninescope.toml import dumps

    try:
        if kind == "profile":
            _native.ProfileBatches("profile.toml", text_of(kind, document), None, 1)
        elif kind == "drive":
            _native.check_run(
                json.dumps({"drive": {"toml": text_of(kind, document)}, "workload": {"job": {"rw": "read"}}})
            )
        elif TABLES & document.keys():
            with tempfile.NamedTemporaryFile("w", suffix=".toml", encoding="utf-8") as file:
                file.write(dumps(document))
                file.flush()
                _native.check_run(json.dumps({"workload": {"job_file": file.name}}))
        else:
            _native.check_run(json.dumps({"workload": {"job": document}}))
    except ConfigError as error:
        return str(error)
    return ""


def test_there_is_a_schema_for_each_kind(cli, tmp_path):
    code, out, err = cli("schema", "--out", tmp_path / "schemas")
    assert (code, err) == (0, "")
    for kind in KINDS:
        path = tmp_path / "schemas" / f"{kind}.schema.json"
        assert str(path) in out
        assert path.read_text() == cli("schema", kind).out
        assert json.loads(path.read_text())["$schema"] == "https://json-schema.org/draft/2020-12/schema"


@pytest.mark.parametrize(("arguments", "words"), [((), "drive, job, profile"), (("dirve",), "'drive'")])
def test_a_kind_is_asked_for(cli, arguments, words):
    code, out, err = cli("schema", *arguments)
    assert (code, out) == (2, "")
    assert words in err


@pytest.mark.parametrize(("kind", "path"), FILES, ids=lambda value: getattr(value, "stem", value))
def test_what_is_shipped_is_right(validators, kind, path):
    from ninescope.toml import loads

    assert [error.message for error in validators[kind].iter_errors(loads(path.read_text()))] == []


def test_every_key_has_a_description(validators):
    for kind in KINDS:
        for table in tables(validators[kind].schema):
            for key, schema in table.keys.items():
                assert key == "policy" or len(schema.get("description", "")) > 5, (table.path, key)


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("drive", 'base = "tlc"\n[geometry]\nchanels = 4\n'),
        ("drive", 'base = "tlc"\n[nand]\nerase_loop = "4KiB"\n'),
        ("drive", 'base = "tlc"\n[geometry]\npage_size = "16us"\n'),
        ("drive", 'base = "tlc"\n[nand]\nchannel_rate = "1200MB"\n'),
        ("drive", 'base = "tlc"\n[nand]\nread = ["34us", "52 parsec"]\n'),
        ("drive", 'base = "tlc"\n[geometry]\nplanes_per_die = 9\n'),
        ("drive", 'base = "tlc"\n[geometry]\nchannels = 0\n'),
        ("drive", 'base = "tlc"\n[geometry]\nchannels = "eight"\n'),
        ("drive", 'base = "tlc"\n[ftl]\nover_provisioning = 0.0\n'),
        ("drive", 'base = "tlc"\n[ftl]\nvictim = "greedi"\n'),
        ("drive", 'base = "tlc"\n[ftl]\nvictim = { policy = "greedy", d = 3 }\n'),
        ("drive", 'base = "tlc"\n[controller]\nwrite_completion = "never"\n'),
        ("drive", 'base = "m-scm"\n[scm]\nwear_leveling_copies = "in-memroy"\n'),
        ("drive", 'base = "m-scm"\n[scm]\nverify = "to-teh-cap"\n'),
        ("drive", 'base = "m-scm"\n[scm]\nverify = { policy = "to-the-cap", cycles = 1001 }\n'),
        ("drive", 'base = "m-scm"\n[scm]\nverify = { policy = "to-the-cap", accept_bits = 1 }\n'),
        ("drive", 'base = "m-scm"\n[scm]\nverify = { policy = "until-pass", rber = 0.6 }\n'),
        ("drive", 'base = "m-scm"\n[scm]\nverify = { policy = "until-pass", decay = 0.0 }\n'),
        ("drive", 'base = "tcl"\n'),
        ("drive", "[geometry]\nchannels = 4\n"),
        ("drive", ""),
        ("job", 'rw = "sideways"\n'),
        ("job", 'rw = "read"\niodepht = 4\n'),
        ("job", 'rw = "read"\nbs = "4us"\n'),
        ("job", 'rw = "read"\nduration = "4KiB"\n'),
        ("job", 'rw = "read"\niodepth = 0\n'),
        ("job", 'rw = "randrw"\nrwmixread = 130\n'),
        ("job", 'rw = "read"\nrate_iops = 0.0\n'),
        ("job", 'rw = "read"\nreadwrite = "write"\n'),
        ("job", 'rw = "randread"\nrandom_distribution = "zipf"\n'),
        ("job", 'rw = "randread"\nbssplit = "4k/60;64k/40"\n'),
        ("job", 'rw = "randrw"\nrwmixread = -0.5\n'),
        ("job", 'rw = "read"\nsize_percent = 0\n'),
        ("job", 'rw = "read"\noffset_percent = 100\n'),
        ("job", 'rw = "read"\nnumjobs = 0\n'),
        ("job", 'rw = "read"\nnumjobs = 257\n'),
        ("job", 'rw = "read"\nstonewall = 1\n'),
        ("job", 'rw = "read"\nbsrange = "4k"\n'),
        ("job", 'rw = "rw"\nrate_iops = 10\nwrite_rate_iops = 2e9\n'),
        ("job", 'rw = "rw"\nrate = "0B/s"\n'),
        ("job", 'rw = "read"\n[job]\nrw = "read"\n'),
        ("job", 'rw = "read"\n[[jobs]]\nrw = "read"\n'),
        ("job", '[job]\nrw = "read"\n[[jobs]]\nrw = "read"\n'),
        ("job", '[[jobs]]\nname = "a"\n[[jobs]]\nname = "b"\niodepth = 0\n'),
        ("job", "[[jobs]]\nnumjobs = 257\n"),
        ("job", '[jobs]\nrw = "read"\n'),
        ("job", "jobs = []\n"),
        ("job", ""),
        ("job", f'rw = "read"\nsize = "4MiB"\n{CACHE}'),
        ("job", f'[[jobs]]\nrw = "read"\nsize = "4MiB"\n{CACHE}'),
        ("job", f'[[jobs]]\nrw = "read"\n{FILE_SYSTEM}'),
        ("job", f'[job]\nrw = "read"\n{FILE_SYSTEM}'),
        ("job", f'[job]\nrw = "read"\n{CACHE}'),
        ("job", f'[job]\nrw = "read"\nsize = "4MiB"\nnumjobs = 2\n{CACHE}'),
        ("job", f'[job]\nrw = "read"\nsize = "4MiB"\nramp_time = "1ms"\n{CACHE}'),
        ("job", f'[job]\nrw = "read"\nsize = "4MiB"\n{CACHE}dirty_threshold = 101\n'),
        ("job", f'[job]\nrw = "read"\nsize = "4MiB"\n{CACHE}replacement = "random"\n'),
        ("job", f'[job]\nrw = "read"\nsize = "4MiB"\n{CACHE}clean_ios_set = 0\n'),
        ("job", f"{FILE_SYSTEM}pesonality = 1\n"),
        ("job", FILE_SYSTEM.replace("varmail", "varmial")),
        ("job", FILE_SYSTEM.replace('page_cache = "16MiB"\n', "")),
        ("job", f"{FILE_SYSTEM}dirty_background = 0\n"),
        ("job", f"{FILE_SYSTEM}gamma = -1\n"),
        ("job", f"summary = 3\n{FILE_SYSTEM}"),
        ("job", 'summary = "nothing else"\n'),
        *(("profile", PROFILE.replace(right, wrong, 1)) for right, wrong in PROFILE_MISTAKES),
    ],
)
def test_a_mistake_fails_the_schema_and_the_check(cli, validators, tmp_path, kind, text):
    from ninescope.toml import loads

    assert not validators[kind].is_valid(loads(text))
    path = tmp_path / f"{kind}.toml"
    path.write_text(text)
    code, out, err = cli("check", path)
    assert (code, out) == (2, "")
    assert str(path) in err


@pytest.mark.parametrize(
    "text",
    [
        'rw = "rw"\nrwmixread = 62.5\nbsrange = "4k-16k"\nramp_time = "1ms"\nsize_percent = 0.5\n',
        'rw = "read"\noffset_percent = 12.5\nsize = "1MiB"\n',
        '[job]\nrw = "randread"\nnumjobs = 256\noffset_increment = "1m"\nsize = "1m"\n',
        '[[jobs]]\nrw = "rw"\nrate_iops = 10\nwrite_rate_iops = 2.5\nrequests = 9\n',
        '[job]\nrw = "write"\nbssplit = "4k/50:8k/50"\nrate_iops = 10\nrate_by_bytes = true\nrequests = 9\n',
        '[job]\nrw = "randrw"\nsize = "1MiB"\neach_pass = "same"\npass_size = "64KiB"\nrequests = 99\n',
        '[[jobs]]\nname = "a"\nstartdelay = "1ms"\n[[jobs]]\nname = "b"\nstonewall = true\n',
        'summary = "reads"\n[job]\nrw = "read"\n',
        'summary = "two"\n[[jobs]]\nname = "a"\n[[jobs]]\nname = "b"\n',
        f'[job]\nrw = "read"\nsize = "4MiB"\nstonewall = false\nnumjobs = 1\n{CACHE}',
        f'[job]\nrw = "write"\nsize = "4MiB"\n{CACHE}block = "8KiB"\nways = 64\ninitial = "full"\n',
        f'[job]\nsize = "4MiB"\n{CACHE}replacement = "lru"\n',
        f"{FILE_SYSTEM}gamma = 1.5\nlog_size = 4096\n",
        f'summary = "mails"\n{FILE_SYSTEM}{CACHE}trim = true\n',
    ],
)
def test_jobs_of_every_shape_are_right(cli, validators, tmp_path, text):
    from ninescope.toml import loads

    assert [error.message for error in validators["job"].iter_errors(loads(text))] == []
    path = tmp_path / "job.toml"
    path.write_text(text)
    assert cli("check", path).code == 0


@pytest.mark.parametrize(
    "text",
    [
        'base = "m-scm"\n[scm]\nwear_leveling_copies = "in-memory"\n',
        'base = "m-scm"\n[scm]\nverify = "until-pass"\n',
        'base = "multi-scm"\n[storage_scm]\nwear_leveling_copies = "through-controller"\n',
        'base = "m-scm"\n[scm]\nverify = { policy = "to-the-cap", cycles = 0, verify_read = "40ns" }\n',
        'base = "multi-scm"\n[storage_scm]\nverify = { policy = "until-pass", cycles_set = 3 }\n',
    ],
)
def test_drives_with_what_may_be_left_out_are_right(cli, validators, tmp_path, text):
    from ninescope.toml import loads

    assert [error.message for error in validators["drive"].iter_errors(loads(text))] == []
    path = tmp_path / "drive.toml"
    path.write_text(text)
    assert cli("check", path).code == 0


def whole(kind: str, path: Path = (), around: Around = ()) -> dict[str, Any]:
    """A right file with every table in it that goes with `path`."""
    from ninescope.toml import loads

    if kind == "job" and path[:1] in (("file_system",), ("host_cache",), ("summary",)):
        return loads(FILE_SYSTEM + CACHE)
    if kind == "job" and path[:1] == ("zone_log",):
        return loads(FILE_SYSTEM + ZONE_LOG)
    if kind == "job" and path[:1] == ("traces",):
        return {}
    if kind == "profile":
        return whole_profile()
    if kind == "job":
        return {"rw": "randrw", "requests": 10}
    drive = whole_drive()
    for table, policy in around:
        drive = with_value(drive, table, {"policy": policy})
    return drive


def text_of(kind: str, document: dict[str, Any]) -> str:
    """A file as TOML: tables that are those of the whole file are not written anew each time."""
    from ninescope.toml import dumps

    texts = texts_of_whole(kind)
    same = [key for key in texts if document.get(key) is WHOLE[kind]()[key]]
    changed = {key: value for key, value in document.items() if key not in same}
    return "\n".join([dumps(changed), *(texts[key] for key in same)])


@functools.cache
def texts_of_whole(kind: str) -> dict[str, str]:
    """The tables of a whole file as TOML, by their names."""
    from ninescope.toml import dumps

    return {key: dumps({key: table}) for key, table in WHOLE[kind]().items() if isinstance(table, dict)}


@functools.cache
def whole_profile() -> dict[str, Any]:
    """A profile; nobody changes it."""
    from ninescope.toml import loads

    return loads(PROFILE)


@functools.cache
def whole_drive() -> dict[str, Any]:
    """A drive with every table that may be in the description of one; nobody changes it."""
    from ninescope import Drive
    from ninescope.toml import loads

    return loads(Drive.preset("ssr-dynamic").resolve())


WHOLE = {"drive": whole_drive, "profile": whole_profile}


def keys_of_the_parser(kind: str, table: Table) -> set[str]:
    """What the parser would have taken in place of a key that there is not."""
    wrong = {"zzz": 1} if table.policy is None else {"policy": table.policy, "zzz": 1}
    message = problem(kind, with_value(whole(kind, table.path, table.around), table.path, wrong))
    _, found, expected = message.partition("unknown field `zzz`, ")
    assert found, (table.path, message)
    return set(re.findall(r"`(\w+)`", expected.partition("\n")[0]))


@pytest.mark.parametrize("kind", KINDS)
def test_the_keys_are_those_of_the_parser(validators, kind):
    seen = 0
    for table in tables(validators[kind].schema):
        if table.path[:1] in WRAPPINGS:
            continue  # the same keys in a table
        elsewhere = {} if table.path else {"drive": {"base"}, "job": TABLES}
        keys = set(table.keys) - {"policy"} - elsewhere.get(kind, set())
        assert keys == keys_of_the_parser(kind, table), table.path
        seen += 1
    assert seen >= {"drive": 20, "job": 3, "profile": 8}[kind]


# What the engine says of a key that has to be of something.
OF_NOTHING = re.compile(r"zero|\b0 ns\b|\bis 0\b|\b0 bytes\b|at least 1\b|greater than 0|from 1 B")


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_refused_by_the_schema_where_the_parser_refuses_it(validators, kind):
    # `erase_loops = 0` and `read = "0us"` were right for editors, and wrong for `check`.
    refused = 0
    for table in tables(validators[kind].schema):
        if table.path[:1] in WRAPPINGS or table.path[-1:] == (0,):
            continue
        for key in table.keys:
            path = (*table.path, key) if table.policy is None else table.path
            for value in (0, "0us", "0.0 B", "0MB/s", -1):
                inner = value if table.policy is None else {"policy": table.policy, key: value}
                document = with_value(whole(kind, path, table.around), path, inner)
                if OF_NOTHING.search(problem(kind, document).partition("\n")[0]):
                    refused += 1
                    where = ".".join(map(str, (*path, key)))
                    assert not validators[kind].is_valid(document), (
                        f"{where} = {value!r} is right for the schema, and refused by the parser: "
                        "give the field #[schemars(transform = above_zero)]"
                    )
    assert refused >= {"drive": 100, "job": 20, "profile": 0}[kind]


@pytest.mark.parametrize(
    "text",
    [
        'base = "tlc"\n[nand]\nerase_loops = 0\n',
        'base = "tlc"\n[nand]\nread = "0us"\n',
        'base = "tlc"\n[nand]\nread = ["34us", "0.0 us", "52us"]\n',
        'base = "tlc"\n[nand]\nendurance_cycles = 0\n',
        'base = "m-scm"\n[scm]\nset = 0\n',
        'base = "m-scm"\n[scm]\ncapacity = "0KiB"\n',
        'base = "m-scm"\n[scm]\nbit_cost = 0.0\n',
    ],
)
def test_a_quantity_of_nothing_fails_the_schema_and_the_check(cli, validators, tmp_path, text):
    from ninescope.toml import loads

    assert not validators["drive"].is_valid(loads(text))
    path = tmp_path / "drive.toml"
    path.write_text(text)
    assert cli("check", path).code == 2


@pytest.mark.parametrize("value", ["0.5us", "10us", "100 ns", "00.001ms"])
def test_what_only_looks_like_nothing_is_something(validators, value):
    assert validators["drive"].is_valid({"base": "tlc", "nand": {"read": value}})


@pytest.mark.parametrize("kind", KINDS)
def test_what_the_parser_takes_the_schema_takes(validators, kind):
    taken = 0
    for table in tables(validators[kind].schema):
        if table.path[:1] in WRAPPINGS or table.path[-1:] == (0,):
            continue
        for key in table.keys:
            for value in VALUES:
                inner = {key: value} if table.policy is None else {"policy": table.policy, key: value}
                path = (*table.path, key) if table.policy is None else table.path
                document = with_value(
                    whole(kind, path, table.around), path, value if table.policy is None else inner
                )
                # What reads a table also takes a list of its values in their order, which nobody is to write.
                ways = (table.keys[key], *table.keys[key].get("anyOf", ()))
                is_list_for_table = isinstance(value, list) and any(
                    "$ref" in way
                    or ("$ref" in way.get("items", ()) and any(isinstance(row, list) for row in value))
                    for way in ways
                )
                if is_list_for_table or problem(kind, document):
                    continue
                taken += 1
                errors = [error.message for error in validators[kind].iter_errors(document)]
                assert not errors, (path, value)
    assert taken > 100
