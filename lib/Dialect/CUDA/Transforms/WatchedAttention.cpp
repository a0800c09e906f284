//===- WatchedAttention.cpp - Counts of the inner values of attention -----===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A plan of cuDNN stores no score. A kernel computes the scores again from the
// operands of the plan, one score in each iteration of its loops, and counts
// them in registers. The sums over the elements of a head are unrolled.
//
//===----------------------------------------------------------------------===//

#include "WatchedKernels.h"

#include "amp/Support/TensorTypes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::cuda;
using mlir::amp::typeOf;

/// A kernel computes at most this many scores. If a launch has more, the kernel
/// takes the first samples of the batch.
static constexpr int64_t kMostScores = 1 << 24;

namespace {

/// The loops of the kernel, in order.
enum Loop { kSample, kHead, kQuery, kKey };

/// Builds the kernel for an attention or its gradient.
template <typename OpTy>
class AttentionCounter {
public:
  explicit AttentionCounter(OpTy launch)
      : launch(launch), sizes(launch.getSizes()), loc(launch.getLoc()),
        b(launch), body(launch.getContext()) {}

  void build(MutableArrayRef<CountedValue> counted);

private:
  static constexpr bool kIsGradient = std::is_same_v<OpTy, SDPAGradOp>;

  /// The input of the launch after the gradient of the output, if it has one.
  Value getInput(unsigned index) {
    return launch.getInputs()[index + (kIsGradient ? 1 : 0)];
  }
  SmallVector<int64_t> getExtents() const;
  /// Adds an input that the kernel reads element by element at `map`.
  void addElement(Value input, ArrayRef<unsigned> loops);
  /// Adds an input that the body reads at any position.
  void addCaptured(Value input);

  Value getConstant(int64_t number) {
    return arith::ConstantIndexOp::create(body, loc, number);
  }
  Value getIndex(Loop loop) {
    return IndexOp::create(body, loc, body.getIndexType(), int64_t(loop));
  }
  /// The position in its tensor of the first element of a head.
  Value getRow(HeadsAttr heads, Loop position, bool isKey);
  Value readElement(Value tensor, Value row, int64_t element);
  /// The sum of the products of the elements of two heads.
  Value multiplyRows(Value left, Value leftRow, Value right, Value rightRow,
                     int64_t size);
  /// Whether the query sees the key, or null if each query sees each key.
  Value getVisibility();
  /// The attention weight for `score`, and 0 where the query does not see the
  /// key.
  Value getWeight(Value score, Value sum, Value bias);
  SmallVector<Value> computeValues(Block &block);

  OpTy launch;
  AttentionAttr sizes;
  Location loc;
  OpBuilder b, body;
  SmallVector<Value> elements, captured;
  SmallVector<AffineMap> maps;
};
} // namespace

template <typename OpTy>
SmallVector<int64_t> AttentionCounter<OpTy>::getExtents() const {
  const int64_t perSample =
      sizes.getHeads() * sizes.getQueries() * sizes.getKeys();
  const int64_t samples = std::clamp<int64_t>(
      kMostScores / std::max<int64_t>(perSample, 1), 1, sizes.getBatch());
  return {samples, sizes.getHeads(), sizes.getQueries(), sizes.getKeys()};
}

template <typename OpTy>
void AttentionCounter<OpTy>::addElement(Value input, ArrayRef<unsigned> loops) {
  SmallVector<AffineExpr> exprs;
  for (auto [loop, extent] : llvm::zip_equal(loops, typeOf(input).getShape()))
    exprs.push_back(extent == 1 ? b.getAffineConstantExpr(0)
                                : b.getAffineDimExpr(loop));
  elements.push_back(input);
  maps.push_back(AffineMap::get(4, 0, exprs, b.getContext()));
}

template <typename OpTy>
void AttentionCounter<OpTy>::addCaptured(Value input) {
  auto flat = RankedTensorType::get({typeOf(input).getNumElements()},
                                    typeOf(input).getElementType());
  captured.push_back(input.getType() == flat
                         ? input
                         : ViewOp::create(b, loc, flat, input).getResult());
}

