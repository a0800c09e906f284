// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Figures and tables below the graph.
"use strict";

/**
 * A table whose columns sort: each has a title, a cell and, if it sorts, a key.
 * The first number sorts downwards.
 */
function fillTable(table, columns, rows, sorted) {
  let { column, descending } = sorted || { column: -1 };
  const body = el("tbody");
  const heads = columns.map((c, i) => {
    if (!c.key) return el("th", { scope: "col", class: c.number ? "number" : null }, c.title);
    return el("th", { scope: "col", class: c.number ? "number" : null, "aria-sort": "none" },
      el("button", { type: "button", on: { click: () => {
        descending = column === i ? !descending : Boolean(c.number);
        column = i;
        fill();
      } } }, c.title));
  });
  const fill = () => {
    const order = [...rows];
    if (column >= 0) {
      const key = columns[column].key;
      order.sort((a, b) => (descending ? -1 : 1) * (key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : 0));
    }
    heads.forEach((head, i) => columns[i].key && head.setAttribute("aria-sort", i !== column ? "none" : descending ? "descending" : "ascending"));
    body.replaceChildren(...order.map(row => el("tr", { class: row.chosen ? "chosen" : null },
      columns.map((c, i) => el(i === 0 ? "th" : "td", { scope: i === 0 ? "row" : null, class: c.number ? "number" : null }, c.cell(row))))));
  };
  fill();
  table.replaceChildren(el("thead", {}, el("tr", {}, heads)), body);
}

const empty = (table, text) => table.replaceChildren(el("tbody", {}, el("tr", {}, el("td", { class: "muted" }, text))));

function gains(entry) {
  if (!entry.lowValues && !entry.cost) return "nothing more would be low";
  return `${signed(entry.lowValues, n => plural(n, "value"))} low (${signed(entry.lowValueBytes, bytes)}), cost ${signed(entry.cost, bytes)}`;
}

function showFigures(model) {
  const wide = model.fn.strategies.find(s => s.name === "f32"), chosen = model.fn.strategies.find(s => s.chosen);
  const figure = (label, value, note, share) => el("div", { class: "figure" },
    el("div", { class: "label" }, label), el("div", { class: "value" }, value, note ? el("small", {}, ` ${note}`) : null),
    share == null ? null : el("div", { class: "meter", role: "img", "aria-label": `${Math.round(100 * share)}%` }, meterFill(share)));
  const f32Ops = model.ops.filter(op => op.precision === "f32" || op.precision === "mixed").length;
  byId("figures").replaceChildren(
    figure(`Values in ${LOW}, by bytes`, percent(chosen.lowValueBytes, chosen.valueBytes), `${count(chosen.lowValues)} of ${plural(chosen.values, "value")}`,
      chosen.valueBytes ? chosen.lowValueBytes / chosen.valueBytes : 0),
    ...(chosen.flops ? [figure(`Products in ${LOW}, by FLOPs`, percent(chosen.lowFlops, chosen.flops),
      `${flops(chosen.lowFlops)} of ${flops(chosen.flops)}`, chosen.lowFlops / chosen.flops)] : []),
    figure("Bytes moved", bytes(chosen.bytes), `${bytes(wide.bytes)} in f32`, wide.bytes ? 1 - chosen.bytes / wide.bytes : 0),
    figure("Casts", count(chosen.casts), chosen.casts ? `moving ${bytes(chosen.castBytes)}` : ""),
    figure("Operations with a slot kept in f32", count(f32Ops), `of ${count(model.ops.length)}`));
}

function meterFill(share) {
  const fill = el("i");
  fill.style.width = `${Math.max(0, Math.min(100, 100 * share))}%`;
  return fill;
}

