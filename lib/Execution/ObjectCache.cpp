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

std::string mlir::amp::getObjectPath(ModuleOp module, llvm::StringRef folder) {
  std::string text;
  llvm::raw_string_ostream os(text);
  module.print(os, OpPrintingFlags().useLocalScope());
  os << LLVM_VERSION_STRING << ' ' << llvm::sys::getHostCPUName();
  std::vector<std::string> features;
  for (const auto &feature : llvm::sys::getHostCPUFeatures())
    if (feature.second)
      features.push_back(feature.first().str());
  llvm::sort(features);
  os << ' ' << llvm::join(features, ",");
  llvm::SmallString<128> path(folder);
  llvm::sys::path::append(path, hashBytes(text).substr(0, 32) + ".o");
  return std::string(path);
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

void mlir::amp::writeObject(llvm::StringRef path,
                            llvm::function_ref<void(llvm::StringRef)> dump) {
  llvm::StringRef folder = llvm::sys::path::parent_path(path);
  llvm::SmallString<128> scratch;
  if (llvm::sys::fs::create_directories(folder) ||
      llvm::sys::fs::createUniqueFile(folder + "/compiling-%%%%%%%%.o",
                                      scratch))
    return;
  dump(scratch);
  bool isWhole = false;
  if (auto file = llvm::MemoryBuffer::getFile(scratch)) {
    const std::string hash = hashBytes((*file)->getBuffer());
    std::error_code error;
    llvm::raw_fd_ostream os(scratch, error, llvm::sys::fs::OF_Append);
    if (!error) {
      os << hash;
      os.close();
      isWhole = !os.has_error();
      os.clear_error();
    }
  }
  if (!isWhole || llvm::sys::fs::rename(scratch, path))
    llvm::sys::fs::remove(scratch);
}
