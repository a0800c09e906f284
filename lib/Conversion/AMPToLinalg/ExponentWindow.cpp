//===- ExponentWindow.cpp - Counts of exponents by vectors ----------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Most elements of a tensor have an exponent in a window below the largest one.
// The distance of an exponent from the largest one has four bits there. A
// vector of 64 elements gives one mask of 64 bits for each of these bits, and a
// mask of the elements in the window. Lane i of a vector with 16 lanes combines
// these masks into the mask of the elements with the i-th exponent of the
// window. The loop adds the population counts of the lanes.
//
// A vector with elements outside of this window counts a second window in the
// same way, and its other elements one at a time. Zeros have a mask of their
// own.
//
//===----------------------------------------------------------------------===//

#include "ExponentWindow.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::amp;

static constexpr int64_t kDistanceBits = 4;
static constexpr int64_t kExponentsInWindow = 1 << kDistanceBits;
static constexpr int64_t kExponentWindows = 2;

namespace {

/// Builds the loop over the vectors of one tensor.
class ExponentCounter {
public:
  ExponentCounter(ImplicitLocOpBuilder &b, Value elements, int64_t firstBin)
      : b(b), i8(b.getI8Type()), i32(b.getI32Type()), i64(b.getI64Type()),
        element(cast<RankedTensorType>(elements.getType()).getElementType()),
        elements(elements), firstBin(firstBin) {}

  Value build(Value size, Value largest, Value histogram) {
    // No window may contain exponent 0.
    first = arith::MaxUIOp::create(
        b, arith::ShRUIOp::create(b, largest, constant(i32, 23)),
        constant(i32, kExponentsInWindow * kExponentWindows));
    top = vector::BroadcastOp::create(b, bytes(),
                                      arith::TruncIOp::create(b, i8, first));
    SmallVector<Value> init(
        kExponentWindows, arith::ConstantOp::create(
                              b, DenseElementsAttr::get(lanes(), int64_t(0))));
    init.push_back(constant(i64, 0));
    init.push_back(histogram);
    Value zero = arith::ConstantIndexOp::create(b, 0);
    Value step = arith::ConstantIndexOp::create(b, kExponentVector);
    auto loop = scf::ForOp::create(
        b, zero, size, step, init,
        [&](OpBuilder &inner, Location, Value at, ValueRange old) {
          inBlock(inner, [&] { return countVector(at, old); });
        });
    return addCounts(loop.getResults());
  }

private:
  VectorType bytes() const { return VectorType::get({kExponentVector}, i8); }
  VectorType lanes() const {
    return VectorType::get({kExponentsInWindow}, i64);
  }
  Value constant(Type type, int64_t value) {
    return arith::ConstantOp::create(b, b.getIntegerAttr(type, value));
  }
  Value splat(int64_t value) {
    return arith::ConstantOp::create(
        b, DenseElementsAttr::get(bytes(), APInt(8, uint64_t(value))));
  }

  /// Yields the results of `build`, which adds operations through `b`, at the
  /// insertion point of `inner`.
  void inBlock(OpBuilder &inner, function_ref<SmallVector<Value>()> build) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(inner.getInsertionBlock(), inner.getInsertionPoint());
    scf::YieldOp::create(b, build());
  }

  /// The biased f32 exponents of the vector that begins at `at`.
  Value buildExponents(Value at) {
    auto vectorOf = [](Type type) {
      return VectorType::get({kExponentVector}, type);
    };
    Type type = element;
    Value padding = arith::ConstantOp::create(b, b.getZeroAttr(type));
    Value values = vector::TransferReadOp::create(b, vectorOf(type), elements,
                                                  ValueRange{at}, padding,
                                                  ArrayRef<bool>{true});
    if (type.isF16()) {
      type = b.getF32Type();
      values = arith::ExtFOp::create(b, vectorOf(type), values);
    }
    Type word = b.getIntegerType(type.getIntOrFloatBitWidth());
    Value words = arith::BitcastOp::create(b, vectorOf(word), values);
    Value shift = vector::BroadcastOp::create(
        b, vectorOf(word), constant(word, type.isF32() ? 23 : 7));
    // The truncation drops the sign.
    return arith::TruncIOp::create(b, bytes(),
                                   arith::ShRUIOp::create(b, words, shift));
  }

