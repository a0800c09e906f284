//===- Products.h - Shared parts of product patterns ------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_LIB_CONVERSION_TRAINTOCUDA_PRODUCTS_H
#define AMP_LIB_CONVERSION_TRAINTOCUDA_PRODUCTS_H

#include "TrainToCUDA.h"
#include "amp/Support/TensorTypes.h"

namespace mlir::cuda {

using mlir::amp::typeOf;

/// `value` in the shape `shape`.
inline Value reshape(PatternRewriter &rewriter, Value value,
                     ArrayRef<int64_t> shape) {
  if (typeOf(value).getShape() == shape)
    return value;
  return ViewOp::create(rewriter, value.getLoc(), typeOf(value).clone(shape),
                        value);
}

/// Replaces `op` by `value`, in the shape of its result.
inline void replaceReshaped(PatternRewriter &rewriter, Operation *op,
                            Value value) {
  auto type = typeOf(op->getResult(0));
  rewriter.replaceOp(op, reshape(rewriter, value, type.getShape()));
}

/// Copies the attributes that the replacing launch keeps.
inline void copyAttributes(Operation *from, Operation *to) {
  for (NamedAttribute attribute : from->getDiscardableAttrs())
    to->setDiscardableAttr(attribute.getName(), attribute.getValue());
}

/// Copies a product with other inputs and result types. The caller sets the
/// properties that differ. If the copy also computes `epilogue`, its location
/// ends with the location of this operation.
template <typename OpTy>
OpTy rebuild(PatternRewriter &rewriter, OpTy product, TypeRange types,
             ValueRange inputs, Operation *epilogue = nullptr) {
  Location loc = product.getLoc();
  if (epilogue)
    loc = rewriter.getFusedLoc({loc, getNamedLocation(epilogue)});
  OperationState state(loc, product->getName());
  state.addOperands(inputs);
  if (Value predicate = product.getPredicate())
    state.addOperands(predicate);
  state.addTypes(types);
  typename OpTy::Properties properties = product.getProperties();
  properties.operandSegmentSizes = {int32_t(inputs.size()), 0, 0,
                                    bool(product.getPredicate())};
  state.useProperties(properties);
  auto copy = cast<OpTy>(rewriter.create(state));
  copyAttributes(product, copy);
  // Added targets are not gradients of arguments.
  if (auto gradients = product->template getAttrOfType<ArrayAttr>(
          amp::AMPDialect::kGradientOfAttr)) {
    SmallVector<Attribute> names(gradients.getValue());
    names.resize(types.size(), rewriter.getStringAttr(""));
    copy->setAttr(amp::AMPDialect::kGradientOfAttr,
                  rewriter.getArrayAttr(names));
  }
  return copy;
}

/// Whether the convolution is pointwise: its patches are the pixels of its
/// input.
template <typename OpTy>
bool isPointwise(OpTy op, ArrayRef<int64_t> filter) {
  auto isOne = [](int64_t value) { return value == 1; };
  return llvm::all_of(filter.take_front(2), isOne) &&
         llvm::all_of(op.getStrides(), isOne) &&
         llvm::all_of(op.getPadding(),
                      [](int64_t value) { return value == 0; }) &&
         int64_t(op.getGroups()) == 1;
}

/// Whether the product has neither activation nor targets besides its result.
template <typename OpTy>
bool isPlain(OpTy product) {
  return product.getActivation() == Activation::None && !product.getBiasGrad();
}

/// The product whose result, possibly in another shape, is `value`. Null if
/// absent.
template <typename OpTy>
OpTy getProduct(Value value) {
  while (auto view = value.getDefiningOp<ViewOp>())
    value = view.getSource();
  auto product = value.getDefiningOp<OpTy>();
  return product && value == product.getResults()[0] ? product : OpTy();
}

/// The same, if nothing else reads the result.
template <typename OpTy>
OpTy getOnlyProduct(Value value) {
  OpTy product = getProduct<OpTy>(value);
  for (;; value = value.getDefiningOp<ViewOp>().getSource()) {
    if (!value.hasOneUse())
      return {};
    if (!value.getDefiningOp<ViewOp>())
      return product;
  }
}

} // namespace mlir::cuda

#endif // AMP_LIB_CONVERSION_TRAINTOCUDA_PRODUCTS_H
