//===- Zip.h - Archives of arrays -------------------------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reading stored and deflated members of .zip files (RFC 1951; local and
// central headers of APPNOTE 6.3), with ZIP64 sizes as NumPy writes them;
// writing stored members. No dependency: a program emitted as one file builds
// anywhere.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_RUNTIME_CUDA_ZIP_H
#define AMP_RUNTIME_CUDA_ZIP_H

#include "amp/Runtime/CUDA/Status.h"

#include <cstdint>
#include <string>
#include <vector>

namespace amp::cuda {

struct ZipMember {
  std::string name;
  std::vector<unsigned char> bytes;
};

namespace zip {

/// CRC-32 of IEEE 802.3, four bits at a time.
inline uint32_t crc32(const unsigned char *data, size_t size) {
  uint32_t table[16];
  for (uint32_t i = 0; i < 16; ++i) {
    uint32_t value = i;
    for (int bit = 0; bit < 4; ++bit)
      value = value & 1 ? 0xedb88320u ^ value >> 1 : value >> 1;
    table[i] = value;
  }
  uint32_t crc = 0xffffffffu;
  for (size_t i = 0; i < size; ++i) {
    crc ^= data[i];
    crc = table[crc & 15] ^ crc >> 4;
    crc = table[crc & 15] ^ crc >> 4;
  }
  return ~crc;
}

/// The bits of a deflated stream, from the least significant on. Reading past
/// the end gives zeros and sets `failed`.
class BitReader {
public:
  BitReader(const unsigned char *data, size_t size) : data(data), size(size) {}

  uint32_t take(int count) {
    uint32_t result = 0;
    for (int i = 0; i < count; ++i)
      result |= takeBit() << i;
    return result;
  }
  uint32_t takeBit() {
    if (at / 8 >= size) {
      failed = true;
      return 0;
    }
    uint32_t bit = data[at / 8] >> at % 8 & 1;
    ++at;
    return bit;
  }
  void alignToByte() { at = (at + 7) / 8 * 8; }

  bool failed = false;

private:
  const unsigned char *data;
  size_t size, at = 0;
};

/// A canonical Huffman code, by lengths of up to 15 bits.
class Huffman {
public:
  Huffman(const uint8_t *lengths, int count) {
    for (int i = 0; i < count; ++i)
      ++counts[lengths[i]];
    counts[0] = 0;
    int offsets[16] = {};
    for (int length = 1; length < 15; ++length)
      offsets[length + 1] = offsets[length] + counts[length];
    symbols.resize(count);
    for (int i = 0; i < count; ++i)
      if (lengths[i])
        symbols[offsets[lengths[i]]++] = i;
  }

