//===- OutputFile.h - Atomic output files -----------------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Output goes to a temporary file, which replaces the path when everything is
// on disk:
//   * symbolic links are followed and stay links;
//   * an existing file keeps its mode; it is an error if the file lacks
//     permission to write, and the file does not change;
//   * a path that is not a regular file (a device, a pipe) is written directly,
//     and so is the file that standard output goes to;
//   * `-` is standard output.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_RUNTIME_HOST_OUTPUTFILE_H
#define AMP_RUNTIME_HOST_OUTPUTFILE_H

#include "amp/Runtime/Host/Status.h"

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <random>
#include <string>
#include <system_error>
#if __has_include(<unistd.h>)
#include <sys/stat.h>
#include <unistd.h>
#define AMP_HOST_HAS_POSIX 1
#endif

namespace amphost {

namespace output {
namespace fs = std::filesystem;

/// The kind of file that a path names.
struct Target {
  enum class Kind {
    Missing,       ///< a file can be created
    Regular,       ///< a file to replace
    Stream,        ///< written directly
    StandardOutput ///< `-`, or the file that it goes to
  };
  Kind kind = Kind::Missing;
  /// The path behind all links, unless it is a stream.
  fs::path path;
};

/// Follows a chain of symbolic links to its end, which need not exist.
inline std::error_code followLinks(fs::path *path) {
  std::error_code code;
  // Linux follows as many links.
  for (int links = 0; links <= 40; ++links) {
    if (!fs::is_symlink(fs::symlink_status(*path, code)))
      return std::error_code();
    const fs::path link = fs::read_symlink(*path, code);
    if (code)
      return code;
    *path = link.is_absolute() ? link : path->parent_path() / link;
  }
  return std::make_error_code(std::errc::too_many_symbolic_link_levels);
}

inline bool isStandardOutput(const fs::path &path) {
#ifdef AMP_HOST_HAS_POSIX
  struct ::stat file, output;
  return ::stat(path.c_str(), &file) == 0 &&
         ::fstat(STDOUT_FILENO, &output) == 0 && file.st_dev == output.st_dev &&
         file.st_ino == output.st_ino;
#else
  return path.empty();
#endif
}

inline std::error_code findTarget(const std::string &path, Target *target) {
  if (path == "-") {
    target->kind = Target::Kind::StandardOutput;
    return std::error_code();
  }
  std::error_code code;
  const fs::file_status status = fs::status(path, code);
  const bool isMissing = status.type() == fs::file_type::not_found;
  if (code && !isMissing)
    return code;
  if (status.type() == fs::file_type::directory)
    return std::make_error_code(std::errc::is_a_directory);
  target->path = path;
  if (!isMissing && status.type() != fs::file_type::regular) {
    // Its links may lead to a file without a name, such as a pipe of the shell.
    target->kind = Target::Kind::Stream;
    return std::error_code();
  }
  if (std::error_code wrong = followLinks(&target->path))
    return wrong;
  target->kind = isMissing                        ? Target::Kind::Missing
                 : isStandardOutput(target->path) ? Target::Kind::StandardOutput
                                                  : Target::Kind::Regular;
  return std::error_code();
}

/// Whether the file may be written. A file without any permission to write is
/// protected by its owner, even if the user could still write it.
inline std::error_code checkPermission(const Target &target) {
  std::error_code code;
  const fs::perms all =
      fs::perms::owner_write | fs::perms::group_write | fs::perms::others_write;
  if (target.kind == Target::Kind::Regular &&
      (fs::status(target.path, code).permissions() & all) == fs::perms::none)
    return std::make_error_code(std::errc::permission_denied);
#ifdef AMP_HOST_HAS_POSIX
  if (::access(target.path.c_str(), W_OK) != 0)
    return std::error_code(errno, std::generic_category());
#endif
  return code;
}

/// While it lives, a write beyond the limit on the size of files fails like any
/// other write and does not end the process.
class IgnoreFileSizeSignal {
public:
#ifdef SIGXFSZ
  IgnoreFileSizeSignal() : previous(std::signal(SIGXFSZ, SIG_IGN)) {}
  ~IgnoreFileSizeSignal() {
    if (previous != SIG_ERR)
      std::signal(SIGXFSZ, previous);
  }
#else
  IgnoreFileSizeSignal() = default;
#endif
  IgnoreFileSizeSignal(const IgnoreFileSizeSignal &) = delete;
  IgnoreFileSizeSignal &operator=(const IgnoreFileSizeSignal &) = delete;

private:
#ifdef SIGXFSZ
  void (*previous)(int);
#endif
};

} // namespace output

/// A file that receives its name when it is complete.
class OutputFile {
public:
  OutputFile() = default;
  OutputFile(const OutputFile &) = delete;
  OutputFile &operator=(const OutputFile &) = delete;
  ~OutputFile() {
    closeFile();
    discard();
  }

