//===- Attention.cpp - Attention by cuDNN ---------------------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An attention first takes its operands as they are. Its heads are then read
// where they are in the tensors that slices, transposes and reshapes take them
// from. Its results have the order [batch, positions, heads, size] where the
// next product reads them so.
//
//===----------------------------------------------------------------------===//

#include "StridedViews.h"
#include "TrainToCUDA.h"

#include "amp/Dialect/AMP/IR/AMPCollectiveOps.h"
#include "amp/Dialect/Train/IR/Train.h"
#include "amp/Dialect/Train/IR/TrainBuilder.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"

#include <cmath>

using namespace mlir;
using namespace mlir::cuda;
using mlir::amp::typeOf;
using train::TrainBuilder;

/// Reads the heads in `value`, or where they are in the tensor that it is a
/// part of.
static std::pair<Value, HeadsAttr> readHeads(Value value) {
  MLIRContext *context = value.getContext();
  const int64_t unit =
      AMP_CUDNN_ALIGNMENT * 8 / typeOf(value).getElementTypeBitWidth();
  auto isAligned = [&](int64_t number) { return number % unit == 0; };
  StridedView view = trace(value);
  if (view.strides.back() == 1 && isAligned(view.offset) &&
      llvm::all_of(ArrayRef<int64_t>(view.strides).drop_back(), isAligned))
    return {view.source, getHeads(context, view.offset, view.strides)};
  return {value,
          getHeads(context, 0, getContiguousStrides(typeOf(value).getShape()))};
}

//===----------------------------------------------------------------------===//
// Support
//===----------------------------------------------------------------------===//

/// Why cuDNN does not compute the attention, or an empty text.
template <typename OpTy>
static std::string findObstacle(OpTy op, bool libraryDropout) {
  if (op.getDropout() > 0 && !libraryDropout)
    return "its dropout has the random numbers of the CPU, expected "
           "'library-dropout' to take those of cuDNN";
  auto query = typeOf(op.getQuery()), value = typeOf(op.getValue());
  Type element = query.getElementType();
  if (!element.isF16() && !element.isBF16())
    return "its operands are not of 16 bits";
  if (query.getRank() < 2 || query.getRank() > 4)
    return "its operands do not have two to four dimensions";
  for (int64_t size : {query.getShape().back(), value.getShape().back()})
    if (size % 8 != 0 || size > 128)
      return "its heads have " + std::to_string(size) +
             " elements, expected a multiple of 8 of at most 128";
  if (query.getNumElements() == 0 || value.getNumElements() == 0)
    return "it is empty";
  for (Type type : op->getResultTypes())
    if (cast<ShapedType>(type).getElementType() != element &&
        cast<ShapedType>(type).getRank() == query.getRank())
      return "its results are wider than its operands";
  if (auto grad =
          dyn_cast<train::ScaledDotProductAttentionGradOp>(op.getOperation());
      grad && typeOf(grad.getOutput()).getElementType() != element)
    return "its output is wider than its operands";
  return "";
}

//===----------------------------------------------------------------------===//
// Conversion
//===----------------------------------------------------------------------===//

