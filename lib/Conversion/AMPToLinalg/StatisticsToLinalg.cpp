//===- StatisticsToLinalg.cpp - Statistics as loops -----------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Computes statistics in loops over the elements. The first loop contains only
// two integer reductions, which vectorise. The second loop counts elements that
// are subnormal, not finite, or lost by the cast. It runs only if the results
// of the first loop show that there may be such elements. The third loop counts
// exponents, by vectors if it may. Otherwise it counts them one at a time. They
// alternate between several tables, because an increment waits for the previous
// one of the same counter.
//
//===----------------------------------------------------------------------===//

#include "StatisticsToLinalg.h"

#include "ExponentWindow.h"
#include "amp/Conversion/LinalgCommon/LinalgBuilder.h"

#include "amp/Dialect/AMP/IR/AMP.h"
#include "amp/Runtime/Host/ValueStatistics.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::amp;
namespace host = ::amphost;

static constexpr uint32_t kInfinityBits = 0x7F800000,
                          kLeastNormalBits = 0x00800000;

/// The tables in which exponents are counted, and the number of elements for
/// which clearing and adding more than one of them would take longer.
static constexpr int64_t kTables = 4;
static constexpr int64_t kFewElements = 1024;

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
  StatisticsBuilder(LinalgBuilder &b, Value input, bool usesVectors)
      : linalg(b), b(b.getBuilder()), i32(this->b.getI32Type()),
        i64(this->b.getI64Type()), index(this->b.getIndexType()),
        usesVectors(usesVectors && !typeOf(input).getElementType().isF64()) {
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
    auto [largest, smallest] = buildExtremes();
    // Elements 0 to kLargest, and whether the zeros were counted.
    auto [fields, hasZeros] = buildRareCounts(to, largest, smallest);
    Value none = arith::CmpIOp::create(b, arith::CmpIPredicate::eq,
                                       fields[host::kLargest], bits(0));
    Value counts = buildHistogram(
        arith::SelectOp::create(b, none, largest, fields[host::kLargest]));
    // Without subnormals, the first bin counts zeros.
    Value first = arith::ConstantIndexOp::create(b, host::kFirstBin);
    Value tiny = tensor::ExtractOp::create(b, counts, first);
    fields[host::kZeros] =
        arith::SelectOp::create(b, hasZeros, widen(fields[host::kZeros]), tiny);
    for (auto [position, field] : llvm::enumerate(fields)) {
      Value at = arith::ConstantIndexOp::create(b, position);
      counts = tensor::InsertOp::create(b, widen(field), counts, at);
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

  /// `scalar` as an i64.
  Value widen(Value scalar) {
    return scalar.getType() == i64
               ? scalar
               : arith::ExtUIOp::create(b, i64, scalar).getResult();
  }

  /// A loop from `from` to `to` whose body `build` adds at the insertion point
  /// and that carries `init`.
  ValueRange
  buildLoop(Value from, Value to, Value step, ValueRange init,
            function_ref<SmallVector<Value>(Value, ValueRange)> build) {
    auto loop = scf::ForOp::create(
        b, from, to, step, init,
        [&](OpBuilder &inner, Location, Value at, ValueRange old) {
          OpBuilder::InsertionGuard guard(b);
          b.setInsertionPoint(inner.getInsertionBlock(),
                              inner.getInsertionPoint());
          scf::YieldOp::create(b, build(at, old));
        });
    return loop.getResults();
  }

  /// The largest magnitude, of elements that are not finite too, and the
  /// smallest other than 0, less 1, as the bits of an f32. The largest integer
  /// means none. Elements of 16 bits are compared as such, which needs no
  /// conversion and fills vectors with twice as many.
  std::pair<Value, Value> buildExtremes() {
    Type element = typeOf(elements).getElementType();
    bool isNarrow = element.getIntOrFloatBitWidth() == 16;
    Type word = isNarrow ? b.getI16Type() : i32;
    auto constant = [&](int64_t value) {
      return arith::ConstantOp::create(b, b.getIntegerAttr(word, value));
    };
    auto build = [&](Value at) -> Value {
      if (!isNarrow)
        return buildMagnitude(at);
      Value value = tensor::ExtractOp::create(b, elements, at);
      return arith::AndIOp::create(b, arith::BitcastOp::create(b, word, value),
                                   constant(0x7FFF));
    };
    ValueRange results =
        buildLoop(zero, size, one, ValueRange{constant(0), constant(-1)},
                  [&](Value at, ValueRange old) {
                    Value magnitude = build(at);
                    Value less =
                        arith::SubIOp::create(b, magnitude, constant(1));
                    return SmallVector<Value>{
                        arith::MaxUIOp::create(b, old[0], magnitude),
                        arith::MinUIOp::create(b, old[1], less)};
                  });
    if (!isNarrow)
      return {results[0], results[1]};
    auto extend = [&](Value magnitude) -> Value {
      Value value = arith::BitcastOp::create(b, element, magnitude);
      return arith::BitcastOp::create(b, i32, widenScalar(b, value));
    };
    Value least = extend(arith::AddIOp::create(b, results[1], constant(1)));
    return {extend(results[0]), arith::SubIOp::create(b, least, bits(1))};
  }

  /// Returns a builder for a branch of an `scf.if` that yields the results of
  /// `build`.
  std::function<void(OpBuilder &, Location)>
  inBranch(std::function<SmallVector<Value>()> build) {
    return [this, build](OpBuilder &inner, Location) {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPoint(inner.getInsertionBlock(), inner.getInsertionPoint());
      scf::YieldOp::create(b, build());
    };
  }

  /// Returns the values of the fields before the histogram, and whether the
  /// elements were counted for them. They are counted only if `largest` or
  /// `smallest` shows that a field other than the number of zeros may be
  /// nonzero.
  std::pair<SmallVector<Value>, Value>
  buildRareCounts(FloatType to, Value largest, Value smallest) {
    using P = arith::CmpIPredicate;
    Value none = arith::ConstantOp::create(b, b.getIntegerAttr(counter, 0));
    Value hasTiny =
        arith::CmpIOp::create(b, P::ult, smallest, bits(kLeastNormalBits - 1));
    Value hasLarge = arith::CmpIOp::create(
        b, P::uge, largest, bits(to ? getOverflowBits(to) : kInfinityBits));
    Value isNeeded = arith::OrIOp::create(b, hasTiny, hasLarge);
    if (to) {
      Value hasSmall = arith::CmpIOp::create(b, P::ult, smallest,
                                             bits(getNonZeroBits(to) - 1));
      isNeeded = arith::OrIOp::create(b, isNeeded, hasSmall);
    }
    auto choice = scf::IfOp::create(
        b, isNeeded, inBranch([&] { return buildCounts(to); }), inBranch([&] {
          SmallVector<Value> fields(5, none);
          fields.push_back(largest);
          return fields;
        }));
    SmallVector<Value> fields(choice.getResults());
    Value least = arith::AddIOp::create(b, smallest, bits(1));
    Value isFinite =
        arith::CmpIOp::create(b, P::ult, least, bits(kInfinityBits));
    fields.push_back(arith::SelectOp::create(b, isFinite, least, bits(0)));
    return {fields, isNeeded};
  }

  /// The counts, and the largest finite magnitude.
  SmallVector<Value> buildCounts(FloatType to) {
    using P = arith::CmpIPredicate;
    Value none = arith::ConstantOp::create(b, b.getIntegerAttr(counter, 0));
    SmallVector<Value> init(5, none);
    init.push_back(bits(0));
    return buildLoop(zero, size, one, init, [&](Value at, ValueRange old) {
      Value magnitude = buildMagnitude(at);
      Value infinity = bits(kInfinityBits);
      SmallVector<Value> next(old);
      next[host::kNaNs] = addIf(old[host::kNaNs], P::ugt, magnitude, infinity);
      next[host::kInfinities] =
          addIf(old[host::kInfinities], P::eq, magnitude, infinity);
      next[host::kZeros] = addIf(old[host::kZeros], P::eq, magnitude, bits(0));
      if (to) {
        uint32_t limit = getOverflowBits(to);
        // One comparison for a range: other values wrap around.
        Value above = arith::SubIOp::create(b, magnitude, bits(limit));
        next[host::kOverflows] = addIf(old[host::kOverflows], P::ult, above,
                                       bits(kInfinityBits - limit));
        Value less = arith::SubIOp::create(b, magnitude, bits(1));
        next[host::kUnderflows] = addIf(old[host::kUnderflows], P::ult, less,
                                        bits(getNonZeroBits(to) - 1));
      }
      Value isFinite = arith::CmpIOp::create(b, P::ult, magnitude, infinity);
      Value finite = arith::SelectOp::create(b, isFinite, magnitude, bits(0));
      next[host::kLargest] =
          arith::MaxUIOp::create(b, old[host::kLargest], finite);
      return next;
    });
  }

  /// The position of element `at` in a table of exponents that begins at
  /// `begin`.
  Value buildBin(Value at, int64_t begin) {
    Value bin = arith::ShRUIOp::create(b, buildMagnitude(at), bits(23));
    bin = arith::AddIOp::create(b, bin, bits(begin));
    return arith::IndexCastUIOp::create(b, index, bin);
  }

  /// Counts the exponents of the elements from `from` to `to` in `number`
  /// tables of `tables`, the first of which begins at `begin`.
  Value countExponents(Value tables, Value from, Value to, int64_t number,
                       int64_t begin) {
    Value step = arith::ConstantIndexOp::create(b, number);
    Type type = typeOf(tables).getElementType();
    Value more = arith::ConstantOp::create(b, b.getIntegerAttr(type, 1));
    return buildLoop(from, to, step, tables, [&](Value at, ValueRange old) {
      SmallVector<Value> bins, counts;
      for (int64_t i = 0; i < number; ++i) {
        Value shift = arith::ConstantIndexOp::create(b, i);
        bins.push_back(buildBin(arith::AddIOp::create(b, at, shift),
                                begin + i * host::kNumExponents));
      }
      // The tables differ, so no count depends on another one.
      for (Value bin : bins)
        counts.push_back(arith::AddIOp::create(
            b, tensor::ExtractOp::create(b, old[0], bin), more));
      Value next = old[0];
      for (auto [bin, count] : llvm::zip_equal(bins, counts))
        next = tensor::InsertOp::create(b, count, next, bin);
      return SmallVector<Value>{next};
    })[0];
  }

  /// Returns a tensor with the counts of exponents. Its other elements are 0.
  /// `largest` contains the bits of the largest finite magnitude as an f32, or
  /// of the largest one if none is finite and nonzero.
  Value buildHistogram(Value largest) {
    Value counts =
        linalg.filled(RankedTensorType::get({host::kNumStatistics}, i64), 0.0);
    auto flat = typeOf(elements);
    int64_t few = usesVectors ? kExponentVector : kFewElements;
    if (flat.hasStaticShape() && flat.getNumElements() < few)
      return countExponents(counts, zero, size, 1, host::kFirstBin);
    Value number = arith::ConstantIndexOp::create(
        b, usesVectors ? kExponentVector : kTables);
    Value rest = arith::RemUIOp::create(b, size, number);
    Value whole = arith::SubIOp::create(b, size, rest);
    if (usesVectors) {
      counts = countExponentsByVectors(b, elements, whole, largest, counts,
                                       host::kFirstBin);
      return countExponents(counts, whole, size, 1, host::kFirstBin);
    }
    Value tables = linalg.filled(
        RankedTensorType::get({kTables * host::kNumExponents}, counter), 0.0);
    tables = countExponents(tables, zero, whole, kTables, 0);
    tables = countExponents(tables, whole, size, 1, 0);
    Value end = arith::ConstantIndexOp::create(b, host::kNumExponents);
    Value first = arith::ConstantIndexOp::create(b, host::kFirstBin);
    return buildLoop(zero, end, one, counts, [&](Value at, ValueRange old) {
      Value sum;
      for (int64_t i = 0; i < kTables; ++i) {
        Value begin =
            arith::ConstantIndexOp::create(b, i * host::kNumExponents);
        Value count = tensor::ExtractOp::create(
            b, tables, ValueRange{arith::AddIOp::create(b, at, begin)});
        sum = sum ? arith::AddIOp::create(b, sum, count).getResult() : count;
      }
      Value to = arith::AddIOp::create(b, at, first);
      return SmallVector<Value>{
          tensor::InsertOp::create(b, widen(sum), old[0], to)};
    })[0];
  }

  LinalgBuilder &linalg;
  ImplicitLocOpBuilder &b;
  Type i32, i64, index, counter;
  Value elements, zero, one, size;
  /// Whether exponents are counted by vectors.
  bool usesVectors;
};

struct LowerStatistics : TensorPattern<StatisticsOp> {
  LowerStatistics(MLIRContext *context, bool usesVectors)
      : TensorPattern(context), usesVectors(usesVectors) {}
  void lower(StatisticsOp op, LinalgBuilder &b,
             PatternRewriter &rewriter) const override {
    auto to = op.getTo() ? cast<FloatType>(*op.getTo()) : FloatType();
    StatisticsBuilder builder(b, op.getInput(), usesVectors);
    rewriter.replaceOp(op, builder.build(to));
  }

  bool usesVectors;
};

} // namespace

void mlir::amp::populateStatisticsToLinalg(RewritePatternSet &patterns) {
  patterns.add<LowerStatistics>(patterns.getContext(), /*usesVectors=*/false);
}

void mlir::amp::populateStatisticsToVectors(RewritePatternSet &patterns) {
  patterns.add<LowerStatistics>(patterns.getContext(), /*usesVectors=*/true);
}
