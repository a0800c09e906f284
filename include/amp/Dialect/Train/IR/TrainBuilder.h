//===- TrainBuilder.h - Writing train IR by formula -------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Shorthands with inferred result types for rules that emit train operations.
// With them, derivatives and decompositions read like their formulas.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_DIALECT_TRAIN_IR_TRAINBUILDER_H
#define AMP_DIALECT_TRAIN_IR_TRAINBUILDER_H

#include "amp/Dialect/Train/IR/Train.h"
#include "amp/Support/TensorTypes.h"

namespace mlir::train {

using amp::typeOf;

/// Emits train operations at one location. Operands of the arithmetic must have
/// one element type and shapes that broadcast.
class TrainBuilder {
public:
  TrainBuilder(OpBuilder &builder, Location loc) : b(builder), loc(loc) {}

  OpBuilder &getBuilder() { return b; }
  Location getLoc() const { return loc; }

  /// A scalar constant of the element type of `like`.
  Value scalar(double value, Type like);
  Value scalar(double value, Value like) {
    return scalar(value, like.getType());
  }
  /// A tensor of zeros of the static type `type`.
  Value zeros(RankedTensorType type);

  Value add(Value lhs, Value rhs) { return binary<AddOp>(lhs, rhs); }
  Value sub(Value lhs, Value rhs) { return binary<SubOp>(lhs, rhs); }
  Value mul(Value lhs, Value rhs) { return binary<MulOp>(lhs, rhs); }
  Value div(Value lhs, Value rhs) { return binary<DivOp>(lhs, rhs); }
  Value maximum(Value lhs, Value rhs) { return binary<MaximumOp>(lhs, rhs); }
  Value minimum(Value lhs, Value rhs) { return binary<MinimumOp>(lhs, rhs); }
  Value pow(Value lhs, Value rhs) { return binary<PowOp>(lhs, rhs); }
  Value mul(Value lhs, double rhs) { return mul(lhs, scalar(rhs, lhs)); }
  Value add(Value lhs, double rhs) { return add(lhs, scalar(rhs, lhs)); }
  /// `lhs` - `rhs` with a constant on the left.
  Value sub(double lhs, Value rhs) { return sub(scalar(lhs, rhs), rhs); }

  Value neg(Value x) { return unary<NegOp>(x); }
  Value abs(Value x) { return unary<AbsOp>(x); }
  Value sign(Value x) { return unary<SignOp>(x); }
  Value exp(Value x) { return unary<ExpOp>(x); }
  Value log(Value x) { return unary<LogOp>(x); }
  Value sqrt(Value x) { return unary<SqrtOp>(x); }
  Value rsqrt(Value x) { return unary<RsqrtOp>(x); }
  Value reciprocal(Value x) { return unary<ReciprocalOp>(x); }
  Value square(Value x) { return unary<SquareOp>(x); }
  Value tanh(Value x) { return unary<TanhOp>(x); }
  Value erf(Value x) { return unary<ErfOp>(x); }
  Value sin(Value x) { return unary<SinOp>(x); }
  Value cos(Value x) { return unary<CosOp>(x); }

  Value compare(ComparePredicate predicate, Value lhs, Value rhs);
  Value select(Value condition, Value onTrue, Value onFalse);

  /// Reductions over `dims`; the result has the operand's element type.
  Value sum(Value x, ArrayRef<int64_t> dims, bool keepDims = false) {
    return reduce<ReduceSumOp>(x, dims, keepDims);
  }
  Value mean(Value x, ArrayRef<int64_t> dims, bool keepDims = false) {
    return reduce<ReduceMeanOp>(x, dims, keepDims);
  }
  Value max(Value x, ArrayRef<int64_t> dims, bool keepDims = false) {
    return reduce<ReduceMaxOp>(x, dims, keepDims);
  }
  /// Repeats `x` over the dimensions `dims` of `like`. The result has the shape
  /// of `like`. Divides by the number of repetitions if `mean` is set.
  Value broadcast(Value x, Value like, ArrayRef<int64_t> dims,
                  bool mean = false);
  /// Inserts extents of 1 at `dims`. A value that was reduced over `dims` then
  /// broadcasts against a value of type `full`.
  Value unsqueeze(Value x, ArrayRef<int64_t> dims, RankedTensorType full);

  Value reshape(Value x, ArrayRef<int64_t> shape);
  Value transpose(Value x, ArrayRef<int64_t> permutation);

  /// Converts the element type. Returns `x` itself if it has `elementType`.
  Value castTo(Value x, Type elementType, bool inserted = true);
  /// Widens `x` to the type in which operations on it compute.
  Value widen(Value x) { return castTo(x, getComputeType(x.getType())); }

  /// All dimensions of `x`: 0, 1, ..., rank - 1.
  static SmallVector<int64_t> allDims(Value x);

private:
  static SmallVector<int64_t> joinShapes(Value lhs, Value rhs);

  template <typename OpTy>
  Value unary(Value x) {
    return OpTy::create(b, loc, x.getType(), x);
  }
  template <typename OpTy>
  Value binary(Value lhs, Value rhs) {
    return OpTy::create(b, loc, typeOf(lhs).clone(joinShapes(lhs, rhs)), lhs,
                        rhs);
  }
  template <typename OpTy>
  Value reduce(Value x, ArrayRef<int64_t> dims, bool keepDims) {
    return OpTy::create(b, loc, reducedType(x, dims, keepDims), x, dims,
                        keepDims);
  }
  static RankedTensorType reducedType(Value x, ArrayRef<int64_t> dims,
                                      bool keepDims);

  OpBuilder &b;
  Location loc;
};

} // namespace mlir::train

#endif // AMP_DIALECT_TRAIN_IR_TRAINBUILDER_H
