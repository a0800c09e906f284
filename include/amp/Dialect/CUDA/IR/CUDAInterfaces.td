//===- CUDAInterfaces.td - Interface of launches -----------*- tablegen -*-===//
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
    it has results and no outputs. On buffers it writes its outputs and has no
    results. `getNumTargets` is the number of results or outputs.

    The memory plan, the costs and the emitter query launches through this
    interface.
  }];
  let verify = [{ return ::mlir::cuda::verifyLaunchForm($_op); }];
  let methods = [
    InterfaceMethod<"The operands that the launch reads.", "::mlir::OperandRange",
                    "getInputs", (ins)>,
    InterfaceMethod<"The buffers that the launch writes, in the form on buffers.",
                    "::mlir::OperandRange", "getOutputs", (ins)>,
    InterfaceMethod<"The results of the launch, in the form on tensors.",
                    "::mlir::ResultRange", "getResults", (ins)>,
    InterfaceMethod<[{The flag, a boolean on the device. If it is false, the
                      launch writes nothing. Null if there is no flag.}],
                    "::mlir::Value", "getPredicate", (ins)>,
    InterfaceMethod<"The name of the launch in the program, if it has one.",
                    "::std::optional<::llvm::StringRef>", "getName", (ins)>,
    InterfaceMethod<"Scratch memory, in the form on buffers.",
                    "::mlir::OperandRange", "getScratch", (ins)>,
    InterfaceMethod<[{Whether target `target` may be written to the memory
                      of input `input`. The launch must read each element
                      before it writes the same element.}],
                    "bool", "mayAlias", (ins "unsigned":$target, "unsigned":$input),
                    /*methodBody=*/[{}], /*defaultImplementation=*/[{
                      return false;
                    }]>,
    InterfaceMethod<"The input that target `target` must share memory with.",
                    "::std::optional<unsigned>", "getTiedInput", (ins "unsigned":$target),
                    /*methodBody=*/[{}], /*defaultImplementation=*/[{
                      return std::nullopt;
                    }]>,
    InterfaceMethod<"Scratch memory that the launch needs, in bytes.",
                    "int64_t", "getScratchBytes", (ins),
                    /*methodBody=*/[{}], /*defaultImplementation=*/[{
                      return 0;
                    }]>,
    InterfaceMethod<[{Bytes of the inputs that a second kernel of the
                      launch reads again.}],
                    "int64_t", "getRereadBytes", (ins),
                    /*methodBody=*/[{}], /*defaultImplementation=*/[{
                      return 0;
                    }]>,
    InterfaceMethod<[{Global memory that the launch reads, in bytes: each
                      input once, the inputs that a second kernel reads
                      again, and scratch memory, such as the patches of a
                      convolution.}],
                    "int64_t", "getReadBytes", (ins),
                    /*methodBody=*/[{}], /*defaultImplementation=*/[{
                      return ::mlir::cuda::getReadBytes($_op);
                    }]>,
    InterfaceMethod<[{Global memory that the launch writes, in bytes: each
                      output and scratch memory.}],
                    "int64_t", "getWrittenBytes", (ins),
                    /*methodBody=*/[{}], /*defaultImplementation=*/[{
                      return ::mlir::cuda::getWrittenBytes($_op);
                    }]>,
    InterfaceMethod<[{Floating-point operations of the launch. The default
                      is an estimate for kernels that are bound by memory:
                      eight for each element of the largest operand.}],
                    "int64_t", "getFlops", (ins),
                    /*methodBody=*/[{}], /*defaultImplementation=*/[{
                      return ::mlir::cuda::estimateFlops($_op, 8);
                    }]>,
    InterfaceMethod<[{The kernels, fills of memory and library calls that the
                      launch consists of. Each has the overhead of a node of a
                      graph.}],
                    "int64_t", "getNumKernels", (ins),
                    /*methodBody=*/[{}], /*defaultImplementation=*/[{
                      return 1;
                    }]>,
    InterfaceMethod<"Whether the operations run on tensor cores.",
                    "bool", "isProduct", (ins),
                    /*methodBody=*/[{}], /*defaultImplementation=*/[{
                      return false;
                    }]>,
    InterfaceMethod<"Whether a plan of cuDNN runs the launch.",
                    "bool", "usesCuDNN", (ins),
                    /*methodBody=*/[{}], /*defaultImplementation=*/[{
                      return false;
                    }]>,
    InterfaceMethod<"Whether f32 operands are rounded to TF32.",
                    "bool", "usesTF32", (ins),
                    /*methodBody=*/[{}], /*defaultImplementation=*/[{
                      return false;
                    }]>,
    InterfaceMethod<[{Whether all ranks execute the launch together, on a
                      second stream.}],
                    "bool", "isCollective", (ins),
                    /*methodBody=*/[{}], /*defaultImplementation=*/[{
                      return false;
                    }]>,
    InterfaceMethod<[{Whether the launch computes the gradient of another
                      one.}],
                    "bool", "isBackward", (ins),
                    /*methodBody=*/[{}], /*defaultImplementation=*/[{
                      return false;
                    }]>,
    InterfaceMethod<[{The number of tensors in the table that the launch
                      reads. 0 if it reads no table.}],
                    "int64_t", "getNumTableEntries", (ins),
                    /*methodBody=*/[{}], /*defaultImplementation=*/[{
                      return 0;
                    }]>,
    InterfaceMethod<"Returns the input that is the loss scale, or null.",
                    "::mlir::Value", "getLossScale", (ins),
                    /*methodBody=*/[{}], /*defaultImplementation=*/[{
                      return {};
                    }]>,
    InterfaceMethod<[{The exclusive upper bound of the indices in input
                      `input`. 0 if it is unknown.}],
                    "int64_t", "getIndexBound", (ins "unsigned":$input),
                    /*methodBody=*/[{}], /*defaultImplementation=*/[{
                      return 0;
                    }]>,
    InterfaceMethod<[{The suffix that makes the name of target `target` from
                      that of the launch.}],
                    "std::string", "getTargetSuffix", (ins "unsigned":$target),
                    /*methodBody=*/[{}], /*defaultImplementation=*/[{
                      return $_op.getNumTargets() == 1 ? "" : "." + std::to_string(target);
                    }]>,
    InterfaceMethod<"The name of a launch without another source of a name.",
                    "::llvm::StringRef", "getDefaultName", (ins),
                    /*methodBody=*/[{}], /*defaultImplementation=*/[{
                      return $_op->getName().stripDialect();
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
