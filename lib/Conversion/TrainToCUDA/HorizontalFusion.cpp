//===- HorizontalFusion.cpp - Products of one operand ----------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Rewrites x W1 + b1, x W2 + b2, ... as x [W1 W2 ...] + [b1 b2 ...]. Each
// reader takes its columns of the result. An example are the queries, keys and
// values of an attention.
//
//===----------------------------------------------------------------------===//

#include "TrainToCUDA.h"
#include "amp/Support/TensorTypes.h"

#include "amp/Dialect/AMP/IR/AMP.h"
#include "amp/Dialect/Train/IR/Train.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mlir::cuda;
using mlir::amp::typeOf;

/// Whether the readers of `value`, possibly in another shape, become kernels
/// that can read columns of a wider matrix. A launch needs whole operands, so
/// it does not qualify. Neither does a result of the step or an operation that
/// an epilogue takes.
static bool isReadByElements(Value value) {
  return llvm::all_of(value.getUsers(), [](Operation *user) {
    if (auto view = dyn_cast<ViewOp>(user))
      return isReadByElements(view.getResult());
    return !isa<LaunchOpInterface, train::ReluOp, train::GeluOp,
                train::ReluGradOp, train::GeluGradOp>(user) &&
           !user->hasTrait<OpTrait::IsTerminator>();
  });
}

/// Whether `gemm` may become columns of a wider product.
static bool isCandidate(GemmOp gemm) {
  return gemm->getNumResults() == 1 && !gemm.getPredicate() &&
         gemm.getActivation() == Activation::None && !gemm.getAccumulate() &&
         typeOf(gemm.getA()).getRank() == 2 &&
         typeOf(gemm.getB()).getRank() == 2 &&
         !gemm->hasAttr(mlir::amp::AMPDialect::kGradientOfAttr) &&
         isReadByElements(gemm.getResult(0));
}

/// Whether both products multiply the same matrix with the same attributes.
static bool isLike(GemmOp a, GemmOp b) {
  auto elementOf = [](Value value) { return typeOf(value).getElementType(); };
  if (a.getA() != b.getA() || a.getTransposeA() != b.getTransposeA() ||
      a.getTransposeB() != b.getTransposeB() || a.getTf32() != b.getTf32() ||
      bool(a.getBias()) != bool(b.getBias()) || a.getAlpha() || b.getAlpha() ||
      elementOf(a.getB()) != elementOf(b.getB()) ||
      elementOf(a.getResult(0)) != elementOf(b.getResult(0)))
    return false;
  return !a.getBias() ||
         elementOf(a.getInputs().back()) == elementOf(b.getInputs().back());
}

/// Takes the columns [`first`, `first` + `count`) of `matrix` in the shape
/// `shape`. If possible, the view of all columns comes first, so that the slice
/// is next to the loops that read it.
static Value takeColumns(OpBuilder &builder, Location loc, Value matrix,
                         int64_t first, int64_t count,
                         ArrayRef<int64_t> shape) {
  auto type = typeOf(matrix);
  int64_t rows = type.getDimSize(0), columns = type.getDimSize(1);
  size_t split = 0;
  for (int64_t product = 1; split < shape.size() && product < rows; ++split)
    product *= shape[split];
  ArrayRef<int64_t> leading = shape.take_front(split);
  int64_t inner = 1;
  if (split < shape.size())
    for (int64_t extent : shape.drop_front(split + 1))
      inner *= extent;
  bool isWhole = split < shape.size() && llvm::product_of(leading) == rows &&
                 columns % inner == 0 && first % inner == 0;
  SmallVector<int64_t> wide(type.getShape());
  size_t dim = 1;
  if (isWhole) {
    wide.assign(shape.begin(), shape.end());
    wide[split] = columns / inner;
    dim = split;
  } else {
    inner = 1;
  }
  if (ArrayRef<int64_t>(wide) != type.getShape())
    matrix = ViewOp::create(builder, loc, type.clone(wide), matrix);
  SmallVector<int64_t> offsets(wide.size(), 0), strides(wide.size(), 1);
  SmallVector<int64_t> sizes(wide);
  offsets[dim] = first / inner;
  sizes[dim] = count / inner;
  Value taken = train::SliceOp::create(builder, loc, type.clone(sizes), matrix,
                                       offsets, sizes, strides);
  if (ArrayRef<int64_t>(sizes) != shape)
    taken = ViewOp::create(builder, loc, type.clone(shape), taken);
  return taken;
}