namespace {
/// The part that an attention and its gradient share.
struct AttentionParts {
  AttentionAttr sizes;
  FloatAttr scale;
  IntegerAttr leftBound, rightBound;
  /// The bias, or null.
  Value bias;
  /// The cumulative lengths of documents that are samples of the plan, or null,
  /// and the number of documents of a sample.
  Value cumulative;
  IntegerAttr documents;
  /// Which queries see a key, as a condition that broadcasts to the output.
  /// Null if every query does.
  Value seesKeys;
  /// The seeds of the dropout, or null, and the row of this attention.
  Value seeds;
  int64_t seedRow = 0;
};

/// Computes the seeds of the attentions of a step. Those with one state of the
/// random generator share a launch.
class DropoutSeeds {
public:
  template <typename OpTy>
  void add(OpTy op) {
    if (op.getDropout() > 0)
      groups[getGroup(op)].insert(int32_t(op.getDropoutKey()));
  }
  /// The seeds, and the row of `op`.
  template <typename OpTy>
  std::pair<Value, int64_t> get(OpTy op, OpBuilder &builder) {
    if (op.getDropout() == 0)
      return {};
    const Group group = getGroup(op);
    ArrayRef<int32_t> keys = groups[group].getArrayRef();
    Value &seeds = values[group];
    if (!seeds) {
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointAfterValue(group.first);
      auto type = RankedTensorType::get({int64_t(keys.size()), 2},
                                        builder.getI64Type());
      seeds = DropoutSeedsOp::create(builder, op.getLoc(), type, StringAttr(),
                                     group.first, ValueRange(), ValueRange(),
                                     Value(), keys, group.second == 1)
                  .getResult(0);
    }
    return {seeds,
            llvm::find(keys, int32_t(op.getDropoutKey())) - keys.begin()};
  }

private:
  /// The state of the generator, and whether the ranks divide the scores.
  using Group = std::pair<Value, unsigned>;
  template <typename OpTy>
  static Group getGroup(OpTy op) {
    return {op.getRng(), op->hasAttr(mlir::amp::kDividedAlongAttr) ? 1u : 0u};
  }

  llvm::DenseMap<Group, llvm::SetVector<int32_t>> groups;
  llvm::DenseMap<Group, Value> values;
};
} // namespace

/// Reads the mask of documents as the samples of a plan, if each sample of the
/// attention has cumulative lengths of its own.
static bool readDocuments(Value mask, bool hasDropout, AttentionParts &parts) {
  auto documents = mask.getDefiningOp<train::DocumentMaskOp>();
  if (!documents || hasDropout ||
      parts.sizes.getQueries() != int64_t(documents.getPositions()) ||
      parts.sizes.getKeys() != int64_t(documents.getPositions()))
    return false;
  Value cumulative = documents.getCumulativeLengths();
  auto type = typeOf(cumulative);
  const int64_t count = type.getShape().back();
  if (type.getNumElements() != count * parts.sizes.getBatch() ||
      type.getRank() > 2)
    return false;
  parts.cumulative = cumulative;
  parts.documents = Builder(mask.getContext()).getI64IntegerAttr(count);
  return true;
}

/// Whether each row of a mask is known to have an element that is true.
static bool hasNoEmptyRow(Value mask) {
  // A position belongs to its own document.
  if (mask.getDefiningOp<train::DocumentMaskOp>())
    return true;
  DenseElementsAttr value;
  if (!matchPattern(mask, m_Constant(&value)))
    return false;
  if (value.isSplat())
    return value.getSplatValue<bool>();
  const int64_t columns = value.getType().getShape().back();
  int64_t column = 0;
  bool any = false;
  for (bool element : value.getValues<bool>()) {
    any |= element;
    if (++column < columns)
      continue;
    if (!any)
      return false;
    column = 0;
    any = false;
  }
  return true;
}

/// Reads a constant mask of shape [1, .., queries, keys] as a band of keys
/// around each query, if it is one.
static bool readBand(Value mask, AttentionParts &parts) {
  DenseElementsAttr value;
  auto shape = typeOf(mask).getShape();
  if (!matchPattern(mask, m_Constant(&value)) || shape.size() < 2 ||
      shape.back() != parts.sizes.getKeys() ||
      shape[shape.size() - 2] != parts.sizes.getQueries() ||
      value.getNumElements() != shape.back() * shape[shape.size() - 2])
    return false;
  const int64_t queries = parts.sizes.getQueries(),
                keys = parts.sizes.getKeys();
  SmallVector<bool> seen(value.getValues<bool>());
  // The widest band that a row shows. A row that ends at a border of the mask
  // shows only a part of it.
  int64_t left = 0, right = -keys;
  for (int64_t i = 0; i < queries; ++i) {
    int64_t first = 0, last = keys - 1;
    while (first < keys && !seen[i * keys + first])
      ++first;
    while (last >= 0 && !seen[i * keys + last])
      --last;
    if (first > last)
      return false;
    left = std::max(left, i - first + 1);
    right = std::max(right, last - i);
  }
  const bool hasLeft = left < queries, hasRight = right < keys - 1;
  if (left <= 0 || right < 0)
    return false;
  for (int64_t i = 0; i < queries; ++i)
    for (int64_t j = 0; j < keys; ++j)
      if (seen[i * keys + j] !=
          ((!hasLeft || i - left < j) && (!hasRight || j <= i + right)))
        return false;
  // cuDNN has no window for more queries than keys.
  if (hasLeft && queries > keys)
    return false;
  Builder builder(mask.getContext());
  if (hasLeft)
    parts.leftBound = builder.getI64IntegerAttr(left);
  if (hasRight && (!parts.rightBound || right < parts.rightBound.getInt()))
    parts.rightBound = builder.getI64IntegerAttr(right);
  return true;
}

