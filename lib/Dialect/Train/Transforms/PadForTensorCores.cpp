//===- PadForTensorCores.cpp - Extents that tensor cores take whole -------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RemarkOptions.h"
#include "amp/Support/TensorTypes.h"

#include "amp/Dialect/AMP/IR/StepSignature.h"
#include "amp/Dialect/Train/Transforms/Passes.h"
#include "amp/Precision/Policy/Target.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>
#include <map>
#include <optional>

namespace mlir::train {
#define GEN_PASS_DEF_TRAINPADFORTENSORCORES
#include "amp/Dialect/Train/Transforms/Passes.h.inc"
} // namespace mlir::train

using namespace mlir;
using namespace mlir::train;
using mlir::amp::typeOf;

/// The assumed value of unknown extents, as in the cost model of precision.
static constexpr double kDynamicExtent = 32;
/// The pass pads to the larger multiple if that enlarges an extent by at most
/// this share.
static constexpr double kLargestWaste = 1.0 / 32;

namespace {

/// One dimension of a product, with its positions in operands and result.
struct ProductDim {
  struct Axis {
    unsigned operand, axis;
  };
  SmallVector<Axis, 3> axes;
  std::optional<unsigned> resultAxis;
};

struct PadForTensorCoresPass
    : public train::impl::TrainPadForTensorCoresBase<PadForTensorCoresPass> {
  using TrainPadForTensorCoresBase::TrainPadForTensorCoresBase;
  void runOnOperation() override;

private:
  using Pads = SmallVector<int64_t, 4>;
  /// Padded values by block, value, and padding of each dimension.
  using PaddedValues =
      std::map<std::tuple<Block *, void *, Pads>, TypedValue<RankedTensorType>>;

  /// The misaligned extents of a product.
  struct Misalignment {
    /// The number of added elements, by dimension of the product.
    SmallVector<int64_t, 4> added;
    /// The extents, as text, and whether one is unknown.
    SmallVector<std::string> names;
    bool isUnknown = false;
    /// The ratio of the sizes of the padded and the original product.
    double growth = 1;
  };
  /// The padding of the operands, and the shape of the result.
  struct Padding {
    SmallVector<Pads> operands;
    SmallVector<int64_t> resultShape;
    /// Whether the result is a slice of the padded product's result.
    bool isSliced = false;
  };

  LogicalResult readOptions();
  void visit(Operation *op, PaddedValues &padded);
  void visitGroups(Operation *op);
  Misalignment findMisaligned(Operation *op, ArrayRef<ProductDim> dims) const;
  Padding plan(Operation *op, ArrayRef<ProductDim> dims,
               ArrayRef<int64_t> added) const;
  std::pair<double, double> estimate(Operation *op, const Padding &padding,
                                     double growth,
                                     const PaddedValues &padded) const;
  SmallVector<Value> padOperands(Operation *op, const Padding &padding,
                                 PaddedValues &padded);
  void replaceBySlice(Operation *op, ArrayRef<Value> operands,
                      const Padding &padding);
  void visitAttention(Operation *op, Value query, Value value);
  void visitBatch(FunctionOpInterface function);
  void leave(Operation *op, StringRef extents, StringRef why);
  int64_t getAlignment(Type element) const;
  int64_t getPaddedExtent(int64_t extent, Type element) const;

  amp::Target machine;
  SmallVector<Operation *> replaced;
};

} // namespace

static bool isLow(Type element) {
  return element.isIntOrFloat() && element.getIntOrFloatBitWidth() <= 16;
}

static double countElements(ArrayRef<int64_t> shape) {
  double count = 1;
  for (int64_t extent : shape)
    count *= ShapedType::isDynamic(extent) ? kDynamicExtent : double(extent);
  return count;
}

static double countBytes(Type element, ArrayRef<int64_t> shape) {
  return countElements(shape) * element.getIntOrFloatBitWidth() / 8;
}

