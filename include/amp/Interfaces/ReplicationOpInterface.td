//===- ReplicationOpInterface.td - Equal on all ranks? -----*- tablegen -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The interface through which an operation states which of its results are
// equal on all ranks of a data-parallel step.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_INTERFACES_REPLICATIONOPINTERFACE_TD
#define AMP_INTERFACES_REPLICATIONOPINTERFACE_TD

include "mlir/IR/OpBase.td"

def ReplicationOpInterface : OpInterface<"ReplicationOpInterface"> {
  let cppNamespace = "::mlir::amp";
  let description = [{
    States how an operation relates the values of several ranks that run the
    same step on different parts of a batch. A value is *replicated* (equal on
    all ranks), *varying* (each rank has its own, often the part of a larger
    tensor along one dimension), or *partial* (the ranks have summands of one
    total). Replicated and partial values also have the power of N, the number
    of ranks, by which they are multiplied in comparison to one rank that
    computes the whole batch.
  }];
  let methods = [
    InterfaceMethod<[{
        Sets the replication of each result from those of the operands, and
        reports operands that do not fit with `inference.report`. Results that
        are not set vary.
      }],
      "void", "inferReplication",
      (ins "::mlir::amp::ReplicationInference &":$inference)>,
    InterfaceMethod<[{
        Whether all ranks must execute the operation together.
      }],
      "bool", "isCollective", (ins), [{}], [{ return false; }]>,
    InterfaceMethod<[{
        Whether the operation draws a random number for each element of its first
        result, by the index of the element.
      }],
      "bool", "drawsByIndex", (ins), [{}], [{ return false; }]>,
    InterfaceMethod<[{
        Computes the results with the statistics of the whole batch instead of
        those of the part of one rank, and appends them to `results`. Fails, and
        changes nothing, for an operation without statistics of a batch.
      }],
      "::llvm::LogicalResult", "synchronize",
      (ins "::mlir::OpBuilder &":$builder,
           "::llvm::SmallVectorImpl<::mlir::Value> &":$results), [{}],
      [{ return ::mlir::failure(); }]>,
    InterfaceMethod<[{
        Whether `combineParts` is implemented: the operation computes a few
        numbers from all elements of its operands, such as a norm.
      }],
      "bool", "combinesParts", (ins), [{}], [{ return false; }]>,
    InterfaceMethod<[{
        Computes the results from parts of operands, with the numbers of all
        ranks, and appends them to `results`. `operands[i]` replaces operand i.
        If `isPart[i]` is set, it is the flat part of each rank, as
        `amp.rank_part` takes it. A result of the number and of the type of this
        operand then is a part too.
      }],
      "void", "combineParts",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::ValueRange":$operands,
           "::llvm::ArrayRef<bool>":$isPart,
           "::llvm::SmallVectorImpl<::mlir::Value> &":$results), [{}],
      [{ llvm_unreachable("the operation combines no parts"); }]>,
  ];
}

#endif // AMP_INTERFACES_REPLICATIONOPINTERFACE_TD
