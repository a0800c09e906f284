//===- IndexBound.cpp - How large labels and indices may be ---------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Analysis/IndexBound.h"

#include "amp/Dialect/Train/IR/Train.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinTypes.h"

#include <algorithm>

using namespace mlir;
using namespace mlir::amp;

std::optional<int64_t> mlir::amp::getIndexBound(Value indices) {
  std::optional<int64_t> bound;
  auto noteExtent = [&](int64_t extent) {
    if (!ShapedType::isDynamic(extent))
      bound = std::min(bound.value_or(extent), extent);
  };
  auto note = [&](Value value) {
    noteExtent(cast<RankedTensorType>(value.getType()).getShape().back());
  };
  for (Operation *user : indices.getUsers()) {
    if (auto loss = dyn_cast<train::CrossEntropyOp>(user))
      note(loss.getLogits());
    else if (auto gradient = dyn_cast<train::CrossEntropyGradOp>(user))
      note(gradient.getLogits());
    else if (auto oneHot = dyn_cast<train::OneHotOp>(user))
      note(oneHot.getResult());
    else if (auto gather = dyn_cast<train::GatherOp>(user);
             gather && gather.getIndices() == indices)
      noteExtent(gather.getInput().getType().getDimSize(gather.getAxis()));
    else if (auto scatter = dyn_cast<train::ScatterAddOp>(user))
      noteExtent(scatter.getType().getDimSize(scatter.getAxis()));
    else if (auto documents = dyn_cast<train::DocumentMaskOp>(user))
      noteExtent(documents.getPositions() + 1);
    else if (isa<arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp>(user))
      // A number below the bound is the same in any width.
      if (std::optional<int64_t> cast = getIndexBound(user->getResult(0)))
        noteExtent(*cast);
  }
  return bound;
}

bool mlir::amp::isCumulative(Value value) {
  return llvm::any_of(value.getUsers(), [](Operation *user) {
    return isa<train::DocumentMaskOp>(user) ||
           (isa<arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp>(user) &&
            isCumulative(user->getResult(0)));
  });
}
