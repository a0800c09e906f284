//===- SmallFunctions.h - Random functions of a few slots -------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Functions so small that all their assignments can be tried, with parts of
// large tensors, pins, gradients, state, casts of the user, masks, branches and
// loops, and if wanted with structured operations, tosa, and a private function
// that is called.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_TEST_LIB_SMALLFUNCTIONS_H
#define AMP_TEST_LIB_SMALLFUNCTIONS_H

#include "amp/Dialect/AMP/IR/AMP.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include <random>

namespace mlir::amp::test {

/// Builds one random function.
class FunctionMaker {
public:
  FunctionMaker(std::mt19937 &random, OpBuilder &builder, Location loc,
                bool upstream)
      : random(random), builder(builder), loc(loc), upstream(upstream) {}

  func::FuncOp make(int64_t extent, unsigned size) {
    matrix = RankedTensorType::get({extent, extent}, builder.getF32Type());
    vector = RankedTensorType::get({extent}, builder.getF32Type());
    batch = RankedTensorType::get({1, extent, extent}, builder.getF32Type());
    table = RankedTensorType::get({8 * extent, extent}, builder.getF32Type());
    auto rowNumbers = RankedTensorType::get({extent}, builder.getI64Type());
    if (upstream && below(3) == 0)
      callee = makeCallee();
    SmallVector<Type> arguments = {matrix,
                                   matrix,
                                   vector,
                                   vector,
                                   builder.getI1Type(),
                                   builder.getIndexType(),
                                   matrix.clone(builder.getI1Type()),
                                   table,
                                   rowNumbers};
    auto function = func::FuncOp::create(
        builder, loc, "f", builder.getFunctionType(arguments, {}));
    // The first four may be state, of which the cost model and the
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
    choice = body->getArgument(6);
    tables = {body->getArgument(7)};
    rows = body->getArgument(8);
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
  /// Mostly a recent value, which forms chains.
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
      (result.getType() == matrix  ? matrices
       : result.getType() == table ? tables
                                   : vectors)
          .push_back(result);
    return op;
  }
  NamedAttribute dims(StringRef name, ArrayRef<int64_t> values) {
    return builder.getNamedAttr(name, builder.getDenseI64ArrayAttr(values));
  }

  void fill(unsigned size, unsigned depth) {
    for (unsigned i = 0; i < size; ++i)
      addOperation(depth);
  }

  /// A private function of one or two operations, with the same builder.
  func::FuncOp makeCallee() {
    OpBuilder::InsertionGuard guard(builder);
    auto function = func::FuncOp::create(
        builder, loc, "g", builder.getFunctionType(matrix, matrix));
    function.setPrivate();
    builder.setInsertionPointToStart(function.addEntryBlock());
    Value value = function.getArgument(0);
    matrices = {value};
    value = create(pick<StringRef>({"train.tanh", "train.relu"}), value, matrix)
                ->getResult(0);
    if (below(2) == 0)
      value = create("train.matmul", {value, value}, matrix)->getResult(0);
    func::ReturnOp::create(builder, loc, value);
    return function;
  }

  /// The destination of a structured operation. Sometimes it is shared.
  Value getInit() {
    if (below(4) == 0)
      return any(matrices);
    if (!empty || below(2) == 0) {
      Value made = tensor::EmptyOp::create(builder, loc, matrix, ValueRange());
      if (!empty && made.getParentRegion()->getParentOp() ==
                        condition.getParentRegion()->getParentOp())
        empty = made;
      return made;
    }
    return empty;
  }

  void addUpstream() {
    Value a = any(matrices), b = any(matrices), init = getInit();
    auto reshape = [&](Value value, RankedTensorType type) -> Value {
      SmallVector<ReassociationIndices> groups = {{0, 1}, {2}};
      if (type == batch)
        return tensor::ExpandShapeOp::create(builder, loc, type, value, groups);
      return tensor::CollapseShapeOp::create(builder, loc, type, value, groups);
    };
    switch (below(6)) {
    case 0:
    case 1:
      matrices.push_back(
          linalg::MatmulOp::create(builder, loc, TypeRange(matrix),
                                   ValueRange{a, b}, ValueRange(init))
              .getResult(0));
      break;
    case 2:
      matrices.push_back(linalg::AddOp::create(builder, loc, TypeRange(matrix),
                                               ValueRange{a, b},
                                               ValueRange(init))
                             .getResult(0));
      break;
    case 3:
      matrices.push_back(linalg::ExpOp::create(builder, loc, TypeRange(matrix),
                                               ValueRange(a), ValueRange(init))
                             .getResult(0));
      break;
    case 4: {
      auto scalar = RankedTensorType::get({1}, builder.getF32Type());
      Value zero = tosa::ConstOp::create(builder, loc, scalar,
                                         DenseElementsAttr::get(scalar, 0.0f));
      Value product =
          tosa::MatMulOp::create(builder, loc, batch, reshape(a, batch),
                                 reshape(b, batch), zero, zero);
      matrices.push_back(reshape(product, matrix));
      break;
    }
    default:
      if (callee)
        matrices.push_back(
            func::CallOp::create(builder, loc, callee, ValueRange(a))
                .getResult(0));
      else
        matrices.push_back(tosa::TanhOp::create(builder, loc, matrix, a));
      break;
    }
  }