/// Returns the dimensions of the product `op` that can be padded. The list is
/// empty if `op` is not a product, or is a convolution in groups.
static SmallVector<ProductDim, 3> getProductDims(Operation *op) {
  if (auto matmul = dyn_cast<MatmulOp>(op)) {
    unsigned row = matmul.getType().getRank() - 2, column = row + 1;
    bool a = matmul.getTransposeA(), b = matmul.getTransposeB();
    return {{{{0, a ? column : row}}, row},
            {{{0, a ? row : column}, {1, b ? column : row}}, std::nullopt},
            {{{1, b ? row : column}}, column}};
  }
  if (auto linear = dyn_cast<LinearOp>(op)) {
    unsigned last = linear.getType().getRank() - 1;
    bool transposed = linear.getTransposeWeight();
    ProductDim output{{{1, transposed ? 0u : 1u}}, last};
    if (linear.getBias())
      output.axes.push_back({2, 0});
    return {{{{0, last}, {1, transposed ? 1u : 0u}}, std::nullopt}, output};
  }
  if (auto conv = dyn_cast<Conv2DOp>(op); conv && conv.getGroups() == 1)
    return {{{{0, 3}, {1, 2}}, std::nullopt}, {{{1, 3}}, 3}};
  if (auto conv = dyn_cast<Conv2DInputGradOp>(op);
      conv && conv.getGroups() == 1)
    return {{{{0, 3}, {1, 3}}, std::nullopt}, {{{1, 2}}, 3}};
  if (auto conv = dyn_cast<Conv2DFilterGradOp>(op);
      conv && conv.getGroups() == 1)
    return {{{{0, 3}}, 2}, {{{1, 3}}, 3}};
  return {};
}

/// Returns the number of multiplications and additions of `op`.
static double countFlops(Operation *op) {
  ArrayRef<int64_t> result = typeOf(op->getResult(0)).getShape();
  ArrayRef<int64_t> lhs = typeOf(op->getOperand(0)).getShape();
  ArrayRef<int64_t> rhs = typeOf(op->getOperand(1)).getShape();
  if (auto matmul = dyn_cast<MatmulOp>(op))
    return 2 * countElements(result) *
           countElements(lhs[lhs.size() - (matmul.getTransposeA() ? 2 : 1)]);
  if (isa<LinearOp>(op))
    return 2 * countElements(result) * countElements(lhs.back());
  if (isa<Conv2DOp>(op))
    return 2 * countElements(result) * countElements(rhs.drop_back());
  if (isa<Conv2DInputGradOp>(op))
    return 2 * countElements(lhs) * countElements(rhs.drop_back());
  return 2 * countElements(rhs) * countElements(result.drop_back());
}

int64_t PadForTensorCoresPass::getAlignment(Type element) const {
  if (alignment > 0)
    return alignment;
  // The figure of the target is for 16-bit elements.
  return machine.alignment * 16 / element.getIntOrFloatBitWidth();
}

int64_t PadForTensorCoresPass::getPaddedExtent(int64_t extent,
                                               Type element) const {
  int64_t small = llvm::alignTo(extent, getAlignment(element));
  int64_t line = multiple > 0 ? int64_t(multiple)
                              : 128 * 8 / element.getIntOrFloatBitWidth();
  int64_t large = llvm::alignTo(extent, line);
  if (multiple > 0 || double(large - extent) <= kLargestWaste * double(extent))
    return large;
  return small;
}

LogicalResult PadForTensorCoresPass::readOptions() {
  std::optional<amp::Target> found = amp::getTarget(target);
  if (!found)
    return getOperation()->emitError(
               "train-pad-for-tensor-cores: 'target' must be one of ")
           << amp::listTargets() << ", got '" << target << "'";
  machine = *found;
  if (alignment < 0 || multiple < 0)
    return getOperation()->emitError("train-pad-for-tensor-cores: 'alignment' "
                                     "and 'multiple' must not be negative, "
                                     "got ")
           << alignment.getValue() << " and " << multiple.getValue();
  if (multiple > 0 && alignment > 0 && multiple % alignment != 0)
    return getOperation()->emitError("train-pad-for-tensor-cores: 'multiple' "
                                     "must be a multiple of 'alignment', got ")
           << multiple.getValue() << " and " << alignment.getValue();
  return success();
}

void PadForTensorCoresPass::leave(Operation *op, StringRef extents,
                                  StringRef why) {
  ++numLeft;
  auto remark =
      remark::missed(op->getLoc(), getRemarkOptions("Misaligned", op));
  if (remark)
    remark << remark::metric("Op", op->getName().getStringRef())
           << remark::metric("Extents", extents) << remark::reason("{0}", why);
}