template <typename OpTy>
Value AttentionCounter<OpTy>::getRow(HeadsAttr heads, Loop position,
                                     bool isKey) {
  Value head = getIndex(kHead);
  if (isKey && sizes.getKeyHeads() != sizes.getHeads()) {
    head = arith::MulIOp::create(body, loc, head,
                                 getConstant(sizes.getKeyHeads()));
    head =
        arith::DivSIOp::create(body, loc, head, getConstant(sizes.getHeads()));
  }
  Value row = getConstant(heads.getOffset());
  for (auto [index, stride] :
       {std::pair(getIndex(kSample), heads.getSample()),
        std::pair(head, heads.getHead()),
        std::pair(getIndex(position), heads.getPosition())}) {
    Value term = arith::MulIOp::create(body, loc, index, getConstant(stride));
    row = arith::AddIOp::create(body, loc, row, term);
  }
  return row;
}

template <typename OpTy>
Value AttentionCounter<OpTy>::readElement(Value tensor, Value row,
                                          int64_t element) {
  Value position = arith::AddIOp::create(body, loc, row, getConstant(element));
  Value read = tensor::ExtractOp::create(body, loc, tensor, position);
  return arith::ExtFOp::create(body, loc, body.getF32Type(), read);
}

template <typename OpTy>
Value AttentionCounter<OpTy>::multiplyRows(Value left, Value leftRow,
                                           Value right, Value rightRow,
                                           int64_t size) {
  Value sum;
  for (int64_t i = 0; i < size; ++i) {
    Value product =
        arith::MulFOp::create(body, loc, readElement(left, leftRow, i),
                              readElement(right, rightRow, i));
    sum = sum ? arith::AddFOp::create(body, loc, sum, product).getResult()
              : product;
  }
  return sum;
}

template <typename OpTy>
Value AttentionCounter<OpTy>::getVisibility() {
  Value visible, query = getIndex(kQuery), key = getIndex(kKey);
  auto add = [&](Value condition) {
    visible =
        visible
            ? arith::AndIOp::create(body, loc, visible, condition).getResult()
            : condition;
  };
  using P = arith::CmpIPredicate;
  if (std::optional<int64_t> bound = launch.getRightBound()) {
    Value last = arith::AddIOp::create(body, loc, query, getConstant(*bound));
    add(arith::CmpIOp::create(body, loc, P::sle, key, last));
  }
  if (std::optional<int64_t> bound = launch.getLeftBound()) {
    Value end = arith::AddIOp::create(body, loc, key, getConstant(*bound));
    add(arith::CmpIOp::create(body, loc, P::slt, query, end));
  }
  return visible;
}

template <typename OpTy>
Value AttentionCounter<OpTy>::getWeight(Value score, Value sum, Value bias) {
  if (bias) {
    if (!bias.getType().isF32())
      bias = arith::ExtFOp::create(body, loc, body.getF32Type(), bias);
    score = arith::AddFOp::create(body, loc, score, bias);
  }
  Value exponent = arith::SubFOp::create(body, loc, score, sum);
  Value weight = math::ExpOp::create(body, loc, exponent);
  Value visible = getVisibility();
  if (!visible)
    return weight;
  Value zero = arith::ConstantOp::create(body, loc, body.getF32FloatAttr(0.0f));
  return arith::SelectOp::create(body, loc, visible, weight, zero);
}

