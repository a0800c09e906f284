//===- OptionCheck.cpp - Names of options of tools ------------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Support/OptionCheck.h"

#include "amp/Support/NearName.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
namespace cl = llvm::cl;

namespace {
/// Reads the names of options, which only derived classes may.
struct NestedOptionNames : mlir::detail::PassOptions {
  static std::vector<std::string> get(mlir::detail::PassOptions &options) {
    std::vector<std::string> names;
    for (StringRef name : llvm::make_first_range(
             static_cast<cl::SubCommand &>(options).OptionsMap))
      names.push_back(name.str());
    llvm::sort(names);
    return names;
  }
};
} // namespace

std::vector<std::string>
mlir::amp::getOptionNames(mlir::detail::PassOptions &options) {
  return NestedOptionNames::get(options);
}

/// Returns the names of the options that the help of the tool lists.
static SmallVector<StringRef> getListedOptions() {
  SmallVector<StringRef> names;
  for (auto &&entry : cl::getRegisteredOptions()) {
    const cl::Option *option = entry.second;
    if (option->getOptionHiddenFlag() == cl::NotHidden)
      names.push_back(entry.first);
  }
  return names;
}

/// Returns `text` as an argument of a shell.
static std::string quote(StringRef text) {
  return text.contains('\'') ? text.str() : ("'" + text + "'").str();
}

/// Returns what the unknown option `name` probably means, or an empty text.
/// `value` is empty or begins with `=`.
static std::string findMeant(StringRef name, StringRef value,
                             ArrayRef<amp::NestedOptions> nested,
                             ArrayRef<amp::OptionSynonym> synonyms) {
  for (const amp::OptionSynonym &synonym : synonyms)
    if (name == synonym.other)
      return (synonym.own +
              (synonym.own.find_first_of("= ") == StringRef::npos ? value : ""))
          .str();
  auto nest = [&](const amp::NestedOptions &place, StringRef found) {
    return (place.option + "=").str() + quote((found + value).str());
  };
  for (const amp::NestedOptions &place : nested)
    if (llvm::is_contained(place.names, name))
      return nest(place, name);
  SmallVector<StringRef> known = getListedOptions();
  for (const amp::NestedOptions &place : nested)
    for (StringRef other : place.names)
      if (!llvm::is_contained(known, other))
        known.push_back(other);
  StringRef near = amp::findNearName(name, known);
  if (near.empty())
    return "";
  if (cl::getRegisteredOptions().count(near))
    return ("--" + near + value).str();
  const auto *place = llvm::find_if(nested, [&](const auto &place) {
    return llvm::is_contained(place.names, near);
  });
  return nest(*place, near);
}

/// Returns how many arguments the tool takes that belong to no option.
static size_t countPositional() {
  auto &options = cl::SubCommand::getTopLevel().PositionalOpts;
  const bool isList = llvm::any_of(options, [](const cl::Option *option) {
    return option->getNumOccurrencesFlag() == cl::ZeroOrMore ||
           option->getNumOccurrencesFlag() == cl::OneOrMore;
  });
  return isList ? SIZE_MAX : options.size();
}

LogicalResult mlir::amp::checkOptionNames(StringRef tool, int argc,
                                          const char *const *argv,
                                          ArrayRef<NestedOptions> nested,
                                          ArrayRef<OptionSynonym> synonyms) {
  const auto &options = cl::getRegisteredOptions();
  size_t numPositional = 0;
  // An option with an optional value, and an argument that could be its value.
  StringRef optional, detached;
  for (int i = 1; i < argc; ++i) {
    StringRef argument(argv[i]), name = argument;
    if (argument == "--")
      return success();
    if (!name.consume_front("-") || name.empty()) {
      ++numPositional;
      auto before = options.find(StringRef(argv[i - 1]).ltrim('-'));
      if (i > 1 && before != options.end() &&
          before->second->getValueExpectedFlag() == cl::ValueOptional &&
          !before->second->ValueStr.empty())
        optional = before->first, detached = argument;
      continue;
    }
    name.consume_front("-");
    StringRef value = name.substr(std::min(name.find('='), name.size()));
    name = name.drop_back(value.size());
    auto it = options.find(name);
    // A library may have an option of the same name, without a use here.
    if (it != options.end() &&
        (it->second->getOptionHiddenFlag() != cl::ReallyHidden ||
         llvm::none_of(synonyms, [&](const OptionSynonym &synonym) {
           return name == synonym.other;
         }))) {
      // The next argument is its value.
      if (value.empty() &&
          it->second->getValueExpectedFlag() == cl::ValueRequired)
        ++i;
      continue;
    }
    llvm::errs() << tool << ": error: unknown option '--" << name << "'";
    std::string meant = findMeant(name, value, nested, synonyms);
    if (meant.empty())
      llvm::errs() << "; '" << tool << " --help' lists the options\n";
    else
      llvm::errs() << ", did you mean " << meant << "\n";
    return failure();
  }
  if (optional.empty() || numPositional <= countPositional())
    return success();
  llvm::errs() << tool << ": error: a value of '--" << optional
               << "' follows '=', did you mean --" << optional << "="
               << detached << "\n";
  return failure();
}
