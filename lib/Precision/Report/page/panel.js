// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The panel beside the graph: the list of operations, and the details of one.
"use strict";

const precisionName = { low: LOW, f32: "f32", mixed: `${LOW} + f32`, fixed: "fixed" };
const ruleText = rule => report.rules[rule] || rule;
const code = text => el("code", {}, text);

/** A list of any length, of which only what is in view is in the page. */
class OpList {
  constructor(select) {
    this.box = byId("list");
    this.space = byId("list-space");
    this.rows = byId("list-rows");
    this.select = select;
    this.items = [];
    this.active = 0;
    this.rowHeight = 48;
    this.box.addEventListener("scroll", () => this.render());
    new ResizeObserver(() => this.render()).observe(this.box);
    this.box.addEventListener("keydown", event => {
      const page = Math.max(1, Math.floor(this.box.clientHeight / this.rowHeight) - 1);
      const moves = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity };
      if (event.key in moves) {
        event.preventDefault();
        this.setActive(Math.min(this.items.length - 1, Math.max(0, this.active + moves[event.key])));
      } else if (event.key === "Enter" && this.items[this.active]) {
        event.preventDefault();
        this.select(this.items[this.active]);
      }
    });
  }

  /** Shows operations by what there is to decide, with a title for each kind. */
  set(ops) {
    this.items = Object.entries(roleTitles).flatMap(([role, title]) => {
      const members = ops.filter(op => op.role === role);
      return members.length ? [{ title, size: members.length }, ...members] : [];
    });
    this.space.style.height = `${this.items.length * this.rowHeight}px`;
    this.box.scrollTop = 0;
    this.setActive(0);
  }

  get first() { return this.items[1]; }

  setActive(index) {
    // A title cannot be selected.
    const step = index < this.active && index > 0 ? -1 : 1;
    while (this.items[index]?.title) index += step;
    this.active = index;
    const top = index * this.rowHeight;
    if (top < this.box.scrollTop) this.box.scrollTop = top;
    else if (top + this.rowHeight > this.box.scrollTop + this.box.clientHeight) this.box.scrollTop = top + this.rowHeight - this.box.clientHeight;
    this.render();
  }

  render() {
    const first = Math.max(0, Math.floor(this.box.scrollTop / this.rowHeight) - 3);
    const last = Math.min(this.items.length, first + Math.ceil(this.box.clientHeight / this.rowHeight) + 7);
    this.rows.style.top = `${first * this.rowHeight}px`;
    this.rows.replaceChildren(...this.items.slice(first, last).map((op, i) => op.title
      ? el("div", { class: "row section", role: "presentation" }, el("span", {}, op.title), el("span", { class: "size" }, count(op.size))) :
      el("div", { class: "row", role: "option", id: `row-${first + i}`, "aria-selected": String(first + i === this.active),
          "aria-setsize": this.items.length, "aria-posinset": first + i + 1,
          on: { click: () => { this.active = first + i; this.select(op); } } },
        el("span", { class: `chip ${op.precision}`, title: precisionName[op.precision] }),
        el("span", { class: "name" }, code(op.name)),
        el("span", { class: "size" }, op.bytesAfter ? bytes(op.bytesAfter) : ""),
        el("span", { class: "sub" }, [precisionName[op.precision], op.shape, op.scope || op.location].filter(Boolean).join(" · ")))));
    if (this.items.length) this.box.setAttribute("aria-activedescendant", `row-${this.active}`);
    else this.box.removeAttribute("aria-activedescendant");
  }
}

function opLink(op, go, text) {
  return el("button", { type: "button", class: "link", on: { click: () => go(op) } }, code(text || `${op.name} #${op.id}`));
}

function typeTag(low, text) {
  return el("span", { class: `tag ${low === true ? "low" : low === false ? "f32" : ""}` }, text);
}

function showBytes(slot) {
  if (!slot.bytesBefore) return "";
  return slot.bytesAfter === slot.bytesBefore ? bytes(slot.bytesBefore) : `${bytes(slot.bytesBefore)} → ${bytes(slot.bytesAfter)}`;
}

