//===- ScaleExponentAnalysis.h - The exponent of each value -----*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An abstract interpretation that follows each loss scale as a factor. It makes
// one sweep in program order. It repeats a loop until the exponents of the
// carried values are stable, and analyses a called function once for each tuple
// of exponents of its arguments.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_LOSSSCALING_SCALEEXPONENTANALYSIS_H
#define AMP_LOSSSCALING_SCALEEXPONENTANALYSIS_H

#include "amp/Interfaces/LossScaleOpInterface.h"
#include "amp/LossScaling/LinearRule.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/DenseSet.h"

#include <memory>
#include <vector>

namespace mlir::amp {

/// The loss scales of a module, numbered. All constants of one value are one
/// scale. Any other scale is identified by the value that holds it.
class ScaleSymbols {
public:
  ScaleExponent::Symbol get(Value scale);
  /// The value that first stood for `symbol`.
  Value getValue(ScaleExponent::Symbol symbol) const { return values[symbol]; }
  /// Records that `symbol` is computed from the scales of `exponent`.
  void derive(ScaleExponent::Symbol symbol, const ScaleExponent &exponent);
  /// The scales from which `symbol` is computed.
  ArrayRef<ScaleExponent::Symbol> getBases(ScaleExponent::Symbol symbol) const {
    return bases[symbol];
  }
  /// Writes `exponent` as a product of powers of named scales; `1` for exponent
  /// 0.
  std::string describe(const ScaleExponent &exponent) const;

private:
  /// The first value that the same operation computed from equal operands.
  Value findEqual(Value scale);
  bool isEqual(Value first, Value second);

  llvm::DenseMap<const void *, ScaleExponent::Symbol> numbers;
  /// The first operation that computes what another one does.
  llvm::DenseMap<Operation *, Operation *> equals;
  llvm::DenseMap<size_t, SmallVector<Operation *, 1>> byHash;
  std::vector<Value> values;
  std::vector<SmallVector<ScaleExponent::Symbol, 1>> bases;
};

/// Exponents of the values of one function, for given exponents of its
/// arguments.
class ScaleExponentAnalysis {
public:
  /// The values that one operation of control flow forwards.
  using Ties = SmallVector<std::pair<OpOperand *, Value>>;
  using Holder = std::pair<Operation *, Ties>;

  /// `linear` are rules for operations without LossScaleOpInterface.
  ScaleExponentAnalysis(SymbolTableCollection &tables, ScaleSymbols &symbols,
                        ArrayRef<LinearRule> linear)
      : ScaleExponentAnalysis(tables, symbols, linear,
                              std::make_shared<Shared>()) {}

  /// Analyses the body of `function`. On failure an error has been printed. If
  /// `function` is a copy outside of its module, symbols are looked up from
  /// `scope`.
  LogicalResult run(FunctionOpInterface function,
                    ArrayRef<ScaleExponent> arguments,
                    Operation *scope = nullptr);

  ScaleExponent getExponent(Value value) const {
    return exponents.lookup(value);
  }
  /// The operation of the function's body at which run() failed, or null. The
  /// exponents of the values before it are final.
  Operation *getStopped() const { return stopped; }
  /// Whether `value` was visited. Values in the body of an operation with its
  /// own model are not.
  bool knows(Value value) const { return exponents.contains(value); }
  /// Whether `value` is a loss scale itself, rather than multiplied by one.
  bool isScale(Value value) const { return scales.contains(value); }

  /// Whether `value` is computed from scales, other state of the scaler,
  /// hyperparameters, flags and constants alone. Such a value depends on the
  /// scale and not on the data of the step.
  bool isOfScaler(Value value) const {
    return isScale(value) || ofScaler.contains(value);
  }

  /// The number of a loss scale. A scale that was cast or moved keeps its
  /// number.
  ScaleExponent::Symbol getSymbol(Value scale) const {
    ScaleExponent exponent = getExponent(scale);
    if (exponent.getTerms().size() == 1 &&
        exponent == ScaleExponent::of(exponent.getTerms().front().symbol))
      return exponent.getTerms().front().symbol;
    ScaleExponent::Symbol symbol = symbols.get(scale);
    symbols.derive(symbol, exponent);
    return symbol;
  }
  /// Whether `symbol` is `base`, or a scale that is computed from it.
  bool dependsOn(ScaleExponent::Symbol symbol,
                 ScaleExponent::Symbol base) const {
    return symbol == base ||
           llvm::any_of(symbols.getBases(symbol),
                        [&](ScaleExponent::Symbol other) {
                          return other != symbol && dependsOn(other, base);
                        });
  }
  /// The value that first stood for it.
  Value getScale(ScaleExponent::Symbol symbol) const {
    return symbols.getValue(symbol);
  }

  /// Adds notes to `diagnostic` on the operations that brought the factor to
  /// `value`.
  void explain(Value value, Diagnostic &diagnostic) const;

  /// The number of visits of operations.
  unsigned getNumVisited() const { return shared->numVisited; }

private:
  class Inference;

  using Sources = llvm::DenseMap<Value, SmallVector<Value, 2>>;