/// Turns a mask into a bias of the type of the queries: the lowest number of
/// the type where the mask is false.
static void addBias(AttentionParts &parts, Value mask, RankedTensorType query,
                    TrainBuilder &t) {
  auto given = typeOf(mask).getShape();
  // The mask broadcasts from the right. Samples and heads stay 1 if they are.
  SmallVector<int64_t> shape(4, 1);
  llvm::copy(given, shape.end() - given.size());
  shape[2] = parts.sizes.getQueries();
  shape[3] = parts.sizes.getKeys();
  Type low = query.getElementType();
  auto lowest = -APFloat::getLargest(cast<FloatType>(low).getFloatSemantics());
  auto type = RankedTensorType::get(shape, low);
  parts.bias =
      t.select(mask, t.zeros(type), t.scalar(lowest.convertToDouble(), type));
  if (hasNoEmptyRow(mask))
    return;
  // The plan gives a query without a key the mean of all values.
  auto flags = RankedTensorType::get(given, low);
  Value one = t.select(mask, t.scalar(1.0, flags), t.zeros(flags));
  Value most = t.max(one, {flags.getRank() - 1}, /*keepDims=*/true);
  parts.seesKeys =
      t.compare(train::ComparePredicate::NE, most, t.scalar(0.0, most));
}

/// Reports that a plan reads `bias` for each score, and computes the scores
/// that are masked too.
static void reportBias(Operation *op, RankedTensorType bias) {
  auto function = op->getParentOfType<func::FuncOp>();
  remark::passed(op->getLoc(), remark::RemarkOpts::name("AttentionBias")
                                   .category("amp")
                                   .function(function.getName()))
      << remark::metric("Op", op->getName().getStringRef())
      << remark::metric("Bytes", bias.getNumElements() *
                                     bias.getElementTypeBitWidth() / 8);
}

template <typename OpTy>
static AttentionParts getParts(OpTy op, TrainBuilder &t, DropoutSeeds &seeds,
                               const AttentionOptions &options) {
  MLIRContext *context = op->getContext();
  auto query = typeOf(op.getQuery()), key = typeOf(op.getKey()),
       value = typeOf(op.getValue());
  const int64_t rank = query.getRank();
  auto extent = [&](RankedTensorType type, int64_t fromEnd) {
    return fromEnd <= rank ? type.getDimSize(rank - fromEnd) : 1;
  };
  AttentionParts parts;
  parts.sizes = AttentionAttr::get(
      context, extent(query, 4), extent(query, 3), extent(key, 3),
      extent(query, 2), extent(key, 2), extent(query, 1), extent(value, 1));
  Builder builder(context);
  parts.scale = builder.getF64FloatAttr(
      op.getScale() ? op.getScale()->convertToDouble()
                    : 1.0 / std::sqrt(double(extent(query, 1))));
  if (op.getCausal())
    parts.rightBound = builder.getI64IntegerAttr(0);
  const bool takesDocuments =
      op.getMask() && options.documentOffsets &&
      readDocuments(op.getMask(), op.getDropout() > 0, parts);
  if (Value mask = op.getMask();
      mask && !takesDocuments && !readBand(mask, parts)) {
    addBias(parts, mask, query, t);
    reportBias(op, typeOf(parts.bias));
  }
  std::tie(parts.seeds, parts.seedRow) = seeds.get(op, t.getBuilder());
  return parts;
}

