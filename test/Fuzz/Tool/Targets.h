//===- Targets.h - What the fuzzer feeds ------------------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef AMP_TEST_FUZZ_TARGETS_H
#define AMP_TEST_FUZZ_TARGETS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <functional>
#include <string>
#include <vector>

namespace mlir::amp::fuzz {

/// Takes one input. A wrong input ends with an error of the code under test. A
/// fault of that code ends the process.
using TargetFunction = void (*)(llvm::StringRef input);

/// A part of the project that reads what others wrote.
struct Target {
  llvm::StringRef name;
  TargetFunction run;
  /// Whether inputs are text, which changes word by word.
  bool isText;
};

/// The targets, by name.
llvm::ArrayRef<Target> getTargets();
const Target *findTarget(llvm::StringRef name);

/// Ends the process if a property that holds for all inputs does not hold.
void require(bool holds, const char *property);

/// Words that mean something in inputs of text.
const std::vector<std::string> &getWords();

/// Changes one part of `text` and keeps words whole.
std::string mutateText(llvm::StringRef text, unsigned seed);

// The input is a policy with its adapters, as YAML.
void fuzzPolicy(llvm::StringRef input);
// The first line has options, the others have a policy.
void fuzzOptions(llvm::StringRef input);
// The first character chooses a pipeline, the other lines are a module.
void fuzzModule(llvm::StringRef input);
// The input is an array or an archive. After the letter M it is the members of
// an archive: lines of a name, a colon and the number of bytes that follow.
void fuzzArrays(llvm::StringRef input);
// The input is a checkpoint, as an archive or by its members.
void fuzzState(llvm::StringRef input);

} // namespace mlir::amp::fuzz

#endif // AMP_TEST_FUZZ_TARGETS_H
