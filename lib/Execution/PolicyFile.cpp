//===- PolicyFile.cpp - A policy in a temporary file ----------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Execution/PolicyFile.h"

#include "amp/Support/OutputFile.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"

using namespace mlir::amp;

llvm::Expected<PolicyFile> PolicyFile::create(llvm::StringRef text) {
  llvm::SmallString<128> name;
  if (std::error_code error =
          llvm::sys::fs::createTemporaryFile("amp-policy", "yaml", name))
    return makeError("cannot write a temporary file: {0}", error.message());
  PolicyFile file;
  file.path = name.str().str();
  file.remover = std::make_unique<llvm::FileRemover>(name);
  if (llvm::Error error = writeOutputFile(name, text))
    return std::move(error);
  return file;
}

std::string
mlir::amp::removePipelineOptions(llvm::StringRef pipeline,
                                 llvm::ArrayRef<llvm::StringRef> names) {
  llvm::SmallVector<llvm::StringRef> words, kept;
  llvm::SplitString(pipeline, words);
  for (llvm::StringRef word : words)
    if (!llvm::is_contained(names, word.split('=').first))
      kept.push_back(word);
  return llvm::join(kept, " ");
}
