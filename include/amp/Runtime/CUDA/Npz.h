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

#include "amp/Runtime/CUDA/OutputFiles.h"
#include "amp/Runtime/CUDA/Types.h"
#include "amp/Runtime/CUDA/Zip.h"

#include <cctype>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>
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
  double get(int64_t index) const {
    switch (type) {
    case Type::F16:
      return widen(at<__half>(index));
    case Type::BF16:
      return widen(at<__nv_bfloat16>(index));
    case Type::F32:
      return at<float>(index);
    case Type::F64:
      return at<double>(index);
    default:
      return double(getInt(index));
    }
  }

  /// An element of an integer type.
  int64_t getInt(int64_t index) const {
    switch (type) {
    case Type::Bool:
    case Type::U8:
      return at<uint8_t>(index);
    case Type::I8:
      return at<int8_t>(index);
    case Type::I16:
      return at<int16_t>(index);
    case Type::U16:
      return at<uint16_t>(index);
    case Type::I32:
      return at<int32_t>(index);
    default:
      return at<int64_t>(index);
    }
  }

  /// Stores a value, rounded to nearest even through f32.
  void set(int64_t index, double value) {
    switch (type) {
    case Type::F16:
      return put(index, roundTo<__half>(float(value)));
    case Type::BF16:
      return put(index, roundTo<__nv_bfloat16>(float(value)));
    case Type::F32:
      return put(index, float(value));
    case Type::F64:
      return put(index, value);
    default:
      return setInt(index, int64_t(value));
    }
  }

  /// Stores an integer that fits.
  void setInt(int64_t index, int64_t value) {
    int64_t width = byteWidth(type);
    std::memcpy(&bytes[index * width], &value, size_t(width));
  }

  /// `64x10xf32`.
  std::string describe() const {
    std::string text;
    for (int64_t extent : shape)
      text += std::to_string(extent) + "x";
    return text + typeName(type);
  }

  template <typename T>
  T at(int64_t index) const {
    T value;
    std::memcpy(&value, &bytes[index * sizeof(T)], sizeof(T));
    return value;
  }
  template <typename T>
  void put(int64_t index, T value) {
    std::memcpy(&bytes[index * sizeof(T)], &value, sizeof(T));
  }
};

/// The array of that name, or null.
inline const HostArray *findArray(const std::vector<HostArray> &arrays,
                                  const std::string &name) {
  for (const HostArray &array : arrays)
    if (array.name == name)
      return &array;
  return nullptr;
}

/// Converts `array` to `type` if no value changes: equal types, integers whose
/// values fit, small integers to floats, floats to wider ones.
inline Status convertLossless(HostArray *array, Type type) {
  if (array->type == type)
    return Status();
  HostArray result = *array;
  result.type = type;
  result.bytes.assign(size_t(array->count() * byteWidth(type)), 0);
  for (int64_t i = 0; i < array->count(); ++i) {
    bool fits;
    if (!isFloat(array->type) && !isFloat(type)) {
      result.setInt(i, array->getInt(i));
      fits = result.getInt(i) == array->getInt(i);
    } else {
      if (!isFloat(type)) {
        fits = false; // floats never become integers
      } else {
        result.set(i, array->get(i));
        fits = result.get(i) == array->get(i) ||
               (array->get(i) != array->get(i) &&
                byteWidth(type) > byteWidth(array->type));
      }
    }
    if (!fits && !isFloat(array->type) && !isFloat(type))
      return makeError(
          kFile,
          "array '%s' of %s holds %lld at element %lld, which does "
          "not fit in %s",
          array->name.c_str(), typeName(array->type),
          (long long)array->getInt(i), (long long)i, typeName(type));
    if (!fits)
      return makeError(kFile, "array '%s' has element type %s, expected %s",
                       array->name.c_str(), typeName(array->type),
                       typeName(type));
  }
  *array = std::move(result);
  return Status();
}

//===----------------------------------------------------------------------===//
// .npy
//===----------------------------------------------------------------------===//

