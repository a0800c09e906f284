//===- SmallFunctions.h - Random functions of a few slots -------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Functions so small that all their assignments can be tried, with pins,
// gradients, state, casts of the user, branches and loops.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_TEST_LIB_SMALLFUNCTIONS_H
#define AMP_TEST_LIB_SMALLFUNCTIONS_H

#include "amp/Dialect/AMP/IR/AMP.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include <random>

namespace mlir::amp::test {

/// Builds one random function.
class FunctionMaker {
public:
  FunctionMaker(std::mt19937 &random, OpBuilder &builder, Location loc)
      : random(random), builder(builder), loc(loc) {}

  func::FuncOp make(int64_t extent, unsigned size) {
    matrix = RankedTensorType::get({extent, extent}, builder.getF32Type());
    vector = RankedTensorType::get({extent}, builder.getF32Type());
    SmallVector<Type> arguments = {matrix,
                                   matrix,
                                   vector,
                                   vector,
                                   builder.getI1Type(),
                                   builder.getIndexType()};
    auto function = func::FuncOp::create(
        builder, loc, "f", builder.getFunctionType(arguments, {}));
    // Any but the last two may be state, of which the cost model and the
    // constraints know more.
    for (unsigned i = 0; i < 4; ++i) {
      StringRef role = pick<StringRef>(
          {"batch", "batch", "parameter", "parameter", "hyperparameter"});
      if (below(3) != 0)
        function.setArgAttr(i, AMPDialect::kRoleAttr,
                            builder.getStringAttr(role));
    }
    Block *body = function.addEntryBlock();
    builder.setInsertionPointToStart(body);
    matrices = {body->getArgument(0), body->getArgument(1)};
    vectors = {body->getArgument(2), body->getArgument(3)};
    condition = body->getArgument(4);
    bound = body->getArgument(5);
    fill(size, /*depth=*/0);

    SmallVector<Value> returned;
    for (unsigned i = below(3); i != 0; --i)
      returned.push_back(below(4) == 0 ? any(vectors) : any(matrices));
    func::ReturnOp::create(builder, loc, returned);
    function.setType(
        builder.getFunctionType(arguments, ValueRange(returned).getTypes()));
    return function;
  }

private:
  unsigned below(unsigned limit) { return random() % limit; }
  template <typename T>
  T pick(ArrayRef<T> items) {
    return items[below(items.size())];
  }
  /// Mostly a recent value, so that chains arise.
  Value any(ArrayRef<Value> values) {
    return below(2) == 0 ? values.back() : pick(values);
  }

  Operation *create(StringRef name, ValueRange operands, TypeRange results,
                    ArrayRef<NamedAttribute> attributes = {}) {
    OperationState state(loc, name, operands, results);
    state.addAttributes(attributes);
    if (below(12) == 0)
      state.addAttribute(
          AMPDialect::kPrecisionAttr,
          builder.getStringAttr(pick<StringRef>({"f32", "low", "keep"})));
    else if (below(16) == 0 && name != "train.constant") {
      SmallVector<StringRef> names(results.size(), "");
      names[0] = "w";
      state.addAttribute(AMPDialect::kGradientOfAttr,
                         builder.getStrArrayAttr(names));
    }
    Operation *op = builder.create(state);
    for (Value result : op->getResults())
      (result.getType() == matrix ? matrices : vectors).push_back(result);
    return op;
  }
  NamedAttribute dims(StringRef name, ArrayRef<int64_t> values) {
    return builder.getNamedAttr(name, builder.getDenseI64ArrayAttr(values));
  }

  void fill(unsigned size, unsigned depth) {
    for (unsigned i = 0; i < size; ++i)
      addOperation(depth);
  }

  void addOperation(unsigned depth) {
    Value a = any(matrices), b = any(matrices), v = any(vectors);
    switch (below(16)) {
    case 0:
    case 1:
    case 2:
      create(pick<StringRef>({"train.relu", "train.neg", "train.tanh",
                              "train.gelu", "train.sigmoid"}),
             a, matrix);
      break;
    case 3:
      create(pick<StringRef>({"train.exp", "train.log", "train.square"}), a,
             matrix);
      break;
    case 4:
    case 5:
      create(pick<StringRef>({"train.add", "train.mul", "train.maximum"}),
             {a, below(4) == 0 ? v : b}, matrix);
      break;
    case 6:
    case 7:
      create("train.matmul", {a, b}, matrix);
      break;
    case 8:
      create("train.linear", {a, matrices[below(2)], v}, matrix);
      break;
    case 9:
      create(pick<StringRef>(
                 {"train.reduce_mean", "train.reduce_max", "train.reduce_sum"}),
             a, vector, dims("dims", {0}));
      break;
    case 10:
      create("train.broadcast", v, matrix, dims("dims", {0}));
      break;
    case 11:
      create("train.layer_norm", {a, vectors[0], vectors[1]},
             {matrix, vector, vector});
      break;
    case 12:
      create("train.transpose", a, matrix, dims("permutation", {1, 0}));
      break;
    case 13:
      create(
          "train.constant", {}, matrix,
          builder.getNamedAttr(
              "value", DenseElementsAttr::get(
                           matrix, builder.getF32FloatAttr(0.1f).getValue())));
      break;
    case 14: {
      auto narrow = CastOp::create(
          builder, loc, matrix.clone(builder.getF16Type()), a, false);
      matrices.push_back(CastOp::create(builder, loc, matrix, narrow, false));
      break;
    }
    case 15:
      if (depth < 2)
        addRegion(depth);
      break;
    }
  }

  void addRegion(unsigned depth) {
    SmallVector<Value> outerMatrices = matrices, outerVectors = vectors;
    OpBuilder::InsertionGuard guard(builder);
    auto body = [&](Block *block, ValueRange carried) {
      matrices = outerMatrices;
      vectors = outerVectors;
      matrices.append(carried.begin(), carried.end());
      builder.setInsertionPointToEnd(block);
      fill(1 + below(2), depth + 1);
      SmallVector<Value> yielded = {any(matrices)};
      scf::YieldOp::create(builder, loc, yielded);
    };
    Operation *op;
    if (below(2) == 0) {
      auto branch =
          scf::IfOp::create(builder, loc, TypeRange(matrix), condition, true);
      body(branch.thenBlock(), {});
      body(branch.elseBlock(), {});
      op = branch;
    } else {
      auto loop = scf::ForOp::create(builder, loc, bound, bound, bound,
                                     ValueRange(any(matrices)));
      body(loop.getBody(), loop.getRegionIterArgs());
      op = loop;
    }
    matrices = outerMatrices;
    vectors = outerVectors;
    matrices.push_back(op->getResult(0));
  }

  std::mt19937 &random;
  OpBuilder &builder;
  Location loc;
  RankedTensorType matrix, vector;
  SmallVector<Value> matrices, vectors;
  Value condition, bound;
};

} // namespace mlir::amp::test

#endif // AMP_TEST_LIB_SMALLFUNCTIONS_H