/** Slots that hold f32 afterwards, by rule and by the operation at its root. */
function whyGroups(model) {
  const groups = new Map();
  for (const op of model.ops)
    for (const slot of op.slots) {
      if (slot.low === true) continue;
      const holds = [...(slot.operands || []).map(i => op.operands[i]), ...(slot.results || []).map(i => op.results[i]), ...(slot.values || [])];
      if (!holds.some(id => elementOf(model.values[id].typeBefore) === "f32")) continue;
      const cause = causeOf(model, slot);
      const root = cause && cause.op !== op ? cause.op.name : "";
      const key = `${slot.rule}|${root}|${slot.low === false}`;
      let group = groups.get(key);
      if (!group) groups.set(key, (group = { rule: slot.rule, root, decided: slot.low === false, slots: 0, bytes: 0, ops: new Map() }));
      ++group.slots;
      group.bytes += slot.bytesAfter;
      group.ops.set(op.name, (group.ops.get(op.name) || 0) + 1);
    }
  return [...groups.values()];
}

/** Slots in f32: those with a choice, and those that no strategy may change. */
function showWhy(model, search) {
  const all = whyGroups(model);
  const decided = all.filter(g => g.decided), kept = all.filter(g => !g.decided);
  const total = groups => groups.reduce((sum, g) => sum + g.bytes, 0);
  byId("why-note").textContent = decided.length
    ? `Slots with a choice that hold f32 values afterwards, with the bytes that they read and write: ${bytes(total(decided))} in total.`
    : "Every slot with a choice is low.";
  byId("kept-note").textContent = `Slots that no strategy may change, such as statistics of norms and gradients of parameters: ${bytes(total(kept))} in total.`;
  fillWhy(byId("why-table"), decided, total(decided), search);
  fillWhy(byId("kept-table"), kept, total(kept), search);
}

function fillWhy(table, groups, total, search) {
  if (!groups.length) return empty(table, "No slot is f32.");
  const names = group => [...group.ops].sort((a, b) => b[1] - a[1]);
  fillTable(table, [
    { title: "Why", key: g => ruleText(g.rule), cell: g => [ruleText(g.rule), " ",
        el("button", { type: "button", class: "link ops why-show", title: "Show these operations in the graph",
          on: { click: () => search(`rule:${g.rule}${g.root ? ` cause:${g.root}` : ""}`) } }, "show")] },
    { title: "Root cause", key: g => g.root, cell: g => g.root ? code(g.root) : el("span", { class: "muted" }, g.decided ? "itself" : "–") },
    { title: "Operations", key: g => names(g)[0][0], cell: g => {
        const all = names(g);
        return el("span", { class: "ops" }, all.slice(0, 4).map(([name, n], i) => [i ? ", " : "", code(name), n > 1 ? ` ×${count(n)}` : ""]).flat(),
          all.length > 4 ? `, ${plural(all.length - 4, "other")}` : "");
      } },
    { title: "Slots", number: true, key: g => g.slots, cell: g => count(g.slots) },
    { title: "Bytes", number: true, key: g => g.bytes, cell: g => bytes(g.bytes) },
    { title: "Share", number: true, key: g => g.bytes, cell: g => {
        const bar = el("span", { class: "inline-meter" }, meterFill(total ? g.bytes / total : 0));
        return [bar, percent(g.bytes, total)];
      } },
  ], groups, { column: 4, descending: true });
}

function showStrategies(model, go) {
  const rows = model.fn.strategies, wide = rows.find(s => s.name === "f32");
  const chosen = rows.find(s => s.chosen);
  const target = report.target;
  byId("strategies-note").textContent =
    `All strategies work on the same graph. The cost is the quantity that “optimal” minimizes: bytes moved${target ? `, and the time of products as bytes, for ${target.name || "the policy's target"} (${target.f32FlopPerByte} f32 and ${target.lowFlopPerByte} ${LOW} operations in the time of one byte)` : "; without a target, products take no time"}. Only slots with a choice count. A dynamic extent counts as 32.`;
  fillTable(byId("strategies-table"), [
    { title: "Strategy", cell: s => [s.name, s.chosen ? el("span", { class: "muted" }, " (chosen)") : s.name === "f32" ? el("span", { class: "muted" }, " (nothing low)") : null] },
    { title: "Low slots", number: true, cell: s => `${count(s.lowSlots)} of ${count(s.slots)}` },
    { title: "Low values, by bytes", number: true, cell: s => percent(s.lowValueBytes, s.valueBytes) },
    { title: "Low products, by FLOPs", number: true, cell: s => percent(s.lowFlops, s.flops) },
    { title: "Casts", number: true, cell: s => count(s.casts) },
    { title: "Bytes of casts", number: true, cell: s => bytes(s.castBytes) },
    { title: "Bytes moved", number: true, cell: s => bytes(s.bytes) },
    { title: "Cost", number: true, cell: s => bytes(s.cost) },
    { title: "Cost against f32", number: true, cell: s => percent(s.cost, wide.cost) },
    { title: "Violated constraints", number: true, cell: s => s.violated ? count(s.violated) : "none" },
  ], rows.map(s => ({ ...s, chosen: s === chosen })));
  byId("violations").replaceChildren(...rows.filter(s => s.violated).map(s =>
    el("details", { class: "more" }, el("summary", {}, `${plural(s.violated, "hard constraint")} that “${s.name}” violates`),
      el("ul", {}, s.violations.map(v => {
        const slot = model.slots.get(v.slot);
        return el("li", {}, slot ? opLink(slot.op, go) : "", ` slot ${slot ? slot.slot : v.slot}: ${v.constraint}`);
      }), s.violated > s.violations.length ? el("li", { class: "muted" }, `${count(s.violated - s.violations.length)} more`) : null))));
}

