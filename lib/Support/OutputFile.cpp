//===- OutputFile.cpp - Output files, whole or not at all -----------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Support/OutputFile.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/Errc.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <cerrno>
#include <csignal>
#include <string>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

using namespace mlir::amp;
namespace fs = llvm::sys::fs;
using llvm::StringRef;

static llvm::Error makeError(std::error_code code) {
  return llvm::errorCodeToError(code);
}

/// The error that a stream has had, which is then forgotten: a stream that is
/// destroyed with an error ends the process.
static llvm::Error takeError(llvm::raw_fd_ostream &os) {
  os.flush();
  std::error_code code = os.error();
  os.clear_error();
  return makeError(code);
}

IgnoreFileSizeSignal::IgnoreFileSizeSignal() {
  struct sigaction ignore = {};
  ignore.sa_handler = SIG_IGN;
  ::sigaction(SIGXFSZ, &ignore, &previous);
}

IgnoreFileSizeSignal::~IgnoreFileSizeSignal() {
  ::sigaction(SIGXFSZ, &previous, nullptr);
}

llvm::Error mlir::amp::flushStandardOutput() { return takeError(llvm::outs()); }

namespace {
/// What a path stands for.
struct Target {
  enum class Kind {
    Missing,       ///< a file can be created
    Regular,       ///< a file is to be replaced
    Stream,        ///< is written to as it is
    StandardOutput ///< `-`, or the file that it goes to
  };
  Kind kind = Kind::Missing;
  /// The path behind all links, unless it is a stream.
  std::string path;
  fs::file_status status;
};
} // namespace

/// The path that a chain of symbolic links ends at, which need not exist.
static llvm::ErrorOr<std::string> followLinks(StringRef path) {
  llvm::SmallString<256> at(path);
  // As many links as Linux follows.
  for (int links = 0; links <= 40; ++links) {
    if (!fs::is_symlink_file(at))
      return at.str().str();
    char text[4096];
    ssize_t length = ::readlink(at.c_str(), text, sizeof(text));
    if (length < 0)
      return std::error_code(errno, std::generic_category());
    StringRef link(text, length);
    if (llvm::sys::path::is_relative(link)) {
      llvm::sys::path::remove_filename(at);
      llvm::sys::path::append(at, link);
    } else {
      at = link;
    }
  }
  return std::make_error_code(std::errc::too_many_symbolic_link_levels);
}

static llvm::ErrorOr<Target> findTarget(StringRef path) {
  Target target;
  if (path == "-") {
    target.kind = Target::Kind::StandardOutput;
    return target;
  }
  std::error_code code = fs::status(path, target.status);
  if (!code && target.status.type() != fs::file_type::regular_file) {
    if (target.status.type() == fs::file_type::directory_file)
      return std::make_error_code(std::errc::is_a_directory);
    // Its links may lead to what has no name, such as a pipe of the shell.
    target.kind = Target::Kind::Stream;
    target.path = path.str();
    return target;
  }
  if (code && code != std::errc::no_such_file_or_directory)
    return code;
  llvm::ErrorOr<std::string> resolved = followLinks(path);
  if (!resolved)
    return resolved.getError();
  target.path = std::move(*resolved);
  if (code)
    return target;
  target.kind = Target::Kind::Regular;
  fs::file_status output;
  if (!fs::status(STDOUT_FILENO, output) &&
      output.getUniqueID() == target.status.getUniqueID())
    target.kind = Target::Kind::StandardOutput;
  return target;
}

/// Whether the file may be written. Its owner has said no by taking away every
/// permission to write, even where the user could write it nevertheless.
static std::error_code checkPermission(const Target &target) {
  bool isProtected = target.kind == Target::Kind::Regular &&
                     !(target.status.permissions() & fs::all_write);
  if (isProtected)
    return std::make_error_code(std::errc::permission_denied);
  return fs::access(target.path, fs::AccessMode::Write);
}

