//===- CUDAAttentionOps.cpp - Attention by cuDNN --------------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LaunchSupport.h"

#include "llvm/Support/CheckedArithmetic.h"

#include <functional>
#include <numeric>

using namespace mlir;
using namespace mlir::cuda;

//===----------------------------------------------------------------------===//
// Heads
//===----------------------------------------------------------------------===//

bool mlir::cuda::arePacked(HeadsAttr heads, int64_t batch, int64_t count,
                           int64_t positions, int64_t size) {
  const bool areNext =
      (count == 1 || heads.getHead() >= size) &&
      (count - 1) * heads.getHead() + size <= heads.getPosition();
  return areNext &&
         (batch == 1 || heads.getSample() == positions * heads.getPosition());
}

LogicalResult mlir::cuda::verifyHeads(Operation *op, const HeadsSpec &spec,
                                      int64_t batch, Type element) {
  HeadsAttr heads = spec.heads;
  if (spec.type.getElementType() != element)
    return op->emitOpError()
           << spec.name << " is in a tensor of " << spec.type.getElementType()
           << ", expected " << element;
  const int64_t unit =
      AMP_CUDNN_ALIGNMENT * 8 / element.getIntOrFloatBitWidth();
  for (int64_t value : {heads.getOffset(), heads.getSample(), heads.getHead(),
                        heads.getPosition()})
    if (value < 0 || value % unit != 0)
      return op->emitOpError()
             << spec.name << " has the offset or stride " << value
             << ", expected a multiple of " << unit << " elements";
  std::optional<int64_t> last =
      llvm::checkedAdd<int64_t>(heads.getOffset(), spec.size - 1);
  for (auto [stride, extent] : {std::pair(heads.getSample(), batch),
                                std::pair(heads.getHead(), spec.count),
                                std::pair(heads.getPosition(), spec.positions)})
    if (last)
      last = llvm::checkedMulAdd<int64_t>(stride, extent - 1, *last);
  if (!last || *last >= spec.type.getNumElements()) {
    InFlightDiagnostic error = op->emitOpError() << spec.name;
    if (last)
      error << " ends at element " << *last;
    else
      error << " ends at an index that overflows 64 bits";
    return error << ", but its tensor has " << spec.type.getNumElements();
  }
  return success();
}

LogicalResult mlir::cuda::verifyFilled(Operation *op, ArrayRef<HeadsSpec> specs,
                                       int64_t batch) {
  int64_t elements = 0;
  for (const HeadsSpec &spec : specs)
    elements += spec.getNumElements(batch);
  bool isFilled = elements == specs[0].type.getNumElements();
  for (const HeadsSpec &spec : specs) {
    std::pair<int64_t, int64_t> dims[] = {
        {spec.heads.getSample(), batch},
        {spec.heads.getHead(), spec.count},
        {spec.heads.getPosition(), spec.positions}};
    llvm::sort(dims);
    int64_t covered = spec.size;
    for (auto [stride, extent] : dims) {
      if (extent == 1)
        continue;
      isFilled &= stride >= covered;
      covered = stride * (extent - 1) + covered;
    }
  }
  // Heads that share a tensor are next to each other in its rows.
  SmallVector<std::pair<int64_t, int64_t>> ranges;
  for (const HeadsSpec &spec : specs)
    ranges.push_back({spec.heads.getOffset(), spec.getRowEnd()});
  llvm::sort(ranges);
  for (unsigned i = 0; specs.size() > 1 && i < specs.size(); ++i) {
    int64_t end = i + 1 < ranges.size() ? ranges[i + 1].first
                                        : specs[0].heads.getPosition();
    isFilled &= ranges[i].second <= end &&
                specs[i].heads.getPosition() == specs[0].heads.getPosition() &&
                specs[i].heads.getSample() == specs[0].heads.getSample() &&
                specs[i].positions == specs[0].positions;
  }
  if (isFilled)
    return success();
  return op->emitOpError() << specs[0].name
                           << (specs.size() > 1 ? " and the others" : "")
                           << " must fill the tensor, each element once";
}

//===----------------------------------------------------------------------===//
// Verifiers
//===----------------------------------------------------------------------===//

