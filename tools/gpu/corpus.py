# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The text that networks train on: the pages and sources of this repository as tokens."""

import array
import collections
import re
import sys

SUFFIXES = {".md", ".h", ".td", ".cpp", ".py", ".yaml"}
FOLDERS = ("docs", "include", "lib", "test", "tools")
# Words with the space before them, numbers of up to three digits, signs, and white space.
TOKEN = re.compile(r" ?[A-Za-z]+| ?[0-9]{1,3}| ?[^\sA-Za-z0-9]{1,3}|\s+")
# The smallest vocabulary of a network. The first 256 tokens are bytes.
VOCABULARY = 30522
LEAST_COUNT = 3


def read_pages(root):
    """The text of the repository, in the order of the paths."""
    paths = [path for folder in FOLDERS for path in (root / folder).rglob("*")
             if path.suffix in SUFFIXES and "reports" not in path.parts]
    return "\n".join(path.read_text(encoding="utf-8", errors="replace") for path in sorted(paths))


def tokenize(text, vocabulary=VOCABULARY):
    """The numbers of the tokens: frequent words have their own, and others are spelled in bytes."""
    words = TOKEN.findall(text)
    common = [word for word, count in collections.Counter(words).most_common(vocabulary - 256) if count >= LEAST_COUNT]
    numbers = {word: 256 + index for index, word in enumerate(common)}
    tokens = array.array("H")
    for word in words:
        if word in numbers:
            tokens.append(numbers[word])
        else:
            tokens.extend(word.encode())
    return tokens


def write(root, path, vocabulary=VOCABULARY):
    """Writes the tokens as 16-bit numbers, the low byte first, and returns how many there are."""
    tokens = tokenize(read_pages(root), vocabulary)
    if sys.byteorder == "big":
        tokens.byteswap()
    path.write_bytes(tokens.tobytes())
    return len(tokens)
