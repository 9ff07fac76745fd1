"""Compares chart libraries for the report: bytes in one file, and time until one figure is drawn.

    npm install uplot plotly.js-basic-dist-min echarts vega vega-lite vega-embed
    PYTHONPATH=python:tests/python python tools/compare_charts.py node_modules

Each draws the same: two curves of 400 points, both axes logarithmic, in a page that is one file. The time is
from the beginning of the library's script to the frame after its chart, in a headless Chromium; the least of
seven.
"""

from __future__ import annotations

import gzip
import sys
import tempfile
from pathlib import Path

import chromium

DATA = """
const xs = Array.from({length: 400}, (_, k) => 50 * 1.02 ** k);
const of = (scale) => xs.map((_, k) => Math.max(1e-5, Math.exp(-k / scale)));
const [reads, writes] = [of(40), of(70)];
const host = document.getElementById("Host");
"""
LIBRARIES = {
    "uPlot": (
        ["uplot/dist/uPlot.iife.min.js"],
        "new uPlot({width: 700, height: 340, scales: {x: {time: false, distr: 3}, y: {distr: 3}},"
        "series: [{}, {stroke: 'blue'}, {stroke: 'red'}]}, [xs, reads, writes], host);",
    ),
    "Plotly basic": (
        ["plotly.js-basic-dist-min/plotly-basic.min.js"],
        "Plotly.newPlot(host, [reads, writes].map((y) => ({x: xs, y})),"
        "{width: 700, height: 340, xaxis: {type: 'log'}, yaxis: {type: 'log'}});",
    ),
    "ECharts": (
        ["echarts/dist/echarts.min.js"],
        "echarts.init(host, null, {width: 700, height: 340}).setOption({animation: false,"
        "xAxis: {type: 'log'}, yAxis: {type: 'log'}, series: [reads, writes].map((y) => ({type: 'line',"
        "showSymbol: false, data: xs.map((x, k) => [x, y[k]])}))});",
    ),
    "Vega-Lite": (
        ["vega/build/vega.min.js", "vega-lite/build/vega-lite.min.js", "vega-embed/build/vega-embed.min.js"],
        "wait = vegaEmbed(host, {width: 700, height: 340, data: {values: [reads, writes].flatMap((y, s) =>"
        "xs.map((x, k) => ({x, y: y[k], s})))}, mark: 'line', encoding: {x: {field: 'x',"
        "type: 'quantitative', scale: {type: 'log'}}, y: {field: 'y', type: 'quantitative',"
        "scale: {type: 'log'}}, color: {field: 's', type: 'nominal'}}}, {actions: false, ast: false});",
    ),
}
TRIES = 7


def page(scripts: list[str], draws: str) -> str:
    """Return a page that draws one figure and says how long that took."""
    text = "".join(f"<script>{each}</script>" for each in scripts)
    return (
        "<!DOCTYPE html><meta charset=utf-8><div id=Host style='width:700px;height:340px'></div>"
        f"<script>const began = performance.now(); let wait = null;</script>{text}<script>{DATA}{draws}"
        "Promise.resolve(wait).then(() => requestAnimationFrame(() => requestAnimationFrame(() => {"
        "window.took = performance.now() - began; })));</script>"
    )


def main(folder: Path) -> None:
    """Print a row of a Markdown table for each library."""
    print("| library | bytes | gzip | first figure [ms] |\n| --- | --- | --- | --- |")
    with chromium.browser() as browser, tempfile.TemporaryDirectory() as temporary:
        file = Path(temporary, "page.html")
        for name, (paths, draws) in LIBRARIES.items():
            scripts = [(folder / path).read_text() for path in paths]
            file.write_text(page([each.replace("</script", "<\\/script") for each in scripts], draws))
            times = []
            for _ in range(TRIES):
                browser.open(file)
                browser.wait("window.took !== undefined")
                times.append(browser.run("window.took"))
            size = sum(len(each.encode()) for each in scripts)
            packed = len(gzip.compress("".join(scripts).encode(), 9, mtime=0))
            print(f"| {name} | {size:,} | {packed:,} | {min(times):.0f} |", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
