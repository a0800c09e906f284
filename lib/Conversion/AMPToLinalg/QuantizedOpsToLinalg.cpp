//===- QuantizedOpsToLinalg.cpp - Scaled values of eight bits as loops ----===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Encoding and decoding are integer arithmetic, because conversions to LLVM
// know no 8-bit floats. A payload is stored in eight bits, and a product
// dequantises its operands first.
//
//===----------------------------------------------------------------------===//

#include "amp/Conversion/LinalgCommon/Contractions.h"
#include "amp/Conversion/LinalgCommon/PhiloxBuilder.h"
#include "amp/Dialect/AMP/IR/AMPQuantizedOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include <cfloat>
#include <cmath>

using namespace mlir;
using namespace mlir::amp;

namespace {

/// Integers of arith, for `encodeFloat8` and `decodeFloat8`.
class ArithIntegers {
public:
  explicit ArithIntegers(ImplicitLocOpBuilder &b) : b(b) {}
  Value integer(uint32_t value) {
    return arith::ConstantOp::create(b, b.getI32IntegerAttr(int32_t(value)));
  }
  Value add(Value x, Value y) { return arith::AddIOp::create(b, x, y); }
  Value subtract(Value x, Value y) { return arith::SubIOp::create(b, x, y); }
  Value both(Value x, Value y) { return arith::AndIOp::create(b, x, y); }
  Value either(Value x, Value y) { return arith::OrIOp::create(b, x, y); }
  Value shiftLeft(Value x, Value y) { return arith::ShLIOp::create(b, x, y); }
  Value shiftRight(Value x, Value y) { return arith::ShRUIOp::create(b, x, y); }
  Value isLess(Value x, Value y) {
    return arith::CmpIOp::create(b, arith::CmpIPredicate::ult, x, y);
  }
  Value select(Value condition, Value yes, Value no) {
    return arith::SelectOp::create(b, condition, yes, no);
  }
  Value toFloatBits(Value value) {
    return arith::BitcastOp::create(
        b, b.getI32Type(), arith::UIToFPOp::create(b, b.getF32Type(), value));
  }

private:
  ImplicitLocOpBuilder &b;
};

} // namespace

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

/// Rounds the f32 `value` to `type`.
static Value buildEncoding(ImplicitLocOpBuilder &b, Value value, Type type,
                           bool saturate) {
  ArithIntegers integers(b);
  Value bits = arith::BitcastOp::create(b, b.getI32Type(), value);
  Value code =
      amphost::encodeFloat8(integers, *getFloat8Format(type), bits, saturate);
  Value narrow = arith::TruncIOp::create(b, b.getI8Type(), code);
  return arith::BitcastOp::create(b, type, narrow);
}

/// Widens an 8-bit float to f32.
static Value buildDecoding(ImplicitLocOpBuilder &b, Value value) {
  ArithIntegers integers(b);
  Value narrow = arith::BitcastOp::create(b, b.getI8Type(), value);
  Value code = arith::ExtUIOp::create(b, b.getI32Type(), narrow);
  Value bits =
      amphost::decodeFloat8(integers, *getFloat8Format(value.getType()), code);
  return arith::BitcastOp::create(b, b.getF32Type(), bits);
}

