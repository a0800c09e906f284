//===- Layouts.cpp - Operations on tensors in another order ---------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Layouts.h"

#include "amp/Dialect/AMP/IR/AMP.h"
#include "amp/Dialect/Train/IR/Train.h"
#include "amp/Support/TensorTypes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallBitVector.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::train;
using mlir::amp::typeOf;

/// The assumed value of unknown extents, as in the cost model of precision.
static constexpr int64_t kUnknownExtent = 32;

//===----------------------------------------------------------------------===//
// Layouts
//===----------------------------------------------------------------------===//

Layout train::getIdentityLayout(int64_t rank) {
  return llvm::to_vector_of<int64_t, 6>(llvm::seq<int64_t>(0, rank));
}

bool train::isIdentityLayout(ArrayRef<int64_t> layout) {
  return llvm::all_of(llvm::enumerate(layout), [](auto entry) {
    return entry.value() == static_cast<int64_t>(entry.index());
  });
}

Layout train::invertLayout(ArrayRef<int64_t> layout) {
  Layout inverse(layout.size());
  for (auto [index, dim] : llvm::enumerate(layout))
    inverse[dim] = index;
  return inverse;
}

Layout train::composeLayouts(ArrayRef<int64_t> first,
                             ArrayRef<int64_t> second) {
  Layout composed;
  for (int64_t dim : second)
    composed.push_back(first[dim]);
  return composed;
}

SmallVector<int64_t> train::permuteShape(ArrayRef<int64_t> shape,
                                         ArrayRef<int64_t> layout) {
  SmallVector<int64_t> permuted;
  for (int64_t dim : layout)
    permuted.push_back(shape[dim]);
  return permuted;
}

bool train::keepsElementOrder(ArrayRef<int64_t> shape,
                              ArrayRef<int64_t> layout) {
  int64_t last = -1;
  for (int64_t dim : layout) {
    if (shape[dim] == 1)
      continue;
    if (dim < last)
      return false;
    last = dim;
  }
  return true;
}

int64_t train::countTensorBytes(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  Type element = type.getElementType();
  int64_t bits = element.isIntOrFloat() ? element.getIntOrFloatBitWidth() : 64;
  double bytes = llvm::divideCeil(bits, 8);
  for (int64_t extent : type.getShape())
    bytes *= double(ShapedType::isDynamic(extent) ? kUnknownExtent : extent);
  // The sum of many costs must not overflow.
  return static_cast<int64_t>(std::min(bytes, double(int64_t(1) << 44)));
}

Value train::createLayoutChange(OpBuilder &builder, Location loc, Value value,
                                ArrayRef<int64_t> layout) {
  RankedTensorType type = typeOf(value);
  RankedTensorType changed = type.clone(permuteShape(type.getShape(), layout));
  if (keepsElementOrder(type.getShape(), layout))
    return changed == type
               ? value
               : ReshapeOp::create(builder, loc, changed, value).getResult();
  return TransposeOp::create(builder, loc, changed, value, layout).getResult();
}

//===----------------------------------------------------------------------===//
// Operands of lower rank
//===----------------------------------------------------------------------===//

/// The shape of an operand that broadcasts to `rank` dimensions.
static SmallVector<int64_t> extendShape(ArrayRef<int64_t> shape, int64_t rank) {
  SmallVector<int64_t> extended(rank - shape.size(), 1);
  llvm::append_range(extended, shape);
  return extended;
}

static bool hasOneElement(Value value) {
  return llvm::all_of(typeOf(value).getShape(),
                      [](int64_t extent) { return extent == 1; });
}

/// Returns `value`, of lower rank than `layout`, as it broadcasts to tensors in
/// `layout`.
static Value alignOperand(OpBuilder &builder, Location loc, Value value,
                          ArrayRef<int64_t> layout) {
  if (hasOneElement(value))
    return value;
  RankedTensorType type = typeOf(value);
  SmallVector<int64_t> shape = extendShape(type.getShape(), layout.size());
  if (!keepsElementOrder(shape, layout)) {
    value = ReshapeOp::create(builder, loc, type.clone(shape), value);
    value = createLayoutChange(builder, loc, value, layout);
  }
  SmallVector<int64_t> permuted = permuteShape(shape, layout);
  auto rest = ArrayRef<int64_t>(permuted).drop_while(
      [](int64_t extent) { return extent == 1; });
  if (rest == typeOf(value).getShape())
    return value;
  return ReshapeOp::create(builder, loc, type.clone(rest), value);
}