  /// Opens `path` for writing. The file does not change after an error.
  Status open(const std::string &to) {
    using Kind = output::Target::Kind;
    name = to;
    if (std::error_code code = output::findTarget(to, &target))
      return fail(code.value());
    if (target.kind == Kind::StandardOutput) {
      file = stdout;
      return Status();
    }
    if (target.kind != Kind::Missing)
      if (std::error_code code = output::checkPermission(target))
        return fail(code.value());
    if (target.kind == Kind::Stream) {
      file = std::fopen(target.path.c_str(), "r+b");
      if (!file) // of a pipe, which has one direction
        file = std::fopen(target.path.c_str(), "wb");
      return file ? Status() : fail(errno);
    }
    std::random_device random;
    for (int tries = 0; !file && tries < 16; ++tries) {
      char suffix[16];
      std::snprintf(suffix, sizeof(suffix), ".tmp%08x", unsigned(random()));
      temporary = target.path;
      temporary += suffix;
      errno = 0;
      file = std::fopen(temporary.c_str(), "wbx");
      if (!file && errno != EEXIST)
        break;
    }
    if (file)
      return Status();
    const int error = errno;
    temporary.clear();
    return fail(error);
  }

  Status write(const void *data, size_t size) {
    output::IgnoreFileSizeSignal guard;
    errno = 0;
    if (size == 0 || std::fwrite(data, 1, size, file) == size)
      return Status();
    return fail(errno);
  }

  /// Completes the file.
  Status commit() {
    output::IgnoreFileSizeSignal guard;
    errno = 0;
    if (std::fflush(file) != 0)
      return fail(errno);
    if (int error =
            target.kind == output::Target::Kind::Regular ? keepMode() : 0)
      return fail(error);
    if (closeFile() != 0)
      return fail(errno);
    if (temporary.empty())
      return Status();
    std::error_code code;
    std::filesystem::rename(temporary, target.path, code);
    if (code)
      return fail(code.value());
    temporary.clear();
    return Status();
  }

private:
  /// Returns the error that the file cannot be written. `error` is a value of
  /// errno.
  Status fail(int error) const {
    return makeError(kFile, "cannot write '%s': %s",
                     name == "-" ? "<stdout>" : name.c_str(),
                     std::strerror(error ? error : EIO));
  }

  /// Gives the new file the owner and mode of the old one. Returns errno, or 0.
  int keepMode() const {
#ifdef AMP_HOST_HAS_POSIX
    struct ::stat old;
    if (::stat(target.path.c_str(), &old) != 0)
      return errno;
    // A user who may not give a file away becomes its owner.
    if (::fchown(::fileno(file), old.st_uid, old.st_gid) != 0)
      errno = 0;
    return ::fchmod(::fileno(file), old.st_mode & 07777) == 0 ? 0 : errno;
#else
    std::error_code code;
    namespace fs = std::filesystem;
    fs::permissions(temporary, fs::status(target.path, code).permissions(),
                    code);
    return code.value();
#endif
  }

  int closeFile() {
    std::FILE *closed = file == stdout ? nullptr : file;
    file = nullptr;
    return closed ? std::fclose(closed) : 0;
  }
  void discard() {
    std::error_code code;
    if (!temporary.empty())
      std::filesystem::remove(temporary, code);
  }

  std::string name;
  output::Target target;
  std::filesystem::path temporary;
  std::FILE *file = nullptr;
};

/// Writes a whole file.
inline Status writeFile(const std::string &path, const std::string &text) {
  OutputFile file;
  AMP_RETURN_IF_ERROR(file.open(path));
  AMP_RETURN_IF_ERROR(file.write(text.data(), text.size()));
  return file.commit();
}

/// Checks that `path` can be written now, so that a long run does not fail when
/// it saves its result. Leaves no file behind.
inline Status checkWritable(const std::string &path) {
  output::Target target;
  // Opening a pipe would wait for its reader.
  if (!output::findTarget(path, &target) &&
      target.kind == output::Target::Kind::Stream &&
      !output::checkPermission(target))
    return Status();
  OutputFile file;
  return file.open(path);
}

/// Whether the two paths name one regular file, or would name one once it
/// exists. `-` and devices are not files.
inline bool isSameFile(const std::string &one, const std::string &other) {
  using Kind = output::Target::Kind;
  namespace fs = std::filesystem;
  output::Target first, second;
  if (output::findTarget(one, &first) || output::findTarget(other, &second))
    return false;
  auto isFile = [](const output::Target &target) {
    return target.kind == Kind::Regular || target.kind == Kind::Missing;
  };
  if (!isFile(first) || !isFile(second) || first.kind != second.kind)
    return false;
  std::error_code code;
  if (first.kind == Kind::Regular)
    return fs::equivalent(first.path, second.path, code);
  // If neither exists, compare name and folder.
  auto folder = [](const fs::path &path) {
    return path.has_parent_path() ? path.parent_path() : fs::path(".");
  };
  return first.path.filename() == second.path.filename() &&
         fs::equivalent(folder(first.path), folder(second.path), code);
}

} // namespace amphost

#endif // AMP_RUNTIME_HOST_OUTPUTFILE_H
