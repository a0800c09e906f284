//===- Convolution.cpp - Convolutions of any layout ---------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StableHLOImporter.h"
#include "amp/Support/StableHLOText.h"

#include <algorithm>
#include <tuple>

using namespace mlir;
using namespace mlir::amp;
using namespace mlir::train;

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

/// Makes the places of a window along the first dimension of volumes `x`
/// channels of images, and of the `filter` too. A volume becomes the
/// images of its `extent` windows.
static std::pair<Value, Value> foldDepth(TrainBuilder &b, Value x, Value filter,
                                         int64_t extent, int64_t step,
                                         int64_t gap, int64_t low, int64_t high,
                                         int64_t groups) {
  OpBuilder &builder = b.getBuilder();
  Location loc = b.getLoc();
  auto type = typeOf(x);
  ArrayRef<int64_t> window = typeOf(filter).getShape();
  int64_t depth = window[0], channels = type.getDimSize(4);
  SmallVector<int64_t> zeros(5, 0), before = zeros, after = zeros,
                                    padded(type.getShape());
  before[1] = low;
  after[1] = high;
  padded[1] += low + high;
  x = PadOp::create(builder, loc, type.clone(padded), x, before, after, zeros,
                    APFloat(0.0));
  SmallVector<int64_t> size = padded, steps = {1, step, 1, 1, 1};
  size[1] = extent;
  SmallVector<int64_t> images = {size[0] * extent, size[2], size[3],
                                 groups,           1,       channels / groups};
  SmallVector<Value> parts;
  for (int64_t place = 0; place < depth; ++place) {
    Value part = SliceOp::create(builder, loc, type.clone(size), x,
                                 {0, place * gap, 0, 0, 0}, size, steps);
    parts.push_back(b.reshape(part, images));
  }
  images[4] = depth;
  x = ConcatOp::create(builder, loc, type.clone(images), parts, 4);
  x = b.reshape(x, {images[0], images[1], images[2], channels * depth});
  filter = b.reshape(b.transpose(filter, {1, 2, 0, 3, 4}),
                     {window[1], window[2], depth * window[3], window[4]});
  return {x, filter};
}

/// Converts to channels-last images. A line is an image of one row.
bool StableHLOImporter::convertConvolution(Operation *op) {
  TrainBuilder b = at(op);
  Value x = get(op->getOperand(0)), filter = get(op->getOperand(1));
  auto layouts = getLayouts(getText(op, "dimension_numbers"));
  if (!x || !filter || layouts.size() != 3)
    return false;
  int64_t spatial = typeOf(x).getRank() - 2;
  if (spatial < 1 || spatial > 3) {
    advice = "expected one to three spatial dimensions";
    return false;
  }
  auto strides = getNumbers(op, "window_strides");
  auto dilations = getNumbers(op, "rhs_dilation");
  auto spread = getNumbers(op, "lhs_dilation");
  auto padding = getNumbers(op, "padding");
  auto groups = op->getAttrOfType<IntegerAttr>("feature_group_count");
  auto batches = op->getAttrOfType<IntegerAttr>("batch_group_count");
  if ((batches && batches.getInt() != 1) ||
      StringRef(getText(op, "window_reversal")).contains("true")) {
    advice = "expected no reversed window or batch groups";
    return false;
  }
  SmallVector<std::string> names;
  for (int64_t i = 0; i < spatial; ++i)
    names.push_back(std::to_string(i));
  SmallVector<std::string> image = {"b"}, window = names;
  llvm::append_range(image, names);
  image.push_back("f");
  window.push_back("i");
  window.push_back("o");
  auto fromX = findPositions(layouts[0], image),
       fromFilter = findPositions(layouts[1], window),
       toResult = findPositions(image, layouts[2]);
  size_t rank = spatial + 2;
  auto hasSize = [](const auto &numbers, size_t size) {
    return !numbers || numbers->size() == size;
  };
  if (llvm::any_of(layouts, [&](auto &list) { return list.size() != rank; }) ||
      !hasSize(strides, spatial) || !hasSize(dilations, spatial) ||
      !hasSize(padding, 2 * spatial) || (groups && groups.getInt() < 1))
    return false;
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
  // A transposed convolution reads zeros between the elements. Negative padding
  // removes elements.
  SmallVector<int64_t> low(rank, 0), high(rank, 0), interior(rank, 0);
  bool changes = false;
  for (int64_t dim = 0; dim < spatial; ++dim) {
    interior[dim + 1] = spread ? (*spread)[dim] - 1 : 0;
    low[dim + 1] = std::min<int64_t>(edges[2 * dim], 0);
    high[dim + 1] = std::min<int64_t>(edges[2 * dim + 1], 0);
    edges[2 * dim] -= low[dim + 1];
    edges[2 * dim + 1] -= high[dim + 1];
    changes |= interior[dim + 1] || low[dim + 1] || high[dim + 1];
  }
  if (changes)
    x = padOrTake(op->getLoc(), x, low, high, interior, 0);
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
  int64_t numGroups = groups ? groups.getInt() : 1;
  if (spatial == 3) {
    std::tie(x, filter) = foldDepth(b, x, filter, shape[1], steps[0], gaps[0],
                                    edges[0], edges[1], numGroups);
    whole = {shape[0] * shape[1], shape[2], shape[3], shape[4]};
    steps.erase(steps.begin());
    gaps.erase(gaps.begin());
    edges.erase(edges.begin(), edges.begin() + 2);
  }
  Value y =
      train::Conv2DOp::create(builder, op->getLoc(), typeOf(x).clone(whole), x,
                              filter, steps, edges, gaps, numGroups);
  return set(op, transpose(b, reshape(b, y, shape), toResult));
}
