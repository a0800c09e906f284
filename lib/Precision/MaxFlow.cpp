//===- MaxFlow.cpp - Minimum cuts of sparse graphs ------------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MaxFlow.h"

#include <algorithm>

using namespace mlir::amp;

/// Finds the distances from `source`, up to that of the nearest node with an
/// arc to the sink. Returns whether there is one.
bool MaxFlow::search(Node source) {
  ++searchNumber;
  queue.clear();
  auto reach = [&](Node node, uint32_t from) {
    seen[node] = searchNumber;
    distance[node] = from;
    current[node] = head[node];
    queue.push_back(node);
  };
  reach(source, 0);
  uint32_t last = std::numeric_limits<uint32_t>::max();
  for (size_t next = 0; next < queue.size(); ++next) {
    Node node = queue[next];
    if (distance[node] == last)
      break;
    for (ArcId arc = head[node]; arc != 0; arc = arcs[arc].next) {
      Node to = arcs[arc].to;
      if (arcs[arc].capacity == 0 || seen[to] == searchNumber ||
          origin[to] != 0)
        continue;
      reach(to, distance[node] + 1);
      if (terminal[to] < 0)
        last = distance[to];
    }
  }
  return last != std::numeric_limits<uint32_t>::max();
}

/// Pushes flow from `source` along shortest paths until none is left.
void MaxFlow::augment(Node source) {
  path.clear();
  Node node = source;
  while (true) {
    if (terminal[node] < 0) {
      int64_t flow = std::min(terminal[source], -terminal[node]);
      for (ArcId arc : path)
        flow = std::min(flow, arcs[arc].capacity);
      terminal[source] -= flow;
      terminal[node] += flow;
      // Go on from the first arc that is full.
      size_t kept = path.size();
      for (size_t i = path.size(); i-- > 0;) {
        arcs[path[i]].capacity -= flow;
        arcs[path[i] ^ 1].capacity += flow;
        if (arcs[path[i]].capacity == 0)
          kept = i;
      }
      if (terminal[source] == 0)
        return;
      path.resize(kept);
      node = path.empty() ? source : arcs[path.back()].to;
      continue;
    }
    ArcId &arc = current[node];
    while (arc != 0 &&
           (arcs[arc].capacity == 0 || seen[arcs[arc].to] != searchNumber ||
            distance[arcs[arc].to] != distance[node] + 1))
      arc = arcs[arc].next;
    if (arc != 0) {
      path.push_back(arc);
      node = arcs[arc].to;
    } else if (path.empty()) {
      return;
    } else {
      // A dead end.
      node = arcs[path.back() ^ 1].to;
      path.pop_back();
      current[node] = arcs[current[node]].next;
    }
  }
}

void MaxFlow::run() {
  size_t count = terminal.size();
  origin.assign(count, 0);
  seen.assign(count, 0);
  distance.resize(count);
  current.resize(count);
  for (Node source = 0; source < count; ++source) {
    if (origin[source] != 0)
      continue;
    while (terminal[source] > 0) {
      if (search(source)) {
        augment(source);
        continue;
      }
      // Nothing that it reaches reaches the sink: it is the source side.
      for (Node node : queue)
        origin[node] = source + 1;
      break;
    }
  }
}