  /// The next symbol, or -1.
  int decode(BitReader &bits) const {
    int code = 0, first = 0, index = 0;
    for (int length = 1; length <= 15; ++length) {
      code |= int(bits.takeBit());
      if (code - first < counts[length])
        return symbols[index + code - first];
      index += counts[length];
      first = (first + counts[length]) * 2;
      code *= 2;
    }
    return -1;
  }

private:
  int counts[16] = {};
  std::vector<int> symbols;
};

/// The two codes of a block whose codes are in the stream.
inline bool readCodes(BitReader &bits, std::vector<uint8_t> *literals,
                      std::vector<uint8_t> *distances) {
  static constexpr uint8_t order[] = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                      11, 4,  12, 3, 13, 2, 14, 1, 15};
  size_t literalCount = bits.take(5) + 257, distanceCount = bits.take(5) + 1;
  uint32_t lengthCount = bits.take(4) + 4;
  uint8_t codeLengths[19] = {};
  for (uint32_t i = 0; i < lengthCount; ++i)
    codeLengths[order[i]] = uint8_t(bits.take(3));
  Huffman code(codeLengths, 19);
  std::vector<uint8_t> lengths;
  while (lengths.size() < literalCount + distanceCount && !bits.failed) {
    int symbol = code.decode(bits);
    if (symbol < 0 || (symbol == 16 && lengths.empty()))
      return false;
    if (symbol < 16) {
      lengths.push_back(uint8_t(symbol));
      continue;
    }
    uint8_t value = symbol == 16 ? lengths.back() : uint8_t(0);
    uint32_t repeat = symbol == 16   ? 3 + bits.take(2)
                      : symbol == 17 ? 3 + bits.take(3)
                                     : 11 + bits.take(7);
    lengths.insert(lengths.end(), repeat, value);
  }
  if (bits.failed || lengths.size() != literalCount + distanceCount)
    return false;
  auto middle = lengths.begin() + std::ptrdiff_t(literalCount);
  literals->assign(lengths.begin(), middle);
  distances->assign(middle, lengths.end());
  return true;
}

/// Decodes a deflated stream of `expected` bytes; false if it is damaged.
inline bool inflate(const unsigned char *data, size_t size, size_t expected,
                    std::vector<unsigned char> *out) {
  BitReader bits(data, size);
  out->clear();
  for (bool last = false; !last;) {
    last = bits.takeBit();
    uint32_t kind = bits.take(2);
    if (kind == 0) {
      bits.alignToByte();
      uint32_t length = bits.take(16), complement = bits.take(16);
      if ((length ^ complement) != 0xffff || out->size() + length > expected)
        return false;
      for (uint32_t i = 0; i < length; ++i)
        out->push_back((unsigned char)bits.take(8));
      if (bits.failed)
        return false;
      continue;
    }
    std::vector<uint8_t> literals(288, 8), distances(30, 5);
    if (kind == 1) {
      for (int i = 144; i < 280; ++i)
        literals[i] = i < 256 ? 9 : 7;
    } else if (kind != 2 || !readCodes(bits, &literals, &distances)) {
      return false;
    }
    Huffman literalCode(literals.data(), int(literals.size()));
    Huffman distanceCode(distances.data(), int(distances.size()));
    while (true) {
      int symbol = literalCode.decode(bits);
      if (symbol < 0 || symbol > 285 || bits.failed || out->size() > expected)
        return false;
      if (symbol == 256)
        break;
      if (symbol < 256) {
        out->push_back((unsigned char)symbol);
        continue;
      }
      // Lengths and distances in groups that double in size.
      uint32_t length = uint32_t(symbol - 254);
      if (symbol == 285) {
        length = 258;
      } else if (symbol >= 265) {
        int extra = (symbol - 261) / 4;
        length =
            ((uint32_t(symbol - 265) % 4 + 4) << extra) + 3 + bits.take(extra);
      }
      int code = distanceCode.decode(bits);
      if (code < 0 || code > 29)
        return false;
      uint32_t distance = uint32_t(code) + 1;
      if (code >= 4) {
        int extra = code / 2 - 1;
        distance = ((uint32_t(code) % 2 + 2) << extra) + 1 + bits.take(extra);
      }
      if (distance > out->size() || out->size() + length > expected)
        return false;
      for (uint32_t i = 0; i < length; ++i)
        out->push_back((*out)[out->size() - distance]);
    }
  }
  return out->size() == expected;
}

inline uint64_t read(const std::vector<unsigned char> &bytes, size_t at,
                     int width) {
  uint64_t result = 0;
  for (int i = 0; i < width; ++i)
    result |= uint64_t(bytes[at + size_t(i)]) << 8 * i;
  return result;
}

inline void append(std::vector<unsigned char> &bytes, uint64_t value,
                   int width) {
  for (int i = 0; i < width; ++i)
    bytes.push_back((unsigned char)(value >> 8 * i));
}

/// Replaces those of the sizes and the offset that are all ones by what the
/// ZIP64 field among the extra fields of a central header says.
inline bool readZip64(const std::vector<unsigned char> &bytes, size_t at,
                      size_t length, uint64_t *size, uint64_t *compressed,
                      uint64_t *offset) {
  size_t end = at + length;
  while (at + 4 <= end) {
    uint64_t id = read(bytes, at, 2), field = read(bytes, at + 2, 2);
    at += 4;
    if (field > end - at)
      return false;
    if (id == 1) {
      for (uint64_t *value : {size, compressed, offset})
        if (*value == 0xffffffffu) {
          if (field < 8)
            return false;
          *value = read(bytes, at, 8);
          at += 8;
          field -= 8;
        }
      return true;
    }
    at += field;
  }
  return true;
}

} // namespace zip

