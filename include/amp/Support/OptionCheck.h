//===- OptionCheck.h - Names of options of tools ----------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_SUPPORT_OPTIONCHECK_H
#define AMP_SUPPORT_OPTIONCHECK_H

#include "mlir/Pass/PassOptions.h"
#include "mlir/Support/LLVM.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <string>
#include <vector>

namespace mlir::amp {

/// Returns the names of `options` in order.
std::vector<std::string> getOptionNames(mlir::detail::PassOptions &options);

/// An option of a tool whose value has options with these names, such as those
/// of a pipeline.
struct NestedOptions {
  StringRef option;
  std::vector<std::string> names;
};

/// An option that other programs have, and the text for it in this one.
struct OptionSynonym {
  StringRef other, own;
};

/// Checks before the command line is parsed that `tool` has all of its options.
/// Prints an error with the probable option, its own or a nested one. LLVM
/// would propose its nearest own option, which may mean something else.
LogicalResult checkOptionNames(StringRef tool, int argc,
                               const char *const *argv,
                               ArrayRef<NestedOptions> nested = {},
                               ArrayRef<OptionSynonym> synonyms = {});

} // namespace mlir::amp

#endif // AMP_SUPPORT_OPTIONCHECK_H
