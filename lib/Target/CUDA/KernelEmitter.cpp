//===- KernelEmitter.cpp - Generated kernels ------------------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EmitterSupport.h"

#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/AffineMap.h"
#include "llvm/ADT/StringExtras.h"

#include <set>

using namespace mlir;
using namespace mlir::cuda;

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

/// The loops of `kernel` in the order in which its threads run over them: those
/// of the outputs last if consecutive threads take consecutive outputs.
static SmallVector<unsigned> getLoopOrder(KernelOp kernel) {
  SmallVector<unsigned> kept, reduced;
  for (unsigned loop = 0; loop < kernel.getExtents().size(); ++loop)
    (kernel.isReducedLoop(loop) ? reduced : kept).push_back(loop);
  SmallVector<unsigned> order;
  bool columns = kernel.isColumnReduction();
  order.append(columns ? reduced : kept);
  order.append(columns ? kept : reduced);
  return order;
}

/// The number of steps of `i`, the place in the space of loops, per step of
/// each loop.
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

/// The position in loop `loop` at place `i`.
static std::string getPosition(KernelOp kernel, ArrayRef<unsigned> order,
                               unsigned loop) {
  int64_t step = getSteps(kernel, order)[loop],
          extent = kernel.getExtents()[loop];
  if (extent == 1)
    return "int64_t(0)";
  std::string text = step == 1 ? "i" : "i / " + std::to_string(step);
  if (loop == order.front())
    return text;
  return (step == 1 ? text : "(" + text + ")") + " % " + std::to_string(extent);
}

/// `expr` over positions called d0, d1, ...; `loops` collects those it uses.
static std::string getText(AffineExpr expr, std::set<unsigned> &loops) {
  if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
    loops.insert(dim.getPosition());
    return "d" + std::to_string(dim.getPosition());
  }
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return std::to_string(constant.getValue());
  auto binary = cast<AffineBinaryOpExpr>(expr);
  std::string lhs = getText(binary.getLHS(), loops),
              rhs = getText(binary.getRHS(), loops);
  StringRef op = expr.getKind() == AffineExprKind::Add   ? " + "
                 : expr.getKind() == AffineExprKind::Mul ? " * "
                 : expr.getKind() == AffineExprKind::Mod ? " % "
                                                         : " / ";
  return ("(" + lhs + op + rhs + ")").str();
}

std::string ProgramEmitter::getRead(KernelOp kernel, ArrayRef<unsigned> order,
                                    unsigned index) {
  auto launch = cast<LaunchOpInterface>(kernel.getOperation());
  std::string pointer = "in" + std::to_string(index);
  ShapedType type = launch.getInputType(index);
  AffineMap map = kernel.getMap(index);
  ArrayRef<int64_t> extents = kernel.getExtents();
  if (type.getNumElements() == 1)
    return "at.scalar(" + pointer + ")";
  // Loops that are read in order, all of their extent, at the end or at the
  // start of the space.
  auto isRun = [&](ArrayRef<unsigned> loops) {
    SmallVector<int64_t> run, shape;
    SmallVector<unsigned> read;
    for (unsigned loop : loops)
      if (extents[loop] != 1)
        run.push_back(extents[loop]);
    for (auto [expr, extent] :
         llvm::zip_equal(map.getResults(), type.getShape())) {
      if (extent == 1)
        continue;
      auto dim = dyn_cast<AffineDimExpr>(expr);
      if (!dim)
        return false;
      read.push_back(dim.getPosition());
      shape.push_back(extent);
    }
    SmallVector<unsigned> wanted;
    for (unsigned loop : loops)
      if (extents[loop] != 1)
        wanted.push_back(loop);
    return read == wanted && shape == run;
  };
  auto count = [&](ArrayRef<unsigned> loops) {
    int64_t product = 1;
    for (unsigned loop : loops)
      product *= extents[loop];
    return std::to_string(product);
  };
  if (isRun(order))
    return "at.load(" + pointer + ")";
  for (unsigned cut = 1; cut < order.size(); ++cut) {
    if (isRun(order.drop_front(cut)))
      return "at.column(" + pointer + ", " + count(order.drop_front(cut)) + ")";
    if (isRun(order.take_front(cut)))
      return "at.row(" + pointer + ", " + count(order.drop_front(cut)) + ")";
  }
  // Anything else.
  std::set<unsigned> loops;
  std::string offset;
  int64_t stride = 1;
  for (int64_t dim = type.getRank() - 1; dim >= 0; --dim) {
    if (type.getDimSize(dim) != 1) {
      std::string term = getText(map.getResult(dim), loops);
      if (stride != 1)
        term += " * " + std::to_string(stride);
      offset = offset.empty() ? term : term + " + " + offset;
    }
    stride *= type.getDimSize(dim);
  }
  std::string text = "at.gather(" + pointer + ", [](int64_t i) {\n";
  for (unsigned loop : loops)
    text += "        const int64_t d" + std::to_string(loop) + " = " +
            getPosition(kernel, order, loop) + ";\n";
  // Loops of one iteration are at 0 whatever i is.
  if (llvm::all_of(loops, [&](unsigned loop) { return extents[loop] == 1; }))
    text += "        (void)i;\n";
  return text + "        return int64_t(" + offset + ");\n      })";
}

