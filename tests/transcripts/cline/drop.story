ready: resumed=False version='cline 3.0.65' model='anthropic/claude-sonnet-5' id=True
> STUB:drop
  started: id=True model='anthropic/claude-sonnet-5' version='cline 3.0.65'
  text: 'partial one partial two '
  failed: provider: The provider did not give an answer (Response stream ended without a finish reason).
