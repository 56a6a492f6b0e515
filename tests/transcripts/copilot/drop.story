ready: resumed=False version='Copilot 1.0.102' model='' id=True
> STUB:drop
  started: id=True model='' version='Copilot 1.0.102'
  text: 'partial one partial two \n\npartial one partial two \n\npartial one partial two \n\npartial one partial two \n\npartial one partial two \n\npartial one partial two '
  usage: (None, None, 128000, 8670) None
  failed: provider: The provider did not give an answer (Error: Failed to get response from the AI model; retried 5 times (total retry wait time: 5.00 seconds) Last error: Failed to finalize chat-completions stream: missing finish_reason for choice 0).
