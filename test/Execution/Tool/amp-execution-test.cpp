//===- amp-execution-test.cpp - The execution library by hand -------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Calls single functions of the execution library from lit tests:
//
//   describe FILE                          names, shapes and types
//   copy IN OUT                            read and write again
//   cast IN OUT TYPE                       convert the float arrays
//   init OUT SEED NAME:TYPE:SHAPE:RULE...  initial state
//   philox C0 C1 C2 C3 K0 K1               one block, all words hexadecimal
//   order SAMPLES SEED EPOCH COUNT         the order of COUNT epochs
//   batches SAMPLES SIZE drop|keep COUNT   the first batches
//   jit FILE FUNCTION OUT IN [again]       run a function of the LLVM dialect,
//                                          compiled with the options of LLVM
//                                          in AMP_TEST_LLVM_OPTIONS, in place
//                                          on the arrays of IN; with `again`,
//                                          print `done` and run once more for
//                                          each line of the standard input
//   dataset FILE PREFIX NAME:TYPE:SHAPE[:CLASSES]...
//
// SHAPE is extents joined by `x`, or `scalar`. RULE is the name of a rule with
// its arguments after `=`, joined by `,`.
//
//===----------------------------------------------------------------------===//

#include "amp/Execution/CompiledStep.h"
#include "amp/Runtime/Host/Dataset.h"
#include "amp/Runtime/Host/Initializer.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/xxhash.h"

#include <iostream>

using namespace mlir::amp;
using llvm::StringRef;

static llvm::ExitOnError exitOnError("error: ");

[[noreturn]] static void usage(StringRef what) {
  llvm::errs() << "usage: wrong " << what << "\n";
  std::exit(2);
}

static host::ElementType parseType(StringRef text) {
  for (int i = 0; i < host::kNumElementTypes; ++i)
    if (host::typeName(host::ElementType(i)) == text)
      return host::ElementType(i);
  usage("type");
}

static host::Shape parseShape(StringRef text) {
  host::Shape shape;
  if (text == "scalar")
    return shape;
  llvm::SmallVector<StringRef> extents;
  text.split(extents, 'x');
  for (StringRef extent : extents)
    if (extent.getAsInteger(10, shape.emplace_back(0)))
      usage("shape");
  return shape;
}

/// `text` outlives the rule.
static host::InitInfo parseRule(StringRef text) {
  using Kind = host::InitInfo::Kind;
  auto [name, list] = text.split('=');
  std::optional<Kind> kind = llvm::StringSwitch<std::optional<Kind>>(name)
                                 .Case("zeros", Kind::Zeros)
                                 .Case("ones", Kind::Ones)
                                 .Case("constant", Kind::Constant)
                                 .Case("normal", Kind::Normal)
                                 .Case("uniform", Kind::Uniform)
                                 .Case("kaiming_uniform", Kind::KaimingUniform)
                                 .Case("kaiming_normal", Kind::KaimingNormal)
                                 .Case("xavier_uniform", Kind::XavierUniform)
                                 .Case("xavier_normal", Kind::XavierNormal)
                                 .Case("copy_of", Kind::CopyOf)
                                 .Case("rng_state", Kind::RngState)
                                 .Default(std::nullopt);
  if (!kind)
    usage("rule");
  host::InitInfo spec;
  spec.kind = *kind;
  if (spec.kind == Kind::CopyOf) {
    spec.source = list.data();
    return spec;
  }
  llvm::SmallVector<double> numbers;
  for (StringRef item : llvm::split(list, ','))
    if (!item.empty() && item.getAsDouble(numbers.emplace_back()))
      usage("rule argument");
  if (name.contains('_')) {
    spec.gain = numbers.empty() ? 1.0 : numbers[0];
  } else if (!numbers.empty()) {
    spec.first = numbers[0];
    spec.second = numbers.size() > 1 ? numbers[1] : 1.0;
  }
  return spec;
}

static int64_t parseInt(StringRef text) {
  int64_t value;
  if (text.getAsInteger(10, value))
    usage("number");
  return value;
}

static void check(const host::Status &status) { exitOnError(toError(status)); }

static host::ArrayMap readArrays(StringRef path) {
  host::ArrayMap arrays;
  check(host::readArrays(path.str(), &arrays));
  return arrays;
}

static void describe(const host::ArrayMap &arrays) {
  for (const auto &[name, array] : arrays)
    llvm::outs() << name << ": " << array.describe() << "\n";
}

