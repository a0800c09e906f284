//===- ReportFunction.cpp - The report of functions that go together -----===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ReportFunction.h"

#include "amp/Dialect/AMP/IR/AMP.h"
#include "amp/Interfaces/GradientInterfaces.h"
#include "amp/Precision/Assignment/MeasuredValues.h"
#include "amp/Support/LocationText.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace mlir::amp;
using llvm::json::OStream;

void mlir::amp::writeText(OStream &json, StringRef key, const Twine &text) {
  std::string string = text.str();
  json.attribute(key, llvm::json::isUTF8(string) ? std::move(string)
                                                 : llvm::json::fixUTF8(string));
}

std::string mlir::amp::printType(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

/// Writes one object on one line. A report has many small objects.
static void writeLine(OStream &json, function_ref<void(OStream &)> write) {
  json.rawValue([&](raw_ostream &os) {
    OStream line(os);
    line.object([&] { write(line); });
  });
}

FunctionReporter::FunctionReporter(OStream &json,
                                   const PrecisionReport::Settings &settings,
                                   ArrayRef<FunctionOpInterface> functions,
                                   const CostModel &costs,
                                   const Assignment &assignment)
    : json(json), settings(settings), functions(functions), costs(costs),
      graph(costs.getGraph()), assignment(assignment),
      unlisted(graph.getUnlisted().begin(), graph.getUnlisted().end()),
      inUse(graph.getVertices().size(), false) {
  ArrayRef<SlotVertex> vertices = graph.getVertices();
  for (VertexId v = 1; v < vertices.size(); ++v)
    (vertices[v].slot == SlotVertex::carried ? firstCarried : firstVertex)
        .try_emplace(vertices[v].op, v);
  for (const SlotUse &use : graph.getUses())
    inUse[use.producer] = inUse[use.user] = true;
  for (SlotValue value : graph.getValues()) {
    if (value.vertex == 0)
      continue;
    inUse[value.vertex] = true;
    vertexOf[value.value] = value.vertex;
    if (vertices[value.vertex].slot == SlotVertex::carried)
      carriedValues[value.vertex].push_back(value.value);
  }
  number();
  findParts();
  findCauses();
}

/// Numbers operations and values in program order.
void FunctionReporter::number() {
  auto addValue = [&](Value value) {
    valueIds[value] = values.size();
    values.push_back(value);
  };
  auto addOp = [&](Operation *op) {
    opIds[op] = ops.size();
    ops.push_back(op);
  };
  for (FunctionOpInterface function : functions) {
    if (functions.size() > 1)
      addOp(function);
    llvm::for_each(function.getArguments(), addValue);
    function.getFunctionBody().walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (isa<FunctionOpInterface>(op))
        return WalkResult::skip();
      if (Attribute id = op->getDiscardableAttr(AMPDialect::kIdAttr))
        forwardIds.try_emplace(id, ops.size());
      addOp(op);
      llvm::for_each(op->getResults(), addValue);
      for (Region &region : op->getRegions())
        for (Block &block : region)
          llvm::for_each(block.getArguments(), addValue);
      return WalkResult::advance();
    });
    // Blocks after the entry block have arguments too.
    for (Block &block : llvm::drop_begin(function.getFunctionBody()))
      llvm::for_each(block.getArguments(), addValue);

    // The names do not depend on the printing options of the module.
    AsmState state(function, OpPrintingFlags().printGenericOpForm(false));
    names.reserve(values.size());
    for (Value value : ArrayRef<Value>(values).drop_front(names.size())) {
      llvm::raw_string_ostream os(names.emplace_back());
      value.printAsOperand(os, state);
    }
  }
}

