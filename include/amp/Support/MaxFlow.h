//===- MaxFlow.h - Minimum cuts of sparse graphs ----------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Dinitz's algorithm (E. A. Dinic, "Algorithm for solution of a problem of
// maximum flow in networks with power estimation", 1970), on flat arrays, run
// from one source arc after another. Flow from one arc is O(V^2 E). An arc that
// can push no more flow closes the nodes that it still reaches. No later flow
// can use them, so every node is closed at most once. In graphs where each node
// absorbs a share of the flow, searches end after a few steps and the algorithm
// is linear. Nodes that no source arc reaches are never visited.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_SUPPORT_MAXFLOW_H
#define AMP_SUPPORT_MAXFLOW_H

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace mlir::amp {

/// A network of nodes with integer capacities, and its minimum cut.
class MaxFlow {
public:
  using Node = uint32_t;
  /// A capacity that no cut may contain. The sum of all others must be smaller.
  static constexpr int64_t infinite = std::numeric_limits<int64_t>::max() / 4;

  /// Creates a network of `numNodes` nodes, and reserves memory for `moreNodes`
  /// and `numArcs`.
  MaxFlow(Node numNodes, size_t moreNodes, size_t numArcs) {
    nodes.reserve(numNodes + moreNodes);
    nodes.resize(numNodes);
    arcs.reserve(2 * numArcs + 2);
    // Arc 0 ends the lists.
    arcs.push_back({0, 0, 0});
    arcs.push_back({0, 0, 0});
  }

  Node addNode() {
    nodes.emplace_back();
    return nodes.size() - 1;
  }

  /// Adds an arc from the source to `node` or, if `capacity` is negative, from
  /// `node` to the sink.
  void addTerminal(Node node, int64_t capacity) {
    nodes[node].terminal += capacity;
  }

  /// Adds an arc from `from` to `to`, and one back.
  void addArc(Node from, Node to, int64_t capacity, int64_t back = 0) {
    addHalf(from, to, capacity);
    addHalf(to, from, back);
  }

  /// Computes a maximum flow.
  void run();

  /// After `run`: whether `node` is on the source side of the cut whose source
  /// side is the smallest. This cut is unique.
  bool isOnSourceSide(Node node) const { return nodes[node].isClosed(); }

private:
  using ArcId = uint32_t;
  /// Arcs come in pairs: the opposite of arc `a` is `a ^ 1`.
  struct Arc {
    int64_t capacity;
    Node to;
    ArcId next;
  };

  void addHalf(Node from, Node to, int64_t capacity) {
    arcs.push_back({capacity, to, nodes[from].head});
    nodes[from].head = arcs.size() - 1;
  }
  bool search(Node source);
  void augment(Node source);

  /// The members are stored together, because a search reads all of them.
  struct NodeState {
    int64_t terminal = 0;
    ArcId head = 0;
    /// The last search that reached it, or `closed`.
    uint32_t seen = 0;
    /// The distance in that search, and the arc to try next.
    uint32_t distance = 0;
    ArcId current = 0;

    static constexpr uint32_t closed = std::numeric_limits<uint32_t>::max();
    bool isClosed() const { return seen == closed; }
  };

  std::vector<NodeState> nodes;
  std::vector<Arc> arcs;
  /// The nodes that the last search reached, in order.
  std::vector<Node> queue;
  uint32_t searchNumber = 0;
  /// The arcs from the source to the current node of the augmenting search.
  std::vector<ArcId> path;
};

} // namespace mlir::amp

#endif // AMP_SUPPORT_MAXFLOW_H
