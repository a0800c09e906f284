//===- NDArray.cpp - Owned n-dimensional arrays ---------------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Execution/NDArray.h"

#include "amp/Execution/FloatBits.h"
#include "amp/Execution/Memory.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>

using namespace mlir;
using namespace mlir::amp;

//===----------------------------------------------------------------------===//
// Element types
//===----------------------------------------------------------------------===//

unsigned mlir::amp::getByteWidth(ElementType type) {
  switch (type) {
  case ElementType::Bool:
  case ElementType::I8:
  case ElementType::U8:
    return 1;
  case ElementType::I16:
  case ElementType::U16:
  case ElementType::F16:
  case ElementType::BF16:
    return 2;
  case ElementType::I32:
  case ElementType::F32:
    return 4;
  case ElementType::I64:
  case ElementType::F64:
    return 8;
  }
  llvm_unreachable("unknown element type");
}

llvm::StringRef mlir::amp::stringifyElementType(ElementType type) {
  switch (type) {
  case ElementType::Bool:
    return "i1";
  case ElementType::I8:
    return "i8";
  case ElementType::I16:
    return "i16";
  case ElementType::I32:
    return "i32";
  case ElementType::I64:
    return "i64";
  case ElementType::U8:
    return "ui8";
  case ElementType::U16:
    return "ui16";
  case ElementType::F16:
    return "f16";
  case ElementType::BF16:
    return "bf16";
  case ElementType::F32:
    return "f32";
  case ElementType::F64:
    return "f64";
  }
  llvm_unreachable("unknown element type");
}

bool mlir::amp::isFloat(ElementType type) {
  return type == ElementType::F16 || type == ElementType::BF16 ||
         type == ElementType::F32 || type == ElementType::F64;
}

std::optional<ElementType> mlir::amp::getElementType(Type type) {
  if (type.isF16())
    return ElementType::F16;
  if (type.isBF16())
    return ElementType::BF16;
  if (type.isF32())
    return ElementType::F32;
  if (type.isF64())
    return ElementType::F64;
  auto integer = dyn_cast<IntegerType>(type);
  if (!integer)
    return std::nullopt;
  if (integer.isUnsigned()) {
    switch (integer.getWidth()) {
    case 8:
      return ElementType::U8;
    case 16:
      return ElementType::U16;
    default:
      return std::nullopt;
    }
  }
  switch (integer.getWidth()) {
  case 1:
    return ElementType::Bool;
  case 8:
    return ElementType::I8;
  case 16:
    return ElementType::I16;
  case 32:
    return ElementType::I32;
  case 64:
    return ElementType::I64;
  default:
    return std::nullopt;
  }
}

std::string mlir::amp::describeShape(llvm::ArrayRef<int64_t> shape,
                                     ElementType type) {
  std::string text;
  llvm::raw_string_ostream os(text);
  for (int64_t extent : shape) {
    if (extent < 0)
      os << "?x";
    else
      os << extent << 'x';
  }
  os << stringifyElementType(type);
  return text;
}

//===----------------------------------------------------------------------===//
// NDArray
//===----------------------------------------------------------------------===//

void NDArray::Release::operator()(void *pointer) const { std::free(pointer); }

NDArray::NDArray(ElementType type, llvm::ArrayRef<int64_t> shape)
    : type(type), shape(shape), numElements(1) {
  for (int64_t extent : shape) {
    assert(extent >= 0 && "arrays have static shapes");
    if (llvm::MulOverflow(numElements, extent, numElements))
      llvm::report_bad_alloc_error("out of memory: an array has too many "
                                   "elements to be numbered");
  }
  // Whole cache lines: vectorised code may rely on the alignment, and an empty
  // array still has an address.
  if (uint64_t(numElements) > SIZE_MAX / 2 / getByteWidth(type))
    llvm::report_bad_alloc_error("out of memory: an array has too many bytes "
                                 "to be numbered");
  size_t bytes = (getNumBytes() + 63) / 64 * 64;
  bytes = std::max<size_t>(bytes, 64);
  buffer.reset(allocateArray(64, bytes));
  std::memset(buffer.get(), 0, bytes);
}

NDArray NDArray::unread(ElementType type, llvm::ArrayRef<int64_t> shape) {
  NDArray array;
  array.type = type;
  array.shape.assign(shape.begin(), shape.end());
  return array;
}

