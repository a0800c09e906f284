//===- Npz.h - NumPy files of arrays ----------------------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The format has no bf16. Such an array is stored as u2 and the member
// `__amp_types__` names it. Equal arrays give equal bytes.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_RUNTIME_HOST_NPZ_H
#define AMP_RUNTIME_HOST_NPZ_H

#include "amp/Runtime/Host/InputFile.h"
#include "amp/Runtime/Host/MemoryLimit.h"
#include "amp/Runtime/Host/Npy.h"
#include "amp/Runtime/Host/ZipReader.h"

#include <functional>
#include <unordered_set>

namespace amphost {

/// The prefix of names that belong to the file format.
inline constexpr const char *kReservedPrefix = "__amp_";

/// The member that names arrays of types that NumPy lacks, as a JSON object.
/// The only value is "bf16".
inline constexpr const char *kTypesMember = "__amp_types__";

/// Returns whether an array is wanted, by its type and shape. An unwanted array
/// is described without its elements.
using ArrayFilter =
    std::function<bool(const std::string &name, const Array &header)>;

namespace npz {

/// A member that is read piece by piece. No allocation trusts the sizes in the
/// directory or the header.
class MemberReader {
public:
  MemberReader(ZipReader &archive, const ZipMember &member)
      : member(member), stream(archive, member) {}

  Status open() { return stream.open(); }

  /// Continues to read until there are `size` bytes or the member ends.
  Status readUpTo(uint64_t size) {
    while (!ended && bytes.size() < size) {
      const size_t have = bytes.size();
      const auto piece = size_t(std::min<uint64_t>(kPiece, size - have));
      bytes.resize(have + piece);
      size_t got = 0;
      AMP_RETURN_IF_ERROR(stream.read(&bytes[have], piece, &got));
      bytes.resize(have + got);
      ended = got < piece;
    }
    return Status();
  }

  uint64_t getSize() const { return member.size; }
  const std::string &getBytes() const { return bytes; }

  static constexpr size_t kPiece = 1 << 20;

private:
  const ZipMember &member;
  ZipStream stream;
  std::string bytes;
  bool ended = false;
};

/// Parses a JSON object of strings. Returns false for anything else.
inline bool
parseTypes(const std::string &text,
           std::vector<std::pair<std::string, std::string>> *types) {
  size_t at = 0;
  auto consume = [&](char c) {
    while (at < text.size() && std::isspace((unsigned char)text[at]))
      ++at;
    const bool found = at < text.size() && text[at] == c;
    at += found;
    return found;
  };
  auto parseString = [&](std::string *value) {
    if (!consume('"'))
      return false;
    for (; at < text.size() && text[at] != '"'; ++at) {
      if (text[at] == '\\' && ++at == text.size())
        return false;
      *value += text[at];
    }
    return at++ < text.size();
  };
  if (!consume('{'))
    return false;
  bool isFirst = true;
  while (!consume('}')) {
    std::pair<std::string, std::string> entry;
    if ((!isFirst && !consume(',')) || !parseString(&entry.first) ||
        !consume(':') || !parseString(&entry.second))
      return false;
    isFirst = false;
    types->push_back(std::move(entry));
  }
  consume(' ');
  return at == text.size();
}

/// Reads an archive.
class Reader {
public:
  Reader(const std::string &path, const ArrayFilter &filter)
      : path(path), filter(filter) {}

  Status read(ArrayMap *arrays) {
    Status opened = archive.open(path);
    if (!opened.isOk())
      return makeError(kFile,
                       "cannot read '%s': not an .npz archive, or truncated "
                       "(%s); numpy.savez writes one",
                       path.c_str(), opened.getMessage().c_str());
    AMP_RETURN_IF_ERROR(readTypes());
    std::vector<Found> found;
    AMP_RETURN_IF_ERROR(findArrays(&found));
    for (Found &each : found) {
      if (each.isWanted)
        AMP_RETURN_IF_ERROR(readArray(*each.member, each.name, &each.array));
      arrays->set(each.name, std::move(each.array));
    }
    return applyTypes(*arrays);
  }

private:
  /// An array of the archive, without its elements.
  struct Found {
    const ZipMember *member;
    std::string name;
    Array array;
    bool isWanted;
  };