/// Makes the readers of `value` read columns of `matrix` instead.
static void replaceByColumns(Value value, Value matrix, int64_t first) {
  int64_t count = typeOf(value).getDimSize(1);
  SmallVector<Value> forms{value};
  for (size_t i = 0; i < forms.size(); ++i) {
    for (Operation *user : forms[i].getUsers())
      if (auto view = dyn_cast<ViewOp>(user))
        forms.push_back(view.getResult());
  }
  for (Value form : llvm::reverse(forms)) {
    bool isRead = llvm::any_of(
        form.getUsers(), [](Operation *user) { return !isa<ViewOp>(user); });
    if (isRead) {
      OpBuilder builder(form.getContext());
      builder.setInsertionPointAfter(form.getDefiningOp());
      Value columns = takeColumns(builder, form.getLoc(), matrix, first, count,
                                  typeOf(form).getShape());
      form.replaceUsesWithIf(
          columns, [](OpOperand &use) { return !isa<ViewOp>(use.getOwner()); });
    }
    if (form.use_empty())
      form.getDefiningOp()->erase();
  }
}

/// Replaces `gemms`, in program order, by one product.
static void concatenate(ArrayRef<GemmOp> gemms) {
  GemmOp first = gemms.front();
  OpBuilder builder(first);
  SmallVector<Location> locations;
  SmallVector<Value> weights, biases;
  int64_t columns = 0;
  for (GemmOp gemm : gemms) {
    locations.push_back(gemm.getLoc());
    weights.push_back(gemm.getB());
    if (gemm.getBias())
      biases.push_back(gemm.getInputs().back());
    columns += typeOf(gemm.getResult(0)).getDimSize(1);
  }
  Location loc = builder.getFusedLoc(locations);
  auto join = [&](ValueRange parts, int64_t axis) -> Value {
    SmallVector<int64_t> shape(typeOf(parts.front()).getShape());
    shape[axis] = columns;
    return train::ConcatOp::create(builder, loc,
                                   typeOf(parts.front()).clone(shape), parts,
                                   builder.getI64IntegerAttr(axis));
  };
  SmallVector<Value> inputs{first.getA(),
                            join(weights, first.getTransposeB() ? 0 : 1)};
  if (first.getBias())
    inputs.push_back(join(biases, 0));
  auto type = typeOf(first.getResult(0));
  auto product = GemmOp::create(
      builder, loc, type.clone({type.getDimSize(0), columns}), StringAttr(),
      inputs, ValueRange(), ValueRange(), Value(), FloatAttr());
  product.setTransposeA(first.getTransposeA());
  product.setTransposeB(first.getTransposeB());
  product.setTf32(first.getTf32());
  product.setBias(bool(first.getBias()));
  for (NamedAttribute attribute : first->getDiscardableAttrs())
    product->setDiscardableAttr(attribute.getName(), attribute.getValue());
  int64_t offset = 0;
  for (GemmOp gemm : gemms) {
    int64_t count = typeOf(gemm.getResult(0)).getDimSize(1);
    replaceByColumns(gemm.getResult(0), product.getResult(0), offset);
    offset += count;
  }
}

void mlir::cuda::fuseProductsHorizontally(func::FuncOp step) {
  Block &block = step.getBody().front();
  SmallVector<GemmOp> candidates;
  for (GemmOp gemm : block.getOps<GemmOp>())
    if (isCandidate(gemm))
      candidates.push_back(gemm);
  llvm::SmallPtrSet<Operation *, 8> taken;
  for (GemmOp first : candidates) {
    if (taken.contains(first))
      continue;
    auto isAvailable = [&](Value value) {
      Operation *definition = value.getDefiningOp();
      return !definition || definition->isBeforeInBlock(first);
    };
    SmallVector<GemmOp> group;
    int64_t copied = 0;
    for (GemmOp gemm : candidates) {
      if (taken.contains(gemm) || !isLike(first, gemm) ||
          gemm->isBeforeInBlock(first) ||
          !llvm::all_of(gemm.getInputs(), isAvailable))
        continue;
      group.push_back(gemm);
      for (Value input : gemm.getInputs().drop_front())
        copied += getBytes(typeOf(input));
    }
    // The fusion reads and writes the weights one more time. It saves reading
    // the common operand for each product.
    int64_t saved =
        (int64_t(group.size()) - 1) * getBytes(typeOf(first.getA()));
    if (group.size() < 2 || 2 * copied >= saved)
      continue;
    taken.insert(group.begin(), group.end());
    concatenate(group);
  }
}