static bool isPadded(ArrayRef<int64_t> pads) {
  return llvm::any_of(pads, [](int64_t add) { return add > 0; });
}

/// Returns the shape of `value` with `pads` added to its extents.
static SmallVector<int64_t> getPaddedShape(Value value,
                                           ArrayRef<int64_t> pads) {
  SmallVector<int64_t> shape(typeOf(value).getShape());
  for (auto [extent, add] : llvm::zip_equal(shape, pads))
    if (add > 0)
      extent += add;
  return shape;
}

/// Finds the misaligned extents of `op` that matter to tensor cores, and the
/// number of elements to add to each dimension of the product.
PadForTensorCoresPass::Misalignment
PadForTensorCoresPass::findMisaligned(Operation *op,
                                      ArrayRef<ProductDim> dims) const {
  Type element = getElementTypeOrSelf(op->getOperand(0));
  int64_t needed = getAlignment(element);
  auto isInnermost = [](Value value, unsigned axis) {
    RankedTensorType type = typeOf(value);
    return type.getRank() >= 2 && axis + 1 == type.getRank();
  };
  Misalignment found;
  found.added.assign(dims.size(), 0);
  for (auto [index, dim] : llvm::enumerate(dims)) {
    bool matters =
        dim.resultAxis && isInnermost(op->getResult(0), *dim.resultAxis);
    for (ProductDim::Axis axis : dim.axes)
      matters |= isInnermost(op->getOperand(axis.operand), axis.axis);
    const ProductDim::Axis &first = dim.axes.front();
    int64_t extent =
        typeOf(op->getOperand(first.operand)).getDimSize(first.axis);
    bool isDynamic = ShapedType::isDynamic(extent);
    if (!matters || extent == 0 || (!isDynamic && extent % needed == 0))
      continue;
    if (isDynamic) {
      found.isUnknown = true;
      found.names.push_back("?");
      continue;
    }
    int64_t target = getPaddedExtent(extent, element);
    found.added[index] = target - extent;
    found.growth *= double(target) / double(extent);
    found.names.push_back(std::to_string(extent));
  }
  return found;
}

/// Emits a remark on a convolution in groups with misaligned channels. Channels
/// that are added to one group would move those of the others.
void PadForTensorCoresPass::visitGroups(Operation *op) {
  int64_t needed = getAlignment(getElementTypeOrSelf(op->getOperand(0)));
  int64_t channels = typeOf(op->getOperand(0)).getShape().back();
  int64_t results = typeOf(op->getResult(0)).getShape().back();
  if (channels % needed != 0 || results % needed != 0)
    leave(op, (Twine(channels) + ", " + Twine(results)).str(),
          "channels of a convolution in groups are not padded");
}

/// Returns the padding of each operand and the shape of the result.
PadForTensorCoresPass::Padding
PadForTensorCoresPass::plan(Operation *op, ArrayRef<ProductDim> dims,
                            ArrayRef<int64_t> added) const {
  Padding padding;
  for (Value operand : op->getOperands())
    padding.operands.emplace_back(typeOf(operand).getRank(), 0);
  padding.resultShape.assign(typeOf(op->getResult(0)).getShape().begin(),
                             typeOf(op->getResult(0)).getShape().end());
  for (auto [dim, add] : llvm::zip_equal(dims, added)) {
    for (ProductDim::Axis axis : dim.axes)
      padding.operands[axis.operand][axis.axis] = add;
    if (dim.resultAxis && add > 0)
      padding.resultShape[*dim.resultAxis] += add;
  }
  padding.isSliced = ArrayRef<int64_t>(padding.resultShape) !=
                     typeOf(op->getResult(0)).getShape();
  return padding;
}

/// Returns the key of the padded operand `index` of `op`.
static auto getPaddedKey(Operation *op, unsigned index,
                         const SmallVector<int64_t, 4> &pads) {
  return std::make_tuple(op->getBlock(),
                         op->getOperand(index).getAsOpaquePointer(), pads);
}

