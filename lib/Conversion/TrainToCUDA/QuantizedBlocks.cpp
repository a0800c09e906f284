//===- QuantizedBlocks.cpp - Codes and scales of blocks in one launch -----===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A tile of a matrix holds whole blocks of 32 and 128 elements and of 128 x 128
// elements, in rows and in columns. One launch can therefore find the
// magnitudes, and write the codes of both orders. A launch that keeps whole
// rows does the same for rows.
//
//===----------------------------------------------------------------------===//

#include "QuantizedOperands.h"

#include "amp/Dialect/CUDA/IR/Float8ScaleKinds.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace mlir::cuda;
using mlir::amp::AmaxOp;
using mlir::amp::ScaleFromAmaxOp;

using Quantization = mlir::amp::QuantizeOp;

using ::amp::cuda::Float8Scale;

namespace {
/// Quantisations of a tensor by one rule, for each order of the codes. Either
/// may be absent.
struct Orders {
  Quantization order[2];
};

/// What the quantisations of a launch have in common: the tensor, the rule of
/// the scales, the flags of the codes, and the block.
using Key = std::tuple<Value, Attribute, unsigned, Block *>;
} // namespace

/// Returns the operation that computes the scales of `op` from the magnitudes
/// of the same blocks of the same tensor, or null.
static ScaleFromAmaxOp findOwnScale(Quantization op) {
  auto scale = op.getScale().getDefiningOp<ScaleFromAmaxOp>();
  if (!op.getBlocks() || !scale ||
      scale.getFormat() != typeOf(op.getPayload()).getElementType())
    return {};
  auto amax = scale.getAmax().getDefiningOp<AmaxOp>();
  return amax && amax.getInput() == op.getInput() &&
                 amax.getBlocksAttr() == op.getBlocksAttr()
             ? scale
             : ScaleFromAmaxOp();
}

/// Adds the launch that writes the codes of `orders`.
static void quantizeOrders(PatternRewriter &rewriter, Orders orders,
                           QuantizedOperands &operands) {
  auto [plain, turned] = orders.order;
  Quantization first =
      !turned || (plain && plain->isBeforeInBlock(turned)) ? plain : turned;
  ScaleFromAmaxOp rule = findOwnScale(first);
  auto getBlocks = [](Quantization op) {
    return op ? op.getBlocksAttr() : DenseI64ArrayAttr();
  };
  auto blocks = BlockScalesAttr::get(
      first.getContext(), getBlocks(plain), getBlocks(turned), rule.getMargin(),
      rule.getEpsilon().isZero() ? FloatAttr() : rule.getEpsilonAttr(),
      rule.getPowerOfTwo(), rule.getIgnoreNonFinite());
  SmallVector<int64_t, 2> matrix =
      mlir::amp::getMatrixShape(typeOf(first.getInput()).getShape());
  auto quantization = QuantizationAttr::get(
      first.getContext(), matrix[0], matrix[1],
      typeOf(first.getPayload()).getElementType(), bool(plain), bool(turned),
      /*amax=*/false, first.getSaturate(), first.getKeepNonFinite(), blocks);
  SmallVector<RankedTensorType> targets = quantization.getTypes();
  SmallVector<Type> types(targets.begin(), targets.end());
  rewriter.setInsertionPoint(first);
  auto launch = QuantizeBlocksOp::create(
      rewriter, getNamedLocation(first), types, StringAttr(), first.getInput(),
      ValueRange(), ValueRange(), Value(), quantization);
  if (plain)
    operands[plain.getPayload()][false] = {
        launch.getResult(*quantization.getPayloadTarget()),
        launch.getResult(*quantization.getInverseTarget())};
  if (turned)
    operands[turned.getPayload()][true] = {
        launch.getResult(*quantization.getTransposedTarget()),
        launch.getResult(*quantization.getTransposedFactorsTarget())};
}

void mlir::cuda::quantizeOwnBlocks(PatternRewriter &rewriter,
                                   ArrayRef<Quantization> ops,
                                   QuantizedOperands &operands) {
  llvm::MapVector<Key, Orders> tiles;
  for (Quantization op : ops) {
    ScaleFromAmaxOp rule = findOwnScale(op);
    if (!rule)
      continue;
    std::array<bool, 2> isRead = getReadOrders(op);
    for (bool transposed : {false, true}) {
      std::optional<Float8Scale> kind =
          getFloat8Scale(*op.getBlocks(), transposed);
      // Exponents hold only powers of two.
      if (!isRead[transposed] || !kind ||
          (*kind == Float8Scale::Vector32 && !rule.getPowerOfTwo()))
        continue;
      Orders alone;
      alone.order[transposed] = op;
      if (!fitsTiles(*kind)) {
        if (!transposed)
          quantizeOrders(rewriter, alone, operands);
        continue;
      }
      Key key(op.getInput(), rule->getAttrDictionary(),
              2 * op.getSaturate() + op.getKeepNonFinite(), op->getBlock());
      Quantization &order = tiles[key].order[transposed];
      if (order)
        quantizeOrders(rewriter, alone, operands);
      else
        order = op;
    }
  }
  for (auto &[key, orders] : tiles)
    quantizeOrders(rewriter, orders, operands);
}
