//===- PadForTensorCores.cpp - Extents that tensor cores take whole -------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RemarkOptions.h"

#include "amp/Dialect/AMP/IR/StepSignature.h"
#include "amp/Dialect/Train/Transforms/Passes.h"
#include "amp/Precision/Target.h"
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

/// Extents that are not known count as this many, as in the cost model of
/// precision.
static constexpr double kDynamicExtent = 32;
/// The larger multiple is taken where it enlarges an extent by no more than
/// this share.
static constexpr double kLargestWaste = 1.0 / 32;

namespace {

/// One dimension of a product: where it occurs in operands and in the result.
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
  /// Padded values by block, value, and how much is added to each dimension.
  using PaddedValues =
      std::map<std::tuple<Block *, void *, Pads>, TypedValue<RankedTensorType>>;

  LogicalResult readOptions();
  void visit(Operation *op, PaddedValues &padded);
  void visitAttention(Operation *op, Value query, Value value);
  void visitBatch(FunctionOpInterface function);
  void leave(Operation *op, StringRef extents, StringRef why);
  int64_t getAlignment(Type element) const;
  int64_t getPaddedExtent(int64_t extent, Type element) const;

  amp::Target machine;
  SmallVector<Operation *> replaced;
};

} // namespace

static RankedTensorType typeOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}

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

/// Returns the dimensions of the product `op` by which it can be padded, or
/// none if `op` is no product or a convolution in groups.
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

/// Returns how many multiplications and additions `op` does.
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
  // What the machine gives is for 16 bit.
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
           << llvm::join(amp::getTargetNames(), ", ") << ", got '" << target
           << "'";
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

void PadForTensorCoresPass::visit(Operation *op, PaddedValues &padded) {
  Type element = getElementTypeOrSelf(op->getOperand(0));
  int64_t needed = getAlignment(element);
  SmallVector<ProductDim, 3> dims = getProductDims(op);
  auto isInnermost = [](Value value, unsigned axis) {
    RankedTensorType type = typeOf(value);
    return type.getRank() >= 2 && axis + 1 == type.getRank();
  };

  // What is misaligned, and what it becomes.
  SmallVector<int64_t, 4> added(dims.size(), 0);
  SmallVector<std::string> names;
  bool isUnknown = false;
  double growth = 1;
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
      isUnknown = true;
      names.push_back("?");
      continue;
    }
    int64_t target = getPaddedExtent(extent, element);
    added[index] = target - extent;
    growth *= double(target) / double(extent);
    names.push_back(std::to_string(extent));
  }
  if (dims.empty()) {
    // A convolution in groups: of its channels none may be added to a group
    // without moving the others.
    RankedTensorType input = typeOf(op->getOperand(0));
    int64_t channels = input.getShape().back();
    int64_t results = typeOf(op->getResult(0)).getShape().back();
    if (channels % needed == 0 && results % needed == 0)
      return;
    return leave(op, (Twine(channels) + ", " + Twine(results)).str(),
                 "channels of a convolution in groups are not padded");
  }
  if (names.empty())
    return;
  std::string extents = llvm::join(names, ", ");
  if (!isLow(element))
    return leave(op, extents,
                 "its operands are not low: it does not run on "
                 "tensor cores");
  if (isUnknown)
    return leave(op, extents,
                 "an innermost extent is not known; run "
                 "train-set-batch first");

  // The operands and the result, padded.
  unsigned numOperands = op->getNumOperands();
  SmallVector<Pads> pads(numOperands);
  for (unsigned i = 0; i < numOperands; ++i)
    pads[i].assign(typeOf(op->getOperand(i)).getRank(), 0);
  RankedTensorType resultType = typeOf(op->getResult(0));
  SmallVector<int64_t> resultShape(resultType.getShape());
  for (auto [dim, add] : llvm::zip_equal(dims, added)) {
    for (ProductDim::Axis axis : dim.axes)
      pads[axis.operand][axis.axis] = add;
    if (dim.resultAxis && add > 0)
      resultShape[*dim.resultAxis] += add;
  }
  auto isPadded = [](ArrayRef<int64_t> pads) {
    return llvm::any_of(pads, [](int64_t add) { return add > 0; });
  };
  auto paddedShape = [&](unsigned i) {
    SmallVector<int64_t> shape(typeOf(op->getOperand(i)).getShape());
    for (auto [extent, add] : llvm::zip_equal(shape, pads[i]))
      if (add > 0)
        extent += add;
    return shape;
  };
  auto find = [&](unsigned i) {
    return padded.find(
        {op->getBlock(), op->getOperand(i).getAsOpaquePointer(), pads[i]});
  };
  bool isSliced = ArrayRef<int64_t>(resultShape) != resultType.getShape();

  // The estimate: bytes that move, and the time of the product as bytes.
  double flops = countFlops(op);
  double before = flops / machine.f32FlopPerByte;
  double after = flops * growth / machine.lowFlopPerByte;
  for (unsigned i = 0; i < numOperands; ++i) {
    RankedTensorType type = typeOf(op->getOperand(i));
    double bytes = countBytes(type.getElementType(), type.getShape());
    double large = countBytes(type.getElementType(), paddedShape(i));
    before += bytes;
    after += large;
    if (isPadded(pads[i]) && find(i) == padded.end())
      after += bytes + large;
  }
  double resultBytes =
      countBytes(resultType.getElementType(), resultType.getShape());
  double largeResult = countBytes(resultType.getElementType(), resultShape);
  before += resultBytes;
  after += largeResult + (isSliced ? largeResult + resultBytes : 0);
  if (!always && after >= before)
    return leave(op, extents,
                 "padding does not pay: as it is it costs the time of " +
                     std::to_string(std::llround(before)) + " bytes, padded " +
                     std::to_string(std::llround(after)));

  if (auto remark =
          remark::passed(op->getLoc(), getRemarkOptions("Padded", op))) {
    remark << remark::metric("Op", op->getName().getStringRef())
           << remark::metric("Extents", extents)
           << remark::metric("CostBefore", std::llround(before))
           << remark::metric("CostAfter", std::llround(after));
  }

  OpBuilder builder(op);
  SmallVector<Value> operands(op->getOperands());
  for (unsigned i = 0; i < numOperands; ++i) {
    if (!isPadded(pads[i]))
      continue;
    auto it = find(i);
    if (it == padded.end()) {
      RankedTensorType type = typeOf(operands[i]);
      SmallVector<int64_t> zeros(type.getRank(), 0);
      auto pad =
          PadOp::create(builder, op->getLoc(), type.clone(paddedShape(i)),
                        operands[i], zeros, pads[i], zeros, APFloat(0.0));
      ++numPads;
      it = padded
               .emplace(std::make_tuple(op->getBlock(),
                                        operands[i].getAsOpaquePointer(),
                                        pads[i]),
                        pad.getResult())
               .first;
    }
    operands[i] = it->second;
  }
  ++numPadded;
  if (!isSliced) {
    op->setOperands(operands);
    return;
  }
  Operation *large = builder.clone(*op);
  large->setOperands(operands);
  large->getResult(0).setType(resultType.clone(resultShape));
  // The gradient of a parameter has the parameter's shape: it is the slice.
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
  // Erased in the end: values in `padded` must stay distinct.
  replaced.push_back(op);
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

/// Remarks on a batch of which the rows of low products fill no whole tiles.
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
