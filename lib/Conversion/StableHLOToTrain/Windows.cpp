//===- Windows.cpp - Pooling, padding and concatenation -------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StableHLOImporter.h"
#include "amp/Support/StableHLOText.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace mlir;
using namespace mlir::amp;
using namespace mlir::train;

namespace {

/// Windows over some dimensions of a tensor, as windows over images.
struct PoolWindows {
  /// `window` and `step` have an element for each dimension, `pad` has two.
  PoolWindows(ArrayRef<int64_t> window, ArrayRef<int64_t> step,
              ArrayRef<int64_t> pad) {
    SmallVector<int64_t> others;
    for (size_t dim = 0; dim < window.size(); ++dim) {
      bool isWhole = window[dim] == 1 && step[dim] == 1 && !pad[2 * dim] &&
                     !pad[2 * dim + 1];
      (isWhole ? others : dims).push_back(dim);
    }
    for (size_t missing = dims.size(); missing < 2; ++missing) {
      extents.push_back(1);
      steps.push_back(1);
      edges.append({0, 0});
    }
    for (int64_t dim : dims) {
      extents.push_back(window[dim]);
      steps.push_back(step[dim]);
      edges.append({pad[2 * dim], pad[2 * dim + 1]});
      size *= window[dim];
    }
    // Images whose channels are last need no transposition.
    isImage = window.size() == 4 && dims == SmallVector<int64_t>{1, 2};
    order = others;
    llvm::append_range(order, dims);
  }

  /// The type of the images for a tensor of `type`: dimensions without a window
  /// come first, as one.
  RankedTensorType getImageType(RankedTensorType type) const {
    if (isImage)
      return type;
    SmallVector<int64_t> shape = {1, 1, 1, 1};
    size_t numOthers = order.size() - dims.size();
    for (auto [index, dim] : llvm::enumerate(order)) {
      if (index < numOthers)
        shape[0] *= type.getDimSize(dim);
      else
        shape[index - numOthers + 3 - dims.size()] = type.getDimSize(dim);
    }
    return type.clone(shape);
  }
  Value toImage(TrainBuilder &b, Value x) const {
    if (isImage)
      return x;
    ArrayRef<int64_t> shape = getImageType(typeOf(x)).getShape();
    SmallVector<int64_t> kept(shape);
    return b.reshape(llvm::is_sorted(order) ? x : b.transpose(x, order), kept);
  }
  /// The tensor of type `to` that the images `y` are.
  Value fromImage(TrainBuilder &b, Value y, RankedTensorType to) const {
    if (isImage)
      return y;
    SmallVector<int64_t> shape, back(order.size());
    for (auto [index, dim] : llvm::enumerate(order)) {
      shape.push_back(to.getDimSize(dim));
      back[dim] = index;
    }
    y = b.reshape(y, shape);
    return llvm::is_sorted(back) ? y : b.transpose(y, back);
  }

  SmallVector<int64_t> dims, order, extents, steps, edges;
  int64_t size = 1;
  bool isImage = false;
};

} // namespace

bool StableHLOImporter::convertPool(Operation *op) {
  auto window = getNumbers(op, "window_dimensions");
  auto strides = getNumbers(op, "window_strides");
  auto padding = getNumbers(op, "padding");
  auto base = getNumbers(op, "base_dilations");
  auto inner = getNumbers(op, "window_dilations");
  auto isOne = [](int64_t value) { return value == 1; };
  auto isNegative = [](int64_t value) { return value < 0; };
  if (op->getNumOperands() != 2 || !window)
    return false;
  size_t rank = window->size();
  SmallVector<int64_t> ones(rank, 1), zeros(2 * rank, 0);
  SmallVector<int64_t> step = strides.value_or(ones),
                       pad = padding.value_or(zeros);
  std::optional<double> start = getNumber(op->getOperand(1));
  if (!start || step.size() != rank || pad.size() != 2 * rank)
    return false;
  StringRef body = getBody(op);
  if (llvm::any_of(pad, isNegative) || (base && !llvm::all_of(*base, isOne)) ||
      (inner && !llvm::all_of(*inner, isOne)))
    return convertWindows(op, body);
  if (llvm::all_of(step, isOne) && convertRunning(op, body, *window, pad))
    return true;
  if (!isFloat(op->getResult(0).getType()))
    return false;
  PoolWindows windows(*window, step, pad);
  if (windows.dims.size() > 2)
    return convertWindows(op, body);
  int64_t size = windows.size;
  bool isMin = body == "minimum" && std::isinf(*start) && *start > 0;
  bool isMax = body == "maximum" && std::isinf(*start) && *start < 0;
  bool isSum = body == "add" && *start == 0;
  if (getNumber(op->getOperand(0)) && isSum)
    return countWindows(op, *window, step, pad);
  Value x = get(op->getOperand(0));
  if (!x)
    return false;
  if (!isMin && !isMax && !isSum)
    return convertWindows(op, body);
  TrainBuilder b = at(op);
  auto to = typeOf(op->getResult(0));
  if (typeOf(x).getRank() != static_cast<int64_t>(rank) ||
      to.getRank() != typeOf(x).getRank())
    return false;
  RankedTensorType pooled = windows.getImageType(to);
  x = windows.toImage(b, isMin ? b.neg(x) : x);
  if (!isSum) {
    Value y = train::MaxPool2DOp::create(builder, op->getLoc(), pooled, x,
                                         windows.extents, windows.steps,
                                         windows.edges);
    y = windows.fromImage(b, y, to);
    return set(op, isMin ? b.neg(y) : y);
  }
  Value average =
      train::AvgPool2DOp::create(builder, op->getLoc(), pooled, x,
                                 windows.extents, windows.steps, windows.edges);
  average = windows.fromImage(b, average, to);
  averages[op->getResult(0)] = {average, size};
  // A power of 2 undoes the division exactly.
  return llvm::isPowerOf2_64(size) ? set(op, b.mul(average, size))
                                   : convertWindows(op, body);
}

