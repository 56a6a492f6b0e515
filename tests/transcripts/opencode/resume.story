ready: resumed=True version='OpenCode 1.18.33' model='' id=True
> what word again
  started: id=True model='' version='OpenCode 1.18.33'
  text: 'echo: what word again'
  usage: (None, None, 100000, 7821) None
  finished
