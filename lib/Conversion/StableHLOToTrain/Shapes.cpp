//===- Shapes.cpp - Whether operands fit an operation ---------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Without StableHLO nothing verifies its operations. The importer reads
// operands and dimensions only of operations that pass these checks.
//
//===----------------------------------------------------------------------===//

#include "StableHLOImporter.h"
#include "amp/Support/OperationAttributes.h"
#include "amp/Support/StableHLOText.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace mlir::amp;
using namespace mlir::train;

/// The number of operands of `name` if that is fixed, or -1.
static int64_t getArity(StringRef name) {
  return llvm::StringSwitch<int64_t>(name)
      .Cases({"constant", "iota"}, 0)
      .Cases({"reshape", "transpose", "broadcast_in_dim", "slice", "reverse",
              "convert", "bitcast_convert", "top_k"},
             1)
      .Cases({"gather", "pad", "dot_general", "convolution", "compare", "add",
              "subtract", "multiply", "divide"},
             2)
      .Cases({"maximum", "minimum", "power", "remainder", "atan2", "and", "or",
              "xor"},
             2)
      .Cases({"shift_left", "shift_right_logical", "shift_right_arithmetic"}, 2)
      .Cases({"select", "clamp", "scatter"}, 3)
      .Default(-1);
}

static bool areDistinctDims(ArrayRef<int64_t> dims, int64_t rank) {
  llvm::SmallDenseSet<int64_t> seen;
  return llvm::all_of(dims, [&](int64_t dim) {
    return dim >= 0 && dim < rank && seen.insert(dim).second;
  });
}

/// Whether a product has the dimensions of its operands.
static bool isProduct(Operation *op, RankedTensorType lhs, RankedTensorType rhs,
                      RankedTensorType result) {
  std::string text = getText(op, "dot_dimension_numbers");
  SmallVector<int64_t> left = getField(text, "lhs_batching_dimensions"),
                       right = getField(text, "rhs_batching_dimensions");
  if (left.size() != right.size())
    return false;
  llvm::append_range(left, getField(text, "lhs_contracting_dimensions"));
  llvm::append_range(right, getField(text, "rhs_contracting_dimensions"));
  if (left.size() != right.size() || !areDistinctDims(left, lhs.getRank()) ||
      !areDistinctDims(right, rhs.getRank()))
    return false;
  for (auto [one, other] : llvm::zip(left, right))
    if (lhs.getDimSize(one) != rhs.getDimSize(other))
      return false;
  size_t batches = getField(text, "lhs_batching_dimensions").size();
  int64_t elements = 1;
  for (int64_t dim = 0; dim < lhs.getRank(); ++dim)
    if (!llvm::is_contained(ArrayRef<int64_t>(left).drop_front(batches), dim))
      elements *= lhs.getDimSize(dim);
  for (int64_t dim = 0; dim < rhs.getRank(); ++dim)
    if (!llvm::is_contained(right, dim))
      elements *= rhs.getDimSize(dim);
  return elements == result.getNumElements();
}

/// Whether `op` moves elements of a tensor of type `from` to one of type `to`.
static bool isMovement(Operation *op, StringRef name, RankedTensorType from,
                       RankedTensorType to) {
  if (name == "reshape")
    return from.getNumElements() == to.getNumElements();
  if (name == "reverse")
    return from == to;
  if (name == "transpose") {
    auto order = getNumbers(op, "permutation");
    return order && isPermutationVector(*order) &&
           static_cast<int64_t>(order->size()) == from.getRank() &&
           applyPermutation(from.getShape(), *order) == to.getShape();
  }
  if (name == "broadcast_in_dim") {
    auto dims = getNumbers(op, "broadcast_dimensions");
    if (!dims || static_cast<int64_t>(dims->size()) != from.getRank() ||
        !areDistinctDims(*dims, to.getRank()))
      return false;
    return llvm::all_of(llvm::zip(*dims, from.getShape()), [&](auto pair) {
      auto [dim, extent] = pair;
      return extent == 1 || extent == to.getDimSize(dim);
    });
  }
  // A slice.
  auto start = getNumbers(op, "start_indices"),
       step = getNumbers(op, "strides");
  if (!start || !step || from.getRank() != to.getRank() ||
      static_cast<int64_t>(start->size()) != from.getRank() ||
      step->size() != start->size())
    return false;
  for (int64_t dim = 0; dim < from.getRank(); ++dim) {
    int64_t first = (*start)[dim], by = (*step)[dim], size = to.getDimSize(dim),
            extent = from.getDimSize(dim);
    if (first < 0 || by < 1 || first > extent ||
        by > std::max<int64_t>(extent, 1) ||
        (size > 0 && first + (size - 1) * by >= extent))
      return false;
  }
  return true;
}

/// Whether the operands of an elementwise operation have the shape of its
/// result. The condition of a selection and the bounds of a clamp may be
/// scalars.
static bool isElementwise(Operation *op, StringRef name,
                          ArrayRef<RankedTensorType> types,
                          RankedTensorType result) {
  bool converts = name == "convert" || name == "bitcast_convert" ||
                  name == "is_finite" || name == "compare";
  for (auto [number, type] : llvm::enumerate(types)) {
    bool isCondition = name == "select" && number == 0;
    bool mayBeScalar = isCondition || (name == "clamp" && number != 1);
    if (type.getShape() != result.getShape() &&
        !(mayBeScalar && type.getRank() == 0))
      return false;
    if (isCondition ? !type.getElementType().isInteger(1)
        : converts  ? type.getElementType() != types[0].getElementType()
                    : type.getElementType() != result.getElementType())
      return false;
  }
  return name != "compare" || result.getElementType().isInteger(1);
}

