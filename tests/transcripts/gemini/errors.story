ready: resumed=False version='gemini-cli 0.61.0' model='gemini-2.5-pro' id=True
> STUB:err=401
  started: id=True model='' version=''
  failed: login: The agent is not logged in, or its login expired ({"error":{"code":401,"message":"stub error 401","status":"UNAUTHENTICATED"}}).
> STUB:err=429*2
  started: id=True model='gemini-2.5-pro' version='gemini-cli 0.61.0'
  text: 'ok after 2 errors'
  usage: (12068, 7, None, None) None
  finished
> STUB:err=500*1
  started: id=True model='gemini-2.5-pro' version='gemini-cli 0.61.0'
  text: 'ok after 1 errors'
  usage: (12098, 7, None, None) None
  finished
> after errors
  started: id=True model='gemini-2.5-pro' version='gemini-cli 0.61.0'
  text: 'echo: after errors'
  usage: (12127, 7, None, None) None
  finished
skipped: an answer to nothing that was asked
skipped: an answer to nothing that was asked
skipped: an answer to nothing that was asked
skipped: an answer to nothing that was asked
skipped: an answer to nothing that was asked
> after garbage
  started: id=True model='gemini-2.5-pro' version='gemini-cli 0.61.0'
  text: 'echo: after garbage'
  usage: (12156, 7, None, None) None
  finished