/// Assigns operations to the forward pass, the backward pass or the update. The
/// backward pass depends on a gradient seed, the update on the gradient of a
/// parameter. An operation whose results only one of them uses belongs to it.
void FunctionReporter::findParts() {
  parts.assign(ops.size(), Part::Forward);
  std::vector<Part> flow(values.size(), Part::Forward);
  std::optional<unsigned> firstBackward;
  for (auto [id, op] : llvm::enumerate(ops)) {
    Part part = Part::Forward;
    for (Value operand : op->getOperands())
      part = std::max(part, flow[valueIds.lookup(operand)]);
    if (part == Part::Forward && (isa<GradientSeedOpInterface>(op) ||
                                  op->hasAttr(AMPDialect::kBackwardOfAttr)))
      part = Part::Backward;
    if (part == Part::Backward && !firstBackward)
      firstBackward = id;
    parts[id] = part;
    auto gradients = op->getAttrOfType<ArrayAttr>(AMPDialect::kGradientOfAttr);
    for (auto [index, result] : llvm::enumerate(op->getResults())) {
      bool isGradient = gradients && index < gradients.size() &&
                        gradients[index] != StringAttr::get(op->getContext());
      flow[valueIds.lookup(result)] = isGradient ? Part::Update : part;
    }
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (BlockArgument argument : block.getArguments())
          flow[valueIds.lookup(argument)] = part;
    // The results of an operation depend on its regions.
    for (auto it = opIds.find(op->getParentOp()); it != opIds.end();
         it = opIds.find(it->first->getParentOp())) {
      if (parts[it->second] >= part)
        break;
      parts[it->second] = part;
      for (Value result : it->first->getResults())
        flow[valueIds.lookup(result)] =
            std::max(flow[valueIds.lookup(result)], part);
    }
  }
  for (unsigned id = ops.size(); id-- > 0;) {
    Operation *op = ops[id];
    if (parts[id] != Part::Forward)
      continue;
    Part earliest = Part::Update;
    bool isRead = false;
    for (Operation *user : op->getUsers()) {
      auto it = opIds.find(user);
      // A return does not determine the part.
      if (it == opIds.end() || user->hasTrait<OpTrait::IsTerminator>())
        continue;
      isRead = true;
      earliest = std::min(earliest, parts[it->second]);
    }
    if (!isRead)
      continue;
    // The forward pass saves values for the backward pass. Only operations
    // after the seed belong to the backward pass.
    if (earliest == Part::Update ||
        (earliest == Part::Backward && firstBackward && id > *firstBackward))
      parts[id] = earliest;
  }
}

/// Finds for each slot the slot from which its decision follows directly, and
/// the end of that chain.
void FunctionReporter::findCauses() {
  size_t size = graph.getVertices().size();
  next.assign(size, 0);
  root.assign(size, 0);
  ArrayRef<VertexId> causes = assignment.causes;
  // Some assignments record the paths of their causes.
  for (auto [v, previous] : llvm::enumerate(assignment.previous))
    if (causes[v] != v)
      next[v] = previous;
  // The path to a cause that is not a neighbour leads through slots with the
  // same cause, downstream from it.
  std::vector<bool> seen(size, false);
  SmallVector<VertexId> worklist;
  for (VertexId v = 1; v < size; ++v) {
    VertexId cause = causes[v];
    if (cause != 0 && cause != v && !seen[cause] &&
        (causes[cause] == cause || causes[cause] == 0)) {
      seen[cause] = true;
      worklist.push_back(cause);
    }
  }
  for (size_t i = 0; i < worklist.size(); ++i) {
    VertexId v = worklist[i];
    VertexId cause = next[v] == 0 ? v : causes[v];
    for (uint32_t use : graph.getUsesOf(v)) {
      VertexId user = graph.getUses()[use].user;
      if (user == 0 || seen[user] || next[user] != 0 || causes[user] != cause)
        continue;
      seen[user] = true;
      next[user] = v;
      worklist.push_back(user);
    }
  }
  for (VertexId v = 1; v < size; ++v)
    if (next[v] == 0 && causes[v] != v && !seen[v])
      next[v] = causes[v];

  // Follow the chains to their ends. A cycle has no end.
  std::vector<uint8_t> state(size, 0);
  for (VertexId v = 1; v < size; ++v) {
    SmallVector<VertexId> chain;
    VertexId end = v;
    while (state[end] == 0 && next[end] != 0) {
      state[end] = 1;
      chain.push_back(end);
      end = next[end];
    }
    VertexId last = state[end] == 2 && root[end] != 0 ? root[end] : end;
    if (state[end] == 1) {
      // Cut the cycle at the slot that entered it.
      next[chain.back()] = 0;
      last = chain.back();
    }
    state[end] = 2;
    for (VertexId link : llvm::reverse(chain)) {
      state[link] = 2;
      root[link] = next[link] == 0 ? 0 : last;
    }
  }
}

