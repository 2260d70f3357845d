"""Runs a program and prints the most memory that it had, in bytes: peak.py PROGRAM [ARGUMENT...]

A process counts what it was before it became the program. That is this small one, not the benchmarks.
"""

import os
import subprocess
import sys

process = subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
_, status, usage = os.wait4(process.pid, 0)
if status != 0:
    sys.exit(f"{sys.argv[1]}: status {status}")
print(usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024))