static void runJit(llvm::ArrayRef<StringRef> args) {
  mlir::DialectRegistry registry;
  registerExecutionDialects(registry);
  mlir::MLIRContext context(registry);
  context.loadAllAvailableDialects();
  auto module = mlir::parseSourceFile<mlir::ModuleOp>(args[0], &context);
  if (!module)
    std::exit(1);
  host::ArrayMap arrays = readArrays(args[3]);
  llvm::SmallVector<BufferType> buffers;
  llvm::SmallVector<host::Array *> pointers;
  for (auto &[name, array] : arrays) {
    buffers.push_back({array.getType(), array.getShape()});
    pointers.push_back(&array);
  }
  std::unique_ptr<CompiledStep> step =
      exitOnError(CompiledStep::compile(*module, args[1], buffers));
  exitOnError(step->run(pointers));
  check(host::writeArrays(args[2].str(), arrays));

  bool again = args.size() > 4 && args[4] == "again";
  for (std::string line; again;) {
    std::cout << "done" << std::endl;
    if (!std::getline(std::cin, line))
      break;
    host::ArrayMap next = readArrays(args[3]);
    for (auto &&[to, from] : llvm::zip_equal(arrays, next))
      to.second = std::move(from.second);
    exitOnError(step->run(pointers));
    check(host::writeArrays(args[2].str(), arrays));
  }
}

int main(int argc, char **argv) {
  llvm::SmallVector<StringRef> args(argv + 1, argv + argc);
  if (args.empty())
    usage("command");
  StringRef command = args.front();
  args.erase(args.begin());
  auto needs = [&](size_t count) {
    if (args.size() < count)
      usage("number of arguments");
  };

  if (command == "describe") {
    needs(1);
    describe(readArrays(args[0]));
  } else if (command == "copy") {
    needs(2);
    check(host::writeArrays(args[1].str(), readArrays(args[0])));
  } else if (command == "cast") {
    needs(3);
    host::ArrayMap arrays = readArrays(args[0]);
    for (auto &[name, array] : arrays)
      if (isFloat(array.getType()))
        array = array.castFloat(parseType(args[2]));
    check(host::writeArrays(args[1].str(), arrays));
  } else if (command == "init") {
    needs(2);
    std::vector<host::TensorInfo> tensors;
    for (StringRef text : llvm::drop_begin(args, 2)) {
      llvm::SmallVector<StringRef> parts;
      text.split(parts, ':');
      if (parts.size() != 4)
        usage("state");
      host::TensorInfo &tensor = tensors.emplace_back();
      tensor.name = parts[0].str();
      tensor.role = host::Role::Parameter;
      tensor.type = parseType(parts[1]);
      tensor.shape = parseShape(parts[2]);
      tensor.init = parseRule(parts[3]);
      tensor.init.stream = llvm::xxh3_64bits(parts[0]);
    }
    host::ArrayMap states;
    check(host::initializeTensors(tensors, parseInt(args[1]), /*partial=*/false,
                                  &states));
    check(host::writeArrays(args[0].str(), states));
  } else if (command == "philox") {
    needs(6);
    uint32_t w[6];
    for (int i = 0; i < 6; ++i)
      if (args[i].getAsInteger(16, w[i]))
        usage("word");
    for (uint32_t word :
         host::philox4x32({{w[0], w[1], w[2], w[3]}}, w[4], w[5]).words)
      llvm::outs() << llvm::format_hex_no_prefix(word, 8) << " ";
    llvm::outs() << "\n";
  } else if (command == "order") {
    needs(4);
    int64_t epoch = parseInt(args[2]);
    for (int64_t end = epoch + parseInt(args[3]); epoch < end; ++epoch) {
      llvm::interleave(
          host::permuteEpoch(parseInt(args[0]), parseInt(args[1]), epoch),
          llvm::outs(), " ");
      llvm::outs() << "\n";
    }
  } else if (command == "batches") {
    needs(4);
    host::BatchOrder order(parseInt(args[0]), parseInt(args[1]),
                           args[2] == "drop", host::DataPosition());
    llvm::outs() << "per epoch: " << order.getBatchesPerEpoch() << "\n";
    for (int64_t i = 0, e = parseInt(args[3]); i < e; ++i) {
      int64_t count = 0;
      const int64_t *rows = order.next(&count);
      llvm::outs() << "epoch " << order.getPosition().epoch << ": ";
      llvm::interleave(llvm::ArrayRef(rows, count), llvm::outs(), " ");
      llvm::outs() << "\n";
    }
  } else if (command == "jit") {
    needs(4);
    llvm::cl::ParseCommandLineOptions(1, argv, "", nullptr, nullptr,
                                      "AMP_TEST_LLVM_OPTIONS");
    runJit(args);
  } else if (command == "dataset") {
    needs(2);
    std::vector<host::TensorInfo> batches;
    for (StringRef text : llvm::drop_begin(args, 2)) {
      llvm::SmallVector<StringRef> parts;
      text.split(parts, ':');
      if (parts.size() < 3)
        usage("input");
      host::TensorInfo &batch = batches.emplace_back();
      batch.name = parts[0].str();
      batch.role = host::Role::Batch;
      batch.type = parseType(parts[1]);
      batch.shape = parseShape(parts[2]);
      batch.shape.insert(batch.shape.begin(), -1);
      if (parts.size() > 3)
        batch.classes = parseInt(parts[3]);
    }
    host::Dataset dataset;
    check(dataset.create(readArrays(args[0]), args[0].str(), args[1].str(),
                         batches));
    llvm::outs() << dataset.size() << " samples\n";
  } else {
    usage("command");
  }
  return 0;
}
