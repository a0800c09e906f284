//===- OptionText.h - Options of passes as text -----------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What MLIR does not check of `{key=value key=value}`, and the errors that it
// prints in the words of a parser of command lines.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_SUPPORT_OPTIONTEXT_H
#define AMP_SUPPORT_OPTIONTEXT_H

#include "mlir/Pass/PassOptions.h"
#include "mlir/Pass/PassRegistry.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/Twine.h"
#include <string>
#include <type_traits>

namespace mlir::amp {

/// Keeps the reason why the value `text` of option `name` is wrong, and returns
/// true: parsers of options can only print.
bool rejectOptionValue(StringRef name, StringRef text, StringRef expected);

/// Parses a value of an option. `rejectOptionValue` has the error, which LLVM
/// would print.
template <typename T>
struct ValueParser : llvm::cl::basic_parser<T> {
  explicit ValueParser(llvm::cl::Option &option)
      : llvm::cl::basic_parser<T>(option), own(option) {}
  /// LLVM's parser of such values. It prints them and its name.
  operator const llvm::cl::parser<T> &() const { return own; }
  enum llvm::cl::ValueExpected getValueExpectedFlagDefault() const {
    return own.getValueExpectedFlagDefault();
  }
  StringRef getValueName() const override { return own.getValueName(); }
  bool parse(llvm::cl::Option &option, StringRef, StringRef text, T &value) {
    if constexpr (std::is_same_v<T, bool>) {
      value = text.empty() || text.equals_insensitive("true") || text == "1";
      return !value && !text.equals_insensitive("false") && text != "0" &&
             rejectOptionValue(option.ArgStr, text, "true or false");
    } else if constexpr (std::is_floating_point_v<T>) {
      return text.getAsDouble(value) &&
             rejectOptionValue(option.ArgStr, text, "a number");
    } else {
      return text.getAsInteger(0, value) &&
             rejectOptionValue(option.ArgStr, text,
                               std::is_unsigned_v<T>
                                   ? "an integer that is not negative"
                                   : "an integer");
    }
  }

private:
  llvm::cl::parser<T> own;
};

/// Sets `options`, those of `owner`, from `text`. Rejects an option that is
/// unknown or given twice, and wrong values. Values of `lists` accumulate.
/// Returns an empty text or the error.
std::string parseOptions(mlir::detail::PassOptions &options, StringRef owner,
                         StringRef text, ArrayRef<StringRef> lists = {});

/// Registers a pipeline that rejects options that are given twice.
/// `check`, if given, returns why the options do not fit together.
template <typename OptionsT, typename BuilderT>
void registerPipeline(StringRef argument, StringRef description,
                      BuilderT builder, ArrayRef<StringRef> lists = {},
                      std::string (*check)(const OptionsT &) = nullptr) {
  SmallVector<StringRef> names(lists);
  registerPassPipeline(
      argument, description,
      [=](OpPassManager &pm, StringRef text,
          function_ref<LogicalResult(const Twine &)> reportError) {
        OptionsT options;
        if (std::string wrong = parseOptions(options, argument, text, names);
            !wrong.empty())
          return reportError(wrong);
        if (std::string wrong = check ? check(options) : ""; !wrong.empty())
          return reportError(argument + ": " + wrong);
        builder(pm, options);
        return success();
      },
      [](function_ref<void(const mlir::detail::PassOptions &)> visit) {
        visit(OptionsT());
      });
}

} // namespace mlir::amp

#endif // AMP_SUPPORT_OPTIONTEXT_H
