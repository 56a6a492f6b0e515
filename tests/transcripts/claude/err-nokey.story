ready: resumed=False version='' model='' id=False
> hi
  started: id=True model='claude-sonnet-4-5' version='2.1.332'
  failed: login: The agent is not logged in, or its login expired (Not logged in · Please run /login).
