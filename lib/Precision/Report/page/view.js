// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Navigation on the canvas: the visible part, and the object under the pointer.
"use strict";

class GraphView extends GraphPainter {
  constructor(canvas, handlers) {
    super();
    this.canvas = canvas;
    this.context = canvas.getContext("2d");
    this.handlers = handlers;
    this.scale = 1;
    this.offset = { x: 0, y: 0 };
    this.hover = this.selected = null;
    this.path = [];
    this.matches = () => true;
    this.listen();
    new ResizeObserver(() => this.resize()).observe(canvas);
    this.readColors();
  }

  setGraph(graph) {
    this.graph = graph;
    Object.assign(this, layout(graph));
    const far = 6 * (NODE.height + NODE.gapY);
    for (const edge of graph.edges) edge.quiet ||= edge.hub && Math.abs(edge.from.y - edge.to.y) > far;
    this.hover = null;
    this.strip = null;
  }

  setMatches(matches, filtered) {
    this.matches = matches;
    this.filtered = filtered;
    this.strip = null;
    this.draw();
  }

  resize() {
    const ratio = this.paper ? 3 : window.devicePixelRatio || 1;
    this.canvas.width = Math.round(this.width * ratio);
    this.canvas.height = Math.round(this.height * ratio);
    this.strip = null;
    this.paint();
  }

  /** Shows the whole graph on a page of this width, until it is called without. */
  print(width) {
    const { left, top, right, bottom } = this.box;
    if (!width) this.paper = null;
    else this.paper = { width, height: Math.max(220, Math.min(1.3 * width, 60 + (width * (bottom - top)) / (right - left))) };
    this.resize();
    if (width) this.fit();
    this.paint();
  }

  /** Shows the whole graph, or as much of its top as stays legible. */
  fit(legible) {
    if (!this.graph) return;
    const { left, top, right, bottom } = this.box, pad = 34, head = 46;
    const across = (this.innerWidth - 2 * pad) / (right - left), down = (this.height - pad - head) / (bottom - top);
    this.scale = Math.min(1.15, across, down);
    if (legible && this.scale < 0.85) this.scale = Math.max(0.85, Math.min(1, across));
    const spareX = this.innerWidth - (right - left) * this.scale;
    const spareY = this.height - head - (bottom - top) * this.scale;
    this.offset.x = (spareX > 2 * pad ? spareX / 2 : pad) - left * this.scale;
    this.offset.y = head + (spareY > pad ? Math.min(spareY / 2, 60) : 8) - top * this.scale;
    // If the graph does not fit, begin with the first operation.
    const first = this.graph.nodes.find(n => n.order >= 0);
    if (legible && first && (spareX < 0 || spareY < 0)) {
      if (spareX < 0) this.offset.x = Math.min(this.offset.x, 0.4 * this.innerWidth - (first.x + NODE.width / 2) * this.scale);
      if (spareY < 0) this.offset.y = Math.min(this.offset.y, head + 0.2 * this.height - first.y * this.scale);
    }
    this.draw();
  }

  zoom(factor, x = this.innerWidth / 2, y = this.height / 2) {
    const least = Math.min(0.03, (0.5 * this.height) / (this.box.bottom - this.box.top));
    const scale = Math.min(3, Math.max(least, this.scale * factor));
    const used = scale / this.scale;
    this.offset.x = x - (x - this.offset.x) * used;
    this.offset.y = y - (y - this.offset.y) * used;
    this.scale = scale;
    this.draw();
  }

  /** Brings a node into view. */
  reveal(node) {
    if (this.scale < 0.5) this.zoom(0.85 / this.scale);
    const x = (node.x + NODE.width / 2) * this.scale + this.offset.x, y = (node.y + NODE.height / 2) * this.scale + this.offset.y;
    const pad = 90;
    if (x < pad || x > this.innerWidth - pad) this.offset.x += this.innerWidth / 2 - x;
    if (y < pad || y > this.height - pad) this.offset.y += this.height / 2 - y;
    this.draw();
  }

  nodeAt(x, y) {
    if (y < HEAD) return null;
    const gx = (x - this.offset.x) / this.scale, gy = (y - this.offset.y) / this.scale;
    const slack = this.scale < 0.3 ? 3 / this.scale : 0;
    return this.graph.nodes.find(n => gx >= n.x - slack && gx <= n.x + NODE.width + slack && gy >= n.y - slack && gy <= n.y + NODE.height + slack) || null;
  }

  listen() {
    const { canvas } = this;
    const pointers = new Map();
    let moved = 0, onStrip = false;
    const at = event => {
      const box = canvas.getBoundingClientRect();
      return { x: event.clientX - box.left, y: event.clientY - box.top };
    };
    canvas.addEventListener("pointerdown", event => {
      const point = at(event);
      pointers.set(event.pointerId, point);
      canvas.setPointerCapture(event.pointerId);
      moved = 0;
      onStrip = this.hasStrip() && point.x > this.innerWidth;
      if (onStrip) this.goToStrip(point);
      canvas.classList.add("dragging");
    });
    canvas.addEventListener("pointermove", event => {
      const point = at(event), before = pointers.get(event.pointerId);
      if (!before) {
        const node = this.hasStrip() && point.x > this.innerWidth ? null : this.nodeAt(point.x, point.y);
        if (node !== this.hover) {
          this.hover = node;
          this.draw();
        }
        this.handlers.hover(node, point);
        return;
      }
      if (pointers.size === 2) {
        const other = [...pointers].find(([id]) => id !== event.pointerId)[1];
        const span = p => Math.hypot(p.x - other.x, p.y - other.y);
        this.zoom(span(point) / Math.max(1, span(before)), (point.x + other.x) / 2, (point.y + other.y) / 2);
        moved = 99;
      } else if (onStrip) {
        this.goToStrip(point);
      } else {
        moved += Math.abs(point.x - before.x) + Math.abs(point.y - before.y);
        this.offset.x += point.x - before.x;
        this.offset.y += point.y - before.y;
        this.draw();
      }
      pointers.set(event.pointerId, point);
    });
    const release = event => {
      const point = pointers.get(event.pointerId);
      pointers.delete(event.pointerId);
      canvas.classList.remove("dragging");
      if (event.type === "pointerup" && point && moved < 5 && !onStrip) this.handlers.select(this.nodeAt(point.x, point.y));
    };
    canvas.addEventListener("pointerup", release);
    canvas.addEventListener("pointercancel", release);
    canvas.addEventListener("pointerleave", () => {
      if (this.hover) {
        this.hover = null;
        this.draw();
      }
      this.handlers.hover(null);
    });
    canvas.addEventListener("dblclick", event => {
      const point = at(event);
      this.handlers.open(this.nodeAt(point.x, point.y));
    });
    canvas.addEventListener("wheel", event => {
      event.preventDefault();
      const point = at(event);
      if (event.shiftKey) {
        this.offset.x -= event.deltaY;
        this.draw();
      } else {
        this.zoom(Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.0016)), point.x, point.y);
      }
    }, { passive: false });
  }

  goToStrip(point) {
    const { left, right, top, bottom } = this.box;
    const gx = left + ((point.x - this.innerWidth - 6) / (STRIP - 12)) * (right - left);
    const gy = top + ((point.y - 8) / (this.height - 16)) * (bottom - top);
    if ((right - left) * this.scale > this.innerWidth) this.offset.x = this.innerWidth / 2 - gx * this.scale;
    this.offset.y = this.height / 2 - gy * this.scale;
    this.draw();
  }
}