NDArray NDArray::scalar(double value, ElementType type) {
  NDArray array(type, {});
  if (isFloat(type))
    array.setDouble(0, value);
  else
    array.setInt(0, int64_t(value));
  return array;
}

double NDArray::getDouble(int64_t index) const {
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

int64_t NDArray::getInt(int64_t index) const {
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

void NDArray::setDouble(int64_t index, double value) {
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

void NDArray::setInt(int64_t index, int64_t value) {
  switch (type) {
  case ElementType::Bool:
  case ElementType::U8:
    as<uint8_t>()[index] = uint8_t(value);
    return;
  case ElementType::I8:
    as<int8_t>()[index] = int8_t(value);
    return;
  case ElementType::I16:
  case ElementType::U16:
    as<uint16_t>()[index] = uint16_t(value);
    return;
  case ElementType::I32:
    as<int32_t>()[index] = int32_t(value);
    return;
  case ElementType::I64:
    as<int64_t>()[index] = value;
    return;
  default:
    setDouble(index, double(value));
  }
}

NDArray NDArray::clone() const {
  NDArray copy(type, shape);
  std::memcpy(copy.data(), data(), getNumBytes());
  return copy;
}

NDArray NDArray::castFloat(ElementType to) const {
  assert(isFloat(type) && isFloat(to) && "castFloat converts floats");
  if (to == type)
    return clone();
  NDArray result(to, shape);
  for (int64_t i = 0; i < numElements; ++i)
    result.setDouble(i, getDouble(i));
  return result;
}

bool NDArray::bitEquals(const NDArray &other) const {
  return type == other.type && shape == other.shape &&
         std::memcmp(data(), other.data(), getNumBytes()) == 0;
}

//===----------------------------------------------------------------------===//
// Lossless conversion
//===----------------------------------------------------------------------===//

/// The values that an integer element type holds.
static std::pair<int64_t, int64_t> getIntegerRange(ElementType type) {
  switch (type) {
  case ElementType::Bool:
    return {0, 1};
  case ElementType::U8:
    return {0, std::numeric_limits<uint8_t>::max()};
  case ElementType::U16:
    return {0, std::numeric_limits<uint16_t>::max()};
  case ElementType::I8:
    return {std::numeric_limits<int8_t>::min(),
            std::numeric_limits<int8_t>::max()};
  case ElementType::I16:
    return {std::numeric_limits<int16_t>::min(),
            std::numeric_limits<int16_t>::max()};
  case ElementType::I32:
    return {std::numeric_limits<int32_t>::min(),
            std::numeric_limits<int32_t>::max()};
  default:
    return {std::numeric_limits<int64_t>::min(),
            std::numeric_limits<int64_t>::max()};
  }
}

/// True when every value of `from` is a value of the float type `to`.
static bool widensToFloat(ElementType from, ElementType to) {
  if (to == ElementType::F64)
    return from != ElementType::I64;
  if (to == ElementType::F32)
    return isFloat(from) ? from != ElementType::F64 : getByteWidth(from) <= 2;
  return false;
}

bool mlir::amp::canConvertLossless(ElementType from, ElementType to) {
  return from == to || widensToFloat(from, to) ||
         (!isFloat(from) && !isFloat(to));
}

llvm::Expected<NDArray> mlir::amp::convertLossless(const NDArray &array,
                                                   ElementType to,
                                                   llvm::StringRef name) {
  ElementType from = array.getType();
  if (from == to)
    return array.clone();
  if (!canConvertLossless(from, to))
    return llvm::createStringError(
        llvm::formatv("array '{0}' has element type {1}, expected {2}", name,
                      stringifyElementType(from), stringifyElementType(to))
            .str());
  NDArray result(to, array.getShape());
  if (isFloat(to)) {
    for (int64_t i = 0, e = array.getNumElements(); i < e; ++i)
      result.setDouble(i, array.getDouble(i));
    return result;
  }
  auto [low, high] = getIntegerRange(to);
  for (int64_t i = 0, e = array.getNumElements(); i < e; ++i) {
    int64_t value = array.getInt(i);
    if (value < low || value > high)
      return llvm::createStringError(
          llvm::formatv("array '{0}' of {1} holds {2} at element {3}, which "
                        "does not fit in {4}",
                        name, stringifyElementType(from), value, i,
                        stringifyElementType(to))
              .str());
    result.setInt(i, value);
  }
  return result;
}