  Status unreadable(const std::string &name, Status status) const {
    return status.isOk()
               ? status
               : makeError(status.getCode(),
                           "cannot read member '%s' of '%s': %s", name.c_str(),
                           path.c_str(), status.getMessage().c_str());
  }
  Status inFile(Status status) const {
    return std::move(status).in("cannot read '" + path + "'");
  }

  /// Inflates one piece of a member and checks the header in it.
  Status readHeader(MemberReader &reader, const std::string &name,
                    NpyHeader *header) const {
    AMP_RETURN_IF_ERROR(unreadable(name, reader.open()));
    AMP_RETURN_IF_ERROR(
        unreadable(name, reader.readUpTo(MemberReader::kPiece)));
    AMP_RETURN_IF_ERROR(
        inFile(parseNpyHeader(reader.getBytes(), name, header)));
    return inFile(checkNpySize(*header, reader.getSize(), name));
  }

  /// Reads all headers and checks that the arrays which the filter wants fit in
  /// memory together. Small archives can hold many large arrays, which may
  /// share their bytes.
  Status findArrays(std::vector<Found> *found) {
    std::unordered_set<std::string> names;
    uint64_t wantedBytes = 0;
    for (const ZipMember &member : archive.getMembers()) {
      std::string name = member.name;
      if (name.size() < 4 || name.compare(name.size() - 4, 4, ".npy") != 0)
        return makeError(kFile,
                         "member '%s' of '%s' is not an array, expected a name "
                         "that ends in .npy",
                         name.c_str(), path.c_str());
      name.resize(name.size() - 4);
      if (!names.insert(name).second)
        return makeError(kFile, "'%s' has two members '%s'", path.c_str(),
                         name.c_str());
      if (name == kTypesMember)
        continue;
      MemberReader reader(archive, member);
      NpyHeader header;
      AMP_RETURN_IF_ERROR(readHeader(reader, name, &header));
      const bool isWanted = wants(name, header.array);
      if (isWanted) {
        // No array exceeds the memory, so the sum does not overflow before it
        // is checked.
        AMP_RETURN_IF_ERROR(
            inFile(checkMemory("array '" + name + "'", header.dataBytes)));
        wantedBytes += header.dataBytes;
        AMP_RETURN_IF_ERROR(inFile(checkMemory("the arrays", wantedBytes)));
      }
      found->push_back(
          {&member, std::move(name), std::move(header.array), isWanted});
    }
    return Status();
  }

  bool wants(const std::string &name, const Array &array) const {
    if (!filter)
      return true;
    const bool isLow = array.getType() == ElementType::U16 && findType(name);
    return filter(name,
                  Array::makeUnread(isLow ? ElementType::BF16 : array.getType(),
                                    array.getShape()));
  }

  /// Reads an array in full.
  Status readArray(const ZipMember &member, const std::string &name,
                   Array *array) {
    MemberReader reader(archive, member);
    NpyHeader header;
    AMP_RETURN_IF_ERROR(readHeader(reader, name, &header));
    AMP_RETURN_IF_ERROR(
        inFile(checkMemory("array '" + name + "'", header.dataBytes)));
    const uint64_t size = header.headerBytes + header.dataBytes;
    // Read one more byte, which must not exist.
    AMP_RETURN_IF_ERROR(unreadable(name, reader.readUpTo(size + 1)));
    if (reader.getBytes().size() < size)
      return makeError(kFile,
                       "member '%s' of '%s' is truncated: %zu of %llu bytes",
                       name.c_str(), path.c_str(), reader.getBytes().size(),
                       (unsigned long long)size);
    return inFile(parseNpy(reader.getBytes(), name, array));
  }

  const std::string *findType(const std::string &name) const {
    for (const auto &[array, type] : types)
      if (array == name)
        return &type;
    return nullptr;
  }

  Status readTypes() {
    for (const ZipMember &member : archive.getMembers()) {
      if (member.name != std::string(kTypesMember) + ".npy")
        continue;
      Array note;
      AMP_RETURN_IF_ERROR(readArray(member, kTypesMember, &note));
      if (!parseTypes(note.getText(), &types))
        return makeError(kFile, "member '%s' of '%s' is not a JSON object",
                         kTypesMember, path.c_str());
    }
    return Status();
  }

