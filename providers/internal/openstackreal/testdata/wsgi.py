# Serves a WSGI application, MODULE:FUNCTION that makes it, on a port of 127.0.0.1.
import importlib
import logging
import sys

from waitress import serve

logging.basicConfig(level=logging.INFO)
module, function = sys.argv[1].split(":")
port = sys.argv[2]
sys.argv = sys.argv[:1]
serve(getattr(importlib.import_module(module), function)(), host="127.0.0.1", port=port, threads=8)