void FunctionReporter::write() {
  json.attributeArray("ops", [&] {
    for (unsigned id = 0; id < ops.size(); ++id)
      writeOperation(id);
  });
  json.attributeArray("values", [&] {
    for (unsigned id = 0; id < values.size(); ++id)
      writeValue(id);
  });
  writeCasts();
}

void mlir::amp::writeLocation(OStream &json, Location loc) {
  LocationText text(loc);
  if (!text.place.empty())
    writeText(json, "location", text.place);
  if (!text.name.empty())
    writeText(json, "scope", text.name);
}

void FunctionReporter::writeOperation(unsigned id) {
  Operation *op = ops[id];
  static constexpr StringLiteral partNames[] = {"forward", "backward",
                                                "update"};
  writeLine(json, [&](OStream &json) {
    json.attribute("id", static_cast<int64_t>(id));
    writeText(json, "name", op->getName().getStringRef());
    writeLocation(json, op->getLoc());
    json.attribute("part", partNames[static_cast<int>(parts[id])]);
    if (auto it = opIds.find(op->getParentOp()); it != opIds.end())
      json.attribute("parent", static_cast<int64_t>(it->second));
    if (Attribute of = op->getDiscardableAttr(AMPDialect::kBackwardOfAttr))
      if (auto it = forwardIds.find(of); it != forwardIds.end())
        json.attribute("backwardOf", static_cast<int64_t>(it->second));
    if (auto pin = op->getAttrOfType<StringAttr>(AMPDialect::kPrecisionAttr))
      writeText(json, "pin", pin.getValue());
    if (unlisted.contains(op))
      json.attribute("unlisted", true);
    json.attributeArray("operands", [&] {
      for (Value operand : op->getOperands())
        json.value(static_cast<int64_t>(valueIds.lookup(operand)));
    });
    json.attributeArray("results", [&] {
      for (Value result : op->getResults())
        json.value(static_cast<int64_t>(valueIds.lookup(result)));
    });
    json.attributeArray("slots", [&] { writeSlots(json, op); });
  });
}

/// Returns why a slot without a vertex keeps its type.
static StringRef getFixedRule(Operation *op, const PrecisionSlots &slots,
                              int8_t slot, bool isUnlisted) {
  if (slots.kinds[slot] == SlotKind::Fixed)
    return "fixed";
  auto gradients = op->getAttrOfType<ArrayAttr>(AMPDialect::kGradientOfAttr);
  for (auto [index, type] : llvm::enumerate(op->getResultTypes())) {
    if (slots.resultSlots[index] != slot)
      continue;
    if (!getElementTypeOrSelf(type).isF32())
      return "not-f32";
    if (gradients && index < gradients.size() &&
        gradients[index] != StringAttr::get(op->getContext()))
      return "gradient";
  }
  for (auto [index, type] : llvm::enumerate(op->getOperandTypes()))
    if (slots.operandSlots[index] == slot &&
        !getElementTypeOrSelf(type).isF32())
      return "not-f32";
  return isUnlisted ? "unlisted" : "kept";
}

