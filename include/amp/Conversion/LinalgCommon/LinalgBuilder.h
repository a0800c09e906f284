//===- LinalgBuilder.h - Construction of linalg operations ------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Helpers for the lowerings: elementwise computations with broadcasting and
// reductions over tensors of static shapes. They compute in f32 (f64 for f64)
// and round once.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_CONVERSION_LINALGCOMMON_LINALGBUILDER_H
#define AMP_CONVERSION_LINALGCOMMON_LINALGBUILDER_H

#include "amp/Support/TensorTypes.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Utils/StructuredOpsUtils.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::amp {

/// Computes one scalar from scalars.
using ScalarBody = function_ref<Value(ImplicitLocOpBuilder &, ValueRange)>;

/// The type in which values of `type` are computed: f64 for f64, f32 for other
/// floats, `type` itself for the rest.
Type getScalarComputeType(Type type);

/// Widens a scalar float to its compute type.
Value widenScalar(ImplicitLocOpBuilder &b, Value value);

/// Rounds a scalar float once to `type`, to nearest even, or widens it.
Value roundScalar(ImplicitLocOpBuilder &b, Value value, Type type);

/// The kinds of loops, with short names for lists.
inline constexpr auto parallel = utils::IteratorType::parallel;
inline constexpr auto reduction = utils::IteratorType::reduction;

/// Emits linalg operations at one location.
class LinalgBuilder {
public:
  LinalgBuilder(OpBuilder &builder, Location loc) : b(loc, builder) {}

  ImplicitLocOpBuilder &getBuilder() { return b; }

  /// A scalar float or integer constant.
  Value constant(double value, Type type);
  /// A tensor whose elements are not read.
  Value empty(ArrayRef<int64_t> shape, Type element);
  /// A tensor of `type` filled with the scalar `value`.
  Value filled(RankedTensorType type, Value value);
  Value filled(RankedTensorType type, double value) {
    return filled(type, constant(value, type.getElementType()));
  }

  /// Computes each element of a tensor of type `type` from the elements of
  /// `inputs` that broadcast to it (as in NumPy). The elements are widened to
  /// their compute types. Rounds the result of `body`.
  Value elementwise(RankedTensorType type, ValueRange inputs, ScalarBody body);

  /// Applies the binary operation `OpTy` to the elements of `x` and `y`.
  template <typename OpTy>
  Value combine(RankedTensorType type, Value x, Value y) {
    return elementwise(
        type, {x, y}, [](ImplicitLocOpBuilder &inner, ValueRange args) {
          return OpTy::create(inner, args[0], args[1])->getResult(0);
        });
  }

  /// `elementwise` with one indexing map per input. The inputs give the
  /// dynamic extents of `type`.
  Value elementwise(RankedTensorType type, ValueRange inputs,
                    ArrayRef<AffineMap> maps, ScalarBody body);

  /// Reduces `input` over `dims` and drops these dimensions. `body` combines a
  /// widened element with the accumulator. The accumulator has the element type
  /// `accumulator` and the initial value `init`.
  Value reduce(Value input, ArrayRef<int64_t> dims, Type accumulator,
               double init, ScalarBody body);

  /// A linalg.generic that accumulates into `init`. `body` receives widened
  /// inputs and the unchanged accumulator.
  Value accumulate(Value init, ValueRange inputs, ArrayRef<AffineMap> maps,
                   ArrayRef<utils::IteratorType> iterators, ScalarBody body);

  /// Rounds the elements of `value` to `element`.
  Value castTo(Value value, Type element);

  /// Reshapes `value` to another static shape.
  Value reshape(Value value, ArrayRef<int64_t> shape);

  /// The part of `value` with these offsets, sizes and strides.
  Value slice(Value value, ArrayRef<int64_t> offsets, ArrayRef<int64_t> sizes,
              ArrayRef<int64_t> strides);
  /// Inserts `value` into `destination` at these offsets and strides.
  Value insert(Value value, Value destination, ArrayRef<int64_t> offsets,
               ArrayRef<int64_t> strides);

  /// Pads and interleaves `value` with a constant. Negative `low` and `high`
  /// remove elements.
  Value pad(Value value, ArrayRef<int64_t> low, ArrayRef<int64_t> high,
            ArrayRef<int64_t> interior, double constant);

private:
  ImplicitLocOpBuilder b;
};

/// Base of the patterns for operations of amp that other dialects' types may
/// reach. They match if all operands are ranked tensors.
template <typename OpTy>
struct TensorPattern : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;

  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const final {
    if (!llvm::all_of(op->getOperandTypes(), llvm::IsaPred<RankedTensorType>))
      return rewriter.notifyMatchFailure(op, "is of another dialect's type");
    LinalgBuilder b(rewriter, op.getLoc());
    lower(op, b, rewriter);
    return success();
  }

  /// Replaces `op`.
  virtual void lower(OpTy op, LinalgBuilder &b,
                     PatternRewriter &rewriter) const = 0;
};

/// The map that reads a tensor of shape `from` in a loop nest over `to`, to
/// which `from` broadcasts.
AffineMap getBroadcastMap(ArrayRef<int64_t> from, ArrayRef<int64_t> to,
                          MLIRContext *context);

/// The lowerings of the train dialect, by family.
void populateTrainElementwiseToLinalg(RewritePatternSet &patterns);
void populateTrainShapeToLinalg(RewritePatternSet &patterns);
void populateTrainProductToLinalg(RewritePatternSet &patterns);
void populateTrainPoolingToLinalg(RewritePatternSet &patterns);
void populateTrainRandomToLinalg(RewritePatternSet &patterns);
void populateTrainSequenceToLinalg(RewritePatternSet &patterns);

/// The lowerings of the amp dialect. Shapes may be dynamic.
void populateAMPToLinalg(RewritePatternSet &patterns);
void populateAMPLayersToLinalg(RewritePatternSet &patterns);
void populateQuantizedOpsToLinalg(RewritePatternSet &patterns);
void populateStatisticsToLinalg(RewritePatternSet &patterns);

/// Applies these patterns under `root`. Emits an error that names `target` and
/// returns failure if an operation of amp remains for which `keeps` is false.
LogicalResult lowerAMPToLinalg(
    Operation *root, StringRef target,
    function_ref<bool(Operation *)> keeps = [](Operation *) { return false; });

/// The largest magnitude of the elements of `value`, as a scalar tensor with
/// the bits of a float of its compute type. Infinity and NaN are the largest.
Value buildMaxMagnitudeBits(LinalgBuilder &b, Value value);

/// Removes the attributes of the amp dialect from `op`.
void removeAMPAttributes(Operation *op);

/// Emits a diagnostic and returns failure if an operation of `dialect` under
/// `root` has an operand or result of dynamic shape.
LogicalResult verifyStaticShapes(Operation *root, StringRef dialect);

} // namespace mlir::amp

#endif // AMP_CONVERSION_LINALGCOMMON_LINALGBUILDER_H