  /// A softmax ignores the masked elements.
  void addMask(Value a) {
    Attribute covered = builder.getF32FloatAttr(-1.0e9f);
    Value mask = create("train.constant", {}, matrix,
                        builder.getNamedAttr(
                            "value", DenseElementsAttr::get(matrix, covered)))
                     ->getResult(0);
    matrices.pop_back();
    Value masked =
        create("train.select", {choice, a, mask}, matrix)->getResult(0);
    create("train.softmax", masked, matrix,
           builder.getNamedAttr("axis", builder.getI64IntegerAttr(1)));
  }

  /// A part of a large tensor, or something computed from all of it.
  void addTable() {
    Value t = any(tables);
    int64_t extent = matrix.getDimSize(0);
    switch (below(upstream ? 5 : 4)) {
    case 0:
      create(pick<StringRef>({"train.relu", "train.tanh", "train.exp"}), t,
             table);
      break;
    case 1:
      create("train.gather", {t, rows}, matrix,
             builder.getNamedAttr("axis", builder.getI64IntegerAttr(0)));
      break;
    case 4: {
      SmallVector<OpFoldResult> offsets(2, builder.getIndexAttr(0)),
          sizes(2, builder.getIndexAttr(extent)),
          strides(2, builder.getIndexAttr(1));
      matrices.push_back(tensor::ExtractSliceOp::create(
          builder, loc, matrix, t, offsets, sizes, strides));
      break;
    }
    default:
      create("train.slice", t, matrix,
             {dims("offsets", {static_cast<int64_t>(below(7)) * extent, 0}),
              dims("sizes", {extent, extent}), dims("strides", {1, 1})});
      break;
    }
  }

  void addOperation(unsigned depth) {
    Value a = any(matrices), b = any(matrices), v = any(vectors);
    if (upstream && below(2) == 0)
      return addUpstream();
    switch (below(20)) {
    case 17:
    case 18:
    case 19:
      addTable();
      break;
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
    case 16:
      addMask(a);
      break;
    }
  }

  void addRegion(unsigned depth) {
    SmallVector<Value> outerMatrices = matrices, outerVectors = vectors,
                       outerTables = tables;
    OpBuilder::InsertionGuard guard(builder);
    auto body = [&](Block *block, ValueRange carried) {
      matrices = outerMatrices;
      vectors = outerVectors;
      tables = outerTables;
      matrices.append(carried.begin(), carried.end());
      builder.setInsertionPointToEnd(block);
      fill(1 + below(2), depth + 1);
      SmallVector<Value> yielded = {any(matrices)};
      scf::YieldOp::create(builder, loc, yielded);
    };
    Operation *op;
    unsigned kind = below(5);
    if (kind < 2) {
      auto branch =
          scf::IfOp::create(builder, loc, TypeRange(matrix), condition, true);
      body(branch.thenBlock(), {});
      body(branch.elseBlock(), {});
      op = branch;
    } else if (kind == 2) {
      // The results of the loop differ from the values that it carries.
      Value initial = any(matrices);
      auto loop =
          scf::WhileOp::create(builder, loc, TypeRange(matrix), initial);
      Block *before =
          builder.createBlock(&loop.getBefore(), {}, {matrix}, {loc});
      Block *after = builder.createBlock(&loop.getAfter(), {}, {matrix}, {loc});
      matrices.push_back(before->getArgument(0));
      builder.setInsertionPointToEnd(before);
      fill(1, depth + 1);
      scf::ConditionOp::create(builder, loc, condition, any(matrices));
      body(after, after->getArguments());
      op = loop;
    } else {
      // Known numbers of iterations, and an unknown one.
      Value zero = bound, last = bound, step = bound;
      if (kind == 3) {
        zero = arith::ConstantIndexOp::create(builder, loc, 0);
        step = arith::ConstantIndexOp::create(builder, loc, 1);
        last = arith::ConstantIndexOp::create(builder, loc, 1 + below(5));
      }
      auto loop = scf::ForOp::create(builder, loc, zero, last, step,
                                     ValueRange(any(matrices)));
      body(loop.getBody(), loop.getRegionIterArgs());
      op = loop;
    }
    matrices = outerMatrices;
    vectors = outerVectors;
    tables = outerTables;
    matrices.push_back(op->getResult(0));
  }

  std::mt19937 &random;
  OpBuilder &builder;
  Location loc;
  bool upstream;
  RankedTensorType matrix, vector, batch, table;
  SmallVector<Value> matrices, vectors, tables;
  Value condition, bound, choice, empty, rows;
  func::FuncOp callee;
};

} // namespace mlir::amp::test

#endif // AMP_TEST_LIB_SMALLFUNCTIONS_H
