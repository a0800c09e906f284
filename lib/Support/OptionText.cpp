//===- OptionText.cpp - Options of passes as text -------------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Support/OptionText.h"

#include "amp/Support/CheckedPass.h"
#include "amp/Support/NearName.h"
#include "amp/Support/RenamedName.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

/// Returns the length of the first option of `text`, which ends at a blank
/// outside of quotes and braces.
static size_t getOptionLength(StringRef text) {
  unsigned depth = 0;
  char quote = 0;
  for (auto [index, c] : llvm::enumerate(text)) {
    if (quote) {
      quote = c == quote ? 0 : quote;
      continue;
    }
    if (c == '"' || c == '\'')
      quote = c;
    else if (c == '{')
      ++depth;
    else if (c == '}' && depth > 0)
      --depth;
    else if (depth == 0 && llvm::isSpace(c))
      return index;
  }
  return text.size();
}

/// Returns the keys of `options`, in order.
static SmallVector<StringRef> getKeys(StringRef options) {
  SmallVector<StringRef> keys;
  options = options.trim();
  if (options.starts_with("{") && options.ends_with("}"))
    options = options.drop_front().drop_back();
  for (options = options.ltrim(); !options.empty(); options = options.ltrim()) {
    size_t length = getOptionLength(options);
    keys.push_back(options.take_front(length).split('=').first);
    options = options.drop_front(length);
  }
  return keys;
}

/// Returns the first key that occurs twice in `options`, or an empty string.
/// MLIR would silently use the last value.
static StringRef findRepeatedOption(StringRef options,
                                    ArrayRef<StringRef> lists) {
  SmallVector<StringRef> seen;
  for (StringRef key : getKeys(options)) {
    if (llvm::is_contained(seen, key))
      return key;
    if (!llvm::is_contained(lists, key))
      seen.push_back(key);
  }
  return {};
}

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

/// The reason of the last wrong value.
static std::string &getWrongValue() {
  static thread_local std::string text;
  return text;
}

/// Keeps the reason why an option is wrong, and returns true: parsers of
/// options can only print.
static bool rejectOption(const Twine &reason) {
  getWrongValue() = reason.str();
  return true;
}

bool mlir::amp::rejectOptionValue(StringRef name, StringRef text,
                                  StringRef expected) {
  return rejectOption("wrong value of option '" + name + "': '" + text +
                      "', expected " + expected);
}

namespace {
/// Reads the names of options, which only derived classes may.
struct OptionNames : mlir::detail::PassOptions {
  static SmallVector<StringRef> get(mlir::detail::PassOptions &options) {
    llvm::cl::SubCommand &command =
        static_cast<llvm::cl::SubCommand &>(options);
    SmallVector<StringRef> names(command.OptionsMap.keys());
    llvm::sort(names);
    return names;
  }
};
} // namespace

/// Returns an error if a key in `text` is unknown or repeated, and an empty
/// string otherwise.
static std::string checkKeys(StringRef owner, StringRef text,
                             ArrayRef<StringRef> known,
                             ArrayRef<StringRef> lists) {
  for (StringRef key : getKeys(text)) {
    if (llvm::is_contained(known, key))
      continue;
    std::string renaming = mlir::amp::describeRenaming(owner, key);
    if (!renaming.empty())
      return (owner + ": option " + renaming).str();
    return (owner + ": unknown option '" + key + "'" +
            mlir::amp::suggestName(key, known))
        .str();
  }
  StringRef repeated = findRepeatedOption(text, lists);
  if (repeated.empty())
    return "";
  return (owner + ": option '" + repeated + "' is given twice").str();
}

std::string mlir::amp::checkPassOptions(Pass &pass, StringRef text,
                                        ArrayRef<StringRef> lists) {
  // The options of a pass are private, but its printed form contains their
  // names.
  std::string printed;
  llvm::raw_string_ostream os(printed);
  pass.printAsTextualPipeline(os);
  StringRef own = StringRef(printed).drop_front(pass.getArgument().size());
  SmallVector<StringRef> known = getKeys(own);
  for (StringRef list : lists)
    if (!llvm::is_contained(known, list))
      known.push_back(list);
  return checkKeys(pass.getArgument(), text, known, lists);
}

/// Returns the error of `owner` for options that the parser refuses with
/// `reason`, which may be empty.
static std::string describeFailure(StringRef owner, StringRef text,
                                   StringRef reason) {
  reason = reason.trim();
  reason.consume_front("<Pass-Options-Parser>: ");
  if (reason.empty())
    return (owner + ": wrong options '" + text + "'").str();
  return (owner + ": " + reason).str();
}

std::string mlir::amp::describeWrongValues(Pass &pass, StringRef text,
                                           StringRef reason) {
  return describeFailure(pass.getArgument(), text, reason);
}

std::string mlir::amp::parseOptions(mlir::detail::PassOptions &options,
                                    StringRef owner, StringRef text,
                                    ArrayRef<StringRef> lists) {
  SmallVector<StringRef> known = OptionNames::get(options);
  if (std::string wrong = checkKeys(owner, text, known, lists); !wrong.empty())
    return wrong;
  getWrongValue().clear();
  std::string printed;
  llvm::raw_string_ostream os(printed);
  if (succeeded(options.parseFromString(text, os)))
    return "";
  if (!getWrongValue().empty())
    return (owner + ": " + getWrongValue()).str();
  return describeFailure(owner, text, printed);
}