//===----------------------------------------------------------------------===//
// Bodies
//===----------------------------------------------------------------------===//

/// Elements that a thread takes at a time: the narrowest operand fills 16
/// bytes.
static int getWidth(KernelOp kernel) {
  auto launch = cast<LaunchOpInterface>(kernel.getOperation());
  int64_t count =
      kernel.getNumOutputElements() * kernel.getNumReducedElements();
  if (count == 1)
    return 1;
  unsigned bits = 64;
  for (unsigned index = 0; index < kernel.getNumElementInputs(); ++index)
    if (launch.getInputType(index).getNumElements() > 1)
      bits =
          std::min(bits, launch.getInputType(index).getElementTypeBitWidth());
  if (!kernel.isReduction())
    for (unsigned target = 0; target < launch.getNumTargets(); ++target)
      bits =
          std::min(bits, launch.getTargetType(target).getElementTypeBitWidth());
  if (kernel.isColumnReduction())
    return kernel.getNumOutputElements() % 2 == 0 ? 2 : 1;
  return 128 / std::max(bits, 16u);
}

LogicalResult ProgramEmitter::emitValue(KernelOp kernel,
                                        ArrayRef<unsigned> order,
                                        unsigned yielded, unsigned indent) {
  auto launch = cast<LaunchOpInterface>(kernel.getOperation());
  Block &body = kernel.getBody().front();
  Value value = body.getTerminator()->getOperand(yielded);
  // What is read as it is needs no function.
  bool isBool = kernel.isReduction() && value.getType().isInteger(1);
  if (auto argument = dyn_cast<BlockArgument>(value);
      argument && !isBool &&
      argument.getArgNumber() < kernel.getNumElementInputs()) {
    os << "x" << argument.getArgNumber();
    return success();
  }
  // The arguments of the function: the elements and positions that it needs.
  ScalarEmitter scalars(os, indent + 2);
  SmallVector<std::string> parameters, arguments;
  llvm::SetVector<Operation *> needed;
  auto isNeeded = [&](Value candidate) {
    SmallVector<Value> worklist{value};
    DenseSet<Value> seen;
    while (!worklist.empty()) {
      Value next = worklist.pop_back_val();
      if (next == candidate)
        return true;
      if (!seen.insert(next).second)
        continue;
      if (Operation *definition = next.getDefiningOp())
        llvm::append_range(worklist, definition->getOperands());
    }
    return false;
  };
  for (BlockArgument argument : body.getArguments()) {
    unsigned index = argument.getArgNumber();
    std::string name = "in" + std::to_string(index);
    if (index < kernel.getNumElementInputs()) {
      name = "x" + std::to_string(index);
      scalars.setName(argument, name);
      if (!isNeeded(argument))
        continue;
      parameters.push_back(
          (getScalarType(argument.getType()) + " " + name).str());
      arguments.push_back(name);
    }
    scalars.setName(argument, name);
  }
  std::set<unsigned> loops;
  for (IndexOp index : body.getOps<IndexOp>()) {
    std::string name = "d" + std::to_string(index.getLoop());
    scalars.setName(index.getResult(), name);
    if (isNeeded(index.getResult()) && loops.insert(index.getLoop()).second) {
      parameters.push_back("int64_t " + name);
      arguments.push_back("at.indexed([](int64_t i) { return " +
                          getPosition(kernel, order, index.getLoop()) + "; })");
    }
  }
  // A value that depends on nothing: once per lane all the same.
  if (parameters.empty()) {
    parameters.push_back("int64_t");
    arguments.push_back("at.indexed([](int64_t i) { return i; })");
  }
  (void)launch;
  os << "at.map([=](" << llvm::join(parameters, ", ") << ") {\n";
  if (failed(scalars.emit(body, value)))
    return failure();
  std::string result = scalars.get(value);
  if (isBool)
    result = "uint32_t(" + result + ")";
  else if (value.getType().isInteger(1))
    result = "bool(" + result + ")";
  os.indent(indent + 2) << "return " << result << ";\n";
  os.indent(indent) << "}, " << llvm::join(arguments, ", ") << ")";
  return success();
}

