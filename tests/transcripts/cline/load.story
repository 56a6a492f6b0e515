ready: resumed=True version='cline 3.0.65' model='anthropic/claude-sonnet-5' id=True
> what word
  started: id=True model='anthropic/claude-sonnet-5' version='cline 3.0.65'
  text: 'echo: what word'
  finished
skipped: an answer to nothing that was asked
