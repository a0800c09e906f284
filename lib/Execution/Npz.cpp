//===- Npz.cpp - Archives of arrays ---------------------------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Execution/Npz.h"

#include "amp/Execution/Files.h"
#include "amp/Execution/Memory.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <zip.h>

using namespace mlir::amp;
using llvm::StringRef;

//===----------------------------------------------------------------------===//
// ArrayMap
//===----------------------------------------------------------------------===//

void ArrayMap::set(StringRef name, NDArray array) {
  auto [it, added] = indices.try_emplace(name, entries.size());
  if (added)
    entries.emplace_back(name.str(), std::move(array));
  else
    entries[it->second].second = std::move(array);
}

NDArray *ArrayMap::lookup(StringRef name) {
  auto it = indices.find(name);
  return it == indices.end() ? nullptr : &entries[it->second].second;
}

const NDArray *ArrayMap::lookup(StringRef name) const {
  return const_cast<ArrayMap *>(this)->lookup(name);
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

namespace {
struct DiscardArchive {
  void operator()(zip_t *archive) const { zip_discard(archive); }
};
struct CloseMember {
  void operator()(zip_file_t *file) const { zip_fclose(file); }
};
using Archive = std::unique_ptr<zip_t, DiscardArchive>;
using Member = std::unique_ptr<zip_file_t, CloseMember>;
} // namespace

namespace {
/// A member that is read bit by bit.
class MemberReader {
public:
  MemberReader(zip_t *archive, StringRef path, StringRef name)
      : archive(archive), path(path), name(name) {}

  llvm::Error open(uint64_t index) {
    if (zip_stat_index(archive, index, 0, &stat) != 0)
      return makeError("cannot read '{0}': {1}", path, zip_strerror(archive));
    file.reset(zip_fopen_index(archive, index, 0));
    if (!file)
      return makeError("cannot read member '{0}' of '{1}': {2}", name, path,
                       zip_strerror(archive));
    return llvm::Error::success();
  }

  /// Reads on until there are `size` bytes or no more, in growing pieces: what
  /// the directory and the header claim is not trusted with an allocation.
  llvm::Error readUpTo(uint64_t size) {
    while (bytes.size() < size) {
      size_t have = bytes.size();
      size_t piece = std::min<uint64_t>(kPiece, size - have);
      bytes.resize(have + piece);
      zip_int64_t got = zip_fread(file.get(), &bytes[have], piece);
      if (got < 0)
        return makeError("cannot read member '{0}' of '{1}': {2}", name, path,
                         zip_file_strerror(file.get()));
      bytes.resize(have + got);
      if (got == 0)
        break;
    }
    return llvm::Error::success();
  }

  /// The size of the member, as far as it is known.
  uint64_t getSize() const {
    return (stat.valid & ZIP_STAT_SIZE) ? stat.size : bytes.size();
  }
  StringRef getBytes() const { return bytes; }

  static constexpr size_t kPiece = 1 << 20;

private:
  zip_t *archive;
  StringRef path, name;
  zip_stat_t stat;
  Member file;
  std::string bytes;
};

/// The arrays that the note member gives another type.
using TypeNotes = llvm::json::Object;
} // namespace

/// Reads the array `name`, the member `index`, in full if `filter` wants it.
/// The header is judged before more than a piece of the rest is inflated.
static llvm::Expected<NDArray> readArray(zip_t *archive, uint64_t index,
                                         StringRef path, StringRef name,
                                         const TypeNotes *notes,
                                         ArrayFilter filter) {
  MemberReader reader(archive, path, name);
  if (llvm::Error error = reader.open(index))
    return error;
  if (llvm::Error error = reader.readUpTo(MemberReader::kPiece))
    return error;
  auto fail = [&](llvm::Error error) {
    return makeError("cannot read '{0}': {1}", path,
                     llvm::toString(std::move(error)));
  };
  llvm::Expected<NpyHeader> header = parseNpyHeader(reader.getBytes(), name);
  if (!header)
    return fail(header.takeError());
  if (llvm::Error error = checkNpySize(*header, reader.getSize(), name))
    return fail(std::move(error));
  if (filter) {
    bool isLow = header->array.getType() == ElementType::U16 && notes &&
                 notes->get(name);
    NDArray shown =
        NDArray::unread(isLow ? ElementType::BF16 : header->array.getType(),
                        header->array.getShape());
    if (!filter(name, shown))
      return std::move(header->array);
  }
  if (llvm::Error error = checkMemory(llvm::formatv("array '{0}'", name).str(),
                                      header->dataBytes))
    return fail(std::move(error));
  uint64_t size = header->headerBytes + header->dataBytes;
  // One more byte, which should not be there.
  if (llvm::Error error = reader.readUpTo(size + 1))
    return error;
  if (reader.getBytes().size() < size)
    return makeError("member '{0}' of '{1}' is truncated: {2} of {3} bytes",
                     name, path, reader.getBytes().size(), size);
  llvm::Expected<NDArray> array = parseNpy(reader.getBytes(), name);
  if (!array)
    return fail(array.takeError());
  return array;
}

/// Reads the note member, if the archive has one.
static llvm::Expected<TypeNotes> readTypes(zip_t *archive, StringRef path) {
  std::string member = (kTypesMember + ".npy").str();
  zip_int64_t index = zip_name_locate(archive, member.c_str(), 0);
  if (index < 0)
    return TypeNotes();
  llvm::Expected<NDArray> note =
      readArray(archive, index, path, kTypesMember, nullptr, nullptr);
  if (!note)
    return note.takeError();
  StringRef text(static_cast<const char *>(note->data()), note->getNumBytes());
  llvm::Expected<llvm::json::Value> value = llvm::json::parse(text);
  const llvm::json::Object *object = value ? value->getAsObject() : nullptr;
  if (!object) {
    llvm::consumeError(value.takeError());
    return makeError("member '{0}' of '{1}' is not a JSON object", kTypesMember,
                     path);
  }
  return *object;
}

/// Applies the note member: u2 arrays listed as "bf16" become bf16.
static llvm::Error applyTypes(ArrayMap &arrays, const TypeNotes &notes,
                              StringRef path) {
  for (const auto &entry : notes) {
    StringRef name = entry.first;
    NDArray *array = arrays.lookup(name);
    if (!array)
      return makeError("member '{0}' of '{1}' names an array '{2}' that is not "
                       "there",
                       kTypesMember, path, name);
    if (entry.second.getAsString() != StringRef("bf16") ||
        array->getType() != ElementType::U16)
      return makeError("member '{0}' of '{1}' gives '{2}' a type that does not "
                       "fit, expected \"bf16\" on a u2 array",
                       kTypesMember, path, name);
    if (!array->isValid()) {
      *array = NDArray::unread(ElementType::BF16, array->getShape());
      continue;
    }
    NDArray typed(ElementType::BF16, array->getShape());
    std::memcpy(typed.data(), array->data(), array->getNumBytes());
    *array = std::move(typed);
  }
  return llvm::Error::success();
}

static llvm::Expected<ArrayMap> readNpz(StringRef path, ArrayFilter filter) {
  int code = 0;
  Archive archive(zip_open(path.str().c_str(), ZIP_RDONLY, &code));
  if (!archive) {
    zip_error_t error;
    zip_error_init_with_code(&error, code);
    std::string reason = zip_error_strerror(&error);
    zip_error_fini(&error);
    return makeError("cannot read '{0}': not an .npz archive, or truncated "
                     "({1})",
                     path, reason);
  }
  llvm::Expected<TypeNotes> notes = readTypes(archive.get(), path);
  if (!notes)
    return notes.takeError();
  ArrayMap arrays;
  llvm::StringSet<> names;
  for (zip_int64_t i = 0, e = zip_get_num_entries(archive.get(), 0); i < e;
       ++i) {
    const char *rawName = zip_get_name(archive.get(), i, ZIP_FL_ENC_GUESS);
    if (!rawName)
      return makeError("cannot read '{0}': {1}", path,
                       zip_strerror(archive.get()));
    StringRef name = rawName;
    if (!name.consume_back(".npy"))
      return makeError("member '{0}' of '{1}' is not an array, expected a name "
                       "that ends in .npy",
                       name, path);
    if (!names.insert(name).second)
      return makeError("'{0}' has two members '{1}'", path, name);
    if (name == kTypesMember)
      continue;
    llvm::Expected<NDArray> array =
        readArray(archive.get(), i, path, name, &*notes, filter);
    if (!array)
      return array.takeError();
    arrays.set(name, std::move(*array));
  }
  if (llvm::Error error = applyTypes(arrays, *notes, path))
    return error;
  return arrays;
}

llvm::Expected<ArrayMap> mlir::amp::readArrays(StringRef path,
                                               ArrayFilter filter) {
  if (llvm::sys::fs::is_directory(path))
    return makeError("cannot read '{0}': it is a directory", path);
  if (!path.ends_with(".npy")) {
    if (!llvm::sys::fs::exists(path))
      return makeError("cannot read '{0}': no such file", path);
    return readNpz(path, filter);
  }
  llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>> buffer =
      llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                  /*RequiresNullTerminator=*/false);
  if (!buffer)
    return makeError("cannot read '{0}': {1}", path,
                     buffer.getError().message());
  StringRef bytes = (*buffer)->getBuffer();
  StringRef name = llvm::sys::path::stem(path);
  llvm::Expected<NpyHeader> header = parseNpyHeader(bytes, path);
  if (!header)
    return header.takeError();
  ArrayMap arrays;
  if (filter && !filter(name, header->array)) {
    arrays.set(name, std::move(header->array));
    return arrays;
  }
  llvm::Expected<NDArray> array = parseNpy(bytes, path);
  if (!array)
    return array.takeError();
  arrays.set(name, std::move(*array));
  return arrays;
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

/// The note member for the bf16 arrays among `arrays`, if there are any.
static std::optional<NDArray> buildTypes(const ArrayMap &arrays) {
  llvm::json::Object object;
  for (const auto &[name, array] : arrays)
    if (array.getType() == ElementType::BF16)
      object[name] = "bf16";
  if (object.empty())
    return std::nullopt;
  std::string text;
  llvm::raw_string_ostream(text) << llvm::json::Value(std::move(object));
  NDArray note(ElementType::U8, {int64_t(text.size())});
  std::memcpy(note.data(), text.data(), text.size());
  return note;
}

llvm::Error mlir::amp::writeNpz(StringRef path, const ArrayMap &arrays) {
  auto fail = [&](StringRef reason) {
    return makeError("cannot write '{0}': {1}", path, reason);
  };

  // The members must outlive the archive, which reads them when it is closed.
  std::vector<std::pair<std::string, std::string>> members;
  auto addMember = [&](StringRef name, const NDArray &array) {
    std::string bytes;
    llvm::raw_string_ostream os(bytes);
    printNpy(array, os);
    os.flush();
    members.emplace_back((name + ".npy").str(), std::move(bytes));
  };
  for (const auto &[name, array] : arrays)
    addMember(name, array);
  if (std::optional<NDArray> types = buildTypes(arrays))
    addMember(kTypesMember, *types);

  zip_error_t error;
  zip_error_init(&error);
  zip_source_t *target = zip_source_buffer_create(nullptr, 0, 0, &error);
  if (!target)
    return fail(zip_error_strerror(&error));
  // Opening takes one reference and the finished bytes are read through ours.
  zip_source_keep(target);
  llvm::scope_exit release([&] { zip_source_free(target); });
  Archive archive(
      zip_open_from_source(target, ZIP_CREATE | ZIP_TRUNCATE, &error));
  if (!archive) {
    zip_source_free(target);
    return fail(zip_error_strerror(&error));
  }
  for (const auto &[name, bytes] : members) {
    zip_source_t *source =
        zip_source_buffer(archive.get(), bytes.data(), bytes.size(), 0);
    if (!source)
      return fail(zip_strerror(archive.get()));
    zip_int64_t index =
        zip_file_add(archive.get(), name.c_str(), source, ZIP_FL_ENC_UTF_8);
    if (index < 0) {
      zip_source_free(source);
      return fail(zip_strerror(archive.get()));
    }
    // A fixed date (1980-01-01) makes the bytes reproducible.
    if (zip_set_file_compression(archive.get(), index, ZIP_CM_STORE, 0) != 0 ||
        zip_file_set_dostime(archive.get(), index, 0, 0x21, 0) != 0)
      return fail(zip_strerror(archive.get()));
  }
  if (zip_close(archive.get()) != 0)
    return fail(zip_strerror(archive.get()));
  (void)archive.release();

  zip_stat_t stat;
  zip_stat_init(&stat);
  if (zip_source_stat(target, &stat) != 0 || zip_source_open(target) != 0)
    return fail("cannot read back the archive");
  std::string content(stat.size, '\0');
  zip_int64_t got = zip_source_read(target, content.data(), content.size());
  zip_source_close(target);
  if (got < 0 || uint64_t(got) != content.size())
    return fail("cannot read back the archive");
  return writeAtomically(path, [&](llvm::raw_ostream &os) {
    os << content;
    return llvm::Error::success();
  });
}
