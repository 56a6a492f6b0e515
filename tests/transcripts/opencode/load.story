ready: resumed=True version='OpenCode 1.18.33' model='' id=True
> what word
  started: id=True model='' version='OpenCode 1.18.33'
  text: 'echo: what word'
  usage: (None, None, 100000, 7796) None
  finished
skipped: an answer to nothing that was asked
