//===- Integers.cpp - Masks and indices of an import ------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The graph does not compute with integers. The integer operations of a dump
// are folded or recognised.
//
//===----------------------------------------------------------------------===//

#include "StableHLOImporter.h"
#include "amp/Support/StableHLOText.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::amp;
using namespace mlir::train;

/// Tensors with more elements are not folded.
static constexpr int64_t kMaxElements = 1 << 22;

using Elements = std::vector<int64_t>;

static int64_t countElements(ArrayRef<int64_t> shape) {
  int64_t count = 1;
  for (int64_t extent : shape)
    if (llvm::MulOverflow(count, extent, count))
      return std::numeric_limits<int64_t>::max();
  return count;
}

/// The dimensions of `shape` with more than one element.
static SmallVector<int64_t> getLongDims(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> dims;
  for (auto [dim, extent] : llvm::enumerate(shape))
    if (extent != 1)
      dims.push_back(dim);
  return dims;
}

static KnownIntegers makeElements(ArrayRef<int64_t> shape, Elements elements) {
  return {KnownIntegers::Kind::Constant, llvm::to_vector(shape), Value(), 0,
          std::make_shared<const Elements>(std::move(elements))};
}

/// Calls `visit` for each element of `shape` in order, with the offsets in `x`.
/// Dimension i of `x` runs along dimension `dims[i]`.
static void
forEachElement(ArrayRef<int64_t> shape, ArrayRef<KnownIntegers> x,
               ArrayRef<int64_t> dims,
               llvm::function_ref<void(ArrayRef<int64_t> places)> visit) {
  SmallVector<SmallVector<int64_t>> strides;
  for (const KnownIntegers &each : x) {
    SmallVector<int64_t> stride(shape.size(), 0);
    int64_t next = 1;
    for (int64_t dim = each.shape.size(); dim-- > 0;) {
      if (each.shape[dim] != 1)
        stride[dims[dim]] = next;
      next *= each.shape[dim];
    }
    strides.push_back(std::move(stride));
  }
  SmallVector<int64_t> position(shape.size(), 0), places(x.size(), 0);
  for (int64_t i = 0, e = countElements(shape); i < e; ++i) {
    visit(places);
    for (int64_t dim = shape.size(); dim-- > 0;) {
      bool isLast = ++position[dim] == shape[dim];
      for (size_t k = 0; k < x.size(); ++k)
        places[k] +=
            isLast ? -strides[k][dim] * (shape[dim] - 1) : strides[k][dim];
      if (!isLast)
        break;
      position[dim] = 0;
    }
  }
}

static SmallVector<int64_t> getAllDims(ArrayRef<int64_t> shape) {
  return llvm::to_vector(llvm::seq<int64_t>(0, shape.size()));
}

//===----------------------------------------------------------------------===//
// Recognition
//===----------------------------------------------------------------------===//

std::optional<KnownIntegers> StableHLOImporter::getIntegers(Value value) const {
  auto it = known.find(value);
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (it == known.end() || !type || !type.getElementType().isSignlessInteger())
    return std::nullopt;
  if (it->second.integers || !it->second.number)
    return it->second.integers;
  double number = *it->second.number;
  if (type.getElementType().isInteger(1))
    number = number != 0;
  return makeElements(SmallVector<int64_t>(type.getRank(), 1),
                      {static_cast<int64_t>(number)});
}

bool StableHLOImporter::set(Operation *op, KnownIntegers integers) {
  auto type = typeOf(op->getResult(0));
  if (type.getRank() != static_cast<int64_t>(integers.shape.size()))
    return false;
  for (auto [extent, whole] : llvm::zip(integers.shape, type.getShape()))
    if (extent != 1 && extent != whole)
      return false;
  // Doubles hold integers to 2^53.
  if (integers.kind == Kind::Constant && llvm::all_equal(*integers.elements) &&
      !integers.elements->empty() &&
      llvm::isInt<53>(integers.elements->front()))
    return set(op, static_cast<double>(integers.elements->front()));
  known[op->getResult(0)] = {Value(), std::nullopt, std::move(integers)};
  return true;
}

