//===- NDArray.h - Owned n-dimensional arrays -------------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_EXECUTION_NDARRAY_H
#define AMP_EXECUTION_NDARRAY_H

#include "mlir/IR/Types.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <memory>
#include <optional>
#include <string>

namespace mlir::amp {

/// The element types that arrays, files and compiled steps exchange.
enum class ElementType : uint8_t {
  Bool,
  I8,
  I16,
  I32,
  I64,
  U8,
  U16,
  F16,
  BF16,
  F32,
  F64
};

/// Bytes that one element occupies. A Bool takes a whole byte, as an i1 does in
/// a memref.
unsigned getByteWidth(ElementType type);

/// The MLIR spelling: `i1`, `i32`, `ui8`, `bf16`, ...
llvm::StringRef stringifyElementType(ElementType type);

bool isFloat(ElementType type);

/// The element type that stores values of the MLIR type `type`, if there is
/// one (index and i16 state are not exchanged with files).
std::optional<ElementType> getElementType(Type type);

/// Spells a shape and type as MLIR does, e.g. `32x10xf32`; `?` for negative
/// extents and the bare element type for rank 0.
std::string describeShape(llvm::ArrayRef<int64_t> shape, ElementType type);

/// A contiguous, row-major, 64-byte aligned array that owns its elements.
/// Moving is cheap; copying is explicit through `clone`.
class NDArray {
public:
  NDArray() = default;

  /// Allocates an array of zeros. No extent may be negative.
  NDArray(ElementType type, llvm::ArrayRef<int64_t> shape);

  /// Describes an array of a file whose elements have not been read: it has a
  /// type and a shape, and is not valid.
  static NDArray unread(ElementType type, llvm::ArrayRef<int64_t> shape);

  /// Builds a rank-0 array.
  static NDArray scalar(double value, ElementType type = ElementType::F32);

  ElementType getType() const { return type; }
  llvm::ArrayRef<int64_t> getShape() const { return shape; }
  int64_t getRank() const { return shape.size(); }
  int64_t getNumElements() const { return numElements; }
  uint64_t getNumBytes() const {
    return uint64_t(numElements) * getByteWidth(type);
  }
  bool isValid() const { return buffer != nullptr; }

  void *data() { return buffer.get(); }
  const void *data() const { return buffer.get(); }
  template <typename T>
  llvm::MutableArrayRef<T> as() {
    return {static_cast<T *>(data()), size_t(numElements)};
  }
  template <typename T>
  llvm::ArrayRef<T> as() const {
    return {static_cast<const T *>(data()), size_t(numElements)};
  }

  /// Reads element `index` (row-major) widened to f64. Integers above 2^53 lose
  /// precision; use `getInt` for those.
  double getDouble(int64_t index) const;

  /// Reads an integer or bool element.
  int64_t getInt(int64_t index) const;

  /// Stores `value` in element `index`. Floats narrower than f32 are rounded
  /// through f32, so that an f16 state equals the rounded f32 state.
  void setDouble(int64_t index, double value);

  /// Stores an integer; the caller has checked that it fits.
  void setInt(int64_t index, int64_t value);

  NDArray clone() const;

  /// Converts between float types, rounding to nearest even.
  NDArray castFloat(ElementType to) const;

  /// True when the two arrays agree in type, shape and every bit.
  bool bitEquals(const NDArray &other) const;

  /// `describeShape` of this array.
  std::string describe() const { return describeShape(shape, type); }

private:
  struct Release {
    void operator()(void *pointer) const;
  };

  ElementType type = ElementType::F32;
  llvm::SmallVector<int64_t, 4> shape;
  int64_t numElements = 0;
  std::unique_ptr<void, Release> buffer;
};

/// Returns whether `convertLossless` may succeed, going by the types alone.
bool canConvertLossless(ElementType from, ElementType to);

/// Converts `array` to `to` when no value changes: equal types, integers whose
/// values all fit, small integers to floats, narrow floats to wider ones.
/// Anything else is an error that names `name` and both types.
llvm::Expected<NDArray> convertLossless(const NDArray &array, ElementType to,
                                        llvm::StringRef name);

} // namespace mlir::amp

#endif // AMP_EXECUTION_NDARRAY_H
