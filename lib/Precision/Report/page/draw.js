// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Draws the visible part of the graph with as much detail as its size allows. A
// strip on the right shows the whole graph.
"use strict";

const STRIP = 66;
/** The height of the band with the names of the lanes. */
const HEAD = 42;

/** Draws; what is in view is for the class derived from it to say. */
class GraphPainter {
  readColors() {
    const style = getComputedStyle(root);
    const get = name => style.getPropertyValue(`--${name}`).trim();
    this.colors = {};
    for (const name of ["card", "text", "muted", "line", "soft", "accent", "mark", "edge"]) this.colors[name] = get(name);
    for (const [key, name] of [["low", "low"], ["f32", "wide"], ["fixed", "fixed"]])
      this.colors[key] = { fill: get(name), line: get(`${name}-line`), text: get(`${name}-text`) };
    this.strip = null;
    this.draw();
  }

  get width() { return this.paper ? this.paper.width : this.canvas.clientWidth; }

  get height() { return this.paper ? this.paper.height : this.canvas.clientHeight; }

  /** How large a unit is drawn: paper is finer than a screen. */
  get detail() { return this.scale * (this.paper ? 3 : 1); }

  get innerWidth() { return Math.max(50, this.width - (this.hasStrip() ? STRIP : 0)); }

  /** Whether the graph is too large to be seen at once. */
  hasStrip() { return !this.paper && this.graph && this.graph.nodes.length > 30 && this.width > 560; }