Value StableHLOImporter::makeConstant(Location loc, const KnownIntegers &x,
                                      RankedTensorType type) {
  if (countElements(type.getShape()) > kMaxElements)
    return {};
  Elements all;
  forEachElement(type.getShape(), x, getAllDims(type.getShape()),
                 [&](ArrayRef<int64_t> places) {
                   all.push_back((*x.elements)[places[0]]);
                 });
  DenseElementsAttr elements;
  if (type.getElementType().isF32()) {
    elements = DenseElementsAttr::get(
        type, ArrayRef(std::vector<float>(all.begin(), all.end())));
  } else {
    SmallVector<APInt> integers;
    for (int64_t each : all)
      integers.emplace_back(type.getElementTypeBitWidth(), each,
                            /*isSigned=*/true, /*implicitTrunc=*/true);
    elements = DenseElementsAttr::get(type, integers);
  }
  return train::ConstantOp::create(builder, loc, elements);
}

Value StableHLOImporter::makeOneHot(TrainBuilder &b, const KnownIntegers &x) {
  SmallVector<int64_t> shape(typeOf(x.index).getShape());
  int64_t classes = x.shape[x.bound];
  shape.push_back(classes);
  Value result = train::OneHotOp::create(
      builder, b.getLoc(), RankedTensorType::get(shape, builder.getF32Type()),
      x.index);
  // At this point the dimension of classes is the last one.
  SmallVector<int64_t> last, order;
  int64_t rank = x.shape.size();
  for (int64_t dim = 0; dim < rank; ++dim) {
    if (dim != x.bound)
      last.push_back(x.shape[dim]);
    order.push_back(dim < x.bound ? dim : dim == x.bound ? rank - 1 : dim - 1);
  }
  last.push_back(classes);
  return transpose(b, reshape(b, result, last), order);
}

Value StableHLOImporter::getCondition(TrainBuilder &b, const KnownIntegers &x) {
  if (x.kind == Kind::Constant)
    return makeConstant(b.getLoc(), x,
                        RankedTensorType::get(x.shape, builder.getI1Type()));
  if (x.kind != Kind::OneHot)
    return {};
  Value chosen = makeOneHot(b, x);
  return b.compare(ComparePredicate::NE, chosen, b.scalar(0, chosen));
}

//===----------------------------------------------------------------------===//
// Folding
//===----------------------------------------------------------------------===//

bool StableHLOImporter::convertIota(Operation *op) {
  auto type = typeOf(op->getResult(0));
  auto dim = op->getAttrOfType<IntegerAttr>("iota_dimension");
  if (!dim || dim.getInt() < 0 || dim.getInt() >= type.getRank())
    return false;
  int64_t extent = type.getDimSize(dim.getInt());
  if (extent > kMaxElements)
    return false;
  SmallVector<int64_t> shape(type.getRank(), 1);
  shape[dim.getInt()] = extent;
  Elements elements(extent);
  for (int64_t i = 0; i < extent; ++i)
    elements[i] = i;
  KnownIntegers iota = makeElements(shape, std::move(elements));
  if (type.getElementType().isSignlessInteger())
    return set(op, iota);
  if (!type.getElementType().isF32())
    return false;
  Value result = makeConstant(op->getLoc(), iota, type);
  return result && set(op, result);
}