//===----------------------------------------------------------------------===//
// Inference
//===----------------------------------------------------------------------===//

/// Whether each element of the result of `op` depends on the elements of the
/// operands at its place, with broadcasting.
static bool isElementwise(Operation *op) {
  if (isa<AddOp, SubOp, MulOp, DivOp, MaximumOp, MinimumOp, PowOp, CompareOp,
          SelectOp, amp::CastOp, ReluGradOp, TanhGradOp, SigmoidGradOp,
          SiluGradOp, GeluGradOp, ClipGradOp>(op))
    return true;
  return isa<NegOp, AbsOp, SignOp, SinOp, CosOp, ErfOp, SqrtOp, LogOp, Log1pOp,
             TanhOp, SigmoidOp, SiluOp, ReluOp, ExpOp, Expm1Op, RsqrtOp,
             ReciprocalOp, SquareOp, GeluOp, ClipOp>(op);
}

static InferredLayouts refuse(StringRef reason, bool mayFollowAnother = false) {
  return {std::nullopt, reason, mayFollowAnother};
}

/// All float tensors of `op` have one rank and one layout.
static InferredLayouts sameLayout(Operation *op, ArrayRef<int64_t> layout) {
  OperationLayouts all;
  for (Value operand : op->getOperands()) {
    auto type = dyn_cast<RankedTensorType>(operand.getType());
    bool follows = type && type.getRank() == int64_t(layout.size());
    all.operands.push_back(follows ? std::optional<Layout>(Layout(layout))
                                   : std::nullopt);
  }
  all.results.assign(op->getNumResults(), Layout(layout));
  return {all, ""};
}

static InferredLayouts inferElementwise(Operation *op, Value known,
                                        ArrayRef<int64_t> layout) {
  int64_t rank = typeOf(op->getResult(0)).getRank();
  if (typeOf(known).getRank() != rank)
    return refuse("broadcasts a tensor of lower rank", true);
  for (Value operand : op->getOperands()) {
    RankedTensorType type = typeOf(operand);
    if (type.getRank() < rank && !isa<FloatType>(type.getElementType()) &&
        !hasOneElement(operand))
      return refuse("broadcasts a tensor that is not of floats");
  }
  return sameLayout(op, layout);
}

/// The layout of what remains of a tensor in `layout` without `dims`.
static Layout dropDims(ArrayRef<int64_t> layout, ArrayRef<int64_t> dims) {
  Layout rest;
  for (int64_t dim : layout)
    if (!llvm::is_contained(dims, dim))
      rest.push_back(dim - llvm::count_if(dims, [&](int64_t other) {
                       return other < dim;
                     }));
  return rest;
}

template <typename ReduceOp>
static InferredLayouts inferReduction(ReduceOp op, Value known,
                                      ArrayRef<int64_t> layout) {
  if (op.getKeepDims())
    return sameLayout(op, layout);
  if (known != op.getInput())
    return refuse("has no place for the dimensions that it reduces");
  OperationLayouts all;
  all.operands.push_back(Layout(layout));
  all.results.push_back(dropDims(layout, op.getDims()));
  return {all, ""};
}

static InferredLayouts inferBroadcast(BroadcastOp op, Value known,
                                      ArrayRef<int64_t> layout) {
  if (op.getDims().empty())
    return sameLayout(op, layout);
  if (known == op.getInput())
    return refuse("has no place for the dimensions that it adds");
  OperationLayouts all;
  all.operands.push_back(dropDims(layout, op.getDims()));
  if (op.getLike())
    all.operands.push_back(Layout(layout));
  all.results.push_back(Layout(layout));
  return {all, ""};
}