void FunctionReporter::writeSlots(OStream &json, Operation *op) {
  ArrayRef<SlotVertex> vertices = graph.getVertices();
  auto first = firstVertex.find(op);
  PrecisionSlots slots;
  if (first != firstVertex.end() || graph.getInterface(op))
    graph.getSlots(op, slots);
  else
    slots.reset(op);

  VertexId v = first == firstVertex.end() ? 0 : first->second;
  for (int slot = 0, e = slots.kinds.size(); slot < e; ++slot) {
    bool isFree = v != 0 && v < vertices.size() && vertices[v].op == op &&
                  vertices[v].slot == slot;
    json.object([&] {
      json.attribute("slot", slot);
      json.attribute("kind", stringifySlotKind(slots.kinds[slot]));
      if (isFree)
        writeDecision(json, v);
      else
        json.attribute("rule",
                       getFixedRule(op, slots, slot, unlisted.contains(op)));
      int64_t before = 0;
      auto members = [&](StringRef key, auto types, auto &numbers) {
        json.attributeArray(key, [&] {
          int64_t index = 0;
          for (Type type : types) {
            if (numbers[index] == slot) {
              json.value(index);
              before += getReportBytes(type);
            }
            ++index;
          }
        });
      };
      members("operands", op->getOperandTypes(), slots.operandSlots);
      members("results", op->getResultTypes(), slots.resultSlots);
      json.attribute("bytesBefore", before);
      json.attribute("bytesAfter",
                     isFree && assignment.low[v] && !vertices[v].isRounded
                         ? before / 2
                         : before);
    });
    if (isFree)
      ++v;
  }

  auto carried = firstCarried.find(op);
  if (carried == firstCarried.end())
    return;
  for (v = carried->second; v < vertices.size() && vertices[v].op == op &&
                            vertices[v].slot == SlotVertex::carried;
       ++v) {
    if (!inUse[v])
      continue;
    json.object([&] {
      json.attribute("slot", "carried");
      json.attribute("kind", stringifySlotKind(vertices[v].kind));
      writeDecision(json, v);
      int64_t before = 0;
      json.attributeArray("values", [&] {
        for (Value value : carriedValues[v]) {
          json.value(static_cast<int64_t>(valueIds.lookup(value)));
          before += getReportBytes(value.getType());
        }
      });
      json.attribute("bytesBefore", before);
      json.attribute("bytesAfter", assignment.low[v] ? before / 2 : before);
    });
  }
}

/// Writes the decision on a free slot: type, rule, and cause.
void FunctionReporter::writeDecision(OStream &json, VertexId v) {
  const SlotVertex &vertex = graph.getVertices()[v];
  json.attribute("id", static_cast<int64_t>(v));
  json.attribute("class", stringifyOpClass(vertex.opClass));
  if (vertex.pinned)
    json.attribute("pinned", true);
  json.attribute("low", static_cast<bool>(assignment.low[v]));
  if (int64_t flops = costs.getProductFlops(v))
    json.attribute("flops", flops);
  json.attribute("rule", stringifyReason(assignment.reasons[v]));
  if (root[v] != 0) {
    json.attribute("cause", static_cast<int64_t>(root[v]));
    json.attribute("via", static_cast<int64_t>(next[v]));
  }
}

Type FunctionReporter::getTypeAfter(Value value) const {
  VertexId v = vertexOf.lookup(value);
  if (!assignment.low[v] || graph.getVertices()[v].isRounded)
    return value.getType();
  return getWithElementType(value.getType(), settings.low);
}

/// Writes the measured range of `value`, without a loss scale, and the effect
/// of the low type on it.
void FunctionReporter::writeMeasured(OStream &json, Value value) const {
  const MeasuredValues *measured = graph.getMeasured();
  const MeasuredRange *range = measured ? measured->lookup(value) : nullptr;
  if (!range)
    return;
  RoundingLoss loss = measured->getLoss(*range);
  json.attributeObject("measured", [&] {
    json.attribute("largest", range->statistics.getLargest());
    json.attribute("smallest", range->statistics.getSmallest());
    json.attribute("overflows", loss.overflows);
    json.attribute("zeroShare", loss.zeroShare);
    json.attribute("error", loss.error);
    if (range->isScaled())
      json.attribute("lossScale", measured->getScale());
  });
}

