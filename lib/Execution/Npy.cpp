//===- Npy.cpp - The .npy format ------------------------------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Execution/Files.h"
#include "amp/Execution/Npz.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/MathExtras.h"
#include <cstring>

using namespace mlir::amp;
using llvm::StringRef;

static constexpr char kMagic[] = "\x93NUMPY";
static constexpr size_t kMagicSize = 6;

namespace {
/// The three entries of a .npy header.
struct HeaderFields {
  std::string descr;
  bool fortranOrder = false;
  llvm::SmallVector<int64_t, 4> shape;
};

/// Parses the Python dictionary literal of a .npy header:
///   {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }
class HeaderParser {
public:
  explicit HeaderParser(StringRef text) : rest(text) {}

  bool parse(HeaderFields &header) {
    if (!consume("{"))
      return false;
    bool seenDescr = false, seenOrder = false, seenShape = false;
    while (!consume("}")) {
      std::string key;
      if (!parseString(key) || !consume(":"))
        return false;
      if (key == "descr") {
        seenDescr = parseString(header.descr);
        if (!seenDescr)
          return false;
      } else if (key == "fortran_order") {
        header.fortranOrder = consume("True");
        seenOrder = header.fortranOrder || consume("False");
        if (!seenOrder)
          return false;
      } else if (key == "shape") {
        seenShape = parseShape(header.shape);
        if (!seenShape)
          return false;
      } else {
        return false;
      }
      if (!consume(",") && !rest.ltrim().starts_with("}"))
        return false;
    }
    return seenDescr && seenOrder && seenShape && rest.trim().empty();
  }

private:
  bool consume(StringRef token) {
    rest = rest.ltrim();
    return rest.consume_front(token);
  }

  bool parseString(std::string &value) {
    rest = rest.ltrim();
    if (rest.empty() || (rest.front() != '\'' && rest.front() != '"'))
      return false;
    size_t end = rest.find(rest.front(), 1);
    if (end == StringRef::npos)
      return false;
    value = rest.slice(1, end).str();
    rest = rest.drop_front(end + 1);
    return true;
  }

  bool parseShape(llvm::SmallVectorImpl<int64_t> &shape) {
    if (!consume("("))
      return false;
    while (!consume(")")) {
      rest = rest.ltrim();
      int64_t extent;
      if (rest.consumeInteger(10, extent) || extent < 0)
        return false;
      shape.push_back(extent);
      if (!consume(",") && !rest.ltrim().starts_with(")"))
        return false;
    }
    return true;
  }

  StringRef rest;
};
} // namespace

static std::optional<ElementType> parseDescr(StringRef descr) {
  // '=' is native, which is little-endian here; one-byte types have '|'.
  if (descr.size() < 2 || !StringRef("<|=").contains(descr.front()))
    return std::nullopt;
  return llvm::StringSwitch<std::optional<ElementType>>(descr.drop_front())
      .Case("b1", ElementType::Bool)
      .Case("i1", ElementType::I8)
      .Case("i2", ElementType::I16)
      .Case("i4", ElementType::I32)
      .Case("i8", ElementType::I64)
      .Case("u1", ElementType::U8)
      .Case("u2", ElementType::U16)
      .Case("f2", ElementType::F16)
      .Case("f4", ElementType::F32)
      .Case("f8", ElementType::F64)
      .Default(std::nullopt);
}

static StringRef getDescr(ElementType type) {
  switch (type) {
  case ElementType::Bool:
    return "|b1";
  case ElementType::I8:
    return "|i1";
  case ElementType::I16:
    return "<i2";
  case ElementType::I32:
    return "<i4";
  case ElementType::I64:
    return "<i8";
  case ElementType::U8:
    return "|u1";
  case ElementType::U16:
  case ElementType::BF16:
    return "<u2";
  case ElementType::F16:
    return "<f2";
  case ElementType::F32:
    return "<f4";
  case ElementType::F64:
    return "<f8";
  }
  llvm_unreachable("unknown element type");
}

/// Copies column-major `source` into row-major `target`.
static void transposeFortran(const char *source, NDArray &target) {
  unsigned width = getByteWidth(target.getType());
  llvm::ArrayRef<int64_t> shape = target.getShape();
  llvm::SmallVector<int64_t, 4> index(shape.size(), 0);
  char *out = static_cast<char *>(target.data());
  for (int64_t i = 0, e = target.getNumElements(); i < e; ++i) {
    int64_t offset = 0;
    for (size_t axis = shape.size(); axis-- > 0;)
      offset = offset * shape[axis] + index[axis];
    std::memcpy(out + i * width, source + offset * width, width);
    for (size_t axis = shape.size(); axis-- > 0;) {
      if (++index[axis] < shape[axis])
        break;
      index[axis] = 0;
    }
  }
}