static LogicalResult verifySizes(LaunchOpInterface op, AttentionAttr sizes) {
  if (op.getPredicate())
    return op->emitOpError("has an 'if', but a plan always writes");
  for (int64_t size : {sizes.getBatch(), sizes.getHeads(), sizes.getKeyHeads(),
                       sizes.getQueries(), sizes.getKeys(), sizes.getHeadSize(),
                       sizes.getValueSize()})
    if (size <= 0)
      return op->emitOpError("has the size ")
             << size << ", expected at least 1";
  std::optional<int64_t> elements = 1;
  for (int64_t size :
       {sizes.getBatch(), sizes.getHeads(), sizes.getQueries(), sizes.getKeys(),
        sizes.getHeadSize(), sizes.getValueSize()})
    if (elements)
      elements = llvm::checkedMul(*elements, size);
  if (!elements)
    return op->emitOpError("has sizes whose product overflows 64 bits");
  if (sizes.getHeads() % sizes.getKeyHeads() != 0)
    return op->emitOpError("has ")
           << sizes.getHeads() << " heads of queries and "
           << sizes.getKeyHeads() << " of keys, expected a multiple";
  for (int64_t size : {sizes.getHeadSize(), sizes.getValueSize()})
    if (size % 8 != 0)
      return op->emitOpError("has heads of ")
             << size << " elements, expected a multiple of 8";
  return success();
}

/// Verifies that a plan can take the documents of `specs` as samples, and the
/// lengths and offsets, inputs `first` and the next.
template <typename OpTy>
static LogicalResult verifyDocuments(OpTy op, ArrayRef<HeadsSpec> specs,
                                     unsigned first) {
  AttentionAttr sizes = op.getSizes();
  const int64_t documents = *op.getDocuments();
  if (documents < 1)
    return op.emitOpError("has ") << documents
                                  << " documents, expected at "
                                     "least 1";
  if (sizes.getQueries() != sizes.getKeys())
    return op.emitOpError("has documents of ")
           << sizes.getQueries() << " queries and " << sizes.getKeys()
           << " keys, expected as many keys as queries";
  ArrayRef<int64_t> rows = op.getRows().value_or(ArrayRef<int64_t>());
  auto verifyRow = [&](StringRef name, int64_t elements) -> LogicalResult {
    if (llvm::is_contained(rows, elements))
      return success();
    return op.emitOpError("has no offsets of ")
           << name << ", expected " << elements << " in 'rows'";
  };
  for (const HeadsSpec &spec : specs) {
    if (!arePacked(spec.heads, sizes.getBatch(), spec.count, spec.positions,
                   spec.size))
      return op.emitOpError("has documents but heads of ")
             << spec.name
             << " that are not packed, expected those of a position next to "
                "each other, and samples that follow one another";
    if (failed(verifyRow(spec.name, spec.heads.getPosition())))
      return failure();
  }
  if (failed(verifyRow("the logarithm of the sums", sizes.getHeads())))
    return failure();
  const std::optional<int64_t> samples =
      llvm::checkedMul(documents, sizes.getBatch());
  if (!samples)
    return op.emitOpError("has ")
           << documents << " documents in each of " << sizes.getBatch()
           << " samples, whose product overflows 64 bits";
  const int64_t all = *samples;
  Builder builder(op.getContext());
  return success(succeeded(verifyType(op, "the lengths of documents",
                                      op.getInputType(first), {all},
                                      builder.getI32Type())) &&
                 succeeded(verifyType(
                     op, "the offsets of documents", op.getInputType(first + 1),
                     {int64_t(rows.size()), int64_t(alignTo(all + 1, 2))},
                     builder.getI64Type())));
}

/// The shape of ln Σ exp of the scores.
template <typename OpTy>
static SmallVector<int64_t> getSumsShape(OpTy op) {
  AttentionAttr s = op.getSizes();
  if (op.getDocuments())
    return {s.getBatch(), s.getQueries(), s.getHeads()};
  return {s.getBatch(), s.getHeads(), s.getQueries()};
}

