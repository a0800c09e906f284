//===- Standalone.cpp - Standalone files ----------------------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Target/CUDA/Standalone.h"

#include "amp/Support/InstalledFiles.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

std::string mlir::cuda::findRuntimeHeaders() {
  return mlir::amp::findInstalledFolder("include", "amp/Runtime/CUDA/Program.h",
                                        AMP_SOURCE_INCLUDE_DIR);
}

/// Appends `text` to `out`, line by line.
static bool appendInlined(llvm::StringRef text, llvm::StringRef folder,
                          llvm::StringSet<> &included, std::string &out,
                          std::string &message) {
  while (!text.empty()) {
    auto [line, rest] = text.split('\n');
    text = rest;
    llvm::StringRef header = line;
    if (!header.consume_front("#include \"amp/") ||
        !header.consume_back("\"")) {
      out += line;
      out += '\n';
      continue;
    }
    if (!included.insert(header).second)
      continue;
    llvm::SmallString<128> path(folder);
    llvm::sys::path::append(path, "amp", header);
    auto file = llvm::MemoryBuffer::getFile(path, /*IsText=*/true);
    if (!file) {
      message =
          ("cannot read '" + path + "': " + file.getError().message()).str();
      return false;
    }
    out += ("// amp/" + header + "\n").str();
    if (!appendInlined((*file)->getBuffer(), folder, included, out, message))
      return false;
  }
  return true;
}

bool mlir::cuda::inlineRuntime(std::string &text, llvm::StringRef folder,
                               std::string &message) {
  std::string out;
  // The compiler may skip headers between #if and #endif. They are therefore
  // inlined again after #endif. Headers have guards.
  llvm::SmallVector<llvm::StringSet<>> included(1);
  llvm::StringRef rest = text;
  while (!rest.empty()) {
    const llvm::StringRef line =
        rest.take_front(rest.split('\n').first.size() + 1);
    if (line.starts_with("#if"))
      included.push_back(included.back());
    else if (line.starts_with("#endif") && included.size() > 1)
      included.pop_back();
    if (!appendInlined(line, folder, included.back(), out, message))
      return false;
    rest = rest.drop_front(line.size());
  }
  text = std::move(out);
  return true;
}
