//===- Sort.cpp - Sorting by any comparison -------------------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The rank of an element is the number of elements that come before it. The
// ranks are integers, and a gather brings the elements into their order, so
// that gradients flow through the elements alone.
//
//===----------------------------------------------------------------------===//

#include "StableHLOImporter.h"
#include "amp/Support/StableHLOText.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mlir::amp;
using namespace mlir::train;

//===----------------------------------------------------------------------===//
// Comparisons of scalars
//===----------------------------------------------------------------------===//

namespace {

/// Emits the operations of a region over scalars as operations of arith.
class ScalarRegion {
public:
  ScalarRegion(OpBuilder &builder, Location loc) : builder(builder), loc(loc) {}

  /// The result of `body` for `arguments`, or null if an operation in it is not
  /// supported.
  Value emit(Block &body, ValueRange arguments);

private:
  Value emitOne(Operation *op);
  Value emitCompare(Operation *op, Value lhs, Value rhs);
  /// An integer of the width of the float `x`, in the total order of floats.
  Value orderBits(Value x);

  OpBuilder &builder;
  Location loc;
  IRMapping mapping;
};

} // namespace

Value ScalarRegion::orderBits(Value x) {
  unsigned width = x.getType().getIntOrFloatBitWidth();
  Type type = builder.getIntegerType(width);
  auto constant = [&](const APInt &value) -> Value {
    return arith::ConstantOp::create(builder, loc,
                                     builder.getIntegerAttr(type, value));
  };
  Value bits = arith::BitcastOp::create(builder, loc, type, x);
  Value sign = arith::ShRSIOp::create(builder, loc, bits,
                                      constant(APInt(width, width - 1)));
  // Negative numbers count backward.
  Value flipped = arith::AndIOp::create(
      builder, loc, sign, constant(APInt::getSignedMaxValue(width)));
  return arith::XOrIOp::create(builder, loc, bits, flipped);
}

Value ScalarRegion::emitCompare(Operation *op, Value lhs, Value rhs) {
  StringRef how = getEnum(op, "comparison_direction");
  bool isFloat = mlir::isa<FloatType>(lhs.getType());
  if (isFloat && getEnum(op, "compare_type") != "TOTALORDER") {
    using Float = arith::CmpFPredicate;
    Float predicate = how == "EQ"   ? Float::OEQ
                      : how == "NE" ? Float::UNE
                      : how == "LT" ? Float::OLT
                      : how == "LE" ? Float::OLE
                      : how == "GT" ? Float::OGT
                                    : Float::OGE;
    return arith::CmpFOp::create(builder, loc, predicate, lhs, rhs);
  }
  Type element = getElementTypeOrSelf(op->getOperand(0));
  if (isFloat) {
    lhs = orderBits(lhs);
    rhs = orderBits(rhs);
  }
  using Integer = arith::CmpIPredicate;
  bool isNatural = element.isUnsignedInteger() || element.isInteger(1);
  Integer predicate = how == "EQ"   ? Integer::eq
                      : how == "NE" ? Integer::ne
                      : how == "LT" ? isNatural ? Integer::ult : Integer::slt
                      : how == "LE" ? isNatural ? Integer::ule : Integer::sle
                      : how == "GT" ? isNatural ? Integer::ugt : Integer::sgt
                      : isNatural   ? Integer::uge
                                    : Integer::sge;
  return arith::CmpIOp::create(builder, loc, predicate, lhs, rhs);
}

Value ScalarRegion::emitOne(Operation *op) {
  StringRef name = op->getName().stripDialect();
  SmallVector<Value> x;
  for (Value operand : op->getOperands()) {
    x.push_back(mapping.lookupOrNull(operand));
    if (!x.back())
      return {};
  }
  if (name == "constant") {
    auto elements = dyn_cast_or_null<DenseElementsAttr>(op->getAttr("value"));
    if (!elements || !elements.isSplat())
      return {};
    if (isa<FloatType>(elements.getElementType()))
      return arith::ConstantOp::create(
          builder, loc, cast<TypedAttr>(elements.getSplatValue<Attribute>()));
    APInt value = elements.getSplatValue<APInt>();
    return arith::ConstantOp::create(
        builder, loc,
        builder.getIntegerAttr(builder.getIntegerType(value.getBitWidth()),
                               value));
  }
  if (x.size() == 3 && name == "select")
    return arith::SelectOp::create(builder, loc, x[0], x[1], x[2]);
  if (x.size() != 2 || x[0].getType() != x[1].getType())
    return {};
  if (name == "compare")
    return emitCompare(op, x[0], x[1]);
  if (!isa<IntegerType>(x[0].getType()))
    return {};
  if (name == "and")
    return arith::AndIOp::create(builder, loc, x[0], x[1]);
  if (name == "or")
    return arith::OrIOp::create(builder, loc, x[0], x[1]);
  if (name == "xor")
    return arith::XOrIOp::create(builder, loc, x[0], x[1]);
  return {};
}

Value ScalarRegion::emit(Block &body, ValueRange arguments) {
  mapping.map(body.getArguments(), arguments);
  for (Operation &op : body) {
    if (&op == &body.back())
      break;
    if (op.getNumResults() != 1)
      return {};
    Value result = emitOne(&op);
    if (!result)
      return {};
    mapping.map(op.getResult(0), result);
  }
  return mapping.lookupOrNull(body.back().getOperand(0));
}

//===----------------------------------------------------------------------===//
// Ranks
//===----------------------------------------------------------------------===//

