//===- NearName.h - Misspelled names -------------------------- -*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_SUPPORT_NEARNAME_H
#define AMP_SUPPORT_NEARNAME_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace mlir::amp {

/// Returns the element of `known` that `name` probably means, or an empty
/// string. Abbreviations, other cases and single typing errors are near. Of
/// two that are equally near, neither is returned.
llvm::StringRef findNearName(llvm::StringRef name,
                             llvm::ArrayRef<llvm::StringRef> known);

/// Returns `, did you mean '<name>'`, or an empty string.
std::string suggestName(llvm::StringRef name,
                        llvm::ArrayRef<llvm::StringRef> known);

} // namespace mlir::amp

#endif // AMP_SUPPORT_NEARNAME_H
