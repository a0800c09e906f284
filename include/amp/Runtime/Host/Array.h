//===- Array.h - Arrays on the host -----------------------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef AMP_RUNTIME_HOST_ARRAY_H
#define AMP_RUNTIME_HOST_ARRAY_H

#include "amp/Runtime/Host/ElementType.h"
#include "amp/Runtime/Host/Status.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <memory>
#include <new>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace amphost {

/// The extents of an array. A negative extent matches any number.
using Shape = std::vector<int64_t>;

/// Called if there is no memory for an array of this many bytes. The handler
/// does not return. Without a handler, programs with exceptions throw
/// std::bad_alloc.
inline void (*&noMemoryHandler())(size_t bytes) {
  static void (*handler)(size_t) = nullptr;
  return handler;
}

[[noreturn]] inline void reportNoMemory(size_t bytes) {
  if (noMemoryHandler())
    noMemoryHandler()(bytes);
#ifdef __cpp_exceptions
  throw std::bad_alloc();
#else
  std::abort();
#endif
}

/// Prints a shape and type as MLIR does, e.g. `32x10xf32`. A negative extent is
/// `?`. An array of rank 0 is its bare element type.
inline std::string describeShape(const Shape &shape, ElementType type) {
  std::string text;
  for (int64_t extent : shape)
    text += (extent < 0 ? "?" : std::to_string(extent)) + "x";
  return text + typeName(type);
}

/// A contiguous, row-major, 64-byte aligned array that owns its elements,
/// unless it is a view. A move is cheap. `clone` copies.
class Array {
public:
  Array() = default;

  /// Allocates an array of zeros. No extent may be negative.
  Array(ElementType type, Shape extents)
      : type(type), shape(std::move(extents)) {
    // Allocate whole cache lines. Vectorised code may rely on the alignment,
    // and an empty array still has an address.
    constexpr size_t kLine = 64;
    const size_t limit = std::numeric_limits<size_t>::max() / 2;
    size_t count = size_t(byteWidth(type));
    // An array with an extent of 0 is empty, however large the others are.
    if (std::find(shape.begin(), shape.end(), 0) != shape.end())
      count = 0;
    for (int64_t extent : shape) {
      if (extent != 0 && count > limit / size_t(extent))
        reportNoMemory(std::numeric_limits<size_t>::max());
      count *= size_t(extent);
    }
    numElements = int64_t(count / size_t(byteWidth(type)));
    const size_t bytes =
        count == 0 ? kLine : (count + kLine - 1) / kLine * kLine;
    elements.reset(std::aligned_alloc(kLine, bytes));
    if (!elements)
      reportNoMemory(bytes);
    std::memset(elements.get(), 0, bytes);
  }

  /// Describes an array of a file whose elements are not read.
  static Array makeUnread(ElementType type, Shape shape) {
    Array array;
    array.type = type;
    array.shape = std::move(shape);
    return array;
  }

  /// An array over the elements at `data`, which it does not own. They are
  /// aligned to 64 bytes.
  static Array makeView(ElementType type, Shape shape, void *data) {
    Array array = makeUnread(type, std::move(shape));
    array.numElements = 1;
    for (int64_t extent : array.shape)
      array.numElements *= extent;
    array.elements = {data, Release(/*owns=*/false)};
    return array;
  }

  /// The bytes of a text.
  static Array makeText(const std::string &text) {
    Array array(ElementType::U8, {int64_t(text.size())});
    std::memcpy(array.data(), text.data(), text.size());
    return array;
  }

  ElementType getType() const { return type; }
  const Shape &getShape() const { return shape; }
  int64_t getRank() const { return int64_t(shape.size()); }
  int64_t getNumElements() const { return numElements; }
  size_t getNumBytes() const {
    return size_t(numElements) * size_t(byteWidth(type));
  }
  /// Whether the array has its elements.
  bool isValid() const { return elements != nullptr; }

  void *data() { return elements.get(); }
  const void *data() const { return elements.get(); }
  template <typename T>
  T *as() {
    return static_cast<T *>(data());
  }
  template <typename T>
  const T *as() const {
    return static_cast<const T *>(data());
  }
  /// The elements of an array of bytes.
  std::string getText() const { return std::string(as<char>(), getNumBytes()); }

  /// Reads element `index` (row-major) and widens it to f64. Integers above
  /// 2^53 lose precision; use `getInt` for those.
  double getDouble(int64_t index) const {
    switch (type) {
    case ElementType::F16:
      return halfBitsToFloat(as<uint16_t>()[index]);
    case ElementType::BF16:
      return bfloatBitsToFloat(as<uint16_t>()[index]);
    case ElementType::F32:
      return as<float>()[index];
    case ElementType::F64:
      return as<double>()[index];
    default:
      return double(getInt(index));
    }
  }

  /// Widens `count` elements from `begin` on to f64. The type is looked at
  /// once.
  void getDoubles(int64_t begin, int64_t count, double *result) const {
    auto convert = [=](const auto *elements, auto widen) {
      for (int64_t i = 0; i < count; ++i)
        result[i] = widen(elements[begin + i]);
    };
    auto keep = [](auto value) { return double(value); };
    switch (type) {
    case ElementType::F16:
      return convert(as<uint16_t>(), halfBitsToFloat);
    case ElementType::BF16:
      return convert(as<uint16_t>(), bfloatBitsToFloat);
    case ElementType::F32:
      return convert(as<float>(), keep);
    case ElementType::F64:
      return convert(as<double>(), keep);
    default:
      for (int64_t i = 0; i < count; ++i)
        result[i] = double(getInt(begin + i));
    }
  }

