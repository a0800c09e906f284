//===- Dataset.h - Batches from arrays --------------------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_EXECUTION_DATASET_H
#define AMP_EXECUTION_DATASET_H

#include "amp/Execution/Npz.h"

namespace mlir::amp {

/// One batch argument of a step: dimension 0 counts samples.
struct BatchInput {
  std::string name;
  ElementType type = ElementType::F32;
  /// The shape of one sample, without the batch dimension.
  llvm::SmallVector<int64_t, 4> sampleShape;
  /// For integer labels, how many classes their consumers know: every label
  /// lies in [0, numClasses).
  std::optional<int64_t> numClasses;
};

/// Checked arrays, one for each batch input, with the same number of samples.
class Dataset {
public:
  /// Takes the array `prefix + name` for each input, or else `name`. Fails with
  /// one message when an array is missing, has another sample shape, an element
  /// type that does not convert without loss, another number of samples than
  /// the first, or a label out of range. `path` appears in messages.
  static llvm::Expected<Dataset> create(const ArrayMap &arrays,
                                        llvm::StringRef path,
                                        llvm::StringRef prefix,
                                        llvm::ArrayRef<BatchInput> inputs);

  int64_t size() const { return numSamples; }

  /// The whole array of input `index`.
  const NDArray &getArray(size_t index) const { return arrays[index]; }

  /// Copies the samples `rows` of input `index` into consecutive positions of
  /// `batch`.
  void gather(size_t index, llvm::ArrayRef<int64_t> rows, NDArray &batch) const;

private:
  std::vector<NDArray> arrays;
  int64_t numSamples = 0;
};

/// Where training is in its data: everything that the next batch depends on.
struct DataPosition {
  uint64_t seed = 0;
  int64_t epoch = 0;
  /// Samples of this epoch already used.
  int64_t offset = 0;
};

/// Walks over a data set in a new order each epoch. The order of an epoch is a
/// function of the seed and its number, so a position is enough to resume.
class BatchOrder {
public:
  /// With `dropLast`, samples that do not fill a batch at the end of an epoch
  /// are left out of that epoch.
  BatchOrder(int64_t numSamples, int64_t batchSize, bool dropLast,
             DataPosition start);

  /// The rows of the next batch; never empty. The reference is valid until the
  /// next call.
  llvm::ArrayRef<int64_t> next();

  const DataPosition &getPosition() const { return position; }

  int64_t getBatchesPerEpoch() const;

private:
  int64_t batchSize;
  bool dropLast;
  DataPosition position;
  std::vector<int64_t> order;
};

/// The order in which epoch `epoch` visits its samples: a Fisher-Yates shuffle
/// of 0 .. n-1 driven by Philox.
std::vector<int64_t> permuteEpoch(int64_t n, uint64_t seed, int64_t epoch);

} // namespace mlir::amp

#endif // AMP_EXECUTION_DATASET_H