namespace npz {

/// The NumPy names of element types. bf16 is stored as u2.
struct TypeName {
  Type type;
  const char *name;
};
inline constexpr TypeName kTypeNames[] = {
    {Type::Bool, "|b1"}, {Type::I8, "|i1"},  {Type::I16, "<i2"},
    {Type::I32, "<i4"},  {Type::I64, "<i8"}, {Type::U8, "|u1"},
    {Type::U16, "<u2"},  {Type::F16, "<f2"}, {Type::BF16, "<u2"},
    {Type::F32, "<f4"},  {Type::F64, "<f8"},
};

/// The member that names arrays of types that NumPy lacks.
inline constexpr const char *kTypesMember = "__amp_types__";

/// The text between `key` and one of `ends` in the header of a .npy file.
inline std::string headerField(const std::string &header, const char *key,
                               char open, char close) {
  size_t at = header.find(std::string("'") + key + "'");
  if (at == std::string::npos)
    return "?";
  at = header.find(':', at);
  size_t begin = header.find(open, at);
  size_t end =
      begin == std::string::npos ? begin : header.find(close, begin + 1);
  if (at == std::string::npos || end == std::string::npos)
    return "?";
  return header.substr(begin + 1, end - begin - 1);
}

/// Parses the bytes of a .npy file.
inline Status parseNpy(const unsigned char *data, size_t size,
                       HostArray *array) {
  const char *name = array->name.c_str();
  if (size < 12 || std::memcmp(data, "\x93NUMPY", 6) != 0)
    return makeError(kFile, "member '%s' is not an array", name);
  size_t width = data[6] == 1 ? 2 : 4, length = 0;
  for (size_t i = 0; i < width; ++i)
    length |= size_t(data[8 + i]) << 8 * i;
  size_t begin = 8 + width;
  if (length > size - begin)
    return makeError(kFile, "array '%s' is truncated", name);
  std::string header(reinterpret_cast<const char *>(data) + begin, length);
  begin += length;
  std::string descr = headerField(header, "descr", '\'', '\'');
  bool known = false;
  for (const TypeName &each : kTypeNames)
    if (!known && each.type != Type::BF16 && descr.substr(1) == each.name + 1 &&
        (descr[0] == each.name[0] || each.name[0] == '|' || descr[0] == '=')) {
      array->type = each.type;
      known = true;
    }
  if (!known)
    return makeError(kFile, "array '%s' has element type '%s'", name,
                     descr.c_str());
  std::string shape = headerField(header, "shape", '(', ')');
  array->shape.clear();
  int64_t count = 1;
  for (size_t at = 0; at < shape.size();) {
    if (!std::isdigit((unsigned char)shape[at])) {
      ++at;
      continue;
    }
    size_t digits = 0;
    int64_t extent = 0;
    for (; at + digits < shape.size() &&
           std::isdigit((unsigned char)shape[at + digits]) && digits < 18;
         ++digits)
      extent = 10 * extent + (shape[at + digits] - '0');
    at += digits;
    array->shape.push_back(extent);
    if (extent != 0 && count > INT64_MAX / 16 / extent)
      return makeError(kFile, "array '%s' is too large", name);
    count *= extent;
  }
  if (header.find("'fortran_order': True") != std::string::npos &&
      array->shape.size() > 1)
    return makeError(kFile, "array '%s' is in Fortran order, expected C order",
                     name);
  if (size - begin != size_t(count * byteWidth(array->type)))
    return makeError(kFile, "array '%s' has %zu bytes of data, expected %lld",
                     name, size - begin,
                     (long long)(count * byteWidth(array->type)));
  array->bytes.assign(data + begin, data + size);
  return Status();
}

/// The bytes of a .npy file of version 1.
inline std::vector<unsigned char> printNpy(const HostArray &array) {
  std::string descr, shape;
  for (const TypeName &each : kTypeNames)
    if (each.type == array.type)
      descr = each.name;
  for (int64_t extent : array.shape)
    shape += std::to_string(extent) + (array.shape.size() == 1 ? "," : ", ");
  if (array.shape.size() > 1)
    shape.resize(shape.size() - 2);
  std::string header = "{'descr': '" + descr +
                       "', 'fortran_order': False, 'shape': (" + shape + "), }";
  // Padded so that the data begin at a multiple of 64.
  header.resize(size_t(alignTo(int64_t(header.size()) + 11, 64)) - 11, ' ');
  header += '\n';
  std::vector<unsigned char> bytes = {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0};
  bytes.push_back((unsigned char)(header.size() & 0xff));
  bytes.push_back((unsigned char)(header.size() >> 8));
  bytes.insert(bytes.end(), header.begin(), header.end());
  bytes.insert(bytes.end(), array.bytes.begin(), array.bytes.end());
  return bytes;
}

} // namespace npz

