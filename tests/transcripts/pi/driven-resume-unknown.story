lost: resume: The agent could not take up its session again (it does not know the session in this folder (any more)).
