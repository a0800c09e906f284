//===- TestErrorBound.cpp - How far rounding may carry a result -----------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A forward error analysis (Higham, Accuracy and Stability of Numerical
// Algorithms, chapter 3) of a function in mixed precision against the same
// function in f32. Each value has a bound m on its magnitude and a bound e on
// its difference from its f32 twin. An operation passes e on by its Lipschitz
// constant in the maximum norm, and adds its rounding error: u · (m + e) for a
// result with unit roundoff u (2^-11 for f16, 2^-8 for bf16), the smallest
// subnormal, and the error of either of the two computations in f32. The bound
// thus grows with the depth of the graph. It is infinite for a value that may
// overflow.
//
//===----------------------------------------------------------------------===//

#include "amp/Dialect/AMP/IR/AMP.h"
#include "amp/Dialect/Train/IR/Train.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Pass/Pass.h"
#include "llvm/Support/Format.h"
#include <cmath>
#include <limits>

using namespace mlir;
using namespace mlir::amp;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

struct Bound {
  double magnitude = 0;
  double error = 0;
};

Bound join(Bound a, Bound b) {
  return {std::max(a.magnitude, b.magnitude), std::max(a.error, b.error)};
}

/// Adds the error of rounding to `type`. `isUserCast` is set if both functions
/// round.
Bound round(Bound bound, Type type, double terms, bool isUserCast = false) {
  if (!isa<FloatType>(type))
    return bound;
  double reach = bound.magnitude + bound.error;
  // Two sums in f32, in any order.
  double error = bound.error + 2 * (terms + 4) * std::ldexp(reach, -24);
  double unit = type.isF16() ? 0x1p-11 : type.isBF16() ? 0x1p-8 : 0;
  double rounding = unit * reach + (type.isF16() ? 0x1p-25 : 0);
  error += isUserCast ? 2 * rounding : rounding;
  bool fits = !type.isF16() || reach + error < 65504;
  if (!fits || !(reach < 1e30))
    return {infinity, infinity};
  return {bound.magnitude, error};
}

class ErrorAnalysis {
public:
  LogicalResult run(func::FuncOp function, ArrayRef<Bound> arguments,
                    SmallVectorImpl<Bound> &results) {
    for (auto [argument, bound] : llvm::zip(function.getArguments(), arguments))
      bounds[argument] = bound;
    return runBlock(function.front(), results);
  }

private:
  LogicalResult runBlock(Block &block, SmallVectorImpl<Bound> &yielded) {
    for (Operation &op : block) {
      if (op.hasTrait<OpTrait::IsTerminator>()) {
        yielded.clear();
        for (Value operand : op.getOperands())
          yielded.push_back(bounds.lookup(operand));
        return success();
      }
      if (failed(runOperation(op)))
        return op.emitError() << "no rule for its error";
    }
    return success();
  }

  Bound in(Operation &op, unsigned index) {
    return bounds.lookup(op.getOperand(index));
  }
  void set(Operation &op, Bound bound, double terms = 1,
           bool isUserCast = false) {
    bounds[op.getResult(0)] =
        round(bound, getElementTypeOrSelf(op.getResult(0)), terms, isUserCast);
  }

