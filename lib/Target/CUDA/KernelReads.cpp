//===- KernelReads.cpp - Inputs of kernels --------------------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EmitterSupport.h"

#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/AffineMap.h"

#include <algorithm>
#include <optional>
#include <set>

using namespace mlir;
using namespace mlir::cuda;

SmallVector<unsigned> mlir::cuda::getLoopOrder(KernelOp kernel) {
  SmallVector<unsigned> kept, reduced;
  for (unsigned loop = 0; loop < kernel.getExtents().size(); ++loop)
    (kernel.isReducedLoop(loop) ? reduced : kept).push_back(loop);
  SmallVector<unsigned> order;
  bool columns = kernel.isColumnReduction();
  order.append(columns ? reduced : kept);
  order.append(columns ? kept : reduced);
  return order;
}

/// For each loop, the number of steps of `i`, the linear position, per step of
/// the loop.
static SmallVector<int64_t> getSteps(KernelOp kernel,
                                     ArrayRef<unsigned> order) {
  SmallVector<int64_t> steps(order.size(), 1);
  int64_t step = 1;
  for (unsigned loop : llvm::reverse(order)) {
    steps[loop] = step;
    step *= kernel.getExtents()[loop];
  }
  return steps;
}

std::string mlir::cuda::getPosition(KernelOp kernel, ArrayRef<unsigned> order,
                                    unsigned loop, NumberPrinter &numbers) {
  int64_t step = getSteps(kernel, order)[loop],
          extent = kernel.getExtents()[loop];
  if (extent == 1)
    return "int64_t(0)";
  std::string text = step == 1 ? "i" : "i / " + numbers.getKernel(step);
  if (loop == order.front())
    return text;
  return (step == 1 ? text : "(" + text + ")") + " % " +
         numbers.getKernel(extent);
}

/// Prints `expr` over positions named d0, d1, and so on. `loops` collects those
/// that it uses.
static std::string getText(AffineExpr expr, std::set<unsigned> &loops,
                           NumberPrinter &numbers) {
  if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
    loops.insert(dim.getPosition());
    return "d" + std::to_string(dim.getPosition());
  }
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return numbers.getKernel(constant.getValue());
  auto binary = cast<AffineBinaryOpExpr>(expr);
  std::string lhs = getText(binary.getLHS(), loops, numbers),
              rhs = getText(binary.getRHS(), loops, numbers);
  StringRef op = expr.getKind() == AffineExprKind::Add   ? " + "
                 : expr.getKind() == AffineExprKind::Mul ? " * "
                 : expr.getKind() == AffineExprKind::Mod ? " % "
                                                         : " / ";
  return ("(" + lhs + op + rhs + ")").str();
}

/// Whether `kernel` reads input `index` in the order of `loops`, over exactly
/// these loops and all of their extents.
static bool isReadInOrder(KernelOp kernel, unsigned index,
                          ArrayRef<unsigned> loops) {
  SmallVector<std::pair<unsigned, int64_t>> wanted, read;
  for (unsigned loop : loops)
    if (int64_t extent = kernel.getExtents()[loop]; extent != 1)
      wanted.push_back({loop, extent});
  for (auto [expr, extent] :
       llvm::zip_equal(kernel.getMap(index).getResults(),
                       kernel.getInputType(index).getShape())) {
    if (extent == 1)
      continue;
    auto dim = dyn_cast<AffineDimExpr>(expr);
    if (!dim)
      return false;
    read.push_back({dim.getPosition(), extent});
  }
  return read == wanted;
}

/// The last of `order` that has more than one iteration, or nothing.
static std::optional<unsigned> getLastLoop(KernelOp kernel,
                                           ArrayRef<unsigned> order) {
  for (unsigned loop : llvm::reverse(order))
    if (kernel.getExtents()[loop] != 1)
      return loop;
  return std::nullopt;
}