/// Returns the f32 number next to `value` in `type`, above or below. `word` is
/// a random i32. Numbers that `type` represents do not change.
static Value buildStochasticRounding(ImplicitLocOpBuilder &b, Value value,
                                     Type type, Value word) {
  const amphost::Float8Format &format = *getFloat8Format(type);
  auto integer = PhiloxBuilder::constant32;
  auto real = [&](double number) -> Value {
    return arith::ConstantOp::create(b, b.getF32FloatAttr(float(number)));
  };
  Value bits = arith::BitcastOp::create(b, b.getI32Type(), value);
  Value sign = arith::AndIOp::create(b, bits, integer(b, 0x80000000));
  Value rest = arith::AndIOp::create(b, bits, integer(b, 0x7FFFFFFF));
  // Random bits are added to those that `type` lacks, which are then cut off.
  uint32_t lost = uint32_t(23 - format.mantissaBits);
  Value noise = arith::ShRUIOp::create(b, word, integer(b, 32 - lost));
  Value normal = arith::AndIOp::create(b, arith::AddIOp::create(b, rest, noise),
                                       integer(b, ~0u << lost));
  // Below the least normal number, distances do not depend on the exponent. The
  // sum of an integer below 8 and a multiple of 2^-20 is exact.
  int least = 1 - format.bias;
  double unit = std::ldexp(1.0, least - format.mantissaBits);
  Value magnitude = arith::BitcastOp::create(b, b.getF32Type(), rest);
  Value upper = arith::ShRUIOp::create(b, word, integer(b, 12));
  Value fraction = arith::MulFOp::create(
      b, arith::UIToFPOp::create(b, b.getF32Type(), upper), real(0x1p-20));
  Value sum = arith::AddFOp::create(
      b, arith::MulFOp::create(b, magnitude, real(1 / unit)), fraction);
  Value subnormal =
      arith::MulFOp::create(b, math::FloorOp::create(b, sum), real(unit));
  Value isSubnormal = arith::CmpFOp::create(
      b, arith::CmpFPredicate::OLT, magnitude, real(std::ldexp(1.0, least)));
  Value rounded = arith::SelectOp::create(
      b, isSubnormal, arith::BitcastOp::create(b, b.getI32Type(), subnormal),
      normal);
  Value result = arith::BitcastOp::create(
      b, b.getF32Type(), arith::OrIOp::create(b, rounded, sign));
  // Random bits would turn an infinity into NaN.
  Value isFinite = arith::CmpFOp::create(b, arith::CmpFPredicate::OLT,
                                         magnitude, real(INFINITY));
  return arith::SelectOp::create(b, isFinite, result, value);
}

static Value buildReal(ImplicitLocOpBuilder &b, double value) {
  return arith::ConstantOp::create(b, b.getF32FloatAttr(float(value)));
}

static Value buildIsFinite(ImplicitLocOpBuilder &b, Value magnitude) {
  return arith::CmpFOp::create(b, arith::CmpFPredicate::OLT, magnitude,
                               buildReal(b, INFINITY));
}

/// Builds the scale that brings the positive and finite magnitude `a` to
/// 2^-margin of the largest number of `format`. Scales and their reciprocals
/// are positive and finite.
static Value buildRoom(ImplicitLocOpBuilder &b, Type format, int32_t margin,
                       Value a) {
  double largest = getFloat8Format(format)->getLargest();
  Value room =
      arith::DivFOp::create(b, buildReal(b, std::ldexp(largest, -margin)), a);
  return arith::MinimumFOp::create(
      b, arith::MaximumFOp::create(b, room, buildReal(b, FLT_MIN)),
      buildReal(b, FLT_MAX));
}

/// Builds the scale of `op` for the magnitude `amax`.
static Value buildScale(ImplicitLocOpBuilder &b, ScaleFromAmaxOp op,
                        Value amax) {
  Value a = arith::MaximumFOp::create(
      b, amax, buildReal(b, op.getEpsilon().convertToFloat()));
  Value scale = buildRoom(b, op.getFormat(), op.getMargin(), a);
  if (op.getPowerOfTwo()) {
    Value exponent =
        arith::ConstantOp::create(b, b.getI32IntegerAttr(0x7F800000));
    Value bits = arith::BitcastOp::create(b, b.getI32Type(), scale);
    scale = arith::BitcastOp::create(b, b.getF32Type(),
                                     arith::AndIOp::create(b, bits, exponent));
  }
  Value one = buildReal(b, 1);
  Value isZero =
      arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, a, buildReal(b, 0));
  scale = arith::SelectOp::create(b, isZero, one, scale);
  return arith::SelectOp::create(b, buildIsFinite(b, a), scale,
                                 op.getIgnoreNonFinite() ? one
                                                         : buildReal(b, NAN));
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

/// The map from the elements of a matrix to the blocks that hold them.
static AffineMap getBlockMap(ImplicitLocOpBuilder &b,
                             ArrayRef<int64_t> blocks) {
  SmallVector<AffineExpr> exprs;
  for (auto [dim, size] : llvm::enumerate(blocks))
    exprs.push_back(size == 0 ? b.getAffineConstantExpr(0)
                              : b.getAffineDimExpr(dim).floorDiv(size));
  return AffineMap::get(2, 0, exprs, b.getContext());
}

