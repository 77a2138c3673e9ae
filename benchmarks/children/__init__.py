"""Programs that a benchmark starts: windows, owners of engines, reference libraries.

Each is run as ``python -m benchmarks.children.NAME``, reads a JSON object from stdin
and prints a JSON object a line. Times cross between processes as nanoseconds of the
monotonic clock, which all processes of a machine share.
"""