/// The combiner of a reduction, as in Reduce.h.
static std::string getCombiner(KernelOp kernel, Type type) {
  bool isBool = type.isInteger(1);
  switch (*kernel.getCombine()) {
  case Combine::Add:
    if (isBool)
      return "Odd";
    return ("Sum<" + getScalarType(type) + ">").str();
  case Combine::Mul:
    if (isBool)
      return "All";
    return ("Product<" + getScalarType(type) + ">").str();
  case Combine::Maximum:
    return "Maximum";
  case Combine::Minimum:
    return "Minimum";
  case Combine::And:
    return "All";
  case Combine::Or:
    return "Any";
  }
  llvm_unreachable("a combination");
}

LogicalResult ProgramEmitter::emitKernel(KernelOp kernel) {
  auto launch = cast<LaunchOpInterface>(kernel.getOperation());
  std::string name = getName(launch);
  SmallVector<unsigned> order = getLoopOrder(kernel);
  int64_t outputs = kernel.getNumOutputElements(),
          reduced = kernel.getNumReducedElements();
  int width = getWidth(kernel);
  Type combined =
      kernel.getBody().front().getTerminator()->getOperand(0).getType();
  std::string word =
      combined.isInteger(1) ? "uint32_t" : getScalarType(combined).str();

  os << "// " << getCommentText(describeOperations(kernel));
  if (std::string place = describeLocation(kernel.getLoc()); !place.empty())
    os << " (" << getCommentText(place) << ")";
  os << "\n//   ";
  llvm::interleaveComma(kernel.getInputs(), os, [&](Value input) {
    os << getCommentText(getBuffer(input).getName()) << ": "
       << describe(cast<ShapedType>(input.getType()));
  });
  os << " -> ";
  llvm::interleaveComma(kernel.getOutputs(), os, [&](Value output) {
    os << getCommentText(getBuffer(output).getName()) << ": "
       << describe(cast<ShapedType>(output.getType()));
  });
  os << "\n#ifndef " << StringRef(getPrefix(program)).upper() << "_HAS_" << name
     << "\n";
  os << "__global__ void __launch_bounds__(kThreads) " << name << "(";
  SmallVector<std::string> parameters;
  for (auto [index, output] : llvm::enumerate(kernel.getOutputs()))
    parameters.push_back(
        (getStorageType(cast<ShapedType>(output.getType()).getElementType()) +
         " *out" + Twine(index))
            .str());
  for (auto [index, input] : llvm::enumerate(kernel.getInputs()))
    parameters.push_back(
        ("const " +
         getStorageType(cast<ShapedType>(input.getType()).getElementType()) +
         " *in" + Twine(index))
            .str());
  if (kernel.getScratchBytes() != 0) {
    parameters.push_back(word + " *partials");
    parameters.push_back("unsigned *tickets");
  }
  if (kernel.getPredicate())
    parameters.push_back("const uint8_t *flag");
  os << llvm::join(parameters, ", ") << ") {\n";
  if (kernel.getPredicate())
    os << "  if (!guarded(flag))\n    return;\n";

  auto emitReads = [&](unsigned indent) {
    for (unsigned index = 0; index < kernel.getNumElementInputs(); ++index)
      os.indent(indent) << "auto x" << index << " = "
                        << getRead(kernel, order, index) << ";\n";
  };
  if (!kernel.isReduction()) {
    os << "  elementwise<" << width << ">(" << outputs << ", [=](auto at) {\n";
    emitReads(4);
    for (unsigned target = 0; target < launch.getNumTargets(); ++target) {
      os << "    at.store(out" << target << ", ";
      if (failed(emitValue(kernel, order, target, 4)))
        return failure();
      os << ");\n";
    }
    os << "  });\n}\n#endif\n\n";
    return success();
  }

  std::string combiner = getCombiner(kernel, combined);
  bool isAll = outputs == 1, isColumns = kernel.isColumnReduction();
  // One block for each result needs no partial ones.
  StringRef partials = kernel.getScratchBytes() == 0 ? ", nullptr, nullptr"
                                                     : ", partials, tickets";
  if (isAll)
    os << "  reduceAll<" << combiner << ", " << width << ">(" << reduced
       << partials << ",\n    [=](auto at) {\n";
  else if (isColumns)
    os << "  reduceColumns<" << combiner << ", " << width << ">(" << reduced
       << ", " << outputs << partials
       << ",\n    [=](auto at, int64_t, int64_t) {\n";
  else
    os << "  reduceRows<" << combiner << ", "
       << (reduced <= 1024 ? "32" : "kThreads") << ", " << width << ">("
       << outputs << ", " << reduced
       << ",\n    [=](auto at, int64_t, int64_t) {\n";
  emitReads(6);
  os << "      return ";
  if (failed(emitValue(kernel, order, 0, 6)))
    return failure();
  os << ";\n    },\n    [=](" << (isAll ? "" : "int64_t place, ") << word
     << " sum) {\n";
  std::string result = combined.isInteger(1) ? "sum != 0" : "sum";
  if (!kernel.getFinish().empty()) {
    Block &finish = kernel.getFinish().front();
    ScalarEmitter scalars(os, 6);
    scalars.setName(finish.getArgument(0),
                    combined.isInteger(1) ? "(sum != 0)" : "sum");
    Value value = finish.getTerminator()->getOperand(0);
    if (failed(scalars.emit(finish, value)))
      return failure();
    result = scalars.get(value);
  }
  os << "      storeOne(out0" << (isAll ? "" : " + place") << ", " << result
     << ");\n    });\n}\n#endif\n\n";
  return success();
}

