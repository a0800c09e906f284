//===- Windows.cpp - Convolution, pooling, padding --------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StableHLOImporter.h"
#include "StableHLOText.h"
#include "llvm/Support/MathExtras.h"

#include <cmath>

using namespace mlir;
using namespace mlir::amp;
using namespace mlir::train;

//===----------------------------------------------------------------------===//
// Convolution
//===----------------------------------------------------------------------===//

/// The lists of letters and numbers in `[b, f, 0]x[o, i, 0]->[b, f, 0]`: input,
/// filter and result.
static SmallVector<SmallVector<std::string>> getLayouts(StringRef text) {
  SmallVector<SmallVector<std::string>> layouts;
  while (text.contains('[') && layouts.size() < 3) {
    auto [list, rest] = text.split('[').second.split(']');
    SmallVector<StringRef> parts;
    list.split(parts, ',');
    layouts.emplace_back();
    for (StringRef part : parts)
      layouts.back().push_back(part.trim().str());
    text = rest;
  }
  return layouts;
}

/// The positions of `wanted` in `layout`. Empty if one is missing.
static SmallVector<int64_t> findPositions(ArrayRef<std::string> layout,
                                          ArrayRef<std::string> wanted) {
  SmallVector<int64_t> positions;
  for (const std::string &name : wanted) {
    auto it = llvm::find(layout, name);
    if (it == layout.end())
      return {};
    positions.push_back(it - layout.begin());
  }
  return positions;
}

/// `x` with an extent of 1 inserted at `dim`.
static Value insertUnit(TrainBuilder &b, Value x, int64_t dim) {
  SmallVector<int64_t> shape(typeOf(x).getShape());
  shape.insert(shape.begin() + dim, 1);
  return b.reshape(x, shape);
}

/// Converts to channels-last images. A line is an image of one row.
bool StableHLOImporter::convertConvolution(Operation *op) {
  TrainBuilder b = at(op);
  Value x = get(op->getOperand(0)), filter = get(op->getOperand(1));
  auto layouts = getLayouts(getText(op, "dimension_numbers"));
  if (!x || !filter || layouts.size() != 3)
    return false;
  int64_t spatial = typeOf(x).getRank() - 2;
  if (spatial != 1 && spatial != 2) {
    advice = "expected one or two spatial dimensions";
    return false;
  }
  auto strides = getNumbers(op, "window_strides");
  auto dilations = getNumbers(op, "rhs_dilation");
  auto spread = getNumbers(op, "lhs_dilation");
  auto padding = getNumbers(op, "padding");
  auto groups = op->getAttrOfType<IntegerAttr>("feature_group_count");
  auto batches = op->getAttrOfType<IntegerAttr>("batch_group_count");
  auto isNegative = [](int64_t value) { return value < 0; };
  if ((padding && llvm::any_of(*padding, isNegative)) ||
      (batches && batches.getInt() != 1) ||
      StringRef(getText(op, "window_reversal")).contains("true")) {
    advice = "expected no negative padding, reversed window or batch groups";
    return false;
  }
  SmallVector<std::string> names = {"0"};
  if (spatial == 2)
    names.push_back("1");
  SmallVector<std::string> image = {"b"}, window = names;
  llvm::append_range(image, names);
  image.push_back("f");
  window.push_back("i");
  window.push_back("o");
  auto fromX = findPositions(layouts[0], image),
       fromFilter = findPositions(layouts[1], window),
       toResult = findPositions(image, layouts[2]);
  size_t rank = spatial + 2;
  if (fromX.size() != rank || fromFilter.size() != rank ||
      toResult.size() != rank ||
      typeOf(filter).getRank() != typeOf(x).getRank() ||
      typeOf(op->getResult(0)).getRank() != typeOf(x).getRank() ||
      (spread && spread->size() != rank - 2))
    return false;
  x = transpose(b, x, fromX);
  filter = transpose(b, filter, fromFilter);
  SmallVector<int64_t> steps =
                           strides.value_or(SmallVector<int64_t>(spatial, 1)),
                       gaps =
                           dilations.value_or(SmallVector<int64_t>(spatial, 1)),
                       edges = padding.value_or(
                           SmallVector<int64_t>(2 * spatial, 0));
  // A transposed convolution reads zeros between the elements.
  if (spread && llvm::any_of(*spread, [](int64_t s) { return s != 1; })) {
    SmallVector<int64_t> zeros(rank, 0), interior(rank, 0),
        shape(typeOf(x).getShape());
    for (int64_t dim = 0; dim < spatial; ++dim) {
      interior[dim + 1] = (*spread)[dim] - 1;
      shape[dim + 1] += (shape[dim + 1] - 1) * interior[dim + 1];
    }
    x = train::PadOp::create(builder, op->getLoc(), typeOf(x).clone(shape), x,
                             zeros, zeros, interior, APFloat(0.0));
  }
  SmallVector<int64_t> shape;
  ArrayRef<int64_t> result = typeOf(op->getResult(0)).getShape();
  for (const std::string &name : image)
    shape.push_back(result[llvm::find(layouts[2], name) - layouts[2].begin()]);
  SmallVector<int64_t> whole = shape;
  if (spatial == 1) {
    x = insertUnit(b, x, 1);
    filter = insertUnit(b, filter, 0);
    whole.insert(whole.begin() + 1, 1);
    steps.insert(steps.begin(), 1);
    gaps.insert(gaps.begin(), 1);
    edges.insert(edges.begin(), {0, 0});
  }
  Value y = train::Conv2DOp::create(builder, op->getLoc(),
                                    typeOf(x).clone(whole), x, filter, steps,
                                    edges, gaps, groups ? groups.getInt() : 1);
  return set(op, transpose(b, reshape(b, y, shape), toResult));
}