/// A generic operation over `rows`, `size` and `size` with a result of
/// tensor<rows x size x i64>, reduced along the last dimension from zeros.
/// `first` and `second` have the dimensions (rows, size).
static Value
reducePairs(OpBuilder &builder, Location loc, ValueRange first,
            ValueRange second, RankedTensorType type,
            function_ref<void(OpBuilder &, Location, ValueRange)> body) {
  MLIRContext *context = builder.getContext();
  AffineExpr row, i, j;
  bindDims(context, row, i, j);
  SmallVector<AffineMap> maps(first.size(),
                              AffineMap::get(3, 0, {row, i}, context));
  maps.append(second.size(), AffineMap::get(3, 0, {row, j}, context));
  maps.push_back(AffineMap::get(3, 0, {row, i}, context));
  SmallVector<Value> inputs(first);
  llvm::append_range(inputs, second);
  Value zeros =
      arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type));
  SmallVector<utils::IteratorType> kinds = {utils::IteratorType::parallel,
                                            utils::IteratorType::parallel,
                                            utils::IteratorType::reduction};
  return linalg::GenericOp::create(builder, loc, TypeRange(type), inputs,
                                   ValueRange(zeros), maps, kinds, body)
      ->getResult(0);
}

bool StableHLOImporter::convertSort(Operation *op) {
  auto dimension = op->getAttrOfType<IntegerAttr>("dimension");
  unsigned count = op->getNumOperands();
  if (count == 0 || op->getNumResults() != count || op->getNumRegions() != 1 ||
      !op->getRegion(0).hasOneBlock())
    return false;
  Block &body = op->getRegion(0).front();
  auto type = typeOf(op->getOperand(0));
  int64_t dim = dimension ? dimension.getInt() : -1;
  dim += dim < 0 ? type.getRank() : 0;
  if (dim < 0 || dim >= type.getRank() || type.getNumElements() == 0 ||
      body.getNumArguments() != 2 * count || body.empty() ||
      body.back().getNumOperands() != 1)
    return false;
  Location loc = op->getLoc();
  SmallVector<int64_t> order, ordered;
  for (int64_t i = 0; i < type.getRank(); ++i)
    if (i != dim)
      order.push_back(i);
  order.push_back(dim);
  for (int64_t i : order)
    ordered.push_back(type.getDimSize(i));
  int64_t size = type.getDimSize(dim), rows = type.getNumElements() / size;
  SmallVector<Value> lines, keys;
  SmallVector<unsigned> keyNumbers;
  for (auto [number, operand] : llvm::enumerate(op->getOperands())) {
    Value x = getAny(operand);
    if (!x || typeOf(x).getShape() != type.getShape())
      return false;
    lines.push_back(reshapeAny(loc, transposeAny(loc, x, order), {rows, size}));
    if (body.getArgument(2 * number).use_empty() &&
        body.getArgument(2 * number + 1).use_empty())
      continue;
    keys.push_back(lines.back());
    keyNumbers.push_back(number);
  }
  auto integers = RankedTensorType::get({rows, size}, builder.getI64Type());
  bool isSupported = true;
  Value ranks = reducePairs(
      builder, loc, keys, keys, integers,
      [&](OpBuilder &b, Location l, ValueRange args) {
        auto before = [&](bool swaps) {
          // Arguments without uses may have any value.
          SmallVector<Value> values(2 * count, args.back());
          for (auto [k, number] : llvm::enumerate(keyNumbers)) {
            values[2 * number] = args[swaps ? k : keys.size() + k];
            values[2 * number + 1] = args[swaps ? keys.size() + k : k];
          }
          return ScalarRegion(b, l).emit(body, values);
        };
        Value isBefore = before(false), isAfter = before(true);
        isSupported = isBefore && isAfter;
        if (!isSupported) {
          linalg::YieldOp::create(b, l, args.back());
          return;
        }
        // Equal elements keep their order.
        Value isEarlier = arith::CmpIOp::create(
            b, l, arith::CmpIPredicate::slt, linalg::IndexOp::create(b, l, 2),
            linalg::IndexOp::create(b, l, 1));
        Value isLater = arith::XOrIOp::create(
            b, l, isAfter,
            arith::ConstantOp::create(b, l, b.getBoolAttr(true)));
        Value counts = arith::OrIOp::create(
            b, l, isBefore, arith::AndIOp::create(b, l, isEarlier, isLater));
        Value one = arith::ExtUIOp::create(b, l, b.getI64Type(), counts);
        linalg::YieldOp::create(
            b, l, arith::AddIOp::create(b, l, args.back(), one).getResult());
      });
  if (!isSupported) {
    advice = "expected a comparison of its operands";
    return false;
  }
  // The element of each rank, by its place among all rows.
  Value places = reducePairs(
      builder, loc, {}, ranks, integers,
      [&](OpBuilder &b, Location l, ValueRange args) {
        auto toI64 = [&](Value value) -> Value {
          return arith::IndexCastOp::create(b, l, b.getI64Type(), value);
        };
        Value rank = toI64(linalg::IndexOp::create(b, l, 1));
        Value isHere = arith::CmpIOp::create(b, l, arith::CmpIPredicate::eq,
                                             args[0], rank);
        Value row = linalg::IndexOp::create(b, l, 0);
        Value length = arith::ConstantIndexOp::create(b, l, size);
        Value start = arith::MulIOp::create(b, l, row, length);
        Value place = toI64(arith::AddIOp::create(
            b, l, start, linalg::IndexOp::create(b, l, 2)));
        linalg::YieldOp::create(
            b, l,
            arith::SelectOp::create(b, l, isHere, place, args[1]).getResult());
      });
  for (auto [line, result] : llvm::zip(lines, op->getResults())) {
    Value x = gatherAny(loc, reshapeAny(loc, line, {rows * size}), places);
    x = transposeAny(loc, reshapeAny(loc, x, ordered),
                     invertPermutationVector(order));
    known[result] = {x, std::nullopt, std::nullopt};
  }
  return true;
}
