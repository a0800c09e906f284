// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The model of the page: indices, groups, and helpers for text. Text from the
// module becomes text nodes and never markup.
"use strict";

const root = document.documentElement;
window.addEventListener("error", event => {
  root.dataset.error ||= `${event.message} (line ${event.lineno})`;
});

const byId = id => document.getElementById(id);

/** An element with attributes and children; strings become text. */
function el(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (key === "on") for (const [type, run] of Object.entries(value)) element.addEventListener(type, run);
    else if (value === true) element.setAttribute(key, "");
    else if (value !== false && value != null) element.setAttribute(key, value);
  }
  element.append(...children.flat().filter(child => child != null && child !== false));
  return element;
}

const numberFormat = new Intl.NumberFormat("en");
const count = n => numberFormat.format(n);
const plural = (n, word, many) => `${count(n)} ${n === 1 ? word : many || word + "s"}`;

function bytes(n) {
  const size = Math.abs(n);
  if (size < 1000) return `${n} B`;
  const units = ["kB", "MB", "GB", "TB", "PB", "EB"];
  let scaled = n, unit = -1;
  while (Math.abs(scaled) >= 999.5 && unit < units.length - 1) {
    scaled /= 1000;
    ++unit;
  }
  return `${scaled.toFixed(Math.abs(scaled) < 10 ? 2 : Math.abs(scaled) < 100 ? 1 : 0)} ${units[unit]}`;
}
function flops(n) {
  const units = ["", "k", "M", "G", "T", "P", "E"];
  let unit = 0;
  while (Math.abs(n) >= 999.5 && unit < units.length - 1) {
    n /= 1000;
    ++unit;
  }
  return `${unit && Math.abs(n) < 100 ? n.toFixed(1) : Math.round(n)} ${units[unit]}FLOP`;
}
const percent = (part, whole) => (whole ? `${((100 * part) / whole).toFixed(part === whole ? 0 : 1)}%` : "–");
const signed = (n, format) => (n === 0 ? "0" : (n > 0 ? "+" : "−") + format(Math.abs(n)));

const report = JSON.parse(byId("data").textContent);
const LOW = report.lowType;
/** Whether amp-report added the errors of a run. */
const hasErrors = report.functions.some(fn => (fn.ops || []).some(op => op.diverged));
const PARTS = ["forward", "backward", "update"];
const PART_NAMES = { forward: "Forward", backward: "Backward", update: "Update" };

/** How the element type of a type is spelled: f32 of tensor<4x4xf32>. */
function elementOf(type) {
  const match = /(?:^|x|<)([a-z]\w*|complex<\w+>)(?:,.*)?>?$/.exec(type);
  return match ? match[1] : type;
}
const shapeOf = value =>
  value.shape ? (value.shape.length ? value.shape.map(n => n ?? "?").join("×") : "scalar") : "";

/** Everything the page asks of one function, in time linear in its size. */
function buildModel(fn) {
  const { ops, values, casts } = fn;
  const slots = new Map();
  for (const op of ops) {
    const dot = op.name.indexOf(".");
    op.label = dot < 0 ? op.name : op.name.slice(dot + 1);
    op.users = new Set();
    op.casts = 0;
    op.castsIn = new Map();
    let low = 0, wide = 0;
    op.bytesBefore = op.bytesAfter = 0;
    for (const slot of op.slots) {
      slot.op = op;
      if (slot.id) slots.set(slot.id, slot);
      op.bytesBefore += slot.bytesBefore;
      op.bytesAfter += slot.bytesAfter;
      if (slot.low === true) ++low;
      else if (slot.low === false) ++wide;
    }
    op.precision = low ? (wide ? "mixed" : "low") : wide ? "f32" : "fixed";
    // A product with low operands may have an f32 result at no cost.
    if (op.precision === "mixed" && op.slots.every(s => s.low !== false || s.rule === "wide-result"))
      op.precision = "low";
  }
  for (const op of ops) {
    op.flops = op.slots.reduce((sum, slot) => sum + (slot.flops || 0), 0);
    op.role = op.slots.some(s => s.kind === "compute") ? "product" : op.slots.some(s => s.low != null) ? "choice" : "kept";
  }
  for (const value of values) value.users = [];
  for (const op of ops)
    op.operands.forEach((id, operand) => {
      const value = values[id];
      value.users.push({ op, operand });
      if (value.op != null) ops[value.op].users.add(op.id);
    });
  for (const cast of casts) {
    values[cast.value].cast = cast;
    for (const user of cast.users) {
      ops[user.op].castsIn.set(user.operand, cast);
      ++ops[user.op].casts;
    }
    const producer = values[cast.value].op;
    if (producer != null) ops[producer].givesCast = true;
  }
  for (const op of ops) {
    const shown = op.results.map(id => values[id]).find(v => v.shape) || op.operands.map(id => values[id]).find(v => v.shape);
    op.shape = shown ? shapeOf(shown) : "";
    op.type = shown ? elementOf(shown.typeAfter) : "";
    const measured = op.results.map(id => values[id].measured).filter(Boolean);
    op.error = measured.length ? Math.max(...measured.map(m => (m.overflows ? Infinity : m.error))) : null;
    // The errors of a run have priority over those of rounding one value.
    if (hasErrors) op.error = op.diverged ? (op.diverged.error === "inf" ? Infinity : op.diverged.error) : null;
    const rules = op.slots.map(s => s.rule);
    op.text = [op.name, op.scope, op.location, op.shape, op.part, `#${op.id}`, ...rules,
      ...op.results.map(id => values[id].name)].filter(Boolean).join(" ").toLowerCase();
  }
  const model = { fn, ops, values, casts, slots, groups: new Map() };
  findGroups(model);
  markChanges(model);
  findRepeats(model);
  return model;
}