  /// The elements for which `left` `predicate` `right`, one bit each.
  Value buildMask(arith::CmpIPredicate predicate, Value left, Value right) {
    Value mask = arith::CmpIOp::create(b, predicate, left, right);
    Value word = vector::BitCastOp::create(b, VectorType::get({1}, i64), mask);
    return vector::ExtractOp::create(b, word, ArrayRef<int64_t>{0});
  }

  /// `count` and the bits of `mask`, or of each lane.
  Value addBits(Value count, Value mask) {
    return arith::AddIOp::create(b, count, math::CtPopOp::create(b, mask));
  }

  /// The mask of the elements in window `number`.
  Value buildWindow(Value distance, int64_t number) {
    Value from =
        arith::SubIOp::create(b, distance, splat(number * kExponentsInWindow));
    return buildMask(arith::CmpIPredicate::ult, from,
                     splat(kExponentsInWindow));
  }

  /// Combines the mask of each bit of the distance, as it is or inverted, for
  /// each exponent of a window, in ascending order.
  Value buildLanes(Value distance) {
    Value all;
    for (int64_t bit = 0; bit < kDistanceBits; ++bit) {
      Value part = arith::AndIOp::create(b, distance, splat(1 << bit));
      Value mask = buildMask(arith::CmpIPredicate::ne, part, splat(0));
      SmallVector<int64_t> inverts;
      for (int64_t lane = 0; lane < kExponentsInWindow; ++lane)
        inverts.push_back(((kExponentsInWindow - 1 - lane) >> bit) & 1 ? 0
                                                                       : -1);
      Value one = arith::XOrIOp::create(
          b, vector::BroadcastOp::create(b, lanes(), mask),
          arith::ConstantOp::create(
              b, DenseElementsAttr::get(lanes(), ArrayRef<int64_t>(inverts))));
      all = all ? arith::AndIOp::create(b, all, one).getResult() : one;
    }
    return all;
  }

  /// `counts` and the elements of the mask `window` by exponent.
  Value addWindow(Value counts, Value window, Value masks) {
    return addBits(
        counts, arith::AndIOp::create(
                    b, masks, vector::BroadcastOp::create(b, lanes(), window)));
  }

  /// The body of the loop. The carried values are the counts of each window,
  /// the number of zeros, and the histogram.
  SmallVector<Value> countVector(Value at, ValueRange old) {
    using P = arith::CmpIPredicate;
    Value exponents = buildExponents(at);
    Value distance = arith::SubIOp::create(b, top, exponents);
    Value zeros = buildMask(P::eq, exponents, splat(0));
    Value window = buildWindow(distance, 0);
    Value masks = buildLanes(distance);
    SmallVector<Value> next = {addWindow(old.front(), window, masks)};
    Value counted = arith::OrIOp::create(b, window, zeros);
    Value rest = arith::XOrIOp::create(b, counted, constant(i64, -1));
    Value hasRest = arith::CmpIOp::create(b, P::ne, rest, constant(i64, 0));
    ValueRange others = old.slice(1, kExponentWindows - 1);
    auto choice = scf::IfOp::create(
        b, hasRest,
        [&](OpBuilder &inner, Location) {
          inBlock(inner, [&] {
            return countRest(at, distance, rest, masks, others, old.back());
          });
        },
        [&](OpBuilder &inner, Location) {
          inBlock(inner, [&] {
            SmallVector<Value> same(others);
            same.push_back(old.back());
            return same;
          });
        });
    llvm::append_range(next, choice.getResults().drop_back());
    next.push_back(addBits(old[next.size()], zeros));
    next.push_back(choice.getResults().back());
    return next;
  }