/// Verifies the inputs from `first` on: the bias, the lengths and the seeds.
template <typename OpTy>
static LogicalResult verifyMasks(OpTy op, unsigned first, Type element) {
  AttentionAttr sizes = op.getSizes();
  if (op.getDocuments() && (op.getBias() || op.getLengths() || op.getDropout()))
    return op.emitOpError("has 'documents' and another of bias, lengths and "
                          "dropout, expected one of them");
  if (IntegerAttr left = op.getLeftBoundAttr(); left && left.getInt() < 1)
    return op.emitOpError("has a 'left_bound' of ")
           << left.getInt() << ", expected at least 1";
  if (IntegerAttr right = op.getRightBoundAttr(); right && right.getInt() < 0)
    return op.emitOpError("has a 'right_bound' of ")
           << right.getInt() << ", expected at least 0";
  if (op.getBias()) {
    ShapedType bias = op.getInputType(first++);
    SmallVector<int64_t> most = {sizes.getBatch(), sizes.getHeads(),
                                 sizes.getQueries(), sizes.getKeys()};
    bool fits =
        bias.getRank() == 4 &&
        (bias.getElementType().isF32() || bias.getElementType() == element) &&
        bias.getShape().drop_front(2) == ArrayRef<int64_t>(most).drop_front(2);
    for (unsigned dim = 0; fits && dim < 2; ++dim)
      fits = bias.getDimSize(dim) == 1 || bias.getDimSize(dim) == most[dim];
    if (!fits)
      return op.emitOpError("has a bias of shape ")
             << formatList(bias.getShape()) << " of " << bias.getElementType()
             << ", expected " << formatList(most) << " of " << element
             << " or f32, where the first two may be 1";
  }
  Type i32 = IntegerType::get(op.getContext(), 32);
  for (StringRef name : {"the lengths of queries", "the lengths of keys"})
    if (op.getLengths() && failed(verifyType(op, name, op.getInputType(first++),
                                             {sizes.getBatch()}, i32)))
      return failure();
  if (!op.getDropout())
    return success();
  if (double rate = op.getDropout()->convertToDouble(); !(rate > 0 && rate < 1))
    return op.emitOpError("has a 'dropout' of ")
           << rate << ", expected more than 0 and less than 1";
  ShapedType seeds = op.getInputType(first);
  const int64_t row = op.getSeedRow();
  if (seeds.getRank() != 2 || seeds.getDimSize(1) != 2 ||
      !seeds.getElementType().isInteger(64) || row < 0 ||
      row >= seeds.getDimSize(0))
    return op.emitOpError("has row ")
           << row << " of seeds of shape " << formatList(seeds.getShape())
           << " of " << seeds.getElementType()
           << ", expected [N, 2] of i64 with this row";
  return success();
}

/// The inputs after the tensors of an attention.
template <typename OpTy>
static unsigned countExtras(OpTy op) {
  return op.getBias() + 2 * op.getLengths() +
         2 * op.getDocuments().has_value() + op.getDropout().has_value();
}

/// Queries, keys and values as inputs from `first` on.
template <typename OpTy>
static SmallVector<HeadsSpec> getSources(OpTy op, unsigned first) {
  AttentionAttr s = op.getSizes();
  return {{"the query", op.getQuery(), s.getHeads(), s.getQueries(),
           s.getHeadSize(), op.getInputType(first)},
          {"the key", op.getKey(), s.getKeyHeads(), s.getKeys(),
           s.getHeadSize(), op.getInputType(first + 1)},
          {"the value", op.getValue(), s.getKeyHeads(), s.getKeys(),
           s.getValueSize(), op.getInputType(first + 2)}};
}

static FailureOr<Type> verifyElement(Operation *op, ShapedType type) {
  Type element = type.getElementType();
  if (element.isF16() || element.isBF16())
    return element;
  return op->emitOpError("has queries of ")
         << element << ", expected f16 or bf16";
}

LogicalResult SDPAOp::verify() {
  AttentionAttr s = getSizes();
  if (failed(verifySizes(*this, s)) ||
      failed(verifyCounts(*this, 3 + countExtras(*this), 2)))
    return failure();
  FailureOr<Type> element = verifyElement(*this, getInputType(0));
  if (failed(element))
    return failure();
  SmallVector<HeadsSpec> specs = getSources(*this, 0);
  specs.push_back({"the output", getOutput(), s.getHeads(), s.getQueries(),
                   s.getValueSize(), getTargetType(0)});
  for (const HeadsSpec &spec : specs)
    if (failed(verifyHeads(*this, spec, s.getBatch(), *element)))
      return failure();
  if (failed(verifyFilled(*this, specs.back(), s.getBatch())) ||
      failed(verifyMasks(*this, 3, *element)) ||
      failed(verifyType(*this, "the logarithm of the sums", getTargetType(1),
                        getSumsShape(*this), Float32Type::get(getContext()))) ||
      (getDocuments() && failed(verifyDocuments(*this, specs, 3))))
    return failure();
  return verifyLaunch(*this);
}

