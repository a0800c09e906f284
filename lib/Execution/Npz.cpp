//===- Npz.cpp - Archives of arrays ---------------------------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Execution/Npz.h"

#include "amp/Execution/Files.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include <cstring>
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

/// Reads the member `index` in full, in growing pieces: the size that the
/// directory claims is not trusted with an allocation.
static llvm::Expected<std::string> readMember(zip_t *archive, uint64_t index,
                                              StringRef path, StringRef name) {
  zip_stat_t stat;
  if (zip_stat_index(archive, index, 0, &stat) != 0)
    return makeError("cannot read '{0}': {1}", path, zip_strerror(archive));
  Member file(zip_fopen_index(archive, index, 0));
  if (!file)
    return makeError("cannot read member '{0}' of '{1}': {2}", name, path,
                     zip_strerror(archive));
  std::string bytes;
  constexpr size_t kPiece = 1 << 20;
  for (;;) {
    size_t have = bytes.size();
    bytes.resize(have + kPiece);
    zip_int64_t got = zip_fread(file.get(), &bytes[have], kPiece);
    if (got < 0)
      return makeError("cannot read member '{0}' of '{1}': {2}", name, path,
                       zip_file_strerror(file.get()));
    bytes.resize(have + got);
    if (got == 0)
      break;
  }
  if ((stat.valid & ZIP_STAT_SIZE) && stat.size != bytes.size())
    return makeError("member '{0}' of '{1}' is truncated: {2} of {3} bytes",
                     name, path, bytes.size(), stat.size);
  return bytes;
}

/// Applies the note member: u2 arrays listed as "bf16" become bf16.
static llvm::Error applyTypes(ArrayMap &arrays, const NDArray &note,
                              StringRef path) {
  StringRef text(static_cast<const char *>(note.data()), note.getNumBytes());
  llvm::Expected<llvm::json::Value> value = llvm::json::parse(text);
  if (!value) {
    llvm::consumeError(value.takeError());
    return makeError("member '{0}' of '{1}' is not a JSON object", kTypesMember,
                     path);
  }
  const llvm::json::Object *object = value->getAsObject();
  if (!object)
    return makeError("member '{0}' of '{1}' is not a JSON object", kTypesMember,
                     path);
  for (const auto &entry : *object) {
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
    NDArray typed(ElementType::BF16, array->getShape());
    std::memcpy(typed.data(), array->data(), array->getNumBytes());
    *array = std::move(typed);
  }
  return llvm::Error::success();
}

static llvm::Expected<ArrayMap> readNpz(StringRef path) {
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
  ArrayMap arrays;
  std::optional<NDArray> types;
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
    llvm::Expected<std::string> bytes =
        readMember(archive.get(), i, path, name);
    if (!bytes)
      return bytes.takeError();
    llvm::Expected<NDArray> array = parseNpy(*bytes, name);
    if (!array)
      return makeError("cannot read '{0}': {1}", path,
                       llvm::toString(array.takeError()));
    if (name == kTypesMember)
      types = std::move(*array);
    else
      arrays.set(name, std::move(*array));
  }
  if (types)
    if (llvm::Error error = applyTypes(arrays, *types, path))
      return error;
  return arrays;
}

llvm::Expected<ArrayMap> mlir::amp::readArrays(StringRef path) {
  if (llvm::sys::fs::is_directory(path))
    return makeError("cannot read '{0}': it is a directory", path);
  if (!path.ends_with(".npy")) {
    if (!llvm::sys::fs::exists(path))
      return makeError("cannot read '{0}': no such file", path);
    return readNpz(path);
  }
  llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>> buffer =
      llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                  /*RequiresNullTerminator=*/false);
  if (!buffer)
    return makeError("cannot read '{0}': {1}", path,
                     buffer.getError().message());
  llvm::Expected<NDArray> array = parseNpy((*buffer)->getBuffer(), path);
  if (!array)
    return array.takeError();
  ArrayMap arrays;
  arrays.set(llvm::sys::path::stem(path), std::move(*array));
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
