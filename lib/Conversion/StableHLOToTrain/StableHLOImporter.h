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

/// A scalar integer that a loop counts: `scale` · i + `offset`, where i, of
/// type index, runs from 0 to `count` - 1.
struct KnownCounter {
  Value iteration;
  int64_t count = 0, scale = 1, offset = 0;

  int64_t getMin() const {
    return offset + std::min(scale * (count - 1), int64_t(0));
  }
  int64_t getMax() const {
    return offset + std::max(scale * (count - 1), int64_t(0));
  }
};

/// The result of importing a value: a value of the new graph, a number that all
/// its elements equal, integers, which the graph does not compute, or the
/// counter of a loop.
struct Known {
  Value value;
  std::optional<double> number;
  std::optional<KnownIntegers> integers;
  std::optional<KnownCounter> counter = std::nullopt;
};

/// How indices address slices of a tensor.
struct IndexedSlices;

/// How a scatter combines an element with an update.
enum class Combination { Set, Add, Multiply, Maximum, Minimum, And, Or };

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
  bool convertMany(Operation *op);
  /// Whether the number, types and dimensions of the operands are those that
  /// the operation needs.
  static bool areOperandsValid(Operation *op);
  /// Whether the imported results of `op` have the types that its own have.
  bool haveResultTypes(Operation *op) const;
  bool convertResult(Operation *op, StringRef name);
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
  bool convertReverse(Operation *op);
  bool convertArgReduce(Operation *op);
  bool convertTopK(Operation *op);
  bool convertErfInv(Operation *op);
  bool convertPool(Operation *op);
  /// A sum, product, maximum or minimum of the elements before each element.
  bool convertRunning(Operation *op, StringRef body, ArrayRef<int64_t> window,
                      ArrayRef<int64_t> padding);
  /// The same over windows of any number of dimensions, as reductions.
  bool convertWindows(Operation *op, StringRef body);
  bool countWindows(Operation *op, ArrayRef<int64_t> window,
                    ArrayRef<int64_t> step, ArrayRef<int64_t> pad);
  /// Surrounds and interleaves `x` with `number`. Negative numbers of elements
  /// remove elements of `x`.
  Value padOrTake(Location loc, Value x, ArrayRef<int64_t> low,
                  ArrayRef<int64_t> high, ArrayRef<int64_t> interior,
                  double number);
  /// The product over `dims`, in pairs. Its derivative divides by nothing.
  static Value multiplyAll(train::TrainBuilder &b, Value x,
                           ArrayRef<int64_t> dims);
  Value computeRunning(Operation *op, StringRef body, int64_t dim, int64_t size,
                       bool isForward);
  /// Collects the operands of the loop `op` that its iterations carry, without
  /// those that `isOmitted`, and their values in the new graph.
  bool getCarried(Operation *op, llvm::function_ref<bool(unsigned)> isOmitted,
                  SmallVectorImpl<unsigned> &carried,
                  SmallVectorImpl<Value> &inits);
  bool convertWhile(Operation *op);
  bool convertDynamicWhile(Operation *op, ArrayRef<bool> isInvariant);
  bool convertBranches(Operation *op);
  bool convertSort(Operation *op);
  bool convertFunction(Operation *op, StringRef name, Value x);
  bool convertRemainder(Operation *op);
  static Value makeAtan2(train::TrainBuilder &b, Value y, Value x);
  bool convertDynamicSlice(Operation *op);
  bool convertDynamicUpdate(Operation *op);
  bool convertScatter(Operation *op);
  /// Gathers and scatters of any form.
  bool convertAnyGather(Operation *op);
  bool convertAnyScatter(Operation *op);
  /// Emits `op`, which computes integers, booleans or bits of floats, as
  /// operations of upstream dialects.
  bool convertComputed(Operation *op);
  bool computeConstant(Operation *op);
  bool computeElementwise(Operation *op);
  bool computeMovement(Operation *op);
  bool computeReverse(Operation *op);
  bool computePad(Operation *op);
  bool computeReduce(Operation *op);
  Value divideComputed(Location loc, Value x, Value y, bool isNatural,
                       bool isRemainder);
  bool computeConversion(Operation *op);
  bool computeCounter(Operation *op);
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
  /// The integers or booleans in the new graph that `value` becomes, of the
  /// type from `getComputedType`. Null if they are not known.
  Value getComputed(Value value);
  Value getComputed(const KnownIntegers &x, Location loc,
                    RankedTensorType type);
  /// Either of the two, by the element type of `value`.
  Value getAny(Value value);
  /// The result of a region for `value`. Null only if it is not known although
  /// nothing was unsupported so far.
  Value getReturned(Value value);
  /// The type of `value` in the new graph: signless integers.
  static RankedTensorType getComputedType(Type type);
  /// `x`, not below 0 and at most `limit`.
  Value clampComputed(Location loc, Value x, int64_t limit);
  Value reshapeAny(Location loc, Value x, ArrayRef<int64_t> shape);
  Value transposeAny(Location loc, Value x, ArrayRef<int64_t> permutation);
  /// The rows of `x` at `indices`, which are within its first dimension.
  Value gatherAny(Location loc, Value x, Value indices);
  /// `x` as integers of 64 bits, by the signedness of `original`.
  Value widenIntegers(Location loc, Value x, Value original);
  /// A constant of i64 with the elements `numbers`.
  Value makeNumbers(Location loc, ArrayRef<int64_t> numbers,
                    ArrayRef<int64_t> shape);
  /// The rows that the slices of a gather or scatter consist of.
  Value getPlaces(Operation *op, Value indices, IndexedSlices &slices,
                  bool clamps);
  /// `rows` after `updates` at `places`. Null if `how` is not supported for
  /// their type.
  Value scatterRows(Operation *op, Value rows, Value places, Value updates,
                    Combination how);
  Value getPlacesOfElements(Location loc, RankedTensorType row, Value places,
                            RankedTensorType updates);
  Value findKeptUpdates(Location loc, Value line, Value places, Value updates,
                        Combination how);
  Value takeUpdates(train::TrainBuilder &b, Value line, Value kept,
                    Value updates, Combination how);
  Value broadcastAny(Location loc, Value x, RankedTensorType type,
                     ArrayRef<int64_t> dims);
  /// The index of the first largest element along the last dimension, as i32.
  Value argMax(train::TrainBuilder &b, Value x);
  /// The offsets of a dynamic slice, not below 0 and at most `limits`.
  bool getOffsets(Operation *op, ValueRange indices, ArrayRef<int64_t> limits,
                  SmallVectorImpl<OpFoldResult> &offsets);
  /// Whether the graph computes with floats of `type`.
  static bool isFloat(Type type) {
    Type element = getElementTypeOrSelf(type);
    return isa<Float16Type, BFloat16Type, Float32Type, Float64Type>(element);
  }
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
  /// The missing feature of the current operation, for the error.
  StringRef advice;
  llvm::MapVector<StringAttr, unsigned> unsupported;
  Location firstUnsupported = builder.getUnknownLoc();
};

} // namespace mlir::amp

#endif // AMP_LIB_CONVERSION_STABLEHLOTOTRAIN_STABLEHLOIMPORTER_H
