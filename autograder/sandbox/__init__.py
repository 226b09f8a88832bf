"""Warm, walled-in kernels: a fork server and the jail that each kernel lives in."""
