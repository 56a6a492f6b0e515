ready: resumed=True version='' model='' id=True
> what word
  started: id=True model='' version=''
  failed: resume: The agent could not take up its session again (No conversation found with session ID: 6be37597-9158-4c9b-9c7a-29cc131abda2). (session lost)
