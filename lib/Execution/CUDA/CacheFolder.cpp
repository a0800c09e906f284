//===- CacheFolder.cpp - Files of the cache of CUDA steps -----------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CacheFolder.h"

#include "amp/Execution/Errors.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/SHA256.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir::amp;
namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

std::string mlir::amp::hashText(llvm::StringRef text) {
  llvm::SHA256 hash;
  hash.update(text);
  return llvm::toHex(hash.final(), /*LowerCase=*/true);
}

TemporaryFile::~TemporaryFile() {
  if (name.empty())
    return;
  fs::remove(name);
  llvm::sys::DontRemoveFileOnSignal(name);
}

std::error_code TemporaryFile::create(llvm::StringRef folder,
                                      llvm::StringRef suffix) {
  llvm::SmallString<128> model(folder);
  path::append(model, "compiling-%%%%%%%%" + suffix);
  int descriptor = -1;
  llvm::SmallString<128> made;
  if (std::error_code error = fs::createUniqueFile(model, descriptor, made))
    return error;
  llvm::raw_fd_ostream(descriptor, /*shouldClose=*/true);
  name = std::string(made);
  llvm::sys::RemoveFileOnSignal(name);
  return std::error_code();
}

llvm::Expected<std::string> mlir::amp::openCacheFolder(llvm::StringRef given) {
  llvm::SmallString<128> folder(given);
  if (folder.empty()) {
    std::string base =
        llvm::sys::Process::GetEnv("XDG_CACHE_HOME").value_or("");
    if (!base.empty()) {
      folder = base;
    } else if (path::home_directory(folder)) {
      path::append(folder, ".cache");
    } else {
      return makeError("there is no folder for compiled steps: set HOME or "
                       "XDG_CACHE_HOME, or give --cuda-cache");
    }
    path::append(folder, "amp");
  }
  if (std::error_code error = fs::create_directories(folder))
    return makeError("cannot create the folder '{0}': {1}", folder,
                     error.message());
  return std::string(folder);
}

std::string mlir::amp::readText(const llvm::Twine &file) {
  auto buffer = llvm::MemoryBuffer::getFile(file, /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false);
  return buffer ? (*buffer)->getBuffer().str() : std::string();
}

llvm::Error mlir::amp::writeWhole(const std::string &file,
                                  llvm::StringRef folder,
                                  llvm::StringRef text) {
  TemporaryFile temporary;
  std::error_code error = temporary.create(folder, ".tmp");
  if (!error) {
    llvm::raw_fd_ostream os(temporary.name, error);
    os << text;
    os.close();
    if (!error)
      error = os.error();
    os.clear_error();
  }
  if (!error)
    error = fs::rename(temporary.name, file);
  return error ? makeError("cannot write '{0}': {1}", file, error.message())
               : llvm::Error::success();
}
