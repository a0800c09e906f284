//===- CUDAInterfaces.td - What every launch can tell ------*- tablegen -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_DIALECT_CUDA_IR_CUDAINTERFACES_TD
#define AMP_DIALECT_CUDA_IR_CUDAINTERFACES_TD

include "mlir/IR/OpBase.td"

def CUDA_LaunchOpInterface : OpInterface<"LaunchOpInterface"> {
  let cppNamespace = "::mlir::cuda";
  let description = [{
    A launch: one call of a library or of a kernel. It has two forms. On tensors
    it has results and no outputs; on buffers it writes its outputs and has no
    results. `getNumTargets` is the number of the one or the other.
  }];
  let methods = [
    InterfaceMethod<"What the launch reads.", "::mlir::OperandRange",
                    "getInputs", (ins)>,
    InterfaceMethod<"The buffers that it writes, in the form on buffers.",
                    "::mlir::OperandRange", "getOutputs", (ins)>,
    InterfaceMethod<"What it gives, in the form on tensors.",
                    "::mlir::ResultRange", "getResults", (ins)>,
    InterfaceMethod<[{The flag, a boolean on the device, without which nothing
                      is written; null if there is none.}],
                    "::mlir::Value", "getPredicate", (ins)>,
    InterfaceMethod<"The name of the launch in the program, if it has one.",
                    "::std::optional<::llvm::StringRef>", "getName", (ins)>,
    InterfaceMethod<[{Whether target `target` may be written to the memory of
                      input `input`: each of its elements is read, if at all,
                      before the same element is written.}],
                    "bool", "mayAlias", (ins "unsigned":$target,
                                             "unsigned":$input)>,
    InterfaceMethod<"The input that target `target` must share memory with.",
                    "::std::optional<unsigned>", "getTiedInput",
                    (ins "unsigned":$target),
                    /*methodBody=*/[{}], /*defaultImplementation=*/[{
                      return std::nullopt;
                    }]>,
    InterfaceMethod<"Scratch memory that the launch needs, in bytes.",
                    "int64_t", "getScratchBytes", (ins),
                    /*methodBody=*/[{}], /*defaultImplementation=*/[{
                      return 0;
                    }]>,
    InterfaceMethod<"Floating-point operations of the launch.", "int64_t",
                    "getFlops", (ins)>,
    InterfaceMethod<"Whether the operations run on tensor cores.", "bool",
                    "isProduct", (ins),
                    /*methodBody=*/[{}], /*defaultImplementation=*/[{
                      return false;
                    }]>,
  ];
  let extraSharedClassDeclaration = [{
    /// The number of outputs or results.
    unsigned getNumTargets() {
      return $_op.getOutputs().size() + $_op.getResults().size();
    }
    /// The type of an output or result.
    ::mlir::ShapedType getTargetType(unsigned index) {
      return ::llvm::cast<::mlir::ShapedType>(
          $_op.getOutputs().empty() ? $_op.getResults()[index].getType()
                                    : $_op.getOutputs()[index].getType());
    }
    /// The type of an input.
    ::mlir::ShapedType getInputType(unsigned index) {
      return ::llvm::cast<::mlir::ShapedType>($_op.getInputs()[index].getType());
    }
    /// Whether this is the form on buffers.
    bool isOnBuffers() { return $_op.getResults().empty(); }
  }];
}

#endif // AMP_DIALECT_CUDA_IR_CUDAINTERFACES_TD
