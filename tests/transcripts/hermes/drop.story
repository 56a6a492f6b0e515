ready: resumed=False version='hermes-agent 0.19.0' model='custom:stub-model' id=True
> STUB:drop
  started: id=True model='custom:stub-model' version='hermes-agent 0.19.0'
  text: 'partial one partial two echo: vious response was cut off by a network error mid-stream. Continue exactly where you left off. Do not restart or repeat prior text. Finish the answer directly.]'
  usage: (None, None, 100000, 10481) None
  finished