/** One slot: its type, the rule, and what the decision follows from. */
function slotCard(model, op, slot, go) {
  const name = slot.slot === "carried" ? "carried values" : `slot ${slot.slot}`;
  const names = [...(slot.operands || []).map(i => `operand ${i}`), ...(slot.results || []).map(i => `result ${i}`),
    ...(slot.values || []).map(id => model.values[id].name)];
  const path = causePath(model, slot);
  const most = 10;
  return el("div", { class: "slot" },
    el("div", { class: "head" },
      typeTag(slot.low, slot.low === true ? LOW : slot.low === false ? "f32" : "keeps its type"),
      el("strong", {}, name), el("span", { class: "muted" }, `${slot.kind}${slot.class ? `, ${slot.class}` : ""}`),
      el("span", { class: "bytes" }, showBytes(slot))),
    el("div", {}, ruleText(slot.rule)),
    slot.flops ? el("div", { class: "muted" }, flops(slot.flops)) : null,
    slot.change ? el("div", {}, "Before: ", decisionText(slot.change.before)) : null,
    slot.note ? el("div", { class: "muted" }, slot.note) : null,
    names.length ? el("div", { class: "muted" }, names.slice(0, 8).join(", ") + (names.length > 8 ? ` and ${names.length - 8} more` : "")) : null,
    path.length
      ? [el("div", { class: "muted" }, path.length > 1 ? `Because of, over ${path.length} steps:` : "Because of:"),
          el("ol", { class: "path" },
            (path.length > most ? [...path.slice(0, most - 1), null, path[path.length - 1]] : path).map(at =>
              at ? el("li", {}, opLink(at.op, go), ` ${ruleText(at.rule)}`) : el("li", { class: "muted" }, `${path.length - most} more`)))]
      : null);
}

/** The measured range of a value, and the effect of the low type. */
function measuredText(value) {
  const m = value.measured;
  if (!m) return null;
  const size = x => x === 0 ? "0" : x.toExponential(1);
  const lost = m.zeroShare > 0 ? `, ${(100 * m.zeroShare).toPrecision(2)} % become zero` : "";
  return el("div", { class: `muted${m.overflows ? " bad" : ""}` },
    `measured ${size(m.smallest)} to ${size(m.largest)}` + (m.lossScale ? ` times the loss scale ${m.lossScale}` : "") +
    `; error as ${LOW}: ${size(m.error)}${lost}${m.overflows ? ", leaves its range" : ""}`);
}

function valueItem(model, value, operand, cast, go) {
  const from = elementOf(value.typeBefore), to = elementOf(cast ? cast.to : value.typeAfter);
  const producer = value.op == null ? null : model.ops[value.op];
  return el("li", {},
    el("span", { class: "muted" }, operand), code(value.name),
    producer && operand.startsWith("operand") ? ["of ", opLink(producer, go, `${producer.label} #${producer.id}`)] : value.label ? el("span", {}, value.label) : null,
    cast ? typeTag(null, `cast ${cast.from} → ${cast.to}`) : null,
    el("span", { class: "types" }, shapeOf(value), " ", from === to || cast ? to : `${from} → ${to}`),
    measuredText(value));
}

const errorText = error => (error === "inf" ? "infinite" : `${(100 * error).toPrecision(2)} %`);

