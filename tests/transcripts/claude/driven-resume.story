ready: resumed=True version='2.1.332' model='' id=True
> what word
  started: id=True model='claude-sonnet-4-5' version='2.1.332'
  text: 'echo: what word'
  usage: (23777, 3, 200000, 23777) 0.071376
  finished
