//===- TestRanges.cpp - Print intervals of values -------------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Precision/Assignment/Ranges.h"
#include "amp/Support/PrecisionName.h"
#include "amp/Transforms/Passes.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Pass/Pass.h"
#include "llvm/Support/Format.h"

using namespace mlir;
using namespace mlir::amp;

namespace {

/// Emits a remark with the intervals of the float results of each operation,
/// and whether they depend on a gradient seed.
struct TestValueRanges : PassWrapper<TestValueRanges, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(TestValueRanges)

  TestValueRanges() = default;
  TestValueRanges(const TestValueRanges &other) : PassWrapper(other) {}

  StringRef getArgument() const override { return "test-value-ranges"; }
  StringRef getDescription() const override {
    return "print the intervals of float values";
  }

  void runOnOperation() override {
    FloatType low = parsePrecision(precision, &getContext());
    if (low && low.isF32())
      low = {};
    getOperation()->walk([&](FunctionOpInterface function) {
      if (function.isExternal())
        return;
      ValueRanges ranges(function, low);
      function.getFunctionBody().walk<WalkOrder::PreOrder>(
          [&](Operation *op) { report(op, ranges); });
    });
  }

  void report(Operation *op, ValueRanges &ranges) {
    std::string text;
    llvm::raw_string_ostream os(text);
    for (Value result : op->getResults()) {
      if (!isa<FloatType>(getElementTypeOrSelf(result)))
        continue;
      FloatRange range = ranges.get(result);
      if (!text.empty())
        os << ", ";
      if (exact)
        os << llvm::format("%a %a %d", range.lo, range.hi, range.mayBeNaN);
      else
        os << range;
      if (!exact && ranges.dependsOnSeed(result))
        os << " of a seed";
    }
    if (!text.empty())
      op->emitRemark() << text;
  }

  Option<std::string> precision{
      *this, "precision", llvm::cl::init("f32"),
      llvm::cl::desc("Low type in which f32 values may be stored")};
  Option<bool> exact{*this, "exact", llvm::cl::init(false),
                     llvm::cl::desc("Print bounds in hexadecimal")};
};

} // namespace

namespace mlir::amp::test {
void registerRangesTests() { PassRegistration<TestValueRanges>(); }
} // namespace mlir::amp::test
