// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The state, kept in the URL's fragment (q, show, op, fn, detail, theme), and
// the connections of graph, panel and tables. After the graph is drawn, the root
// element has the attributes data-ready, data-ops, data-drawn, data-casts,
// data-matches, and data-layout, the milliseconds of the layout.
"use strict";

const state = Object.assign({ q: "", show: "all", op: "", fn: "0", detail: "", theme: "" },
  Object.fromEntries(new URLSearchParams(location.hash.slice(1))));
let model = null;
let closed = new Set();
let selected = null;

function saveState() {
  const defaults = { show: "all", fn: "0" };
  const kept = Object.entries(state).filter(([key, value]) => value && value !== defaults[key]);
  const fragment = new URLSearchParams(kept).toString();
  try {
    history.replaceState(null, "", fragment ? `#${fragment}` : location.pathname + location.search);
  } catch {
    // Some origins of a page do not allow this. The state is then not kept.
  }
}

const back = () => select(null);
const goTo = op => {
  revealGroupOf(op);
  select(op, true);
};
const list = new OpList(op => goTo(op));
const view = new GraphView(byId("canvas"), {
  select: node => pick(node),
  open: node => openNode(node),
  hover: showTip,
});

function nodeOf(op) {
  return op && view.graph ? view.graph.nodeOfOp[op.id] : null;
}

function pick(node) {
  if (!node) return select(null);
  if (node.op) return select(node.op);
  selected = null;
  view.selected = node;
  view.path = [];
  view.draw();
  if (node.group) showGroup(model, node.group, goTo, back, openGroup);
  else showArgument(model, node.value, goTo, back);
  showPanel(true);
}

function showPanel(details) {
  byId("details").hidden = !details;
  byId("browser").hidden = details;
  if (!details) list.render();
}

function select(op, reveal) {
  selected = op;
  state.op = op ? String(op.id) : "";
  view.selected = nodeOf(op);
  view.path = [];
  if (op) {
    showDetails(model, op, goTo, back, toggleRepeat);
    // The longest chain of causes among its slots, in the graph.
    let longest = [];
    for (const slot of op.slots) {
      const path = slot.low === true ? [] : causePath(model, slot);
      if (path.length > longest.length) longest = path;
    }
    view.path = longest.length ? [view.selected, ...longest.map(at => nodeOf(at.op))].filter((n, i, all) => n && n !== all[i - 1]) : [];
    if (reveal && view.selected) view.reveal(view.selected);
  }
  showPanel(Boolean(op));
  view.draw();
  saveState();
}

function showTip(node, point) {
  const tip = byId("tip");
  tip.hidden = !node;
  if (!node) return;
  const { op, group, value } = node;
  tip.replaceChildren(...(op ? [el("strong", {}, op.name), el("div", {}, [precisionName[op.precision], op.shape, showBytes(op)].filter(Boolean).join(" · ")),
      op.scope || op.location ? el("div", {}, op.scope || op.location) : null]
    : group ? [el("strong", {}, group.title), el("div", {}, `${plural(group.ops, "operation")}; double-click opens the group`)]
    : [el("strong", {}, value.label || value.name), el("div", {}, `argument · ${value.typeBefore}`)]).filter(Boolean));
  const box = byId("canvas").getBoundingClientRect();
  tip.style.left = `${Math.max(4, Math.min(point.x + 16, box.width - 350))}px`;
  tip.style.top = `${Math.min(point.y + 18, box.height - 80)}px`;
}

//===- Groups -------------------------------------------------------------===//

/** Groups are closed at first where the graph would be too large to read. */
function initialGroups() {
  const all = [...model.groups.values()].filter(g => g.ops > 1);
  byId("expand").hidden = byId("collapse").hidden = !all.length && !model.repeats.length;
  const depths = all.reduce((max, g) => Math.max(max, g.depth), 0);
  if (state.detail === "all") return new Set();
  const repeats = model.repeats.map(repeat => repeat.key), folded = new Set(repeats);
  const shown = model.ops.filter(op => shownOp(op, folded) === op);
  if (!depths || (state.detail !== "groups" && shown.length <= 400)) return folded;
  for (let depth = depths; depth > 1; --depth) {
    const keys = new Set(all.filter(g => g.depth === depth).map(g => g.key));
    let nodes = 0;
    const met = new Set();
    for (const op of shown) {
      const group = op.chain.find(g => keys.has(g.key));
      if (!group) ++nodes;
      else if (!met.has(group.key)) {
        met.add(group.key);
        ++nodes;
      }
    }
    if (nodes <= 700) return new Set([...keys, ...repeats]);
  }
  return new Set([...all.filter(g => g.depth === 1).map(g => g.key), ...repeats]);
}

function openNode(node) {
  if (node?.group) openGroup(node.group);
  else if (node?.copies) toggleRepeat(node.op);
}

/** Shows all copies of a layer, or the first one for all. */
function toggleRepeat(op) {
  const { key } = op.repeat;
  if (!closed.delete(key)) closed.add(key);
  rebuild(true);
  select(op, true);
}

