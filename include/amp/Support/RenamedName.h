//===- RenamedName.h - Former names of options and keys ---------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Passes, options of passes and keys of policies that have another name now. A
// former name is an error that gives the present one.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_SUPPORT_RENAMEDNAME_H
#define AMP_SUPPORT_RENAMEDNAME_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace mlir::amp {

/// A name that has changed. `owner` is the pass or pipeline of an option,
/// `policy` for a key of a policy, and empty for a pass.
struct RenamedName {
  llvm::StringRef owner, formerName, presentName;
};

/// Returns every name that has changed.
llvm::ArrayRef<RenamedName> getRenamedNames();

/// Returns `'<former>' is now called '<present>'`, or an empty string if
/// `name` is no former name of `owner`.
std::string describeRenaming(llvm::StringRef owner, llvm::StringRef name);

/// Registers the former names of passes as pipelines that report the present
/// names.
void registerRenamedPasses();

} // namespace mlir::amp

#endif // AMP_SUPPORT_RENAMEDNAME_H