LogicalResult SDPAGradOp::verify() {
  AttentionAttr s = getSizes();
  const bool isPacked = getNumTargets() == 1;
  if (failed(verifySizes(*this, s)) ||
      failed(verifyCounts(*this, 6 + countExtras(*this), isPacked ? 1 : 3)))
    return failure();
  if (int64_t parts = getParts(); parts < 1 || getNumSamples() % parts != 0)
    return emitOpError("has ") << parts << " parts for " << getNumSamples()
                               << (getDocuments() ? " documents" : " samples")
                               << ", expected a divisor";
  // Lengths and offsets of a part begin at a multiple of 16 bytes.
  if (int64_t each = getNumSamples() / getParts();
      getDocuments() && getParts() > 1 && each % 4 != 0)
    return emitOpError("has parts of ")
           << each << " documents, expected a multiple of 4";
  if (getDropout() && getParts() != 1)
    return emitOpError("has ")
           << int64_t(getParts()) << " parts and 'dropout', expected one part";
  FailureOr<Type> element = verifyElement(*this, getInputType(1));
  if (failed(element))
    return failure();
  SmallVector<HeadsSpec> specs = getSources(*this, 1);
  const HeadsSpec output = {"the output",   getOutput(),      s.getHeads(),
                            s.getQueries(), s.getValueSize(), getInputType(4)};
  SmallVector<HeadsSpec> targets = specs;
  HeadsAttr heads[] = {getQueryGrad(), getKeyGrad(), getValueGrad()};
  StringRef names[] = {"the query gradient", "the key gradient",
                       "the value gradient"};
  for (unsigned i = 0; i < 3; ++i) {
    targets[i].name = names[i];
    targets[i].heads = heads[i];
    targets[i].type = getTargetType(isPacked ? 0 : i);
  }
  specs.append(targets);
  specs.push_back(output);
  specs.push_back(output);
  specs.back().name = "the gradient";
  specs.back().heads = getGrad();
  specs.back().type = getInputType(0);
  for (const HeadsSpec &spec : specs)
    if (failed(verifyHeads(*this, spec, s.getBatch(), *element)))
      return failure();
  if (isPacked ? failed(verifyFilled(*this, targets, s.getBatch()))
               : llvm::any_of(targets, [&](const HeadsSpec &spec) {
                   return failed(verifyFilled(*this, spec, s.getBatch()));
                 }))
    return failure();
  if (failed(verifyMasks(*this, 6, *element)) ||
      failed(verifyType(*this, "the logarithm of the sums", getInputType(5),
                        getSumsShape(*this), Float32Type::get(getContext()))) ||
      (getDocuments() && failed(verifyDocuments(*this, specs, 6))))
    return failure();
  return verifyLaunch(*this);
}

//===----------------------------------------------------------------------===//
// Costs and memory
//===----------------------------------------------------------------------===//

/// The number of pairs of one of `queries` and one of `keys` that it sees.
template <typename OpTy>
static int64_t countPairs(OpTy op, int64_t queries, int64_t keys) {
  int64_t pairs = 0;
  for (int64_t query = 0; query < queries; ++query) {
    int64_t begin = 0, end = keys;
    if (std::optional<int64_t> left = op.getLeftBound())
      begin = std::max<int64_t>(begin, query - *left + 1);
    if (std::optional<int64_t> right = op.getRightBound())
      end = std::min(end, query + *right + 1);
    pairs += std::max<int64_t>(0, end - begin);
  }
  return pairs;
}

/// Sums `count` over the documents of a sample, or calls it for the whole
/// sample. The lengths of documents are data, so this assumes that the last one
/// is empty and that the others are equally long.
template <typename OpTy>
static int64_t sumOverDocuments(OpTy op,
                                function_ref<int64_t(int64_t, int64_t)> count) {
  AttentionAttr s = op.getSizes();
  if (!op.getDocuments())
    return count(s.getQueries(), s.getKeys());
  const int64_t documents = std::max<int64_t>(*op.getDocuments() - 1, 1),
                length = s.getQueries() / documents,
                longer = s.getQueries() % documents;
  return longer * count(length + 1, length + 1) +
         (documents - longer) * count(length, length);
}

/// The number of pairs of a query and a key that it sees.
template <typename OpTy>
static int64_t countScores(OpTy op) {
  const int64_t pairs =
      sumOverDocuments(op, [&](int64_t queries, int64_t keys) {
        return countPairs(op, queries, keys);
      });
  return pairs * op.getSizes().getBatch() * op.getSizes().getHeads();
}