  /// The exponents of a function's results for exponents of its arguments.
  struct Summary {
    struct Result {
      ScaleExponent exponent;
      bool isScale = false;
      /// The condition on a scale that it is.
      std::optional<ScaleExponent::Symbol> condition;
    };
    SmallVector<ScaleExponent> arguments;
    SmallVector<Result> results;
  };
  /// The data that the analyses of a function and of its callees share.
  struct Shared {
    /// Functions that are being analysed, innermost last.
    SmallVector<Operation *> stack;
    llvm::DenseMap<Operation *, std::vector<std::unique_ptr<Summary>>>
        summaries;
    llvm::DenseMap<Operation *, std::pair<llvm::DenseSet<Value>, Sources>>
        scales;
    /// The operation from which the callees of a detached function are looked
    /// up.
    Operation *scope = nullptr;
    unsigned numVisited = 0;
  };

  ScaleExponentAnalysis(SymbolTableCollection &tables, ScaleSymbols &symbols,
                        ArrayRef<LinearRule> linear,
                        std::shared_ptr<Shared> shared)
      : tables(tables), symbols(symbols), linear(linear),
        shared(std::move(shared)) {}

  /// Returns whether `type` holds numbers that a factor may multiply.
  static bool holdsNumbers(Type type);
  void findScales(FunctionOpInterface function);
  /// The function that `op` calls. Null if `op` is not a call, or if the callee
  /// is a declaration, unknown, or being analysed.
  FunctionOpInterface resolve(Operation *op) const;
  LogicalResult visit(Operation *op);
  LogicalResult visit(Block &block);
  /// Visits an operation on scales alone. A result that is not a power of them
  /// becomes a new scale.
  LogicalResult visitOfScaler(Operation *op);
  bool readsScalerAlone(Operation *op) const;
  /// The rules for one operation, without conditions that depend on a scale.
  LogicalResult visitByKind(Operation *op);
  /// The condition among the operands of `op` that depends on a scale, if any.
  std::optional<ScaleExponent::Symbol> findCondition(Operation *op) const;
  /// Whether a value computed from `state`, a float of the scaler's state, is
  /// combined with a value that is not part of the scaler. A count that only
  /// the scaler reads is not a scale.
  static bool scalesOthers(BlockArgument state);
  void spreadTies(Operation *holder, const Ties &ties,
                  std::optional<ScaleExponent::Symbol> &decided, bool &changed);
  /// Whether only values of the scaler are forwarded to `result`.
  bool isOfScalerAlone(Value result, ArrayRef<Holder> holders) const;
  /// Records that `value` depends on the condition `symbol`.
  void spread(Value value, ScaleExponent::Symbol symbol);
  /// Finds the constant scales that enter in ordinary arithmetic.
  void findHiddenScales(FunctionOpInterface function);
  /// Whether `op` multiplies a gradient seed by a constant from `hidden`. Its
  /// result then has the factor of the scale.
  bool visitHidden(Operation *op);
  /// Whether `value` is known to be positive for positive scales.
  bool isPositive(Value value) const;
  /// The value that control flow forwards to `value`, if it is always the same
  /// one.
  Value getRoot(Value value) const;
  LogicalResult visitCall(Operation *op);
  /// Returns the summary of `callee` for `arguments`, or null after an error.
  const Summary *summarize(FunctionOpInterface callee,
                           ArrayRef<ScaleExponent> arguments);
  /// Visits control flow, and loops whose iterations combine in parallel.
  LogicalResult visitRegions(Operation *op);
  LogicalResult visitUnknown(Operation *op);
  /// The rule of the policy for `op`, or null.
  const LinearRule *findRule(Operation *op);
  /// The number of `value`, a constant that may be repeated, as a fraction with
  /// a small denominator. Nothing for another value.
  std::optional<std::pair<int64_t, int64_t>> findFraction(Value value);
  /// Applies `rule` to an operation that is not control flow.
  LogicalResult applyRule(Operation *op, const LinearRule &rule,
                          bool quiet = false);
  LogicalResult applyJointRule(Operation *op, const LinearRule &rule,
                               bool quiet);
  /// Joins the exponent of `operand` into `input`. Sets `changed` if `input`
  /// changes.
  LogicalResult carry(OpOperand &operand, Value input, Operation *op,
                      bool &changed);
  void set(Value value, ScaleExponent exponent);

  SymbolTableCollection &tables;
  ScaleSymbols &symbols;
  ArrayRef<LinearRule> linear;
  /// The rules whose globs match each operation name, in policy order.
  llvm::DenseMap<OperationName, SmallVector<const LinearRule *, 1>> rules;
  llvm::DenseMap<Value, ScaleExponent> exponents;
  llvm::DenseSet<Value> scales;
  llvm::DenseSet<Value> ofScaler;
  /// Booleans and integers that depend on a scale, such as a comparison of a
  /// scale with a constant. Their decisions depend on the scale too.
  llvm::DenseMap<Value, ScaleExponent::Symbol> conditions;
  /// Constant scales that divide gradients of the function, and that no
  /// operation of loss scaling multiplies, with their numbers.
  SmallVector<std::pair<double, Value>> hidden;
  /// Functions of scales that may be negative or zero.
  llvm::DenseSet<ScaleExponent::Symbol> signedSymbols;
  /// The operands that control flow forwards to each value.
  Sources sources;
  std::shared_ptr<Shared> shared;
  Operation *stopped = nullptr;
};

} // namespace mlir::amp

#endif // AMP_LOSSSCALING_SCALEEXPONENTANALYSIS_H
