//===- StridedBuffer.h - Elements of a memref -------------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_LIB_EXECUTION_STRIDEDBUFFER_H
#define AMP_LIB_EXECUTION_STRIDEDBUFFER_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>
#include <cstring>

namespace mlir::amp {

/// The buffer of a memref that compiled code passes, with strides in bytes.
class StridedBuffer {
public:
  /// Reads the descriptor of a memref of rank `rank` whose elements have
  /// `width` bytes: two pointers, an offset, the extents and the strides.
  StridedBuffer(size_t width, int64_t rank, const void *descriptor)
      : width(width) {
    auto *pointers = static_cast<char *const *>(descriptor);
    auto *numbers = static_cast<const int64_t *>(descriptor) + 2;
    data = pointers[1] + numbers[0] * int64_t(width);
    extents.assign(numbers + 1, numbers + 1 + rank);
    for (int64_t dim = 0; dim < rank; ++dim)
      strides.push_back(numbers[1 + rank + dim] * int64_t(width));
  }

  char *getData() const { return data; }
  llvm::ArrayRef<int64_t> getShape() const { return extents; }

  size_t getNumElements() const {
    size_t count = 1;
    for (int64_t extent : extents)
      count *= size_t(extent);
    return count;
  }
  size_t getNumBytes() const { return getNumElements() * width; }

  /// Whether the elements are in row-major order, without gaps.
  bool isContiguous() const {
    int64_t stride = int64_t(width);
    for (size_t dim = extents.size(); dim-- > 0; stride *= extents[dim])
      if (extents[dim] != 1 && strides[dim] != stride)
        return false;
    return true;
  }
  /// Narrows the buffer to part `index` of `parts` equal parts along dimension
  /// `dim`.
  void takePart(size_t dim, int64_t parts, int64_t index) {
    extents[dim] /= parts;
    data += index * extents[dim] * strides[dim];
  }
  /// Copies the elements, in row-major order, to or from `packed`. Returns the
  /// end of the copied elements.
  char *pack(char *packed) const {
    copy(data, 0, packed, /*toBuffer=*/false);
    return packed;
  }
  char *unpack(char *packed) const {
    copy(data, 0, packed, /*toBuffer=*/true);
    return packed;
  }

private:
  void copy(char *at, size_t dim, char *&packed, bool toBuffer) const {
    const bool isRow =
        dim + 1 == extents.size() && strides[dim] == int64_t(width);
    if (dim == extents.size() || isRow) {
      const size_t bytes = width * (isRow ? size_t(extents[dim]) : 1);
      std::memcpy(toBuffer ? at : packed, toBuffer ? packed : at, bytes);
      packed += bytes;
      return;
    }
    for (int64_t i = 0; i < extents[dim]; ++i)
      copy(at + i * strides[dim], dim + 1, packed, toBuffer);
  }

  size_t width;
  char *data;
  llvm::SmallVector<int64_t, 4> extents, strides;
};

} // namespace mlir::amp

#endif // AMP_LIB_EXECUTION_STRIDEDBUFFER_H
