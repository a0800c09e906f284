//===- PhiloxBuilder.cpp - Random numbers in linalg -----------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Philox4x32-10: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy
// as 1, 2, 3", SC 2011.
//
//===----------------------------------------------------------------------===//

#include "amp/Conversion/LinalgCommon/PhiloxBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::amp;

Value PhiloxBuilder::constant32(ImplicitLocOpBuilder &b, uint32_t value) {
  return arith::ConstantOp::create(
      b, b.getIntegerAttr(b.getI32Type(), static_cast<int32_t>(value)));
}

static Value constant64(ImplicitLocOpBuilder &b, int64_t value) {
  return arith::ConstantOp::create(b, b.getI64IntegerAttr(value));
}

/// The low and high words of an i64.
static std::array<Value, 2> splitWords(ImplicitLocOpBuilder &b, Value value) {
  Value high = arith::ShRUIOp::create(b, value, constant64(b, 32));
  return {arith::TruncIOp::create(b, b.getI32Type(), value),
          arith::TruncIOp::create(b, b.getI32Type(), high)};
}

/// Ten rounds of Philox4x32.
static std::array<Value, 4> buildPhilox(ImplicitLocOpBuilder &b,
                                        std::array<Value, 4> counter,
                                        std::array<Value, 2> key) {
  static constexpr uint32_t multipliers[] = {0xD2511F53, 0xCD9E8D57};
  static constexpr uint32_t increments[] = {0x9E3779B9, 0xBB67AE85};
  for (int round = 0; round < 10; ++round) {
    if (round > 0)
      for (int i = 0; i < 2; ++i)
        key[i] = arith::AddIOp::create(
            b, key[i], PhiloxBuilder::constant32(b, increments[i]));
    auto first = arith::MulUIExtendedOp::create(
        b, counter[0], PhiloxBuilder::constant32(b, multipliers[0]));
    auto second = arith::MulUIExtendedOp::create(
        b, counter[2], PhiloxBuilder::constant32(b, multipliers[1]));
    auto mix = [&](Value high, Value word, Value keyWord) -> Value {
      return arith::XOrIOp::create(b, arith::XOrIOp::create(b, high, word),
                                   keyWord);
    };
    counter = {mix(second.getHigh(), counter[1], key[0]), second.getLow(),
               mix(first.getHigh(), counter[3], key[1]), first.getLow()};
  }
  return counter;
}

PhiloxBuilder::PhiloxBuilder(ImplicitLocOpBuilder &b, Value rng,
                             uint32_t keyWord, Value like)
    : extents(tensor::getMixedSizes(b, b.getLoc(), like)) {
  auto readWord = [&](int64_t index) -> Value {
    Value at = arith::ConstantIndexOp::create(b, index);
    return tensor::ExtractOp::create(b, rng, at);
  };
  std::array<Value, 2> seed = splitWords(b, readWord(0));
  step = splitWords(b, readWord(1));
  key = {arith::XOrIOp::create(b, seed[0], constant32(b, keyWord)), seed[1]};
}

Value PhiloxBuilder::buildWord(ImplicitLocOpBuilder &inner) const {
  // The row-major index of the element.
  Value index = arith::ConstantIndexOp::create(inner, 0);
  for (auto [dim, extent] : llvm::enumerate(extents)) {
    Value size = getValueOrCreateConstantIndexOp(inner, inner.getLoc(), extent);
    Value place = linalg::IndexOp::create(inner, dim);
    if (static_cast<int64_t>(dim) == division.dim) {
      auto times = [&](int64_t number) -> Value {
        return arith::MulIOp::create(
            inner, size, arith::ConstantIndexOp::create(inner, number));
      };
      place = arith::AddIOp::create(inner, place, times(division.part));
      size = times(division.parts);
    }
    index = arith::AddIOp::create(
        inner, arith::MulIOp::create(inner, index, size), place);
  }
  index = arith::IndexCastOp::create(inner, inner.getI64Type(), index);
  std::array<Value, 2> block = splitWords(
      inner, arith::ShRUIOp::create(inner, index, constant64(inner, 2)));
  std::array<Value, 4> words =
      buildPhilox(inner, {block[0], block[1], step[0], step[1]}, key);
  Value which = arith::AndIOp::create(
      inner, arith::TruncIOp::create(inner, inner.getI32Type(), index),
      constant32(inner, 3));
  Value word = words[0];
  for (uint32_t i = 1; i < 4; ++i) {
    Value chosen = arith::CmpIOp::create(inner, arith::CmpIPredicate::eq, which,
                                         constant32(inner, i));
    word = arith::SelectOp::create(inner, chosen, words[i], word);
  }
  return word;
}
