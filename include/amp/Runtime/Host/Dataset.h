//===- Dataset.h - Training data and their order ----------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_RUNTIME_HOST_DATASET_H
#define AMP_RUNTIME_HOST_DATASET_H

#include "amp/Runtime/Host/Npz.h"
#include "amp/Runtime/Host/Philox.h"
#include "amp/Runtime/Host/Tensor.h"

#include <algorithm>
#include <cmath>
#include <random>

namespace amphost {

/// Checked arrays with the same number of samples, one for each batch tensor.
class Dataset {
public:
  /// Takes the array `prefix + name`, or else `name`, for each of `batches`. It
  /// is an error if an array is missing, has another sample shape, an element
  /// type that does not convert without loss, another number of samples than
  /// the first, or a label out of range. `path` appears in messages.
  inline Status create(const ArrayMap &arrays, const std::string &path,
                       const std::string &prefix,
                       const std::vector<TensorInfo> &batches);

  /// Creates `size` samples of uniform labels and of numbers with mean 0 and
  /// deviation 1. A number is the sum of four uniform ones, at most 3.5 from 0.
  /// Normal numbers would take the host longer than many devices take for the
  /// steps. For the same reason the samples repeat after `distinct` of them.
  inline void createSynthetic(int64_t size, int64_t distinct, uint64_t seed,
                              const std::vector<TensorInfo> &batches);

  int64_t size() const { return count; }

  /// The distinct samples of tensor `index`.
  const Array &getArray(size_t index) const { return samples[index]; }

  /// Bytes of `size` samples of tensor `index`.
  size_t getBytes(size_t index, int64_t size) const {
    return samples[index].getNumBytes() / size_t(stored) * size_t(size);
  }

  /// Copies the `size` samples `rows` of tensor `index` to `out` in order.
  void gather(size_t index, const int64_t *rows, int64_t size,
              void *out) const {
    const size_t rowBytes = getBytes(index, 1);
    const char *source = samples[index].as<char>();
    for (int64_t i = 0; i < size; ++i)
      std::memcpy(static_cast<char *>(out) + size_t(i) * rowBytes,
                  source + size_t(rows[i] % stored) * rowBytes, rowBytes);
  }

private:
  static inline Status find(const ArrayMap &arrays, const std::string &path,
                            const std::string &prefix, const TensorInfo &batch,
                            std::string *key, const Array **array);

