ready: resumed=True version='hermes-agent 0.19.0' model='custom:nonsense/model' id=True
> what word
  started: id=True model='custom:nonsense/model' version='hermes-agent 0.19.0'
  text: 'echo: what word'
  usage: (None, None, 100000, 10472) None
  finished
skipped: an answer to nothing that was asked
