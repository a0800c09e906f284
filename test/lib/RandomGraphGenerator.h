//===- RandomGraphGenerator.h - Operations of random graphs -----*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_TEST_LIB_RANDOMGRAPHGENERATOR_H
#define AMP_TEST_LIB_RANDOMGRAPHGENERATOR_H

#include "RandomGraph.h"

#include "amp/Dialect/AMP/IR/AMP.h"
#include "amp/Dialect/Train/IR/Train.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

#include <random>

namespace mlir::amp::test {

using Attributes = SmallVector<std::pair<StringRef, Attribute>>;

/// Builds one module. One list holds the values in scope, innermost last.
class RandomGraphGenerator {
public:
  RandomGraphGenerator(MLIRContext *context, const RandomGraphOptions &options,
                       StringRef name)
      : options(options), name(name), engine(options.seed),
        b(UnknownLoc::get(context), context), f32(b.getF32Type()) {}

  OwningOpRef<ModuleOp> make();

private:
  //===--------------------------------------------------------------------===//
  // Chance
  //===--------------------------------------------------------------------===//

  /// A number below `bound`. Distributions of standard libraries differ, so
  /// this uses none.
  uint64_t below(uint64_t bound) { return engine() % bound; }
  bool chance(unsigned percent) { return below(100) < percent; }
  template <typename T>
  T oneOf(std::initializer_list<T> choices) {
    return *(choices.begin() + below(choices.size()));
  }

  //===--------------------------------------------------------------------===//
  // Values
  //===--------------------------------------------------------------------===//

  RankedTensorType tensor(ArrayRef<int64_t> shape, Type element = {}) {
    return RankedTensorType::get(shape, element ? element : Type(f32));
  }
  static ArrayRef<int64_t> shapeOf(Value value) {
    return cast<RankedTensorType>(value.getType()).getShape();
  }
  bool isF32(Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    return type && type.getElementType() == f32;
  }

  /// A value in scope that `accept` accepts, or null. Prefers recent values.
  template <typename Accept>
  Value pick(Accept accept) {
    SmallVector<Value> found;
    for (Value value : scope)
      if (accept(value))
        found.push_back(value);
    if (found.empty())
      return {};
    size_t last = std::min<size_t>(found.size(), 3);
    return chance(60) ? found[found.size() - 1 - below(last)]
                      : found[below(found.size())];
  }
  Value pickRank(int64_t low, int64_t high) {
    return pick([&](Value value) {
      return isF32(value) &&
             static_cast<int64_t>(shapeOf(value).size()) >= low &&
             static_cast<int64_t>(shapeOf(value).size()) <= high;
    });
  }
  Value pickType(Type type) {
    return pick([&](Value value) { return value.getType() == type; });
  }
  /// An operand that broadcasts to `value`.
  Value pickPartner(Value value) {
    ArrayRef<int64_t> shape = shapeOf(value);
    return pick([&](Value other) {
      if (!isF32(other))
        return false;
      ArrayRef<int64_t> have = shapeOf(other);
      return have == shape || have.empty() ||
             (have.size() == 1 && !shape.empty() && have[0] == shape.back() &&
              !ShapedType::isDynamic(have[0]));
    });
  }

  //===--------------------------------------------------------------------===//
  // Operations
  //===--------------------------------------------------------------------===//

  Operation *emit(StringRef opName, ValueRange operands, TypeRange results,
                  const Attributes &attributes = {}) {
    OperationState state(b.getLoc(), opName, operands, results, {});
    for (auto [key, value] : attributes)
      state.addAttribute(key, value);
    Operation *op = b.create(state);
    if (options.pins && chance(5))
      pin(op);
    bool isGradient = llvm::any_of(op->getResults(),
                                   [&](Value value) { return isF32(value); });
    if (isGradient && chance(4)) {
      SmallVector<Attribute> names(op->getNumResults(), b.getStringAttr(""));
      names.front() = b.getStringAttr("w");
      op->setAttr(AMPDialect::kGradientOfAttr, b.getArrayAttr(names));
    }
    llvm::append_range(scope, op->getResults());
    return op;
  }
  Operation *unary(StringRef opName, Value operand,
                   const Attributes &attributes = {}) {
    return emit(opName, operand, operand.getType(), attributes);
  }
  void pin(Operation *op) {
    op->setAttr(AMPDialect::kPrecisionAttr,
                b.getStringAttr(oneOf<StringRef>({"f32", "low", "keep"})));
  }
  Value constant(Type type, double value) {
    auto attribute = DenseElementsAttr::get(
        cast<ShapedType>(type),
        b.getFloatAttr(cast<ShapedType>(type).getElementType(), value));
    return emit("train.constant", {}, type, {{"value", attribute}})
        ->getResult(0);
  }

  void addOperation(unsigned depth);
  void addElementwise();
  void addProduct();
  void addShape();
  void addReduction();
  void addNormalization();
  void addImage();
  void addLoss();
  void addLow();
  void addForeign();
  void addCall();
  void addRegion(unsigned depth);
  void fill(unsigned count, unsigned depth) {
    for (unsigned i = 0; i < count; ++i)
      addOperation(depth);
  }
  void addIf(unsigned depth);
  void addFor(unsigned depth);
  void addWhile(unsigned depth);
  void addForall(unsigned depth);
  /// Values that a loop carries from here on.
  SmallVector<Value> pickCarried();
  /// One value in scope of each type, which `fallback` has.
  SmallVector<Value> pickLike(ValueRange fallback);
  void addFunction(StringRef functionName, unsigned size, bool isMain);

  RandomGraphOptions options;
  StringRef name;
  std::mt19937_64 engine;
  ImplicitLocOpBuilder b;
  Type f32;
  SmallVector<Value> scope;
  SmallVector<func::FuncOp> callees;
  Value condition, tripCount, zero, one;
};

} // namespace mlir::amp::test

#endif // AMP_TEST_LIB_RANDOMGRAPHGENERATOR_H
