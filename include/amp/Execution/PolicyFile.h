//===- PolicyFile.h - A policy in a temporary file --------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_EXECUTION_POLICYFILE_H
#define AMP_EXECUTION_POLICYFILE_H

#include "amp/Execution/Errors.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/FileUtilities.h"
#include <memory>

namespace mlir::amp {

/// A temporary file with a policy, which `policy=` can name while this exists.
class PolicyFile {
public:
  static llvm::Expected<PolicyFile> create(llvm::StringRef text);
  const std::string &getPath() const { return path; }

private:
  std::string path;
  std::unique_ptr<llvm::FileRemover> remover;
};

/// Returns the options `pipeline` of the training pipeline without those of
/// `names`.
std::string removePipelineOptions(llvm::StringRef pipeline,
                                  llvm::ArrayRef<llvm::StringRef> names);

} // namespace mlir::amp

#endif // AMP_EXECUTION_POLICYFILE_H
