//===- AMPPlugin.cpp - The passes inside another tool ---------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For `--load-dialect-plugin` and `--load-pass-plugin` of mlir-opt and tools
// like it. The plugin API knows no version of MLIR, only one of itself, so the
// entry points look for themselves whether the tool uses the MLIR that they
// use; if not, they answer with an API version that makes the tool refuse.
//
//===----------------------------------------------------------------------===//

#include "amp/InitAll.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Tools/Plugins/DialectPlugin.h"
#include "mlir/Tools/Plugins/PassPlugin.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/raw_ostream.h"

#include <dlfcn.h>

using namespace mlir;

/// What the tool takes for a plugin of another API.
static constexpr uint32_t kRefuse = 0;

/// Returns MLIR_PLUGIN_API_VERSION if the code at `caller` belongs to a tool or
/// library that uses the same MLIR as this plugin. Otherwise passes would be
/// registered where the tool does not find them: then prints what is wrong and
/// returns another number.
static uint32_t checkHost(const void *caller) {
  // Any function of MLIR's registry will do to tell one MLIR from another.
  void *own = reinterpret_cast<void *>(&PassInfo::lookup);
  Dl_info ownInfo, hostInfo;
  if (!dladdr(own, &ownInfo) || !ownInfo.dli_sname ||
      !dladdr(caller, &hostInfo))
    return MLIR_PLUGIN_API_VERSION;
  if (ownInfo.dli_fbase == hostInfo.dli_fbase)
    return MLIR_PLUGIN_API_VERSION;

  // The plugin is loaded by something that is not MLIR itself, but may use it.
  bool same = false;
  for (const char *file : {hostInfo.dli_fname, (const char *)nullptr}) {
    // A null name is the program, with all that it is linked to.
    void *host = dlopen(file, RTLD_LAZY | RTLD_NOLOAD);
    if (!host)
      continue;
    same |= dlsym(host, ownInfo.dli_sname) == own;
    dlclose(host);
  }
  if (same)
    return MLIR_PLUGIN_API_VERSION;
  llvm::errs() << "error: AMPPlugin uses MLIR " << LLVM_VERSION_STRING
               << " in '" << ownInfo.dli_fname << "', but '"
               << hostInfo.dli_fname
               << "', which loads it, does not; expected a tool that is linked "
                  "to that library\n";
  return kRefuse;
}

static void registerPlugin(DialectRegistry *registry) {
  // A tool may have the dialects already: amp-opt, or one that was given the
  // plugin of another build before.
  if (registry->getDialectAllocator(amp::AMPDialect::getDialectNamespace())) {
    llvm::errs() << "warning: AMPPlugin: the dialects are there already, and "
                    "stay as they are\n";
    return;
  }
  amp::registerAllDialects(*registry);
  amp::registerAllExtensions(*registry);
}

static void registerPluginPasses() {
  if (PassInfo::lookup("auto-mixed-precision")) {
    llvm::errs() << "warning: AMPPlugin: the passes are there already, and "
                    "stay as they are\n";
    return;
  }
  amp::registerAllPasses();
}

extern "C" LLVM_ATTRIBUTE_WEAK DialectPluginLibraryInfo
mlirGetDialectPluginInfo() {
  return {checkHost(__builtin_return_address(0)), "AMP", AMP_VERSION_STRING,
          registerPlugin};
}

extern "C" LLVM_ATTRIBUTE_WEAK PassPluginLibraryInfo mlirGetPassPluginInfo() {
  return {checkHost(__builtin_return_address(0)), "AMP", AMP_VERSION_STRING,
          registerPluginPasses};
}