llvm::Expected<NpyHeader> mlir::amp::parseNpyHeader(StringRef bytes,
                                                    StringRef name) {
  if (bytes.size() < kMagicSize + 4 ||
      bytes.take_front(kMagicSize) != StringRef(kMagic, kMagicSize))
    return makeError("'{0}' is not a .npy array: bad magic", name);
  unsigned major = uint8_t(bytes[kMagicSize]);
  size_t lengthBytes = major == 1 ? 2 : 4;
  size_t start = kMagicSize + 2 + lengthBytes;
  if (major < 1 || major > 3)
    return makeError("'{0}' has .npy version {1}, expected 1 to 3", name,
                     major);
  if (bytes.size() < start)
    return makeError("'{0}' is truncated inside its .npy header", name);
  const char *lengthAt = bytes.data() + kMagicSize + 2;
  size_t length = lengthBytes == 2 ? llvm::support::endian::read16le(lengthAt)
                                   : llvm::support::endian::read32le(lengthAt);
  if (bytes.size() - start < length)
    return makeError("'{0}' is truncated inside its .npy header", name);

  HeaderFields header;
  if (!HeaderParser(bytes.substr(start, length)).parse(header))
    return makeError("'{0}' has a malformed .npy header", name);
  std::optional<ElementType> type = parseDescr(header.descr);
  if (!type)
    return makeError("'{0}' has element type '{1}', expected little-endian "
                     "f2, f4, f8, i1, i2, i4, i8, u1, u2 or b1",
                     name, header.descr);

  NpyHeader result;
  result.array = NDArray::unread(*type, header.shape);
  result.fortranOrder = header.fortranOrder;
  result.headerBytes = start + length;
  result.dataBytes = getByteWidth(*type);
  for (int64_t extent : header.shape)
    result.dataBytes =
        llvm::SaturatingMultiply(result.dataBytes, uint64_t(extent));
  if (llvm::is_contained(header.shape, 0))
    result.dataBytes = 0;
  return result;
}

llvm::Error mlir::amp::checkNpySize(const NpyHeader &header, uint64_t bytes,
                                    StringRef name) {
  // The most that there can be stands for numbers that are too large.
  if (header.dataBytes == bytes - header.headerBytes && ~header.dataBytes)
    return llvm::Error::success();
  return makeError("'{0}' holds {1} bytes of data, which does not match its "
                   "header: {2}",
                   name, bytes - header.headerBytes, header.array.describe());
}

llvm::Expected<NDArray> mlir::amp::parseNpy(StringRef bytes, StringRef name) {
  llvm::Expected<NpyHeader> header = parseNpyHeader(bytes, name);
  if (!header)
    return header.takeError();
  // Before anything is allocated.
  if (llvm::Error error = checkNpySize(*header, bytes.size(), name))
    return error;
  StringRef payload = bytes.drop_front(header->headerBytes);
  NDArray array(header->array.getType(), header->array.getShape());
  if (header->fortranOrder && array.getRank() > 1)
    transposeFortran(payload.data(), array);
  else
    std::memcpy(array.data(), payload.data(), payload.size());
  return array;
}

void mlir::amp::printNpy(const NDArray &array, llvm::raw_ostream &os) {
  std::string header;
  llvm::raw_string_ostream text(header);
  text << "{'descr': '" << getDescr(array.getType())
       << "', 'fortran_order': False, 'shape': (";
  llvm::interleave(array.getShape(), text, ", ");
  if (array.getRank() == 1)
    text << ',';
  text << "), }";
  // The data begins at a multiple of 64 bytes and the header ends in a newline.
  size_t prefix = kMagicSize + 4;
  size_t padded = (prefix + header.size() + 1 + 63) / 64 * 64;
  header.append(padded - prefix - header.size() - 1, ' ');
  header += '\n';
  os << StringRef(kMagic, kMagicSize) << '\x01' << '\0';
  char length[2];
  llvm::support::endian::write16le(length, uint16_t(header.size()));
  os << StringRef(length, 2) << header;
  os.write(static_cast<const char *>(array.data()), array.getNumBytes());
}
