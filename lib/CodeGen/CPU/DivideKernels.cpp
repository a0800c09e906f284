//===- DivideKernels.cpp - Loop nests for several threads -----------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Chooses the loop of a kernel to divide and the number of parts, and creates
// the functions. OpenMP's runtime library starts the threads.
//
//===----------------------------------------------------------------------===//

#include "Contraction.h"
#include "amp/CodeGen/Passes.h"
#include "mlir/Analysis/FlatLinearValueConstraints.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/OpenMP/OpenMPDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/SymbolTable.h"

namespace mlir::amp {
#define GEN_PASS_DEF_DIVIDEKERNELS
#include "amp/CodeGen/Passes.h.inc"
} // namespace mlir::amp

using namespace mlir;
using namespace mlir::amp;

/// Columns, and rows of products, that a kernel computes in one block.
static constexpr int64_t kColumns = 32, kRows = 8;

/// The scalar operations of a product that take the time of one elsewhere.
static constexpr uint64_t kProductLanes = 16;

//===----------------------------------------------------------------------===//
// Choice of the division
//===----------------------------------------------------------------------===//

namespace {
/// `count` parts of `size` indices of the loop `dim`.
struct Division {
  unsigned dim;
  int64_t count, size;
};
} // namespace

/// Returns the operation of a kernel that consists of one linalg operation on
/// buffers of static shapes, or null.
static linalg::LinalgOp getNest(func::FuncOp function) {
  if (function.isExternal() || !function.isPrivate() ||
      !llvm::hasSingleElement(function.getBody()) ||
      function.getNumResults() != 0)
    return nullptr;
  linalg::LinalgOp nest;
  for (Operation &op : function.front().without_terminator()) {
    auto structured = dyn_cast<linalg::LinalgOp>(op);
    if (structured && !nest)
      nest = structured;
    else if (!op.hasTrait<OpTrait::ConstantLike>() &&
             !isa<memref::GetGlobalOp>(op))
      return nullptr;
  }
  if (!nest || !nest.hasPureBufferSemantics() || nest.hasDynamicShape() ||
      llvm::is_contained(nest.getStaticLoopRanges(), 0))
    return nullptr;
  return nest;
}

/// The number of scalar operations of all loops. Those of products count in
/// vectors, since their operands are in registers.
static uint64_t countWork(linalg::LinalgOp nest) {
  uint64_t work =
      std::max<uint64_t>(1, nest.getBlock()->getOperations().size() - 1);
  for (uint64_t extent : nest.getStaticLoopRanges())
    work = llvm::SaturatingMultiply(work, extent);
  auto generic = dyn_cast<linalg::GenericOp>(nest.getOperation());
  return generic && matchContraction(generic) ? work / kProductLanes : work;
}

/// The number of times that the function calls `kernel`, where loops with
/// constant bounds count their iterations.
static uint64_t countCalls(func::FuncOp kernel, ModuleOp module) {
  std::optional<SymbolTable::UseRange> uses = kernel.getSymbolUses(module);
  if (!uses)
    return 1;
  uint64_t calls = 0;
  for (const SymbolTable::SymbolUse &use : *uses) {
    uint64_t runs = 1;
    for (auto loop = use.getUser()->getParentOfType<scf::ForOp>(); loop;
         loop = loop->getParentOfType<scf::ForOp>())
      if (std::optional<APInt> trips = loop.getStaticTripCount())
        runs = llvm::SaturatingMultiply(runs, trips->getLimitedValue());
    calls = llvm::SaturatingAdd(calls, runs);
  }
  // The caller may be in another module.
  return std::max<uint64_t>(1, calls);
}

/// The number of indices of `dim` that a kernel computes in one block.
static int64_t getGranule(linalg::LinalgOp nest, unsigned dim) {
  AffineMap result = nest.getMatchingIndexingMap(nest.getDpsInitOperand(0));
  auto isResult = [&](unsigned fromLast) {
    return result.getNumResults() > fromLast &&
           result.getResult(result.getNumResults() - 1 - fromLast) ==
               getAffineDimExpr(dim, nest.getContext());
  };
  if (isResult(0))
    return kColumns;
  return nest.getNumReductionLoops() != 0 && isResult(1) ? kRows : 1;
}

/// Whether a part of the loop `dim` reads and writes contiguous parts of the
/// operands, which begin at the position in the map and have the size of the
/// part. All indices with `dim` must grow with every loop.
static bool isDivisible(linalg::LinalgOp nest, unsigned dim) {
  for (AffineMap map : nest.getIndexingMapsArray())
    for (AffineExpr expr : map.getResults()) {
      if (!expr.isFunctionOfDim(dim))
        continue;
      // The steps per loop and a constant. Quotients and remainders would add
      // columns.
      SmallVector<int64_t> steps;
      if (failed(getFlattenedAffineExpr(expr, map.getNumDims(),
                                        map.getNumSymbols(), &steps)) ||
          steps.size() != map.getNumInputs() + 1 ||
          llvm::any_of(ArrayRef(steps).drop_back(),
                       [](int64_t step) { return step < 0; }))
        return false;
    }
  return true;
}

