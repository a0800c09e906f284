//===- Proportional.cpp - Results proportional to an operand --------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Interfaces/Proportional.h"

#include "amp/Interfaces/LossScaleOpInterface.h"
#include "mlir/IR/Matchers.h"
#include <optional>

using namespace mlir;
using namespace mlir::amp;

namespace {

/// Gives one operand exponent 1, and all other values exponent 0.
class SingleOperand final : public ScaleExponentInference {
public:
  SingleOperand(Operation *op, unsigned operand) : op(op), operand(operand) {
    for (Value value : op->getOperands()) {
      Attribute constant;
      bool isFixed = matchPattern(value, m_Constant(&constant)) &&
                     isScaleInvariant(constant);
      exponents.push_back(isFixed ? ScaleExponent::any() : ScaleExponent());
    }
    exponents[operand] = ScaleExponent::of(0);
  }

  Operation *getOperation() const override { return op; }
  const ScaleExponent &getOperand(unsigned index) const override {
    return exponents[index];
  }
  ScaleExponent getExponent(Value value) const override {
    return value == op->getOperand(operand) ? ScaleExponent::of(0)
                                            : ScaleExponent();
  }
  ScaleExponent getScale(unsigned) const override { return {}; }
  ScaleExponent getFactor(unsigned) const override { return {}; }
  void setResult(unsigned, ScaleExponent exponent) override {
    result = std::move(exponent);
  }
  LogicalResult fail(unsigned, const Twine &) override { return failure(); }
  std::string describe(const ScaleExponent &) const override { return {}; }

  const ScaleExponent &getResult() const { return result; }

private:
  Operation *op;
  unsigned operand;
  SmallVector<ScaleExponent, 2> exponents;
  ScaleExponent result;
};

} // namespace

/// Returns the exponent of the result of `op` if only operand `operand` has the
/// exponent 1. Returns nothing if the operation has no rule for that.
static std::optional<ScaleExponent> inferResult(Operation *op,
                                                unsigned operand) {
  auto iface = dyn_cast<LossScaleOpInterface>(op);
  if (!iface || op->getNumResults() != 1)
    return std::nullopt;
  SingleOperand inference(op, operand);
  if (failed(iface.inferScaleExponents(inference)))
    return std::nullopt;
  return inference.getResult();
}

bool mlir::amp::isProportionalTo(Operation *op, unsigned operand) {
  std::optional<ScaleExponent> result = inferResult(op, operand);
  return result && *result == ScaleExponent::of(0);
}

bool mlir::amp::isInverselyProportionalTo(Operation *op, unsigned operand) {
  std::optional<ScaleExponent> result = inferResult(op, operand);
  return result && *result == ScaleExponent::of(0).power(-1, 1);
}
