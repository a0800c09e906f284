//===- MatrixProductOpInterface.td - Products of matrices --*- tablegen -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The interface through which an operation states that it multiplies two
// matrices.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_INTERFACES_MATRIXPRODUCTOPINTERFACE_TD
#define AMP_INTERFACES_MATRIXPRODUCTOPINTERFACE_TD

include "mlir/IR/OpBase.td"

def MatrixProductOpInterface : OpInterface<"MatrixProductOpInterface"> {
  let cppNamespace = "::mlir::amp";
  let description = [{
    An operation with one result, the product of two matrices. A tensor is read
    as a matrix whose rows are all dimensions but the last. Passes replace such a
    product by one of quantised operands, `amp.scaled_matmul`, whose result then
    has the same type.
  }];
  let methods = [
    InterfaceMethod<[{
        Returns the operands of the product, or std::nullopt if it is not a
        product of two matrices, such as a product of batches. An operand may be
        a value of another shape with the same matrix.
      }],
      "::std::optional<::mlir::amp::MatrixProduct>", "getMatrixProduct">,
  ];
}

#endif // AMP_INTERFACES_MATRIXPRODUCTOPINTERFACE_TD