  /// Reads an integer or bool element.
  int64_t getInt(int64_t index) const {
    switch (type) {
    case ElementType::Bool:
    case ElementType::U8:
      return as<uint8_t>()[index];
    case ElementType::I8:
      return as<int8_t>()[index];
    case ElementType::I16:
      return as<int16_t>()[index];
    case ElementType::U16:
      return as<uint16_t>()[index];
    case ElementType::I32:
      return as<int32_t>()[index];
    case ElementType::I64:
      return as<int64_t>()[index];
    default:
      return int64_t(getDouble(index));
    }
  }

  /// Stores `value` in element `index`. Floats narrower than f32 round through
  /// f32, so that an f16 state equals the rounded f32 state.
  void setDouble(int64_t index, double value) {
    switch (type) {
    case ElementType::F16:
      as<uint16_t>()[index] = floatToHalfBits(float(value));
      return;
    case ElementType::BF16:
      as<uint16_t>()[index] = floatToBFloatBits(float(value));
      return;
    case ElementType::F32:
      as<float>()[index] = float(value);
      return;
    case ElementType::F64:
      as<double>()[index] = value;
      return;
    default:
      setInt(index, int64_t(value));
    }
  }

  /// Stores an integer. The caller has checked that it fits.
  void setInt(int64_t index, int64_t value) {
    if (isFloat(type))
      return setDouble(index, double(value));
    const int64_t width = byteWidth(type);
    std::memcpy(as<char>() + index * width, &value, size_t(width));
  }

  /// Stores the same value in every element.
  void fill(double value) {
    for (int64_t i = 0; i < numElements; ++i)
      setDouble(i, value);
  }

  Array clone() const {
    Array copy(type, shape);
    std::memcpy(copy.data(), data(), getNumBytes());
    return copy;
  }

  /// Whether `castFloat` converts this array to `to`.
  bool castsTo(ElementType to) const {
    return type == to || (isFloat(type) && isFloat(to));
  }

  /// Converts between float types, rounding to nearest even.
  Array castFloat(ElementType to) const {
    if (to == type)
      return clone();
    Array result(to, shape);
    for (int64_t i = 0; i < numElements; ++i)
      result.setDouble(i, getDouble(i));
    return result;
  }

  /// Changes the element type to another one of the same width.
  Array reinterpret(ElementType to) && {
    type = to;
    return std::move(*this);
  }

  /// `describeShape` of this array.
  std::string describe() const { return describeShape(shape, type); }

private:
  struct Release {
    explicit Release(bool owns) : owns(owns) {}
    Release() : owns(true) {}

    bool owns;
    void operator()(void *pointer) const {
      if (owns)
        std::free(pointer);
    }
  };

  ElementType type = ElementType::F32;
  Shape shape;
  int64_t numElements = 0;
  std::unique_ptr<void, Release> elements;
};

/// Arrays by name, in the order in which they were added.
class ArrayMap {
public:
  /// Adds or replaces the array `name`.
  void set(const std::string &name, Array array) {
    auto [it, added] = indices.try_emplace(name, entries.size());
    if (added)
      entries.emplace_back(name, std::move(array));
    else
      entries[it->second].second = std::move(array);
  }

  /// Returns the array `name`, or null.
  Array *lookup(const std::string &name) {
    auto it = indices.find(name);
    return it == indices.end() ? nullptr : &entries[it->second].second;
  }
  const Array *lookup(const std::string &name) const {
    return const_cast<ArrayMap *>(this)->lookup(name);
  }

  bool contains(const std::string &name) const { return lookup(name); }
  size_t size() const { return entries.size(); }
  auto begin() const { return entries.begin(); }
  auto end() const { return entries.end(); }
  auto begin() { return entries.begin(); }
  auto end() { return entries.end(); }

private:
  std::vector<std::pair<std::string, Array>> entries;
  std::unordered_map<std::string, size_t> indices;
};

//===----------------------------------------------------------------------===//
// Lossless conversion
//===----------------------------------------------------------------------===//

/// Whether `convertLossless` may succeed for these types.
inline bool canConvertLossless(ElementType from, ElementType to) {
  if (from == to || (!isFloat(from) && !isFloat(to)))
    return true;
  if (to == ElementType::F64)
    return from != ElementType::I64;
  return to == ElementType::F32 && from != ElementType::F64 &&
         (isFloat(from) || byteWidth(from) <= 2);
}

/// Converts `array` to `to` if no value changes: equal types, integers whose
/// values all fit, small integers to floats, narrow floats to wider ones. Any
/// other conversion is an error that names `name` and both types.
inline Status convertLossless(const Array &array, ElementType to,
                              const std::string &name, Array *result) {
  const ElementType from = array.getType();
  if (!canConvertLossless(from, to))
    return makeError(kFile, "array '%s' has element type %s, expected %s",
                     name.c_str(), typeName(from), typeName(to));
  if (from == to) {
    *result = array.clone();
    return Status();
  }
  *result = Array(to, array.getShape());
  for (int64_t i = 0, e = array.getNumElements(); i < e; ++i) {
    if (isFloat(to)) {
      result->setDouble(i, array.getDouble(i));
      continue;
    }
    const int64_t value = array.getInt(i);
    result->setInt(i, value);
    if (result->getInt(i) != value || (to == ElementType::Bool && value > 1))
      return makeError(kFile,
                       "array '%s' of %s holds %lld at element %lld, which "
                       "does not fit in %s",
                       name.c_str(), typeName(from), (long long)value,
                       (long long)i, typeName(to));
  }
  return Status();
}

} // namespace amphost

#endif // AMP_RUNTIME_HOST_ARRAY_H