void ProgramEmitter::emitKernelLaunch(KernelOp kernel) {
  auto launch = cast<LaunchOpInterface>(kernel.getOperation());
  int64_t outputs = kernel.getNumOutputElements(),
          reduced = kernel.getNumReducedElements();
  std::string name = getName(launch);
  Type combined =
      kernel.getBody().front().getTerminator()->getOperand(0).getType();
  std::string shape;
  if (!kernel.isReduction())
    shape = "elementwiseShape(" + std::to_string(outputs) + ", " +
            std::to_string(getWidth(kernel)) + ")";
  else if (outputs == 1)
    shape = "reduceShape(" + std::to_string(reduced) + ")";
  else if (kernel.isColumnReduction())
    shape = "columnShape(" + std::to_string(reduced) + ", " +
            std::to_string(outputs) +
            (combined.getIntOrFloatBitWidth() > 32 ? ", 2)" : ")");
  else
    shape = std::string("rowShape<") + (reduced <= 1024 ? "32" : "kThreads") +
            ">(" + std::to_string(outputs) + ")";
  os << "launch(\"" << name << "\", run.stream, " << shape
     << ", kernels::" << name;
  for (Value output : kernel.getOutputs())
    os << ",\n        " << getPointer(output);
  for (Value input : kernel.getInputs())
    os << ",\n        " << getPointer(input);
  if (kernel.getScratchBytes() != 0) {
    std::string word =
        combined.isInteger(1) ? "uint32_t" : getScalarType(combined).str();
    os << ",\n        run.at<" << word << ">("
       << getOffset(kernel.getScratch()[0]) << "), " << getTickets();
  }
  if (kernel.getPredicate())
    os << ",\n        " << getGuard(launch);
  os << ")";
}
