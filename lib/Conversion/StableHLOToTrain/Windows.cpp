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

bool StableHLOImporter::convertConvolution(Operation *op) {
  Value x = get(op->getOperand(0)), filter = get(op->getOperand(1));
  StringRef wanted = "[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]";
  if (!x || !filter ||
      !StringRef(getText(op, "dimension_numbers")).contains(wanted))
    return false;
  auto strides = getNumbers(op, "window_strides");
  auto dilations = getNumbers(op, "rhs_dilation");
  auto spread = getNumbers(op, "lhs_dilation");
  auto padding = getNumbers(op, "padding");
  auto groups = op->getAttrOfType<IntegerAttr>("feature_group_count");
  auto batches = op->getAttrOfType<IntegerAttr>("batch_group_count");
  auto isOne = [](int64_t value) { return value == 1; };
  auto isNegative = [](int64_t value) { return value < 0; };
  if ((spread && !llvm::all_of(*spread, isOne)) ||
      (padding && llvm::any_of(*padding, isNegative)) ||
      (batches && batches.getInt() != 1) ||
      StringRef(getText(op, "window_reversal")).contains("true"))
    return false;
  SmallVector<int64_t> ones = {1, 1}, zeros = {0, 0, 0, 0};
  return set(op, train::Conv2DOp::create(
                     builder, op->getLoc(), op->getResult(0).getType(), x,
                     filter, strides.value_or(ones), padding.value_or(zeros),
                     dilations.value_or(ones), groups ? groups.getInt() : 1));
}

bool StableHLOImporter::convertPool(Operation *op) {
  auto window = getNumbers(op, "window_dimensions");
  auto strides = getNumbers(op, "window_strides");
  auto padding = getNumbers(op, "padding");
  auto base = getNumbers(op, "base_dilations");
  auto inner = getNumbers(op, "window_dilations");
  auto isOne = [](int64_t value) { return value == 1; };
  auto isNegative = [](int64_t value) { return value < 0; };
  if (op->getNumOperands() != 2 || !window || window->size() != 4 ||
      (base && !llvm::all_of(*base, isOne)) ||
      (inner && !llvm::all_of(*inner, isOne)))
    return false;
  std::optional<double> start = getNumber(op->getOperand(1));
  SmallVector<int64_t> ones(4, 1), zeros(8, 0);
  SmallVector<int64_t> step = strides.value_or(ones),
                       pad = padding.value_or(zeros);
  if (!start || (*window)[0] != 1 || (*window)[3] != 1 || step.size() != 4 ||
      step[0] != 1 || step[3] != 1 || pad.size() != 8 || pad[0] || pad[1] ||
      pad[6] || pad[7] || llvm::any_of(pad, isNegative))
    return false;
  StringRef body = getBody(op);
  auto type = typeOf(op->getResult(0));
  ArrayRef<int64_t> extents = ArrayRef<int64_t>(*window).slice(1, 2),
                    steps = ArrayRef<int64_t>(step).slice(1, 2),
                    edges = ArrayRef<int64_t>(pad).slice(2, 4);
  if (body == "maximum" && std::isinf(*start) && *start < 0) {
    Value x = get(op->getOperand(0));
    return x && set(op, train::MaxPool2DOp::create(builder, op->getLoc(), type,
                                                   x, extents, steps, edges));
  }
  if (body != "add" || *start != 0)
    return false;
  int64_t size = extents[0] * extents[1];
  // This is the number of elements in each window, a possible divisor.
  if (std::optional<double> number = getNumber(op->getOperand(0)))
    return *number == 1 && llvm::all_of(edges, [](int64_t e) { return !e; }) &&
           set(op, static_cast<double>(size));
  // A power of 2 undoes a division exactly. Other numbers must be divisors.
  bool isDivided = llvm::all_of(op->getUses(), [](OpOperand &use) {
    return use.getOwner()->getName().stripDialect() == "divide" &&
           use.getOperandNumber() == 0;
  });
  Value x = get(op->getOperand(0));
  if (!x || (!llvm::isPowerOf2_64(size) && !isDivided))
    return false;
  Value average = train::AvgPool2DOp::create(builder, op->getLoc(), type, x,
                                             extents, steps, edges);
  averages[op->getResult(0)] = {average, size};
  return set(op,
             llvm::isPowerOf2_64(size) ? at(op).mul(average, size) : Value());
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
