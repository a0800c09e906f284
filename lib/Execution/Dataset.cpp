//===- Dataset.cpp - Batches from arrays ----------------------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Execution/Dataset.h"

#include "amp/Execution/Files.h"
#include "amp/Execution/Philox.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <cstring>
#include <numeric>

using namespace mlir::amp;

//===----------------------------------------------------------------------===//
// Dataset
//===----------------------------------------------------------------------===//

/// The names of all arrays, for a message about one that is missing.
static std::string listNames(const ArrayMap &arrays) {
  if (arrays.size() == 0)
    return "no arrays";
  return llvm::join(
      llvm::map_range(arrays, [](const auto &entry) { return entry.first; }),
      ", ");
}

/// Labels are an integer per sample; the first out of range is reported.
static llvm::Error checkLabels(const NDArray &array, llvm::StringRef name,
                               int64_t numClasses, llvm::StringRef path) {
  for (int64_t i = 0, e = array.getNumElements(); i < e; ++i) {
    int64_t label = array.getInt(i);
    if (label < 0 || label >= numClasses)
      return makeError(
          "value {0} at element {1} of array '{2}' in '{3}' is out "
          "of range, expected 0 to {4}",
          label, i, name, path, numClasses - 1);
  }
  return llvm::Error::success();
}

llvm::Expected<Dataset> Dataset::create(const ArrayMap &arrays,
                                        llvm::StringRef path,
                                        llvm::StringRef prefix,
                                        llvm::ArrayRef<BatchInput> inputs) {
  Dataset dataset;
  std::string firstName;
  for (const BatchInput &input : inputs) {
    std::string key = (prefix + input.name).str();
    const NDArray *array = arrays.lookup(key);
    if (!array) {
      key = input.name;
      array = arrays.lookup(key);
    }
    if (!array) {
      std::string wanted = "'" + input.name + "'";
      if (!prefix.empty())
        wanted = "'" + (prefix + input.name).str() + "' or " + wanted;
      return makeError(
          "'{0}' has no array {1} for batch argument '{2}'; it has "
          "{3}",
          path, wanted, input.name, listNames(arrays));
    }

    llvm::ArrayRef<int64_t> shape = array->getShape();
    if (shape.empty() ||
        shape.drop_front() != llvm::ArrayRef<int64_t>(input.sampleShape)) {
      llvm::SmallVector<int64_t> expected = {-1};
      llvm::append_range(expected, input.sampleShape);
      return makeError("array '{0}' in '{1}' is {2}, expected {3} for batch "
                       "argument '{4}'",
                       key, path, array->describe(),
                       describeShape(expected, input.type), input.name);
    }
    if (!array->isValid() && canConvertLossless(array->getType(), input.type))
      return makeError(
          "array '{0}' in '{1}' is not one of those that have been "
          "read",
          key, path);
    llvm::Expected<NDArray> converted =
        convertLossless(*array, input.type, key);
    if (!converted)
      return makeError("{0} for batch argument '{1}' (in '{2}')",
                       llvm::toString(converted.takeError()), input.name, path);
    if (input.numClasses)
      if (llvm::Error error =
              checkLabels(*converted, key, *input.numClasses, path))
        return error;

    if (dataset.arrays.empty()) {
      dataset.numSamples = shape.front();
      firstName = key;
    } else if (shape.front() != dataset.numSamples) {
      return makeError("array '{0}' in '{1}' has {2} samples, but '{3}' has "
                       "{4}",
                       key, path, shape.front(), firstName, dataset.numSamples);
    }
    dataset.arrays.push_back(std::move(*converted));
  }
  if (!inputs.empty() && dataset.numSamples == 0)
    return makeError("array '{0}' in '{1}' has no samples", firstName, path);
  return dataset;
}

void Dataset::gather(size_t index, llvm::ArrayRef<int64_t> rows,
                     NDArray &batch) const {
  const NDArray &source = arrays[index];
  uint64_t rowBytes = source.getNumBytes() / numSamples;
  assert(batch.getNumBytes() >= rows.size() * rowBytes && "batch too small");
  const char *from = static_cast<const char *>(source.data());
  char *to = static_cast<char *>(batch.data());
  for (auto [position, row] : llvm::enumerate(rows))
    std::memcpy(to + position * rowBytes, from + row * rowBytes, rowBytes);
}

//===----------------------------------------------------------------------===//
// BatchOrder
//===----------------------------------------------------------------------===//

/// Philox stream that no parameter name is likely to hash to.
static constexpr uint64_t kOrderStream = 0x6f72646572; // "order"

std::vector<int64_t> mlir::amp::permuteEpoch(int64_t n, uint64_t seed,
                                             int64_t epoch) {
  std::vector<int64_t> order(n);
  std::iota(order.begin(), order.end(), 0);
  // Epochs are far apart in the counter; each draw takes 64 bits, so that the
  // bias of the multiplication is below 2^-32 for any feasible n.
  PhiloxStream stream(seed, kOrderStream + (uint64_t(epoch) << 40));
  for (int64_t i = n - 1; i > 0; --i) {
    std::array<uint32_t, 4> words = stream.block(i);
    uint64_t draw = uint64_t(words[0]) << 32 | words[1];
    int64_t j = int64_t((unsigned __int128)(draw)*uint64_t(i + 1) >> 64);
    std::swap(order[i], order[j]);
  }
  return order;
}

BatchOrder::BatchOrder(int64_t numSamples, int64_t batchSize, bool dropLast,
                       DataPosition start)
    : batchSize(batchSize), dropLast(dropLast), position(start),
      order(permuteEpoch(numSamples, start.seed, start.epoch)) {
  assert(batchSize > 0 && numSamples > 0 && "nothing to draw");
  assert((!dropLast || numSamples >= batchSize) && "no full batch");
}

int64_t BatchOrder::getBatchesPerEpoch() const {
  int64_t n = order.size();
  return dropLast ? n / batchSize : (n + batchSize - 1) / batchSize;
}

llvm::ArrayRef<int64_t> BatchOrder::next() {
  int64_t left = int64_t(order.size()) - position.offset;
  if (left <= 0 || (dropLast && left < batchSize)) {
    ++position.epoch;
    position.offset = 0;
    left = order.size();
    order = permuteEpoch(left, position.seed, position.epoch);
  }
  int64_t count = std::min(left, batchSize);
  llvm::ArrayRef<int64_t> rows =
      llvm::ArrayRef<int64_t>(order).slice(position.offset, count);
  position.offset += count;
  return rows;
}