  /** Draws at the next frame, once however often it is asked for. */
  draw() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.waiting = false;
      this.paint();
    });
  }

  matchesNode(node) {
    if (node.copies) return node.copies.some(op => this.matches(op));
    if (node.op) return this.matches(node.op);
    if (node.group) return !this.filtered || node.group.members?.some(op => this.matches(op));
    return !this.filtered;
  }

  paint() {
    const { context: g, graph, canvas } = this;
    if (!graph || !canvas.width) return;
    const ratio = canvas.width / Math.max(1, this.width);
    g.setTransform(ratio, 0, 0, ratio, 0, 0);
    g.fillStyle = this.colors.card;
    // Use more pixels than the canvas, because a page may enlarge it.
    g.fillRect(0, 0, 2 * this.width, 2 * this.height);
    g.save();
    g.beginPath();
    g.rect(0, HEAD, this.innerWidth, this.height);
    g.clip();
    this.paintLanes();
    const s = this.scale, view = { left: -this.offset.x / s, top: -this.offset.y / s };
    view.right = view.left + this.width / s;
    view.bottom = view.top + this.height / s;
    g.save();
    g.translate(this.offset.x, this.offset.y);
    g.scale(s, s);
    this.paintFrames();
    this.paintEdges(view);
    for (const node of graph.nodes)
      if (node.x < view.right && node.x + NODE.width > view.left && node.y < view.bottom && node.y + NODE.height > view.top)
        this.paintNode(node);
    g.restore();
    g.restore();
    this.paintLaneTitles();
    if (this.hasStrip()) this.paintStrip(view);
  }

  paintLanes() {
    const { context: g } = this;
    for (const band of this.bands) {
      if (band.lane !== 1) continue;
      g.fillStyle = this.colors.soft;
      g.globalAlpha = 0.6;
      const pad = NODE.laneGap / 2;
      g.fillRect((band.x - pad) * this.scale + this.offset.x, 0, (band.width + 2 * pad) * this.scale, this.height);
      g.globalAlpha = 1;
    }
  }

  paintLaneTitles() {
    const { context: g } = this;
    const names = ["Forward ↓", "Backward ↑", "Update →"];
    g.font = "600 14px system-ui, sans-serif";
    g.textBaseline = "middle";
    let right = -Infinity;
    for (const band of this.bands) {
      const text = names[band.lane], width = g.measureText(text).width + 20;
      const from = band.x * this.scale + this.offset.x, to = from + band.width * this.scale;
      if (to < 0 || from > this.innerWidth) continue;
      // Center the name in the visible part, but not over another name.
      const middle = (Math.max(from, 0) + Math.min(to, this.innerWidth)) / 2;
      const x = Math.min(Math.max(8, middle - width / 2, right + 6), this.innerWidth - width - 4);
      if (x < right) continue;
      right = x + width;
      g.fillStyle = this.colors.card;
      g.strokeStyle = this.colors.line;
      g.lineWidth = 1;
      g.beginPath();
      g.roundRect(x, 8.5, width, 26, 13);
      g.fill();
      g.stroke();
      g.fillStyle = this.colors.text;
      g.fillText(text, x + 10, 22);
    }
  }

  /** A frame around the first copy of identical layers, with their number. */
  paintFrames() {
    const { context: g, colors } = this;
    for (const { repeat, nodes } of this.graph.frames) {
      const left = Math.min(...nodes.map(n => n.x)) - 16, right = Math.max(...nodes.map(n => n.x)) + NODE.width + 16;
      const top = Math.min(...nodes.map(n => n.y)) - 34, bottom = Math.max(...nodes.map(n => n.y)) + NODE.height + 14;
      g.strokeStyle = colors.accent;
      g.lineWidth = 2 / Math.min(1, Math.max(0.25, this.scale));
      g.setLineDash([8, 5]);
      g.beginPath();
      g.roundRect(left, top, right - left, bottom - top, 12);
      g.stroke();
      g.setLineDash([]);
      g.fillStyle = colors.accent;
      g.font = "700 19px system-ui, sans-serif";
      g.textBaseline = "alphabetic";
      g.fillText(this.clip(`×${repeat.copies} ${repeat.title}`, right - left - 20), left + 10, top + 22);
    }
  }

  /** Start, end and control points of an edge; casts start at their mark. */
  curve(edge) {
    const { from, to } = edge, half = NODE.width / 2, middle = NODE.height / 2;
    const up = from.lane === 1 ? -1 : 1;
    let x1 = from.x + half, y1 = from.y + (up > 0 ? NODE.height : 0), x2, y2;
    if (edge.cast && !from.group) {
      x1 += NODE.width * 0.3;
      y1 += up * 9;
    }
    if (from.lane === to.lane && from.lane < 2) {
      x2 = to.x + half;
      y2 = to.y + (up > 0 ? 0 : NODE.height);
      const span = Math.abs(y2 - y1), steps = span / (NODE.height + NODE.gapY);
      // A long edge swings out to avoid nodes.
      const swing = steps > 1.3 && Math.abs(x1 - x2) < NODE.width ? (half + 22 + Math.min(80, steps * 5)) * (from.id % 2 ? 1 : -1) : 0;
      const bend = Math.max(18, span * 0.4) * Math.sign(y2 - y1 || up);
      return [x1, y1, x1 + swing, y1 + bend, x2 + swing, y2 - bend, x2, y2];
    }
    if (!(edge.cast && !from.group)) {
      x1 = from.x + (to.x > from.x ? NODE.width : 0);
      y1 = from.y + middle;
    }
    x2 = to.x + (to.x > from.x ? 0 : NODE.width);
    y2 = to.y + middle;
    const bend = Math.max(40, Math.abs(x2 - x1) * 0.45) * (x2 > x1 ? 1 : -1);
    return [x1, y1, x1 + bend, y1, x2 - bend, y2, x2, y2];
  }

  paintEdges(view) {
    const { context: g, graph, scale } = this;
    const chosen = this.selected, far = this.detail < 0.22;
    const groups = new Map();
    const marks = [];
    for (const edge of graph.edges) {
      const { from, to } = edge;
      const touched = chosen && (from === chosen || to === chosen);
      if (edge.quiet && !touched) continue;
      const left = Math.min(from.x, to.x) - 120, right = Math.max(from.x, to.x) + NODE.width + 120;
      const top = Math.min(from.y, to.y), bottom = Math.max(from.y, to.y) + NODE.height;
      if (left > view.right || right < view.left || top > view.bottom || bottom < view.top) continue;
      const inPath = this.path.length && this.isOnPath(edge);
      const crossing = from.lane !== to.lane;
      const dim = this.filtered && !(this.matchesNode(from) && this.matchesNode(to));
      const key = inPath ? "path" : touched ? `touched|${edge.color}` : `${dim ? "dim" : crossing ? "cross" : "plain"}|${edge.color}`;
      if (!groups.has(key)) groups.set(key, []);
      groups.get(key).push(edge);
      if (edge.cast && !from.group && !far) marks.push(edge);
    }
    const order = ["dim", "cross", "plain", "touched", "path"];
    const keys = [...groups.keys()].sort((a, b) => order.indexOf(a.split("|")[0]) - order.indexOf(b.split("|")[0]));
    for (const key of keys) {
      const [kind, color] = key.split("|");
      g.globalAlpha = { dim: 0.1, cross: far ? 0.14 : 0.3, plain: far ? 0.4 : 0.75, touched: 1, path: 1 }[kind];
      g.strokeStyle = kind === "path" ? this.colors.mark : this.colors[color].line;
      g.lineWidth = (kind === "path" ? 3.5 : kind === "touched" ? 2.4 : 1.4) / Math.min(1, Math.max(scale, 0.25) * 1.2);
      g.beginPath();
      for (const edge of groups.get(key)) {
        const c = this.curve(edge);
        g.moveTo(c[0], c[1]);
        if (far) g.lineTo(c[6], c[7]);
        else g.bezierCurveTo(c[2], c[3], c[4], c[5], c[6], c[7]);
      }
      g.stroke();
      if (far || kind === "dim") continue;
      g.fillStyle = g.strokeStyle;
      for (const edge of groups.get(key)) this.paintArrow(this.curve(edge));
    }
    g.globalAlpha = 1;
    const marked = new Set();
    for (const edge of marks) {
      if (marked.has(edge.cast)) continue;
      marked.add(edge.cast);
      const [x, y] = this.curve(edge);
      g.globalAlpha = this.filtered && !this.matchesNode(edge.from) && !this.matchesNode(edge.to) ? 0.25 : 1;
      g.fillStyle = this.colors.mark;
      g.strokeStyle = this.colors.card;
      g.lineWidth = 1.5;
      g.beginPath();
      g.moveTo(x, y - 8);
      g.lineTo(x + 8, y);
      g.lineTo(x, y + 8);
      g.lineTo(x - 8, y);
      g.closePath();
      g.fill();
      g.stroke();
    }
    g.globalAlpha = 1;
  }

  paintArrow([, , , , cx, cy, x, y]) {
    const { context: g } = this;
    const angle = Math.atan2(y - cy, x - cx), size = 7;
    g.beginPath();
    g.moveTo(x, y);
    g.lineTo(x - size * Math.cos(angle - 0.45), y - size * Math.sin(angle - 0.45));
    g.lineTo(x - size * Math.cos(angle + 0.45), y - size * Math.sin(angle + 0.45));
    g.fill();
  }

  isOnPath(edge) {
    for (let i = 0; i + 1 < this.path.length; ++i)
      if ((this.path[i] === edge.from && this.path[i + 1] === edge.to) || (this.path[i] === edge.to && this.path[i + 1] === edge.from)) return true;
    return false;
  }

  paintNode(node) {
    const { context: g, colors, detail: scale } = this;
    const { x, y } = node, w = NODE.width, h = NODE.height;
    const chosen = node === this.selected, onPath = this.path.includes(node);
    const dim = this.filtered && !this.matchesNode(node) && !chosen && !onPath;
    const precision = node.op ? node.op.precision : "fixed";
    g.globalAlpha = dim ? 0.2 : 1;
    g.beginPath();
    if (scale < 0.22) g.rect(x, y, w, h);
    else g.roundRect(x, y, w, h, node.value ? h / 2 : 7);
    const pair = colors[precision] || colors.fixed;
    if (node.group) this.fillGroup(node);
    else if (precision === "mixed") {
      const gradient = g.createLinearGradient(x, y + h, x + w, y);
      gradient.addColorStop(0.499, colors.low.fill);
      gradient.addColorStop(0.501, colors.f32.fill);
      g.fillStyle = gradient;
      g.fill();
    } else {
      // At a small scale a fill alone is too pale.
      g.fillStyle = scale < 0.22 ? pair.line : node.value ? colors.card : pair.fill;
      g.fill();
    }
    g.strokeStyle = chosen || onPath ? colors.mark : precision === "mixed" ? colors.f32.line : pair.line;
    g.lineWidth = (chosen ? 3.5 : onPath ? 3 : node === this.hover ? 2.5 : 1.5) / Math.min(1, Math.max(0.2, scale * 1.3));
    if (scale >= 0.22 || chosen || onPath) g.stroke();
    if (node.op && errorClass(node.op)) {
      g.fillStyle = errorClasses[errorClass(node.op)].color;
      g.fillRect(x, y, 5, h);
    }
    if (node.op?.changed || node.copies?.some(op => op.changed)) {
      g.fillStyle = colors.mark;
      g.beginPath();
      g.moveTo(x + w - 18, y);
      g.lineTo(x + w, y);
      g.lineTo(x + w, y + 18);
      g.fill();
    }
    if (scale >= 0.36) this.paintText(node, precision);
    g.globalAlpha = 1;
  }

  fillGroup({ x, y, group }) {
    const { context: g, colors } = this;
    g.fillStyle = colors.card;
    g.fill();
    g.save();
    g.clip();
    const total = Object.values(group.bytes).reduce((a, b) => a + b, 0);
    const top = this.detail < 0.22 ? y : y + NODE.height - 9, height = this.detail < 0.22 ? NODE.height : 9;
    let left = x;
    for (const [key, color] of [["low", "low"], ["mixed", null], ["f32", "f32"], ["fixed", "fixed"]]) {
      const width = (NODE.width * group.bytes[key]) / Math.max(1, total);
      const halves = color ? [[color, width]] : [["low", width / 2], ["f32", width / 2]];
      for (const [name, part] of halves) {
        g.fillStyle = colors[name].line;
        g.fillRect(left, top, part + 0.5, height);
        left += part;
      }
    }
    g.restore();
    g.beginPath();
    g.roundRect(x, y, NODE.width, NODE.height, 7);
  }

  paintText(node, precision) {
    const { context: g, colors } = this;
    const { x, y, op, group, value } = node, w = NODE.width;
    const title = op ? op.label : group ? group.title.split("/").slice(-2).join("/") : value.label || value.name;
    const line = op ? [op.shape, op.type].filter(Boolean).join(" ")
      : group ? `${plural(group.ops, "op")}, ${plural(group.casts, "cast")}`
      : `${shapeOf(value)} ${elementOf(value.typeAfter)}`;
    g.textBaseline = "alphabetic";
    const pad = value ? 16 : 10;
    g.fillStyle = node.op && precision !== "mixed" ? colors[precision].text : colors.text;
    g.font = '600 13.5px system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif';
    g.fillText(this.clip(title, w - 2 * pad), x + pad, y + (group ? 15.5 : 18.5));
    g.font = '12px ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace';
    g.globalAlpha *= 0.88;
    g.fillText(this.clip(line, w - 2 * pad), x + pad, y + (group ? 30 : 35));
  }

  clip(text, width) {
    const { context: g } = this;
    if (g.measureText(text).width <= width) return text;
    let low = 0, high = text.length;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (g.measureText(text.slice(0, middle) + "…").width <= width) low = middle;
      else high = middle - 1;
    }
    return text.slice(0, low) + "…";
  }

  /** The whole graph, squeezed into a strip, with the part in view. */
  paintStrip(view) {
    const { context: g, colors } = this;
    const { left, right, top, bottom } = this.box;
    const x0 = this.innerWidth, w = STRIP - 12, h = this.height - 16;
    if (!this.strip) {
      const ratio = this.canvas.width / Math.max(1, this.width);
      this.strip = document.createElement("canvas");
      this.strip.width = Math.ceil(w * ratio);
      this.strip.height = Math.ceil(h * ratio);
      const s = this.strip.getContext("2d");
      s.scale((w * ratio) / (right - left), (h * ratio) / (bottom - top));
      s.translate(-left, -top);
      const least = (1.5 * (bottom - top)) / h;
      for (const node of this.graph.nodes) {
        if (node.value) continue;
        const precision = node.op ? node.op.precision : Object.entries(node.group.bytes).sort((a, b) => b[1] - a[1])[0][0];
        s.globalAlpha = this.filtered && !this.matchesNode(node) ? 0.15 : 1;
        s.fillStyle = precision === "mixed" ? colors.low.line : colors[precision].line;
        s.fillRect(node.x, node.y, precision === "mixed" ? NODE.width / 2 : NODE.width, Math.max(NODE.height, least));
        if (precision !== "mixed") continue;
        s.fillStyle = colors.f32.line;
        s.fillRect(node.x + NODE.width / 2, node.y, NODE.width / 2, Math.max(NODE.height, least));
      }
    }
    g.fillStyle = colors.soft;
    g.fillRect(x0, 0, STRIP, this.height);
    g.drawImage(this.strip, x0 + 6, 8, w, h);
    const clampX = v => Math.min(1, Math.max(0, (v - left) / (right - left)));
    const clampY = v => Math.min(1, Math.max(0, (v - top) / (bottom - top)));
    const shownRight = view.left + this.innerWidth / this.scale;
    const bx = x0 + 6 + clampX(view.left) * w, by = 8 + clampY(view.top) * h;
    g.strokeStyle = colors.accent;
    g.lineWidth = 2;
    g.strokeRect(bx - 1, by - 1, Math.max(6, (clampX(shownRight) - clampX(view.left)) * w + 2), Math.max(6, (clampY(view.bottom) - clampY(view.top)) * h + 2));
  }
}
