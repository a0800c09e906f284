// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Places operations in three lanes. The forward pass runs down. The backward
// pass runs up beside it, each operation as near to its forward operation as
// its inputs allow. The update is to the right of the gradients it reads.
// Except for sorting, the time is linear in the number of operations and values.
"use strict";

const NODE = { width: 168, height: 46, gapX: 22, gapY: 38, laneGap: 104, perRow: 14 };

/**
 * What is drawn: operations, closed groups in place of theirs, the arguments on
 * which something depends, and one edge per pair and cast.
 */
function visibleGraph(model, closed) {
  const nodes = [], edges = [];
  const nodeOfOp = new Array(model.ops.length);
  const nodeOfGroup = new Map();
  for (const op of model.ops) {
    if (shownOp(op, closed) !== op) {
      nodeOfOp[op.id] = nodeOfOp[op.copyOf.id];
      continue;
    }
    const group = op.chain.find(g => closed.has(g.key));
    let node = group && nodeOfGroup.get(group.key);
    if (!node) {
      node = { id: nodes.length, op: group ? null : op, group: group || null, lane: PARTS.indexOf(op.part), order: op.id, ins: [], outs: [] };
      nodes.push(node);
      if (group) nodeOfGroup.set(group.key, node);
    }
    nodeOfOp[op.id] = node;
  }
  // Arguments of the function that only the update reads are its state. Others
  // without a cast, such as norm statistics, would hide the flow.
  const nodeOfValue = new Map();
  for (const value of model.values) {
    if (value.op != null) continue;
    const users = value.users.filter(u => u.op.part !== "update");
    if (!users.length || !(value.cast || !value.role || value.role === "batch")) continue;
    const first = nodeOfOp[users[0].op.id];
    if (first.group || shownOp(users[0].op, closed) !== users[0].op) continue;
    const node = { id: nodes.length, value, op: null, group: null, lane: first.lane, order: -1, ins: [], outs: [] };
    nodes.push(node);
    nodeOfValue.set(value.id, node);
  }
  const seen = new Map();
  for (const op of model.ops) {
    const to = nodeOfOp[op.id];
    op.operands.forEach((id, operand) => {
      const value = model.values[id];
      const from = value.op == null ? nodeOfValue.get(id) : nodeOfOp[value.op];
      if (!from || from === to) return;
      // A frame has the lines within the first copy, and each line that enters
      // or leaves any copy once.
      const producer = value.op == null ? null : model.ops[value.op];
      const isHidden = shownOp(op, closed) !== op || (producer && shownOp(producer, closed) !== producer);
      if (isHidden && (!producer || producer.repeat === op.repeat)) return;
      const cast = op.castsIn.get(operand) || null;
      const key = from.group || to.group || isHidden || (producer && producer.repeat !== op.repeat) ? `${from.id},${to.id},${cast ? 1 : 0}` : `${id},${to.id},${cast ? 1 : 0}`;
      const known = seen.get(key);
      if (known) return;
      const element = elementOf(cast ? cast.to : value.typeAfter);
      // Hide results of the step, and edges that only carry state.
      const quiet = (op.results.length === 0 && op.parent == null) || (value.op == null && op.part === "update");
      // Hide the edge from a value with many readers to a distant reader.
      const edge = { from, to, value, cast, quiet, hub: value.users.length > 12,
        color: element === LOW ? "low" : value.bytesBefore && elementOf(value.typeBefore) === "f32" ? "f32" : "fixed" };
      seen.set(key, edge);
      edges.push(edge);
      if (quiet) return;
      from.outs.push(to);
      to.ins.push(from);
    });
  }
  // The operations of a region follow its operation and precede its results.
  if (!closed.size || model.ops.some(op => op.hasRegion))
    for (const op of model.ops) {
      if (op.parent == null) continue;
      const from = nodeOfOp[op.parent], to = nodeOfOp[op.id];
      if (from !== to && from.lane === to.lane) to.ins.push(from);
    }
  const frames = model.repeats.filter(repeat => closed.has(repeat.key))
    .map(repeat => ({ repeat, nodes: [...new Set(repeat.ops.slice(0, repeat.period).map(op => nodeOfOp[op.id]))] }));
  for (const { repeat, nodes: members } of frames) {
    for (const op of repeat.ops) (nodeOfOp[op.id].copies ||= []).push(op);
    // Its arguments too, such as weights.
    for (const node of nodeOfValue.values()) if (node.outs.length && node.outs.every(n => members.includes(n))) members.push(node);
  }
  return { nodes, edges, nodeOfOp, frames };
}