function rebuild(keepView) {
  const begin = performance.now();
  view.setGraph(visibleGraph(model, closed));
  root.dataset.layout = Math.round(performance.now() - begin);
  view.selected = nodeOf(selected);
  if (!keepView) view.fit(true);
  byId("expand").disabled = !closed.size;
  root.dataset.frames = view.graph.frames.map(({ repeat }) => repeat.copies).join(" ");
  view.draw();
  root.dataset.drawn = view.graph.nodes.filter(n => !n.value).length;
}

function openGroup(group) {
  closed.delete(group.key);
  // Open the nested groups one level at a time.
  for (const inner of model.groups.values()) if (inner.parent === group && inner.ops > 1) closed.add(inner.key);
  rebuild(true);
  const first = nodeOf(group.members[0]);
  if (first) view.reveal(first);
  select(null);
}

function revealGroupOf(op) {
  const group = op.chain.find(g => closed.has(g.key));
  if (!group) return;
  for (const outer of op.chain) closed.delete(outer.key);
  rebuild(true);
}

//===- Search and filter --------------------------------------------------===//

function applySearch() {
  const matches = matcher(model, state.q, state.show);
  const filtered = Boolean(state.q.trim()) || state.show !== "all";
  const found = model.ops.filter(matches);
  const set = new Set(found);
  view.setMatches(op => set.has(op), filtered);
  list.set(found);
  byId("count").textContent = filtered ? `${count(found.length)} of ${plural(model.ops.length, "operation")}` : plural(model.ops.length, "operation");
  for (const button of byId("show").children) {
    const chosen = button.dataset.show === state.show;
    button.setAttribute("aria-checked", String(chosen));
    button.tabIndex = chosen ? 0 : -1;
  }
  root.dataset.matches = found.length;
  saveState();
}

function search(query) {
  state.q = query;
  state.show = "all";
  byId("search").value = query;
  select(null);
  applySearch();
  const first = list.first;
  if (first) {
    revealGroupOf(first);
    view.reveal(nodeOf(first));
  }
  byId("graph").scrollIntoView({ block: "start" });
}

function makeControls() {
  const shows = [["all", "All"], ...(report.differences ? [["changed", "Changed"]] : []), ["low", LOW], ["f32", "With f32"], ["mixed", "Mixed"], ["fixed", "Fixed"], ["casts", "With casts"]];
  if (!shows.some(([key]) => key === state.show)) state.show = "all";
  byId("show").replaceChildren(...shows.map(([key, text]) => el("button", { type: "button", role: "radio", "data-show": key,
    on: { click: () => { state.show = key; applySearch(); } } }, text)));
  byId("show").addEventListener("keydown", event => {
    const move = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (!move) return;
    event.preventDefault();
    const at = shows.findIndex(([key]) => key === state.show);
    state.show = shows[(at + move + shows.length) % shows.length][0];
    applySearch();
    byId("show").children[(at + move + shows.length) % shows.length].focus();
  });
  byId("search").value = state.q;
  byId("search").addEventListener("input", event => {
    state.q = event.target.value;
    if (selected) select(null);
    applySearch();
  });
  byId("search").addEventListener("keydown", event => {
    if (event.key === "Enter" && list.first) goTo(list.first);
    if (event.key === "ArrowDown") byId("list").focus();
  });
  byId("zoom-in").addEventListener("click", () => view.zoom(1.3));
  byId("zoom-out").addEventListener("click", () => view.zoom(1 / 1.3));
  byId("zoom-fit").addEventListener("click", () => view.fit());
  byId("expand").addEventListener("click", () => { closed = new Set(); rebuild(); select(selected); });
  byId("collapse").addEventListener("click", () => { state.detail = "groups"; closed = initialGroups(); rebuild(); select(null); });
  document.addEventListener("keydown", event => {
    const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName);
    if (event.key === "/" && !typing) {
      event.preventDefault();
      byId("search").focus();
    } else if (event.key === "Escape") {
      if (typing && state.q) {
        byId("search").value = state.q = "";
        applySearch();
      } else select(null);
    }
  });
  byId("canvas").addEventListener("keydown", steer);
  const items = [["low", `${LOW}: all free slots low`], ["f32", "f32: free slots stay f32"], ["mixed", "mixed: some of each"], ["fixed", "fixed: nothing to decide"], ["cast", "cast"]];
  const isMeasured = report.functions.some(fn => (fn.values || []).some(value => value.measured));
  byId("legend").replaceChildren(...items.map(([kind, text]) => el("li", {}, el("span", { class: `chip ${kind}` }), text)),
    ...(isMeasured || hasErrors ? Object.values(errorClasses) : []).map(({ color, text }) => {
      const chip = el("span", { class: "chip" });
      chip.style.background = chip.style.borderColor = color;
      return el("li", {}, chip, text);
    }),
    el("li", {}, el("span", { class: "muted" }, "×12: the first of 12 identical layers; a double click opens all of them")),
    report.differences ? el("li", {}, el("span", { class: "muted" }, "A marked corner: the type of a slot changed.")) : "",
    el("li", { class: "muted" }, "Lines have the colour of the value's type. A rounded box is an argument of the function. Until an operation is selected, the graph hides lines to returned values, and lines from a value with many readers to distant ones."));
}

