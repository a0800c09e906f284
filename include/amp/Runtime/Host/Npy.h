//===- Npy.h - The .npy format ----------------------------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_RUNTIME_HOST_NPY_H
#define AMP_RUNTIME_HOST_NPY_H

#include "amp/Runtime/Host/Array.h"

#include <cctype>
#include <string_view>

namespace amphost {

/// The contents of the header of a .npy file.
struct NpyHeader {
  /// An array of this type and shape without elements.
  Array array;
  bool fortranOrder = false;
  uint64_t headerBytes = 0;
  /// The bytes of the type and shape, or the largest number if they overflow.
  uint64_t dataBytes = 0;
};

namespace npy {

inline constexpr std::string_view kMagic("\x93NUMPY", 6);

/// The NumPy names of element types. bf16 is stored as u2.
struct TypeName {
  ElementType type;
  const char *name;
};
inline constexpr TypeName kTypeNames[] = {
    {ElementType::Bool, "|b1"}, {ElementType::I8, "|i1"},
    {ElementType::I16, "<i2"},  {ElementType::I32, "<i4"},
    {ElementType::I64, "<i8"},  {ElementType::U8, "|u1"},
    {ElementType::U16, "<u2"},  {ElementType::F16, "<f2"},
    {ElementType::F32, "<f4"},  {ElementType::F64, "<f8"},
    {ElementType::BF16, "<u2"},
};

/// NumPy's own limit.
inline constexpr size_t kMaxRank = 64;

/// Parses the Python dictionary literal of a header:
///   {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }
class HeaderParser {
public:
  explicit HeaderParser(std::string_view text) : rest(text) {}

  std::string descr;
  bool fortranOrder = false;
  Shape shape;

  bool parse() {
    if (!consume("{"))
      return false;
    bool seenDescr = false, seenOrder = false, seenShape = false;
    while (!consume("}")) {
      std::string key;
      if (!parseString(&key) || !consume(":"))
        return false;
      if (key == "descr") {
        if (!(seenDescr = parseString(&descr)))
          return false;
      } else if (key == "fortran_order") {
        fortranOrder = consume("True");
        if (!(seenOrder = fortranOrder || consume("False")))
          return false;
      } else if (key == "shape") {
        if (!(seenShape = parseShape()))
          return false;
      } else {
        return false;
      }
      if (!consume(",") && !isNext("}"))
        return false;
    }
    skipSpace();
    return seenDescr && seenOrder && seenShape && rest.empty();
  }

private:
  void skipSpace() {
    while (!rest.empty() && std::isspace((unsigned char)rest.front()))
      rest.remove_prefix(1);
  }
  bool isNext(std::string_view token) {
    skipSpace();
    return rest.substr(0, token.size()) == token;
  }
  bool consume(std::string_view token) {
    if (!isNext(token))
      return false;
    rest.remove_prefix(token.size());
    return true;
  }
  bool parseString(std::string *value) {
    if (!isNext("'") && !isNext("\""))
      return false;
    const size_t end = rest.find(rest.front(), 1);
    if (end == std::string_view::npos)
      return false;
    *value = std::string(rest.substr(1, end - 1));
    rest.remove_prefix(end + 1);
    return true;
  }
  bool parseShape() {
    if (!consume("("))
      return false;
    while (!consume(")")) {
      skipSpace();
      int64_t extent = 0;
      size_t digits = 0;
      for (; digits < rest.size() && digits < 19 &&
             std::isdigit((unsigned char)rest[digits]);
           ++digits) {
        const int digit = rest[digits] - '0';
        if (extent > (std::numeric_limits<int64_t>::max() - digit) / 10)
          return false;
        extent = 10 * extent + digit;
      }
      if (digits == 0)
        return false;
      rest.remove_prefix(digits);
      if (shape.size() == kMaxRank)
        return false;
      shape.push_back(extent);
      if (!consume(",") && !isNext(")"))
        return false;
    }
    return true;
  }

