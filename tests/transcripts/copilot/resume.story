lost: resume: The agent could not take up its session again ("Method not found": session/resume).
> what word again
  started: id=False model='' version=''
  failed: protocol: The agent reported an error (Session 819d516e-d30e-4d0a-8328-88713c53ed20 not found).