namespace {
/// How a launch writes a value: as it is, or with its positions before its
/// heads if its readers swap the two.
class ResultLayout {
public:
  /// With `isPacked`, the positions are always before the heads.
  explicit ResultLayout(Value value, bool isPacked)
      : value(value), type(typeOf(value)), swap(getSwap(type.getRank())) {
    isSwapped =
        isPacked || llvm::any_of(value.getUsers(),
                                 [&](Operation *user) { return swaps(user); });
    strides = getContiguousStrides(type.getShape());
    if (!isSwapped)
      return;
    SmallVector<int64_t> shape;
    for (int64_t dim : swap)
      shape.push_back(type.getDimSize(dim));
    type = type.clone(shape);
    SmallVector<int64_t> own = getContiguousStrides(shape);
    for (auto [stride, dim] : llvm::zip_equal(strides, swap))
      stride = own[dim];
  }

  RankedTensorType getType() const { return type; }
  HeadsAttr getHeadsAttr() const {
    return getHeads(value.getContext(), 0, strides);
  }
  /// The result of the launch in the order of the value.
  Value restore(Value result, TrainBuilder &t) const {
    return isSwapped ? t.transpose(result, swap) : result;
  }
  /// Replaces the value by the result of the launch.
  void replace(Value result, TrainBuilder &t) {
    for (Operation *user : llvm::make_early_inc_range(value.getUsers()))
      if (swaps(user)) {
        user->getResult(0).replaceAllUsesWith(result);
        user->erase();
      }
    if (!value.use_empty())
      value.replaceAllUsesWith(restore(result, t));
  }

private:
  bool swaps(Operation *user) const {
    auto transpose = dyn_cast<train::TransposeOp>(user);
    return transpose && swap.size() > 2 &&
           transpose.getPermutation() == ArrayRef<int64_t>(swap);
  }

  Value value;
  RankedTensorType type;
  SmallVector<int64_t> swap, strides;
  bool isSwapped;
};
} // namespace

/// Adds the attributes of `op`, and those that an attention and its gradient
/// share.
template <typename OpTy>
static void setParts(OpTy launch, Operation *op, double dropout,
                     const AttentionParts &parts) {
  NamedAttrList discardable(op->getDiscardableAttrDictionary());
  // The seeds differ by rank.
  discardable.erase(mlir::amp::kDividedAlongAttr);
  launch->setDiscardableAttrs(discardable.getDictionary(launch->getContext()));
  if (parts.seeds) {
    launch.setDropoutAttr(
        Builder(launch->getContext()).getF64FloatAttr(dropout));
    launch.setSeedRow(parts.seedRow);
  }
  if (parts.leftBound)
    launch.setLeftBoundAttr(parts.leftBound);
  if (parts.rightBound)
    launch.setRightBoundAttr(parts.rightBound);
  launch.setBias(bool(parts.bias));
  if (parts.documents)
    launch.setDocumentsAttr(parts.documents);
}

/// As above, for a plan that takes documents as samples if `parts` has some.
/// Heads that are not packed are moved.
static std::pair<Value, HeadsAttr>
readHeads(Value value, const AttentionParts &parts, TrainBuilder &t) {
  auto result = readHeads(value);
  if (!parts.cumulative)
    return result;
  auto type = typeOf(value);
  ArrayRef<int64_t> shape = type.getShape();
  const int64_t rank = type.getRank();
  if (arePacked(result.second, rank > 3 ? shape[0] : 1,
                rank > 2 ? shape[rank - 3] : 1, shape[rank - 2], shape.back()))
    return result;
  const SmallVector<int64_t> swap = getSwap(rank);
  Value moved = t.transpose(value, swap);
  SmallVector<int64_t> own = getContiguousStrides(typeOf(moved).getShape()),
                       strides;
  for (int64_t dim : swap)
    strides.push_back(own[dim]);
  return {moved, getHeads(value.getContext(), 0, strides)};
}