/// Reads a whole file.
inline Status readFile(const std::string &path,
                       std::vector<unsigned char> *bytes) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error))
    return makeError(kFile, "cannot read '%s': it is a directory",
                     path.c_str());
  std::ifstream file(path, std::ios::binary);
  if (!file)
    return makeError(kFile, "cannot read '%s'", path.c_str());
  bytes->clear();
  std::vector<char> block(size_t(1) << 16);
  // Unlike an iterator over the stream, this does not throw.
  while (file.read(block.data(), std::streamsize(block.size())) ||
         file.gcount() > 0)
    bytes->insert(bytes->end(), block.begin(), block.begin() + file.gcount());
  if (file.bad())
    return makeError(kFile, "cannot read '%s'", path.c_str());
  return Status();
}

/// Reads all arrays of a .npz file, or the one of a .npy file under its stem.
inline Status readArrays(const std::string &path,
                         std::vector<HostArray> *arrays) {
  std::vector<unsigned char> bytes;
  AMP_RETURN_IF_ERROR(readFile(path, &bytes));
  arrays->clear();
  if (bytes.size() >= 6 && std::memcmp(bytes.data(), "\x93NUMPY", 6) == 0) {
    HostArray array;
    size_t slash = path.rfind('/');
    array.name = path.substr(slash == std::string::npos ? 0 : slash + 1);
    array.name = array.name.substr(0, array.name.rfind('.'));
    AMP_RETURN_IF_ERROR(
        npz::parseNpy(bytes.data(), bytes.size(), &array).in("'" + path + "'"));
    arrays->push_back(std::move(array));
    return Status();
  }
  std::vector<ZipMember> members;
  AMP_RETURN_IF_ERROR(readZip(bytes, &members).in("'" + path + "'"));
  std::string types;
  for (const ZipMember &member : members) {
    HostArray array;
    array.name = member.name;
    size_t end = array.name.size();
    if (end > 4 && array.name.compare(end - 4, 4, ".npy") == 0)
      array.name.resize(end - 4);
    AMP_RETURN_IF_ERROR(
        npz::parseNpy(member.bytes.data(), member.bytes.size(), &array)
            .in("'" + path + "'"));
    if (array.name == npz::kTypesMember)
      types.assign(array.bytes.begin(), array.bytes.end());
    else
      arrays->push_back(std::move(array));
  }
  // A JSON object of names, whose values can only be "bf16".
  for (HostArray &array : *arrays)
    if (array.type == Type::U16 &&
        types.find("\"" + array.name + "\"") != std::string::npos)
      array.type = Type::BF16;
  return Status();
}

/// Writes a .npz file with stored members: to a file beside it, which then
/// takes its name.
inline Status writeArrays(const std::string &path,
                          const std::vector<HostArray> &arrays) {
  std::vector<ZipMember> members;
  std::string types;
  for (const HostArray &array : arrays) {
    members.push_back({array.name + ".npy", npz::printNpy(array)});
    if (array.type == Type::BF16)
      types += (types.empty() ? "{\"" : ", \"") + array.name + "\": \"bf16\"";
  }
  if (!types.empty()) {
    types += "}";
    HostArray array;
    array.name = npz::kTypesMember;
    array.type = Type::U8;
    array.shape = {int64_t(types.size())};
    array.bytes.assign(types.begin(), types.end());
    members.push_back({array.name + ".npy", npz::printNpy(array)});
  }
  std::vector<unsigned char> bytes = printZip(members);
  return writeFile(path, bytes.data(), bytes.size());
}

} // namespace amp::cuda

#endif // AMP_RUNTIME_CUDA_NPZ_H
