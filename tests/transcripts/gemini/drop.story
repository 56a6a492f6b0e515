ready: resumed=False version='gemini-cli 0.61.0' model='gemini-2.5-pro' id=True
> STUB:drop
  started: id=True model='gemini-2.5-pro' version='gemini-cli 0.61.0'
  text: 'partial one partial two partial one partial two partial one partial two partial one partial two '
  failed: provider: The provider did not give an answer (the answer broke off).
