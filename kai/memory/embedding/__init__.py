"""From text to vectors: the models, the child process that runs one, and the daemon's side of it.

Only the child imports a model. The daemon imports neither numpy nor a model until somebody searches or saves.
"""