  LogicalResult runRegion(Operation &op) {
    SmallVector<Bound> yielded;
    if (auto branch = dyn_cast<scf::IfOp>(op)) {
      SmallVector<Bound> other;
      if (failed(runBlock(branch.getThenRegion().front(), yielded)) ||
          failed(runBlock(branch.getElseRegion().front(), other)))
        return failure();
      for (auto [result, a, b] : llvm::zip(op.getResults(), yielded, other))
        bounds[result] = join(a, b);
      return success();
    }
    if (auto call = dyn_cast<func::CallOp>(op)) {
      auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
          call, call.getCalleeAttr());
      SmallVector<Bound> arguments;
      for (Value operand : op.getOperands())
        arguments.push_back(bounds.lookup(operand));
      if (failed(ErrorAnalysis().run(callee, arguments, yielded)))
        return failure();
      for (auto [result, bound] : llvm::zip(op.getResults(), yielded))
        bounds[result] = bound;
      return success();
    }
    auto loop = dyn_cast<scf::ForOp>(op);
    std::optional<APInt> trips =
        loop ? loop.getStaticTripCount() : std::nullopt;
    if (!trips)
      return failure();
    for (Value initial : loop.getInitArgs())
      yielded.push_back(bounds.lookup(initial));
    for (uint64_t trip = 0; trip < trips->getZExtValue(); ++trip) {
      for (auto [argument, bound] :
           llvm::zip(loop.getRegionIterArgs(), yielded))
        bounds[argument] = bound;
      if (failed(runBlock(*loop.getBody(), yielded)))
        return failure();
    }
    for (auto [result, bound] : llvm::zip(op.getResults(), yielded))
      bounds[result] = bound;
    return success();
  }

  LogicalResult runOperation(Operation &op) {
    if (op.getNumRegions() != 0 || isa<func::CallOp>(op))
      return runRegion(op);
    if (op.getNumResults() == 1 &&
        !isa<FloatType>(getElementTypeOrSelf(op.getResult(0))))
      return success();
    StringRef name = op.getName().stripDialect();
    Bound a, b;
    if (op.getNumOperands() > 0)
      a = in(op, 0);
    if (op.getNumOperands() > 1)
      b = in(op, 1);
    DenseFPElementsAttr constant;
    if (matchPattern(&op, m_Constant(&constant))) {
      double magnitude = 0;
      for (const APFloat &value : constant)
        magnitude = std::max(magnitude, std::abs(value.convertToDouble()));
      set(op, {magnitude, 0});
    } else if (auto castOp = dyn_cast<CastOp>(op)) {
      set(op, a, 1, !castOp.getInserted());
    } else if (name == "tanh" || name == "sigmoid") {
      set(op, {1, name == "tanh" ? a.error : a.error / 4}, 8);
    } else if (name == "clip") {
      set(op, {2, a.error});
    } else if (llvm::is_contained({"relu", "neg", "abs", "transpose", "reshape",
                                   "slice", "pad", "broadcast", "reduce_max"},
                                  name)) {
      set(op, a, 0);
    } else if (name == "add" || name == "sub") {
      set(op, {a.magnitude + b.magnitude, a.error + b.error});
    } else if (name == "mul") {
      set(op, multiply(a, b, 1));
    } else if (name == "maximum" || name == "minimum") {
      set(op, join(a, b), 0);
    } else if (name == "concat") {
      set(op, join(a, b), 0);
    } else if (name == "matmul" || name == "linear") {
      auto type = cast<RankedTensorType>(op.getOperand(0).getType());
      int64_t k = type.getDimSize(op.hasAttr("transpose_a") ? 0 : 1);
      Bound product = multiply(a, b, k);
      if (name == "linear") {
        Bound bias = in(op, 2);
        product.magnitude += bias.magnitude;
        product.error += bias.error;
      }
      set(op, product, k);
    } else if (name == "reduce_sum" || name == "reduce_mean") {
      double share =
          cast<RankedTensorType>(op.getOperand(0).getType()).getNumElements();
      share /=
          cast<RankedTensorType>(op.getResult(0).getType()).getNumElements();
      double factor = name == "reduce_sum" ? share : 1;
      set(op, {a.magnitude * factor, a.error * factor}, share);
    } else if (name == "softmax") {
      set(op, {1, std::min(1.0, std::expm1(2 * a.error))}, 32);
    } else if (name == "mse") {
      Bound difference = {a.magnitude + b.magnitude, a.error + b.error};
      set(op, multiply(difference, difference, 1), 64);
    } else if (name == "l1") {
      set(op, {a.magnitude + b.magnitude, a.error + b.error}, 64);
    } else {
      return failure();
    }
    return success();
  }

  static Bound multiply(Bound a, Bound b, double terms) {
    return {terms * a.magnitude * b.magnitude,
            terms * (a.magnitude * b.error + b.magnitude * a.error +
                     a.error * b.error)};
  }

  DenseMap<Value, Bound> bounds;
};

struct TestErrorBound : PassWrapper<TestErrorBound, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(TestErrorBound)

  StringRef getArgument() const override { return "test-error-bound"; }
  StringRef getDescription() const override {
    return "print how far the results of @step may be from those in f32, if "
           "arguments are at most 1";
  }

  void runOnOperation() override {
    auto step = getOperation().lookupSymbol<func::FuncOp>("step");
    if (!step) {
      getOperation().emitError() << "expected a function @step";
      return signalPassFailure();
    }
    SmallVector<Bound> results;
    SmallVector<Bound> arguments(step.getNumArguments(), Bound{1, 0});
    if (failed(ErrorAnalysis().run(step, arguments, results)))
      return signalPassFailure();
    for (Bound bound : results)
      llvm::outs() << "// bound " << llvm::format("%.6g", bound.error) << "\n";
  }
};

} // namespace

namespace mlir::amp::test {
void registerErrorBoundTest() { PassRegistration<TestErrorBound>(); }
} // namespace mlir::amp::test