/** The slot that decides on the root cause of `slot`, if there is one. */
const causeOf = (model, slot) => (slot.cause ? model.slots.get(slot.cause) : null);

/** The slots from `slot`, exclusive, to its root cause. */
function causePath(model, slot) {
  const path = [];
  const seen = new Set();
  for (let at = slot; at && at.via && !seen.has(at.id); ) {
    seen.add(at.id);
    at = model.slots.get(at.via);
    if (at) path.push(at);
  }
  return path;
}

/**
 * Groups: parts of location scopes ("encoder/layer3"), by part of the step, and
 * operations with regions. Those with a single member are none.
 */
function findGroups(model) {
  const groups = model.groups;
  const join = (key, title, parent, op) => {
    let group = groups.get(key);
    if (!group) {
      group = { key, title, parent, part: op.part, order: op.id, ops: 0, casts: 0, depth: parent ? parent.depth + 1 : 1,
        bytes: { low: 0, f32: 0, mixed: 0, fixed: 0 } };
      groups.set(key, group);
    }
    return group;
  };
  for (const op of model.ops) {
    let top = op;
    const regions = [];
    if (op.parent == null && op.hasRegion) regions.unshift(op);
    for (let at = op; at.parent != null; at = model.ops[at.parent]) {
      top = model.ops[at.parent];
      regions.unshift(top);
      top.hasRegion = true;
    }
    let group = null;
    if (top.scope) {
      let path = "";
      for (const part of top.scope.split("/").slice(0, 6)) {
        path += (path ? "/" : "") + part;
        group = join(`${op.part}|${path}`, path, group, op);
      }
    }
    for (const region of regions)
      group = join(`region|${region.id}`, `${region.label} #${region.id}`, group, region);
    op.group = group;
  }
  // An operation with a region belongs to the group of the region.
  for (const op of model.ops)
    if (op.hasRegion) op.group = groups.get(`region|${op.id}`) || op.group;
  for (const op of model.ops)
    for (let group = op.group; group; group = group.parent) {
      ++group.ops;
      group.casts += op.casts;
      group.bytes[op.precision] += Math.max(op.bytesBefore, 1);
    }
  for (const op of model.ops) {
    const chain = [];
    for (let group = op.group; group; group = group.parent) if (group.ops > 1) chain.unshift(group);
    op.chain = chain;
  }
}

/** The measured error in what an operation returns, as colours: of a run against f32, or of the low type alone. */
const errorClasses = {
  beyond: { color: "#d55e00", text: hasErrors ? "differs by more than 10 % from f32" : "measured: leaves the range of the low type" },
  lost: { color: "#e69f00", text: hasErrors ? "differs by more than 1 % from f32" : "measured: loses more than 1 % in the low type" },
  fits: { color: "#0072b2", text: hasErrors ? "differs by at most 1 % from f32" : "measured: fits the low type" },
};
const mostLost = hasErrors ? 0.1 : Number.MAX_VALUE;
const errorClass = op => (op.error == null ? null : op.error > mostLost ? "beyond" : op.error > 0.01 ? "lost" : "fits");

/** What there is to decide of an operation, in the order of the list. */
const roleTitles = { product: "Products", choice: "Other operations with a choice", kept: "Operations whose types never change" };

/** Which operations a search and a filter leave. */
function matcher(model, query, show) {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  const tests = words.map(word => {
    const [key, ...rest] = word.split(":");
    const wanted = rest.join(":");
    if (rest.length && key === "rule") return op => op.slots.some(s => s.rule === wanted);
    if (rest.length && key === "class") return op => op.slots.some(s => s.class === wanted);
    if (rest.length && key === "kind") return op => op.slots.some(s => s.kind === wanted);
    if (rest.length && key === "part") return op => op.part === wanted;
    if (rest.length && key === "is" && errorClasses[wanted]) return op => errorClass(op) === wanted;
    if (rest.length && key === "is" && wanted in roleTitles) return op => op.role === wanted;
    if (rest.length && key === "is" && wanted === "changed") return op => Boolean(op.changed);
    if (rest.length && key === "is") return op => op.precision === wanted || (wanted === "cast" && (op.casts || op.givesCast));
    if (rest.length && key === "cause")
      return op => op.slots.some(s => causeOf(model, s)?.op.name.toLowerCase() === wanted);
    return op => op.text.includes(word);
  });
  const shows = {
    all: () => true,
    casts: op => op.casts > 0 || op.givesCast,
    changed: op => Boolean(op.changed),
    f32: op => op.precision === "f32" || op.precision === "mixed",
  };
  const shown = shows[show] || (op => op.precision === show);
  return op => shown(op) && tests.every(test => test(op));
}
