//===- RecomputeBlocks.cpp - Layers computed again from their inputs ------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RemarkOptions.h"
#include "SavedValues.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::train;

/// Returns the name of `location`, or of its first part that has a name.
static StringRef getName(Location location) {
  StringRef name;
  location->walk([&](Location part) {
    auto named = dyn_cast<NameLoc>(part);
    if (!named)
      return WalkResult::advance();
    name = named.getName().getValue();
    return WalkResult::interrupt();
  });
  return name;
}

/// Matches `text` with `pattern`, in which `*` matches any characters.
static bool matches(StringRef pattern, StringRef text) {
  size_t star = pattern.find('*');
  if (star == StringRef::npos)
    return pattern == text;
  if (!text.consume_front(pattern.take_front(star)))
    return false;
  pattern = pattern.drop_front(star + 1);
  for (size_t skip = 0; skip <= text.size(); ++skip)
    if (matches(pattern, text.drop_front(skip)))
      return true;
  return false;
}

/// Returns the prefix of `name` that `pattern` matches, or an empty string.
/// Matches the parts between dots one by one.
static StringRef matchBlock(StringRef pattern, StringRef name) {
  SmallVector<StringRef> patterns, parts;
  pattern.split(patterns, '.');
  name.split(parts, '.');
  if (name.empty() || patterns.size() > parts.size())
    return {};
  size_t length = 0;
  for (auto [one, part] : llvm::zip(patterns, parts)) {
    if (!matches(one, part))
      return {};
    length += part.size() + 1;
  }
  return name.take_front(length - 1);
}

namespace {

/// A block that is to be computed again.
class RecomputedBlock {
public:
  RecomputedBlock(SavedValues &step, StringRef name,
                  const SavedValues::Ops &members)
      : step(step), name(name), members(members) {}

  /// Computes the block again if that frees anything.
  void recompute();

private:
  bool leaves(Value value) const;
  void collectValues();
  Operation *collectOps();

  SavedValues &step;
  StringRef name;
  const SavedValues::Ops &members;
  /// A value that the backward pass reads from the block, and its first reader
  /// there.
  SmallVector<Value> values;
  Operation *where = nullptr;
  int64_t bytes = 0;
  /// What computes these, and the kept values that it reads.
  SavedValues::Ops ops;
  SmallVector<Value> inputs;
};

} // namespace

/// What leaves the block is kept: the next one is computed from it.
bool RecomputedBlock::leaves(Value value) const {
  SmallVector<Value> views;
  step.collectViews(value, views);
  for (Value view : views)
    for (OpOperand &use : view.getUses())
      if (Operation *user = step.getUser(use);
          !user || (step.isForward(user) && !members.contains(user)) ||
          user->hasAttr(kRecomputedAttr))
        return true;
  return step.isReturned(value);
}

void RecomputedBlock::collectValues() {
  for (Operation *op : members)
    for (Value result : op->getResults()) {
      if (!step.saved.contains(result) || step.pinned.contains(result))
        continue;
      if (leaves(result)) {
        step.pinned.insert(result);
        step.reasons[result] = "it leaves its block";
        continue;
      }
      Operation *reader = step.getFirstReader(result);
      if (!where || step.numberOf(reader) < step.numberOf(where))
        where = reader;
      values.push_back(result);
      bytes += countBytes(result);
    }
}

/// Goes back to kept values. Returns an operation that cannot run twice, or
/// null.
Operation *RecomputedBlock::collectOps() {
  SmallVector<Operation *> worklist;
  Operation *impure = nullptr;
  auto visit = [&](Operation *op) {
    if (!isPure(op) || op->getNumRegions() > 0)
      impure = op;
    if (ops.insert(op))
      worklist.push_back(op);
  };
  for (Value value : values)
    visit(value.getDefiningOp());
  while (!worklist.empty()) {
    Operation *op = worklist.pop_back_val();
    for (Value operand : op->getOperands()) {
      if (!step.isForwardValue(operand) || step.isConstant(operand))
        continue;
      Value root = step.getRoot(operand);
      Operation *producer = operand.getDefiningOp();
      bool stays = !members.contains(producer) ||
                   (step.pinned.contains(root) && root == operand);
      if (!stays)
        visit(producer);
      else
        inputs.push_back(root);
    }
  }
  return impure;
}

void RecomputedBlock::recompute() {
  collectValues();
  if (values.empty())
    return;
  if (Operation *impure = collectOps()) {
    auto remark =
        remark::missed(impure->getLoc(), getRemarkOptions("BlockKept", impure));
    if (remark)
      remark << remark::metric("Block", name)
             << remark::reason("{0} has regions or effects",
                               impure->getName().getStringRef());
    return;
  }
  for (Value input : inputs) {
    step.saved.insert(input);
    step.pinned.insert(input);
    step.reasons.insert({input, "another block is computed again from it"});
  }
  if (auto remark = remark::passed(values.front().getLoc(),
                                   getRemarkOptions("BlockRecomputed", where)))
    remark << remark::metric("Block", name) << remark::metric("Bytes", bytes)
           << remark::metric("Operations", ops.size());
  step.emit(values, ops, where);
  ++step.numBlocks;
}

void mlir::train::recomputeBlocks(SavedValues &step,
                                  ArrayRef<std::string> patterns,
                                  llvm::StringSet<> &usedPatterns) {
  llvm::MapVector<StringRef, SavedValues::Ops> blocks;
  for (Operation &op : step.getBlock()) {
    if (!step.isForward(&op))
      break;
    if (op.hasTrait<OpTrait::ConstantLike>())
      continue;
    // The first pattern that matches names the block. Others may match too.
    StringRef block;
    for (const std::string &pattern : patterns) {
      StringRef name = matchBlock(pattern, getName(op.getLoc()));
      if (name.empty())
        continue;
      usedPatterns.insert(pattern);
      if (block.empty())
        block = name;
    }
    if (!block.empty())
      blocks[block].insert(&op);
  }
  for (auto &[name, members] : blocks)
    RecomputedBlock(step, name, members).recompute();
}
