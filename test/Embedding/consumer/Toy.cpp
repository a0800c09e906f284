//===- Toy.cpp - A dialect that AMP has never seen ------------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Toy.h"

#include "mlir/Interfaces/FunctionImplementation.h"

using namespace mlir;
using namespace toy;

#include "ToyDialect.cpp.inc"
#define GET_OP_CLASSES
#include "ToyOps.cpp.inc"

void ToyDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "ToyOps.cpp.inc"
      >();
}

ParseResult FuncOp::parse(OpAsmParser &parser, OperationState &result) {
  auto buildType = [](Builder &builder, ArrayRef<Type> arguments,
                      ArrayRef<Type> results,
                      function_interface_impl::VariadicFlag, std::string &) {
    return builder.getFunctionType(arguments, results);
  };
  return function_interface_impl::parseFunctionOp(
      parser, result, /*allowVariadic=*/false,
      getFunctionTypeAttrName(result.name), buildType,
      getArgAttrsAttrName(result.name), getResAttrsAttrName(result.name));
}

void FuncOp::print(OpAsmPrinter &printer) {
  function_interface_impl::printFunctionOp(
      printer, *this, /*isVariadic=*/false, getFunctionTypeAttrName(),
      getArgAttrsAttrName(), getResAttrsAttrName());
}

// A product of two scaled values has both factors; the gradient of the loss has
// that of its seed, and everything else that of its first operand.
LogicalResult
MatmulOp::inferScaleDegrees(amp::ScaleDegreeInference &inference) {
  return amp::inferProductDegree(inference);
}
LogicalResult
LossGradOp::inferScaleDegrees(amp::ScaleDegreeInference &inference) {
  return amp::inferJointDegree(inference, {2});
}
LogicalResult
ReluGradOp::inferScaleDegrees(amp::ScaleDegreeInference &inference) {
  return amp::inferJointDegree(inference, {0});
}
LogicalResult
TransposeOp::inferScaleDegrees(amp::ScaleDegreeInference &inference) {
  return amp::inferJointDegree(inference, {0});
}

/// A product: low operands, and a result that may be f32 or low.
void MatmulOp::getPrecisionSlots(amp::PrecisionSlots &slots) {
  slots.reset(*this);
  int8_t operands = slots.add(amp::SlotKind::Compute, {0, 1}, {});
  int8_t result = slots.add(amp::SlotKind::Storage, {}, {0});
  slots.addImplication(result, operands);
}

/// Reads and gives low values, but not the seed: the loss scale is beyond the
/// range of f16.
void LossGradOp::getPrecisionSlots(amp::PrecisionSlots &slots) {
  slots.reset(*this);
  slots.add(amp::SlotKind::Storage, {0, 1}, {0});
  slots.add(amp::SlotKind::Fixed, {2}, {});
}

OperandRange DescendOp::getGradientOperands() {
  return getOperation()->getOperands().slice(1, 1);
}
