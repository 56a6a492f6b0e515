lost: resume: The agent could not take up its session again ("Method not found": session/resume).
> what word again
  started: id=False model='' version=''
  failed: resume: The agent could not take up its session again (Internal error: unknown session: 1796033581128_8HmeM_cli). (session lost)