/// The sums over windows of a tensor whose elements are all one number, such as
/// the sizes of windows that the padding cuts off.
bool StableHLOImporter::countWindows(Operation *op, ArrayRef<int64_t> window,
                                     ArrayRef<int64_t> step,
                                     ArrayRef<int64_t> pad) {
  auto type = typeOf(op->getResult(0)), from = typeOf(op->getOperand(0));
  double number = *getNumber(op->getOperand(0));
  if (type.getRank() != static_cast<int64_t>(window.size()) ||
      from.getRank() != type.getRank() || type.getNumElements() > (1 << 22) ||
      type.getNumElements() == 0)
    return false;
  std::vector<double> sums = {number};
  for (auto [dim, extent] : llvm::enumerate(type.getShape())) {
    std::vector<double> next;
    next.reserve(sums.size() * extent);
    for (double sum : sums)
      for (int64_t i = 0; i < extent; ++i) {
        int64_t first = i * step[dim] - pad[2 * dim];
        int64_t count = std::min(first + window[dim], from.getDimSize(dim)) -
                        std::max<int64_t>(first, 0);
        next.push_back(sum * std::max<int64_t>(count, 0));
      }
    sums = std::move(next);
  }
  if (llvm::all_equal(sums))
    return set(op, sums.front());
  SmallVector<Attribute> elements;
  for (double sum : sums)
    elements.push_back(builder.getFloatAttr(type.getElementType(), sum));
  return set(op,
             train::ConstantOp::create(builder, op->getLoc(),
                                       DenseElementsAttr::get(type, elements)));
}

/// Takes the elements of all windows at one place of the window, for each
/// place, and reduces over the places, one dimension after the other.
bool StableHLOImporter::convertWindows(Operation *op, StringRef body) {
  auto window = getNumbers(op, "window_dimensions");
  Value x = get(op->getOperand(0));
  std::optional<double> start = getNumber(op->getOperand(1));
  advice = "expected a sum, product, maximum or minimum from its neutral "
           "element, over at most 1024 elements in each dimension";
  auto type = typeOf(op->getResult(0));
  if (!window || !x || !start || typeOf(x).getRank() != type.getRank() ||
      static_cast<int64_t>(window->size()) != type.getRank())
    return false;
  size_t rank = window->size();
  auto numbers = [&](StringRef name, int64_t value, size_t size) {
    return getNumbers(op, name).value_or(SmallVector<int64_t>(size, value));
  };
  auto step = numbers("window_strides", 1, rank),
       base = numbers("base_dilations", 1, rank),
       gaps = numbers("window_dilations", 1, rank),
       pad = numbers("padding", 0, 2 * rank);
  bool isMin = body == "minimum" && std::isinf(*start) && *start > 0;
  bool isMax = body == "maximum" && std::isinf(*start) && *start < 0;
  bool isSum = body == "add" && *start == 0;
  bool isProduct = body == "multiply" && *start == 1;
  if ((!isMin && !isMax && !isSum && !isProduct) || step.size() != rank ||
      base.size() != rank || gaps.size() != rank || pad.size() != 2 * rank ||
      llvm::any_of(*window,
                   [](int64_t size) { return size < 1 || size > 1024; }))
    return false;
  auto isPositive = [](int64_t value) { return value >= 1; };
  if (!llvm::all_of(step, isPositive) || !llvm::all_of(base, isPositive) ||
      !llvm::all_of(gaps, isPositive))
    return false;
  Location loc = op->getLoc();
  TrainBuilder b = at(op);
  SmallVector<int64_t> low, high, interior;
  for (size_t dim = 0; dim < rank; ++dim) {
    low.push_back(pad[2 * dim]);
    high.push_back(pad[2 * dim + 1]);
    interior.push_back(base[dim] - 1);
  }
  x = padOrTake(loc, x, low, high, interior, *start);
  if (isMin)
    x = b.neg(x);
  for (size_t dim = 0; x && dim < rank; ++dim) {
    SmallVector<int64_t> offsets(rank, 0), steps(rank, 1),
        sizes(typeOf(x).getShape());
    sizes[dim] = type.getDimSize(dim);
    steps[dim] = step[dim];
    SmallVector<int64_t> column(sizes);
    column.push_back(1);
    SmallVector<Value> parts;
    for (int64_t place = 0; place < (*window)[dim]; ++place) {
      offsets[dim] = place * gaps[dim];
      Value part = train::SliceOp::create(builder, loc, typeOf(x).clone(sizes),
                                          x, offsets, sizes, steps);
      parts.push_back((*window)[dim] == 1 ? part : b.reshape(part, column));
    }
    if (parts.size() == 1) {
      x = parts[0];
      continue;
    }
    column.back() = parts.size();
    x = train::ConcatOp::create(builder, loc, typeOf(x).clone(column), parts,
                                rank);
    auto last = static_cast<int64_t>(rank);
    x = isSum       ? b.sum(x, last)
        : isProduct ? multiplyAll(b, x, last)
                    : b.max(x, last);
  }
  return x && set(op, isMin ? b.neg(x) : x);
}

