"""The kernels: arrays and integers in, arrays and integers out.

Run with NUMBA_DISABLE_JIT=1 they are plain Python, and the reference for themselves.
A kernel calls no function of another file here: numba's cache watches a function's own file only, and would go on
running the old callee.
"""
