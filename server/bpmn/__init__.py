"""BPMN: from the bytes of a file to a process that the engine can execute.

`reader.read` parses XML into the model, `compile.compile_process` compiles a lint-clean process of the model
into its executable form. Nothing here waits, logs or accesses the network.
"""
