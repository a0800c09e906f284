//===- LibraryCache.cpp - Compiled CUDA sources ---------------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A file KEY.so or KEY.o is valid if KEY.sha256 contains its hash. The hash is
// written first. A rename makes each file appear atomically. A killed
// compilation leaves no valid file. A damaged file is compiled again.
//
//===----------------------------------------------------------------------===//

#include "amp/Execution/CUDA/LibraryCache.h"

#include "CacheFolder.h"
#include "amp/Execution/Errors.h"
#include "amp/Support/InstalledFiles.h"
#include "amp/Target/CUDA/ProgramNumbers.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>
#include <dlfcn.h>

using namespace mlir;
using namespace mlir::amp;
namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

//===----------------------------------------------------------------------===//
// Compiler and device
//===----------------------------------------------------------------------===//

namespace {
/// A command that runs asynchronously.
class Command {
public:
  Command() = default;
  ~Command() {
    int code = 0;
    if (isRunning)
      wait(code);
  }

  /// Starts the command. Its output goes to a file in `folder`.
  void start(llvm::ArrayRef<std::string> command, llvm::StringRef folder) {
    if (output.create(folder, ".log")) {
      message = "cannot write to the cache";
      return;
    }
    llvm::SmallVector<llvm::StringRef> arguments(command.begin(),
                                                 command.end());
    std::optional<llvm::StringRef> redirects[] = {llvm::StringRef(),
                                                  llvm::StringRef(output.name),
                                                  llvm::StringRef(output.name)};
    bool failed = false;
    process = llvm::sys::ExecuteNoWait(command.front(), arguments, std::nullopt,
                                       redirects, 0, &message, &failed);
    isRunning = !failed;
  }
  /// Waits for the command and returns its output. `code` receives its exit
  /// status, or -1 if it could not be run.
  std::string wait(int &code) {
    code = -1;
    if (isRunning)
      code = llvm::sys::Wait(process, std::nullopt, &message).ReturnCode;
    isRunning = false;
    auto text = llvm::MemoryBuffer::getFile(output.name);
    return (text ? (*text)->getBuffer().str() : "") + message;
  }

private:
  TemporaryFile output;
  llvm::sys::ProcessInfo process;
  std::string message;
  bool isRunning = false;
};
} // namespace

/// Runs a command and returns its output. `code` receives its exit status,
/// and -1 if it could not be run.
static std::string runCommand(llvm::ArrayRef<std::string> command,
                              llvm::StringRef folder, int &code) {
  Command running;
  running.start(command, folder);
  return running.wait(code);
}

/// The path of the compiler.
static llvm::Expected<std::string> findCompiler(llvm::StringRef given) {
  std::string name = given.str();
  if (name.empty())
    name = llvm::sys::Process::GetEnv("AMP_CUDA_COMPILER").value_or("");
  const bool isDefault = name.empty();
  auto found = llvm::sys::findProgramByName(isDefault ? "nvcc" : name);
  if (!found && isDefault)
    found = llvm::sys::findProgramByName("nvcc", {"/usr/local/cuda/bin"});
  // A name with a folder is not looked for.
  if (found && fs::can_execute(*found))
    return *found;
  if (!isDefault)
    return makeError("there is no CUDA compiler '{0}'", name);
  return makeError("--backend=cuda needs nvcc, which is neither in PATH nor in "
                   "/usr/local/cuda/bin: install the CUDA toolkit, or give "
                   "--cuda-compiler");
}

/// The compute capability of the GPU `device`, such as 90. Asks the driver,
/// which is not a dependency of this program.
static llvm::Expected<int> getCapability(int device) {
  void *driver = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!driver)
    return makeError("--backend=cuda needs a GPU, but this machine has no "
                     "driver of NVIDIA (libcuda.so.1)");
  auto initialize =
      reinterpret_cast<int (*)(unsigned)>(::dlsym(driver, "cuInit"));
  auto count =
      reinterpret_cast<int (*)(int *)>(::dlsym(driver, "cuDeviceGetCount"));
  auto attribute = reinterpret_cast<int (*)(int *, int, int)>(
      ::dlsym(driver, "cuDeviceGetAttribute"));
  int devices = 0, major = 0, minor = 0;
  if (!initialize || !count || !attribute || initialize(0) != 0 ||
      count(&devices) != 0 || devices == 0)
    return makeError("--backend=cuda needs a GPU, but the driver finds none");
  if (device < 0 || device >= devices)
    return makeError("there is no device {0}, but {1} in all", device, devices);
  // CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR and _MINOR.
  if (attribute(&major, 75, device) != 0 || attribute(&minor, 76, device) != 0)
    return makeError("the driver does not say what GPU {0} is", device);
  return major * 10 + minor;
}

