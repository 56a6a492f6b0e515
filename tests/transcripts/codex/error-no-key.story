ready: resumed=False version='0.171.0' model='gpt-5.5' id=True
> hi
  started: id=True model='gpt-5.5' version='0.171.0'
  failed: login: The agent is not logged in, or its login expired (Missing environment variable: `STUB_KEY`).
> after error
  started: id=True model='gpt-5.5' version='0.171.0'
  failed: login: The agent is not logged in, or its login expired (Missing environment variable: `STUB_KEY`).