/// Computes each element of a tensor of type `type` from that of `input` and
/// from the element of `scale` for its block.
static Value combineBlocks(LinalgBuilder &b, RankedTensorType type, Value input,
                           Value scale, BlockSizes blocks, ScalarBody body) {
  if (!blocks)
    return b.elementwise(type, {input, scale}, body);
  ImplicitLocOpBuilder &builder = b.getBuilder();
  SmallVector<int64_t, 2> matrix = getMatrixShape(type.getShape());
  Value result = b.elementwise(
      type.clone(matrix), {b.reshape(input, matrix), scale},
      {builder.getMultiDimIdentityMap(2), getBlockMap(builder, *blocks)}, body);
  return b.reshape(result, type.getShape());
}

/// The f32 values of `payload`.
static Value dequantize(LinalgBuilder &b, Value payload, Value scale,
                        BlockSizes blocks) {
  Value inverse = b.elementwise(
      typeOf(scale), scale,
      [](ImplicitLocOpBuilder &inner, ValueRange args) -> Value {
        return arith::DivFOp::create(inner, buildReal(inner, 1), args[0]);
      });
  auto type = typeOf(payload).clone(b.getBuilder().getF32Type());
  return combineBlocks(
      b, type, payload, inverse, blocks,
      [](ImplicitLocOpBuilder &inner, ValueRange args) -> Value {
        return arith::MulFOp::create(inner, buildDecoding(inner, args[0]),
                                     args[1]);
      });
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// The product of two f32 matrices in an accumulator of `bits` bits, to which
/// each sum is rounded toward zero. The result has the shape `shape`.
static Value multiplyTruncated(LinalgBuilder &b, ArrayRef<int64_t> shape,
                               Value lhs, Value rhs, ScaledMatmulOp op) {
  ImplicitLocOpBuilder &builder = b.getBuilder();
  // Loops: m, k, n.
  auto map = [&](unsigned row, unsigned column, bool transpose) {
    if (transpose)
      std::swap(row, column);
    return AffineMap::get(
        3, 0, {builder.getAffineDimExpr(row), builder.getAffineDimExpr(column)},
        builder.getContext());
  };
  auto kept = int32_t(~0u << (32 - op.getAccumulatorBits()));
  auto type = RankedTensorType::get(shape, builder.getF32Type());
  return b.accumulate(
      b.filled(type, 0.0), {lhs, rhs},
      {map(0, 1, op.getTransposeA()), map(1, 2, op.getTransposeB()),
       map(0, 2, false)},
      {parallel, reduction, parallel},
      [&](ImplicitLocOpBuilder &inner, ValueRange args) -> Value {
        Value product = arith::MulFOp::create(inner, args[0], args[1]);
        Value sum = arith::AddFOp::create(inner, args[2], product);
        Value bits = arith::BitcastOp::create(inner, inner.getI32Type(), sum);
        Value mask =
            arith::ConstantOp::create(inner, inner.getI32IntegerAttr(kept));
        bits = arith::AndIOp::create(inner, bits, mask);
        return arith::BitcastOp::create(inner, inner.getF32Type(), bits);
      });
}

/// The product of two f32 matrices as `op` accumulates it.
static Value multiplyAsAccumulated(LinalgBuilder &b, ArrayRef<int64_t> shape,
                                   Value lhs, Value rhs, ScaledMatmulOp op) {
  if (op.getAccumulatorBits() == 32 && op.getPromotion() == 0)
    return multiplyMatrices(b, shape, lhs, rhs, op.getTransposeA(),
                            op.getTransposeB());
  unsigned left = op.getTransposeA() ? 0 : 1,
           right = op.getTransposeB() ? 1 : 0;
  int64_t extent = typeOf(lhs).getDimSize(left);
  int64_t interval = op.getPromotion() == 0 ? extent : op.getPromotion();
  auto part = [&](Value matrix, unsigned dim, int64_t begin, int64_t size) {
    SmallVector<int64_t> offsets(2, 0), sizes(typeOf(matrix).getShape());
    offsets[dim] = begin;
    sizes[dim] = size;
    return b.slice(matrix, offsets, sizes, SmallVector<int64_t>(2, 1));
  };
  auto type = RankedTensorType::get(shape, b.getBuilder().getF32Type());
  Value sum;
  for (int64_t begin = 0; begin < extent; begin += interval) {
    int64_t size = std::min(interval, extent - begin);
    Value next = multiplyTruncated(b, shape, part(lhs, left, begin, size),
                                   part(rhs, right, begin, size), op);
    sum = sum ? b.combine<arith::AddFOp>(type, sum, next) : next;
  }
  return sum ? sum : b.filled(type, 0.0);
}

//===----------------------------------------------------------------------===//
// Patterns
//===----------------------------------------------------------------------===//

namespace {

struct LowerAmax : TensorPattern<AmaxOp> {
  using TensorPattern::TensorPattern;
  void lower(AmaxOp op, LinalgBuilder &b,
             PatternRewriter &rewriter) const override {
    Value input = op.getInput();
    auto type = typeOf(op.getAmax());
    // The bits of magnitudes order them. NaN is the largest.
    auto buildMaximum = [](ImplicitLocOpBuilder &inner,
                           ValueRange args) -> Value {
      Value bits = arith::BitcastOp::create(
          inner, inner.getI32Type(), math::AbsFOp::create(inner, args[0]));
      return arith::MaxUIOp::create(inner, args[1], bits);
    };
    Value largest;
    if (BlockSizes blocks = op.getBlocks()) {
      ImplicitLocOpBuilder &builder = b.getBuilder();
      SmallVector<utils::IteratorType> iterators;
      for (int64_t size : *blocks)
        iterators.push_back(size == 1 ? parallel : reduction);
      SmallVector<int64_t, 2> matrix = getMatrixShape(typeOf(input).getShape());
      largest = b.accumulate(
          b.filled(type.clone(builder.getI32Type()), 0.0),
          b.reshape(input, matrix),
          {builder.getMultiDimIdentityMap(2), getBlockMap(builder, *blocks)},
          iterators, buildMaximum);
    } else {
      largest = buildMaxMagnitudeBits(b, input);
    }
    rewriter.replaceOp(
        op, b.elementwise(
                type, largest,
                [](ImplicitLocOpBuilder &inner, ValueRange args) -> Value {
                  return arith::BitcastOp::create(inner, inner.getF32Type(),
                                                  args[0]);
                }));
  }
};

struct LowerScaleFromAmax : TensorPattern<ScaleFromAmaxOp> {
  using TensorPattern::TensorPattern;
  void lower(ScaleFromAmaxOp op, LinalgBuilder &b,
             PatternRewriter &rewriter) const override {
    rewriter.replaceOp(op, b.elementwise(typeOf(op.getScale()), op.getAmax(),
                                         [&](ImplicitLocOpBuilder &inner,
                                             ValueRange args) -> Value {
                                           return buildScale(inner, op,
                                                             args[0]);
                                         }));
  }
};

struct LowerUpdateQuantizer : TensorPattern<UpdateQuantizerOp> {
  using TensorPattern::TensorPattern;
  void lower(UpdateQuantizerOp op, LinalgBuilder &b,
             PatternRewriter &rewriter) const override {
    auto type = typeOf(op.getNewHistory());
    auto scalar = typeOf(op.getNewScale());
    // Whether the magnitude enters.
    auto enters = [](ImplicitLocOpBuilder &inner, Value amax) -> Value {
      Value isPositive = arith::CmpFOp::create(inner, arith::CmpFPredicate::OGT,
                                               amax, buildReal(inner, 0));
      return arith::AndIOp::create(inner, isPositive,
                                   buildIsFinite(inner, amax));
    };
    Value moved =
        b.insert(b.reshape(op.getAmax(), {1}),
                 b.pad(op.getHistory(), {1}, {-1}, {0}, 0.0), {0}, {1});
    Value history = b.elementwise(
        type, {op.getAmax(), moved, op.getHistory()},
        [&](ImplicitLocOpBuilder &inner, ValueRange args) -> Value {
          return arith::SelectOp::create(inner, enters(inner, args[0]), args[1],
                                         args[2]);
        });
    Value largest = op.getAmax();
    if (!op.getMostRecent())
      largest =
          b.reduce(history, {0}, scalar.getElementType(), 0,
                   [](ImplicitLocOpBuilder &inner, ValueRange args) -> Value {
                     return arith::MaximumFOp::create(inner, args[1], args[0]);
                   });
    Value scale = b.elementwise(
        scalar, {op.getAmax(), largest, op.getScale()},
        [&](ImplicitLocOpBuilder &inner, ValueRange args) -> Value {
          Value room =
              buildRoom(inner, op.getFormat(), op.getMargin(), args[1]);
          return arith::SelectOp::create(inner, enters(inner, args[0]), room,
                                         args[2]);
        });
    rewriter.replaceOp(op, {scale, history});
  }
};

struct LowerQuantize : TensorPattern<QuantizeOp> {
  using TensorPattern::TensorPattern;
  void lower(QuantizeOp op, LinalgBuilder &b,
             PatternRewriter &rewriter) const override {
    auto type = typeOf(op.getPayload());
    std::optional<PhiloxBuilder> random;
    if (op.getRng()) {
      // The loops of blocks run over a matrix.
      Value like = op.getInput();
      if (op.getBlocks())
        like = b.reshape(like, getMatrixShape(type.getShape()));
      random.emplace(b.getBuilder(), op.getRng(), op.getKey(), like);
    }
    rewriter.replaceOp(
        op, combineBlocks(
                b, type, op.getInput(), op.getScale(), op.getBlocks(),
                [&](ImplicitLocOpBuilder &inner, ValueRange args) -> Value {
                  Value scaled = arith::MulFOp::create(inner, args[0], args[1]);
                  if (random)
                    scaled = buildStochasticRounding(inner, scaled,
                                                     type.getElementType(),
                                                     random->buildWord(inner));
                  Value code = buildEncoding(
                      inner, scaled, type.getElementType(), op.getSaturate());
                  if (!op.getKeepNonFinite())
                    return code;
                  Value isFinite = buildIsFinite(
                      inner, math::AbsFOp::create(inner, args[0]));
                  return arith::SelectOp::create(
                      inner, isFinite, code,
                      buildEncoding(inner, args[0], type.getElementType(),
                                    /*saturate=*/false));
                }));
  }
};

struct LowerDequantize : TensorPattern<DequantizeOp> {
  using TensorPattern::TensorPattern;
  void lower(DequantizeOp op, LinalgBuilder &b,
             PatternRewriter &rewriter) const override {
    Value wide = dequantize(b, op.getPayload(), op.getScale(), op.getBlocks());
    rewriter.replaceOp(op,
                       b.castTo(wide, typeOf(op.getResult()).getElementType()));
  }
};

struct LowerScaledMatmul : TensorPattern<ScaledMatmulOp> {
  using TensorPattern::TensorPattern;
  void lower(ScaledMatmulOp op, LinalgBuilder &b,
             PatternRewriter &rewriter) const override {
    RankedTensorType type = op.getType();
    auto toMatrix = [&](Value value) {
      return b.reshape(value, getMatrixShape(typeOf(value).getShape()));
    };
    Value lhs = toMatrix(
        dequantize(b, op.getLhs(), op.getLhsScale(), op.getLhsBlocks()));
    Value rhs = toMatrix(
        dequantize(b, op.getRhs(), op.getRhsScale(), op.getRhsBlocks()));
    SmallVector<int64_t, 2> shape = getMatrixShape(type.getShape());
    Value product = multiplyAsAccumulated(b, shape, lhs, rhs, op);
    product = b.reshape(product, type.getShape());
    rewriter.replaceOp(
        op, op.getBias() ? b.combine<arith::AddFOp>(type, product, op.getBias())
                         : b.castTo(product, type.getElementType()));
  }
};

} // namespace

void mlir::amp::populateQuantizedOpsToLinalg(RewritePatternSet &patterns) {
  patterns.add<LowerAmax, LowerDequantize, LowerQuantize, LowerScaleFromAmax,
               LowerScaledMatmul, LowerUpdateQuantizer>(patterns.getContext());
}