bool mlir::cuda::readsPacks(KernelOp kernel, ArrayRef<unsigned> order,
                            unsigned index) {
  // Kernels that quantise take eight elements at a time.
  const int64_t width = kernel.getQuantization() ? std::max(getWidth(kernel), 8)
                                                 : getWidth(kernel);
  std::optional<unsigned> last = getLastLoop(kernel, order);
  if (width == 1 || !last || kernel.getExtents()[*last] % width != 0)
    return false;
  AffineMap map = kernel.getMap(index);
  ArrayRef<int64_t> shape = kernel.getInputType(index).getShape();
  int64_t inner = shape.size() - 1;
  while (inner >= 0 && shape[inner] == 1)
    --inner;
  // The strides of all dimensions but the last are multiples of its extent.
  if (inner < 0 || shape[inner] % width != 0)
    return false;
  for (auto [dim, expr] : llvm::enumerate(map.getResults()))
    if (int64_t(dim) != inner && shape[dim] != 1 && expr.isFunctionOfDim(*last))
      return false;
  // The last dimension is the last loop, shifted by whole packs.
  int64_t shift = 0;
  AffineExpr expr = map.getResult(inner);
  if (auto sum = dyn_cast<AffineBinaryOpExpr>(expr);
      sum && sum.getKind() == AffineExprKind::Add)
    if (auto constant = dyn_cast<AffineConstantExpr>(sum.getRHS())) {
      shift = constant.getValue();
      expr = sum.getLHS();
    }
  auto loop = dyn_cast<AffineDimExpr>(expr);
  return loop && loop.getPosition() == *last && shift % width == 0;
}

/// The read of input `index` at an offset that is computed for each position,
/// or for each pack of positions.
static std::string getGather(KernelOp kernel, ArrayRef<unsigned> order,
                             unsigned index, NumberPrinter &numbers) {
  ShapedType type = kernel.getInputType(index);
  std::set<unsigned> loops;
  std::string offset;
  int64_t stride = 1;
  for (int64_t dim = type.getRank() - 1; dim >= 0; --dim) {
    if (type.getDimSize(dim) != 1) {
      std::string term =
          getText(kernel.getMap(index).getResult(dim), loops, numbers);
      if (stride != 1)
        term += " * " + numbers.getKernel(stride);
      offset = offset.empty() ? term : term + " + " + offset;
    }
    stride *= type.getDimSize(dim);
  }
  std::string text =
      std::string(readsPacks(kernel, order, index) ? "at.packed"
                                                   : "at.gather") +
      "(in" + std::to_string(index) + ", " + numbers.getCapture().str() +
      "(int64_t i) {\n";
  for (unsigned loop : loops)
    text += "        const int64_t d" + std::to_string(loop) + " = " +
            getPosition(kernel, order, loop, numbers) + ";\n";
  // Loops of one iteration are always at 0.
  if (llvm::all_of(
          loops, [&](unsigned loop) { return kernel.getExtents()[loop] == 1; }))
    text += "        (void)i;\n";
  return text + "        return int64_t(" + offset + ");\n      })";
}

std::string mlir::cuda::getRead(KernelOp kernel, ArrayRef<unsigned> order,
                                unsigned index, NumberPrinter &numbers) {
  std::string pointer = "in" + std::to_string(index);
  if (kernel.getInputType(index).getNumElements() == 1)
    return "at.scalar(" + pointer + ")";
  if (isReadInOrder(kernel, index, order))
    return "at.load(" + pointer + ")";
  // Try the loops at the end and at the start of the space.
  for (unsigned cut = 1; cut < order.size(); ++cut) {
    int64_t inner = 1;
    for (unsigned loop : order.drop_front(cut))
      inner *= kernel.getExtents()[loop];
    const bool isColumn = isReadInOrder(kernel, index, order.drop_front(cut));
    if (isColumn || isReadInOrder(kernel, index, order.take_front(cut)))
      return (isColumn ? "at.column(" : "at.row(") + pointer + ", " +
             numbers.getKernel(inner) + ")";
  }
  return getGather(kernel, order, index, numbers);
}
