//===- Branches.cpp - Branches, and loops that the data ends --------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StableHLOImporter.h"
#include "amp/Support/StableHLOText.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <algorithm>

using namespace mlir;
using namespace mlir::amp;
using namespace mlir::train;

/// Whether each region is a block without arguments that returns the results.
static bool areBranches(Operation *op) {
  if (op->getNumOperands() != 1 || op->getNumRegions() == 0)
    return false;
  return llvm::all_of(op->getRegions(), [&](Region &region) {
    return region.hasOneBlock() && !region.front().empty() &&
           region.front().getNumArguments() == 0 &&
           region.front().back().getName().getStringRef() ==
               "stablehlo.return" &&
           region.front().back().getOperandTypes() == op->getResultTypes();
  });
}

Value StableHLOImporter::getReturned(Value value) {
  if (Value result = getAny(value))
    return result;
  // Unsupported operations have been reported. The graph will be erased.
  if (unsupported.empty())
    return {};
  RankedTensorType type = getComputedType(value.getType());
  return arith::ConstantOp::create(builder, value.getLoc(),
                                   cast<TypedAttr>(builder.getZeroAttr(type)));
}

bool StableHLOImporter::convertBranches(Operation *op) {
  bool isIf = op->getName().stripDialect() == "if";
  if (!areBranches(op) || (isIf && op->getNumRegions() != 2))
    return false;
  auto count = static_cast<int64_t>(op->getNumRegions());
  SmallVector<Value> returned;
  if (std::optional<double> number = getNumber(op->getOperand(0))) {
    auto index = static_cast<int64_t>(*number);
    int64_t chosen = isIf                          ? int64_t(index == 0)
                     : index < 0 || index >= count ? count - 1
                                                   : index;
    visitBlock(op->getRegion(chosen).front(), returned);
    for (auto [result, value] : llvm::zip(op->getResults(), returned))
      known[result] = known.lookup(value);
    return true;
  }
  Location loc = op->getLoc();
  Value index = getComputed(op->getOperand(0));
  if (!index) {
    advice = "an index that is not imported";
    return false;
  }
  index = tensor::ExtractOp::create(builder, loc, reshapeAny(loc, index, {}),
                                    ValueRange());
  SmallVector<Type> types;
  for (Type type : op->getResultTypes())
    types.push_back(getComputedType(type));
  // Each branch but the last is the first of two. An index out of range means
  // the last branch.
  OpBuilder::InsertionGuard guard(builder);
  auto fill = [&](Block *block, Region &branch) {
    builder.setInsertionPointToEnd(block);
    visitBlock(branch.front(), returned);
    SmallVector<Value> results;
    for (Value value : returned)
      results.push_back(getReturned(value));
    if (llvm::is_contained(results, Value()))
      return false;
    scf::YieldOp::create(builder, loc, results);
    return true;
  };
  scf::IfOp first;
  for (int64_t i = 0; i + 1 < count; ++i) {
    Value condition = index;
    if (!isIf) {
      Value number = arith::ConstantOp::create(
          builder, loc, builder.getIntegerAttr(index.getType(), i));
      condition = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                        index, number);
    }
    auto choice = scf::IfOp::create(builder, loc, types, condition,
                                    /*withElseRegion=*/true);
    if (first)
      scf::YieldOp::create(builder, loc, choice.getResults());
    else
      first = choice;
    if (!fill(choice.thenBlock(), op->getRegion(i)))
      return false;
    builder.setInsertionPointToEnd(choice.elseBlock());
  }
  if (!first)
    return false;
  Block *last = builder.getInsertionBlock();
  if (!fill(last, op->getRegion(count - 1)))
    return false;
  for (auto [result, value] : llvm::zip(op->getResults(), first.getResults()))
    known[result] = {value, std::nullopt, std::nullopt};
  return true;
}

/// Converts a loop whose end the data decides. It has no derivative.
bool StableHLOImporter::convertDynamicWhile(Operation *op,
                                            ArrayRef<bool> isInvariant) {
  Location loc = op->getLoc();
  SmallVector<unsigned> carried;
  SmallVector<Value> inits;
  if (!getCarried(
          op, [&](unsigned i) { return isInvariant[i]; }, carried, inits))
    return false;
  auto loop = scf::WhileOp::create(builder, loc, TypeRange(ValueRange(inits)),
                                   inits, nullptr, nullptr);
  OpBuilder::InsertionGuard guard(builder);
  auto enter = [&](Region &from, Block *to, SmallVectorImpl<Value> &returned) {
    builder.setInsertionPointToEnd(to);
    for (BlockArgument argument : from.getArguments())
      known[argument] = known.lookup(op->getOperand(argument.getArgNumber()));
    for (auto [i, value] : llvm::zip(carried, to->getArguments()))
      known[from.getArgument(i)] = {value, std::nullopt, std::nullopt};
    visitBlock(from.front(), returned);
  };
  SmallVector<Value> returned, results;
  enter(op->getRegion(0), loop.getBeforeBody(), returned);
  Value condition = getReturned(returned[0]);
  if (!condition)
    return false;
  condition = tensor::ExtractOp::create(
      builder, loc, reshapeAny(loc, condition, {}), ValueRange());
  scf::ConditionOp::create(builder, loc, condition, loop.getBeforeArguments());
  enter(op->getRegion(1), loop.getAfterBody(), returned);
  for (auto [i, init] : llvm::zip(carried, inits)) {
    results.push_back(getReturned(returned[i]));
    if (!results.back() || results.back().getType() != init.getType())
      return false;
  }
  scf::YieldOp::create(builder, loc, results);
  for (unsigned i = 0, e = op->getNumOperands(); i != e; ++i)
    if (isInvariant[i])
      known[op->getResult(i)] = known.lookup(op->getOperand(i));
  for (auto [i, value] : llvm::zip(carried, loop.getResults()))
    known[op->getResult(i)] = {value, std::nullopt, std::nullopt};
  return true;
}
