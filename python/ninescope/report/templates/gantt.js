// Lanes over time: a view is chosen, zoomed into and moved along, by pointer, keyboard and buttons.
(() => {
  "use strict";
  const { all, element, style, showTip, hideTip, spoken, charts } = globalThis.reportPage;
  const LANE = 40, TOP = 26, FONT = 11;
  const UNITS = [["s", 1e9], ["ms", 1e6], ["us", 1e3], ["ns", 1]];

  /** Write a time [ns] with its unit. */
  const time = (ns) => {
    const size = Math.abs(ns);
    const [unit, one] = UNITS.find(([, each]) => size >= each) || UNITS.at(-1);
    return `${Number((ns / one).toPrecision(4))} ${unit}`;
  };

  const step = (span, count) => {
    const rough = Math.max(1, span / Math.max(1, count));
    const power = 10 ** Math.floor(Math.log10(rough));
    return [1, 2, 5, 10].map((each) => each * power).find((each) => each >= rough * 0.999);
  };

  const dark = (colour) => {
    const parts = [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16) / 255);
    const [r, g, b] = parts.map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b < 0.179;
  };

  class Gantt {
    constructor(figure) {
      this.figure = figure;
      this.host = figure.querySelector(".canvas");
      this.data = JSON.parse(figure.querySelector("script.data").textContent);
      this.canvas = element("canvas");
      this.host.append(this.canvas);
      this.plot = { redraw: () => this.draw() };
      figure.querySelector(".drawing").hidden = false;
      const chooser = figure.querySelector("select");
      chooser.addEventListener("change", () => this.choose(Number(chooser.value)));
      for (const button of all(".zooms button", figure)) button.addEventListener("click", () => this.act(button.dataset.do));
      this.host.addEventListener("keydown", (event) => this.key(event));
      this.host.addEventListener("focus", () => { if (this.host.matches(":focus-visible") && !this.at) this.go(0, this.first(0)); });
      this.host.addEventListener("blur", () => this.leave());
      this.canvas.addEventListener("pointermove", (event) => this.follow(event));
      this.canvas.addEventListener("pointerleave", () => { if (!this.drag) this.leave(); });
      this.canvas.addEventListener("pointerdown", (event) => this.press(event));
      this.canvas.addEventListener("pointerup", (event) => this.release(event));
      this.canvas.addEventListener("pointercancel", () => { this.drag = null; this.draw(); });
      this.canvas.addEventListener("dblclick", (event) => { const found = this.hit(event); if (found) this.into(found); else this.act("all"); });
      // The wheel alone scrolls the page.
      this.canvas.addEventListener("wheel", (event) => {
        if (!event.ctrlKey && !event.shiftKey) return;
        event.preventDefault();
        this.zoom((event.deltaY || event.deltaX) > 0 ? 1.3 : 1 / 1.3, this.when(event.offsetX));
      }, { passive: false });
      new ResizeObserver(() => this.fit()).observe(this.host);
      this.choose(0);
    }

    choose(index) {
      this.view = this.data.views[index];
      this.at = null;
      const ends = this.view.lanes.flatMap(([, spans]) => spans);
      this.least = ends.reduce((least, span) => Math.min(least, span[0]), this.view.from);
      this.most = ends.reduce((most, span) => Math.max(most, span[1]), this.view.until);
      this.figure.querySelector(".view-words").textContent = `${this.view.name}: ${this.view.what}`;
      this.act("all");
    }

    fit() { this.draw(); }

    get labels() { return this.host.clientWidth < 560 ? 84 : 136; }
    get wide() { return Math.max(60, this.host.clientWidth - this.labels - 8); }
    where(ns) { return this.labels + ((ns - this.from) / (this.until - this.from)) * this.wide; }
    when(x) { return this.from + ((x - this.labels) / this.wide) * (this.until - this.from); }

    /** Show from here to there; not less than 20 ns, and nothing beyond what there is. */
    show(from, until) {
      const whole = Math.max(1, this.most - this.least);
      const span = Math.min(whole, Math.max(20, until - from));
      this.from = Math.max(this.least, Math.min(from, this.most - span));
      this.until = this.from + span;
      this.figure.querySelector(".reach").textContent = `${time(this.from)} to ${time(this.until)}`;
      this.draw();
    }

    zoom(factor, middle = (this.from + this.until) / 2) { this.show(middle - (middle - this.from) * factor, middle + (this.until - middle) * factor); }

    into({ span }) {
      const room = Math.max(10, (span[1] - span[0]) * 0.15);
      this.show(span[0] - room, span[1] + room);
    }

    act(what) {
      const span = this.until - this.from;
      if (what === "in") this.zoom(0.5);
      else if (what === "out") this.zoom(2);
      else if (what === "left") this.show(this.from - span / 3, this.until - span / 3);
      else if (what === "right") this.show(this.from + span / 3, this.until + span / 3);
      else this.show(this.view.from, this.view.until);
    }

    // -- drawing --

    draw() {
      const ratio = devicePixelRatio || 1;
      const width = this.host.clientWidth, height = TOP + this.view.lanes.length * LANE + 6;
      if (!width) return;
      this.canvas.style.width = `${width}px`;
      this.canvas.style.height = `${height}px`;
      this.canvas.width = Math.round(width * ratio);
      this.canvas.height = Math.round(height * ratio);
      const ctx = this.canvas.getContext("2d");
      ctx.scale(ratio, ratio);
      ctx.font = `${FONT}px ${style("--sans")}`;
      ctx.textBaseline = "middle";
      this.axis(ctx, height);
      this.view.lanes.forEach(([name, spans], row) => this.lane(ctx, name, spans, row));
      if (this.drag && this.drag.x !== this.drag.to) {
        ctx.fillStyle = style("--focus");
        ctx.globalAlpha = 0.25;
        ctx.fillRect(Math.min(this.drag.x, this.drag.to), TOP, Math.abs(this.drag.to - this.drag.x), height - TOP);
      }
    }

    axis(ctx, height) {
      const every = step(this.until - this.from, this.wide / 90);
      for (let k = Math.ceil(this.from / every); k * every <= this.until; k++) {
        const x = Math.round(this.where(k * every)) + 0.5;
        ctx.strokeStyle = style("--grid");
        ctx.beginPath();
        ctx.moveTo(x, TOP - 6);
        ctx.lineTo(x, height);
        ctx.stroke();
        ctx.fillStyle = style("--muted");
        const words = time(k * every), half = ctx.measureText(words).width / 2;
        ctx.fillText(words, Math.min(Math.max(x - half, this.labels - 10), this.host.clientWidth - 2 * half), 10);
      }
    }

    /** Say where a bar of a lane stands: commands above, their phases below where there are any. */
    box(row, low, both) {
      const top = TOP + row * LANE;
      if (low) return [top + 24, 12];
      return [top + 3, both ? 20 : 33];
    }

    lane(ctx, name, spans, row) {
      const top = TOP + row * LANE;
      ctx.strokeStyle = style("--grid");
      ctx.beginPath();
      ctx.moveTo(0, top + 0.5);
      ctx.lineTo(this.host.clientWidth, top + 0.5);
      ctx.stroke();
      ctx.fillStyle = style("--ink");
      let words = name;
      while (words.length > 4 && ctx.measureText(words).width > this.labels - 8) words = `${words.slice(0, -2)}…`;
      ctx.fillText(words, 0, top + LANE / 2);
      const both = spans.some((span) => span[4]);
      ctx.save();
      ctx.beginPath();
      ctx.rect(this.labels, top, this.wide, LANE);
      ctx.clip();
      const last = [-1, -1], parts = [-1, -1];
      spans.forEach((span, index) => {
        if (span[1] < this.from || span[0] > this.until) return;
        const left = this.where(span[0]), right = Math.max(left + 0.7, this.where(span[1]));
        // What shares a pixel with the bar before it is not seen.
        if (right < last[span[4]] && parts[span[4]] === span[2]) return;
        last[span[4]] = Math.ceil(left + 0.7);
        parts[span[4]] = span[2];
        // What runs while a command is parked lies over it: its words end there.
        const over = spans[index + 1] && spans[index + 1][4] === span[4] ? spans[index + 1] : spans.slice(index + 1, index + 40).find((each) => each[4] === span[4]);
        const room = over && over[0] < span[1] ? this.where(over[0]) : right;
        this.bar(ctx, span, left, right, room, this.box(row, span[4], both));
      });
      ctx.restore();
    }

    bar(ctx, span, left, right, free, [top, high]) {
      const colour = this.data.parts[span[2]][1];
      ctx.fillStyle = colour;
      ctx.fillRect(left, top, right - left, high);
      if (right - left > 3) {
        ctx.strokeStyle = style("--ground");
        ctx.strokeRect(left, top, right - left, high);
      }
      if (this.at && this.at.span === span) {
        ctx.strokeStyle = style("--ink");
        ctx.lineWidth = 2;
        ctx.strokeRect(left + 1, top + 1, Math.max(1, right - left - 2), high - 2);
        ctx.lineWidth = 1;
      }
      const from = Math.max(left, this.labels), room = Math.min(free, this.labels + this.wide) - from - 8;
      const words = this.view.words[span[3]];
      if (room < 24 || ctx.measureText(words).width > room) return;
      ctx.fillStyle = dark(colour) ? "#ffffff" : "#1c1b19";
      ctx.fillText(words, from + 4, top + high / 2 + 0.5);
    }

    // -- values --

    hit(event) {
      const row = Math.floor((event.offsetY - TOP) / LANE);
      const lane = this.view.lanes[row];
      if (!lane || event.offsetX < this.labels) return null;
      const at = this.when(event.offsetX), near = ((this.until - this.from) / this.wide) * 2;
      const both = lane[1].some((span) => span[4]);
      const low = both && event.offsetY - TOP - row * LANE >= 24 ? 1 : 0;
      let best = null, least = Infinity;
      for (const span of lane[1]) {
        if (span[4] !== low) continue;
        const far = at < span[0] ? span[0] - at : at > span[1] ? at - span[1] : 0;
        // Of two at one place the later one lies above.
        if (far <= near && far <= least) { best = span; least = far; }
      }
      return best && { row, span: best };
    }

    tell({ row, span }, x, y, aloud) {
      const [name] = this.view.lanes[row];
      const lines = [this.view.words[span[3]], `${time(span[1] - span[0])}, from ${time(span[0])} to ${time(span[1])}`];
      showTip([element("b", name), ...lines.map((line) => element("span", line))], x, y);
      if (aloud) spoken.textContent = [name, ...lines].join("; ");
    }

    follow(event) {
      if (this.drag) {
        this.drag.to = Math.max(this.labels, Math.min(event.offsetX, this.labels + this.wide));
        this.draw();
        return;
      }
      const found = this.hit(event);
      if (!found) { this.leave(); return; }
      const changed = !this.at || this.at.span !== found.span;
      this.at = found;
      if (changed) this.draw();
      this.tell(found, event.clientX, event.clientY, false);
    }

    press(event) {
      if (event.button !== 0 || event.offsetX < this.labels || event.pointerType === "touch") return;
      this.drag = { x: event.offsetX, to: event.offsetX };
      this.canvas.setPointerCapture(event.pointerId);
    }

    release() {
      const drag = this.drag;
      this.drag = null;
      if (drag && Math.abs(drag.to - drag.x) > 5) {
        const ends = [this.when(drag.x), this.when(drag.to)].sort((a, b) => a - b);
        this.leave();
        this.show(...ends);
      } else this.draw();
    }

    leave() {
      const was = this.at;
      this.at = null;
      hideTip();
      if (was) this.draw();
    }

    /** Return the first bar of a lane that can be seen. */
    first(row) {
      const index = this.view.lanes[row][1].findIndex((span) => span[1] > this.from);
      return Math.max(0, index);
    }

    go(row, index) {
      const lane = this.view.lanes[row];
      if (!lane || !lane[1].length) return;
      const place = Math.max(0, Math.min(index, lane[1].length - 1));
      const span = lane[1][place];
      this.at = { row, span, place };
      if (span[1] <= this.from || span[0] >= this.until) {
        const half = (this.until - this.from) / 2, middle = (span[0] + span[1]) / 2;
        this.show(middle - half, middle + half);
      } else this.draw();
      const box = this.canvas.getBoundingClientRect();
      const x = Math.min(Math.max(this.where(span[0]), this.labels), this.labels + this.wide);
      this.tell(this.at, box.left + x, box.top + TOP + row * LANE, true);
    }

    /** Go to the next lane that has bars, to what happens there at the same time. */
    turn(direction) {
      const { row, span } = this.at;
      for (let next = row + direction; next >= 0 && next < this.view.lanes.length; next += direction) {
        const spans = this.view.lanes[next][1];
        if (!spans.length) continue;
        const found = spans.findIndex((each) => each[1] > span[0]);
        this.go(next, found < 0 ? spans.length - 1 : found);
        return;
      }
    }

    key(event) {
      if (event.altKey || event.ctrlKey || event.metaKey) return;
      const at = this.at && this.at.place !== undefined ? this.at : null;
      const acts = {
        ArrowLeft: () => (at ? this.go(at.row, at.place - 1) : this.go(0, this.first(0))),
        ArrowRight: () => (at ? this.go(at.row, at.place + 1) : this.go(0, this.first(0))),
        ArrowUp: () => at && this.turn(-1),
        ArrowDown: () => at && this.turn(1),
        Enter: () => at && this.into(at),
        "+": () => this.zoom(0.5, at ? (at.span[0] + at.span[1]) / 2 : undefined),
        "=": () => this.zoom(0.5, at ? (at.span[0] + at.span[1]) / 2 : undefined),
        "-": () => this.zoom(2),
        Escape: () => { this.leave(); this.act("all"); },
      };
      if (!(event.key in acts)) return;
      event.preventDefault();
      acts[event.key]();
    }
  }

  for (const figure of all("figure.gantt")) {
    const gantt = new Gantt(figure);
    charts.push(gantt);
    figure.gantt = gantt; // for whoever looks at the page from its console
  }
})();