// Scores and result.
int64_t SDPAOp::getFlops() {
  return 2 * countScores(*this) *
         (getSizes().getHeadSize() + getSizes().getValueSize());
}
// Scores again, the gradients of queries and keys, and those of weights and
// values.
int64_t SDPAGradOp::getFlops() {
  return 2 * countScores(*this) *
         (3 * getSizes().getHeadSize() + 2 * getSizes().getValueSize());
}

// cuDNN 9.19 asks for 256 bytes. A program allocates the rest by itself if a
// plan needs more than is planned here and below.
int64_t SDPAOp::getScratchBytes() { return 4096; }

// The frontend of cuDNN keeps a sum for each query, in f32. It adds up the
// gradient of the queries in f32, or stores the gradient of all scores in 16
// bits: for the same bits in two runs, or where that takes at most 256 MiB.
// With fewer heads of keys than of queries, it stores the gradients of keys and
// values for each head of the queries. With documents, sums and gradients have
// the strides of the packed tensors. The scores of each document take as much
// memory as those of a document that fills the sample.
int64_t SDPAGradOp::getScratchBytes() {
  AttentionAttr s = getSizes();
  const int64_t heads = getNumSamples() / getParts() * s.getHeads();
  const int64_t queries = alignTo(s.getQueries(), 64),
                keys = alignTo(s.getKeys(), 64);
  const int64_t scores = heads * queries * keys * 2;
  int64_t bytes = heads * queries * 4 + 4096;
  int64_t sums = heads * queries * s.getHeadSize() * 4;
  if (getDeterministic())
    sums = scores;
  else if (scores <= int64_t(256) << 20)
    sums = std::max(sums, scores);
  if (getDocuments()) {
    const int64_t positions = s.getBatch() * s.getQueries();
    bytes = positions * s.getHeads() * 4 + 4096;
    if (!getDeterministic())
      sums = std::max(positions * getQueryGrad().getPosition() * 4,
                      scores <= int64_t(256) << 20 ? scores : int64_t(0));
    if (s.getHeads() != s.getKeyHeads())
      bytes += positions * (s.getHeads() / s.getKeyHeads()) * 4 *
               (getKeyGrad().getPosition() + getValueGrad().getPosition());
    return bytes + sums;
  }
  if (s.getHeads() != s.getKeyHeads())
    bytes += heads * keys * (s.getHeadSize() + s.getValueSize()) * 2;
  return bytes + sums;
}

int64_t SDPAGradOp::getNumKernels() { return getParts(); }

/// The bytes of scratch memory that all parts write, and read again. A document
/// uses only the part of it that its length needs.
static int64_t getScratchTraffic(SDPAGradOp op) {
  if (!op.getDocuments())
    return op.getParts() * op.getScratchBytes();
  AttentionAttr s = op.getSizes();
  const int64_t queries = s.getBatch() * s.getQueries() * s.getHeads();
  int64_t bytes = queries * 4;
  bytes += op.getDeterministic()
               ? 2 * s.getBatch() * s.getHeads() *
                     sumOverDocuments(op, std::multiplies<int64_t>())
               : queries * s.getHeadSize() * 4;
  if (s.getHeads() != s.getKeyHeads())
    bytes += queries * (s.getHeadSize() + s.getValueSize()) * 2;
  return bytes;
}
int64_t SDPAGradOp::getReadBytes() {
  return ::mlir::cuda::getReadBytes(*this) - getScratchBytes() +
         getScratchTraffic(*this);
}
int64_t SDPAGradOp::getWrittenBytes() {
  return ::mlir::cuda::getWrittenBytes(*this) - getScratchBytes() +
         getScratchTraffic(*this);
}
int64_t SDPAGradOp::getNumSamples() {
  return getSizes().getBatch() * getDocuments().value_or(1);
}

std::string SDPAOp::getTargetSuffix(unsigned target) {
  return target == 0 ? "" : ".log_sum_exp";
}
std::string SDPAGradOp::getTargetSuffix(unsigned target) {
  static constexpr StringLiteral names[] = {".query", ".key", ".value"};
  return getNumTargets() == 1 ? "" : names[target].str();
}

//===----------------------------------------------------------------------===//
// Descriptions
//===----------------------------------------------------------------------===//

