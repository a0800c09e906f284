//===- ScaleDegreeAnalysis.h - The degree of each value ---------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An abstract interpretation that follows each loss scale as a factor. One
// sweep in program order; a loop is repeated until what it carries has settled,
// and a call is followed with the degrees of its operands.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_TRANSFORMS_SCALEDEGREEANALYSIS_H
#define AMP_TRANSFORMS_SCALEDEGREEANALYSIS_H

#include "amp/Interfaces/LossScaleOpInterface.h"
#include "amp/Precision/LinearRule.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/DenseSet.h"

namespace mlir::amp {

/// The loss scales of a module, numbered. A constant is the same scale wherever
/// it stands; any other scale is the value that holds it.
class ScaleSymbols {
public:
  ScaleDegree::Symbol get(Value scale);
  /// The value that first stood for `symbol`.
  Value getValue(ScaleDegree::Symbol symbol) const { return values[symbol]; }
  /// Writes `degree` as a product of powers of named scales; `1` for degree 0.
  std::string describe(const ScaleDegree &degree) const;

private:
  llvm::DenseMap<const void *, ScaleDegree::Symbol> numbers;
  std::vector<Value> values;
};

/// Degrees of the values of one function, for given degrees of its arguments.
class ScaleDegreeAnalysis {
public:
  /// `linear` are rules for operations without LossScaleOpInterface.
  ScaleDegreeAnalysis(SymbolTableCollection &tables, ScaleSymbols &symbols,
                      ArrayRef<LinearRule> linear)
      : tables(tables), symbols(symbols), linear(linear) {}

  /// Analyses the body of `function`. On failure an error has been printed.
  LogicalResult run(FunctionOpInterface function,
                    ArrayRef<ScaleDegree> arguments);

  ScaleDegree getDegree(Value value) const { return degrees.lookup(value); }
  /// Whether `value` was visited: what the body of an operation with a model of
  /// its own computes is not.
  bool knows(Value value) const { return degrees.contains(value); }
  /// Whether `value` is a loss scale itself, rather than multiplied by one.
  bool isScale(Value value) const { return scales.contains(value); }

  /// The number of a loss scale. One that was cast or moved is still that one.
  ScaleDegree::Symbol getSymbol(Value scale) const {
    ScaleDegree degree = getDegree(scale);
    if (degree.getTerms().size() == 1 &&
        degree == ScaleDegree::of(degree.getTerms().front().symbol))
      return degree.getTerms().front().symbol;
    return symbols.get(scale);
  }
  /// The value that first stood for it.
  Value getScale(ScaleDegree::Symbol symbol) const {
    return symbols.getValue(symbol);
  }

  /// Adds to `diagnostic` by which operations the factor came to `value`.
  void explain(Value value, Diagnostic &diagnostic) const;

private:
  class Inference;

  void findScales(FunctionOpInterface function);
  /// The body that `op` calls, or null if it is not a call, or is one of a
  /// declaration, of an unknown function or of one that is being analysed.
  FunctionOpInterface resolve(Operation *op) const;
  LogicalResult visit(Operation *op);
  LogicalResult visit(Block &block);
  LogicalResult visitCall(Operation *op);
  /// For control flow and loops whose iterations combine in parallel.
  LogicalResult visitRegions(Operation *op);
  LogicalResult visitUnknown(Operation *op);
  /// What the policy says of `op`, or null.
  const LinearRule *findRule(Operation *op);
  /// For anything but control flow.
  LogicalResult applyRule(Operation *op, const LinearRule &rule);
  LogicalResult applyJointRule(Operation *op, const LinearRule &rule);
  /// Joins what `operand` carries into `input`; `changed` is set if that gave
  /// anything new.
  LogicalResult carry(OpOperand &operand, Value input, Operation *op,
                      bool &changed);
  void set(Value value, ScaleDegree degree);

  SymbolTableCollection &tables;
  ScaleSymbols &symbols;
  ArrayRef<LinearRule> linear;
  llvm::DenseMap<OperationName, const LinearRule *> rules;
  llvm::DenseMap<Value, ScaleDegree> degrees;
  llvm::DenseSet<Value> scales;
  /// Functions that are being analysed, innermost last; shared with the
  /// analyses of callees.
  std::shared_ptr<SmallVector<Operation *>> stack =
      std::make_shared<SmallVector<Operation *>>();
};

} // namespace mlir::amp

#endif // AMP_TRANSFORMS_SCALEDEGREEANALYSIS_H
