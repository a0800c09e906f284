//===- OptionText.h - Options of passes as text -----------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What MLIR does not check of `{key=value key=value}`.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_SUPPORT_OPTIONTEXT_H
#define AMP_SUPPORT_OPTIONTEXT_H

#include "mlir/Pass/PassOptions.h"
#include "mlir/Pass/PassRegistry.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/Twine.h"

namespace mlir::amp {

/// Returns the first key that `options` has twice, or an empty string: MLIR
/// takes the last value without a word. Values of `lists` accumulate, and may
/// be given in parts.
StringRef findRepeatedOption(StringRef options, ArrayRef<StringRef> lists = {});

/// Registers a pipeline that rejects options that are given twice.
template <typename OptionsT, typename BuilderT>
void registerPipeline(StringRef argument, StringRef description,
                      BuilderT builder, ArrayRef<StringRef> lists = {}) {
  SmallVector<StringRef> names(lists);
  registerPassPipeline(
      argument, description,
      [=](OpPassManager &pm, StringRef text,
          function_ref<LogicalResult(const Twine &)> reportError) {
        StringRef repeated = findRepeatedOption(text, names);
        if (!repeated.empty())
          return reportError(argument + ": option '" + repeated +
                             "' is given twice");
        OptionsT options;
        if (failed(options.parseFromString(text)))
          return failure();
        builder(pm, options);
        return success();
      },
      [](function_ref<void(const mlir::detail::PassOptions &)> visit) {
        visit(OptionsT());
      });
}

} // namespace mlir::amp

#endif // AMP_SUPPORT_OPTIONTEXT_H