/// Divides the dimensions of two shapes of a reshape into runs that hold the
/// same elements. Returns the ends of the runs, or nothing if an unknown extent
/// is in the way.
static std::optional<SmallVector<std::pair<int64_t, int64_t>>>
matchRuns(ArrayRef<int64_t> from, ArrayRef<int64_t> to) {
  SmallVector<std::pair<int64_t, int64_t>> ends;
  size_t i = 0, j = 0;
  while (i < from.size() || j < to.size()) {
    if (i < from.size() && j < to.size() && from[i] == to[j]) {
      ++i, ++j;
    } else {
      int64_t left = 1, right = 1;
      bool isUnknown = false;
      auto take = [&](ArrayRef<int64_t> shape, size_t &at, int64_t &product) {
        isUnknown |= at == shape.size() || ShapedType::isDynamic(shape[at]);
        if (!isUnknown)
          product *= shape[at++];
      };
      do {
        if (left < right || (left == right && i < from.size() &&
                             (j == to.size() || from[i] == 1)))
          take(from, i, left);
        else
          take(to, j, right);
      } while (!isUnknown && left != right);
      if (isUnknown)
        return std::nullopt;
    }
    ends.push_back({int64_t(i), int64_t(j)});
  }
  return ends;
}

/// The layout of a tensor of `to` that has the elements of a tensor of `from`
/// in `layout`. Runs of dimensions that a reshape joins or divides must move as
/// one.
static std::optional<Layout> reshapeLayout(ArrayRef<int64_t> from,
                                           ArrayRef<int64_t> to,
                                           ArrayRef<int64_t> layout) {
  auto ends = matchRuns(from, to);
  if (!ends)
    return std::nullopt;
  Layout result;
  llvm::SmallBitVector isPlaced(ends->size());
  auto place = [&](size_t run) {
    int64_t begin = run == 0 ? 0 : (*ends)[run - 1].second;
    for (int64_t dim = begin; dim < (*ends)[run].second; ++dim)
      result.push_back(dim);
    isPlaced.set(run);
  };
  for (size_t index = 0; index < layout.size();) {
    size_t run =
        llvm::find_if(*ends,
                      [&](auto end) { return layout[index] < end.first; }) -
        ends->begin();
    int64_t begin = run == 0 ? 0 : (*ends)[run - 1].first;
    for (int64_t dim = begin; dim < (*ends)[run].first; ++dim, ++index)
      if (index == layout.size() || layout[index] != dim)
        return std::nullopt;
    place(run);
  }
  // Runs of no dimension of `from` hold extents of 1.
  for (size_t run = 0; run < ends->size(); ++run)
    if (!isPlaced.test(run))
      place(run);
  return result;
}

static InferredLayouts inferReshape(ReshapeOp op, Value known,
                                    ArrayRef<int64_t> layout) {
  bool isInput = known == op.getInput();
  Value other = isInput ? op.getResult() : op.getInput();
  std::optional<Layout> follows =
      reshapeLayout(typeOf(known).getShape(), typeOf(other).getShape(), layout);
  if (!follows)
    return refuse("joins or divides dimensions that are not adjacent in the "
                  "other order");
  OperationLayouts all;
  all.operands.push_back(isInput ? Layout(layout) : *follows);
  all.results.push_back(isInput ? *follows : Layout(layout));
  return {all, ""};
}

InferredLayouts train::inferLayouts(Operation *op, Value known,
                                    ArrayRef<int64_t> layout) {
  if (isElementwise(op))
    return inferElementwise(op, known, layout);
  if (isa<ReduceSumOp, ReduceMeanOp, ReduceMaxOp, BroadcastOp, ReshapeOp>(op))
    return llvm::TypeSwitch<Operation *, InferredLayouts>(op)
        .Case<ReduceSumOp, ReduceMeanOp, ReduceMaxOp>(
            [&](auto reduce) { return inferReduction(reduce, known, layout); })
        .Case<BroadcastOp>([&](BroadcastOp broadcast) {
          return inferBroadcast(broadcast, known, layout);
        })
        .Case<ReshapeOp>([&](ReshapeOp reshape) {
          return inferReshape(reshape, known, layout);
        });
  if (isa<SoftmaxOp, LogSoftmaxOp, SoftmaxGradOp, LogSoftmaxGradOp, ConcatOp,
          PadOp, SliceOp>(op))
    return sameLayout(op, layout);
  if (auto gather = dyn_cast<GatherOp>(op);
      gather && typeOf(gather.getIndices()).getRank() == 1)
    return sameLayout(op, layout);
  if (auto constant = dyn_cast<ConstantOp>(op);
      constant && isa<SplatElementsAttr>(constant.getValue()))
    return sameLayout(op, layout);
  if (isa<DropoutOp>(op)) {
    // Random numbers go by the order of the elements.
    if (keepsElementOrder(typeOf(known).getShape(), layout))
      return sameLayout(op, layout);
    return refuse("draws its random numbers in the order of the elements");
  }
  return refuse("computes in one order only");
}