static llvm::Expected<fs::TempFile> createTemporary(const Target &target) {
  llvm::SmallString<256> model(target.path);
  model += ".tmp%%%%%%%%";
  return fs::TempFile::create(model);
}

/// Writes what is no regular file, once everything there is to write is known.
static llvm::Error
writeStream(const Target &target,
            llvm::function_ref<llvm::Error(llvm::raw_ostream &)> write) {
  std::string content;
  llvm::raw_string_ostream buffer(content);
  if (llvm::Error error = write(buffer))
    return error;
  if (target.kind == Target::Kind::StandardOutput) {
    llvm::outs() << content;
    return flushStandardOutput();
  }
  int descriptor;
  if (std::error_code code = fs::openFileForWrite(
          target.path, descriptor, fs::CD_OpenExisting, fs::OF_None))
    return makeError(code);
  llvm::raw_fd_ostream os(descriptor, /*shouldClose=*/true);
  os << content;
  return takeError(os);
}

llvm::Error mlir::amp::writeOutputFile(
    StringRef path,
    llvm::function_ref<llvm::Error(llvm::raw_ostream &)> write) {
  llvm::ErrorOr<Target> target = findTarget(path);
  if (!target)
    return makeError(target.getError());
  if (target->kind == Target::Kind::Stream ||
      target->kind == Target::Kind::StandardOutput)
    return writeStream(*target, write);
  bool replaces = target->kind == Target::Kind::Regular;
  if (replaces)
    if (std::error_code code = checkPermission(*target))
      return makeError(code);
  llvm::Expected<fs::TempFile> file = createTemporary(*target);
  if (!file)
    return file.takeError();
  llvm::Error error = llvm::Error::success();
  {
    IgnoreFileSizeSignal guard;
    llvm::raw_fd_ostream os(file->FD, /*shouldClose=*/false);
    error = write(os);
    error = llvm::joinErrors(std::move(error), takeError(os));
  }
  if (!error && replaces) {
    // Who may not give a file away becomes its owner.
    if (::fchown(file->FD, target->status.getUser(),
                 target->status.getGroup()) != 0)
      errno = 0;
    error =
        makeError(fs::setPermissions(file->FD, target->status.permissions()));
  }
  if (error)
    return llvm::joinErrors(std::move(error), file->discard());
  return file->keep(target->path);
}

llvm::Error mlir::amp::checkOutputFile(StringRef path) {
  llvm::ErrorOr<Target> target = findTarget(path);
  if (!target)
    return makeError(target.getError());
  if (target->kind == Target::Kind::StandardOutput)
    return llvm::Error::success();
  if (target->kind != Target::Kind::Missing)
    if (std::error_code code = checkPermission(*target))
      return makeError(code);
  if (target->kind == Target::Kind::Stream)
    return llvm::Error::success();
  llvm::Expected<fs::TempFile> file = createTemporary(*target);
  if (!file)
    return file.takeError();
  return file->discard();
}

bool mlir::amp::isSameFile(StringRef one, StringRef other) {
  llvm::ErrorOr<Target> first = findTarget(one), second = findTarget(other);
  if (!first || !second)
    return false;
  auto isFile = [](const Target &target) {
    return target.kind == Target::Kind::Regular ||
           target.kind == Target::Kind::Missing;
  };
  if (!isFile(*first) || !isFile(*second) || first->kind != second->kind)
    return false;
  if (first->kind == Target::Kind::Regular)
    return first->status.getUniqueID() == second->status.getUniqueID();
  // Neither is there yet: the same name in the same folder.
  auto parent = [](StringRef path) {
    StringRef folder = llvm::sys::path::parent_path(path);
    return folder.empty() ? StringRef(".") : folder;
  };
  return llvm::sys::path::filename(first->path) ==
             llvm::sys::path::filename(second->path) &&
         fs::equivalent(parent(first->path), parent(second->path));
}
