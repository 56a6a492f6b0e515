ready: resumed=False version='hermes-agent 0.19.0' model='custom:stub-model' id=True
> STUB:err=401
  started: id=True model='custom:stub-model' version='hermes-agent 0.19.0'
  usage: (None, None, 100000, 10325) None
  failed: login: The agent is not logged in, or its login expired (HTTP 401: stub error 401).
> STUB:err=429*2
  started: id=True model='custom:stub-model' version='hermes-agent 0.19.0'
  text: 'ok after 2 errors'
  usage: (None, None, 100000, 10359) None
  finished
> STUB:err=500*1
  started: id=True model='custom:stub-model' version='hermes-agent 0.19.0'
  text: 'ok after 1 errors'
  usage: (None, None, 100000, 10406) None
  finished
> after errors
  started: id=True model='custom:stub-model' version='hermes-agent 0.19.0'
  text: 'echo: after errors'
  usage: (None, None, 100000, 10453) None
  finished
skipped: an answer to nothing that was asked
skipped: an answer to nothing that was asked
skipped: an answer to nothing that was asked
skipped: an answer to nothing that was asked
skipped: an answer to nothing that was asked
> after garbage
  started: id=True model='custom:stub-model' version='hermes-agent 0.19.0'
  text: 'echo: after garbage'
  usage: (None, None, 100000, 10500) None
  finished