//===----------------------------------------------------------------------===//
// Pooling
//===----------------------------------------------------------------------===//

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
  if (op->getNumOperands() != 2 || !window ||
      (base && !llvm::all_of(*base, isOne)) ||
      (inner && !llvm::all_of(*inner, isOne)))
    return false;
  size_t rank = window->size();
  SmallVector<int64_t> ones(rank, 1), zeros(2 * rank, 0);
  SmallVector<int64_t> step = strides.value_or(ones),
                       pad = padding.value_or(zeros);
  std::optional<double> start = getNumber(op->getOperand(1));
  if (!start || step.size() != rank || pad.size() != 2 * rank ||
      llvm::any_of(pad, isNegative))
    return false;
  StringRef body = getBody(op);
  if (llvm::all_of(step, isOne) && convertRunning(op, body, *window, pad))
    return true;
  PoolWindows windows(*window, step, pad);
  if (windows.dims.size() > 2) {
    advice = "expected windows in at most two dimensions";
    return false;
  }
  int64_t size = windows.size;
  bool isMin = body == "minimum" && std::isinf(*start) && *start > 0;
  bool isMax = body == "maximum" && std::isinf(*start) && *start < 0;
  // This is the number of elements in each window, a possible divisor.
  if (std::optional<double> number = getNumber(op->getOperand(0));
      number && !isMin && !isMax)
    return body == "add" && *start == 0 && *number == 1 &&
           llvm::all_of(windows.edges, [](int64_t e) { return !e; }) &&
           set(op, static_cast<double>(size));
  Value x = get(op->getOperand(0));
  bool isSum = body == "add" && *start == 0;
  // A power of 2 undoes a division exactly. Other numbers must be divisors.
  bool isDivided = llvm::all_of(op->getUses(), [](OpOperand &use) {
    return use.getOwner()->getName().stripDialect() == "divide" &&
           use.getOperandNumber() == 0;
  });
  if (!x || !(isMin || isMax || isSum) ||
      (isSum && !llvm::isPowerOf2_64(size) && !isDivided)) {
    advice = "expected a maximum, a minimum, or a sum that is divided by the "
             "size of the window";
    return false;
  }
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
  return set(op, llvm::isPowerOf2_64(size) ? b.mul(average, size) : Value());
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
  // Negative padding removes elements, after the other padding is added.
  auto type = typeOf(op->getResult(0));
  SmallVector<int64_t> shape, from;
  bool takes = false;
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    int64_t &before = (*low)[dim], &after = (*high)[dim];
    from.push_back(std::max<int64_t>(-before, 0));
    shape.push_back(type.getDimSize(dim) + from.back() +
                    std::max<int64_t>(-after, 0));
    takes |= before < 0 || after < 0;
    before = std::max<int64_t>(before, 0);
    after = std::max<int64_t>(after, 0);
  }
  Value result = train::PadOp::create(builder, op->getLoc(), type.clone(shape),
                                      x, builder.getDenseI64ArrayAttr(*low),
                                      builder.getDenseI64ArrayAttr(*high),
                                      builder.getDenseI64ArrayAttr(*interior),
                                      builder.getF64FloatAttr(*number));
  if (takes)
    result = train::SliceOp::create(builder, op->getLoc(), type, result, from,
                                    type.getShape(),
                                    SmallVector<int64_t>(type.getRank(), 1));
  return set(op, result);
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
    return producer && producer->getName().stripDialect() == name;
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
           getFactor(use.getOwner()->getOperand(1 - use.getOperandNumber()),
                     0.5) == x;
  });
  if (!isGelu || !input)
    return false;
  gelus[result] = train::GeluOp::create(builder, op->getLoc(), input.getType(),
                                        input, GeluApproximation::None);
  return true;
}
