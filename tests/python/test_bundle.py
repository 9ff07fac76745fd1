"""Bundles: a run in one file, which comes to the same for somebody else, or says what is not as it was."""

from __future__ import annotations

import json
import zipfile

import pytest

from conftest import NATIVE, ROOT

pytestmark = pytest.mark.skipif(not NATIVE, reason="the engine is not built")
DRIVE = ROOT / "examples/drives/demo.toml"
TRACE = ROOT / "examples/traces/pgbench.csv.zst"


def packed(cli, bundle, *words: object):
    told = cli("run", *words, "--provenance", bundle)
    assert told.code == 0, told.err
    return bundle


def changed(bundle, member: str, change):
    """Write the bundle again, with one member changed, or without it where `change` returns None."""
    with zipfile.ZipFile(bundle) as opened:
        members = {name: opened.read(name) for name in opened.namelist()}
    members[member] = change(members[member])
    with zipfile.ZipFile(bundle, "w") as written:
        for name, content in members.items():
            if content is not None:
                written.writestr(name, content)
    return bundle


def document(bundle, member: str):
    with zipfile.ZipFile(bundle) as opened:
        return json.loads(opened.read(member))


def edited(bundle, member: str, edit):
    """Write the bundle again, with a document in it that `edit` was let at."""

    def change(text):
        inside = json.loads(text)
        edit(inside)
        return json.dumps(inside).encode()

    return changed(bundle, member, change)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Return the content of a bundle of a run of a job."""
    from ninescope import Drive, Workload
    from ninescope.simulation import bundle, run

    file = tmp_path_factory.mktemp("bundle") / "run.zip"
    asked = run.request(Drive.from_file(DRIVE), Workload.job(rw="randrw", size="64m", requests=500))
    bundle.write(str(file), asked, run.Run(asked).to_end())
    return file.read_bytes()


@pytest.fixture
def good(made, tmp_path):
    """Return a bundle of one's own."""
    file = tmp_path / "run.zip"
    file.write_bytes(made)
    return file


@pytest.mark.parametrize(
    "words",
    [
        ("--rw", "randrw", "--size", "64m", "--requests", "2000", "--set", "nand.read=30us", "--seed", "7"),
        (
            ROOT / "examples/jobs/zone-log.toml",
            "--drive",
            ROOT / "examples/drives/zns.toml",
            "--requests",
            "2000",
        ),
        ("prxy_0", "--requests", "2000"),
        ("varmail", "--requests", "2000", "--warmup", "10%"),
    ],
)
def test_a_bundle_comes_to_the_same_wherever_it_lies(cli, tmp_path, monkeypatch, words):
    bundle = packed(cli, tmp_path / "run.zip", *words)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    bundle.rename(elsewhere / "run.zip")
    told = cli("replay", "run.zip")
    assert (told.code, told.out[:18]) == (0, "run.zip: the same,")


def test_equal_runs_have_equal_bundles(cli, tmp_path):
    words = ("--rw", "randread", "--size", "64m", "--requests", "500")
    one = packed(cli, tmp_path / "one.zip", *words).read_bytes()
    assert packed(cli, tmp_path / "other.zip", *words).read_bytes() == one


def test_a_trace_is_known_by_its_hash(cli, tmp_path):
    bundle = packed(cli, tmp_path / "run.zip", TRACE, "--drive", DRIVE, "--requests", "3000")
    told = cli("replay", bundle)
    assert (told.code, "--trace FILE says where it lies" in told.err) == (2, True)
    assert cli("replay", bundle, "--trace", TRACE, "--out", tmp_path / "again").code == 0
    again = json.loads((tmp_path / "again" / "result.json").read_text())
    assert again["requests"] == 3000
    other = tmp_path / "other.csv"
    other.write_text("".join(f"{at},host,0,Read,{at * 4096},4096,1\n" for at in range(1, 4000)))
    told = cli("replay", bundle, "--trace", other)
    assert told.code == 2
    assert f"{other}: is not the trace of {bundle}: its hash is " in told.err


