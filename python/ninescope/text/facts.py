"""What a drive did, as pairs of a name and a text: for a terminal, and for reports."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ninescope.result import Hint, Result, Steadiness, ZoneLog
from ninescope.text.bad_blocks import facts as bad_block_facts
from ninescope.text.block_map import facts as block_map_facts
from ninescope.text.cached_map import facts as map_facts
from ninescope.text.endurance import facts as endurance_facts
from ninescope.text.energy import facts as energy_facts
from ninescope.text.fdp import facts as fdp_facts
from ninescope.text.host_queue import facts as host_queue_facts
from ninescope.text.names import occupancy_name
from ninescope.text.partitions import facts as partition_facts
from ninescope.text.reliability import facts as reliability_facts
from ninescope.text.slc_cache import facts as slc_cache_facts
from ninescope.text.tier import facts as tier_facts
from ninescope.text.units import binary, duration, percent
from ninescope.text.zones import facts as zone_facts


def facts(result: Result) -> Iterator[tuple[str, str]]:
    """Yield what the drive did, as far as it says something; all counters are in the JSON."""
    document = result.document
    waf = result.waf
    if waf.total:
        sources = {
            "host": waf.host,
            "partial writes": waf.partial_writes,
            "migrated": waf.migration,
            "GC": waf.gc,
            "healed": waf.scrub,
            "wear": waf.wear,
            "padding": waf.padding,
            "map": waf.map,
            "failed programs": waf.failed_programs,
            "parity": waf.parity,
            "rebuild": waf.rebuild,
        }
        parts = " + ".join(f"{name} {value:.3f}" for name, value in sources.items() if value >= 0.0005)
        yield "WAF", f"{waf.total:.3f} = {parts}"
    yield from partition_facts(result)
    if result.fdp is not None:
        yield from fdp_facts(result.fdp)
    if result.zns is not None:
        yield from zone_facts(result.zns)
    if result.steadiness is not None:
        yield "steady", _steadiness(result.steadiness)
    operations: Mapping[str, int] = document.get("operations") or {}
    if operations.get("erases") or operations.get("gc_programs"):
        yield (
            "GC",
            f"{operations.get('gc_reads', 0):,} pages read, {operations.get('gc_programs', 0):,} programmed, "
            f"{operations.get('erases', 0):,} erases",
        )
    yield from _events(document.get("counters") or {})
    yield from _host_cache(document)
    yield from _zone_log(result.zone_log)
    yield from _hints(result.hints)
    yield from _suspensions(document.get("suspension") or {})
    if "utilisation" in document and document["utilisation"] is None:
        yield "busy", "-"  # Shares of no time.
    memory = "DRAM" if "dram" in document else "SCM"
    yield from _use(document.get("utilisation") or {}, memory)
    yield from energy_facts(result.energy)
    yield from host_queue_facts(result)
    yield from _namespaces(document.get("by_namespace") or [])
    wear: Mapping[str, Any] = document.get("wear") or {}
    if wear.get("erases_max"):
        yield (
            "wear",
            f"{wear['erases_mean']:.2f} erases per block since it was new "
            f"({wear.get('erases_min', 0):,} to {wear['erases_max']:,})",
        )
    tier = result.tier
    if tier is not None:
        yield from tier_facts(tier, memory)
    yield from _map(result)
    if result.bad_blocks is not None:
        yield from bad_block_facts(result.bad_blocks)
    reliability = result.reliability
    if reliability is not None:
        yield from reliability_facts(reliability)
    for key, words in (("scm", "SCM"), ("storage_scm", "storage SCM")):
        yield from _scm(document.get(key) or {}, words)
    yield from endurance_facts(document)
    yield from _prepared(document)


def _map(result: Result) -> Iterator[tuple[str, str]]:
    if result.cached_map is not None:
        yield from map_facts(result.cached_map)
    if result.block_map is not None:
        yield from block_map_facts(result.block_map)
    if result.slc_cache is not None:
        yield from slc_cache_facts(result.slc_cache)


def _namespaces(entries: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    for entry in entries:
        moved = f"{binary(entry['bytes_read'])} read, {binary(entry['bytes_written'])} written"
        yield f"namespace {entry['namespace']}", f"{entry['requests']:,} requests, {moved}"


def _suspensions(ledger: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Say how often erases were suspended, and what it did to their blocks."""
    if not ledger.get("suspended_erases"):
        return
    words = (
        f"{ledger['suspended_erases']:,} of {ledger['erases']:,} erases suspended, "
        f"{ledger['suspensions'] / ledger['erases']:.3g} times on average, "
        f"{ledger['suspensions_max']:,} at most; the longest took {duration(ledger['erase_ns_max'])}"
    )
    if ledger["over_limit_erases"]:
        words += (
            f"; {ledger['over_limit_erases']:,} more often than their blocks bear, which adds up to "
            f"{ledger['added_rber_max']:.2g} to the bit error rate (inferred)"
        )
    if ledger["lost_ns"]:
        words += f"; {duration(ledger['lost_ns'])} of pulses begun anew"
    yield "suspends", words


