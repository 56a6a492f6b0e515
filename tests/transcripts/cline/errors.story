ready: resumed=False version='cline 3.0.65' model='anthropic/claude-sonnet-5' id=True
> STUB:err=401
  started: id=True model='anthropic/claude-sonnet-5' version='cline 3.0.65'
  failed: login: The agent is not logged in, or its login expired (Authentication required: stub error 401).
> STUB:err=429*2
  started: id=True model='anthropic/claude-sonnet-5' version='cline 3.0.65'
  text: 'ok after 2 errors'
  finished
> STUB:err=500*1
  started: id=True model='anthropic/claude-sonnet-5' version='cline 3.0.65'
  text: 'ok after 1 errors'
  finished
> after errors
  started: id=True model='anthropic/claude-sonnet-5' version='cline 3.0.65'
  text: 'echo: after errors'
  finished
skipped: an answer to nothing that was asked
skipped: an answer to nothing that was asked
skipped: an answer to nothing that was asked
skipped: an answer to nothing that was asked
skipped: an answer to nothing that was asked
> after garbage
  started: id=True model='anthropic/claude-sonnet-5' version='cline 3.0.65'
  text: 'echo: after garbage'
  finished
