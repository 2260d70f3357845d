"""What the peers in Python share: clocks, and how they report."""

import json
import sys
import time


def timed(body):
    """Runs body; returns its seconds and its result."""
    start = time.perf_counter()
    result = body()
    return time.perf_counter() - start, result


def paced(items, body, limit=1.0):
    """Does body for item after item until all are done or the time is up; returns the seconds of one and their number."""
    start = time.perf_counter()
    done = 0
    for item in items:
        body(item)
        done += 1
        if time.perf_counter() - start > limit:
            break
    return (time.perf_counter() - start) / done, done


def growth(body):
    """Runs body and says how this process grew by it, or None where the system does not tell."""
    before = resident("VmRSS")
    if before is None:
        return None
    kept = body()
    report = {"added": resident("VmRSS") - before, "peak": resident("VmHWM") - before}
    del kept
    return report


def resident(key):
    try:
        with open("/proc/self/status") as status:
            lines = dict(line.split(":", 1) for line in status)
    except OSError:
        return None
    return int(lines[key].split()[0]) * 1024


def main(workloads):
    """Runs the workload that is named first among the arguments, with the others."""
    name, data, scratch = sys.argv[1:]
    result = workloads[name](data, scratch)
    print(json.dumps({"seconds": result} if isinstance(result, float) else result))