def _scm(scm: Mapping[str, Any], words: str) -> Iterator[tuple[str, str]]:
    """Yield how the sectors of storage-class memory wore."""
    wear: Mapping[str, Any] = scm.get("wear") or {}
    if not wear.get("writes_max"):
        return
    text = f"{wear['writes_mean']:.2f} writes per sector since it was new, at most {wear['writes_max']:,}"
    if wear.get("endurance_used") is not None:
        text += f" ({wear['endurance_used'] * 100:.2g}% of {wear['endurance_writes']:.2g})"
    yield f"{words} wear", text
    copies: float | None = scm.get("copies_per_write")
    if copies:
        yield "levelling", f"{copies:.4f} sectors copied per sector written"
    verify: Mapping[str, Any] = scm.get("verify") or {}
    if verify.get("cycles_per_write") is not None:
        left = f"{verify['ber_factor']:.1%} of the bit errors are left"
        yield f"{words} verify", f"{verify['cycles_per_write']:.2f} cycles per sector written, {left}"


def _host_cache(document: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield what the cache in front of the drive did, and what it asked the drive for."""
    cache: Mapping[str, int] = document.get("host_cache") or {}
    if cache:
        reads = f"{cache['read_hits']:,} of {cache['reads']:,} reads"
        writes = f"{cache['write_hits']:,} of {cache['writes']:,} writes found their block"
        dirty = f"{cache['dirty_blocks'] / cache['blocks']:.1%} dirty"
        disk = f"disk: {cache['disk_reads']:,} reads, {cache['disk_writes']:,} writes"
        yield "host cache", f"{reads} and {writes}; {cache['evictions']:,} evicted, {dirty}; {disk}"


def _zone_log(log: ZoneLog | None) -> Iterator[tuple[str, str]]:
    """Yield what the log on zones did; its write amplification is the host's, beside the drive's."""
    if log is None or log.write_amplification is None:
        return
    written = f"{log.written_blocks:,} blocks written"
    if log.merged_blocks:
        written += f" ({log.merged_blocks:,} in part, and read first)"
    words = f"{written}, {log.moved_blocks:,} moved by the cleaner"
    if log.overwritten_blocks:
        words += f", {log.overwritten_blocks:,} overwritten in place"
    zones = f"{log.cleaned_zones:,} zones cleaned"
    yield "zone log", f"WAF {log.write_amplification:.3f} of the host's: {words}; {zones}"


def _hints(hints: Mapping[str, Hint]) -> Iterator[tuple[str, str]]:
    """Yield what whoever stands in front of the drive asked it for, each kind with its latency."""
    total = sum(hint.latency.count for hint in hints.values())
    for name, hint in hints.items():
        latency = hint.latency
        p99 = duration(latency.percentiles_ns["99"])
        share = f"{latency.count:,} ({latency.count / total:.1%})"
        yield f"  {name.replace('_', ' ')}", f"{share}, mean {duration(latency.mean_ns)}, p99 {p99}"


def _use(utilisation: Mapping[str, Any], memory: str) -> Iterator[tuple[str, str]]:
    media = (("dies", "channels", "dies"), ("banks", "bank_channels", f"{memory} banks"))
    busy = []
    for units, buses, words in media:
        shares: Mapping[str, Any] = utilisation.get(units) or {}
        if shares.get("mean") is not None:
            ends = " to ".join(percent(shares[key]) for key in ("min", "max") if key in shares)
            spread = f" (from {ends})" if ends else ""
            busy.append(f"{words} {percent(shares['mean'])}{spread}")
        channels: Mapping[str, Any] = utilisation.get(buses) or {}
        if channels.get("mean") is not None:
            busy.append(f"{'' if units == 'dies' else f'{memory} '}channels {percent(channels['mean'])}")
    link: Mapping[str, Any] = utilisation.get("link") or {}
    if "in" in link:
        busy.append(f"host link {percent(link['in'])} in, {percent(link.get('out', 0.0))} out")
    if utilisation.get("dram") is not None:
        busy.append(f"DRAM bus {percent(utilisation['dram'])}")
    if cores := utilisation.get("cores"):
        spread = f" (from {percent(min(cores))} to {percent(max(cores))})" if len(cores) > 1 else ""
        busy.append(f"cores {percent(sum(cores) / len(cores))}{spread}")
    if busy:
        yield "busy", ", ".join(busy)
    for units, _, words in media:
        occupancy: Mapping[str, float] = (utilisation.get(units) or {}).get("occupancy") or {}
        held = sorted(
            ((share, name) for name, share in occupancy.items() if name != "idle" and share >= 0.0005),
            reverse=True,
        )
        if held:
            parts = ", ".join(f"{occupancy_name(name)} {percent(share)}" for share, name in held)
            yield f"{words.removeprefix(f'{memory} ')} with", parts


def _events(counters: Mapping[str, int]) -> Iterator[tuple[str, str]]:
    """Say what happened that need not."""
    happened = [
        f"{counters[name]:,} {words}"
        for name, words in (
            ("buffer_stalls", "waits of writes for the write buffer"),
            ("allocation_stalls", "waits of writes for a free page"),
            ("throttled_units", "units behind which writes were held back"),
            ("deferred_trims", "units of TRIMs that took effect later"),
            ("trimmed_units_moved", "units moved that had been trimmed"),
            ("copybacks", "pages copied by their dies"),
            ("die_rests", "times a die came to rest"),
            ("overdue_collections", "collections put off for as long as may be"),
            ("read_modify_write_reads", "reads to complete units written in part"),
            ("unmapped_units", "units read that were never written"),
            ("suspends", "operations suspended"),
            ("split_requests", "requests larger than a command"),
            ("fetches", "fetches of commands"),
            ("non_queued_commands", "commands that had the drive for themselves"),
            ("queued_trims", "TRIMs beside other commands"),
            ("link_messages", "entries, requests for data and completions on the link"),
            ("whole_reads", "reads whose pages crossed the link together"),
            ("interrupts", "interrupts"),
            ("gathered_completions", "completions told of by them"),
        )
        if counters.get(name)
    ]
    if happened:
        yield "events", ", ".join(happened)


def _steadiness(told: Steadiness) -> str:
    """Say whether the window had settled."""
    verdict = {"not-steady": "no: ", "cannot-be-told": "cannot be told, "}.get(told.verdict, "")
    return f"{verdict}{told.words}"


def _prepared(document: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    if "nand" not in ((document.get("config") or {}).get("drive") or {"nand": None}):
        return  # Memory that is overwritten in place needs no preparing.
    steady = document.get("steady_state")
    workload: Mapping[str, Any] = document.get("workload") or {}
    held = "the region of the job" if workload.get("kind") == "synthetic" else "what the trace reads"
    if workload.get("traces"):
        held = "what the traces read, and the regions of the jobs"
    if workload.get("host_cache"):
        full = workload["host_cache"].get("initial") == "full"
        held = "the blocks of a full cache" if full else "no block of the cache"
    if workload.get("zone_log"):
        full = workload["zone_log"].get("full", True)
        held = "what the log on zones holds at the beginning" if full else "no block of the log"
    text = {
        "footprint": f"held {held}, and nothing else",
        "full": "was full",
        "none": "was empty",
    }.get(str(document.get("prefill")))
    if isinstance(steady, Mapping) and steady.get("window_waf"):
        by = " by the workload" if steady.get("by") == "workload" else ""
        settled = "to steady state" if steady.get("converged") else "but not to steady state"
        waf, low, high = (f"{steady[key]:.2f}" for key in ("waf", "waf_low", "waf_high"))
        # Of windows that are alike, or of one alone, there is no interval to speak of.
        ends = "" if low == waf == high else f", from {low} to {high}"
        text = (
            f"was full and overwritten {steady.get('drive_writes', 0):.1f} times{by}, {settled} "
            f"(WAF {waf}{ends})"
        )
        if steady.get("composed"):
            text = (
                f"was composed of one pool, full and overwritten {steady.get('drive_writes', 0):.1f} times, "
                f"{settled} (WAF {waf}{ends})"
            )
    if text:
        run = (document.get("config") or {}).get("run") or {}
        order = ", filled in random order" if run.get("prefill_order") == "random" else ""
        yield "before", f"the drive {text}{order}"
