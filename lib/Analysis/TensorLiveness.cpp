//===- TensorLiveness.cpp - When the tensors of a step live ---------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Analysis/TensorLiveness.h"

#include "amp/Dialect/Train/IR/Train.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <limits>

using namespace mlir;
using namespace mlir::amp;

FailureOr<int64_t> mlir::amp::getTensorBytes(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !tensor.hasStaticShape() ||
      !tensor.getElementType().isIntOrIndexOrFloat())
    return failure();
  int64_t bits = tensor.getElementType().isIndex()
                     ? 64
                     : tensor.getElementType().getIntOrFloatBitWidth();
  int64_t bytes = (bits + 7) / 8;
  if (llvm::is_contained(tensor.getShape(), 0))
    return 0;
  for (int64_t extent : tensor.getShape())
    if (llvm::MulOverflow(bytes, extent, bytes))
      return std::numeric_limits<int64_t>::max();
  return bytes;
}

bool mlir::amp::isTensorView(Operation *op) {
  if (auto broadcast = dyn_cast<train::BroadcastOp>(op))
    return broadcast.getDims().empty();
  return isa<train::ReshapeOp, ViewLikeOpInterface>(op);
}

FailureOr<TensorLiveness>
TensorLiveness::compute(FunctionOpInterface function) {
  if (!function.getFunctionBody().hasOneBlock())
    return function->emitError("expected a function with a single block");
  Block &block = function.getFunctionBody().front();

  TensorLiveness liveness;
  // The index of the range of each value. A view has the range of its operand.
  DenseMap<Value, size_t> rangeOf;
  for (Operation &op : block) {
    unsigned number = liveness.numOperations++;
    op.walk([&](Operation *nested) {
      for (Value operand : nested->getOperands())
        if (auto it = rangeOf.find(operand); it != rangeOf.end())
          liveness.ranges[it->second].lastUse = number;
    });
    if (isTensorView(&op)) {
      auto it = rangeOf.find(op.getOperand(0));
      if (it != rangeOf.end())
        rangeOf[op.getResult(0)] = it->second;
      continue;
    }
    for (Value result : op.getResults()) {
      if (!isa<TensorType>(result.getType()))
        continue;
      FailureOr<int64_t> bytes = getTensorBytes(result.getType());
      if (failed(bytes))
        return op.emitOpError("has a result of type ")
               << result.getType()
               << ", but the size of every tensor must be known; run "
                  "train-set-batch first";
      rangeOf[result] = liveness.ranges.size();
      liveness.ranges.push_back({result, *bytes, number, number});
    }
  }
  return liveness;
}

int64_t TensorLiveness::getPeakBytes(
    function_ref<bool(const TensorRange &)> include) const {
  // The bytes whose live ranges begin and end at each operation.
  std::vector<__int128> change(numOperations + 1, 0);
  for (const TensorRange &range : ranges) {
    if (!include(range))
      continue;
    change[range.definition] += range.bytes;
    change[range.lastUse + 1] -= range.bytes;
  }
  __int128 live = 0, peak = 0;
  for (__int128 bytes : change) {
    live += bytes;
    peak = std::max(peak, live);
  }
  return int64_t(std::min<__int128>(peak, std::numeric_limits<int64_t>::max()));
}