/** Everything about one operation. */
function showDetails(model, op, go, back, openRepeat) {
  const whatIf = (model.fn.whatIf.reclassified || []).filter(entry => entry.op === op.name);
  const forward = op.backwardOf != null ? model.ops[op.backwardOf] : null;
  const users = [...op.users].map(id => model.ops[id]);
  const list = (title, items) => items.length ? [el("h4", {}, title), el("ul", { class: "io" }, items)] : null;
  const most = 24;
  const some = items => items.length > most ? [...items.slice(0, most), el("li", { class: "muted" }, `${items.length - most} more`)] : items;
  const parts = [
    el("button", { type: "button", class: "link", on: { click: back } }, "← All operations"),
    el("h3", {}, code(op.name), el("span", { class: "muted" }, ` #${op.id}`)),
    el("p", {}, typeTag(op.precision === "low" ? true : op.precision === "f32" ? false : null, precisionName[op.precision]), " ",
      el("span", { class: "muted" }, `${PART_NAMES[op.part]} pass${op.bytesBefore ? `, ${showBytes(op)}` : ""}`)),
    op.scope ? el("p", { class: "meta" }, op.scope) : null,
    op.location ? el("p", { class: "meta" }, op.location) : null,
    forward ? el("p", { class: "meta" }, "Gradient of ", opLink(forward, go)) : null,
    op.repeat ? el("p", {}, `In ${op.repeat.copies} identical layers. `,
      el("button", { type: "button", class: "link", on: { click: () => openRepeat(op) } }, "Open or close them")) : null,
    op.diverged ? el("p", {}, `Error against f32: ${errorText(op.diverged.error)}, of which the operation adds ${errorText(op.diverged.added)}.`) : null,
    op.pin ? el("p", {}, "Pinned: ", code(`amp.precision = "${op.pin}"`)) : null,
    op.unlisted ? el("p", {}, "No list of the policy names this operation.") : null,
    op.slots.length ? el("h4", {}, "Slots") : el("p", { class: "muted" }, "No precision slots: the operation keeps its types."),
    op.slots.map(slot => slotCard(model, op, slot, go)),
    list("Operands", some(op.operands.map((id, i) => valueItem(model, model.values[id], `operand ${i}`, op.castsIn.get(i), go)))),
    list("Results", some(op.results.map((id, i) => valueItem(model, model.values[id], `result ${i}`, null, go)))),
    list("Read by", some(users.map(user => el("li", {}, opLink(user, go))))),
    whatIf.length ? [el("h4", {}, "If it were reclassified"), el("ul", { class: "io" }, whatIf.map(entry =>
      el("li", {}, `${entry.from} → ${entry.to}: ${gains(entry)}`)))] : null,
  ];
  byId("details").replaceChildren(...parts.flat(3).filter(Boolean));
  byId("details").scrollTop = 0;
}

/** A closed group: what is in it. */
function showGroup(model, group, go, back, open) {
  const members = group.members;
  const sums = ["low", "mixed", "f32", "fixed"].map(key => [key, members.filter(op => op.precision === key).length]).filter(([, n]) => n);
  byId("details").replaceChildren(
    el("button", { type: "button", class: "link", on: { click: back } }, "← All operations"),
    el("h3", {}, group.title),
    el("p", { class: "muted" }, `${PART_NAMES[group.part]} pass, ${plural(group.ops, "operation")}, ${plural(group.casts, "cast operand")}`),
    el("p", {}, sums.map(([key, n]) => [el("span", { class: `chip ${key}` }), ` ${count(n)} ${precisionName[key]}  `]).flat()),
    el("p", {}, el("button", { type: "button", on: { click: () => open(group) } }, "Open this group")),
    el("ul", { class: "io" }, members.slice(0, 200).map(op => el("li", {}, el("span", { class: `chip ${op.precision}` }), opLink(op, go))),
      members.length > 200 ? el("li", { class: "muted" }, `${count(members.length - 200)} more`) : null));
}

/** An argument of the function. */
function showArgument(model, value, go, back) {
  byId("details").replaceChildren(...[
    el("button", { type: "button", class: "link", on: { click: back } }, "← All operations"),
    el("h3", {}, value.label || value.name),
    el("p", { class: "muted" }, `Argument ${value.argument}${value.role ? `, ${value.role.replace(/_/g, " ")}` : ""}: arguments of a function keep their types.`),
    el("p", {}, code(value.typeBefore), value.bytesBefore ? `, ${bytes(value.bytesBefore)}` : ""),
    value.cast ? el("p", {}, typeTag(null, `cast ${value.cast.from} → ${value.cast.to}`), ` once, moves ${bytes(value.cast.bytes)}`) : null,
    el("h4", {}, "Read by"),
    el("ul", { class: "io" }, value.users.slice(0, 100).map(user => el("li", {}, opLink(user.op, go), el("span", { class: "types" }, `operand ${user.operand}`)))),
  ].filter(Boolean));
}