def test_what_is_not_as_it_was_is_said(cli, tmp_path):
    bundle = packed(cli, tmp_path / "run.zip", "--rw", "randread", "--size", "64m", "--requests", "500")
    # Somebody else's drive reads faster, of a later version.
    changed(
        bundle,
        "drive/tlc.toml",
        lambda text: text.replace(b'read = ["34us", "52us", "34us"]', b'read = ["30us"]'),
    )
    changed(bundle, "bundle.json", lambda text: text.replace(b'"version": "0.', b'"version": "9.'))
    told = cli("replay", bundle)
    assert told.code == 1
    heads = [line.partition(":")[0] for line in told.out.splitlines()[1:]]
    assert heads == ["  what the device did", "  the drive", *["  result.json"] * 6]
    assert told.out.splitlines()[-1].endswith(" keys more")
    assert "it was made by ninescope 9." in told.err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--provenance", "run.tar"), "a bundle is a file that ends in .zip"),
        (("--provenance", f"{DRIVE}/run.zip"), "cannot write"),
        (("--provenance", "run.zip", "--from-snapshot", DRIVE), "has a past that no bundle holds"),
    ],
)
def test_what_no_bundle_can_hold_is_refused_before_it_is_run(cli, tmp_path, monkeypatch, words, message):
    monkeypatch.chdir(tmp_path)
    told = cli("run", "--rw", "randread", "--size", "64m", "--requests", "500", *words)
    assert (told.code, message in told.err) == (2, True), told.err
    assert list(tmp_path.iterdir()) == []


def test_what_is_no_bundle_is_refused(cli, tmp_path):
    file = tmp_path / "run.zip"
    assert "run.zip" in cli("replay", file).err
    file.write_bytes(b"nothing")
    told = cli("replay", file)
    assert (told.code, "is no bundle, or a damaged one" in told.err) == (2, True)
    with zipfile.ZipFile(file, "w") as bundle:
        bundle.writestr("else.txt", "nothing")
    assert "it has no bundle.json" in cli("replay", file).err
    bundle = packed(cli, tmp_path / "good.zip", "--rw", "randread", "--size", "64m", "--requests", "500")
    assert "all that it replays is in it" in cli("replay", bundle, "--trace", TRACE).err
    changed(
        bundle, "bundle.json", lambda text: text.replace(b'"ninescope_bundle": 1', b'"ninescope_bundle": 2')
    )
    assert "is a bundle of format 2" in cli("replay", bundle).err


def test_figures_that_were_altered_are_told_with_both_values(cli, good):
    was = document(good, "result.json")["waf"]["total"]
    assert was != 0.5
    edited(good, "result.json", lambda result: result["waf"].update(total=0.5))
    told = cli("replay", good)
    assert (told.code, told.out.splitlines()) == (
        1,
        [f"{good}: comes to something else", f"  result.json: waf.total: {was}, and it was 0.5"],
    )


def test_a_figure_of_another_name_is_told(cli, good):
    total = document(good, "result.json")["waf"]["total"]
    edited(good, "result.json", lambda result: result["waf"].update(sum=result["waf"].pop("total")))
    told = cli("replay", good)
    assert (told.code, told.out.splitlines()[1:]) == (
        1,
        [
            f"  result.json: waf.sum: is not there, and it was {total}",
            f"  result.json: waf.total: {total}, and it was not there",
        ],
    )


def test_the_first_figures_are_named_and_the_others_counted(cli, good):
    counters = document(good, "result.json")["counters"]
    added = {name: value + 1 for name, value in counters.items() if type(value) is int}
    edited(good, "result.json", lambda result: result["counters"].update(added))
    told = cli("replay", good)
    lines = told.out.splitlines()[1:]
    assert told.code == 1
    assert [line.partition(", ")[0] for line in lines[:5]] == [
        f"  result.json: counters.{name}: {counters[name]}" for name in sorted(added)[:5]
    ]
    assert lines[5:] == [f"  result.json: {len(added) - 5} keys more"]


@pytest.mark.parametrize(
    "change", [{"complete": 1}, {"digest": "0"}, {"seed": True}, {"waf": []}, {"jobs": [1]}]
)
def test_every_kind_of_value_is_compared(cli, good, change):
    edited(good, "result.json", lambda result: result.update(change))
    told = cli("replay", good)
    assert (told.code, f"  result.json: {next(iter(change))}" in told.out) == (1, True), told.out


def test_what_belongs_to_the_build_or_the_machine_is_not_compared(cli, good):
    def elsewhere(result):
        result["build"] = {"profile": "dist", "target": "aarch64", "version": "0.0.1"}
        result["ninescope"], result["fio version"] = "0.0.1", "ninescope-0.0.1"
        result["notes"] = ["made long ago"]
        result["workload"]["path"] = "/elsewhere/job.toml"
        result["performance"] = {"run_seconds": 1e9}

    edited(good, "result.json", elsewhere)
    assert cli("replay", good).code == 0


def test_a_figure_that_another_version_did_not_have_is_no_difference(cli, good):
    edited(good, "result.json", lambda result: result["waf"].pop("total"))
    assert cli("replay", good).code == 1
    edited(good, "bundle.json", lambda about: about["build"].update(version="0.0.1"))
    told = cli("replay", good)
    assert (told.code, "its result does not have 1 key of this one: waf.total" in told.err) == (0, True)


