//===- Npz.h - NumPy .npy and .npz files ------------------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The format of amp-run (amp/Execution/Npz.h): stored and deflated members; f4,
// f8, f2, i1, i2, i4, i8, u1, u2, b1, little-endian, C order. bfloat16 arrays
// are stored as u2 and named in the member `__amp_types__`. Reads into memory,
// writes whole or not at all; the same arrays give the same bytes.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_RUNTIME_CUDA_NPZ_H
#define AMP_RUNTIME_CUDA_NPZ_H

#include "amp/Runtime/CUDA/Status.h"
#include "amp/Runtime/CUDA/Types.h"

#include <string>
#include <vector>

namespace amp::cuda {

/// A row-major array on the host.
struct HostArray {
  std::string name;
  Type type = Type::F32;
  std::vector<int64_t> shape;
  std::vector<unsigned char> bytes;

  int64_t count() const {
    int64_t result = 1;
    for (int64_t extent : shape)
      result *= extent;
    return result;
  }
  /// An element as a double; integers above 2^53 lose precision.
  double get(int64_t index) const;
  /// Stores a value, rounded to nearest even through f32.
  void set(int64_t index, double value);
  /// `64x10xf32`.
  std::string describe() const;
};

/// The array of that name, or null.
inline const HostArray *findArray(const std::vector<HostArray> &arrays,
                                  const std::string &name);

/// Reads all arrays of a .npz file, or the one of a .npy file under its stem.
inline Status readArrays(const std::string &path,
                         std::vector<HostArray> *arrays);

/// Writes a .npz file with stored members.
inline Status writeArrays(const std::string &path,
                          const std::vector<HostArray> &arrays);

/// Converts `array` to `type` if no value changes: equal types, integers whose
/// values fit, small integers to floats, floats to wider ones.
inline Status convertLossless(HostArray *array, Type type);

} // namespace amp::cuda

#endif // AMP_RUNTIME_CUDA_NPZ_H
