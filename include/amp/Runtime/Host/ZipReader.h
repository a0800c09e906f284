//===- ZipReader.h - Reading archives ---------------------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads stored and deflated members. Deflated members need zlib. A build with
// zlib defines AMP_HOST_ZLIB and links the library.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_RUNTIME_HOST_ZIPREADER_H
#define AMP_RUNTIME_HOST_ZIPREADER_H

#include "amp/Runtime/Host/Zip.h"

#include <limits>
#ifdef AMP_HOST_ZLIB
#include <zlib.h>
#endif

namespace amphost {

/// A member of an archive, as its directory describes it.
struct ZipMember {
  std::string name;
  uint64_t method = 0, checksum = 0, compressed = 0, size = 0, offset = 0;
  bool isEncrypted = false;
};

/// An archive that is open for reading.
class ZipReader {
public:
  ZipReader() = default;
  ZipReader(const ZipReader &) = delete;
  ZipReader &operator=(const ZipReader &) = delete;
  ~ZipReader() {
    if (file)
      std::fclose(file);
  }

  /// Reads the directory. The error message is a reason without a path.
  Status open(const std::string &path) {
    file = std::fopen(path.c_str(), "rb");
    if (!file)
      return Status(kFile, std::strerror(errno));
    if (std::fseek(file, 0, SEEK_END) != 0)
      return Status(kFile, std::strerror(errno));
    const long end = std::ftell(file);
    if (end < 0)
      return Status(kFile, std::strerror(errno));
    fileSize = uint64_t(end);
    return readDirectory();
  }

  const std::vector<ZipMember> &getMembers() const { return members; }
  uint64_t getFileSize() const { return fileSize; }

  /// Reads `size` bytes at `offset`. Returns false if they do not exist.
  bool readAt(uint64_t offset, void *bytes, size_t size) {
    return offset <= fileSize && size <= fileSize - offset &&
           offset <= uint64_t(std::numeric_limits<long>::max()) &&
           std::fseek(file, long(offset), SEEK_SET) == 0 &&
           std::fread(bytes, 1, size, file) == size;
  }

private:
  inline Status readDirectory();
  inline bool findEnd(uint64_t *count, uint64_t *offset, uint64_t *size);

  std::FILE *file = nullptr;
  uint64_t fileSize = 0;
  std::vector<ZipMember> members;
};

/// Finds the end record. Only a comment may follow it.
inline bool ZipReader::findEnd(uint64_t *count, uint64_t *offset,
                               uint64_t *size) {
  constexpr size_t kRecord = 22;
  if (fileSize < kRecord)
    return false;
  std::vector<unsigned char> tail(
      size_t(std::min<uint64_t>(fileSize, kRecord + zip::kMost16)));
  const uint64_t begin = fileSize - tail.size();
  if (!readAt(begin, tail.data(), tail.size()))
    return false;
  size_t at = tail.size() - kRecord;
  while (zip::read(&tail[at], 4) != zip::kEnd ||
         zip::read(&tail[at + 20], 2) != tail.size() - kRecord - at)
    if (at-- == 0)
      return false;
  *count = zip::read(&tail[at + 10], 2);
  *size = zip::read(&tail[at + 12], 4);
  *offset = zip::read(&tail[at + 16], 4);
  if (*count != zip::kMost16 && *size != zip::kMost32 &&
      *offset != zip::kMost32)
    return true;
  unsigned char locator[20], record[56];
  if (begin + at < sizeof(locator) ||
      !readAt(begin + at - sizeof(locator), locator, sizeof(locator)) ||
      zip::read(locator, 4) != zip::kLocator64)
    return true; // without a ZIP64 record, keep the numbers
  if (!readAt(zip::read(locator + 8, 8), record, sizeof(record)) ||
      zip::read(record, 4) != zip::kEnd64)
    return false;
  *count = zip::read(record + 32, 8);
  *size = zip::read(record + 40, 8);
  *offset = zip::read(record + 48, 8);
  return true;
}

/// Replaces the numbers of `member` that are all ones by those of the ZIP64
/// field among its extra fields.
inline bool readZip64(const unsigned char *at, size_t length,
                      ZipMember *member) {
  while (length >= 4) {
    const uint64_t id = zip::read(at, 2);
    size_t field = size_t(zip::read(at + 2, 2));
    at += 4;
    length -= 4;
    if (field > length)
      return false;
    length -= field;
    if (id != 1) {
      at += field;
      continue;
    }
    for (uint64_t *value :
         {&member->size, &member->compressed, &member->offset})
      if (*value == zip::kMost32) {
        if (field < 8)
          return false;
        *value = zip::read(at, 8);
        at += 8;
        field -= 8;
      }
    return true;
  }
  return true;
}

inline Status ZipReader::readDirectory() {
  uint64_t count = 0, offset = 0, size = 0;
  if (!findEnd(&count, &offset, &size))
    return Status(kFile, "it has no directory");
  const Status damaged(kFile, "its directory is damaged");
  if (offset > fileSize || size > fileSize - offset)
    return damaged;
  // Read entry by entry, because the size may be that of a hole.
  constexpr size_t kEntrySize = 46;
  unsigned char entry[kEntrySize];
  std::vector<unsigned char> bytes;
  for (uint64_t i = 0; i < count; ++i) {
    if (size < kEntrySize || !readAt(offset, entry, kEntrySize) ||
        zip::read(entry, 4) != zip::kEntry)
      return damaged;
    ZipMember member;
    member.isEncrypted = zip::read(entry + 8, 2) & 1;
    member.method = zip::read(entry + 10, 2);
    member.checksum = zip::read(entry + 16, 4);
    member.compressed = zip::read(entry + 20, 4);
    member.size = zip::read(entry + 24, 4);
    member.offset = zip::read(entry + 42, 4);
    const auto nameLength = size_t(zip::read(entry + 28, 2)),
               extraLength = size_t(zip::read(entry + 30, 2)),
               commentLength = size_t(zip::read(entry + 32, 2));
    const size_t more = nameLength + extraLength + commentLength;
    bytes.resize(more);
    if (size - kEntrySize < more ||
        !readAt(offset + kEntrySize, bytes.data(), more))
      return damaged;
    const unsigned char *name = bytes.data();
    member.name.assign(name, name + nameLength);
    if (!readZip64(name + nameLength, extraLength, &member))
      return damaged;
    offset += kEntrySize + more;
    size -= kEntrySize + more;
    members.push_back(std::move(member));
  }
  return Status();
}

/// Reads the bytes of a member in order.
class ZipStream {
public:
  ZipStream(ZipReader &archive, const ZipMember &member)
      : archive(archive), member(member) {}
  ZipStream(const ZipStream &) = delete;
  ZipStream &operator=(const ZipStream &) = delete;
#ifdef AMP_HOST_ZLIB
  ~ZipStream() {
    if (inflates)
      ::inflateEnd(&inflater);
  }
#endif

