//===- Documents.cu - Documents of packed sequences -------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Lengths and offsets of documents, against a sum over positions.
//
// RUN: %cuda_host_cxx %s %cuda_host_lib -o %t && %t
//
//===----------------------------------------------------------------------===//

#include "amp/CudaHost/Testing.h"
#include "amp/Runtime/CUDA/Documents.h"

using namespace amp::cuda;
using namespace amp::cuda::testing;

using Values = std::vector<double>;

/// The lengths and offsets of `documents` per sample that `cumulative` has.
template <typename I>
static void check(const Values &cumulative, int64_t documents,
                  int64_t positions, const Values &expected) {
  const auto samples = int64_t(cumulative.size()) / documents;
  const int64_t count = samples * documents, columns = (count + 2) / 2 * 2;
  const int64_t rows[] = {1, 48};
  Buffer<I> entries(cumulative);
  Buffer<int32_t> lengths(count);
  Buffer<int64_t> offsets(Values(2 * columns, -1.0));
  CHECK_OK(documentOffsets(nullptr, lengths.get(), offsets.get(),
                           static_cast<const I *>(entries.get()),
                           DocumentRows<2>{{rows[0], rows[1]}}, samples,
                           documents, positions));
  cudaDeviceSynchronize();
  CHECK(lengths.read() == expected);
  const Values found = offsets.read();
  for (int row : {0, 1}) {
    double position = 0;
    for (int64_t n = 0; n <= count; ++n) {
      CHECK(found[row * columns + n] == position * double(rows[row]));
      position += n < count ? expected[n] : 0;
    }
    CHECK(position == double(samples * positions));
  }
}

int main() {
  // Empty documents, and positions after the last one.
  check<int32_t>({0, 3, 3, 7, 0, 1, 5, 6}, 4, 7, {3, 0, 4, 0, 1, 4, 1, 1});
  check<int64_t>({0, 0, 8}, 3, 8, {0, 8, 0});
  check<int32_t>({0}, 1, 5, {5});
  // Entries that do not ascend or leave the sample still divide it.
  check<int32_t>({0, 5, 2, 9, -4, -1, 3, 2}, 4, 6, {5, 0, 1, 0, 0, 3, 0, 3});
  // More documents than a block has threads.
  Values many, lengths;
  for (int i = 0; i < 1000; ++i) {
    many.push_back(2 * i);
    lengths.push_back(2);
  }
  lengths.back() = 4;
  check<int64_t>(many, 1000, 2002, lengths);
  return finish();
}