/// Estimates the bytes that move plus the time of the product in bytes, for the
/// original and for the padded product.
std::pair<double, double>
PadForTensorCoresPass::estimate(Operation *op, const Padding &padding,
                                double growth,
                                const PaddedValues &padded) const {
  double flops = countFlops(op);
  double before = flops / machine.f32FlopPerByte;
  double after = flops * growth / machine.lowFlopPerByte;
  for (auto [index, pads] : llvm::enumerate(padding.operands)) {
    Value operand = op->getOperand(index);
    Type element = typeOf(operand).getElementType();
    double bytes = countBytes(element, typeOf(operand).getShape());
    double large = countBytes(element, getPaddedShape(operand, pads));
    before += bytes;
    after += large;
    if (isPadded(pads) && !padded.count(getPaddedKey(op, index, pads)))
      after += bytes + large;
  }
  RankedTensorType resultType = typeOf(op->getResult(0));
  double resultBytes =
      countBytes(resultType.getElementType(), resultType.getShape());
  double largeResult =
      countBytes(resultType.getElementType(), padding.resultShape);
  before += resultBytes;
  after += largeResult + (padding.isSliced ? largeResult + resultBytes : 0);
  return {before, after};
}

/// Pads the operands of `op`. Pads each value once per block.
SmallVector<Value> PadForTensorCoresPass::padOperands(Operation *op,
                                                      const Padding &padding,
                                                      PaddedValues &padded) {
  OpBuilder builder(op);
  SmallVector<Value> operands(op->getOperands());
  for (auto [index, pads] : llvm::enumerate(padding.operands)) {
    if (!isPadded(pads))
      continue;
    TypedValue<RankedTensorType> &entry = padded[getPaddedKey(op, index, pads)];
    if (!entry) {
      RankedTensorType type = typeOf(operands[index]);
      SmallVector<int64_t> zeros(type.getRank(), 0);
      entry = PadOp::create(builder, op->getLoc(),
                            type.clone(getPaddedShape(operands[index], pads)),
                            operands[index], zeros, pads, zeros, APFloat(0.0))
                  .getResult();
      ++numPads;
    }
    operands[index] = entry;
  }
  return operands;
}

/// Replaces `op` by a padded operation on `operands`, and slices its result.
void PadForTensorCoresPass::replaceBySlice(Operation *op,
                                           ArrayRef<Value> operands,
                                           const Padding &padding) {
  OpBuilder builder(op);
  RankedTensorType resultType = typeOf(op->getResult(0));
  Operation *large = builder.clone(*op);
  large->setOperands(operands);
  large->getResult(0).setType(resultType.clone(padding.resultShape));
  // The gradient of a parameter has the parameter's shape. It is the slice.
  large->removeAttr(amp::AMPDialect::kGradientOfAttr);
  SmallVector<int64_t> offsets(resultType.getRank(), 0),
      strides(resultType.getRank(), 1), sizes;
  for (int64_t extent : resultType.getShape())
    sizes.push_back(ShapedType::isDynamic(extent) ? -1 : extent);
  auto slice = SliceOp::create(builder, op->getLoc(), resultType,
                               large->getResult(0), offsets, sizes, strides);
  ++numSlices;
  for (StringRef name : {StringRef(amp::AMPDialect::kGradientOfAttr),
                         StringRef(amp::AMPDialect::kBackwardOfAttr)})
    if (Attribute attribute = op->getAttr(name))
      slice->setAttr(name, attribute);
  op->getResult(0).replaceAllUsesWith(slice.getResult());
  // Erase the operation only in the end: values in `padded` must stay distinct.
  replaced.push_back(op);
}