/// The members of the archive in `bytes`, checked by their CRC.
inline Status readZip(const std::vector<unsigned char> &bytes,
                      std::vector<ZipMember> *members) {
  auto damaged = [](const char *what) {
    return makeError(kFile, "not an archive of arrays, or damaged: %s", what);
  };
  // The end record, behind which a comment may stand.
  if (bytes.size() < 22)
    return damaged("it is too short");
  size_t end = bytes.size() - 22;
  while (zip::read(bytes, end, 4) != 0x06054b50) {
    if (end == 0 || bytes.size() - end > 65557)
      return damaged("it has no directory");
    --end;
  }
  uint64_t count = zip::read(bytes, end + 10, 2);
  uint64_t at = zip::read(bytes, end + 16, 4);
  for (uint64_t i = 0; i < count; ++i) {
    if (at > bytes.size() || bytes.size() - at < 46 ||
        zip::read(bytes, at, 4) != 0x02014b50)
      return damaged("its directory is wrong");
    uint64_t method = zip::read(bytes, at + 10, 2);
    uint64_t crc = zip::read(bytes, at + 16, 4);
    uint64_t compressed = zip::read(bytes, at + 20, 4);
    uint64_t size = zip::read(bytes, at + 24, 4);
    uint64_t nameLength = zip::read(bytes, at + 28, 2);
    uint64_t extraLength = zip::read(bytes, at + 30, 2);
    uint64_t commentLength = zip::read(bytes, at + 32, 2);
    uint64_t offset = zip::read(bytes, at + 42, 4);
    if (bytes.size() - at - 46 < nameLength + extraLength + commentLength)
      return damaged("its directory is truncated");
    ZipMember member;
    member.name.assign(bytes.begin() + std::ptrdiff_t(at + 46),
                       bytes.begin() + std::ptrdiff_t(at + 46 + nameLength));
    if (!zip::readZip64(bytes, at + 46 + nameLength, extraLength, &size,
                        &compressed, &offset))
      return damaged("its directory is wrong");
    at += 46 + nameLength + extraLength + commentLength;

    if (offset > bytes.size() || bytes.size() - offset < 30)
      return damaged("a member lies outside");
    uint64_t begin = offset + 30 + zip::read(bytes, offset + 26, 2) +
                     zip::read(bytes, offset + 28, 2);
    if (begin > bytes.size() || bytes.size() - begin < compressed)
      return damaged("a member is truncated");
    const unsigned char *data = bytes.data() + begin;
    // Deflate cannot shrink below a thousandth.
    if (method == 0 && compressed == size)
      member.bytes.assign(data, data + size);
    else if (method != 8 || size / 1100 > compressed ||
             !zip::inflate(data, compressed, size, &member.bytes))
      return damaged(("member '" + member.name + "'").c_str());
    if (zip::crc32(member.bytes.data(), member.bytes.size()) != crc)
      return damaged(("checksum of member '" + member.name + "'").c_str());
    members->push_back(std::move(member));
  }
  return Status();
}

/// An archive of stored members, dated 1980 so that equal arrays give equal
/// bytes.
inline std::vector<unsigned char>
printZip(const std::vector<ZipMember> &members) {
  std::vector<unsigned char> bytes, directory;
  auto header = [](std::vector<unsigned char> &to, const ZipMember &member) {
    zip::append(to, 20, 2);         // version needed
    zip::append(to, 0, 2);          // flags
    zip::append(to, 0, 2);          // stored
    zip::append(to, 0, 2);          // time
    zip::append(to, 1 << 5 | 1, 2); // 1 January 1980
    zip::append(to, zip::crc32(member.bytes.data(), member.bytes.size()), 4);
    zip::append(to, member.bytes.size(), 4);
    zip::append(to, member.bytes.size(), 4);
    zip::append(to, member.name.size(), 2);
    zip::append(to, 0, 2); // extra
  };
  for (const ZipMember &member : members) {
    uint64_t offset = bytes.size();
    zip::append(bytes, 0x04034b50, 4);
    header(bytes, member);
    bytes.insert(bytes.end(), member.name.begin(), member.name.end());
    bytes.insert(bytes.end(), member.bytes.begin(), member.bytes.end());
    zip::append(directory, 0x02014b50, 4);
    zip::append(directory, 20, 2); // version made by
    header(directory, member);
    zip::append(directory, 0, 2); // comment
    zip::append(directory, 0, 2); // disk
    zip::append(directory, 0, 2); // attributes
    zip::append(directory, 0, 4);
    zip::append(directory, offset, 4);
    directory.insert(directory.end(), member.name.begin(), member.name.end());
  }
  uint64_t offset = bytes.size();
  bytes.insert(bytes.end(), directory.begin(), directory.end());
  zip::append(bytes, 0x06054b50, 4);
  zip::append(bytes, 0, 2);
  zip::append(bytes, 0, 2);
  zip::append(bytes, members.size(), 2);
  zip::append(bytes, members.size(), 2);
  zip::append(bytes, directory.size(), 4);
  zip::append(bytes, offset, 4);
  zip::append(bytes, 0, 2);
  return bytes;
}

} // namespace amp::cuda

#endif // AMP_RUNTIME_CUDA_ZIP_H