/** Distances from the sources within a lane, along edges that follow the order. */
function longestPaths(nodes, lane) {
  const members = nodes.filter(n => n.lane === lane).sort((a, b) => a.order - b.order);
  for (const node of members) node.rank = 0;
  for (const node of members)
    for (const from of node.ins)
      if (from.lane === lane && from.order >= 0 && from.order < node.order) node.rank = Math.max(node.rank, from.rank + 1);
  // An operation with more readers than operands is placed near its readers.
  for (const node of [...members].reverse()) {
    const outs = node.outs.filter(n => n.lane === lane && n.order > node.order);
    const ins = node.ins.filter(n => n.lane === lane && n.order >= 0 && n.order < node.order);
    if (outs.length && (!ins.length || ins.length < outs.length))
      node.rank = Math.max(node.rank, outs.reduce((least, n) => Math.min(least, n.rank), Infinity) - 1);
  }
  return members;
}

/** The least moves, by weight, that keep the given distance (isotonic regression). */
function settle(items, wanted, distance, weight = () => 1) {
  const blocks = [];
  items.forEach((item, i) => {
    const w = weight(item);
    let block = { sum: w * (wanted[i] - i * distance), weight: w, size: 1 };
    while (blocks.length && blocks[blocks.length - 1].sum / blocks[blocks.length - 1].weight > block.sum / block.weight) {
      const last = blocks.pop();
      block = { sum: last.sum + block.sum, weight: last.weight + block.weight, size: last.size + block.size };
    }
    blocks.push(block);
  });
  const places = [];
  for (const block of blocks)
    for (let k = 0; k < block.size; ++k) places.push(block.sum / block.weight + places.length * distance);
  return places;
}

/** Orders each row by where its neighbours stand, and moves it there. */
function placeAcross(rows, lane) {
  const step = NODE.width + NODE.gapX;
  rows.forEach(row => row.forEach((node, i) => (node.x = (i - (row.length - 1) / 2) * step)));
  const sweep = (order, neighbours) => {
    for (const row of order) {
      for (const node of row) {
        let sum = 0, n = 0;
        for (const other of neighbours(node))
          // Arguments follow their readers. Readers do not follow arguments.
          if (other.lane === lane && other !== node && (other.order >= 0 || node.order < 0)) {
            const weight = other.leaf ? 0.1 : 1;
            sum += weight * other.x;
            n += weight;
          }
        node.linked = n > 0;
        // A weak pull to the middle keeps long chains in place.
        node.wanted = n ? (0.94 * sum) / n : node.x;
      }
      // An operation without links is placed near its neighbours.
      const linked = row.filter(n => n.linked);
      const mean = linked.reduce((sum, n) => sum + n.wanted, 0) / linked.length;
      if (linked.length) for (const node of row) if (!node.linked) node.wanted = mean;
      row.sort((a, b) => a.wanted - b.wanted || a.order - b.order || a.id - b.id);
      settle(row, row.map(n => n.wanted), step, n => (n.order >= 0 && n.linked ? 1 : 0.02)).forEach((x, i) => (row[i].x = x));
    }
  };
  // Chains that end in this lane are placed beside the flow and do not bend it.
  for (const row of rows) for (const node of row) node.leaf = !node.outs.some(n => n.lane === lane);
  const reversed = [...rows].reverse();
  for (let round = 0; round < 3; ++round) {
    sweep(rows, n => n.ins);
    sweep(reversed, n => n.outs);
  }
  sweep(rows, n => [...n.ins, ...n.outs]);
}

