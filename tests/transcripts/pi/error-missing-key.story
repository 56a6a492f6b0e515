ready: resumed=False version='' model='p/m' id=True
> hi
  started: id=True model='' version=''
  failed: login: The agent is not logged in, or its login expired (No API key found for the selected model).
> after error
  started: id=True model='' version=''
  failed: login: The agent is not logged in, or its login expired (No API key found for the selected model).
