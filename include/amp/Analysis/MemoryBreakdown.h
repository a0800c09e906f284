//===- MemoryBreakdown.h - What occupies the memory of a step ---*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_ANALYSIS_MEMORYBREAKDOWN_H
#define AMP_ANALYSIS_MEMORYBREAKDOWN_H

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/StringRef.h"
#include <array>
#include <map>
#include <string>

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace mlir::amp {

/// The purpose of a tensor of a step.
enum class MemoryCategory : unsigned {
  /// Parameters in the type in which they are updated, and their low copies
  /// that
  /// are arguments of the step.
  Parameters,
  OptimizerState,
  /// Model state, the state of loss scaling, hyperparameters.
  OtherState,
  Batch,
  /// Casts of parameters that the step makes.
  LowWeights,
  /// Results of the forward pass that live beyond it.
  SavedActivations,
  /// Gradients of parameters, and values computed from them.
  Gradients,
  /// All other tensors.
  Temporaries,
};
constexpr unsigned kNumMemoryCategories = 8;

/// Returns the name that reports print, e.g. "saved activations".
llvm::StringRef stringifyMemoryCategory(MemoryCategory category);

/// The memory of one step of static shapes, in bytes. Updates are in place: the
/// new value of a state occupies no additional memory.
struct MemoryBreakdown {
  struct Entry {
    /// All tensors of the category. For temporaries, the most that live at one
    /// point.
    int64_t bytes = 0;
    /// The tensors that live at the point where most bytes live. The categories
    /// add up to `peakBytes`.
    int64_t atPeak = 0;
  };
  struct Count {
    int64_t tensors = 0, elements = 0, bytes = 0;
  };

  std::array<Entry, kNumMemoryCategories> categories;
  int64_t peakBytes = 0;
  /// Elements of parameters, without low copies. Of a parameter that ranks
  /// divide, all elements count.
  int64_t parameters = 0;
  /// Bytes of the parts that a rank keeps of states (`amp.part_of`), which all
  /// other numbers include, and of these states as a whole.
  int64_t partBytes = 0, dividedBytes = 0;
  /// Float results of the forward pass that depend on the batch, by operation:
  /// all of them, and those that live beyond it.
  std::map<std::string, Count> forward, saved;

  const Entry &operator[](MemoryCategory category) const {
    return categories[static_cast<unsigned>(category)];
  }
  Entry &operator[](MemoryCategory category) {
    return categories[static_cast<unsigned>(category)];
  }

  /// Computes the report of `function`. The caller has checked that its
  /// backward pass is expanded. Emits a diagnostic and returns failure if the
  /// function is not a step, has several blocks, or has dynamic shapes.
  static FailureOr<MemoryBreakdown> compute(FunctionOpInterface function);

  void printTable(llvm::raw_ostream &os, llvm::StringRef function) const;
  void printJSON(llvm::raw_ostream &os, llvm::StringRef function) const;
};

} // namespace mlir::amp

#endif // AMP_ANALYSIS_MEMORYBREAKDOWN_H