static int32_t getDescriptionType(Type type) {
  return type.isF32()   ? int32_t(AMP_CUDNN_F32)
         : type.isF16() ? int32_t(AMP_CUDNN_F16)
                        : int32_t(AMP_CUDNN_BF16);
}

/// Describes the part that both directions share. The bias is input
/// `firstMask`.
template <typename OpTy>
static amp_cudnn_attention describeShared(OpTy op, unsigned query,
                                          unsigned firstMask) {
  AttentionAttr s = op.getSizes();
  amp_cudnn_attention result = {};
  result.batch = s.getBatch();
  result.heads = s.getHeads();
  result.key_heads = result.value_heads = s.getKeyHeads();
  result.queries = s.getQueries();
  result.keys = s.getKeys();
  result.head_size = s.getHeadSize();
  result.value_size = s.getValueSize();
  result.type = getDescriptionType(op.getInputType(query).getElementType());
  result.scale = op.getScale().convertToDouble();
  result.left_bound = op.getLeftBound().value_or(AMP_CUDNN_NO_BOUND);
  result.right_bound = op.getRightBound().value_or(AMP_CUDNN_NO_BOUND);
  result.bias_type = AMP_CUDNN_NO_BIAS;
  if (op.getBias()) {
    ShapedType bias = op.getInputType(firstMask);
    result.bias_type = getDescriptionType(bias.getElementType());
    result.bias_batch = bias.getDimSize(0);
    result.bias_heads = bias.getDimSize(1);
  }
  result.has_lengths = op.getLengths();
  result.dropout = op.getDropout() ? op.getDropout()->convertToDouble() : 0.0;
  auto set = [&](int index, HeadsAttr heads) {
    result.strides[index] = {heads.getSample(), heads.getHead(),
                             heads.getPosition()};
  };
  set(AMP_CUDNN_QUERY, op.getQuery());
  set(AMP_CUDNN_KEY, op.getKey());
  set(AMP_CUDNN_VALUE, op.getValue());
  set(AMP_CUDNN_OUTPUT, op.getOutput());
  result.strides[AMP_CUDNN_LOG_SUM_EXP] = {s.getHeads() * s.getQueries(),
                                           s.getQueries(), 1};
  return result;
}

/// Describes the documents of a plan as its samples. The strides of samples
/// have no meaning, but must not be zero.
template <typename OpTy>
static void describeDocuments(OpTy op, amp_cudnn_attention &result) {
  if (!op.getDocuments())
    return;
  AttentionAttr s = op.getSizes();
  result.batch *= *op.getDocuments();
  result.positions = s.getBatch() * s.getQueries();
  result.has_lengths = result.has_offsets = 1;
  result.strides[AMP_CUDNN_LOG_SUM_EXP] = {0, 1, s.getHeads()};
  const int last =
      result.backward ? AMP_CUDNN_VALUE_GRAD : AMP_CUDNN_LOG_SUM_EXP;
  for (int index = 0; index <= last; ++index)
    result.strides[index].sample =
        s.getQueries() * result.strides[index].position;
}

amp_cudnn_attention SDPAOp::getDescription() {
  amp_cudnn_attention result = describeShared(*this, 0, 3);
  describeDocuments(*this, result);
  return result;
}

amp_cudnn_attention SDPAGradOp::getDescription() {
  amp_cudnn_attention result = describeShared(*this, 1, 6);
  result.backward = 1;
  result.deterministic = getDeterministic();
  if (getBias() && result.bias_batch > 1)
    result.bias_batch /= int64_t(getParts());
  auto set = [&](int index, HeadsAttr heads) {
    result.strides[index] = {heads.getSample(), heads.getHead(),
                             heads.getPosition()};
  };
  set(AMP_CUDNN_OUTPUT_GRAD, getGrad());
  set(AMP_CUDNN_QUERY_GRAD, getQueryGrad());
  set(AMP_CUDNN_KEY_GRAD, getKeyGrad());
  set(AMP_CUDNN_VALUE_GRAD, getValueGrad());
  describeDocuments(*this, result);
  result.batch /= int64_t(getParts());
  return result;
}

//===----------------------------------------------------------------------===//
// Generated code
//===----------------------------------------------------------------------===//

#define GET_OP_CLASSES
#include "amp/Dialect/CUDA/IR/CUDAAttentionOps.cpp.inc"

void CUDADialect::registerAttentionOps() {
  addOperations<
#define GET_OP_LIST
#include "amp/Dialect/CUDA/IR/CUDAAttentionOps.cpp.inc"
      >();
}
