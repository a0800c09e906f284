//===- StatisticsToLinalg.cpp - Statistics as loops -----------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two loops over the elements. The first has only integer reductions, which
// vectorise. The second counts exponents.
//
//===----------------------------------------------------------------------===//

#include "amp/Conversion/LinalgCommon/LinalgBuilder.h"

#include "amp/Dialect/AMP/IR/AMP.h"
#include "amp/Runtime/Host/Statistics.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::amp;
namespace host = ::amphost;

static constexpr uint32_t kInfinityBits = 0x7F800000;

/// The bits, as an f32, of the least finite magnitude that `type` does not
/// round to a finite value.
static uint32_t getOverflowBits(FloatType type) {
  auto isFinite = [&](uint32_t bits) {
    APFloat value(APFloat::IEEEsingle(), APInt(32, bits));
    bool losesInfo;
    value.convert(type.getFloatSemantics(), APFloat::rmNearestTiesToEven,
                  &losesInfo);
    return value.isFinite();
  };
  uint32_t low = 0, high = kInfinityBits;
  while (high - low > 1) {
    uint32_t middle = low + (high - low) / 2;
    (isFinite(middle) ? low : high) = middle;
  }
  return high;
}

/// The bits, as an f32, of the least magnitude that `type` does not round to 0.
static uint32_t getNonZeroBits(FloatType type) {
  uint32_t low = 0, high = kInfinityBits;
  while (high - low > 1) {
    uint32_t middle = low + (high - low) / 2;
    APFloat value(APFloat::IEEEsingle(), APInt(32, middle));
    bool losesInfo;
    value.convert(type.getFloatSemantics(), APFloat::rmNearestTiesToEven,
                  &losesInfo);
    (value.isZero() ? low : high) = middle;
  }
  return high;
}

namespace {

/// Builds the loops over the elements of one tensor.
class StatisticsBuilder {
public:
  StatisticsBuilder(LinalgBuilder &b, Value input)
      : linalg(b), b(b.getBuilder()), i32(this->b.getI32Type()),
        i64(this->b.getI64Type()), index(this->b.getIndexType()) {
    // A tensor with one dimension needs one loop.
    auto type = typeOf(input);
    if (type.getRank() == 0) {
      elements = tensor::ExpandShapeOp::create(
          this->b, RankedTensorType::get({1}, type.getElementType()), input,
          ArrayRef<ReassociationIndices>());
    } else if (type.getRank() > 1) {
      ReassociationIndices all =
          llvm::to_vector(llvm::seq<int64_t>(0, type.getRank()));
      elements = tensor::CollapseShapeOp::create(
          this->b, input, ArrayRef<ReassociationIndices>(all));
    } else {
      elements = input;
    }
    // Counts of 32 bits fill vector registers.
    auto flat = typeOf(elements);
    counter =
        flat.hasStaticShape() && flat.getNumElements() <= INT32_MAX ? i32 : i64;
    zero = arith::ConstantIndexOp::create(this->b, 0);
    one = arith::ConstantIndexOp::create(this->b, 1);
    size = tensor::DimOp::create(this->b, elements, zero);
  }

  Value build(FloatType to) {
    SmallVector<Value> scalars = buildCounts(to);
    Value counts = buildHistogram();
    for (auto [position, scalar] : llvm::enumerate(scalars)) {
      Value at = arith::ConstantIndexOp::create(b, position);
      Value wide = scalar.getType() == i64
                       ? scalar
                       : arith::ExtUIOp::create(b, i64, scalar).getResult();
      counts = tensor::InsertOp::create(b, wide, counts, at);
    }
    return counts;
  }

private:
  Value bits(uint32_t value) {
    return arith::ConstantOp::create(b, b.getI32IntegerAttr(int32_t(value)));
  }

  /// The bits of the magnitude of element `at` as an f32.
  Value buildMagnitude(Value at) {
    Value element = tensor::ExtractOp::create(b, elements, at);
    Value value = roundScalar(b, widenScalar(b, element), b.getF32Type());
    return arith::AndIOp::create(b, arith::BitcastOp::create(b, i32, value),
                                 bits(0x7FFFFFFF));
  }

  /// `count` and 1 if `left` `predicate` `right`.
  Value addIf(Value count, arith::CmpIPredicate predicate, Value left,
              Value right) {
    Value holds = arith::CmpIOp::create(b, predicate, left, right);
    return arith::AddIOp::create(b, count,
                                 arith::ExtUIOp::create(b, counter, holds));
  }