/// Returns the nvcc flags for compiling and linking.
static llvm::Expected<std::vector<std::string>>
getFlags(const CUDACompilerOptions &options, bool isGiven) {
  std::vector<std::string> flags = {"-std=c++17", "-Xcompiler",
                                    "-fPIC,-fvisibility=hidden"};
  // A compiler that the caller chose may be for another machine.
  llvm::Expected<int> capability = getCapability(std::max(options.device, 0));
  if (capability)
    flags.push_back("-arch=sm_" + std::to_string(*capability));
  else if (!isGiven)
    return capability.takeError();
  else
    llvm::consumeError(capability.takeError());
  if (options.strictRounding)
    flags.push_back("-fmad=false");
  return flags;
}

//===----------------------------------------------------------------------===//
// Libraries
//===----------------------------------------------------------------------===//

/// Whether the file `stem` + `suffix` has the hash that its compilation wrote.
static bool isValid(const std::string &stem, llvm::StringRef suffix) {
  const std::string text = readText(stem + suffix);
  return !text.empty() && readText(stem + ".sha256") == hashText(text);
}

namespace {
/// The compilation of one step.
class Compilation {
public:
  Compilation(std::string compiler, std::vector<std::string> flags,
              std::string folder)
      : compiler(std::move(compiler)), flags(std::move(flags)),
        folder(std::move(folder)) {}

  /// Reads the version of the compiler, on which the result depends.
  llvm::Error readVersion();
  /// Returns the path, without suffix, of the files for the source `text`.
  std::string getStem(llvm::StringRef prefix, llvm::StringRef text) const;
  /// Compiles `stem`.cu, and `runtime`.cu unless its object is valid, at the
  /// same time. Links both to `stem`.so.
  llvm::Error run(const std::string &stem, const std::string &runtime,
                  llvm::ArrayRef<std::string> libraries);
  /// Writes a copy of the library `stem`.so with `numbers` to `copy`.so.
  llvm::Error writeNumbers(const std::string &stem, const std::string &copy,
                           const std::vector<int64_t> &numbers);

private:
  /// Starts the compilation of `stem`.cu to `object`.
  llvm::Error start(const std::string &stem, TemporaryFile &object,
                    Command &command);
  /// Waits for the command, which compiles `stem`.cu.
  llvm::Error finish(const std::string &stem, Command &command);
  llvm::Error describe(const std::string &stem, llvm::StringRef output);
  /// Moves the file `made` to `stem` + `suffix`, and writes its hash.
  llvm::Error keep(const std::string &stem, llvm::StringRef suffix,
                   const TemporaryFile &made);

  std::string compiler;
  std::vector<std::string> flags;
  std::string folder, key;
};
} // namespace

llvm::Error Compilation::readVersion() {
  int code = 0;
  const std::string version = runCommand({compiler, "--version"}, folder, code);
  if (code != 0)
    return makeError("'{0} --version' failed: {1}", compiler,
                     llvm::StringRef(version).rtrim());
  key = compiler + "\n" + version + "\n";
  for (const std::string &flag : flags)
    key += flag + "\n";
  return llvm::Error::success();
}

std::string Compilation::getStem(llvm::StringRef prefix,
                                 llvm::StringRef text) const {
  llvm::SmallString<128> stem(folder);
  path::append(stem, prefix + hashText(key + text.str()).substr(0, 32));
  return std::string(stem);
}

llvm::Error Compilation::start(const std::string &stem, TemporaryFile &object,
                               Command &command) {
  if (std::error_code error = object.create(folder, ".o"))
    return makeError("cannot write to '{0}': {1}", folder, error.message());
  std::vector<std::string> words = {compiler};
  words.insert(words.end(), flags.begin(), flags.end());
  words.insert(words.end(), {"-c", "-o", object.name, stem + ".cu"});
  command.start(words, folder);
  return llvm::Error::success();
}

llvm::Error Compilation::describe(const std::string &stem,
                                  llvm::StringRef output) {
  return makeError("{0} cannot compile '{1}.cu':\n{2}", compiler, stem,
                   output.rtrim());
}

llvm::Error Compilation::finish(const std::string &stem, Command &command) {
  int code = 0;
  const std::string output = command.wait(code);
  return code == 0 ? llvm::Error::success() : describe(stem, output);
}

llvm::Error Compilation::keep(const std::string &stem, llvm::StringRef suffix,
                              const TemporaryFile &made) {
  const std::string hash = hashText(readText(made.name));
  if (llvm::Error error = writeWhole(stem + ".sha256", folder, hash))
    return error;
  if (std::error_code error = fs::rename(made.name, stem + suffix))
    return makeError("cannot write '{0}{1}': {2}", stem, suffix,
                     error.message());
  return llvm::Error::success();
}