bool StableHLOImporter::convertPad(Operation *op) {
  auto low = getNumbers(op, "edge_padding_low");
  auto high = getNumbers(op, "edge_padding_high");
  auto interior = getNumbers(op, "interior_padding");
  if (op->getNumOperands() != 2)
    return false;
  Value x = get(op->getOperand(0));
  std::optional<double> number = getNumber(op->getOperand(1));
  if (!x || !number || !low || !high || !interior)
    return false;
  size_t rank = typeOf(x).getRank();
  if (low->size() != rank || high->size() != rank || interior->size() != rank ||
      typeOf(op->getResult(0)).getRank() != typeOf(x).getRank())
    return false;
  Value result = padOrTake(op->getLoc(), x, *low, *high, *interior, *number);
  return result.getType() == op->getResult(0).getType() && set(op, result);
}

Value StableHLOImporter::padOrTake(Location loc, Value x, ArrayRef<int64_t> low,
                                   ArrayRef<int64_t> high,
                                   ArrayRef<int64_t> interior, double number) {
  SmallVector<int64_t> shape, from, to, before, after;
  bool takes = false;
  for (auto [dim, extent] : llvm::enumerate(typeOf(x).getShape())) {
    int64_t spread = extent + std::max<int64_t>(extent - 1, 0) * interior[dim];
    before.push_back(std::max<int64_t>(low[dim], 0));
    after.push_back(std::max<int64_t>(high[dim], 0));
    from.push_back(std::max<int64_t>(-low[dim], 0));
    shape.push_back(spread + before.back() + after.back());
    to.push_back(spread + low[dim] + high[dim]);
    takes |= low[dim] < 0 || high[dim] < 0;
  }
  // Negative padding removes elements, after the other padding is added.
  Value result = train::PadOp::create(
      builder, loc, typeOf(x).clone(shape), x,
      builder.getDenseI64ArrayAttr(before), builder.getDenseI64ArrayAttr(after),
      builder.getDenseI64ArrayAttr(interior), builder.getF64FloatAttr(number));
  if (!takes)
    return result;
  return train::SliceOp::create(builder, loc, typeOf(x).clone(to), result, from,
                                to, SmallVector<int64_t>(shape.size(), 1));
}

bool StableHLOImporter::convertConcatenate(Operation *op) {
  auto dimension = op->getAttrOfType<IntegerAttr>("dimension");
  SmallVector<Value> x;
  for (Value operand : op->getOperands())
    x.push_back(get(operand));
  return dimension && !llvm::is_contained(x, Value()) &&
         set(op, train::ConcatOp::create(builder, op->getLoc(),
                                         op->getResult(0).getType(), x,
                                         dimension.getInt()));
}

/// erfc(-x/√2) as a factor of x/2, which is gelu(x). A lone erfc would lose its
/// accuracy as 1 - erf.
bool StableHLOImporter::convertErfc(Operation *op) {
  auto isA = [](Value value, StringRef name) {
    Operation *producer = value.getDefiningOp();
    return producer && producer->getName().stripDialect() == name &&
           producer->getNumOperands() == (name == "multiply" ? 2 : 1);
  };
  // The other factor of a product with `number`.
  auto getFactor = [&](Value product, double number) {
    if (isA(product, "multiply"))
      for (unsigned i : {0, 1})
        if (getNumber(product.getDefiningOp()->getOperand(i)) == number)
          return product.getDefiningOp()->getOperand(1 - i);
    return Value();
  };
  Value x = getFactor(op->getOperand(0),
                      static_cast<float>(llvm::numbers::inv_sqrt2));
  if (!x || !isA(x, "negate"))
    return false;
  x = x.getDefiningOp()->getOperand(0);
  Value result = op->getResult(0), input = get(x);
  bool isGelu = llvm::all_of(result.getUses(), [&](OpOperand &use) {
    return use.getOwner()->getName().stripDialect() == "multiply" &&
           use.getOwner()->getNumOperands() == 2 &&
           getFactor(use.getOwner()->getOperand(1 - use.getOperandNumber()),
                     0.5) == x;
  });
  if (!isGelu || !input)
    return false;
  gelus[result] = train::GeluOp::create(builder, op->getLoc(), input.getType(),
                                        input, GeluApproximation::None);
  return true;
}
