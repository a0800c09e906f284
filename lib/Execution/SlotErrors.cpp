//===- SlotErrors.cpp - The error that each slot adds to a loss -----------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Execution/SlotErrors.h"

#include "amp/Execution/Replay.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>

using namespace mlir;
using namespace mlir::amp;

/// The hyperparameter that holds the number of the slot to round, or -1.
static constexpr llvm::StringLiteral kRoundedSlot = "amp.rounded_slot";

/// Rounds `value`, an f32, to `low`. Hosts differ in their instructions for
/// bf16, so it is rounded by integer arithmetic.
static Value buildRounding(OpBuilder &b, Location loc, Value value,
                           FloatType low) {
  Type f32 = b.getF32Type();
  if (!low.isBF16()) {
    Value rounded = arith::TruncFOp::create(b, loc, Type(low), value);
    return arith::ExtFOp::create(b, loc, f32, rounded);
  }
  auto constant = [&](int32_t bits) -> Value {
    return arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(bits));
  };
  Value bits = arith::BitcastOp::create(b, loc, b.getI32Type(), value);
  Value odd = arith::AndIOp::create(
      b, loc, arith::ShRUIOp::create(b, loc, bits, constant(16)), constant(1));
  Value half = arith::AddIOp::create(b, loc, odd, constant(0x7FFF));
  Value rounded = arith::AndIOp::create(
      b, loc, arith::AddIOp::create(b, loc, bits, half), constant(~0xFFFF));
  return arith::BitcastOp::create(b, loc, f32, rounded);
}

namespace {

/// Adds roundings to a copy of a step.
class RoundedStep {
public:
  RoundedStep(const SlotPlans &plans, double scale)
      : plans(plans), scale(scale) {}

  /// Builds the step. The slots have the numbers of `plans`.
  OwningOpRef<ModuleOp> build() {
    IRMapping mapping;
    OwningOpRef<ModuleOp> module =
        cast<ModuleOp>(plans.getModule()->clone(mapping));
    auto function = cast<FunctionOpInterface>(
        SymbolTable::lookupSymbolIn(*module, plans.getEntry()));
    addArgument(function);
    for (auto [number, slot] : llvm::enumerate(plans.getSlots()))
      if (slot.isInEntry && slot.isFree)
        roundSlot(mapping, slot, double(number));
    return module;
  }

private:
  void addArgument(FunctionOpInterface function) {
    MLIRContext *context = function.getContext();
    Builder b(context);
    auto attributes = b.getDictionaryAttr(
        {b.getNamedAttr(AMPDialect::kRoleAttr,
                        b.getStringAttr("hyperparameter")),
         b.getNamedAttr(AMPDialect::kNameAttr, b.getStringAttr(kRoundedSlot)),
         b.getNamedAttr(
             AMPDialect::kInitAttr,
             parseAttribute("#amp.init<constant, value = -1.0>", context))});
    unsigned index = function.getNumArguments();
    (void)function.insertArgument(index,
                                  RankedTensorType::get({}, b.getF32Type()),
                                  attributes, function.getLoc());
    chosen = function.getArgument(index);
  }

  /// Rounds the results of `slot`, or its operands if it has no results.
  void roundSlot(IRMapping &mapping, const PlannedSlot &slot, double number) {
    const SlotGraph &graph = *slot.graph;
    if (graph.getVertices()[slot.vertex].produces) {
      for (const SlotValue &entry : graph.getValues()) {
        if (entry.vertex != slot.vertex)
          continue;
        Value original = entry.value, value = mapping.lookup(original);
        OpBuilder b(value.getContext());
        b.setInsertionPointAfterValue(value);
        Value rounded = build(b, value, original, number);
        value.replaceAllUsesExcept(rounded, rounded.getDefiningOp());
      }
      return;
    }
    for (uint32_t index : graph.getUsesInto(slot.vertex)) {
      OpOperand *operand = graph.getUses()[index].operand;
      Operation *user = mapping.lookup(operand->getOwner());
      OpOperand &copy = user->getOpOperand(operand->getOperandNumber());
      OpBuilder b(user);
      copy.set(build(b, copy.get(), operand->get(), number));
    }
  }