/// The division that leaves the busiest of `threads` threads the least work.
static std::optional<Division> choose(linalg::LinalgOp nest, int64_t threads) {
  std::optional<Division> best;
  double least = 1;
  SmallVector<int64_t> extents = nest.getStaticLoopRanges();
  for (auto [dim, kind] : llvm::enumerate(nest.getIteratorTypesArray())) {
    // Parts must write different elements.
    AffineExpr expression = getAffineDimExpr(dim, nest.getContext());
    bool writes = llvm::all_of(nest.getDpsInitsMutable(), [&](OpOperand &init) {
      return llvm::is_contained(nest.getMatchingIndexingMap(&init).getResults(),
                                expression);
    });
    if (kind != utils::IteratorType::parallel || !writes ||
        !isDivisible(nest, dim))
      continue;
    int64_t granule = getGranule(nest, dim), extent = extents[dim];
    double whole = llvm::alignTo(extent, granule);
    // Prefer the larger of equally good parts.
    for (int64_t count = 2; count <= std::min(extent, 8 * threads); ++count) {
      if (extent % count != 0)
        continue;
      int64_t size = extent / count;
      double share = llvm::divideCeil(count, threads) *
                     llvm::alignTo(size, granule) / whole;
      if (share < least) {
        least = share;
        best = Division{unsigned(dim), count, size};
      }
    }
  }
  return best;
}

//===----------------------------------------------------------------------===//
// The functions
//===----------------------------------------------------------------------===//

/// Narrows `nest` to the part `index`.
static void narrow(linalg::LinalgOp nest, const Division &division,
                   Value index) {
  ImplicitLocOpBuilder b(nest.getLoc(), nest);
  unsigned loops = nest.getNumLoops();
  SmallVector<OpFoldResult> sizes(loops, b.getIndexAttr(0)), bounds;
  for (int64_t extent : nest.getStaticLoopRanges())
    bounds.push_back(b.getIndexAttr(extent));
  sizes[division.dim] = b.getIndexAttr(division.size);
  OpFoldResult offset = affine::makeComposedFoldedAffineApply(
      b, b.getLoc(), b.getAffineDimExpr(0) * division.size, {index});
  SmallVector<Value> parts = linalg::makeTiledShapes(
      b, b.getLoc(), nest, nest->getOperands(), {offset}, sizes, bounds,
      /*omitPartialTileCheck=*/true);
  auto part = cast<linalg::LinalgOp>(clone(b, nest, TypeRange(), parts));
  SmallVector<OpFoldResult> offsets(loops);
  offsets[division.dim] = offset;
  linalg::offsetIndices(b, part, offsets);
  nest->erase();
}

/// Turns `kernel` into a loop over the parts of its nest.
static void divide(func::FuncOp kernel, const Division &division,
                   unsigned threads, SymbolTable &symbols) {
  func::FuncOp part = kernel.clone();
  part.setName((kernel.getName() + "_part").str());
  symbols.insert(part);
  auto index = IndexType::get(kernel.getContext());
  (void)part.insertArgument(part.getNumArguments(), index, {}, part.getLoc());
  narrow(getNest(part), division, part.getArguments().back());

  Block &body = kernel.front();
  while (!llvm::hasSingleElement(body))
    std::prev(body.end(), 2)->erase();
  ImplicitLocOpBuilder b(kernel.getLoc(), body.getTerminator());
  omp::ParallelOperands team;
  team.numThreads = arith::ConstantIntOp::create(b, b.getI32Type(), threads);
  omp::LoopNestOperands range;
  range.loopLowerBounds = {arith::ConstantIndexOp::create(b, 0)};
  range.loopUpperBounds = {arith::ConstantIndexOp::create(b, division.count)};
  range.loopSteps = {arith::ConstantIndexOp::create(b, 1)};

  auto parallel = omp::ParallelOp::create(b, team);
  b.createBlock(&parallel.getRegion());
  auto workshare = omp::WsloopOp::create(b, omp::WsloopOperands());
  omp::TerminatorOp::create(b);
  b.createBlock(&workshare.getRegion());
  auto loop = omp::LoopNestOp::create(b, range);
  b.createBlock(&loop.getRegion(), {}, {index}, {b.getLoc()});
  SmallVector<Value> arguments(kernel.getArguments());
  arguments.push_back(loop.getRegion().getArgument(0));
  func::CallOp::create(b, part, arguments);
  omp::YieldOp::create(b);
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {

struct DivideKernels : mlir::amp::impl::DivideKernelsBase<DivideKernels> {
  using DivideKernelsBase::DivideKernelsBase;

  void runOnOperation() override;
};

} // namespace

void DivideKernels::runOnOperation() {
  if (threads < 2)
    return;
  SymbolTable symbols(getOperation());
  SmallVector<std::pair<func::FuncOp, std::optional<Division>>> kernels;
  uint64_t stepWork = 0;
  for (auto kernel : getOperation().getOps<func::FuncOp>()) {
    linalg::LinalgOp nest = getNest(kernel);
    uint64_t work = nest ? countWork(nest) : 0;
    if (!nest || work < minWork)
      continue;
    kernels.emplace_back(kernel, choose(nest, threads));
    if (kernels.back().second)
      stepWork = llvm::SaturatingMultiplyAdd(
          work, countCalls(kernel, getOperation()), stepWork);
  }
  for (auto &[kernel, division] : kernels) {
    if (!division) {
      ++numWhole;
    } else if (stepWork < minStepWork) {
      ++numShort;
    } else {
      divide(kernel, *division, threads, symbols);
      ++numDivided;
    }
  }
}