def test_what_was_looked_at_besides_is_looked_at_again(cli, tmp_path):
    job = ROOT / "examples/jobs/noisy-neighbour.toml"
    words = (job, "--requests", "2000", "--alone", "--check", "cheap", "--explain-slowest", "3")
    bundle = packed(cli, tmp_path / "run.zip", *words, "--log-requests", "--out", tmp_path / "out")
    result = document(bundle, "result.json")
    assert len(result["slowest"]["read"]) == 3
    assert result["fairness"]["jain"] is not None
    told = cli("replay", bundle)
    assert told.code == 0, told.out
    edited(bundle, "result.json", lambda result: result["fairness"].update(jain=2.0))
    edited(bundle, "result.json", lambda result: result["slowest"]["read"][1].update(latency_ns=7))
    told = cli("replay", bundle)
    assert told.code == 1
    assert [line.split(": ")[1] for line in told.out.splitlines()[1:]] == [
        "fairness.jain",
        "slowest.read.1.latency_ns",
    ]


def test_another_file_of_the_same_trace_is_the_same(cli, tmp_path):
    bundle = packed(cli, tmp_path / "run.zip", TRACE, "--drive", DRIVE, "--requests", "1000")
    other = tmp_path / "other.iolog"
    assert cli("trace", "convert", TRACE, other).code == 0
    assert cli("replay", bundle, "--trace", other).code == 0
    edited(bundle, "result.json", lambda result: result["workload"].update(reads=1))
    told = cli("replay", bundle, "--trace", other)
    assert (told.code, "result.json: workload.reads: " in told.out) == (1, True)


@pytest.mark.parametrize("member", ["bundle.json", "result.json", "drive/demo.toml"])
def test_a_bundle_that_lacks_a_member_is_bad_input(cli, good, member):
    told = cli("replay", changed(good, member, lambda _: None))
    assert (told.code, told.out) == (2, "")
    assert told.err.startswith(f"ninescope: error: {good}: ")
    assert member in told.err


@pytest.mark.parametrize("member", ["bundle.json", "result.json"])
@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[]", b"\xff{}", b"[" * 100_000, b"1" * 10_000],
    ids=["empty", "cut-off", "list", "binary", "deep", "long-number"],
)
def test_what_is_no_document_is_told_by_the_names_of_bundle_and_member(cli, good, member, content):
    told = cli("replay", changed(good, member, lambda _: content))
    assert (told.code, told.out) == (2, "")
    assert told.err.startswith(f"ninescope: error: {good}: {member} is not ")


def without(table, key: str) -> None:
    *heads, last = key.split(".")
    for head in heads:
        table = table[head]
    del table[last]


@pytest.mark.parametrize(
    "key",
    [
        *(
            "build",
            "build.version",
            "drive",
            "files",
            "trace",
            "run",
            "run.seed",
            "run.prefill",
            "run.workload",
        ),
        *("identity", "identity.digest", "identity.workload", "identity.drive", "identity.requests"),
    ],
)
def test_a_key_that_is_missing_is_named(cli, good, key):
    told = cli("replay", edited(good, "bundle.json", lambda about: without(about, key)))
    assert (told.code, told.err) == (2, f"ninescope: error: {good}: bundle.json: {key} is missing\n")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"identity": "x"}, 'identity is "x", and a table is wanted'),
        (
            {"identity": {"digest": 1, "workload": "", "drive": "", "requests": 1}},
            "identity.digest is 1, and a",
        ),
        ({"files": []}, "files is a list of 0, and a table is wanted"),
        ({"files": {"job_file": 1}}, "files.job_file is 1, and a text is wanted"),
        ({"files": {"policies": "bundle.json"}}, "files.policies is no word of a bundle"),
        ({"trace": 1}, "trace is 1, and a table or null is wanted"),
        ({"trace": {"name": "x"}}, "trace.hash is missing"),
        ({"drive": None}, "drive is null, and a text is wanted"),
        ({"drive": "../../../etc/passwd"}, "drive: '../../../etc/passwd' leads out of the bundle"),
        ({"drive": "/etc/passwd"}, "drive: '/etc/passwd' leads out of the bundle"),
        ({"drive": "C:/passwd"}, "drive: 'C:/passwd' leads out of the bundle"),
        ({"drive": "drive/../result.json"}, "leads out of the bundle"),
        ({"drive": "drive"}, "drive: 'drive' is not in the bundle"),
        ({"files": {"job_file": "..\\job.toml"}}, "files.job_file: '..\\\\job.toml' leads out of the bundle"),
    ],
)
def test_words_that_no_bundle_has_are_refused(cli, good, change, message):
    told = cli("replay", edited(good, "bundle.json", lambda about: about.update(change)))
    assert (told.code, told.out) == (2, "")
    assert told.err.startswith(f"ninescope: error: {good}: bundle.json: ")
    assert message in told.err


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("from_snapshot", "/etc/passwd", "run.from_snapshot is no word of a bundle"),
        ("snapshots", "/tmp", "run.snapshots is no word of a bundle"),
        ("set", ["nand.read=1us"], "run.set is no word of a bundle"),
        ("workload", {"trace": "/etc/passwd"}, "run.workload.trace names a file"),
        ("workload", {"job_file": "/etc/passwd"}, "run.workload.job_file names a file"),
        ("workload", {"host_cache": "/etc/passwd"}, "run.workload.host_cache names a file"),
        ("workload", {"copied_from": "profile"}, "files.trace is missing"),
        ("workload", {"jab": {}}, "unknown field `jab`"),
        ("prefill", "half", "half"),
    ],
)
def test_a_run_reads_nothing_but_the_bundle(cli, good, key, value, message):
    told = cli("replay", edited(good, "bundle.json", lambda about: about["run"].update({key: value})))
    assert (told.code, told.out) == (2, "")
    assert told.err.startswith(f"ninescope: error: {good}: ")
    assert message in told.err