bool StableHLOImporter::convertIntegers(Operation *op) {
  auto type = typeOf(op->getResult(0));
  if (!type.getElementType().isSignlessInteger() ||
      type.getElementTypeBitWidth() > 64)
    return false;
  StringRef name = op->getName().stripDialect();
  if (name == "iota")
    return convertIota(op);
  if (name == "constant") {
    auto elements =
        dyn_cast_or_null<DenseIntElementsAttr>(op->getAttr("value"));
    if (!elements || elements.getNumElements() > kMaxElements)
      return false;
    Elements values;
    bool isBool = type.getElementType().isInteger(1);
    for (APInt value : elements.getValues<APInt>())
      values.push_back(isBool ? value.getZExtValue() : value.getSExtValue());
    return set(op, makeElements(type.getShape(), std::move(values)));
  }
  SmallVector<KnownIntegers> x;
  for (Value operand : op->getOperands()) {
    auto integers = getIntegers(operand);
    if (!integers)
      return false;
    x.push_back(std::move(*integers));
  }
  if (x.empty())
    return false;
  if (name == "reduce") {
    // A repeated element keeps its value.
    auto dims = getNumbers(op, "dimensions");
    if (x.size() != 2 || !dims || !type.getElementType().isInteger(1) ||
        getNumber(op->getOperand(1)) !=
            std::optional<double>(getBody(op) == "and"  ? 1.0
                                  : getBody(op) == "or" ? 0.0
                                                        : -1.0))
      return false;
    SmallVector<int64_t> shape;
    for (auto [dim, extent] : llvm::enumerate(x[0].shape))
      if (!llvm::is_contained(*dims, static_cast<int64_t>(dim)))
        shape.push_back(extent);
      else if (extent != 1)
        return false;
    if (x[0].kind == Kind::OneHot)
      return false;
    x[0].shape = shape;
    return set(op, std::move(x[0]));
  }
  if (op->getNumRegions() != 0)
    return false;
  if (x.size() == 1 && (name == "broadcast_in_dim" || name == "reshape" ||
                        name == "transpose" || name == "convert"))
    return moveIntegers(op, std::move(x[0]));
  bool areConstant = llvm::all_of(
      x, [](const KnownIntegers &each) { return each.kind == Kind::Constant; });
  return areConstant ? foldIntegers(op, x) : matchIndex(op, x);
}

bool StableHLOImporter::foldIntegers(Operation *op, ArrayRef<KnownIntegers> x) {
  StringRef name = op->getName().stripDialect();
  StringRef how = getEnum(op, "comparison_direction");
  auto type = typeOf(op->getResult(0));
  unsigned width = type.getElementTypeBitWidth();
  unsigned from = typeOf(op->getOperand(0)).getElementTypeBitWidth();
  SmallVector<int64_t> shape(type.getRank(), 1);
  for (const KnownIntegers &each : x) {
    // The scalars of a select or clamp are handled elsewhere.
    if (each.shape.size() != shape.size())
      return false;
    for (auto [extent, other] : llvm::zip(shape, each.shape)) {
      if (extent != 1 && other != 1 && extent != other)
        return false;
      extent = other == 1 ? extent : other;
    }
  }
  if (countElements(shape) > kMaxElements)
    return false;
  // Computes the value of one element from as many operands as there are.
  auto compute = [&](ArrayRef<int64_t> v) -> std::optional<int64_t> {
    if (name == "select" && v.size() == 3)
      return v[0] ? v[1] : v[2];
    if (name == "not" && v.size() == 1)
      return width == 1 ? !v[0] : ~v[0];
    if (name == "negate" && v.size() == 1 && width > 1)
      return static_cast<int64_t>(-static_cast<uint64_t>(v[0]));
    if (v.size() != 2)
      return std::nullopt;
    if (name == "and")
      return v[0] & v[1];
    if (name == "or")
      return v[0] | v[1];
    if (name == "xor")
      return v[0] ^ v[1];
    if (name == "compare") {
      if (how == "EQ")
        return v[0] == v[1];
      if (how == "NE")
        return v[0] != v[1];
      if (how == "LT")
        return v[0] < v[1];
      if (how == "LE")
        return v[0] <= v[1];
      if (how == "GT")
        return v[0] > v[1];
      return how == "GE" ? std::optional<int64_t>(v[0] >= v[1]) : std::nullopt;
    }
    if (from == 1)
      return std::nullopt;
    uint64_t a = v[0], b = v[1];
    if (name == "add")
      return a + b;
    if (name == "subtract")
      return a - b;
    if (name == "multiply")
      return a * b;
    if (name == "maximum")
      return std::max(v[0], v[1]);
    if (name == "minimum")
      return std::min(v[0], v[1]);
    // The least integer divided by -1 has no quotient.
    if (v[1] == 0 || v[1] == -1)
      return std::nullopt;
    if (name == "divide")
      return v[0] / v[1];
    if (name == "remainder")
      return v[0] % v[1];
    return std::nullopt;
  };
  Elements elements;
  bool isKnown = true;
  SmallVector<int64_t> values(x.size());
  forEachElement(shape, x, getAllDims(shape), [&](ArrayRef<int64_t> places) {
    for (size_t i = 0; i < x.size(); ++i)
      values[i] = (*x[i].elements)[places[i]];
    std::optional<int64_t> value = compute(values);
    isKnown &= value.has_value();
    elements.push_back(width == 1
                           ? value.value_or(0)
                           : llvm::SignExtend64(value.value_or(0), width));
  });
  return isKnown && set(op, makeElements(shape, std::move(elements)));
}