llvm::Error Compilation::run(const std::string &stem,
                             const std::string &runtime,
                             llvm::ArrayRef<std::string> libraries) {
  TemporaryFile stepObject, runtimeObject, library;
  Command stepCommand, runtimeCommand;
  if (llvm::Error error = start(stem, stepObject, stepCommand))
    return error;
  if (!isValid(runtime, ".o")) {
    if (llvm::Error error = start(runtime, runtimeObject, runtimeCommand))
      return error;
    if (llvm::Error error = finish(runtime, runtimeCommand))
      return error;
    if (llvm::Error error = keep(runtime, ".o", runtimeObject))
      return error;
  }
  if (llvm::Error error = finish(stem, stepCommand))
    return error;
  if (std::error_code error = library.create(folder, ".so"))
    return makeError("cannot write to '{0}': {1}", folder, error.message());
  std::vector<std::string> words = {compiler};
  words.insert(words.end(), flags.begin(), flags.end());
  words.insert(words.end(), {"-shared", "-o", library.name, stepObject.name,
                             runtime + ".o"});
  words.insert(words.end(), libraries.begin(), libraries.end());
  int code = 0;
  const std::string output = runCommand(words, folder, code);
  if (code != 0)
    return makeError("{0} cannot link '{1}.so':\n{2}", compiler, stem,
                     llvm::StringRef(output).rtrim());
  return keep(stem, ".so", library);
}

llvm::Error Compilation::writeNumbers(const std::string &stem,
                                      const std::string &copy,
                                      const std::vector<int64_t> &numbers) {
  std::string library = readText(stem + ".so");
  if (!cuda::setNumbers(library, numbers))
    return makeError("'{0}.so' does not have the {1} numbers of the step", stem,
                     numbers.size());
  TemporaryFile file;
  std::error_code error = file.create(folder, ".so");
  if (!error) {
    llvm::raw_fd_ostream os(file.name, error);
    os << library;
    os.close();
    if (!error)
      error = os.error();
    os.clear_error();
  }
  if (error)
    return makeError("cannot write to '{0}': {1}", folder, error.message());
  return keep(copy, ".so", file);
}

/// Returns the path, without suffix, of the library `stem`.so with `numbers`.
static std::string getCopy(const std::string &stem,
                           const std::vector<int64_t> &numbers) {
  if (numbers.empty())
    return stem;
  const llvm::StringRef bytes(reinterpret_cast<const char *>(numbers.data()),
                              numbers.size() * sizeof(int64_t));
  return stem + "-" + hashText(bytes).substr(0, 32);
}

llvm::Expected<std::string>
mlir::amp::compileCUDA(const CUDASource &source, const std::string &name,
                       const CUDACompilerOptions &options) {
  llvm::Expected<std::string> compiler = findCompiler(options.compiler);
  if (!compiler)
    return compiler.takeError();
  const bool isGiven = !options.compiler.empty() ||
                       llvm::sys::Process::GetEnv("AMP_CUDA_COMPILER");
  auto flags = getFlags(options, isGiven);
  if (!flags)
    return flags.takeError();
  llvm::Expected<std::string> folder = openCacheFolder(options.cache);
  if (!folder)
    return folder.takeError();
  Compilation compilation(*compiler, *flags, *folder);
  if (llvm::Error error = compilation.readVersion())
    return error;
  // Only sources with plans of cuDNN include the headers of its library.
  std::vector<std::string> libraries = {"-lcublasLt"};
  if (llvm::StringRef(source.step).contains("#include <nccl.h>"))
    libraries.push_back("-lnccl");
  if (llvm::StringRef(source.step).contains("// amp/Runtime/CuDNN/")) {
    const std::string place = findInstalledFolder(
        AMP_INSTALLED_LIBRARY_DIR, "libamp_cudnn.so", AMP_LIBRARY_DIR);
    libraries.insert(libraries.end(), {"-L" + place, "-lamp_cudnn", "-Xlinker",
                                       "-rpath=" + place});
  }
  const std::string runtime = compilation.getStem("runtime-", source.runtime);
  const std::string stem =
      compilation.getStem("", source.step + source.runtime);
  const std::string copy = getCopy(stem, source.numbers);
  if (isValid(copy, ".so"))
    return copy + ".so";
  if (copy != stem && isValid(stem, ".so")) {
    if (llvm::Error error =
            compilation.writeNumbers(stem, copy, source.numbers))
      return error;
    return copy + ".so";
  }
  if (llvm::Error error = writeWhole(stem + ".cu", *folder, source.step))
    return error;
  if (llvm::Error error = writeWhole(runtime + ".cu", *folder, source.runtime))
    return error;
  if (!options.quiet)
    llvm::errs() << "compiling '" << name << "' by "
                 << path::filename(*compiler) << " ... ";
  const auto begin = std::chrono::steady_clock::now();
  llvm::Error error = compilation.run(stem, runtime, libraries);
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin)
          .count();
  if (!options.quiet)
    llvm::errs() << (error ? "failed after " : "")
                 << llvm::formatv("{0:f1} s\n", seconds);
  if (!error && copy != stem)
    error = compilation.writeNumbers(stem, copy, source.numbers);
  if (error)
    return error;
  return copy + ".so";
}
