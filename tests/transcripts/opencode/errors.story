ready: resumed=False version='OpenCode 1.18.33' model='' id=True
> STUB:err=401
  started: id=True model='' version='OpenCode 1.18.33'
  failed: login: The agent is not logged in, or its login expired (stub error 401).
> STUB:err=429*2
  started: id=True model='' version='OpenCode 1.18.33'
  text: 'ok after 2 errors'
  usage: (None, None, 100000, 7782) 0.0
  finished
> STUB:err=500*1
  started: id=True model='' version='OpenCode 1.18.33'
  text: 'ok after 1 errors'
  usage: (None, None, 100000, 7808) 0.0
  finished
> after errors
  started: id=True model='' version='OpenCode 1.18.33'
  text: 'echo: after errors'
  usage: (None, None, 100000, 7833) 0.0
  finished
skipped: an answer to nothing that was asked
skipped: an answer to nothing that was asked
skipped: an answer to nothing that was asked
skipped: an answer to nothing that was asked
skipped: an answer to nothing that was asked
> after garbage
  started: id=True model='' version='OpenCode 1.18.33'
  text: 'echo: after garbage'
  usage: (None, None, 100000, 7858) 0.0
  finished
