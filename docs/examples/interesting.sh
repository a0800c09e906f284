#!/bin/sh
# For amp-reduce: exits with 1 if the module in the file $1 is interesting, here
# if auto-mixed-precision stores the result of a relu in f16, and with 0 if not.
# A module that amp-opt rejects is never interesting.
amp-opt "$1" --auto-mixed-precision > "$1.after" 2> /dev/null || exit 0
if grep -q 'train.relu .*f16' "$1.after"; then status=1; else status=0; fi
rm -f "$1.after"
exit $status
