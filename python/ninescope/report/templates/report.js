// What a report does beyond being read: themes, figures, values under the pointer and by the keyboard.
// It loads nothing and keeps nothing but the theme.
(() => {
  "use strict";
  const root = document.documentElement;
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const spoken = document.getElementById("Spoken");
  const charts = [];

  // ---- Numbers ------------------------------------------------------------------------------------------

  const SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹";
  const raised = (power) => (power < 0 ? "⁻" : "") + [...String(Math.abs(power))].map((d) => SUPERSCRIPTS[d]).join("");
  const grouped = (value) => value.toLocaleString("en-US", { maximumFractionDigits: 0 });

  /** Write a value with four significant digits. */
  const written = (value) => {
    const size = Math.abs(value);
    if (size >= 1e4 && size < 1e15) return grouped(value);
    if (size !== 0 && (size < 1e-4 || size >= 1e15)) {
      const [digits, power] = value.toExponential(3).split("e");
      return `${Number(digits)} × 10${raised(Number(power))}`;
    }
    return String(Number(value.toPrecision(4)));
  };

  /** Write the values beside an axis, all in one way: as powers of ten where all are and some are far from 1. */
  const ticksInWords = (values, log) => {
    const powers = values.map((value) => Math.round(Math.log10(Math.abs(value))));
    const whole = values.every((value, index) => value > 0 && Math.abs(value / 10 ** powers[index] - 1) < 1e-9);
    if (log && whole && powers.some((power) => power < -3 || power > 5)) return powers.map((power) => `10${raised(power)}`);
    return values.map((value) => tick(value, log));
  };

  const tick = (value, log) => {
    const size = Math.abs(value);
    if (size === 0) return "0";
    for (const [prefix, unit] of [["G", 1e9], ["M", 1e6], ["k", log ? 1e3 : 1e4]]) {
      if (size >= unit) return Number((value / (prefix === "k" ? 1e3 : unit)).toPrecision(4)) + prefix;
    }
    return size < 1e-4 ? value.toExponential() : String(Number(value.toPrecision(6)));
  };

  // ---- Axes ---------------------------------------------------------------------------------------------

  const nice = (span, count) => {
    const rough = span / Math.max(1, count);
    const power = 10 ** Math.floor(Math.log10(rough));
    return [1, 2, 2.5, 5, 10].map((step) => step * power).find((step) => step >= rough * 0.999) || rough;
  };

  const linearTicks = (low, high, count) => {
    const step = nice(high - low, count);
    const ticks = [];
    for (let k = Math.ceil(low / step - 1e-9); k * step <= high + step * 1e-9; k++) ticks.push(Number((k * step).toPrecision(12)));
    return ticks;
  };

  const logTicks = (low, high, count) => {
    const from = Math.floor(Math.log10(low)), to = Math.ceil(Math.log10(high));
    const within = (value) => value >= low * 0.9999 && value <= high * 1.0001;
    const decades = [];
    const every = Math.max(1, Math.ceil((to - from) / Math.max(2, count)));
    for (let power = from; power <= to; power++) if (power % every === 0) decades.push(Number(`1e${power}`));
    const whole = decades.filter(within);
    if (whole.length >= 3 || every > 1) return whole;
    for (const steps of [[1, 3], [1, 2, 5], [1, 2, 3, 5, 7]]) {
      const finer = decades.flatMap((decade) => steps.map((step) => Number((step * decade).toPrecision(6)))).filter(within);
      if (finer.length >= 3) return finer;
    }
    return linearTicks(low, high, count).filter((value) => value > 0);
  };

  /** Say from where to where an axis reaches. */
  const reach = (axis, values, { zero, pad }) => {
    if (axis.categories.length) return [-0.55, axis.categories.length - 0.45];
    const usable = values.filter((value) => value !== null && value !== undefined && (!axis.log || value > 0));
    let low = usable.length ? Math.min(...usable) : axis.log ? 1 : 0;
    let high = usable.length ? Math.max(...usable) : axis.log ? 10 : 1;
    if (axis.log) {
      if (low === high) { low /= 2; high *= 2; }
      const room = (high / low) ** (pad * 1.2);
      low /= room; high *= room;
    } else {
      if (low >= 0 && (zero || low < 0.5 * high)) low = 0;
      if (high <= 0 && zero) high = 0;
      if (low === high) { high = low + (Math.abs(low) || 1); }
      const room = (high - low) * pad;
      if (low !== 0) low -= room;
      if (high !== 0) high += room;
    }
    return [axis.low !== null && (!axis.log || axis.low > 0) ? axis.low : low, axis.high !== null ? axis.high : high];
  };

  // ---- Colours ------------------------------------------------------------------------------------------

  const style = (name) => getComputedStyle(root).getPropertyValue(name).trim();
  const isDark = () => getComputedStyle(root).colorScheme === "dark";

  /** Lighten a colour where the ground is dark. */
  const shade = (colour) => {
    const match = /^#([0-9a-f]{6})$/i.exec(colour);
    if (!match || !isDark()) return colour;
    const parts = [0, 2, 4].map((at) => parseInt(match[1].slice(at, at + 2), 16));
    return `rgb(${parts.map((part) => Math.round(part + (255 - part) * 0.36)).join(",")})`;
  };

  // ---- Tips ---------------------------------------------------------------------------------------------

  const tip = document.createElement("div");
  tip.className = "tip fixed";
  tip.hidden = true;
  tip.setAttribute("aria-hidden", "true");
  document.body.append(tip);

  const element = (name, text, className) => {
    const made = document.createElement(name);
    if (text !== undefined) made.textContent = text;
    if (className) made.className = className;
    return made;
  };

  /** Show lines near a place of the window. */
  const showTip = (parts, x, y) => {
    tip.replaceChildren(...parts);
    tip.hidden = false;
    const { width, height } = tip.getBoundingClientRect();
    const left = x + 14 + width > root.clientWidth ? x - 14 - width : x + 14;
    tip.style.left = `${Math.max(4, Math.min(left, root.clientWidth - width - 4))}px`;
    tip.style.top = `${Math.max(4, y - height - 12 < 4 ? y + 18 : y - height - 12)}px`;
  };
  // What shows the tip again where it belongs after the page has moved; none where the pointer showed it.
  let again = null;
  const hideTip = () => { tip.hidden = true; again = null; };

  for (const more of all("[title]", document.body)) {
    if (more.classList.contains("piece")) continue;
    more.dataset.title = more.title;
    more.removeAttribute("title");
    const show = () => {
      const box = more.getBoundingClientRect();
      showTip([element("span", more.dataset.title)], box.left, box.top);
      again = document.activeElement === more ? show : null;
    };
    more.addEventListener("pointerenter", show);
    more.addEventListener("focus", show);
    more.addEventListener("pointerleave", hideTip);
    more.addEventListener("blur", hideTip);
  }
  addEventListener("scroll", () => (again ? again() : hideTip()), { passive: true, capture: true });

  // ---- Figures ------------------------------------------------------------------------------------------

  class Chart {
    constructor(host, panel, legend, hidden) {
      this.host = host;
      this.panel = panel;
      this.legend = legend;
      this.hidden = hidden;
      this.at = -1;
      const { series, x, y, lines, borders } = panel;
      this.bars = series.filter((one) => one.form === "bars");
      this.xs = [...new Set(series.flatMap((one) => one.x))].filter((value) => value !== null && (!x.log || value > 0)).sort((a, b) => a - b);
      const values = series.flatMap((one) => [...one.y, ...(one.low || []), ...(one.high || [])]);
      const gaps = this.xs.slice(1).map((value, index) => value - this.xs[index]);
      this.slot = x.categories.length ? 1 : gaps.length ? Math.min(...gaps) : 1;
      this.rangeX = reach(x, [...this.xs, ...borders.map(([, place]) => place)], { zero: false, pad: this.bars.length ? 0 : 0.02 });
      if (this.bars.length && !x.categories.length && !x.log) this.rangeX = [Math.min(this.rangeX[0], this.xs[0] - this.slot * 0.6), Math.max(this.rangeX[1], this.xs.at(-1) + this.slot * 0.6)];
      this.rangeY = reach(y, [...values, ...lines.map(([, level]) => level)], { zero: this.bars.length > 0, pad: 0.05 });
      this.scattered = series.length > 0 && series.every((one) => one.form === "points") && !x.categories.length;
      this.spreads = this.spread();
      this.build();
      new ResizeObserver(() => this.fit()).observe(host);
      host.addEventListener("keydown", (event) => this.key(event));
      host.addEventListener("focus", () => { if (this.at < 0 && host.matches(":focus-visible")) this.go(0, true); });
      host.addEventListener("blur", () => this.leave());
      this.plot.over.addEventListener("pointermove", (event) => this.follow(event));
      this.plot.over.addEventListener("pointerdown", (event) => this.follow(event));
      this.plot.over.addEventListener("pointerleave", () => this.leave());
    }

    size() {
      const width = Math.max(160, Math.floor(this.host.clientWidth));
      return { width, height: Math.round(Math.min(340, Math.max(230, width * 0.62))) };
    }

    fit() {
      const { width, height } = this.size();
      if (this.host.clientWidth && (width !== this.plot.width || height !== this.plot.height)) {
        this.leave();
        this.plot.setSize({ width, height });
      }
    }

    build() {
      const { x, y } = this.panel;
      const font = (size, weight = "") => `${weight} ${size}px ${style("--sans")}`.trim();
      const measure = document.createElement("canvas").getContext("2d");
      const width = (texts) => { measure.font = font(11); return Math.max(0, ...texts.map((text) => measure.measureText(text).width)); };
      const categories = x.categories;
      const turned = () => categories.length && width(categories) + 8 > (this.plot ? this.plot.bbox.width / devicePixelRatio : this.host.clientWidth - 60) / categories.length;
      // Turned names reach to the left of their places, the first ones beyond the axis.
      const apart = () => (this.host.clientWidth - 60) / categories.length;
      const beyond = () => (turned() ? Math.max(0, ...categories.map((name, index) => width([name]) * 0.77 - 25 - (index + 0.5) * apart())) : 0);
      const ticks = (axis, low, high, count) => axis.categories.length ? axis.categories.map((_, index) => index) : axis.log ? logTicks(low, high, count) : linearTicks(low, high, count);
      const common = (axis, label) => ({
        label,
        labelFont: font(11.5),
        font: font(11),
        stroke: () => style("--muted"),
        grid: { stroke: () => style("--grid"), width: 1 },
        ticks: { stroke: () => style("--strong"), width: 1, size: 4 },
        filter: (plot, splits) => splits,
        values: (plot, splits) => (axis.categories.length ? splits.map((value) => axis.categories[value] ?? "") : ticksInWords(splits, axis.log)),
      });
      const axes = [
        {
          ...common(x, x.label),
          space: 60,
          labelSize: x.label ? 18 : 0,
          labelGap: 2,
          gap: 3,
          splits: (plot, index, low, high) => ticks(x, low, high, plot.width / 75),
          rotate: () => (turned() ? 40 : 0),
          size: () => (turned() ? Math.min(150, 16 + width(categories) * 0.66) : 24),
          grid: { show: !categories.length, stroke: () => style("--grid"), width: 1 },
        },
        {
          ...common(y, undefined),
          space: 30,
          labelSize: 0,
          gap: 3,
          splits: (plot, index, low, high) => ticks(y, low, high, plot.height / (y.log ? 30 : 42)),
          size: (plot, labels) => 10 + width(labels || ["0"]),
        },
      ];
      const places = this.xs.length ? this.xs : [this.rangeX[0]];
      this.plot = new uPlot(
        {
          ...this.size(),
          legend: { show: false },
          cursor: { show: false, drag: { x: false, y: false } },
          padding: [10, 10, 0, beyond],
          scales: {
            x: { time: false, distr: x.log ? 3 : 1, range: () => this.rangeX },
            y: { distr: y.log ? 3 : 1, range: () => this.rangeY },
          },
          axes,
          series: [{}, { paths: () => null, points: { show: false } }],
          hooks: { draw: [(plot) => this.paint(plot)] },
        },
        [places, places.map(() => this.rangeY[0])],
        this.host,
      );
      this.cross = element("div", undefined, "cross");
      this.cross.hidden = true;
      this.plot.over.append(this.cross);
      this.dots = [];
    }

    shown() {
      return this.panel.series.filter((one) => !this.hidden.has(one.entry));
    }

    colour(one) {
      return shade(this.legend[one.entry][1]);
    }

    // Canvas places. What a logarithmic axis cannot show lies below it.
    x(plot, value) {
      return plot.valToPos(value, "x", true);
    }

    y(plot, value) {
      if (this.panel.y.log && value <= 0) return plot.bbox.top + plot.bbox.height * 1.5;
      return plot.valToPos(value, "y", true);
    }

    paint(plot) {
      const { ctx, bbox } = plot;
      const ratio = devicePixelRatio;
      ctx.save();
      ctx.beginPath();
      ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
      ctx.clip();
      for (const one of this.shown()) this.paintSeries(plot, ctx, one, ratio);
      ctx.restore();
      this.paintLevels(plot, ctx, ratio);
      this.paintBorders(plot, ctx, ratio);
      if (this.panel.named) this.paintNames(plot, ctx, ratio);
      if (!this.xs.length) {
        ctx.save();
        ctx.font = `${12 * ratio}px ${style("--sans")}`;
        ctx.fillStyle = style("--muted");
        ctx.textAlign = "center";
        ctx.fillText("no values", bbox.left + bbox.width / 2, bbox.top + bbox.height / 2);
        ctx.restore();
      }
    }

    paintSeries(plot, ctx, one, ratio) {
      ctx.save();
      ctx.strokeStyle = ctx.fillStyle = this.colour(one);
      ctx.lineWidth = 1.7 * ratio;
      ctx.lineJoin = "round";
      const banded = one.low && one.form !== "bars" && one.x.length > 25;
      if (banded) this.paintBand(plot, ctx, one);
      if (one.form === "bars") this.paintBars(plot, ctx, one, ratio);
      else if (one.form !== "points") this.paintLine(plot, ctx, one, ratio);
      if (one.form !== "bars") this.paintPoints(plot, ctx, one, ratio);
      if (one.low && !banded) this.paintWhiskers(plot, ctx, one, ratio);
      ctx.restore();
    }

    usable(one) {
      const log = this.panel.x.log;
      return one.x.map((x, index) => [x, one.y[index], index]).filter(([x]) => x !== null && (!log || x > 0));
    }

    /** Say how far beside its places a measured series is drawn: intervals at one place would hide each other. */
    spread() {
      const found = this.panel.series.filter((one) => ["line", "points"].includes(one.form) && one.low && !one.published);
      const places = found.flatMap((one) => one.x.filter((_, index) => one.y[index] !== null));
      if (!this.panel.x.categories.length || new Set(places).size === places.length) return new Map();
      return new Map(found.map((one, index) => [one, 0.3 * (index / (found.length - 1) - 0.5)]));
    }

    beside(one) {
      return this.spreads.get(one) ?? 0;
    }

    paintLine(plot, ctx, one, ratio) {
      ctx.beginPath();
      let before = null;
      for (const [x, y] of this.usable(one)) {
        if (y === null) { before = null; continue; }
        const [left, top] = [this.x(plot, x + this.beside(one)), this.y(plot, y)];
        if (before === null) ctx.moveTo(left, top);
        else {
          if (one.form === "steps") ctx.lineTo(left, before);
          ctx.lineTo(left, top);
        }
        before = top;
      }
      if (one.published && this.bars.length) {
        // Over bars, too, it is seen.
        ctx.save();
        ctx.strokeStyle = style("--ground");
        ctx.lineWidth = 4 * ratio;
        ctx.stroke();
        ctx.restore();
      }
      ctx.setLineDash(this.legend[one.entry][2].map((part) => part * 1.7 * ratio));
      ctx.stroke();
      ctx.setLineDash([]);
    }

    /** Say which places of a series have a marker: all of points and of short lines, some of those of long ones. */
    marked(one, index) {
      if (one.form === "points") return true;
      if (one.published) return false;
      if (one.form === "line" && one.x.length <= 25) return true;
      if (this.legend.length < 2) return false;
      // Each line marks places of its own: where lines meet, all of them are seen.
      const every = Math.max(1, Math.floor(one.x.length / 7));
      return index % every === Math.floor((one.entry * every) / 7) % every;
    }

    paintPoints(plot, ctx, one, ratio) {
      const size = (one.form === "points" ? 4 : 2.8) * ratio;
      const aside = this.aside(plot, one);
      const outline = new Path2D(this.legend[one.entry][3]);
      for (const [x, y, index] of this.usable(one)) {
        if (y === null || !this.marked(one, index)) continue;
        if (aside === null) {
          this.paintAcross(plot, ctx, x, y, ratio);
          continue;
        }
        ctx.save();
        ctx.translate(this.x(plot, x + this.beside(one)) + aside, this.y(plot, y));
        ctx.scale(size, size);
        if (one.published) {
          ctx.fillStyle = style("--ground");
          ctx.lineWidth /= size;
          ctx.fill(outline);
          ctx.stroke(outline);
        } else ctx.fill(outline);
        ctx.restore();
      }
    }

    /** Say how far from the middle of its place a series is drawn; null where it is across all the bars of one. */
    aside(plot, one) {
      if (!one.published || one.form !== "points" || !this.bars.length) return 0;
      const under = this.bars.find((each) => each.entry === one.of && !this.hidden.has(each.entry));
      if (!under) return null;
      const [offset, width] = this.bar(plot, under);
      return offset + width / 2;
    }

    /** Draw a published value that is about no bar more than about another. */
    paintAcross(plot, ctx, x, y, ratio) {
      const [offset] = this.bar(plot, this.bars[0]);
      const half = Math.abs(offset) || 20 * ratio;
      const [left, top] = [this.x(plot, x), this.y(plot, y)];
      ctx.save();
      for (const [colour, width, dashes] of [[style("--ground"), 4, []], [ctx.strokeStyle, 1.7, [5 * ratio, 4 * ratio]]]) {
        ctx.strokeStyle = colour;
        ctx.lineWidth = width * ratio;
        ctx.setLineDash(dashes);
        ctx.beginPath();
        ctx.moveTo(left - half, top);
        ctx.lineTo(left + half, top);
        ctx.stroke();
      }
      ctx.restore();
    }

    paintBand(plot, ctx, one) {
      ctx.save();
      ctx.globalAlpha = 0.18;
      const ends = this.usable(one).filter(([, , index]) => one.low[index] !== null && one.high[index] !== null);
      ctx.beginPath();
      for (const [x, , index] of ends) ctx.lineTo(this.x(plot, x), this.y(plot, one.low[index]));
      for (const [x, , index] of ends.reverse()) ctx.lineTo(this.x(plot, x), this.y(plot, one.high[index]));
      ctx.fill();
      ctx.restore();
    }

    /** Return left end and width of a series' bars, from the middle of their place [canvas pixels]. */
    bar(plot, one) {
      const shown = this.bars.filter((each) => !this.hidden.has(each.entry));
      const from = this.panel.x.log ? this.xs[0] : 0;
      const next = this.panel.x.log ? this.xs[Math.min(1, this.xs.length - 1)] : this.slot;
      const slot = Math.abs(this.x(plot, next) - this.x(plot, from)) * 0.82 || plot.bbox.width * 0.3;
      const width = slot / Math.max(1, shown.length);
      return [-slot / 2 + width * shown.indexOf(one), width];
    }

    paintBars(plot, ctx, one, ratio) {
      const [offset, width] = this.bar(plot, one);
      const base = this.y(plot, this.panel.y.log ? this.rangeY[0] : 0);
      const gap = Math.min(2 * ratio, width * 0.12);
      for (const [x, y] of this.usable(one)) {
        if (y === null) continue;
        const [left, top] = [this.x(plot, x) + offset + gap / 2, this.y(plot, y)];
        if (one.published) {
          ctx.setLineDash([3 * ratio, 2 * ratio]);
          ctx.strokeRect(left + ratio, Math.min(top, base), width - gap - 2 * ratio, Math.abs(base - top));
        } else {
          const box = [left, Math.min(top, base), width - gap, Math.max(Math.abs(base - top), ratio)];
          ctx.fillRect(...box);
          this.paintStripes(ctx, box, this.legend[one.entry][4], ratio);
        }
      }
      ctx.setLineDash([]);
    }

    /** Draw stripes over a bar whose colour is that of another series: the more often, the denser. */
    paintStripes(ctx, [left, top, width, height], turn, ratio) {
      if (!turn) return;
      ctx.save();
      ctx.beginPath();
      ctx.rect(left, top, width, height);
      ctx.clip();
      ctx.strokeStyle = style("--ground");
      ctx.lineWidth = ratio;
      ctx.beginPath();
      for (let at = -height; at < width; at += (10 * ratio) / (turn + 1)) {
        ctx.moveTo(left + at, top + height);
        ctx.lineTo(left + at + height, top);
      }
      ctx.stroke();
      ctx.restore();
    }

    paintWhiskers(plot, ctx, one, ratio) {
      const [offset, width] = one.form === "bars" ? this.bar(plot, one) : [0, 0];
      const cap = 3.5 * ratio;
      if (one.form === "bars") ctx.strokeStyle = style("--ink");
      ctx.lineWidth = 1.2 * ratio;
      ctx.beginPath();
      for (const [x, , index] of this.usable(one)) {
        if (one.low[index] === null || one.high[index] === null || one.y[index] === null) continue;
        const left = this.x(plot, x + this.beside(one)) + offset + width / 2;
        const [bottom, top] = [this.y(plot, one.low[index]), this.y(plot, one.high[index])];
        ctx.moveTo(left, bottom);
        ctx.lineTo(left, top);
        for (const end of [bottom, top]) { ctx.moveTo(left - cap, end); ctx.lineTo(left + cap, end); }
      }
      ctx.stroke();
    }

    paintLevels(plot, ctx, ratio) {
      const { bbox } = plot;
      ctx.save();
      ctx.strokeStyle = ctx.fillStyle = style("--ink");
      ctx.font = `${11 * ratio}px ${style("--sans")}`;
      ctx.lineWidth = ratio;
      this.levelWords = [];
      for (const [words, level] of this.panel.lines) {
        const top = this.y(plot, level);
        if (!(top >= bbox.top && top <= bbox.top + bbox.height)) continue;
        ctx.setLineDash([6 * ratio, 4 * ratio]);
        ctx.beginPath();
        ctx.moveTo(bbox.left, top);
        ctx.lineTo(bbox.left + bbox.width, top);
        ctx.stroke();
        const above = top - bbox.top > 16 * ratio;
        ctx.textBaseline = above ? "bottom" : "top";
        const line = top + (above ? -2 : 2) * ratio;
        const right = !this.crowded(plot, line, ctx.measureText(words).width, true) || this.crowded(plot, line, ctx.measureText(words).width, false);
        ctx.textAlign = right ? "right" : "left";
        const end = right ? bbox.left + bbox.width - 3 * ratio : bbox.left + 3 * ratio;
        ctx.setLineDash([]);
        ctx.save();
        ctx.strokeStyle = style("--ground");
        ctx.lineWidth = 4 * ratio;
        ctx.lineJoin = "round";
        ctx.strokeText(words, end, line);
        ctx.restore();
        ctx.fillText(words, end, line);
        const [wide, high] = [ctx.measureText(words).width, 13 * ratio];
        this.levelWords.push([right ? end - wide : end, above ? line - high : line, right ? end : end + wide, above ? line : line + high]);
      }
      ctx.restore();
    }

    paintBorders(plot, ctx, ratio) {
      const { bbox } = plot;
      ctx.save();
      ctx.strokeStyle = style("--muted");
      ctx.font = `${11 * ratio}px ${style("--sans")}`;
      ctx.lineWidth = ratio;
      ctx.setLineDash([1.5 * ratio, 3 * ratio]);
      for (const [words, place] of this.panel.borders) {
        const left = this.x(plot, place);
        ctx.beginPath();
        ctx.moveTo(left, bbox.top);
        ctx.lineTo(left, bbox.top + bbox.height);
        ctx.stroke();
        this.write(ctx, words, left + 4 * ratio, bbox.top + bbox.height - 9 * ratio, ratio);
      }
      ctx.restore();
    }

    /** Write words of which nothing is hidden by what is beneath. */
    write(ctx, words, left, middle, ratio) {
      ctx.save();
      ctx.setLineDash([]);
      ctx.textAlign = "left";
      ctx.textBaseline = "middle";
      ctx.strokeStyle = style("--ground");
      ctx.fillStyle = style("--muted");
      ctx.lineWidth = 3 * ratio;
      ctx.lineJoin = "round";
      ctx.strokeText(words, left, middle);
      ctx.fillText(words, left, middle);
      ctx.restore();
    }

    /** Write labels beside points, each on the side where there is room. */
    paintNames(plot, ctx, ratio) {
      const { bbox } = plot;
      ctx.save();
      ctx.font = `${11 * ratio}px ${style("--sans")}`;
      const points = this.shown().filter((one) => one.form === "points" && !one.published).flatMap((one) => this.usable(one)
        .filter(([, y]) => y !== null)
        .map(([x, y]) => [this.legend[one.entry][0], this.x(plot, x), this.y(plot, y)]));
      const high = 13 * ratio;
      const taken = points.map(([, x, y]) => [x - 4 * ratio, y - 4 * ratio, x + 4 * ratio, y + 4 * ratio]).concat(this.levelWords);
      const borders = this.panel.borders.map(([, place]) => [this.x(plot, place) - 1, bbox.top, this.x(plot, place) + 1, bbox.top + bbox.height]);
      const overlaps = (a, b) => a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3];
      for (const [words, x, y] of points) {
        const wide = ctx.measureText(words).width;
        const boxes = [[x + 7 * ratio, y - high / 2], [x - 7 * ratio - wide, y - high / 2], [x - wide / 2, y - 6 * ratio - high], [x - wide / 2, y + 6 * ratio], [x + 4 * ratio, y + 3 * ratio], [x + 4 * ratio, y - 3 * ratio - high], [x - 4 * ratio - wide, y - 3 * ratio - high], [x - 4 * ratio - wide, y + 3 * ratio]]
          .map(([left, top]) => [left, top, left + wide, top + high])
          .filter((box) => box[0] >= bbox.left && box[2] <= bbox.left + bbox.width + 8 * ratio && box[1] >= bbox.top);
        const free = boxes.filter((each) => !taken.some((other) => overlaps(each, other)));
        const box = free.find((each) => !borders.some((other) => overlaps(each, other))) || free[0] || boxes[0];
        if (!box) continue;
        taken.push(box);
        this.write(ctx, words, box[0], box[1] + high / 2, ratio);
      }
      ctx.restore();
    }

    /** Say whether series are where words of this width would stand, at the right end of a line or at its left. */
    crowded(plot, line, width, right) {
      const { bbox } = plot;
      const [from, to] = right ? [bbox.left + bbox.width - width, Infinity] : [-Infinity, bbox.left + width];
      const room = 22 * devicePixelRatio;
      return this.shown().some((one) => this.usable(one).some(([x, y]) => {
        const left = this.x(plot, x);
        return y !== null && left >= from && left <= to && Math.abs(this.y(plot, y) - line) < room;
      }));
    }

    // -- values --

    /** Return the places that any shown series has. */
    places() {
      const has = new Set(this.shown().flatMap((one) => one.x.filter((_, index) => one.y[index] !== null)));
      return this.xs.filter((x) => has.has(x));
    }

    /** Return what each shown series is at a place. */
    values(x) {
      const found = [];
      for (const one of this.shown()) {
        let any = false;
        one.x.forEach((each, index) => {
          if (each === x && one.y[index] !== null) { found.push([one, index]); any = true; }
        });
        if (any || one.form !== "steps") continue;
        let last = -1;
        one.x.forEach((each, index) => { if (each <= x) last = index; });
        if (last >= 0 && one.y[last] !== null && x <= one.x.at(-1)) found.push([one, last]);
      }
      return found;
    }

    follow(event) {
      const places = this.places();
      if (!places.length) return;
      const box = this.plot.over.getBoundingClientRect();
      const [left, top] = [event.clientX - box.left, event.clientY - box.top];
      let best = 0, least = Infinity;
      places.forEach((x, index) => {
        let far = Math.abs(this.plot.valToPos(x, "x") - left);
        if (this.scattered) {
          const ups = this.values(x).map(([one, at]) => Math.abs(this.plot.valToPos(one.y[at], "y") - top));
          far = Math.hypot(far, Math.min(...ups));
        }
        if (far < least) { least = far; best = index; }
      });
      this.go(best, false, top);
    }

    go(index, aloud, pointerTop) {
      const places = this.places();
      if (!places.length) return;
      this.at = Math.max(0, Math.min(index, places.length - 1));
      const x = places[this.at];
      const values = this.values(x);
      const left = this.plot.valToPos(x, "x");
      this.cross.style.left = `${left}px`;
      this.cross.hidden = false;
      this.dots.splice(0).forEach((dot) => dot.remove());
      const { axisName, place } = this.named(x);
      const lines = values.map(([one, at]) => {
        const line = element("span");
        const mark = element("i");
        mark.style.background = this.colour(one);
        line.append(mark, this.valued(one, at));
        const top = this.plot.valToPos(one.y[at], "y");
        if (one.form !== "bars" && top >= 0 && top <= this.plot.over.clientHeight) {
          const dot = element("div", undefined, "dot");
          dot.style.background = this.colour(one);
          dot.style.left = `${this.plot.valToPos(x + this.beside(one), "x") + (this.aside(this.plot, one) ?? 0) / devicePixelRatio}px`;
          dot.style.top = `${top}px`;
          this.plot.over.append(dot);
          this.dots.push(dot);
        }
        return line;
      });
      const box = this.plot.over.getBoundingClientRect();
      showTip([element("b", `${axisName}${place}`), ...lines], box.left + left, box.top + (pointerTop ?? box.height * 0.35));
      again = aloud ? () => this.go(this.at, true) : null;
      if (aloud) spoken.textContent = [`${axisName}${place}`, ...values.map(([one, at]) => this.valued(one, at))].join("; ");
    }

    named(x) {
      const { x: axis } = this.panel;
      if (axis.categories.length) return { axisName: "", place: axis.categories[x] ?? written(x) };
      return { axisName: axis.label ? `${axis.label}: ` : "", place: written(x) };
    }

    valued(one, at) {
      const [low, high] = [one.low?.[at] ?? null, one.high?.[at] ?? null];
      const between = low !== null && high !== null ? ` (${written(low)} to ${written(high)})` : "";
      return `${this.legend[one.entry][0]}: ${written(one.y[at])}${between}`;
    }

    leave() {
      this.at = -1;
      this.cross.hidden = true;
      this.dots.splice(0).forEach((dot) => dot.remove());
      hideTip();
    }

    key(event) {
      const last = this.places().length - 1;
      const steps = { ArrowLeft: this.at - 1, ArrowRight: this.at + 1, PageUp: this.at - 10, PageDown: this.at + 10, Home: 0, End: last };
      if (event.altKey || event.ctrlKey || event.metaKey) return;
      if (event.key in steps) {
        event.preventDefault();
        this.go(steps[event.key], true);
      } else if (event.key === "Escape") this.leave();
    }
  }

  const legendSwatches = [];
  for (const figure of all("figure.plot")) {
    const { legend, panels } = JSON.parse(figure.querySelector("script.data").textContent);
    const hidden = new Set();
    figure.querySelector(".drawing").hidden = false;
    const own = all(".canvas", figure).map((host, index) => new Chart(host, panels[index], legend, hidden));
    charts.push(...own);
    for (const button of all(".legend button", figure)) {
      const entry = Number(button.dataset.entry);
      legendSwatches.push([button.querySelector(".swatch"), legend[entry][1]]);
      button.addEventListener("click", () => {
        const show = hidden.has(entry);
        if (show) hidden.delete(entry);
        else hidden.add(entry);
        button.setAttribute("aria-pressed", String(show));
        for (const chart of own) { chart.leave(); chart.plot.redraw(false, false); }
      });
    }
  }

  // ---- Bars of causes -----------------------------------------------------------------------------------

  for (const figure of all("figure.bars")) {
    const stacks = figure.querySelector(".stacks");
    const rows = all(".stack", figure).map((stack) => ({ stack, pieces: all(".piece", stack) })).filter((row) => row.pieces.length);
    if (!rows.length) continue;
    stacks.removeAttribute("aria-hidden");
    for (const [name, value] of [["tabindex", "0"], ["role", "application"], ["aria-roledescription", "interactive figure"], ["aria-label", stacks.dataset.label], ["aria-describedby", "KeysOfBars"]]) stacks.setAttribute(name, value);
    let at = null;
    const leave = () => {
      for (const piece of all(".piece.at", stacks)) piece.classList.remove("at");
      at = null;
      hideTip();
    };
    const show = (piece, x, y, aloud) => {
      const band = piece.closest(".stack").dataset.band;
      for (const other of all(".piece.at", stacks)) other.classList.remove("at");
      piece.classList.add("at");
      showTip([element("b", band), element("span", piece.dataset.title)], x, y);
      if (aloud) spoken.textContent = `${band}; ${piece.dataset.title}`;
    };
    for (const { pieces } of rows) {
      for (const piece of pieces) {
        piece.dataset.title = piece.title;
        piece.removeAttribute("title");
        for (const event of ["pointermove", "pointerdown"]) piece.addEventListener(event, (moved) => show(piece, moved.clientX, moved.clientY, false));
      }
    }
    const go = (row, place) => {
      const y = Math.max(0, Math.min(row, rows.length - 1));
      const x = Math.max(0, Math.min(place, rows[y].pieces.length - 1));
      at = [y, x];
      const box = rows[y].pieces[x].getBoundingClientRect();
      show(rows[y].pieces[x], box.left + box.width / 2, box.top, true);
      again = () => go(...at);
    };
    stacks.addEventListener("pointerleave", leave);
    stacks.addEventListener("blur", leave);
    stacks.addEventListener("focus", () => { if (!at && stacks.matches(":focus-visible")) go(0, 0); });
    stacks.addEventListener("keydown", (event) => {
      const [y, x] = at || [0, -1];
      const steps = { ArrowLeft: [y, x - 1], ArrowRight: [y, x + 1], ArrowUp: [y - 1, x], ArrowDown: [y + 1, x], Home: [y, 0], End: [y, Infinity] };
      if (event.altKey || event.ctrlKey || event.metaKey) return;
      if (event.key in steps) {
        event.preventDefault();
        go(...steps[event.key]);
      } else if (event.key === "Escape") leave();
    });
    const tools = figure.querySelector(".tools");
    if (rows.length > 1) tools.hidden = false;
    tools.querySelector(".lengths").addEventListener("click", (event) => {
      const byTime = stacks.classList.toggle("by-time");
      event.currentTarget.setAttribute("aria-pressed", String(byTime));
    });
  }

  // ---- Claims -------------------------------------------------------------------------------------------

  for (const block of all(".claims-block")) {
    const filters = block.querySelector(".filters");
    const buttons = all("button", filters);
    filters.hidden = buttons.length < 3;
    for (const button of buttons) {
      button.addEventListener("click", () => {
        for (const each of buttons) each.setAttribute("aria-pressed", String(each === button));
        const wanted = button.dataset.verdict;
        const rows = all("tbody tr", block);
        for (const row of rows) row.hidden = wanted !== "" && row.dataset.verdict !== wanted;
        const shown = rows.filter((row) => !row.hidden).length;
        spoken.textContent = `${shown} claim${shown === 1 ? "" : "s"} shown`;
      });
    }
  }

  // ---- Theme --------------------------------------------------------------------------------------------

  const THEMES = ["auto", "light", "dark"];
  const KEY = "ninescope-report-theme";
  const button = document.getElementById("Theme");
  let theme = "auto";
  try { theme = localStorage.getItem(KEY) || "auto"; } catch { /* a browser that keeps nothing */ }

  const repaint = () => {
    for (const [swatch, colour] of legendSwatches) swatch.style.setProperty("--shade", shade(colour));
    for (const chart of charts) chart.plot.redraw(false, true);
  };
  const apply = (name) => {
    theme = THEMES.includes(name) ? name : "auto";
    if (theme === "auto") delete root.dataset.theme;
    else root.dataset.theme = theme;
    button.querySelector("span").textContent = theme;
    repaint();
  };
  button.hidden = false;
  button.addEventListener("click", () => {
    apply(THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length]);
    try { localStorage.setItem(KEY, theme); } catch { /* likewise */ }
    spoken.textContent = `Theme: ${theme}`;
  });
  apply(theme);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", repaint);
  let beforePrint = theme;
  addEventListener("beforeprint", () => { beforePrint = theme; apply("light"); for (const chart of charts) chart.fit(); });
  addEventListener("afterprint", () => apply(beforePrint));

  // ---- What scrolls -------------------------------------------------------------------------------------

  // A region is stopped at by the keyboard where there is something to scroll to. Without scripts all of them are.
  const stopWhereItScrolls = (region) => {
    const scrolls = region.scrollWidth > region.clientWidth + 1 || region.scrollHeight > region.clientHeight + 1;
    if (scrolls) region.setAttribute("tabindex", "0");
    else if (document.activeElement !== region) region.removeAttribute("tabindex");
  };
  const watched = new ResizeObserver((entries) => { for (const { target } of entries) stopWhereItScrolls(target); });
  for (const region of all(".scroll, .source")) {
    stopWhereItScrolls(region);
    watched.observe(region);
  }

  // ---- What is folded, and where the reader is ------------------------------------------------------------

  for (const values of all("details.values")) {
    values.open = false;
    values.dataset.folded = "";
  }
  const contents = document.querySelector(".contents details");
  if (contents && matchMedia("(max-width: 67.99rem)").matches) contents.open = false;
  const links = new Map(all(".contents a").map((link) => [link.hash.slice(1), link]));
  const headings = all("h2[id], h3[id]");
  const mark = () => {
    const passed = headings.filter((heading) => heading.getBoundingClientRect().top < innerHeight * 0.3).at(-1);
    for (const [id, link] of links) {
      if (passed && id === passed.id) link.setAttribute("aria-current", "location");
      else link.removeAttribute("aria-current");
    }
  };
  addEventListener("scroll", mark, { passive: true });
  mark();
  // A link into something folded opens it.
  const unfold = () => {
    let target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    for (; target; target = target.parentElement) if (target.tagName === "DETAILS") target.open = true;
  };
  addEventListener("hashchange", unfold);
  unfold();
  // What scripts of particular pages share with this one.
  globalThis.reportPage = { all, element, style, showTip, hideTip, spoken, charts };
})();