bool StableHLOImporter::moveIntegers(Operation *op, KnownIntegers x) {
  StringRef name = op->getName().stripDialect();
  auto from = typeOf(op->getOperand(0)), to = typeOf(op->getResult(0));
  if (name == "convert") {
    unsigned width = to.getElementTypeBitWidth();
    if (width < from.getElementTypeBitWidth())
      return false;
    bool isBool = from.getElementType().isInteger(1);
    return (x.kind == Kind::Constant || isBool == (width == 1)) &&
           set(op, std::move(x));
  }
  SmallVector<int64_t> shape(to.getRank(), 1);
  bool isOneHot = x.kind == Kind::OneHot;
  if (name == "transpose" || name == "broadcast_in_dim") {
    auto numbers = getNumbers(op, name == "transpose" ? "permutation"
                                                      : "broadcast_dimensions");
    if (!numbers || numbers->size() != x.shape.size())
      return false;
    // The new position of each dimension.
    SmallVector<int64_t> dims(*numbers);
    if (name == "transpose" && !isPermutationVector(*numbers))
      return false;
    if (name == "transpose")
      for (auto [dim, old] : llvm::enumerate(*numbers))
        dims[old] = dim;
    int64_t last = -1;
    bool inOrder = true;
    for (auto [old, dim] : llvm::enumerate(dims)) {
      if (dim < 0 || dim >= to.getRank())
        return false;
      shape[dim] = x.shape[old];
      if (x.shape[old] == 1 ||
          (isOneHot && static_cast<int64_t>(old) == x.bound))
        continue;
      inOrder &= dim > last;
      last = dim;
    }
    if (isOneHot)
      x.bound = dims[x.bound];
    if (!inOrder) {
      if (x.kind != Kind::Constant)
        return false;
      Elements elements;
      forEachElement(shape, x, dims, [&](ArrayRef<int64_t> places) {
        elements.push_back((*x.elements)[places[0]]);
      });
      return set(op, makeElements(shape, std::move(elements)));
    }
    x.shape = shape;
    return set(op, std::move(x));
  }
  // Converts a reshape that inserts and removes extents of 1.
  auto before = getLongDims(from.getShape()),
       after = getLongDims(to.getShape());
  auto isSame = [&](auto pair) {
    return from.getDimSize(std::get<0>(pair)) ==
           to.getDimSize(std::get<1>(pair));
  };
  if (before.size() == after.size() &&
      llvm::all_of(llvm::zip(before, after), isSame)) {
    int64_t bound = x.bound;
    for (auto [old, dim] : llvm::zip(before, after)) {
      shape[dim] = x.shape[old];
      if (isOneHot && old == x.bound)
        bound = dim;
    }
    x.shape = shape;
    x.bound = bound;
    return set(op, std::move(x));
  }
  if (isOneHot || from.getNumElements() != to.getNumElements() ||
      ArrayRef<int64_t>(x.shape) != from.getShape())
    return false;
  x.shape = llvm::to_vector(to.getShape());
  return set(op, std::move(x));
}

