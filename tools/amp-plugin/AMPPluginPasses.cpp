//===- AMPPluginPasses.cpp - The passes inside another tool ---------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The library that AMPPlugin.so loads into a tool with the right MLIR. The
// plugin API has its own version but none of MLIR. These functions therefore
// check that the tool uses that MLIR. If not, they return an API version that
// makes the tool refuse.
//
//===----------------------------------------------------------------------===//

#include "AMPPlugin.h"

#include "amp/Dialect/AMP/IR/AMP.h"
#include "amp/InitAll.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Tools/Plugins/DialectPlugin.h"
#include "mlir/Tools/Plugins/PassPlugin.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/raw_ostream.h"

#include <dlfcn.h>

using namespace mlir;

/// Returns MLIR_PLUGIN_API_VERSION if the code at `caller` belongs to a tool or
/// library that uses the same MLIR as this plugin. Otherwise the tool would not
/// find the registered passes, so the function prints an error and returns
/// another number.
static uint32_t checkHost(const void *caller) {
  // Any function of MLIR's registry identifies the copy of MLIR.
  void *own = reinterpret_cast<void *>(&PassInfo::lookup);
  Dl_info ownInfo, hostInfo;
  if (!dladdr(own, &ownInfo) || !ownInfo.dli_sname ||
      !dladdr(caller, &hostInfo))
    return MLIR_PLUGIN_API_VERSION;
  if (ownInfo.dli_fbase == hostInfo.dli_fbase)
    return MLIR_PLUGIN_API_VERSION;

  // The caller is not MLIR itself but may use it.
  bool same = false;
  for (const char *file : {hostInfo.dli_fname, (const char *)nullptr}) {
    // A null name is the program and everything that it links.
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
  return AMP_PLUGIN_REFUSE;
}

static void registerPlugin(DialectRegistry *registry) {
  // A tool may already have the dialects: amp-opt, or a tool that has loaded
  // the plugin of another build.
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

static_assert(sizeof(AMPPluginInfo) == sizeof(DialectPluginLibraryInfo) &&
                  sizeof(AMPPluginInfo) == sizeof(PassPluginLibraryInfo),
              "the plugin hands on what MLIR expects");

extern "C" {
AMPPluginInfo ampGetDialectPluginInfo(const void *caller) {
  return {checkHost(caller), "AMP", AMP_VERSION_STRING,
          reinterpret_cast<void *>(&registerPlugin)};
}
AMPPluginInfo ampGetPassPluginInfo(const void *caller) {
  return {checkHost(caller), "AMP", AMP_VERSION_STRING,
          reinterpret_cast<void *>(&registerPluginPasses)};
}
}