function showWhatIf(model, search) {
  const { reclassified, bound, candidates } = model.fn.whatIf;
  byId("what-if-note").textContent =
    `Each line is a new assignment with every operation of that name in another list. ` +
    (candidates > bound ? `The table has the ${bound} names with most bytes in f32, of ${candidates}.` : `The table has all ${plural(candidates, "name")} that the policy keeps in f32.`);
  if (!reclassified.length) return empty(byId("what-if-table"), "The policy keeps no operation in f32.");
  fillTable(byId("what-if-table"), [
    { title: "Operation", key: e => e.op, cell: e => el("button", { type: "button", class: "link", on: { click: () => search(e.op) } }, code(e.op)) },
    { title: "List", key: e => `${e.from}${e.to}`, cell: e => `${e.from} → ${e.to}` },
    { title: "f32 slots", number: true, key: e => e.slots, cell: e => count(e.slots) },
    { title: "f32 bytes", number: true, key: e => e.bytes, cell: e => bytes(e.bytes) },
    { title: "More values low", number: true, key: e => e.lowValues, cell: e => signed(e.lowValues, count) },
    { title: "More bytes low", number: true, key: e => e.lowValueBytes, cell: e => signed(e.lowValueBytes, bytes) },
    { title: "Casts", number: true, key: e => e.casts, cell: e => signed(e.casts, count) },
    { title: "Cost", number: true, key: e => -e.cost, cell: e => el("span", { class: e.cost < 0 ? "good" : null }, signed(e.cost, bytes)) },
  ], reclassified, { column: 7, descending: true });
}

function showCasts(model, go) {
  const most = 200;
  const rows = [...model.casts].sort((a, b) => b.bytes - a.bytes).slice(0, most);
  byId("casts-note").textContent = `There is one cast per value and type for any number of readers. ${model.casts.length > most ? `The table has the ${most} largest of ${count(model.casts.length)}.` : ""}`;
  if (!rows.length) return empty(byId("casts-table"), "No cast.");
  const source = cast => model.values[cast.value];
  fillTable(byId("casts-table"), [
    { title: "Value", key: c => source(c).label || source(c).name, cell: c => {
        const value = source(c);
        return [code(value.label || value.name), value.op == null ? el("span", { class: "muted" }, " argument") : [" of ", opLink(model.ops[value.op], go)]].flat();
      } },
    { title: "Type", key: c => c.from, cell: c => [typeTag(c.from === LOW, c.from), " → ", typeTag(c.to === LOW, c.to)] },
    { title: "Shape", key: c => shapeOf(source(c)), cell: c => shapeOf(source(c)) },
    { title: "Read by", key: c => c.users.length, cell: c => {
        const users = c.users.slice(0, 3).map((user, i) => [i ? ", " : "", opLink(model.ops[user.op], go)]).flat();
        return c.users.length > 3 ? [...users, ` and ${count(c.users.length - 3)} more`] : users;
      } },
    { title: "Bytes moved", number: true, key: c => c.bytes, cell: c => bytes(c.bytes) },
  ], rows, { column: 4, descending: true });
}