/// Whether `op` reduces a tensor of type `from` to one of type `to`.
static bool isReduction(Operation *op, RankedTensorType from,
                        RankedTensorType start, RankedTensorType to) {
  auto dims = getNumbers(op, "dimensions");
  if (!dims || start.getRank() != 0 || !areDistinctDims(*dims, from.getRank()))
    return false;
  SmallVector<int64_t> shape;
  for (auto [dim, extent] : llvm::enumerate(from.getShape()))
    if (!llvm::is_contained(*dims, static_cast<int64_t>(dim)))
      shape.push_back(extent);
  return to == from.clone(shape) &&
         start.getElementType() == from.getElementType();
}

/// Whether `op` joins tensors of `types` to one of type `to`.
static bool isConcatenation(Operation *op, ArrayRef<RankedTensorType> types,
                            RankedTensorType to) {
  auto dim = op->getAttrOfType<IntegerAttr>("dimension");
  if (!dim || dim.getInt() < 0 || dim.getInt() >= to.getRank())
    return false;
  SmallVector<int64_t> shape(to.getShape());
  int64_t sum = 0;
  for (RankedTensorType type : types) {
    if (type.getRank() != to.getRank())
      return false;
    shape[dim.getInt()] = type.getDimSize(dim.getInt());
    sum += shape[dim.getInt()];
    if (type != to.clone(shape))
      return false;
  }
  return sum == to.getDimSize(dim.getInt());
}

/// Whether the extents of a tensor or a window are at most 2^31, and their
/// product is at most 2^40.
static bool areExtentsSmall(ArrayRef<int64_t> extents) {
  constexpr int64_t largest = int64_t(1) << 31;
  constexpr int64_t largestProduct = int64_t(1) << 40;
  int64_t product = 1;
  for (int64_t extent : extents) {
    if (extent > largest || (extent > 0 && extent > largestProduct / product))
      return false;
    product *= std::max<int64_t>(extent, 1);
  }
  return true;
}

/// Whether 64 bits hold the sizes that the importer computes from the types and
/// the attributes of `op`.
static bool areSizesSmall(Operation *op) {
  constexpr int64_t largest = int64_t(1) << 31;
  auto isSmall = [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return !tensor || areExtentsSmall(tensor.getShape());
  };
  if (!llvm::all_of(op->getOperandTypes(), isSmall) ||
      !llvm::all_of(op->getResultTypes(), isSmall))
    return false;
  for (NamedAttribute attribute : getAllAttributes(op)) {
    if (attribute.getName() == "value")
      continue;
    auto numbers = getNumbers(op, attribute.getName());
    if (numbers && llvm::any_of(*numbers, [](int64_t number) {
          return number < -largest || number > largest;
        }))
      return false;
  }
  auto window = getNumbers(op, "window_dimensions");
  return !window || areExtentsSmall(*window);
}

bool StableHLOImporter::areOperandsValid(Operation *op) {
  if (!areSizesSmall(op))
    return false;
  StringRef name = op->getName().stripDialect();
  SmallVector<RankedTensorType> types;
  for (Type type : op->getOperandTypes()) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor || !tensor.hasStaticShape())
      return false;
    types.push_back(tensor);
  }
  int64_t arity = getArity(name);
  if (arity >= 0 ? static_cast<int64_t>(types.size()) != arity : types.empty())
    return false;
  if (op->getNumResults() != 1)
    return true;
  auto result = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  if (!result || !result.hasStaticShape())
    return false;
  if (name == "constant") {
    auto value = dyn_cast_or_null<ElementsAttr>(op->getAttr("value"));
    return value && value.getShapedType() == result;
  }
  if (name == "dot_general")
    return isProduct(op, types[0], types[1], result);
  if (llvm::is_contained(
          {"reshape", "transpose", "broadcast_in_dim", "slice", "reverse"},
          name))
    return types[0].getElementType() == result.getElementType() &&
           isMovement(op, name, types[0], result);
  bool isOther = llvm::is_contained(
      {"iota", "gather", "pad", "convolution", "scatter", "reduce",
       "reduce_window", "concatenate", "sort", "while", "case", "if",
       "dynamic_slice", "dynamic_update_slice", "top_k"},
      name);
  if (name == "reduce")
    return types.size() == 2 && isReduction(op, types[0], types[1], result);
  if (name == "concatenate")
    return isConcatenation(op, types, result);
  return isOther || isElementwise(op, name, types, result);
}

bool StableHLOImporter::haveResultTypes(Operation *op) const {
  return llvm::all_of(op->getResults(), [&](Value result) {
    auto it = known.find(result);
    auto type = dyn_cast<RankedTensorType>(result.getType());
    if (it == known.end() || !type)
      return it == known.end();
    if (const std::optional<KnownIntegers> &integers = it->second.integers)
      if (static_cast<int64_t>(integers->shape.size()) != type.getRank() ||
          llvm::any_of(llvm::zip(integers->shape, type.getShape()),
                       [](auto extents) {
                         auto [known, own] = extents;
                         return known != 1 && known != own;
                       }))
        return false;
    Value value = it->second.value;
    return !value || value.getType() == type ||
           value.getType() == getComputedType(type);
  });
}