  /// `value`, rounded if the chosen slot is `number`.
  Value build(OpBuilder &b, Value value, Value original, double number) {
    auto type = cast<RankedTensorType>(value.getType());
    MLIRContext *context = b.getContext();
    unsigned rank = type.getRank();
    double factor = plans.isScaled(original) ? scale : 1;
    AffineMap maps[] = {AffineMap::get(rank, 0, context),
                        b.getMultiDimIdentityMap(rank)};
    llvm::SmallVector<utils::IteratorType> loops(rank,
                                                 utils::IteratorType::parallel);
    auto op = linalg::GenericOp::create(
        b, value.getLoc(), type, chosen, value, maps, loops,
        [&](OpBuilder &inner, Location loc, ValueRange scalars) {
          auto constant = [&](double number) -> Value {
            return arith::ConstantOp::create(inner, loc,
                                             inner.getF32FloatAttr(number));
          };
          Value element = scalars[1];
          if (factor != 1)
            element =
                arith::MulFOp::create(inner, loc, element, constant(factor));
          element = buildRounding(inner, loc, element, plans.getLowType());
          if (factor != 1)
            element = arith::MulFOp::create(inner, loc, element,
                                            constant(1 / factor));
          Value isChosen =
              arith::CmpFOp::create(inner, loc, arith::CmpFPredicate::OEQ,
                                    scalars[0], constant(number));
          linalg::YieldOp::create(
              inner, loc,
              arith::SelectOp::create(inner, loc, isChosen, element, scalars[1])
                  .getResult());
        });
    return op.getResult(0);
  }

  const SlotPlans &plans;
  double scale;
  Value chosen;
};

/// Runs the recorded steps with one slot rounded at a time.
class ErrorMeter {
public:
  ErrorMeter(StepProgram &program, const RecordedSteps &steps)
      : program(program), steps(steps) {}

  /// The loss of each step with slot `number` rounded; -1 rounds none.
  host::Status run(double number, std::vector<double> *losses) {
    JITStep step(program);
    host::ArrayMap values;
    for (const auto &[name, array] : steps.start)
      values.set(name, array.clone());
    host::Array chosen(host::ElementType::F32, {});
    chosen.fill(number);
    values.set(kRoundedSlot.str(), std::move(chosen));
    AMP_RETURN_IF_ERROR(host::writeValues(step, values));
    losses->clear();
    for (const host::ArrayMap &batch : steps.batches) {
      AMP_RETURN_IF_ERROR(runOn(step, batch));
      AMP_RETURN_IF_ERROR(readLoss(step, &losses->emplace_back()));
    }
    return host::Status();
  }

private:
  StepProgram &program;
  const RecordedSteps &steps;
};

} // namespace

/// The root mean square of |`loss` - `wide`| / |`wide`|.
static double getRelativeError(llvm::ArrayRef<double> losses,
                               llvm::ArrayRef<double> wide) {
  double sum = 0;
  for (auto [loss, expected] : llvm::zip_equal(losses, wide)) {
    double error = loss == expected ? 0 : (loss - expected) / expected;
    sum += error * error;
  }
  double error = std::sqrt(sum / double(std::max<size_t>(losses.size(), 1)));
  return std::isfinite(error) ? error : std::numeric_limits<double>::infinity();
}

llvm::Error mlir::amp::measureSlotErrors(const SlotPlans &plans,
                                         const ProgramOptions &options,
                                         const RecordedSteps &steps,
                                         double scale, SlotErrors &errors) {
  auto isMissing = [&](const PlannedSlot &slot) {
    return slot.isInEntry && slot.isFree &&
           !errors.count({slot.name, slot.getNumber()});
  };
  if (llvm::none_of(plans.getSlots(), isMissing))
    return llvm::Error::success();
  OwningOpRef<ModuleOp> module = RoundedStep(plans, scale).build();
  ProgramOptions wide = getWideOptions(options);
  wide.entry = plans.getEntry().str();
  auto program = StepProgram::create(*module, wide);
  if (!program)
    return program.takeError();
  ErrorMeter meter(**program, steps);
  std::vector<double> expected, losses;
  if (llvm::Error error = toError(meter.run(-1, &expected)))
    return error;
  for (auto [number, slot] : llvm::enumerate(plans.getSlots())) {
    if (!isMissing(slot))
      continue;
    if (llvm::Error error = toError(meter.run(double(number), &losses)))
      return error;
    errors[{slot.name, slot.getNumber()}] = getRelativeError(losses, expected);
  }
  return llvm::Error::success();
}
