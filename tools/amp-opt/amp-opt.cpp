//===- amp-opt.cpp - Run passes over modules ------------------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Dialect/AMP/IR/AMP.h"
#include "amp/Dialect/Train/IR/Train.h"
#include "amp/Pipelines/CUDAPipeline.h"
#include "amp/Pipelines/Pipelines.h"
#include "amp/Precision/Policy/Policy.h"
#include "amp/RegisterAll/Tools.h"
#include "amp/Support/InputFile.h"
#include "amp/Support/OptionCheck.h"
#include "amp/Support/ToolDiagnostics.h"
#include "mlir/Debug/Counter.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Support/Timing.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/ToolOutputFile.h"

/// Prints the policy `presetOrFile`. Returns the exit code.
static int printPolicy(mlir::DialectRegistry &registry,
                       llvm::StringRef presetOrFile) {
  mlir::MLIRContext context(registry);
  context.loadDialect<mlir::amp::AMPDialect, mlir::train::TrainDialect>();
  auto policy =
      mlir::amp::Policy::load(presetOrFile, mlir::UnknownLoc::get(&context));
  if (failed(policy))
    return 1;
  policy->print(llvm::outs());
  return 0;
}

/// Leaves the operation out of diagnostics unless --mlir-print-op-on-diagnostic
/// is given: a diagnostic of a module or a function would print all of it.
static void shortenDiagnostics() {
  mlir::registerMLIRContextCLOptions();
  llvm::cl::Option *option =
      llvm::cl::getRegisteredOptions().lookup("mlir-print-op-on-diagnostic");
  if (option)
    static_cast<llvm::cl::opt<bool> *>(option)->setInitialValue(false);
}

/// Builds the passes that the command line asks for, to report errors of their
/// options as errors of this tool.
static mlir::LogicalResult checkPasses(const mlir::MlirOptMainConfig &config,
                                       mlir::DialectRegistry &registry) {
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  llvm::SourceMgr sources;
  mlir::amp::ToolDiagnosticHandler handler("amp-opt", sources, &context);
  mlir::PassManager passes(&context);
  return config.setupPassPipeline(passes);
}

/// Parses the command line. Returns the names of the input and the output, or
/// nothing if an option is unknown.
static std::optional<std::pair<std::string, std::string>>
parseCommandLine(int argc, char **argv, mlir::DialectRegistry &registry) {
  namespace cl = llvm::cl;
  static cl::opt<std::string> input(cl::Positional, cl::init("-"),
                                    cl::desc("<input file>"));
  static cl::opt<std::string> output("o", cl::init("-"),
                                     cl::value_desc("filename"),
                                     cl::desc("Output filename"));
  mlir::MlirOptMainConfig::registerCLOptions(registry);
  mlir::registerAsmPrinterCLOptions();
  mlir::registerMLIRContextCLOptions();
  mlir::registerPassManagerCLOptions();
  mlir::registerDefaultTimingManagerCLOptions();
  mlir::tracing::DebugCounter::registerCLOptions();
  mlir::amp::AMPPipelineOptions training;
  mlir::amp::CUDAPipelineOptions program;
  if (failed(mlir::amp::checkOptionNames(
          "amp-opt", argc, argv,
          {{"--amp-training-pipeline", mlir::amp::getOptionNames(training)},
           {"--amp-cuda-pipeline", mlir::amp::getOptionNames(program)}})))
    return std::nullopt;
  std::string overview =
      "AMP: automatic mixed precision for training graphs\n\n"
      "Available Dialects: ";
  llvm::raw_string_ostream os(overview);
  llvm::interleaveComma(registry.getDialectNames(), os);
  cl::ParseCommandLineOptions(argc, argv, overview);
  return std::make_pair(input.getValue(), output.getValue());
}

/// Runs the passes that the command line names over its input.
static mlir::LogicalResult optimize(int argc, char **argv,
                                    mlir::DialectRegistry &registry) {
  shortenDiagnostics();
  auto files = parseCommandLine(argc, argv, registry);
  if (!files)
    return mlir::failure();
  const auto &[input, output] = *files;
  auto config = mlir::MlirOptMainConfig::createFromCLOptions();
  if (config.shouldShowDialects() || config.shouldListPasses())
    return mlir::MlirOptMain(argc, argv, input, output, registry);
  llvm::InitLLVM initialize(argc, argv);
  auto fail = [](const llvm::Twine &message) {
    llvm::errs() << "amp-opt: error: " << message << "\n";
    return mlir::failure();
  };
  if (failed(checkPasses(config, registry)))
    return mlir::failure();
  auto file = mlir::amp::readModule(input);
  if (!file)
    return fail(llvm::toString(file.takeError()));
  std::string message;
  auto result = mlir::openOutputFile(output, &message);
  if (!result)
    return fail(message);
  if (failed(MlirOptMain(result->os(), std::move(*file), registry, config)))
    return mlir::failure();
  result->keep();
  return mlir::success();
}

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  mlir::amp::registerToolDialects(registry);
  mlir::amp::registerToolPasses();
  llvm::cl::SetVersionPrinter(mlir::amp::printToolVersion);
  // The pass of this name needs an input and takes `policy=...`.
  if (argc == 2) {
    llvm::StringRef policy(argv[1]);
    policy.consume_front("-");
    if (policy.consume_front("-amp-print-policy=") &&
        !policy.starts_with("policy="))
      return printPolicy(registry, policy);
  }
  return mlir::asMainReturnCode(optimize(argc, argv, registry));
}