/// Matches the operations that JAX applies to an index before use, and a
/// one-hot encoding.
bool StableHLOImporter::matchIndex(Operation *op, ArrayRef<KnownIntegers> x) {
  StringRef name = op->getName().stripDialect();
  auto getConstant = [](const KnownIntegers &each) -> std::optional<int64_t> {
    if (each.kind != Kind::Constant || each.elements->size() != 1)
      return std::nullopt;
    return each.elements->front();
  };
  auto become = [&](KnownIntegers result, Kind kind, int64_t bound) {
    result.kind = kind;
    result.bound = bound;
    return set(op, std::move(result));
  };
  auto areOfOne = [](const KnownIntegers &lhs, const KnownIntegers &rhs) {
    return lhs.index == rhs.index && lhs.shape == rhs.shape;
  };
  if (name == "select")
    return x.size() == 3 && x[0].kind == Kind::Negative &&
           x[1].kind == Kind::Shifted && x[2].kind == Kind::Index &&
           areOfOne(x[0], x[1]) && areOfOne(x[0], x[2]) &&
           become(x[2], Kind::Wrapped, x[1].bound);
  if (x.size() != 2)
    return false;
  const KnownIntegers &lhs = x[0], &rhs = x[1];
  if (name == "add") {
    const KnownIntegers &other = lhs.kind == Kind::Index ? rhs : lhs;
    const KnownIntegers &index = lhs.kind == Kind::Index ? lhs : rhs;
    std::optional<int64_t> bound = getConstant(other);
    return bound && *bound > 0 && index.kind == Kind::Index &&
           become(index, Kind::Shifted, *bound);
  }
  if (name == "and") {
    if (getConstant(lhs) == 1)
      return set(op, rhs);
    if (getConstant(rhs) == 1)
      return set(op, lhs);
    const KnownIntegers &low = lhs.kind == Kind::AtLeast0 ? lhs : rhs;
    const KnownIntegers &high = lhs.kind == Kind::AtLeast0 ? rhs : lhs;
    return low.kind == Kind::AtLeast0 && high.kind == Kind::Below &&
           areOfOne(low, high) && become(low, Kind::InRange, high.bound);
  }
  if (name != "compare")
    return false;
  StringRef how = getEnum(op, "comparison_direction");
  if (how == "EQ") {
    const KnownIntegers &index = lhs.kind == Kind::Index ? lhs : rhs;
    const KnownIntegers &iota = lhs.kind == Kind::Index ? rhs : lhs;
    auto dims = getLongDims(iota.shape);
    if (index.kind != Kind::Index || iota.kind != Kind::Constant ||
        dims.size() != 1 || index.shape[dims[0]] != 1)
      return false;
    for (auto [i, element] : llvm::enumerate(*iota.elements))
      if (element != static_cast<int64_t>(i))
        return false;
    KnownIntegers result = index;
    result.shape[dims[0]] = iota.shape[dims[0]];
    return become(std::move(result), Kind::OneHot, dims[0]);
  }
  std::optional<int64_t> limit = getConstant(rhs);
  if (!limit || (lhs.kind != Kind::Index && lhs.kind != Kind::Wrapped))
    return false;
  if (how == "LT" && *limit == 0 && lhs.kind == Kind::Index)
    return become(lhs, Kind::Negative, 0);
  if (how == "GE" && *limit == 0)
    return become(lhs, Kind::AtLeast0, 0);
  if (how == "LE" && *limit < std::numeric_limits<int32_t>::max())
    return become(lhs, Kind::Below, *limit + 1);
  return how == "LT" && *limit > 0 && become(lhs, Kind::Below, *limit);
}
