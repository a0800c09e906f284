//===- MaxFlow.cpp - Minimum cuts of sparse graphs ------------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Support/MaxFlow.h"

#include <algorithm>

using namespace mlir::amp;

/// Computes distances from `source`, up to the nearest node with an arc to the
/// sink. Returns whether there is such a node.
bool MaxFlow::search(Node source) {
  ++searchNumber;
  queue.clear();
  auto reach = [&](Node node, uint32_t distance) {
    NodeState &state = nodes[node];
    state.seen = searchNumber;
    state.distance = distance;
    state.current = state.head;
    queue.push_back(node);
  };
  reach(source, 0);
  uint32_t last = std::numeric_limits<uint32_t>::max();
  for (size_t next = 0; next < queue.size(); ++next) {
    const NodeState &node = nodes[queue[next]];
    if (node.distance == last)
      break;
    for (ArcId arc = node.head; arc != 0; arc = arcs[arc].next) {
      if (arcs[arc].capacity == 0)
        continue;
      const NodeState &to = nodes[arcs[arc].to];
      if (to.seen == searchNumber || to.isClosed())
        continue;
      reach(arcs[arc].to, node.distance + 1);
      if (to.terminal < 0)
        last = to.distance;
    }
  }
  return last != std::numeric_limits<uint32_t>::max();
}

/// Pushes flow from `source` along shortest paths until no path is left.
void MaxFlow::augment(Node source) {
  path.clear();
  Node at = source;
  int64_t &supply = nodes[source].terminal;
  while (true) {
    NodeState &node = nodes[at];
    if (node.terminal < 0) {
      int64_t flow = std::min(supply, -node.terminal);
      for (ArcId arc : path)
        flow = std::min(flow, arcs[arc].capacity);
      supply -= flow;
      node.terminal += flow;
      // Continue from the first arc that is full.
      size_t kept = path.size();
      for (size_t i = path.size(); i-- > 0;) {
        arcs[path[i]].capacity -= flow;
        arcs[path[i] ^ 1].capacity += flow;
        if (arcs[path[i]].capacity == 0)
          kept = i;
      }
      if (supply == 0)
        return;
      path.resize(kept);
      at = path.empty() ? source : arcs[path.back()].to;
      continue;
    }
    auto leadsOn = [&](const Arc &arc) {
      const NodeState &to = nodes[arc.to];
      return arc.capacity != 0 && to.seen == searchNumber &&
             to.distance == node.distance + 1;
    };
    ArcId &arc = node.current;
    while (arc != 0 && !leadsOn(arcs[arc]))
      arc = arcs[arc].next;
    if (arc != 0) {
      path.push_back(arc);
      at = arcs[arc].to;
    } else if (path.empty()) {
      return;
    } else {
      // A dead end.
      at = arcs[path.back() ^ 1].to;
      path.pop_back();
      nodes[at].current = arcs[nodes[at].current].next;
    }
  }
}

void MaxFlow::run() {
  for (Node source = 0; source < nodes.size(); ++source) {
    if (nodes[source].isClosed())
      continue;
    while (nodes[source].terminal > 0) {
      if (search(source)) {
        augment(source);
        continue;
      }
      // The reached nodes cannot reach the sink. They are the source side.
      for (Node node : queue)
        nodes[node].seen = NodeState::closed;
      break;
    }
  }
}
