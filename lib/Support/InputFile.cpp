//===- InputFile.cpp - Input that has an end ------------------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Support/InputFile.h"

#include "mlir/Bytecode/BytecodeReader.h"
#include "llvm/Support/FileSystem.h"

using namespace mlir::amp;

static llvm::Error makeReadError(const llvm::Twine &reason) {
  return llvm::createStringError(reason);
}

llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
mlir::amp::readInputFile(llvm::StringRef path, uint64_t most) {
  namespace fs = llvm::sys::fs;
  fs::file_status status;
  if (!fs::status(path, status)) {
    // The system describes a folder.
    if (status.type() != fs::file_type::regular_file &&
        status.type() != fs::file_type::directory_file)
      return makeReadError(
          "it is a device, a pipe or a socket, expected a file");
    if (status.getSize() > most)
      return makeReadError("it has " + llvm::Twine(status.getSize()) +
                           " bytes, expected at most " + llvm::Twine(most));
  }
  auto file = llvm::MemoryBuffer::getFile(path, /*IsText=*/true);
  if (!file)
    return makeReadError(file.getError().message());
  return std::move(*file);
}

/// Reads an open descriptor to its end, if that comes within the limit.
static llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
readStream(llvm::StringRef path) {
  auto file =
      path == "-" ? llvm::sys::fs::getStdinHandle() : llvm::sys::fs::file_t(-1);
  if (path != "-") {
    llvm::Expected<llvm::sys::fs::file_t> opened =
        llvm::sys::fs::openNativeFileForRead(path);
    if (!opened)
      return opened.takeError();
    file = *opened;
  }
  constexpr size_t piece = 1 << 20;
  std::string text;
  while (text.size() <= kMaxModuleBytes) {
    const size_t have = text.size();
    text.resize(have + piece);
    llvm::Expected<size_t> got = llvm::sys::fs::readNativeFile(
        file, llvm::MutableArrayRef(&text[have], piece));
    if (!got)
      return got.takeError();
    text.resize(have + *got);
    if (*got == 0)
      return llvm::MemoryBuffer::getMemBufferCopy(text, path == "-" ? "<stdin>"
                                                                    : path);
  }
  return makeReadError("it has more than " + llvm::Twine(kMaxModuleBytes) +
                       " bytes");
}

size_t mlir::amp::findDeepBracket(llvm::StringRef text, unsigned depth) {
  size_t line = 1;
  unsigned open = 0;
  for (size_t i = 0, e = text.size(); i < e; ++i) {
    const char next = i + 1 < e ? text[i + 1] : '\0';
    switch (text[i]) {
    case '\n':
      ++line;
      break;
    case '/':
      if (next == '/')
        i = std::min(text.find('\n', i), e) - 1;
      break;
    case '"':
      for (++i; i < e && text[i] != '"' && text[i] != '\n'; ++i)
        i += text[i] == '\\';
      line += i < e && text[i] == '\n';
      break;
    case '-': // an arrow
      i += next == '>';
      break;
    case '<':
      if (next == '=')
        break;
      [[fallthrough]];
    case '(':
    case '[':
    case '{':
      if (open++ == depth)
        return line;
      break;
    case '>':
      if (next == '=')
        break;
      [[fallthrough]];
    case ')':
    case ']':
    case '}':
      open -= open != 0;
      break;
    default:
      break;
    }
  }
  return 0;
}

llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
mlir::amp::readModule(llvm::StringRef path) {
  const bool isStream =
      path == "-" || path == "/dev/stdin" || path.starts_with("/dev/fd/");
  auto fail = [&](const llvm::Twine &reason) {
    return makeReadError("cannot open input file '" + path + "': " + reason);
  };
  auto file =
      isStream ? readStream(path) : readInputFile(path, kMaxModuleBytes);
  if (!file)
    return fail(llvm::toString(file.takeError()));
  if (mlir::isBytecode(**file))
    return file;
  if (size_t line = findDeepBracket((*file)->getBuffer(), kMaxModuleDepth))
    return fail("line " + llvm::Twine(line) + " has a bracket within " +
                llvm::Twine(kMaxModuleDepth) +
                " others, expected at most as many");
  return file;
}