/// Computes the values to count in `block`, whose arguments are the inputs.
template <typename OpTy>
SmallVector<Value> AttentionCounter<OpTy>::computeValues(Block &block) {
  auto getTensor = [&](unsigned index) {
    return block.getArgument(unsigned(elements.size()) + index);
  };
  Value queryRow = getRow(launch.getQuery(), kQuery, /*isKey=*/false),
        keyRow = getRow(launch.getKey(), kKey, /*isKey=*/true);
  Value scale = arith::ConstantOp::create(
      body, loc,
      body.getF32FloatAttr(float(launch.getScale().convertToDouble())));
  Value product = multiplyRows(getTensor(0), queryRow, getTensor(1), keyRow,
                               sizes.getHeadSize());
  Value score = arith::MulFOp::create(body, loc, product, scale);
  Value weight =
      getWeight(score, block.getArgument(0),
                launch.getBias() ? Value(block.getArgument(1)) : Value());
  if constexpr (!kIsGradient) {
    return {score, weight};
  } else {
    Value gradRow = getRow(launch.getGrad(), kQuery, /*isKey=*/false),
          valueRow = getRow(launch.getValue(), kKey, /*isKey=*/true),
          outputRow = getRow(launch.getOutput(), kQuery, /*isKey=*/false);
    const int64_t size = sizes.getValueSize();
    Value weightGrad =
        multiplyRows(getTensor(2), gradRow, getTensor(3), valueRow, size);
    Value delta =
        multiplyRows(getTensor(2), gradRow, getTensor(4), outputRow, size);
    Value difference = arith::SubFOp::create(body, loc, weightGrad, delta);
    Value scoreGrad = arith::MulFOp::create(body, loc, weight, difference);
    return {weightGrad, scoreGrad};
  }
}

template <typename OpTy>
void AttentionCounter<OpTy>::build(MutableArrayRef<CountedValue> counted) {
  // The inputs of a gradient are the gradient of the output, queries, keys,
  // values, the output, the sums and the bias.
  b.setInsertionPointAfter(launch);
  Value sums = kIsGradient ? getInput(4) : Value(launch.getResult(1));
  addElement(sums, {kSample, kHead, kQuery});
  if (launch.getBias())
    addElement(getInput(kIsGradient ? 5 : 3), {kSample, kHead, kQuery, kKey});
  for (unsigned index : {0, 1})
    addCaptured(getInput(index));
  if (kIsGradient) {
    addCaptured(launch.getInputs()[0]);
    for (unsigned index : {2, 3})
      addCaptured(getInput(index));
  }
  SmallVector<Value> inputs(elements);
  inputs.append(captured);
  const SmallVector<int64_t> extents = getExtents();
  KernelOp kernel =
      createCounter(b, loc, inputs, extents, maps, counted.size());
  Block &block = kernel.getBody().emplaceBlock();
  for (Value element : elements)
    block.addArgument(typeOf(element).getElementType(), loc);
  for (Value tensor : captured)
    block.addArgument(tensor.getType(), loc);
  body.setInsertionPointToEnd(&block);
  auto low = cast<FloatType>(typeOf(getInput(0)).getElementType());
  SmallVector<Value> yielded;
  for (Value value : computeValues(block))
    appendCounted(body, value, low, yielded);
  YieldOp::create(body, loc, yielded);
  for (auto [index, value] : llvm::enumerate(counted))
    value = {kernel.getResult(index), extents};
}

ArrayRef<StringLiteral>
mlir::cuda::getInnerValuesOfAttention(Operation *launch) {
  static constexpr StringLiteral forward[] = {"scores", "weights"},
                                 backward[] = {"weights_grad", "scores_grad"};
  // Sequences of their own lengths have scores that are not computed.
  if (auto attention = dyn_cast<SDPAOp>(launch);
      attention && !attention.getLengths() && !attention.getDocuments())
    return forward;
  if (auto gradient = dyn_cast<SDPAGradOp>(launch);
      gradient && !gradient.getLengths() && !gradient.getDocuments())
    return backward;
  return {};
}

void mlir::cuda::countAttention(Operation *launch,
                                MutableArrayRef<CountedValue> counted) {
  if (auto attention = dyn_cast<SDPAOp>(launch))
    AttentionCounter<SDPAOp>(attention).build(counted);
  else
    AttentionCounter<SDPAGradOp>(cast<SDPAGradOp>(launch)).build(counted);
}
