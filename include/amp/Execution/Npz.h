//===- Npz.h - NumPy .npy and .npz files ------------------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reading accepts stored and deflated members, versions 1 to 3 of the header,
// C and Fortran order (transposed on reading), little-endian elements of type
// f2, f4, f8, i1, i2, i4, i8, u1, u2 and b1.
//
// The format has no bfloat16. Such an array is stored as u2, and the archive
// has a member `__amp_types__`: a one-dimensional u1 array with the UTF-8 bytes
// of a JSON object that maps the names of these arrays to "bf16". NumPy reads
// and writes it like any other member:
//
//   types = json.loads(bytes(f["__amp_types__"]))
//   np.savez(path, w=bits, __amp_types__=np.frombuffer(
//       json.dumps({"w": "bf16"}).encode(), np.uint8))
//
//===----------------------------------------------------------------------===//

#ifndef AMP_EXECUTION_NPZ_H
#define AMP_EXECUTION_NPZ_H

#include "amp/Execution/NDArray.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/raw_ostream.h"
#include <vector>

namespace mlir::amp {

/// Named arrays in the order in which they were added.
class ArrayMap {
public:
  /// Adds or replaces the array `name`.
  void set(llvm::StringRef name, NDArray array);

  /// Returns the array `name`, or null.
  NDArray *lookup(llvm::StringRef name);
  const NDArray *lookup(llvm::StringRef name) const;

  bool contains(llvm::StringRef name) const { return lookup(name); }
  size_t size() const { return entries.size(); }
  auto begin() const { return entries.begin(); }
  auto end() const { return entries.end(); }
  auto begin() { return entries.begin(); }
  auto end() { return entries.end(); }

private:
  std::vector<std::pair<std::string, NDArray>> entries;
  llvm::StringMap<unsigned> indices;
};

/// What the names of members begin with that are no arrays of the user.
inline constexpr llvm::StringLiteral kReservedPrefix = "__amp_";

/// The member that names the arrays whose type the format cannot express.
inline constexpr llvm::StringLiteral kTypesMember = "__amp_types__";

/// Parses the bytes of one .npy file. `name` appears in messages.
llvm::Expected<NDArray> parseNpy(llvm::StringRef bytes, llvm::StringRef name);

/// The header of a `.npy` array: an array without elements, how its bytes are
/// to be read, and where they begin.
struct NpyHeader {
  NDArray array;
  bool fortranOrder = false;
  uint64_t headerBytes = 0;
  uint64_t dataBytes = 0;
};

/// Parses the header that `bytes`, the beginning of a `.npy` array, starts
/// with.
llvm::Expected<NpyHeader> parseNpyHeader(llvm::StringRef bytes,
                                         llvm::StringRef name);

/// Fails if an array of `bytes` in all does not have the elements that its
/// header says.
llvm::Error checkNpySize(const NpyHeader &header, uint64_t bytes,
                         llvm::StringRef name);

/// Says of an array, by its name and the type and shape in its header, whether
/// its elements are wanted.
using ArrayFilter =
    llvm::function_ref<bool(llvm::StringRef name, const NDArray &header)>;

/// Writes `array` as one .npy file of version 1; bf16 as u2.
void printNpy(const NDArray &array, llvm::raw_ostream &os);

/// Reads every array of a .npz file, or the single array of a .npy file under
/// the file's stem. Fails with one message that names the file and what is
/// wrong with it: absent, not an archive, truncated, damaged, not an array, a
/// name twice, more than the memory of this machine. The elements of an array
/// that `filter` does not want are not read: it is `NDArray::unread`.
llvm::Expected<ArrayMap> readArrays(llvm::StringRef path,
                                    ArrayFilter filter = nullptr);

/// Writes a .npz file atomically. The same arrays give the same bytes.
llvm::Error writeNpz(llvm::StringRef path, const ArrayMap &arrays);

} // namespace mlir::amp

#endif // AMP_EXECUTION_NPZ_H
