//===- MessageBoard.h - Messages that ranks leave for others ----*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Before ranks are connected, each of them leaves a message where the others
// find it: in files on a common disk, or in the store of torchrun.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_RUNTIME_HOST_MESSAGEBOARD_H
#define AMP_RUNTIME_HOST_MESSAGEBOARD_H

#include "amp/Runtime/Host/Status.h"
#include "amp/Runtime/Host/TorchStore.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>

#include <unistd.h>

namespace amphost {

/// The addresses of a host. `first` is null if there are none.
struct HostAddresses {
  HostAddresses(const char *host, const std::string &port, int flags) {
    addrinfo hints = {};
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_family = AF_INET;
    hints.ai_flags = flags;
    if (::getaddrinfo(host, port.c_str(), &hints, &first) != 0)
      first = nullptr;
  }
  HostAddresses(const HostAddresses &) = delete;
  HostAddresses &operator=(const HostAddresses &) = delete;
  ~HostAddresses() {
    if (first)
      ::freeaddrinfo(first);
  }
  addrinfo *first = nullptr;
};

/// One message of each rank. No function waits for a message.
class MessageBoard {
public:
  virtual ~MessageBoard() = default;
  /// Replaces the message of `rank`. Others see the old message or the new one.
  virtual Status write(int64_t rank, const std::string &text) = 0;
  /// Returns whether there is a message of `rank`, and reads it.
  virtual bool read(int64_t rank, std::string *text) = 0;
  virtual void remove(int64_t rank) = 0;
  /// Returns an error message if the board has never answered, and null
  /// otherwise.
  virtual const char *explainSilence() const { return nullptr; }
};

/// Files: `path` is the message of rank 0, `path.1` of rank 1.
class FileBoard final : public MessageBoard {
public:
  explicit FileBoard(std::string path) : path(std::move(path)) {}

  Status write(int64_t rank, const std::string &text) override {
    const std::string name = getName(rank);
    // Another start may write the same message.
    const std::string partial = name + ".part" + std::to_string(getpid());
    FILE *file = std::fopen(partial.c_str(), "wb");
    bool ok =
        file && std::fwrite(text.data(), 1, text.size(), file) == text.size();
    ok &= file && std::fclose(file) == 0;
    if (ok && std::rename(partial.c_str(), name.c_str()) == 0)
      return Status();
    const int error = errno;
    ::unlink(partial.c_str());
    return makeError(kFile, "cannot write '%s': %s", name.c_str(),
                     std::strerror(error));
  }
  bool read(int64_t rank, std::string *text) override {
    FILE *file = std::fopen(getName(rank).c_str(), "rb");
    if (!file)
      return false;
    text->clear();
    char part[4096];
    while (const size_t count = std::fread(part, 1, sizeof(part), file))
      text->append(part, count);
    std::fclose(file);
    return true;
  }
  void remove(int64_t rank) override { ::unlink(getName(rank).c_str()); }

private:
  std::string getName(int64_t rank) const {
    return rank == 0 ? path : path + "." + std::to_string(rank);
  }

  const std::string path;
};

/// Keys in the store of torchrun.
class StoreBoard final : public MessageBoard {
public:
  StoreBoard(const std::string &host, const std::string &port,
             const std::string &job)
      : addresses(host.c_str(), port, 0), prefix("/amp-ranks/" + job + "/") {}

  Status write(int64_t rank, const std::string &text) override {
    if (!connect() || !store->set(getKey(rank), text))
      store.reset();
    return Status(); // The ranks ask again.
  }
  bool read(int64_t rank, std::string *text) override {
    bool isThere = false;
    if (!connect() || !store->has(getKey(rank), &isThere) ||
        (isThere && !store->get(getKey(rank), text))) {
      store.reset();
      return false;
    }
    return isThere;
  }
  void remove(int64_t rank) override {
    if (!connect() || !store->remove(getKey(rank)))
      store.reset();
  }
  const char *explainSilence() const override {
    return !addresses.first ? "there is no such address"
           : !hasAnswered   ? "the store of torchrun does not answer"
                            : nullptr;
  }

private:
  bool connect() {
    if (store)
      return true;
    auto made = std::make_unique<TorchStore>();
    if (!addresses.first || !made->connect(*addresses.first))
      return false;
    hasAnswered = true;
    store = std::move(made);
    return true;
  }
  std::string getKey(int64_t rank) const {
    return prefix + std::to_string(rank);
  }

  const HostAddresses addresses;
  const std::string prefix;
  std::unique_ptr<TorchStore> store;
  bool hasAnswered = false;
};

} // namespace amphost

#endif // AMP_RUNTIME_HOST_MESSAGEBOARD_H