  std::vector<Array> samples;
  int64_t count = 0;
  int64_t stored = 0; ///< fewer than `count` if they recur
};

/// Sorts each row of `array` and starts it with 0.
inline void makeCumulative(Array &array) {
  const int64_t length = array.getShape().back();
  for (int64_t row = 0; row < array.getNumElements(); row += length) {
    std::vector<int64_t> values(1, 0);
    for (int64_t i = 1; i < length; ++i)
      values.push_back(array.getInt(row + i));
    std::sort(values.begin(), values.end());
    for (int64_t i = 0; i < length; ++i)
      array.setInt(row + i, values[size_t(i)]);
  }
}

/// Says how NumPy stores an array as `expected`. Empty if `type` converts.
inline std::string adviseType(ElementType type, ElementType expected) {
  if (!canConvertLossless(type, expected))
    for (const npy::TypeName &each : npy::kTypeNames)
      if (each.type == expected)
        return std::string("; store it by astype('") + &each.name[1] + "')";
  return "";
}

/// Finds the array of a batch tensor and checks its shape.
inline Status Dataset::find(const ArrayMap &arrays, const std::string &path,
                            const std::string &prefix, const TensorInfo &batch,
                            std::string *key, const Array **array) {
  *key = prefix + batch.name;
  *array = arrays.lookup(*key);
  if (!*array)
    *array = arrays.lookup(*key = batch.name);
  if (!*array) {
    std::string wanted = "'" + batch.name + "'", names;
    if (!prefix.empty())
      wanted = "'" + prefix + batch.name + "' or " + wanted;
    for (const auto &[name, other] : arrays)
      names += (names.empty() ? "" : ", ") + name;
    return makeError(kFile,
                     "'%s' has no array %s for batch argument '%s'; it has %s",
                     path.c_str(), wanted.c_str(), batch.name.c_str(),
                     names.empty() ? "no arrays" : names.c_str());
  }
  const Shape &shape = (*array)->getShape();
  if (shape.empty() || shape.size() != batch.shape.size() ||
      !std::equal(shape.begin() + 1, shape.end(), batch.shape.begin() + 1)) {
    Shape expected = batch.shape;
    expected.front() = -1;
    return makeError(kFile,
                     "array '%s' in '%s' is %s, expected %s for batch argument "
                     "'%s'",
                     key->c_str(), path.c_str(), (*array)->describe().c_str(),
                     describeShape(expected, batch.type).c_str(),
                     batch.name.c_str());
  }
  return Status();
}

inline Status Dataset::create(const ArrayMap &arrays, const std::string &path,
                              const std::string &prefix,
                              const std::vector<TensorInfo> &batches) {
  samples.clear();
  count = stored = 0;
  std::string first;
  for (const TensorInfo &batch : batches) {
    std::string key;
    const Array *array = nullptr;
    AMP_RETURN_IF_ERROR(find(arrays, path, prefix, batch, &key, &array));
    if (!array->isValid() && canConvertLossless(array->getType(), batch.type))
      return makeError(kFile,
                       "array '%s' in '%s' is not one of those that have been "
                       "read",
                       key.c_str(), path.c_str());
    Array converted;
    Status converts = convertLossless(*array, batch.type, key, &converted);
    if (!converts.isOk())
      return makeError(kFile, "%s for batch argument '%s' (in '%s')%s",
                       converts.getMessage().c_str(), batch.name.c_str(),
                       path.c_str(),
                       adviseType(array->getType(), batch.type).c_str());
    const bool isChecked = batch.classes > 0 || batch.isCumulative;
    int64_t before = 0;
    for (int64_t i = 0; isChecked && i < converted.getNumElements(); ++i) {
      const int64_t value = converted.getInt(i);
      const std::string why = checkIndex(batch, i, value, before);
      if (!why.empty())
        return makeError(kFile,
                         "value %lld at element %lld of array '%s' in '%s' %s",
                         (long long)value, (long long)i, key.c_str(),
                         path.c_str(), why.c_str());
      before = value;
    }
    const int64_t size = converted.getShape().front();
    if (samples.empty()) {
      count = stored = size;
      first = key;
    } else if (size != count) {
      return makeError(kFile,
                       "array '%s' in '%s' has %lld samples, but '%s' has %lld",
                       key.c_str(), path.c_str(), (long long)size,
                       first.c_str(), (long long)count);
    }
    samples.push_back(std::move(converted));
  }
  if (!samples.empty() && count == 0)
    return makeError(kFile, "array '%s' in '%s' has no samples", first.c_str(),
                     path.c_str());
  return Status();
}

inline void Dataset::createSynthetic(int64_t size, int64_t distinct,
                                     uint64_t seed,
                                     const std::vector<TensorInfo> &batches) {
  count = size;
  stored = distinct;
  samples.clear();
  std::mt19937_64 random(seed);
  // The deviation of a uniform number among 0 to 65535, times that of four.
  const double deviation = std::sqrt((65536.0 * 65536.0 - 1) / 12 * 4);
  for (const TensorInfo &batch : batches) {
    Shape shape = batch.shape;
    shape[0] = distinct;
    Array array(batch.type, shape);
    const uint64_t classes = batch.classes > 0 ? uint64_t(batch.classes) : 2;
    for (int64_t i = 0, e = array.getNumElements(); i < e; ++i) {
      const uint64_t bits = random();
      if (!isFloat(batch.type)) {
        array.setInt(i, int64_t(bits % classes));
        continue;
      }
      const auto sum = int64_t((bits & 0xffff) + (bits >> 16 & 0xffff) +
                               (bits >> 32 & 0xffff) + (bits >> 48));
      array.setDouble(i, double(sum - 2 * 65535) / deviation);
    }
    if (batch.isCumulative)
      makeCumulative(array);
    samples.push_back(std::move(array));
  }
}

/// The order in which epoch `epoch` visits its samples: a Fisher-Yates shuffle
/// of 0 .. n-1 driven by Philox.
inline std::vector<int64_t> permuteEpoch(int64_t n, uint64_t seed,
                                         int64_t epoch) {
  // No parameter name is likely to hash to this stream. Epochs are far apart.
  constexpr uint64_t kOrderStream = 0x6f72646572; // "order"
  const uint64_t stream = kOrderStream + (uint64_t(epoch) << 40);
  std::vector<int64_t> order(size_t(n), 0);
  for (int64_t i = 0; i < n; ++i)
    order[size_t(i)] = i;
  for (int64_t i = n - 1; i > 0; --i) {
    // Each draw takes 64 bits, so the bias of the multiplication is below 2^-32
    // for any feasible n.
    const PhiloxBlock words = philoxBlock(seed, stream, uint64_t(i));
    const uint64_t draw = uint64_t(words[0]) << 32 | words[1];
    const auto j = int64_t(
        (__extension__(unsigned __int128)(draw) * uint64_t(i + 1)) >> 64);
    std::swap(order[size_t(i)], order[size_t(j)]);
  }
  return order;
}

/// The position of training in its data. It determines the next batch.
struct DataPosition {
  uint64_t seed = 0;
  int64_t epoch = 0;
  /// Samples of this epoch that are already used.
  int64_t offset = 0;
};

/// Iterates over a data set in a new order each epoch, or in that of the data.
/// The seed and the number of an epoch determine its order, so a position
/// suffices to resume.
class BatchOrder {
public:
  /// With `dropLast`, an epoch leaves out the samples at its end that do not
  /// fill a batch. There is at least one batch.
  BatchOrder(int64_t numSamples, int64_t batchSize, bool dropLast,
             DataPosition start, bool shuffles = true)
      : batchSize(batchSize), dropLast(dropLast), shuffles(shuffles),
        position(start), order(orderEpoch(numSamples)) {}

  /// Returns the `count` rows of the next batch. They are valid until the next
  /// call.
  const int64_t *next(int64_t *count) {
    int64_t left = int64_t(order.size()) - position.offset;
    if (left <= 0 || (dropLast && left < batchSize)) {
      ++position.epoch;
      position.offset = 0;
      left = int64_t(order.size());
      order = orderEpoch(left);
    }
    *count = std::min(left, batchSize);
    const int64_t *rows = &order[size_t(position.offset)];
    position.offset += *count;
    return rows;
  }

  const DataPosition &getPosition() const { return position; }

  int64_t getBatchesPerEpoch() const {
    const auto n = int64_t(order.size());
    return dropLast ? n / batchSize : (n + batchSize - 1) / batchSize;
  }

private:
  /// The order of `n` samples in the epoch of `position`.
  std::vector<int64_t> orderEpoch(int64_t n) const {
    if (shuffles)
      return permuteEpoch(n, position.seed, position.epoch);
    std::vector<int64_t> rows(size_t(n), 0);
    for (int64_t i = 0; i < n; ++i)
      rows[size_t(i)] = i;
    return rows;
  }

  int64_t batchSize;
  bool dropLast, shuffles;
  DataPosition position;
  std::vector<int64_t> order;
};

} // namespace amphost

#endif // AMP_RUNTIME_HOST_DATASET_H