void PadForTensorCoresPass::visit(Operation *op, PaddedValues &padded) {
  SmallVector<ProductDim, 3> dims = getProductDims(op);
  if (dims.empty())
    return visitGroups(op);
  Misalignment misaligned = findMisaligned(op, dims);
  if (misaligned.names.empty())
    return;
  std::string extents = llvm::join(misaligned.names, ", ");
  if (!isLow(getElementTypeOrSelf(op->getOperand(0))))
    return leave(op, extents,
                 "its operands are not low: it does not run on "
                 "tensor cores");
  if (misaligned.isUnknown)
    return leave(op, extents,
                 "an innermost extent is not known; run "
                 "train-set-batch first");

  Padding padding = plan(op, dims, misaligned.added);
  auto [before, after] = estimate(op, padding, misaligned.growth, padded);
  if (!always && after >= before)
    return leave(op, extents,
                 "padding does not pay: without it the cost is the time of " +
                     std::to_string(std::llround(before)) + " bytes, padded " +
                     std::to_string(std::llround(after)));
  if (auto remark =
          remark::passed(op->getLoc(), getRemarkOptions("Padded", op)))
    remark << remark::metric("Op", op->getName().getStringRef())
           << remark::metric("Extents", extents)
           << remark::metric("CostBefore", std::llround(before))
           << remark::metric("CostAfter", std::llround(after));

  SmallVector<Value> operands = padOperands(op, padding, padded);
  ++numPadded;
  if (padding.isSliced)
    replaceBySlice(op, operands, padding);
  else
    op->setOperands(operands);
}

void PadForTensorCoresPass::visitAttention(Operation *op, Value query,
                                           Value value) {
  Type element = getElementTypeOrSelf(query);
  int64_t key = typeOf(query).getShape().back();
  int64_t width = typeOf(value).getShape().back();
  int64_t needed = getAlignment(element);
  if (isLow(element) && (key % needed != 0 || width % needed != 0))
    leave(op, (Twine(key) + ", " + Twine(width)).str(),
          "the width of an attention head is not padded; choose a multiple");
}

/// Emits a remark on a batch whose rows do not fill whole tiles of low
/// products.
void PadForTensorCoresPass::visitBatch(FunctionOpInterface function) {
  FailureOr<amp::StepSignature> signature = failure();
  if (amp::isStepFunction(function))
    signature = amp::StepSignature::get(function);
  if (failed(signature))
    return;
  int64_t rows = 0, needed = 0;
  function.walk([&](Operation *op) {
    if (!isa<LinearOp, MatmulOp>(op) || rows != 0)
      return;
    RankedTensorType type = typeOf(op->getOperand(0));
    if (!isLow(type.getElementType()) || !type.hasStaticShape())
      return;
    auto matmul = dyn_cast<MatmulOp>(op);
    int64_t count = isa<LinearOp>(op)
                        ? type.getNumElements() /
                              std::max<int64_t>(type.getShape().back(), 1)
                        : type.getDimSize(type.getRank() -
                                          (matmul.getTransposeA() ? 1 : 2));
    if (isa<LinearOp>(op) && count % getAlignment(type.getElementType()) != 0) {
      rows = count;
      needed = getAlignment(type.getElementType());
    }
  });
  if (rows == 0)
    return;
  for (const amp::StepArgument &argument : signature->arguments) {
    if (argument.role != amp::Role::Batch || argument.type.getRank() == 0 ||
        argument.type.isDynamicDim(0) ||
        argument.type.getDimSize(0) % needed == 0)
      continue;
    ++numLeft;
    auto remark = remark::missed(function.getLoc(),
                                 remark::RemarkOpts::name("MisalignedBatch")
                                     .category("amp")
                                     .function(function.getName()));
    if (remark)
      remark << remark::metric("Argument", argument.name)
             << remark::metric("Batch", argument.type.getDimSize(0))
             << remark::metric("Rows", rows)
             << remark::reason("samples are not padded, they would count in "
                               "means and statistics; choose a batch that is "
                               "a multiple of {0}",
                               needed);
  }
}

void PadForTensorCoresPass::runOnOperation() {
  if (failed(readOptions()))
    return signalPassFailure();
  SmallVector<Operation *> products;
  SmallVector<FunctionOpInterface> functions;
  getOperation()->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (auto function = dyn_cast<FunctionOpInterface>(op))
      functions.push_back(function);
    else if (auto attention = dyn_cast<ScaledDotProductAttentionOp>(op))
      visitAttention(op, attention.getQuery(), attention.getValue());
    else if (isa<MatmulOp, LinearOp, Conv2DOp, Conv2DInputGradOp,
                 Conv2DFilterGradOp>(op))
      products.push_back(op);
  });
  PaddedValues padded;
  for (Operation *op : products)
    visit(op, padded);
  for (Operation *op : replaced)
    op->erase();
  replaced.clear();
  for (FunctionOpInterface function : functions)
    visitBatch(function);
}