/// Makes the rows of `value` zero for queries that see no key.
static Value maskRows(Value value, const AttentionParts &parts,
                      TrainBuilder &t) {
  return parts.seesKeys
             ? t.select(parts.seesKeys, value, t.zeros(typeOf(value)))
             : value;
}

/// Adds the inputs that an attention and its gradient share.
static void addExtras(const AttentionParts &parts,
                      SmallVectorImpl<Value> &inputs) {
  for (Value extra :
       {parts.bias, parts.cumulative, parts.cumulative, parts.seeds})
    if (extra)
      inputs.push_back(extra);
}

/// The sums of an attention in the shape and the order that the launch gives
/// them.
static Value shapeSums(Value sums, const AttentionParts &parts,
                       TrainBuilder &t) {
  AttentionAttr sizes = parts.sizes;
  SmallVector<int64_t> shape = {sizes.getBatch(), sizes.getHeads(),
                                sizes.getQueries()};
  if (auto reshape = sums.getDefiningOp<train::ReshapeOp>();
      reshape &&
      typeOf(reshape.getInput()).getShape() == ArrayRef<int64_t>(shape))
    sums = reshape.getInput();
  if (typeOf(sums).getShape() != ArrayRef<int64_t>(shape))
    sums = t.reshape(sums, shape);
  if (!parts.cumulative)
    return sums;
  const SmallVector<int64_t> swap = {0, 2, 1};
  auto transpose = sums.getDefiningOp<train::TransposeOp>();
  return transpose && transpose.getPermutation() == ArrayRef<int64_t>(swap)
             ? transpose.getInput()
             : t.transpose(sums, swap);
}

static void convert(train::ScaledDotProductAttentionOp op, DropoutSeeds &seeds,
                    const AttentionOptions &options) {
  OpBuilder builder(op);
  TrainBuilder t(builder, getNamedLocation(op));
  AttentionParts parts = getParts(op, t, seeds, options);
  AttentionAttr s = parts.sizes;
  auto [query, queryHeads] = readHeads(op.getQuery(), parts, t);
  auto [key, keyHeads] = readHeads(op.getKey(), parts, t);
  auto [value, valueHeads] = readHeads(op.getValue(), parts, t);
  SmallVector<Value> inputs = {query, key, value};
  addExtras(parts, inputs);
  ResultLayout layout(op.getResult(), bool(parts.cumulative));
  SmallVector<int64_t> sumsShape = {s.getBatch(), s.getHeads(), s.getQueries()};
  if (parts.cumulative)
    std::swap(sumsShape[1], sumsShape[2]);
  auto sums = RankedTensorType::get(sumsShape, builder.getF32Type());
  auto launch = SDPAOp::create(
      builder, t.getLoc(), TypeRange{layout.getType(), sums}, StringAttr(),
      inputs, ValueRange(), ValueRange(), Value(), s, parts.scale,
      IntegerAttr(), IntegerAttr(), UnitAttr(), UnitAttr(), IntegerAttr(),
      DenseI64ArrayAttr(), FloatAttr(), IntegerAttr(), queryHeads, keyHeads,
      valueHeads, layout.getHeadsAttr());
  setParts(launch, op, op.getDropout(), parts);
  Value result = launch.getResult(0);
  if (parts.seesKeys)
    op.getResult().replaceAllUsesWith(
        maskRows(layout.restore(result, t), parts, t));
  else
    layout.replace(result, t);
  Value logsumexp = launch.getResult(1);
  if (parts.cumulative)
    logsumexp = t.transpose(logsumexp, {0, 2, 1});
  if (logsumexp.getType() != op.getLogsumexp().getType())
    logsumexp = t.reshape(logsumexp, typeOf(op.getLogsumexp()).getShape());
  op.getLogsumexp().replaceAllUsesWith(logsumexp);
  op.erase();
}

