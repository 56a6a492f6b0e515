ready: resumed=True version='hermes-agent 0.19.0' model='custom:nonsense/model' id=True
> what word again
  started: id=True model='custom:nonsense/model' version='hermes-agent 0.19.0'
  text: 'echo: what word again'
  usage: (None, None, 100000, 10532) None
  finished
