//===- ProcessCalls.cpp - Calls of functions of the process ---------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProcessCalls.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/BuiltinOps.h"

using namespace mlir;
using namespace mlir::amp;

void mlir::amp::callProcess(RewriterBase &rewriter, Operation *op,
                            StringRef name, ValueRange operands) {
  auto module = op->getParentOfType<ModuleOp>();
  if (!module.lookupSymbol(name)) {
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPointToStart(module.getBody());
    auto type =
        FunctionType::get(op->getContext(), TypeRange(operands), TypeRange());
    func::FuncOp::create(rewriter, op->getLoc(), name, type).setPrivate();
  }
  func::CallOp::create(rewriter, op->getLoc(), name, TypeRange(), operands);
}

Value mlir::amp::eraseShape(RewriterBase &rewriter, Value buffer) {
  auto type = cast<MemRefType>(buffer.getType());
  return memref::CastOp::create(
      rewriter, buffer.getLoc(),
      UnrankedMemRefType::get(type.getElementType(), type.getMemorySpace()),
      buffer);
}

std::string mlir::amp::spellElementType(Value buffer) {
  std::string name;
  llvm::raw_string_ostream(name) << getElementTypeOrSelf(buffer.getType());
  return name;
}

void mlir::amp::passBuffers(RewriterBase &rewriter, Operation *op,
                            StringRef prefix, ValueRange buffers) {
  for (Value buffer : buffers)
    callProcess(rewriter, op, prefix.str() + spellElementType(buffer),
                eraseShape(rewriter, buffer));
}

FailureOr<SmallVector<Value>>
mlir::amp::getOperandBuffers(RewriterBase &rewriter, Operation *op,
                             const bufferization::BufferizationOptions &options,
                             bufferization::BufferizationState &state) {
  SmallVector<Value> buffers;
  for (Value operand : op->getOperands()) {
    FailureOr<Value> buffer =
        bufferization::getBuffer(rewriter, operand, options, state);
    if (failed(buffer))
      return failure();
    buffers.push_back(*buffer);
  }
  return buffers;
}

FailureOr<Value>
mlir::amp::allocateResult(RewriterBase &rewriter, OpResult result,
                          const bufferization::BufferizationOptions &options) {
  auto type = cast<RankedTensorType>(result.getType());
  return options.createAlloc(
      rewriter, result.getLoc(),
      MemRefType::get(type.getShape(), type.getElementType()), ValueRange());
}

Value mlir::amp::getConstantBuffer(RewriterBase &rewriter, Operation *op,
                                   StringRef prefix,
                                   DenseElementsAttr elements) {
  auto module = op->getParentOfType<ModuleOp>();
  auto tensor = cast<RankedTensorType>(elements.getType());
  auto type = MemRefType::get(tensor.getShape(), tensor.getElementType());
  for (auto global : module.getOps<memref::GlobalOp>())
    if (global.getInitialValue() == elements && global.getConstant())
      return memref::GetGlobalOp::create(rewriter, op->getLoc(), type,
                                         global.getSymName());
  std::string name = prefix.str();
  for (unsigned i = 0; module.lookupSymbol(name); ++i)
    name = (prefix + "_" + Twine(i)).str();
  {
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPointToStart(module.getBody());
    memref::GlobalOp::create(rewriter, op->getLoc(), name,
                             rewriter.getStringAttr("private"), type, elements,
                             /*constant=*/true, /*alignment=*/IntegerAttr());
  }
  return memref::GetGlobalOp::create(rewriter, op->getLoc(), type, name);
}