function layout(graph) {
  const { nodes } = graph;
  const [forward, backward, update] = [0, 1, 2].map(lane => longestPaths(nodes.filter(n => n.order >= 0), lane));

  // Place forward rows from the bottom, far enough from the loss for the rows of
  // the backward pass beside them.
  const last = forward.reduce((max, n) => Math.max(max, n.rank), 0);
  const nearest = new Array(last + 1).fill(0);
  const forwardNode = node => node.op && node.op.backwardOf != null ? graph.nodeOfOp[node.op.backwardOf] : null;
  const partners = node => {
    const of = forwardNode(node);
    return of ? [of] : node.ins.filter(n => n.lane === 0 && n.order >= 0);
  };
  const closest = new Map();
  for (const node of backward) {
    let best = null;
    for (const partner of partners(node)) if (partner.lane === 0 && (!best || partner.rank > best.rank)) best = partner;
    if (!best) continue;
    closest.set(node, best.rank);
    nearest[best.rank] = nearest[best.rank] ? Math.min(nearest[best.rank], node.rank) : node.rank;
  }
  const position = new Array(last + 1).fill(0);
  for (let rank = last; rank >= 0; --rank)
    position[rank] = Math.max(rank === last ? 0 : position[rank + 1] + 1, backward.length ? nearest[rank] : 0);
  for (const node of backward) {
    node.row = closest.has(node) ? position[closest.get(node)] : 0;
    for (const from of node.ins)
      if (from.lane === 1 && from.order >= 0 && from.order < node.order) node.row = Math.max(node.row, from.row + 1);
  }
  let top = 0;
  for (const node of forward) node.row = position[node.rank];
  // Place arguments one row before their first reader in the lane.
  const inputs = nodes.filter(n => n.order < 0);
  for (const node of inputs) {
    const rows = node.outs.filter(n => n.lane === node.lane && n.row != null).map(n => n.row);
    const first = rows.length ? (node.lane === 0 ? Math.max(...rows) : Math.min(...rows)) : 0;
    node.row = node.lane === 0 ? first + 1 : Math.max(0, first - 1);
  }
  for (const node of nodes) if (node.lane < 2) top = Math.max(top, node.row);

  // Place rows from top to bottom, and split long ones.
  const lanes = [0, 1].map(() => Array.from({ length: top + 1 }, () => []));
  for (const node of nodes) if (node.lane < 2) lanes[node.lane][top - node.row].push(node);
  const stepY = NODE.height + NODE.gapY;
  let y = 0;
  const split = [[], []];
  for (let row = 0; row <= top; ++row) {
    const parts = [0, 1].map(lane => {
      const all = lanes[lane][row].sort((a, b) => a.order - b.order || a.id - b.id);
      const pieces = [];
      for (let i = 0; i < all.length; i += NODE.perRow) pieces.push(all.slice(i, i + NODE.perRow));
      return lane === 1 ? pieces.reverse() : pieces;
    });
    const height = Math.max(parts[0].length, parts[1].length);
    parts.forEach((pieces, lane) => pieces.forEach((piece, i) => {
      for (const node of piece) node.y = y + i * stepY;
      split[lane].push(piece);
    }));
    y += height * stepY;
  }
  placeAcross(split[0], 0);
  placeAcross([...split[1]].reverse(), 1);

  // Place the lanes side by side, then the update.
  let x = 0;
  const bands = [];
  [0, 1].forEach(lane => {
    const members = nodes.filter(n => n.lane === lane);
    if (!members.length) return;
    const left = members.reduce((min, n) => Math.min(min, n.x), Infinity);
    const right = members.reduce((max, n) => Math.max(max, n.x), -Infinity) + NODE.width;
    for (const node of members) node.x += x - left;
    bands.push({ lane, x, width: right - left });
    x += right - left + NODE.laneGap;
  });
  if (update.length) {
    const columns = [];
    for (const node of update) (columns[node.rank] ||= []).push(node);
    let column = 0;
    for (const members of columns.filter(Boolean)) {
      for (const node of members) {
        const ins = node.ins.filter(n => n.y != null);
        node.wanted = ins.length ? ins.reduce((sum, n) => sum + n.y, 0) / ins.length : node.op && !node.op.results.length ? y : 0;
      }
      members.sort((a, b) => a.wanted - b.wanted || a.order - b.order);
      settle(members, members.map(n => n.wanted), NODE.height + 14).forEach((place, i) => {
        members[i].y = place;
        members[i].x = x + column * (NODE.width + 70);
      });
      ++column;
    }
    bands.push({ lane: 2, x, width: column * (NODE.width + 70) - 70 });
  }

  const box = { left: 0, top: 0, right: 1, bottom: 1 };
  for (const node of nodes) {
    box.left = Math.min(box.left, node.x);
    box.right = Math.max(box.right, node.x + NODE.width);
    box.top = Math.min(box.top, node.y);
    box.bottom = Math.max(box.bottom, node.y + NODE.height);
  }
  return { box, bands };
}