//===----------------------------------------------------------------------===//
// Creation
//===----------------------------------------------------------------------===//

/// Where dimension `dim` is in `layout`.
static int64_t placeOf(int64_t dim, ArrayRef<int64_t> layout) {
  return llvm::find(layout, dim) - layout.begin();
}

static SmallVector<int64_t> placesOf(ArrayRef<int64_t> dims,
                                     ArrayRef<int64_t> layout) {
  SmallVector<int64_t> places;
  for (int64_t dim : dims)
    places.push_back(placeOf(dim, layout));
  llvm::sort(places);
  return places;
}

/// Sets the attributes of `op` that name dimensions.
static void moveDimensions(Operation *op, const OperationLayouts &layouts) {
  ArrayRef<int64_t> result = layouts.results.front();
  llvm::TypeSwitch<Operation *>(op)
      .Case<SoftmaxOp, LogSoftmaxOp, SoftmaxGradOp, LogSoftmaxGradOp, ConcatOp,
            GatherOp>([&](auto concrete) {
        concrete.setAxis(placeOf(concrete.getAxis(), result));
      })
      .Case<ReduceSumOp, ReduceMeanOp, ReduceMaxOp>([&](auto reduce) {
        reduce.setDims(placesOf(reduce.getDims(), *layouts.operands[0]));
      })
      .Case<BroadcastOp>([&](BroadcastOp broadcast) {
        broadcast.setDims(placesOf(broadcast.getDims(), result));
      })
      .Case<PadOp>([&](PadOp pad) {
        pad.setLow(permuteShape(pad.getLow(), result));
        pad.setHigh(permuteShape(pad.getHigh(), result));
        pad.setInterior(permuteShape(pad.getInterior(), result));
      })
      .Case<SliceOp>([&](SliceOp slice) {
        slice.setOffsets(permuteShape(slice.getOffsets(), result));
        slice.setSizes(permuteShape(slice.getSizes(), result));
        slice.setStrides(permuteShape(slice.getStrides(), result));
      });
}

Operation *train::cloneInLayout(OpBuilder &builder, Operation *op,
                                const OperationLayouts &layouts,
                                ArrayRef<Value> operands) {
  SmallVector<Value> aligned(operands);
  if (isElementwise(op))
    for (auto [operand, layout] : llvm::zip_equal(aligned, layouts.operands))
      if (!layout)
        operand = alignOperand(builder, op->getLoc(), operand,
                               layouts.results.front());
  Operation *clone = builder.clone(*op);
  clone->setOperands(aligned);
  for (auto [result, layout] :
       llvm::zip_equal(clone->getResults(), layouts.results)) {
    RankedTensorType type = typeOf(result);
    result.setType(type.clone(permuteShape(type.getShape(), layout)));
  }
  if (auto constant = dyn_cast<ConstantOp>(clone))
    constant.setValueAttr(cast<SplatElementsAttr>(constant.getValue())
                              .resizeSplat(typeOf(constant.getResult())));
  moveDimensions(clone, layouts);
  return clone;
}

int64_t train::countAlignedBytes(Operation *op,
                                 const OperationLayouts &layouts) {
  if (!isElementwise(op))
    return 0;
  int64_t bytes = 0;
  ArrayRef<int64_t> layout = layouts.results.front();
  for (auto [operand, own] :
       llvm::zip_equal(op->getOperands(), layouts.operands))
    if (!own &&
        !keepsElementOrder(
            extendShape(typeOf(operand).getShape(), layout.size()), layout))
      bytes += countTensorBytes(operand);
  return bytes;
}