/** Arrow keys on the graph: along the flow, and across a row. */
function steer(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const nodes = view.graph.nodes;
  const node = view.selected;
  const keys = { "+": () => view.zoom(1.3), "=": () => view.zoom(1.3), "-": () => view.zoom(1 / 1.3), 0: () => view.fit(),
    Enter: () => openNode(node) };
  if (keys[event.key]) {
    event.preventDefault();
    return keys[event.key]();
  }
  const directions = { ArrowUp: [0, -1], ArrowDown: [0, 1], ArrowLeft: [-1, 0], ArrowRight: [1, 0] };
  const direction = directions[event.key];
  if (!direction) return;
  event.preventDefault();
  let best = null, least = Infinity;
  if (!node) best = nodes.find(n => n.op) || nodes[0];
  else {
    const [dx, dy] = direction;
    const linked = new Set([...node.ins, ...node.outs]);
    for (const other of nodes) {
      const x = other.x - node.x, y = other.y - node.y;
      const ahead = x * dx + y * dy, aside = Math.abs(x * dy + y * dx);
      if (other === node || ahead <= 1 || aside > 2.5 * ahead + 40) continue;
      // Prefer a neighbour in the flow.
      const distance = (ahead + 2 * aside) * (dy && linked.has(other) ? 0.4 : 1);
      if (distance < least) {
        least = distance;
        best = other;
      }
    }
  }
  if (!best) return;
  pick(best);
  view.reveal(best);
}

//===- Theme and print ----------------------------------------------------===//

const darkQuery = matchMedia("(prefers-color-scheme: dark)");

function applyTheme(theme) {
  root.dataset.theme = theme || state.theme || (darkQuery.matches ? "dark" : "light");
  byId("theme").textContent = root.dataset.theme === "dark" ? "Light" : "Dark";
  view.readColors();
}

function makeTheme() {
  byId("theme").addEventListener("click", () => {
    state.theme = root.dataset.theme === "dark" ? "light" : "dark";
    applyTheme();
    saveState();
  });
  darkQuery.addEventListener("change", () => applyTheme());
  applyTheme();
  // Print the whole graph in the light theme.
  let before = null;
  addEventListener("beforeprint", () => {
    before = { scale: view.scale, offset: { ...view.offset } };
    applyTheme("light");
    if (model) view.print(700);
  });
  addEventListener("afterprint", () => {
    if (model) view.print();
    if (before) Object.assign(view, before);
    applyTheme();
  });
}

//===- Start --------------------------------------------------------------===//

function showFunction(index) {
  const fn = report.functions[index];
  state.fn = String(index);
  const untouched = !fn || fn.untouched;
  byId("untouched").hidden = !untouched;
  byId("content").hidden = untouched;
  if (untouched) {
    byId("untouched").textContent = fn ? `The pass leaves “${fn.name}” unchanged: ${fn.untouched}.` : "The module has no function.";
    root.dataset.ops = root.dataset.drawn = root.dataset.matches = root.dataset.casts = 0;
    return saveState();
  }
  model = buildModel(fn);
  for (const group of model.groups.values()) group.members = [];
  for (const op of model.ops) for (let group = op.group; group; group = group.parent) group.members.push(op);
  closed = initialGroups();
  root.dataset.ops = model.ops.length;
  root.dataset.casts = model.casts.length;
  showFigures(model);
  rebuild();
  applySearch();
  showChanges(model, search);
  showWhy(model, search);
  showStrategies(model, goTo);
  showWhatIf(model, search);
  showCasts(model, goTo);
  const op = state.op === "" ? null : model.ops[Number(state.op)];
  if (op) goTo(op);
  else select(null);
}

function start() {
  const functions = report.functions;
  const target = report.target ? `, target ${report.target.name || "of the policy"}` : "";
  byId("settings").replaceChildren("Strategy ", el("strong", {}, report.strategy), `, policy ${report.policy}, low type `, el("strong", {}, LOW), target);
  const chosen = functions[Number(state.fn)] ? Number(state.fn) : Math.max(0, functions.findIndex(f => !f.untouched));
  document.title = `Precision report: ${functions[chosen] ? functions[chosen].name : "no function"}`;
  if (functions.length > 1) {
    byId("function-choice").hidden = false;
    byId("function").replaceChildren(...functions.map((f, i) => el("option", { value: i }, f.name)));
    byId("function").value = chosen;
    byId("function").addEventListener("change", event => {
      state.op = "";
      document.title = `Precision report: ${functions[event.target.value].name}`;
      showFunction(Number(event.target.value));
    });
  }
  makeControls();
  makeTheme();
  showFunction(chosen);
  view.paint();
  root.dataset.ready = "true";
}

start();