void FunctionReporter::writeValue(unsigned id) {
  Value value = values[id];
  VertexId v = vertexOf.lookup(value);
  writeLine(json, [&](OStream &json) {
    json.attribute("id", static_cast<int64_t>(id));
    writeText(json, "name", names[id]);
    if (auto result = dyn_cast<OpResult>(value)) {
      json.attribute("op",
                     static_cast<int64_t>(opIds.lookup(result.getOwner())));
      json.attribute("result", static_cast<int64_t>(result.getResultNumber()));
    } else {
      auto argument = cast<BlockArgument>(value);
      json.attribute("argument", static_cast<int64_t>(argument.getArgNumber()));
      if (auto it = opIds.find(argument.getOwner()->getParentOp());
          it != opIds.end())
        json.attribute("op", static_cast<int64_t>(it->second));
      writeLocation(json, value.getLoc());
      auto function = dyn_cast_or_null<FunctionOpInterface>(
          argument.getOwner()->getParentOp());
      if (function && argument.getOwner()->isEntryBlock()) {
        auto text = [&](StringRef key, StringRef name) {
          if (auto attribute = function.getArgAttrOfType<StringAttr>(
                  argument.getArgNumber(), name))
            writeText(json, key, attribute.getValue());
        };
        text("label", AMPDialect::kNameAttr);
        text("role", AMPDialect::kRoleAttr);
      }
    }
    Type before = value.getType(), after = getTypeAfter(value);
    if (auto shaped = dyn_cast<ShapedType>(before); shaped && shaped.hasRank())
      json.attributeArray("shape", [&] {
        for (int64_t extent : shaped.getShape())
          if (ShapedType::isDynamic(extent))
            json.value(nullptr);
          else
            json.value(extent);
      });
    writeText(json, "typeBefore", printType(before));
    writeText(json, "typeAfter", printType(after));
    json.attribute("bytesBefore", getReportBytes(before));
    json.attribute("bytesAfter", getReportBytes(after));
    writeMeasured(json, value);
    if (v != 0) {
      json.attribute("slot", static_cast<int64_t>(v));
      json.attribute("rule", stringifyReason(assignment.reasons[v]));
      if (root[v] != 0)
        json.attribute("cause", static_cast<int64_t>(root[v]));
    }
  });
}

void FunctionReporter::writeCasts() {
  // Casts are numbered by value, in the order of first use.
  llvm::MapVector<uint32_t, SmallVector<OpOperand *, 2>> casts, roundings;
  for (auto [index, value] : llvm::enumerate(graph.getValues()))
    if (assignment.low[value.vertex] &&
        graph.getVertices()[value.vertex].isRounded)
      roundings[index];
  for (const SlotUse &use : graph.getUses()) {
    if (assignment.low[use.producer] != assignment.low[use.user])
      casts[use.value].push_back(use.operand);
    else if (auto it = roundings.find(use.value); it != roundings.end())
      it->second.push_back(use.operand);
  }
  std::string low = printType(settings.low);
  auto writeCast = [&](uint32_t number, bool toLow,
                       ArrayRef<OpOperand *> users) {
    Value value = graph.getValues()[number].value;
    writeLine(json, [&](OStream &json) {
      json.attribute("value", static_cast<int64_t>(valueIds.lookup(value)));
      json.attribute("from", toLow ? "f32" : StringRef(low));
      json.attribute("to", toLow ? StringRef(low) : "f32");
      json.attribute("bytes", costs.getCastCost(number, toLow));
      json.attributeArray("users", [&] {
        for (OpOperand *use : users)
          json.object([&] {
            json.attribute("op",
                           static_cast<int64_t>(opIds.lookup(use->getOwner())));
            json.attribute("operand",
                           static_cast<int64_t>(use->getOperandNumber()));
          });
      });
    });
  };
  json.attributeArray("casts", [&] {
    // Casts that round the results of operations come first, because other
    // casts may read them.
    for (auto &[number, users] : roundings)
      writeCast(number, /*toLow=*/true, users);
    for (auto &[number, users] : casts)
      writeCast(number, !assignment.low[graph.getValues()[number].vertex],
                users);
  });
}