  Status open() {
    unsigned char header[30];
    if (!archive.readAt(member.offset, header, sizeof(header)) ||
        zip::read(header, 4) != zip::kLocalHeader)
      return Status(kFile, "it is outside of the archive");
    position = member.offset + sizeof(header) + zip::read(header + 26, 2) +
               zip::read(header + 28, 2);
    left = member.compressed;
    if (position > archive.getFileSize() ||
        left > archive.getFileSize() - position)
      return Status(kFile, "it is truncated");
    if (member.isEncrypted)
      return Status(kFile, "it is encrypted");
    if (member.method == 0)
      return left == member.size ? Status()
                                 : Status(kFile, "its sizes are damaged");
    if (member.method != 8)
      return makeError(kFile,
                       "compression method %d, expected stored or deflated",
                       int(member.method));
#ifdef AMP_HOST_ZLIB
    inflates = ::inflateInit2(&inflater, -MAX_WBITS) == Z_OK;
    return inflates ? Status()
                    : Status(kOutOfMemory, "no memory to inflate it");
#else
    return Status(kFile,
                  "it is compressed, and this program has been built without "
                  "zlib (-DAMP_HOST_ZLIB -lz); expected a file of numpy.savez");
#endif
  }

  /// Reads up to `size` bytes. `got` is less only at the end, where the
  /// checksum is compared.
  Status read(void *bytes, size_t size, size_t *got) {
    *got = 0;
    auto *to = static_cast<unsigned char *>(bytes);
    AMP_RETURN_IF_ERROR(member.method == 0 ? readStored(to, size, got)
                                           : readDeflated(to, size, got));
    checksum.update(bytes, *got);
    if (*got == size)
      return Status();
    return checksum.get() == member.checksum
               ? Status()
               : Status(kFile, "its checksum is wrong");
  }

private:
  Status readStored(unsigned char *to, size_t size, size_t *got) {
    const auto count = size_t(std::min<uint64_t>(size, left));
    if (!archive.readAt(position, to, count))
      return Status(kFile, "it cannot be read");
    position += count;
    left -= count;
    *got = count;
    return Status();
  }

#ifdef AMP_HOST_ZLIB
  Status readDeflated(unsigned char *to, size_t size, size_t *got) {
    while (*got < size && !ended) {
      if (inflater.avail_in == 0 && left > 0) {
        input.resize(size_t(std::min<uint64_t>(left, 1 << 16)));
        if (!archive.readAt(position, input.data(), input.size()))
          return Status(kFile, "it cannot be read");
        position += input.size();
        left -= input.size();
        inflater.next_in = input.data();
        inflater.avail_in = unsigned(input.size());
      }
      inflater.next_out = to + *got;
      inflater.avail_out = unsigned(std::min<size_t>(size - *got, 1u << 30));
      const unsigned room = inflater.avail_out;
      const int result = ::inflate(&inflater, Z_NO_FLUSH);
      *got += room - inflater.avail_out;
      ended = result == Z_STREAM_END;
      if (!ended && result != Z_OK)
        return Status(kFile, "its compressed bytes are damaged");
    }
    return Status();
  }
  z_stream inflater = {};
  bool inflates = false, ended = false;
  std::vector<unsigned char> input;
#else
  Status readDeflated(unsigned char *, size_t, size_t *) { return Status(); }
#endif

  ZipReader &archive;
  const ZipMember &member;
  uint64_t position = 0, left = 0;
  zip::Checksum checksum;
};

} // namespace amphost

#endif // AMP_RUNTIME_HOST_ZIPREADER_H
