//===- amp-translate.cpp - Modules to other languages ---------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/InitAll.h"

#include "Standalone.h"
#include "amp/Pipelines/CUDAPipeline.h"
#include "amp/Target/CUDA/CUDAEmitter.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Support/FileUtilities.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/ToolOutputFile.h"

using namespace mlir;
namespace cl = llvm::cl;

static cl::OptionCategory category("amp-translate options");

static cl::opt<std::string> inputFile(cl::Positional, cl::init("-"),
                                      cl::desc("<step.mlir>"),
                                      cl::cat(category));
static cl::opt<std::string> outputFile("o", cl::init("-"),
                                       cl::value_desc("file"),
                                       cl::desc("Where to write"),
                                       cl::cat(category));
static cl::opt<bool>
    toCUDA("mlir-to-cuda",
           cl::desc("Print CUDA C++: of a 'cuda.program' as it is, of a "
                    "training step after amp-cuda-pipeline"),
           cl::cat(category));
static cl::opt<bool>
    printCosts("cuda-costs",
               cl::desc("Print what each launch costs at least instead"),
               cl::cat(category));
static cl::opt<std::string>
    device("device", cl::init("h100"), cl::value_desc("a100|h100|h200"),
           cl::desc("The GPU of --cuda-costs (default: h100)"),
           cl::cat(category));
static cl::opt<std::string> entry("entry", cl::value_desc("name"),
                                  cl::desc("The step or program (default: the "
                                           "only one)"),
                                  cl::cat(category));
static cl::opt<std::string>
    precision("precision", cl::value_desc("f32|tf32|fp16|bf16"),
              cl::desc("Run the training pipeline with this precision first "
                       "(default: take the step as it is)"),
              cl::cat(category));
static cl::opt<std::string>
    lossScaling("loss-scale", cl::value_desc("dynamic|none|number"),
                cl::desc("How the pipeline scales the loss"),
                cl::cat(category));
static cl::opt<std::string>
    masterWeights("master-weights", cl::value_desc("cast|copy"),
                  cl::desc("How the pipeline keeps f32 weights"),
                  cl::cat(category));
static cl::opt<int64_t> batchSize("batch-size", cl::init(0),
                                  cl::desc("Samples in a batch, where the step "
                                           "leaves it open"),
                                  cl::cat(category));
static cl::opt<bool> noEpilogues(
    "no-epilogues",
    cl::desc("Leave activations and bias gradients out of products"),
    cl::cat(category));
static cl::opt<bool> emitMain(
    "emit-main",
    cl::desc("Add a trainer with the options of amp-run, and --synthetic, "
             "--profile and --no-graph"),
    cl::cat(category));
static cl::opt<std::string>
    headerFile("emit-header", cl::value_desc("file.h"),
               cl::desc("Write the C interface as a header too"),
               cl::cat(category));
static cl::opt<std::string>
    cmakeFile("emit-cmake", cl::value_desc("CMakeLists.txt"),
              cl::desc("Write a CMake project for the source too (needs -o)"),
              cl::cat(category));
static cl::opt<bool>
    standalone("standalone",
               cl::desc("Put the runtime headers into the source"),
               cl::cat(category));
static cl::opt<std::string>
    runtimeDir("runtime-dir", cl::value_desc("folder"),
               cl::desc("Folder that holds amp/Runtime/CUDA, for --standalone"),
               cl::cat(category));

static int fail(const llvm::Twine &message) {
  llvm::errs() << "amp-translate: error: " << message << "\n";
  return 1;
}

/// Writes all files, or none and says why.
static int
writeFiles(llvm::ArrayRef<std::pair<std::string, std::string>> pathsAndTexts) {
  std::vector<std::unique_ptr<llvm::ToolOutputFile>> files;
  for (const auto &file : pathsAndTexts) {
    std::string message;
    files.push_back(openOutputFile(file.first, &message));
    if (!files.back())
      return fail(message);
    files.back()->os() << file.second;
  }
  for (std::unique_ptr<llvm::ToolOutputFile> &file : files)
    file->keep();
  return 0;
}