def test_words_of_a_replay_that_there_are_not_are_refused(cli, tmp_path):
    bundle = packed(cli, tmp_path / "run.zip", TRACE, "--drive", DRIVE, "--requests", "100")
    edited(bundle, "bundle.json", lambda about: about["run"]["workload"].update(backwards=True))
    told = cli("replay", bundle, "--trace", TRACE)
    assert (told.code, "backwards" in told.err) == (2, True)
    assert told.err.startswith(f"ninescope: error: {bundle}: bundle.json: run.workload: ")


def test_what_is_wrong_with_a_drive_is_told_by_the_name_of_the_bundle(cli, good):
    told = cli("replay", changed(good, "drive/demo.toml", lambda _: b"[nand]\nread = 'soon'\n"))
    assert told.code == 2
    assert told.err.startswith(f"ninescope: error: {good}: drive/demo.toml")
    assert "ninescope-" not in told.err


def test_traces_of_a_job_file_are_refused_where_it_is_run_again(cli, tmp_path):
    job = ROOT / "examples/jobs/zone-log.toml"
    drive = ROOT / "examples/drives/zns.toml"
    bundle = packed(cli, tmp_path / "run.zip", job, "--drive", drive, "--requests", "500")
    member = "files/job_file/zone-log.toml"
    changed(bundle, member, lambda _: b'[[traces]]\ntrace = "/etc/passwd"\n')
    told = cli("replay", bundle)
    assert (told.code, told.err) == (
        2,
        f"ninescope: error: {bundle}: {member}: [[traces]] of a job file are in no bundle\n",
    )


@pytest.mark.parametrize(
    "name", ["../out.txt", "/out.txt", "files/../../out.txt", "files\\..\\out.txt", "C:out"]
)
def test_a_member_that_leads_out_is_refused(cli, good, name):
    with zipfile.ZipFile(good, "a") as bundle:
        bundle.writestr(name, "nothing")
    told = cli("replay", good)
    assert (told.code, told.err) == (2, f"ninescope: error: {good}: its member {name!r} leads out of it\n")


def test_members_that_are_links_or_there_twice_are_refused(cli, good, made):
    link = zipfile.ZipInfo("files/link")
    link.create_system, link.external_attr = 3, 0o120777 << 16
    with zipfile.ZipFile(good, "a") as bundle:
        bundle.writestr(link, "/etc/passwd")
    told = cli("replay", good)
    assert (told.code, "its member 'files/link' is a symbolic link" in told.err) == (2, True)
    good.write_bytes(made)
    with zipfile.ZipFile(good, "a") as bundle, pytest.warns(UserWarning, match="Duplicate name"):
        bundle.writestr("result.json", "{}")
    told = cli("replay", good)
    assert (told.code, "its member 'result.json' is there twice" in told.err) == (2, True)


@pytest.mark.parametrize("kept", [0.3, 0.9])
def test_a_bundle_that_was_cut_off_is_refused(cli, good, made, kept):
    good.write_bytes(made[: int(len(made) * kept)])
    told = cli("replay", good)
    assert (told.code, f"{good}: is no bundle, or a damaged one" in told.err) == (2, True)


def test_a_bundle_of_which_bytes_are_wrong_is_refused(cli, good, made):
    with zipfile.ZipFile(good) as bundle:
        place = bundle.getinfo("result.json").header_offset
    content = bytearray(made)
    content[place + 200 : place + 220] = bytes(20)
    good.write_bytes(content)
    told = cli("replay", good)
    assert (told.code, f"{good}: is no bundle, or a damaged one" in told.err) == (2, True)