static void convert(train::ScaledDotProductAttentionGradOp op,
                    DropoutSeeds &seeds, const AttentionOptions &options) {
  OpBuilder builder(op);
  TrainBuilder t(builder, getNamedLocation(op));
  AttentionParts parts = getParts(op, t, seeds, options);
  AttentionAttr s = parts.sizes;
  auto [grad, gradHeads] =
      readHeads(maskRows(op.getGrad(), parts, t), parts, t);
  auto [query, queryHeads] = readHeads(op.getQuery(), parts, t);
  auto [key, keyHeads] = readHeads(op.getKey(), parts, t);
  auto [value, valueHeads] = readHeads(op.getValue(), parts, t);
  auto [output, outputHeads] = readHeads(op.getOutput(), parts, t);
  SmallVector<Value> inputs = {
      grad, query, key, value, output, shapeSums(op.getLogsumexp(), parts, t)};
  addExtras(parts, inputs);
  SmallVector<Type> types;
  SmallVector<ResultLayout> layouts;
  HeadsAttr heads[3];
  for (unsigned i = 0; i < 3; ++i) {
    layouts.emplace_back(op->getResult(i), bool(parts.cumulative));
    types.push_back(layouts.back().getType());
    heads[i] = layouts.back().getHeadsAttr();
  }
  auto launch = SDPAGradOp::create(
      builder, t.getLoc(), types, StringAttr(), inputs, ValueRange(),
      ValueRange(), Value(), s, parts.scale, IntegerAttr(), IntegerAttr(),
      UnitAttr(), UnitAttr(), IntegerAttr(), DenseI64ArrayAttr(), FloatAttr(),
      IntegerAttr(), queryHeads, keyHeads, valueHeads, outputHeads, gradHeads,
      heads[0], heads[1], heads[2], UnitAttr(), IntegerAttr());
  setParts(launch, op, op.getDropout(), parts);
  launch.setDeterministic(options.deterministic);
  for (unsigned i = 0; i < 3; ++i)
    layouts[i].replace(launch.getResult(i), t);
  op.erase();
  packGradients(launch);
}

/// Divides the samples of `launch` into parts of equal size, as few as keep its
/// scratch memory within `scratchBytes`.
static void divide(SDPAGradOp launch, int64_t scratchBytes) {
  // The parts of a plan with dropout would drop other elements than the forward
  // plan.
  if (launch.getDropout())
    return;
  const int64_t samples = launch.getNumSamples();
  for (int64_t parts = 1; parts <= samples; ++parts) {
    const bool isAligned = !launch.getDocuments() || samples / parts % 4 == 0;
    if (samples % parts != 0 || (parts > 1 && !isAligned))
      continue;
    launch.setParts(parts);
    if (scratchBytes == 0 || launch.getScratchBytes() <= scratchBytes)
      return;
  }
}

void mlir::cuda::convertAttention(func::FuncOp step,
                                  const AttentionOptions &options) {
  // The plans of both directions drop the same elements, so either both
  // are plans or neither is.
  DropoutSeeds seeds;
  llvm::DenseSet<std::pair<Value, int32_t>> decomposed;
  auto getDropoutOf = [](auto op) {
    return std::pair(op.getRng(), int32_t(op.getDropoutKey()));
  };
  auto visit = [&](auto op) {
    if (findObstacle(op, options.libraryDropout).empty())
      seeds.add(op);
    else if (op.getRng())
      decomposed.insert(getDropoutOf(op));
  };
  llvm::for_each(step.getOps<train::ScaledDotProductAttentionOp>(), visit);
  llvm::for_each(step.getOps<train::ScaledDotProductAttentionGradOp>(), visit);
  auto convertAll = [&](auto ops, auto convertOne) {
    for (auto op : ops) {
      std::string obstacle = findObstacle(op, options.libraryDropout);
      if (obstacle.empty() && decomposed.contains(getDropoutOf(op)))
        obstacle = "its dropout is also that of an attention without a plan";
      if (obstacle.empty())
        convertOne(op);
      else
        reportDecomposed(op, "AttentionDecomposed", obstacle);
    }
  };
  // The forward operations first: their gradients read the new outputs.
  convertAll(llvm::to_vector(step.getOps<train::ScaledDotProductAttentionOp>()),
             [&](auto op) { convert(op, seeds, options); });
  convertAll(
      llvm::to_vector(step.getOps<train::ScaledDotProductAttentionGradOp>()),
      [&](auto op) { convert(op, seeds, options); });
  for (auto launch : step.getOps<SDPAGradOp>())
    divide(launch, options.scratchBytes);
  updateDocumentOffsets(step);
}