  Status applyTypes(ArrayMap &arrays) const {
    for (const auto &[name, type] : types) {
      Array *array = arrays.lookup(name);
      if (!array)
        return makeError(kFile,
                         "member '%s' of '%s' names an array '%s' that is not "
                         "there",
                         kTypesMember, path.c_str(), name.c_str());
      if (type != "bf16" || array->getType() != ElementType::U16)
        return makeError(kFile,
                         "member '%s' of '%s' gives '%s' a type that does not "
                         "fit, expected \"bf16\" on a u2 array",
                         kTypesMember, path.c_str(), name.c_str());
      *array = std::move(*array).reinterpret(ElementType::BF16);
    }
    return Status();
  }

  const std::string &path;
  const ArrayFilter &filter;
  ZipReader archive;
  std::vector<std::pair<std::string, std::string>> types;
};

/// Reads a file with one array, which has the name of the file.
inline Status readNpy(const std::string &path, const ArrayFilter &filter,
                      ArrayMap *arrays) {
  std::FILE *file = std::fopen(path.c_str(), "rb");
  if (!file)
    return makeError(kFile, "cannot read '%s': %s", path.c_str(),
                     std::strerror(errno));
  std::string bytes;
  auto readUpTo = [&](uint64_t size) {
    for (size_t got = 1; got > 0 && bytes.size() < size;) {
      const size_t have = bytes.size();
      const auto piece =
          size_t(std::min<uint64_t>(MemberReader::kPiece, size - have));
      bytes.resize(have + piece);
      got = std::fread(&bytes[have], 1, piece, file);
      bytes.resize(have + got);
    }
  };
  auto parse = [&]() -> Status {
    readUpTo(MemberReader::kPiece);
    NpyHeader header;
    AMP_RETURN_IF_ERROR(parseNpyHeader(bytes, path, &header));
    std::error_code error;
    AMP_RETURN_IF_ERROR(
        checkNpySize(header, std::filesystem::file_size(path, error), path));
    Array array = std::move(header.array);
    const std::string name = std::filesystem::path(path).stem().string();
    if (!filter || filter(name, array)) {
      AMP_RETURN_IF_ERROR(
          checkMemory("the array of '" + path + "'", header.dataBytes));
      readUpTo(header.headerBytes + header.dataBytes);
      AMP_RETURN_IF_ERROR(parseNpy(bytes, path, &array));
    }
    arrays->set(name, std::move(array));
    return Status();
  };
  Status status = parse();
  const bool failed = std::ferror(file) != 0;
  std::fclose(file);
  return failed ? makeError(kFile, "cannot read '%s'", path.c_str()) : status;
}

} // namespace npz

/// Reads the arrays of a .npz file that `filter` wants, or the array of a .npy
/// file under its stem.
inline Status readArrays(const std::string &path, ArrayMap *arrays,
                         const ArrayFilter &filter = nullptr) {
  *arrays = ArrayMap();
  AMP_RETURN_IF_ERROR(checkInputFile(path));
  if (std::filesystem::path(path).extension() == ".npy")
    return npz::readNpy(path, filter, arrays);
  return npz::Reader(path, filter).read(arrays);
}

/// Writes a .npz file with stored members.
inline Status writeArrays(const std::string &path, const ArrayMap &arrays) {
  OutputFile file;
  AMP_RETURN_IF_ERROR(file.open(path));
  ZipWriter archive(file);
  auto add = [&](const std::string &name, const Array &array) {
    return archive.add(name + ".npy", printNpyHeader(array), array.data(),
                       array.getNumBytes());
  };
  std::string types;
  for (const auto &[name, array] : arrays) {
    AMP_RETURN_IF_ERROR(add(name, array));
    if (array.getType() != ElementType::BF16)
      continue;
    std::string escaped;
    for (char c : name)
      escaped +=
          c == '"' || c == '\\' ? std::string("\\") + c : std::string(1, c);
    types += (types.empty() ? "{\"" : ",\"") + escaped + "\":\"bf16\"";
  }
  if (!types.empty())
    AMP_RETURN_IF_ERROR(add(kTypesMember, Array::makeText(types + "}")));
  AMP_RETURN_IF_ERROR(archive.finish());
  return file.commit();
}

} // namespace amphost

#endif // AMP_RUNTIME_HOST_NPZ_H
