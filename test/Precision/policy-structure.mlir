// YAML that a policy does not allow, and missing values: one diagnostic with
// its position. All forms of line ends count as lines.
//
// RUN: rm -rf %t && split-file %s %t
// RUN: cd %t
// RUN: %python check.py amp-opt *.yaml
//
// RUN: printf 'version: 1\r\nallow: [train.exp]\r\n\r\npins:\r\n  "x/*": f33\r\n' > crlf.txt
// RUN: not amp-opt --amp-print-policy=crlf.txt 2>&1 | FileCheck %s --check-prefix=CRLF
// CRLF: "crlf.txt":5:10): error: policy: 'f33' is not a pin, expected f32, low or keep
//
// RUN: printf 'version: 1\rallow: [train.exp]\rdeny: [train.expp]\r' > cr.txt
// RUN: not amp-opt --amp-print-policy=cr.txt 2>&1 | FileCheck %s --check-prefix=CR
// CR: "cr.txt":3:8): error: policy: 'train.expp' matches no operation of the dialect 'train'
//
// RUN: printf 'version: 1\r\nexpected: x\r\n' > key-crlf.txt
// RUN: not amp-opt --amp-print-policy=key-crlf.txt 2>&1 | FileCheck %s --check-prefix=KEYCRLF
// KEYCRLF: "key-crlf.txt":2:1): error: policy: unknown key 'expected'
// RUN: printf 'version: 1\rexpected: x\r' > key-cr.txt
// RUN: not amp-opt --amp-print-policy=key-cr.txt 2>&1 | FileCheck %s --check-prefix=KEYCR
// KEYCR: "key-cr.txt":2:1): error: policy: unknown key 'expected'
//
// A space after a colon is not a value.
// RUN: printf 'version: 1\nstrategy: \nallow: [train.exp]\n' > blank.txt
// RUN: not amp-opt --amp-print-policy=blank.txt 2>&1 | FileCheck %s --check-prefix=BLANK
// BLANK: "blank.txt":2:1): error: policy: expected a value for 'strategy'
//
// Line ends do not change the policy.
// RUN: printf 'version: 1\nallow: [train.exp]\ndeny:\n  - train.sin\n' > lf.txt
// RUN: printf 'version: 1\r\nallow: [train.exp]\r\ndeny:\r\n  - train.sin\r\n' > crlf-good.txt
// RUN: printf 'version: 1\rallow: [train.exp]\rdeny:\r  - train.sin\r' > cr-good.txt
// RUN: amp-opt --amp-print-policy=lf.txt > lf.out
// RUN: amp-opt --amp-print-policy=crlf-good.txt | diff lf.out -
// RUN: amp-opt --amp-print-policy=cr-good.txt | diff lf.out -
//
// A byte that is not UTF-8.
// RUN: printf 'version: 1\nallow: [train.exp]\npins:\n  "caf\351/*": f32\n' > latin.txt
// RUN: not amp-opt --amp-print-policy=latin.txt 2>&1 | FileCheck %s --check-prefix=LATIN
// LATIN: "latin.txt":4:7): error: policy: the policy is not UTF-8 here, expected YAML text in UTF-8
//
// A list may be empty.
// RUN: printf 'version: 1\nallow:\ndeny:\n  - train.sin\nslots:\nlinear:\nadapters:\n' > empty.txt
// RUN: amp-opt --amp-print-policy=empty.txt | FileCheck %s --check-prefix=EMPTY --match-full-lines
// EMPTY: version: 1
// EMPTY: deny:
// EMPTY-NEXT:   - train.sin

//--- check.py
import re
import subprocess
import sys

tool, *policies = sys.argv[1:]
assert len(policies) >= 10, policies
failed = False
for policy in policies:
    with open(policy) as file:
        expected = file.readline().removeprefix("# expect ").strip()
    run = subprocess.run([tool, f"--amp-print-policy={policy}"], capture_output=True, text=True)
    got = re.findall(r'^loc\("(.*)":(\d+:\d+)\): error: policy: (.*)$', run.stderr, re.M)
    if run.returncode != 1 or run.stdout or got != [(policy, *expected.split(" ", 1))]:
        failed = True
        print(f"{policy}: expected {expected!r}, exit 1; got {got}, exit {run.returncode}")
        print(run.stderr)
sys.exit(failed)

//--- alias-of-list.yaml
# expect 3:8 expected a value, got the anchor '&x'; a policy has no anchors and aliases
version: 1
allow: &x [train.exp]
deny: *x

//--- alias.yaml
# expect 3:7 expected a value, got the alias '*x'; a policy has no anchors and aliases
version: 1
deny: *x

//--- alias-in-list.yaml
# expect 4:5 expected a value, got the alias '*x'; a policy has no anchors and aliases
version: 1
allow:
  - *x

//--- alias-in-mapping.yaml
# expect 3:32 expected a value, got the alias '*o'; a policy has no anchors and aliases
version: 1
slots: [{slot: 0, kind: range, *o : train.exp}]

//--- anchor-of-entry.yaml
# expect 3:9 expected a value, got the anchor '&y'; a policy has no anchors and aliases
version: 1
allow: [&y train.exp]

//--- anchor-of-key.yaml
# expect 3:1 expected a value, got the anchor '&k'; a policy has no anchors and aliases
version: 1
&k allow: [train.exp]

//--- anchor-of-all.yaml
# expect 2:1 expected a value, got the anchor '&all'; a policy has no anchors and aliases
&all
version: 1

//--- no-version.yaml
# expect 2:1 expected a value for 'version'
version:
allow: [train.exp]

//--- no-precision.yaml
# expect 3:1 expected a value for 'precision'
version: 1
precision:

//--- no-slot.yaml
# expect 5:5 expected a value for 'slot'
version: 1
slots:
  - op: train.exp
    slot:
    kind: range

//--- no-pin.yaml
# expect 4:3 expected a value for 'x/*'
version: 1
pins:
  "x/*":

//--- no-mapping.yaml
# expect 3:1 expected a value for 'pins'
version: 1
pins:

//--- no-entry.yaml
# expect 5:3 expected an entry of the list
version: 1
allow:
  - train.exp
  -
deny: [train.sin]
