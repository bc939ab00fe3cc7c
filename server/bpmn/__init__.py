"""BPMN: from the bytes of a file to a process that the engine can walk.

`reader.read` takes XML to the model, `compile.compile_process` takes a lint-clean process of the
model to its executable form. Nothing here waits, logs or touches the network.
"""
