// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Repeats: identical layers that follow one another in a part of the step. The
// graph shows the first copy in a frame with the number of copies.
"use strict";

const REPEAT = { shortest: 4, copies: 3, most: 16, longest: 30000 };

/** Text that is equal for operations with the same types and decisions. */
function describeOp(model, op) {
  const types = ids => ids.map(id => model.values[id].typeBefore + model.values[id].typeAfter).join();
  const casts = [...op.castsIn].map(([operand, cast]) => operand + cast.to).join();
  const slots = op.slots.map(s => `${s.slot}${s.kind}${s.low}${s.rule}${s.change ? "changed" : ""}`).join();
  return [op.name, types(op.operands), types(op.results), casts, slots].join("|");
}

/** Runs in which each element equals the one `period` later, for every period. */
function findRuns(sequence) {
  const runs = [];
  const size = sequence.length;
  if (size > REPEAT.longest) return runs;
  for (let period = REPEAT.shortest; period * REPEAT.copies <= size; ++period)
    for (let i = 0; i + period < size; ) {
      let end = i;
      while (end + period < size && sequence[end] === sequence[end + period]) ++end;
      if (end - i >= (REPEAT.copies - 1) * period) runs.push({ start: i, end: end + period, period });
      i = end + 1;
    }
  return runs;
}

/** The numbers in a scope, which differ between layers. */
const scopeNumbers = op => (op.scope || "").match(/\d+/g)?.join() || "";

/** Moves the start of a run to the begin of a layer, if scopes show one. */
function alignRun(members, { start, end, period }) {
  const spare = (end - start) % period;
  for (let i = start; i <= start + spare; ++i)
    if (i > 0 && members[i].scope && scopeNumbers(members[i]) !== scopeNumbers(members[i - 1])) return i;
  return start;
}

/** The copies from the first one on whose operands come from the same places. */
function countCopies(model, members, places, start, period, copies) {
  const source = (index, operand) => {
    const producer = model.values[members[index].operands[operand]].op;
    const at = producer == null ? undefined : places.get(producer);
    const first = index - ((index - start) % period);
    return at != null && at >= first && at < first + period ? at - first : -1;
  };
  for (let copy = 1; copy < copies; ++copy)
    for (let i = start; i < start + period; ++i)
      for (let operand = 0; operand < members[i].operands.length; ++operand)
        if (source(i, operand) !== source(i + copy * period, operand)) return copy;
  return copies;
}

/** The name of a repeat: encoder/layer0…11 for scopes that differ in a number. */
function repeatTitle(first, last) {
  if (!first || !last || first === last) return "";
  const words = /\d+|\D+/g, a = first.match(words), b = last.match(words);
  const at = a.findIndex((word, i) => word !== b[i]);
  return at < 0 || !/^\d+$/.test(a[at]) || !/^\d+$/.test(b[at] || "") ? "" : `${a.slice(0, at + 1).join("")}…${b[at]}`;
}

/** Sets `model.repeats`, and `repeat` and `copyOf` of the operations in them. */
function findRepeats(model) {
  model.repeats = [];
  const numbers = new Map();
  for (const part of PARTS) {
    const members = model.ops.filter(op => op.part === part);
    const places = new Map(members.map((op, i) => [op.id, i]));
    const sequence = members.map((op, i) => {
      // An operation with regions is unlike any other.
      const text = op.hasRegion || op.parent != null ? `${part}${i}` : describeOp(model, op);
      if (!numbers.has(text)) numbers.set(text, numbers.size);
      return numbers.get(text);
    });
    let runs = findRuns(sequence);
    for (let round = 0; round < REPEAT.most && runs.length; ++round) {
      const hidden = run => (Math.floor((run.end - run.start) / run.period) - 1) * run.period;
      const best = runs.reduce((a, b) => (hidden(b) > hidden(a) ? b : a));
      const start = alignRun(members, best), { period } = best;
      const copies = countCopies(model, members, places, start, period, Math.floor((best.end - start) / period));
      const end = start + Math.max(1, copies) * period;
      if (copies >= REPEAT.copies) {
        const ops = members.slice(start, end);
        const repeat = { key: `repeat|${ops[0].id}`, part, copies, period, ops,
          title: repeatTitle(ops[0].scope, ops[ops.length - period].scope) };
        ops.forEach((op, i) => {
          op.repeat = repeat;
          op.copyOf = ops[i % period];
        });
        model.repeats.push(repeat);
      }
      // Continue with the operations before and after it.
      runs = runs.flatMap(run => [{ ...run, end: Math.min(run.end, start) }, { ...run, start: Math.max(run.start, end) }])
        .filter(run => run.end - run.start >= REPEAT.copies * run.period);
    }
  }
}

/** The operation that stands for `op` in the graph. */
const shownOp = (op, closed) => (op.repeat && closed.has(op.repeat.key) ? op.copyOf : op);