/// The program to translate, of those of `module`; null after an error.
static cuda::ProgramOp findProgram(ModuleOp module) {
  cuda::ProgramOp found;
  for (auto program : module.getOps<cuda::ProgramOp>()) {
    if (!entry.empty() && program.getSymName() != entry)
      continue;
    if (found) {
      fail("the module has several programs, expected --entry");
      return {};
    }
    found = program;
  }
  if (!found)
    fail(entry.empty() ? "the module has neither a training step nor a "
                         "'cuda.program'"
                       : "the module has no step '" + entry + "'");
  return found;
}

static LogicalResult runPipeline(ModuleOp module) {
  PassManager pm(module.getContext());
  amp::CUDAPipelineOptions options;
  options.batchSize = batchSize;
  options.precision = precision;
  options.lossScaling = lossScaling;
  options.masterWeights = masterWeights;
  options.epilogues = !noEpilogues;
  amp::buildCUDAPipeline(pm, options);
  return pm.run(module);
}

static int translate() {
  if (!toCUDA && !printCosts)
    return fail("expected --mlir-to-cuda or --cuda-costs");
  const cuda::DeviceModel *model = cuda::findDevice(device);
  if (!model)
    return fail("unknown GPU '" + device + "', expected a100, h100 or h200");
  if (!cmakeFile.empty() && outputFile == "-")
    return fail("--emit-cmake needs the name of the source, expected -o");
  for (StringRef name : {"f32", "tf32", "fp16", "bf16", ""})
    if (precision == name)
      break;
    else if (name.empty())
      return fail("unknown precision '" + precision +
                  "', expected f32, tf32, fp16 or bf16");

  DialectRegistry registry;
  registerAllDialects(registry);
  registerAllExtensions(registry);
  amp::registerAllDialects(registry);
  amp::registerAllExtensions(registry);
  MLIRContext context(registry);
  std::string message;
  std::unique_ptr<llvm::MemoryBuffer> input =
      openInputFile(inputFile, &message);
  if (!input)
    return fail(message);
  auto sources = std::make_shared<llvm::SourceMgr>();
  sources->AddNewSourceBuffer(std::move(input), llvm::SMLoc());
  SourceMgrDiagnosticHandler handler(*sources, &context);
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(sources, &context);
  if (!module || failed(runPipeline(*module)))
    return 1;
  cuda::ProgramOp program = findProgram(*module);
  if (!program)
    return 1;

  std::vector<std::pair<std::string, std::string>> files;
  if (printCosts) {
    std::string text;
    llvm::raw_string_ostream os(text);
    cuda::printCosts(program, *model, os);
    files.push_back({outputFile, text});
    return writeFiles(files);
  }
  cuda::EmitterOptions options;
  if (inputFile != "-")
    options.source = llvm::sys::path::filename(inputFile).str();
  options.emitMain = emitMain;
  std::string text;
  if (!headerFile.empty()) {
    options.header = llvm::sys::path::filename(headerFile).str();
    std::string header;
    cuda::emitHeader(program, header);
    files.push_back({headerFile, header});
  }
  if (failed(cuda::emitCUDA(program, options, text)))
    return 1;
  if (standalone) {
    std::string folder = runtimeDir;
    if (folder.empty())
      folder = AMP_RUNTIME_INCLUDE_DIR;
    if (!inlineRuntime(text, folder, message))
      return fail(message);
  }
  files.push_back({outputFile, text});
  if (!cmakeFile.empty()) {
    std::string cmake;
    cuda::emitCMake(program, llvm::sys::path::filename(outputFile), emitMain,
                    cmake);
    files.push_back({cmakeFile, cmake});
  }
  return writeFiles(files);
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  cl::HideUnrelatedOptions(category);
  cl::ParseCommandLineOptions(argc, argv,
                              "AMP: training steps as programs for a GPU\n");
  return translate();
}