  std::string_view rest;
};

/// Parses the NumPy name of a type and returns false if it is unknown. '=' is
/// native, which is little-endian here.
inline bool parseType(const std::string &descr, ElementType *type) {
  for (const TypeName &each : kTypeNames)
    if (descr.size() == 3 && descr.compare(1, 2, each.name + 1) == 0 &&
        (descr[0] == '<' || descr[0] == '|' || descr[0] == '=')) {
      *type = each.type;
      return true;
    }
  return false;
}

/// Copies column-major `source` into row-major `target`.
inline void transposeFortran(const char *source, Array &target) {
  const auto width = size_t(byteWidth(target.getType()));
  const Shape &shape = target.getShape();
  Shape index(shape.size(), 0);
  char *out = target.as<char>();
  for (int64_t i = 0, e = target.getNumElements(); i < e; ++i) {
    int64_t offset = 0;
    for (size_t axis = shape.size(); axis-- > 0;)
      offset = offset * shape[axis] + index[axis];
    std::memcpy(out + size_t(i) * width, source + size_t(offset) * width,
                width);
    for (size_t axis = shape.size(); axis-- > 0;) {
      if (++index[axis] < shape[axis])
        break;
      index[axis] = 0;
    }
  }
}

} // namespace npy

/// Parses the header of the .npy file that begins with `bytes`.
inline Status parseNpyHeader(std::string_view bytes, const std::string &name,
                             NpyHeader *header) {
  auto fail = [&](const std::string &what) {
    return Status(kFile, "'" + name + "' " + what);
  };
  constexpr size_t kPrefix = 8;
  if (bytes.size() < kPrefix + 2 ||
      bytes.substr(0, npy::kMagic.size()) != npy::kMagic)
    return fail("is not a .npy array: bad magic");
  auto byte = [&](size_t at) { return size_t((unsigned char)bytes[at]); };
  const size_t major = byte(6);
  if (major < 1 || major > 3)
    return fail("has .npy version " + std::to_string(major) +
                ", expected 1 to 3");
  const size_t width = major == 1 ? 2 : 4, start = kPrefix + width;
  if (bytes.size() < start)
    return fail("is truncated inside its .npy header");
  size_t length = 0;
  for (size_t i = 0; i < width; ++i)
    length |= byte(kPrefix + i) << 8 * i;
  if (bytes.size() - start < length)
    return fail("is truncated inside its .npy header");
  npy::HeaderParser parser(bytes.substr(start, length));
  if (!parser.parse())
    return fail("has a malformed .npy header");
  ElementType type;
  if (!npy::parseType(parser.descr, &type))
    return fail("has element type '" + parser.descr +
                "', expected little-endian f2, f4, f8, i1, i2, i4, i8, u1, u2 "
                "or b1");
  constexpr uint64_t most = std::numeric_limits<uint64_t>::max();
  header->dataBytes = uint64_t(byteWidth(type));
  bool isEmpty = false;
  for (int64_t extent : parser.shape) {
    isEmpty |= extent == 0;
    header->dataBytes = extent && header->dataBytes > most / uint64_t(extent)
                            ? most
                            : header->dataBytes * uint64_t(extent ? extent : 1);
  }
  if (isEmpty)
    header->dataBytes = 0;
  header->array = Array::makeUnread(type, parser.shape);
  header->fortranOrder = parser.fortranOrder;
  header->headerBytes = start + length;
  return Status();
}

/// Fails unless a file of `bytes` bytes is what its header says.
inline Status checkNpySize(const NpyHeader &header, uint64_t bytes,
                           const std::string &name) {
  const uint64_t data = bytes - header.headerBytes;
  // The largest number represents an overflow.
  if (header.dataBytes == data && ~header.dataBytes)
    return Status();
  return makeError(kFile,
                   "'%s' holds %llu bytes of data, which does not match its "
                   "header: %s",
                   name.c_str(), (unsigned long long)data,
                   header.array.describe().c_str());
}

/// Parses a whole .npy file.
inline Status parseNpy(std::string_view bytes, const std::string &name,
                       Array *array) {
  NpyHeader header;
  AMP_RETURN_IF_ERROR(parseNpyHeader(bytes, name, &header));
  // Check the size before anything is allocated.
  AMP_RETURN_IF_ERROR(checkNpySize(header, bytes.size(), name));
  const std::string_view data = bytes.substr(size_t(header.headerBytes));
  *array = Array(header.array.getType(), header.array.getShape());
  if (header.fortranOrder && array->getRank() > 1)
    npy::transposeFortran(data.data(), *array);
  else
    std::memcpy(array->data(), data.data(), data.size());
  return Status();
}

/// The bytes before the elements of a .npy file of version 1.
inline std::string printNpyHeader(const Array &array) {
  std::string descr, shape;
  for (const npy::TypeName &each : npy::kTypeNames)
    if (each.type == array.getType())
      descr = each.name;
  for (int64_t extent : array.getShape())
    shape += (shape.empty() ? "" : ", ") + std::to_string(extent);
  if (array.getRank() == 1)
    shape += ',';
  std::string header = "{'descr': '" + descr +
                       "', 'fortran_order': False, 'shape': (" + shape + "), }";
  // The data begin at a multiple of 64 bytes and the header ends in a newline.
  constexpr size_t kPrefix = 10;
  const size_t padded = (kPrefix + header.size() + 1 + 63) / 64 * 64;
  header.append(padded - kPrefix - header.size() - 1, ' ');
  header += '\n';
  std::string bytes(npy::kMagic);
  bytes += '\x01';
  bytes += '\0';
  bytes += char(header.size() & 255);
  bytes += char(header.size() >> 8);
  return bytes + header;
}

} // namespace amphost

#endif // AMP_RUNTIME_HOST_NPY_H