/// Reads the heads of input `index` of `launch`, [batch, `count`, `positions`,
/// `size`], where they are in the tensor that the input is a part of.
static HeadsAttr readInput(Operation *launch, unsigned index, HeadsAttr heads,
                           int64_t batch, int64_t count, int64_t positions,
                           int64_t size, bool mustBePacked) {
  Value input = launch->getOperand(index);
  StridedView view = trace(input);
  if (view.source == input || view.strides.back() != 1)
    return heads;
  auto type = typeOf(input);
  SmallVector<int64_t> contiguous = getContiguousStrides(type.getShape()),
                       last(type.getRank(), 0);
  // A stride of the heads is one of the source if the positions of the heads
  // in each dimension add up without a carry.
  auto map = [&](int64_t stride, int64_t extent) {
    int64_t result = 0;
    for (auto [dim, own] : llvm::enumerate(contiguous)) {
      result += stride / own * view.strides[dim];
      last[dim] += stride / own * (extent - 1);
      stride %= own;
    }
    return result;
  };
  const int64_t offset = view.offset + map(heads.getOffset(), 2),
                sample = map(heads.getSample(), batch),
                head = map(heads.getHead(), count),
                position = map(heads.getPosition(), positions);
  last.back() += size - 1;
  for (auto [most, extent] : llvm::zip_equal(last, type.getShape()))
    if (most >= extent)
      return heads;
  const int64_t unit = AMP_CUDNN_ALIGNMENT * 8 / type.getElementTypeBitWidth();
  for (int64_t number : {offset, sample, head, position})
    if (number % unit != 0)
      return heads;
  auto found =
      HeadsAttr::get(launch->getContext(), offset, sample, head, position);
  if (mustBePacked && !arePacked(found, batch, count, positions, size))
    return heads;
  launch->setOperand(index, view.source);
  return found;
}

/// Reads queries, keys and values, inputs from `first` on, by strides.
template <typename OpTy>
static void readInputs(OpTy launch, unsigned first) {
  AttentionAttr s = launch.getSizes();
  const bool mustBePacked = launch.getDocuments().has_value();
  auto read = [&](unsigned index, HeadsAttr heads, int64_t count,
                  int64_t positions, int64_t size) {
    return readInput(launch, first + index, heads, s.getBatch(), count,
                     positions, size, mustBePacked);
  };
  launch.setQueryAttr(read(0, launch.getQuery(), s.getHeads(), s.getQueries(),
                           s.getHeadSize()));
  launch.setKeyAttr(
      read(1, launch.getKey(), s.getKeyHeads(), s.getKeys(), s.getHeadSize()));
  launch.setValueAttr(read(2, launch.getValue(), s.getKeyHeads(), s.getKeys(),
                           s.getValueSize()));
}

void mlir::cuda::readHeadsByStrides(func::FuncOp step) {
  for (auto launch : step.getOps<SDPAOp>())
    readInputs(launch, 0);
  for (auto launch : step.getOps<SDPAGradOp>())
    readInputs(launch, 1);
  updateDocumentOffsets(step);
}
