//===- Zip.h - Archives -----------------------------------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The format of .zip files (local and central headers of APPNOTE 6.3, with
// ZIP64), which readers and writers share, and the writer of stored members.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_RUNTIME_HOST_ZIP_H
#define AMP_RUNTIME_HOST_ZIP_H

#include "amp/Runtime/Host/OutputFile.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace amphost {

namespace zip {

inline constexpr uint32_t kLocalHeader = 0x04034b50, kEntry = 0x02014b50,
                          kEnd = 0x06054b50, kEnd64 = 0x06064b50,
                          kLocator64 = 0x07064b50;
/// The value of a number that a ZIP64 field replaces.
inline constexpr uint64_t kMost32 = 0xffffffff, kMost16 = 0xffff;

/// CRC-32 of IEEE 802.3, eight bytes at a time.
class Checksum {
public:
  void update(const void *bytes, size_t size) {
    static const Tables tables;
    const auto *at = static_cast<const unsigned char *>(bytes);
    for (; size >= 8; at += 8, size -= 8) {
      const uint32_t low =
          crc ^ (at[0] | at[1] << 8 | at[2] << 16 | uint32_t(at[3]) << 24);
      crc = tables[7][low & 255] ^ tables[6][low >> 8 & 255] ^
            tables[5][low >> 16 & 255] ^ tables[4][low >> 24] ^
            tables[3][at[4]] ^ tables[2][at[5]] ^ tables[1][at[6]] ^
            tables[0][at[7]];
    }
    for (; size > 0; ++at, --size)
      crc = tables[0][(crc ^ *at) & 255] ^ crc >> 8;
  }
  uint32_t get() const { return ~crc; }

private:
  struct Tables : std::array<std::array<uint32_t, 256>, 8> {
    Tables() {
      for (uint32_t i = 0; i < 256; ++i) {
        uint32_t value = i;
        for (int bit = 0; bit < 8; ++bit)
          value = value & 1 ? 0xedb88320u ^ value >> 1 : value >> 1;
        (*this)[0][i] = value;
      }
      for (size_t row = 1; row < 8; ++row)
        for (size_t i = 0; i < 256; ++i) {
          const uint32_t above = (*this)[row - 1][i];
          (*this)[row][i] = (*this)[0][above & 255] ^ above >> 8;
        }
    }
  };
  uint32_t crc = 0xffffffffu;
};

inline uint64_t read(const unsigned char *bytes, int width) {
  uint64_t result = 0;
  for (int i = 0; i < width; ++i)
    result |= uint64_t(bytes[i]) << 8 * i;
  return result;
}

inline void append(std::string &bytes, uint64_t value, int width) {
  for (int i = 0; i < width; ++i)
    bytes += char(value >> 8 * i & 255);
}

} // namespace zip

/// Writes stored members. They are dated 1980 so that equal members give equal
/// bytes.
class ZipWriter {
public:
  explicit ZipWriter(OutputFile &file) : file(file) {}

  /// Adds a member that consists of two parts.
  Status add(const std::string &name, const std::string &first,
             const void *second, size_t secondSize) {
    zip::Checksum checksum;
    checksum.update(first.data(), first.size());
    checksum.update(second, secondSize);
    const uint64_t size = first.size() + secondSize, offset = written;
    std::string header, entry;
    zip::append(header, zip::kLocalHeader, 4);
    appendCommon(header, name, checksum.get(), size,
                 size >= zip::kMost32 ? 20 : 0);
    header += name;
    if (size >= zip::kMost32)
      appendZip64(header, {size, size});
    std::vector<uint64_t> large;
    if (size >= zip::kMost32)
      large = {size, size};
    if (offset >= zip::kMost32)
      large.push_back(offset);
    zip::append(entry, zip::kEntry, 4);
    zip::append(entry, 45, 2); // version made by
    appendCommon(entry, name, checksum.get(), size,
                 large.empty() ? 0 : 4 + 8 * large.size());
    zip::append(entry, 0, 8); // no comment, first disk, no attributes
    zip::append(entry, 0, 2);
    zip::append(entry, std::min(offset, zip::kMost32), 4);
    entry += name;
    if (!large.empty())
      appendZip64(entry, large);
    directory += entry;
    ++count;
    AMP_RETURN_IF_ERROR(write(header.data(), header.size()));
    AMP_RETURN_IF_ERROR(write(first.data(), first.size()));
    return write(second, secondSize);
  }

  /// Writes the directory.
  Status finish() {
    const uint64_t offset = written, size = directory.size();
    AMP_RETURN_IF_ERROR(write(directory.data(), directory.size()));
    std::string end;
    if (count >= zip::kMost16 || size >= zip::kMost32 ||
        offset >= zip::kMost32) {
      zip::append(end, zip::kEnd64, 4);
      zip::append(end, 44, 8); // remaining bytes of this record
      zip::append(end, 45, 2);
      zip::append(end, 45, 2);
      zip::append(end, 0, 8); // disks
      for (uint64_t number : {count, count, size, offset})
        zip::append(end, number, 8);
      zip::append(end, zip::kLocator64, 4);
      zip::append(end, 0, 4);
      zip::append(end, offset + size, 8);
      zip::append(end, 1, 4);
    }
    zip::append(end, zip::kEnd, 4);
    zip::append(end, 0, 4); // disks
    zip::append(end, std::min(count, zip::kMost16), 2);
    zip::append(end, std::min(count, zip::kMost16), 2);
    zip::append(end, std::min(size, zip::kMost32), 4);
    zip::append(end, std::min(offset, zip::kMost32), 4);
    zip::append(end, 0, 2); // no comment
    return write(end.data(), end.size());
  }

private:
  /// Appends the fields that local and central headers share.
  static void appendCommon(std::string &to, const std::string &name,
                           uint32_t checksum, uint64_t size, size_t extra) {
    zip::append(to, size >= zip::kMost32 ? 45 : 20, 2); // version needed
    zip::append(to, 1 << 11, 2);                        // names are UTF-8
    zip::append(to, 0, 2);                              // stored
    zip::append(to, 0, 2);                              // time
    zip::append(to, 1 << 5 | 1, 2);                     // 1 January 1980
    zip::append(to, checksum, 4);
    zip::append(to, std::min(size, zip::kMost32), 4);
    zip::append(to, std::min(size, zip::kMost32), 4);
    zip::append(to, name.size(), 2);
    zip::append(to, extra, 2);
  }
  static void appendZip64(std::string &to,
                          const std::vector<uint64_t> &numbers) {
    zip::append(to, 1, 2);
    zip::append(to, 8 * numbers.size(), 2);
    for (uint64_t number : numbers)
      zip::append(to, number, 8);
  }
  Status write(const void *bytes, size_t size) {
    written += size;
    return file.write(bytes, size);
  }

  OutputFile &file;
  std::string directory;
  uint64_t written = 0, count = 0;
};

} // namespace amphost

#endif // AMP_RUNTIME_HOST_ZIP_H
