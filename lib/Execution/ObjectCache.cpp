//===- ObjectCache.cpp - Compiled code of steps in files ------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ObjectCache.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SHA256.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TargetParser/Host.h"

using namespace mlir;
using namespace mlir::amp;

/// An object file is followed by its hash.
static constexpr size_t kHashLetters = 64;

static std::string hashBytes(llvm::StringRef bytes) {
  return llvm::toHex(llvm::SHA256::hash(llvm::arrayRefFromStringRef(bytes)),
                     /*LowerCase=*/true);
}

/// Returns a path in `folder` whose name is a hash of `module`, `more` and the
/// processor.
static std::string hashModule(ModuleOp module, llvm::StringRef more,
                              llvm::StringRef folder,
                              llvm::StringRef extension) {
  std::string text;
  llvm::raw_string_ostream os(text);
  module.print(os, OpPrintingFlags().useLocalScope());
  os << LLVM_VERSION_STRING << ' ' << llvm::sys::getHostCPUName();
  std::vector<std::string> features;
  for (const auto &feature : llvm::sys::getHostCPUFeatures())
    if (feature.second)
      features.push_back(feature.first().str());
  llvm::sort(features);
  os << ' ' << llvm::join(features, ",") << more;
  llvm::SmallString<128> path(folder);
  llvm::sys::path::append(path, hashBytes(text).substr(0, 32) + extension);
  return std::string(path);
}

std::string mlir::amp::getObjectPath(ModuleOp module, llvm::StringRef folder) {
  return hashModule(module, "", folder, ".o");
}

/// Returns the path, size and modification time of the executable or shared
/// library that contains this code, or an empty string if it is not found.
static std::string identifyBuild() {
  auto maps = llvm::MemoryBuffer::getFileAsStream("/proc/self/maps");
  if (!maps)
    return "";
  const auto own = reinterpret_cast<uintptr_t>(&identifyBuild);
  llvm::SmallVector<StringRef> lines;
  (*maps)->getBuffer().split(lines, '\n');
  for (StringRef line : lines) {
    // begin-end rights offset device inode path
    uintptr_t begin = 0, end = 0;
    StringRef rest = line;
    if (rest.consumeInteger(16, begin) || !rest.consume_front("-") ||
        rest.consumeInteger(16, end) || own < begin || own >= end)
      continue;
    StringRef file = line.drop_until([](char c) { return c == '/'; });
    llvm::sys::fs::file_status status;
    if (file.empty() || llvm::sys::fs::status(file, status))
      return "";
    return llvm::formatv(
               "{0} {1} {2}", file, status.getSize(),
               status.getLastModificationTime().time_since_epoch().count())
        .str();
  }
  return "";
}

std::string mlir::amp::getStoredStepPath(ModuleOp module,
                                         llvm::StringRef options,
                                         llvm::StringRef folder) {
  static const std::string build = identifyBuild();
  if (build.empty())
    return "";
  return hashModule(module, (" " + options + " " + build).str(), folder,
                    ".step");
}

std::optional<StoredStep> mlir::amp::readStoredStep(llvm::StringRef path) {
  auto file = readObject(path);
  if (!file)
    return std::nullopt;
  llvm::SmallVector<StringRef> words;
  file->getBuffer().split(words, ' ');
  StoredStep step;
  int64_t bytes;
  if (words.size() != 3)
    return std::nullopt;
  step.object = words[0].str();
  step.isParallel = words[1] == "parallel";
  if (!words[2].getAsInteger(10, bytes))
    step.plannedBytes = bytes;
  return step;
}

/// Closes `os` and returns whether everything was written. The destructor of a
/// stream with an unhandled error ends the process.
static bool close(llvm::raw_fd_ostream &os) {
  os.close();
  const bool isWhole = !os.has_error();
  os.clear_error();
  return isWhole;
}

void mlir::amp::writeStoredStep(llvm::StringRef path, const StoredStep &step) {
  (void)writeObject(path, [&](llvm::StringRef scratch) {
    std::error_code error;
    llvm::raw_fd_ostream os(scratch, error);
    if (error)
      return false;
    os << step.object << (step.isParallel ? " parallel " : " sequential ");
    if (step.plannedBytes)
      os << *step.plannedBytes;
    else
      os << "unknown";
    return close(os);
  });
}

std::unique_ptr<llvm::MemoryBuffer>
mlir::amp::readObject(llvm::StringRef path) {
  auto file = llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                          /*RequiresNullTerminator=*/false);
  if (!file || (*file)->getBufferSize() < kHashLetters)
    return nullptr;
  llvm::StringRef bytes = (*file)->getBuffer();
  llvm::StringRef object = bytes.drop_back(kHashLetters);
  if (bytes.take_back(kHashLetters) != hashBytes(object))
    return nullptr;
  return llvm::MemoryBuffer::getMemBufferCopy(object, path);
}

bool mlir::amp::writeObject(llvm::StringRef path,
                            llvm::function_ref<bool(llvm::StringRef)> dump) {
  llvm::StringRef folder = llvm::sys::path::parent_path(path);
  llvm::SmallString<128> scratch;
  if (llvm::sys::fs::create_directories(folder) ||
      llvm::sys::fs::createUniqueFile(folder + "/compiling-%%%%%%%%.o",
                                      scratch))
    return false;
  bool isWhole = dump(scratch);
  auto file = llvm::MemoryBuffer::getFile(scratch);
  isWhole &= bool(file);
  if (isWhole) {
    const std::string hash = hashBytes((*file)->getBuffer());
    std::error_code error;
    llvm::raw_fd_ostream os(scratch, error, llvm::sys::fs::OF_Append);
    if (!error)
      os << hash;
    isWhole = !error && close(os);
  }
  isWhole = isWhole && !llvm::sys::fs::rename(scratch, path);
  if (!isWhole)
    llvm::sys::fs::remove(scratch);
  return isWhole;
}