  /// Counts the elements of the mask `rest`: those in other windows in `old`,
  /// and those in none in `histogram`.
  SmallVector<Value> countRest(Value at, Value distance, Value rest,
                               Value masks, ValueRange old, Value histogram) {
    SmallVector<Value> next;
    for (int64_t number = 1; number < kExponentWindows; ++number) {
      Value window = buildWindow(distance, number);
      next.push_back(addWindow(old[number - 1], window, masks));
      rest = arith::XOrIOp::create(b, rest,
                                   arith::AndIOp::create(b, rest, window));
    }
    Value zero = arith::ConstantIndexOp::create(b, 0);
    Value one = arith::ConstantIndexOp::create(b, 1);
    Value number = toIndex(math::CtPopOp::create(b, rest));
    auto loop = scf::ForOp::create(
        b, zero, number, one, ValueRange{rest, histogram},
        [&](OpBuilder &inner, Location, Value, ValueRange carried) {
          inBlock(inner, [&] {
            Value left = carried[0];
            Value position = arith::AddIOp::create(
                b, at, toIndex(math::CountTrailingZerosOp::create(b, left)));
            Value less = arith::SubIOp::create(b, left, constant(i64, 1));
            return SmallVector<Value>{
                arith::AndIOp::create(b, left, less),
                addTo(carried[1], buildExponent(position), constant(i64, 1))};
          });
        });
    next.push_back(loop.getResult(1));
    return next;
  }

  Value toIndex(Value integer) {
    return arith::IndexCastUIOp::create(b, b.getIndexType(), integer);
  }

  /// The biased f32 exponent of the element at `position`.
  Value buildExponent(Value position) {
    Value value = tensor::ExtractOp::create(b, elements, position);
    if (!element.isF32())
      value = arith::ExtFOp::create(b, b.getF32Type(), value);
    Value word = arith::BitcastOp::create(b, i32, value);
    Value shifted = arith::ShRUIOp::create(b, word, constant(i32, 23));
    return arith::AndIOp::create(b, shifted, constant(i32, 0xFF));
  }

  /// `histogram` with `count` more elements that have `exponent`.
  Value addTo(Value histogram, Value exponent, Value count) {
    Value bin =
        toIndex(arith::AddIOp::create(b, exponent, constant(i32, firstBin)));
    Value sum = arith::AddIOp::create(
        b, tensor::ExtractOp::create(b, histogram, bin), count);
    return tensor::InsertOp::create(b, sum, histogram, bin);
  }

  /// Adds the other results of the loop to the histogram, its last result. The
  /// windows are next to each other, so one vector has all their bins.
  Value addCounts(ValueRange results) {
    static_assert(kExponentWindows == 2);
    constexpr int64_t kBins = kExponentWindows * kExponentsInWindow;
    Value histogram =
        addTo(results.back(), constant(i32, 0), results.drop_back().back());
    Value counts = vector::ShuffleOp::create(
        b, results[1], results[0],
        llvm::to_vector(llvm::seq<int64_t>(0, kBins)));
    auto type = VectorType::get({kBins}, i64);
    Value begin = toIndex(
        arith::AddIOp::create(b, first, constant(i32, firstBin - kBins + 1)));
    Value old =
        vector::TransferReadOp::create(b, type, histogram, ValueRange{begin},
                                       constant(i64, 0), ArrayRef<bool>{true});
    Value sums = arith::AddIOp::create(b, old, counts);
    return vector::TransferWriteOp::create(
               b, sums, histogram, ValueRange{begin}, ArrayRef<bool>{true})
        .getResult();
  }

  ImplicitLocOpBuilder &b;
  Type i8, i32, i64, element;
  Value elements;
  int64_t firstBin;
  /// The largest exponent in the first window, as an i32 and as a vector.
  Value first, top;
};

} // namespace

Value mlir::amp::countExponentsByVectors(ImplicitLocOpBuilder &b,
                                         Value elements, Value size,
                                         Value largest, Value histogram,
                                         int64_t firstBin) {
  return ExponentCounter(b, elements, firstBin).build(size, largest, histogram);
}
