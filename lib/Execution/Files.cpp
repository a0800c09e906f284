//===- Files.cpp - Error and file helpers of the runner -------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Execution/Files.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace mlir::amp;

char DiagnosedError::ID;

/// Creates an empty temporary file beside `path`.
static llvm::Expected<llvm::sys::fs::TempFile>
createTemporary(llvm::StringRef path) {
  if (llvm::sys::fs::is_directory(path))
    return makeError("cannot write '{0}': it is a directory", path);
  llvm::SmallString<128> model(path);
  model += ".tmp%%%%%%%%";
  llvm::Expected<llvm::sys::fs::TempFile> file =
      llvm::sys::fs::TempFile::create(model, llvm::sys::fs::all_read |
                                                 llvm::sys::fs::owner_write);
  if (!file)
    return makeError("cannot write '{0}': {1}", path,
                     llvm::toString(file.takeError()));
  return file;
}

llvm::Error mlir::amp::writeAtomically(
    llvm::StringRef path,
    llvm::function_ref<llvm::Error(llvm::raw_ostream &)> write) {
  if (path == "-")
    return write(llvm::outs());
  llvm::Expected<llvm::sys::fs::TempFile> file = createTemporary(path);
  if (!file)
    return file.takeError();
  llvm::Error error = llvm::Error::success();
  {
    llvm::raw_fd_ostream os(file->FD, /*shouldClose=*/false);
    error = write(os);
    os.flush();
    if (os.has_error()) {
      std::string reason = os.error().message();
      os.clear_error();
      error = llvm::joinErrors(
          std::move(error), makeError("cannot write '{0}': {1}", path, reason));
    }
  }
  if (error)
    return llvm::joinErrors(std::move(error), file->discard());
  if (llvm::Error renamed = file->keep(path))
    return makeError("cannot write '{0}': {1}", path,
                     llvm::toString(std::move(renamed)));
  return llvm::Error::success();
}

llvm::Error mlir::amp::checkWritable(llvm::StringRef path) {
  if (path == "-")
    return llvm::Error::success();
  llvm::Expected<llvm::sys::fs::TempFile> file = createTemporary(path);
  if (!file)
    return file.takeError();
  return file->discard();
}
