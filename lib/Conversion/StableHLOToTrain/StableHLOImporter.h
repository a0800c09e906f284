//===- StableHLOImporter.h - Import of a loss of JAX ------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// StableHLO is not linked in. The importer identifies operations by name and
// parses dimension numbers from text.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_LIB_CONVERSION_STABLEHLOTOTRAIN_STABLEHLOIMPORTER_H
#define AMP_LIB_CONVERSION_STABLEHLOTOTRAIN_STABLEHLOIMPORTER_H

#include "amp/Dialect/Train/IR/Train.h"
#include "amp/Dialect/Train/IR/TrainBuilder.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"

#include <memory>
#include <optional>
#include <vector>

namespace mlir::amp {

/// The known elements of a tensor of integers or booleans. Each is a function
/// of an element of `index`, an integer argument, except for constants.
struct KnownIntegers {
  enum class Kind {
    Constant, ///< `elements`, row-major over `shape`.
    Index,    ///< i.
    Shifted,  ///< i + `bound`.
    Negative, ///< i < 0.
    Wrapped,  ///< i < 0 ? i + `bound` : i.
    AtLeast0, ///< i, or i wrapped, >= 0.
    Below,    ///< i, or i wrapped, < `bound`.
    InRange,  ///< Both.
    OneHot,   ///< i is the position in dimension `bound`.
  };
  Kind kind;
  /// The shape of the tensor, with an extent of 1 where elements repeat.
  SmallVector<int64_t> shape;
  Value index;
  int64_t bound = 0;
  std::shared_ptr<const std::vector<int64_t>> elements;
};

/// The result of importing a value: a value of the new graph, a number that all
/// its elements equal, or integers, which the graph does not compute.
struct Known {
  Value value;
  std::optional<double> number;
  std::optional<KnownIntegers> integers;
};

/// Converts one function and the functions that it calls.
class StableHLOImporter {
public:
  explicit StableHLOImporter(func::FuncOp function)
      : builder(function.getContext()), function(function) {}

  /// Writes the graph of the function and replaces its old body.
  LogicalResult run(StringRef optimizer, double learningRate);

private:
  using Kind = KnownIntegers::Kind;

  void visitBlock(Block &block, SmallVectorImpl<Value> &returned);
  void visit(Operation *op);
  bool convert(Operation *op);
  bool fold(Operation *op);
  bool convertElementwise(Operation *op, StringRef name);
  bool convertSelect(Operation *op);
  bool convertConvert(Operation *op);
  bool convertErfc(Operation *op);
  bool convertMovement(Operation *op, StringRef name);
  bool convertConcatenate(Operation *op);
  bool convertPad(Operation *op);
  bool convertDot(Operation *op);
  bool convertConvolution(Operation *op);
  bool convertReduce(Operation *op);
  bool convertPool(Operation *op);
  bool convertGather(Operation *op);
  bool convertPick(Operation *op, Value x, const KnownIntegers &index);
  bool convertRows(Operation *op, Value x, const KnownIntegers &index);
  bool convertIota(Operation *op);
  /// Records the integers or booleans that `op` computes.
  bool convertIntegers(Operation *op);
  bool foldIntegers(Operation *op, ArrayRef<KnownIntegers> x);
  bool moveIntegers(Operation *op, KnownIntegers x);
  bool matchIndex(Operation *op, ArrayRef<KnownIntegers> x);
  LogicalResult addUpdates(StringRef optimizer, double learningRate, Value loss,
                           SmallVectorImpl<Value> &results);

  train::TrainBuilder at(Operation *op) { return {builder, op->getLoc()}; }
  std::optional<double> getNumber(Value value) const {
    auto it = known.find(value);
    return it == known.end() ? std::nullopt : it->second.number;
  }
  /// The known integers or booleans of `value`. Numbers count too.
  std::optional<KnownIntegers> getIntegers(Value value) const;
  /// The value in the new graph, or a constant for a number.
  Value get(Value value);
  /// The booleans in the new graph that are described by `value`.
  Value getCondition(train::TrainBuilder &b, const KnownIntegers &x);
  /// A constant with the elements of `x`, repeated to fill the type.
  Value makeConstant(Location loc, const KnownIntegers &x,
                     RankedTensorType type);
  /// The one-hot encoding that `x` describes, in f32, of the shape of `x`.
  Value makeOneHot(train::TrainBuilder &b, const KnownIntegers &x);
  bool set(Operation *op, Value value) {
    known[op->getResult(0)] = {value, std::nullopt, std::nullopt};
    return true;
  }
  bool set(Operation *op, double number);
  bool set(Operation *op, KnownIntegers integers);
  static RankedTensorType typeOf(Value value) {
    return dyn_cast<RankedTensorType>(value.getType());
  }
  Value reshape(train::TrainBuilder &b, Value x, ArrayRef<int64_t> shape) {
    return typeOf(x).getShape() == shape ? x : b.reshape(x, shape);
  }
  Value transpose(train::TrainBuilder &b, Value x,
                  ArrayRef<int64_t> permutation) {
    return llvm::is_sorted(permutation) ? x : b.transpose(x, permutation);
  }
  /// The operation in the only body of `op`, or nothing.
  static StringRef getBody(Operation *op);

  OpBuilder builder;
  func::FuncOp function;
  /// The functions whose calls are being followed.
  SmallVector<func::FuncOp> callees;
  llvm::DenseMap<Value, Known> known;
  /// For values of the new graph: their index, and its upper bound.
  llvm::DenseMap<Value, std::pair<Value, int64_t>> taken;
  /// Maps an erfc to the gelu that contains it as a factor.
  llvm::DenseMap<Value, Value> gelus;
  /// Averages over windows with the size of the window, for sums over windows.
  llvm::DenseMap<Value, std::pair<Value, int64_t>> averages;
  llvm::MapVector<StringRef, unsigned> unsupported;
  Location firstUnsupported = builder.getUnknownLoc();
};

} // namespace mlir::amp

#endif // AMP_LIB_CONVERSION_STABLEHLOTOTRAIN_STABLEHLOIMPORTER_H