  /// The values of the fields before the histogram.
  SmallVector<Value> buildCounts(FloatType to) {
    using P = arith::CmpIPredicate;
    Value none = arith::ConstantOp::create(b, b.getIntegerAttr(counter, 0));
    SmallVector<Value> init(5, none);
    init.push_back(bits(0));
    // Magnitudes other than 0, less 1. The largest integer means none.
    init.push_back(bits(~0U));
    auto loop = scf::ForOp::create(
        b, zero, size, one, init,
        [&](OpBuilder &inner, Location, Value at, ValueRange old) {
          OpBuilder::InsertionGuard guard(b);
          b.setInsertionPoint(inner.getInsertionBlock(),
                              inner.getInsertionPoint());
          Value magnitude = buildMagnitude(at);
          Value infinity = bits(kInfinityBits);
          Value less = arith::SubIOp::create(b, magnitude, bits(1));
          SmallVector<Value> next(old);
          next[host::kNaNs] =
              addIf(old[host::kNaNs], P::ugt, magnitude, infinity);
          next[host::kInfinities] =
              addIf(old[host::kInfinities], P::eq, magnitude, infinity);
          next[host::kZeros] =
              addIf(old[host::kZeros], P::eq, magnitude, bits(0));
          if (to) {
            uint32_t limit = getOverflowBits(to);
            // One comparison for a range: other values wrap around.
            Value above = arith::SubIOp::create(b, magnitude, bits(limit));
            next[host::kOverflows] = addIf(old[host::kOverflows], P::ult, above,
                                           bits(kInfinityBits - limit));
            next[host::kUnderflows] = addIf(old[host::kUnderflows], P::ult,
                                            less, bits(getNonZeroBits(to) - 1));
          }
          Value isFinite =
              arith::CmpIOp::create(b, P::ult, magnitude, infinity);
          Value finite =
              arith::SelectOp::create(b, isFinite, magnitude, bits(0));
          next[host::kLargest] =
              arith::MaxUIOp::create(b, old[host::kLargest], finite);
          next[host::kSmallest] =
              arith::MinUIOp::create(b, old[host::kSmallest], less);
          scf::YieldOp::create(b, next);
        });
    SmallVector<Value> results(loop.getResults());
    Value smallest =
        arith::AddIOp::create(b, results[host::kSmallest], bits(1));
    Value isFinite = arith::CmpIOp::create(b, arith::CmpIPredicate::ult,
                                           smallest, bits(kInfinityBits));
    results[host::kSmallest] =
        arith::SelectOp::create(b, isFinite, smallest, bits(0));
    return results;
  }

  /// A tensor with the counts of exponents. Its other elements are 0.
  Value buildHistogram() {
    Value counts =
        linalg.filled(RankedTensorType::get({host::kNumStatistics}, i64), 0.0);
    auto loop = scf::ForOp::create(
        b, zero, size, one, counts,
        [&](OpBuilder &inner, Location, Value at, ValueRange old) {
          OpBuilder::InsertionGuard guard(b);
          b.setInsertionPoint(inner.getInsertionBlock(),
                              inner.getInsertionPoint());
          Value exponent =
              arith::ShRUIOp::create(b, buildMagnitude(at), bits(23));
          Value bin = arith::AddIOp::create(b, exponent, bits(host::kFirstBin));
          bin = arith::IndexCastUIOp::create(b, index, bin);
          Value count = tensor::ExtractOp::create(b, old[0], bin);
          Value more = arith::ConstantOp::create(b, b.getI64IntegerAttr(1));
          count = arith::AddIOp::create(b, count, more);
          scf::YieldOp::create(
              b, ValueRange{tensor::InsertOp::create(b, count, old[0], bin)});
        });
    return loop.getResult(0);
  }

  LinalgBuilder &linalg;
  ImplicitLocOpBuilder &b;
  Type i32, i64, index, counter;
  Value elements, zero, one, size;
};

struct LowerStatistics : TensorPattern<StatisticsOp> {
  using TensorPattern::TensorPattern;
  void lower(StatisticsOp op, LinalgBuilder &b,
             PatternRewriter &rewriter) const override {
    auto to = op.getTo() ? cast<FloatType>(*op.getTo()) : FloatType();
    rewriter.replaceOp(op, StatisticsBuilder(b, op.getInput()).build(to));
  }
};

} // namespace

void mlir::amp::populateStatisticsToLinalg(RewritePatternSet &patterns) {
  patterns.add<LowerStatistics>(patterns.getContext());
}
