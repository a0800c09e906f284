// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The differences from another report, on a page that amp-report writes.
"use strict";

/** Gives each changed slot its decision in the other report. */
function markChanges(model) {
  const index = report.functions.indexOf(model.fn);
  model.changes = report.differences?.functions.find(f => f.index === index) || null;
  for (const entry of model.changes?.slots || []) {
    const op = model.ops[entry.op];
    const slot = op?.slots.find(s => String(s.slot) === entry.slot);
    if (!slot) continue;
    slot.change = entry;
    op.changed = true;
  }
}

const settingsText = s => [`policy ${s.policy}`, `strategy ${s.strategy}`, s.lowType, s.target ? `target ${s.target.name || "of the policy"}` : ""]
  .filter(Boolean).join(", ");
const decisionText = d => [typeTag(d.type ? d.type !== "f32" : null, d.type || "keeps its type"), ` ${ruleText(d.rule)}`,
  d.cause ? [" (", code(d.cause), ")"] : ""].flat();

function showChanges(model, search) {
  const { changes } = model;
  byId("changes").hidden = !report.differences;
  if (!report.differences) return;
  const { before, after } = report.differences;
  byId("changes-note").textContent = `Before: ${settingsText(before)}. After: ${settingsText(after)}.` +
    (changes ? ` ${plural(changes.slots.length, "slot")} changed the type, ${count(changes.otherRules)} kept it by another rule.` : "") +
    (changes && (changes.onlyBefore || changes.onlyAfter)
      ? ` ${plural(changes.onlyBefore, "operation")} only before, ${count(changes.onlyAfter)} only after.` : "");
  if (!changes) return empty(byId("changes-totals"), "The first report does not have this function.");
  const titles = { lowSlots: ["Low slots", count], lowValues: ["Low values", count], lowValueBytes: ["Low values, by bytes in f32", bytes],
    lowFlops: ["FLOPs of low products", flops], casts: ["Casts", count], castBytes: ["Bytes of casts", bytes],
    bytes: ["Bytes moved", bytes], cost: ["Cost", bytes] };
  const rows = Object.entries(titles).filter(([key]) => changes.totals[key]);
  fillTable(byId("changes-totals"), [
    { title: "", cell: ([, [title]]) => title },
    { title: "Before", number: true, cell: ([key, [, format]]) => format(changes.totals[key][0]) },
    { title: "After", number: true, cell: ([key, [, format]]) => format(changes.totals[key][1]) },
    { title: "Difference", number: true, cell: ([key, [, format]]) => signed(changes.totals[key][1] - changes.totals[key][0], format) },
  ], rows);
  const groups = new Map();
  for (const slot of changes.slots) {
    const key = JSON.stringify([slot.name, slot.kind, slot.before, slot.after].map(d => (d.rule ? [d.type, d.rule, d.cause] : d)));
    if (!groups.has(key)) groups.set(key, { ...slot, slots: 0, saved: 0 });
    const group = groups.get(key);
    ++group.slots;
    group.saved += slot.after.bytes - slot.before.bytes;
  }
  if (!groups.size) return empty(byId("changes-table"), "No slot changed its type.");
  fillTable(byId("changes-table"), [
    { title: "Operation", key: g => g.name, cell: g => el("button", { type: "button", class: "link",
      on: { click: () => search(`is:changed ${g.name} rule:${g.after.rule}`) } }, code(g.name)) },
    { title: "Kind", key: g => g.kind, cell: g => g.kind },
    { title: "Before", key: g => g.before.rule, cell: g => decisionText(g.before) },
    { title: "After", key: g => g.after.rule, cell: g => decisionText(g.after) },
    { title: "Slots", number: true, key: g => g.slots, cell: g => count(g.slots) },
    { title: "Bytes", number: true, key: g => Math.abs(g.saved), cell: g => signed(g.saved, bytes) },
  ], [...groups.values()], { column: 5, descending: true });
}
