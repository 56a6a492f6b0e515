ready: resumed=False version='Copilot 1.0.102' model='' id=True
> STUB:err=401
  started: id=True model='' version='Copilot 1.0.102'
  usage: (None, None, 128000, 8676) None
  failed: login: The agent is not logged in, or its login expired (Error: Authentication failed with provider at $STUB/v1 (HTTP 401). Check your COPILOT_PROVIDER_API_KEY, COPILOT_PROVIDER_API_KEY_COMMAND, or COPILOT_PROVIDER_BEARER_TOKEN).
> STUB:err=429*2
  started: id=True model='' version='Copilot 1.0.102'
  usage: (None, None, 128000, 8714) None
  failed: login: The agent is not logged in, or its login expired (Error: Authentication failed with provider at $STUB/v1 (HTTP 401). Check your COPILOT_PROVIDER_API_KEY, COPILOT_PROVIDER_API_KEY_COMMAND, or COPILOT_PROVIDER_BEARER_TOKEN).
> STUB:err=500*1
  started: id=True model='' version='Copilot 1.0.102'
  usage: (None, None, 128000, 8752) None
  failed: login: The agent is not logged in, or its login expired (Error: Authentication failed with provider at $STUB/v1 (HTTP 401). Check your COPILOT_PROVIDER_API_KEY, COPILOT_PROVIDER_API_KEY_COMMAND, or COPILOT_PROVIDER_BEARER_TOKEN).
> after errors
  started: id=True model='' version='Copilot 1.0.102'
  usage: (None, None, 128000, 8784) None
  failed: login: The agent is not logged in, or its login expired (Error: Authentication failed with provider at $STUB/v1 (HTTP 401). Check your COPILOT_PROVIDER_API_KEY, COPILOT_PROVIDER_API_KEY_COMMAND, or COPILOT_PROVIDER_BEARER_TOKEN).
skipped: an answer to nothing that was asked
skipped: an answer to nothing that was asked
skipped: an answer to nothing that was asked
skipped: an answer to nothing that was asked
skipped: an answer to nothing that was asked
> after garbage
  started: id=True model='' version='Copilot 1.0.102'
  usage: (None, None, 128000, 8816) None
  failed: login: The agent is not logged in, or its login expired (Error: Authentication failed with provider at $STUB/v1 (HTTP 401). Check your COPILOT_PROVIDER_API_KEY, COPILOT_PROVIDER_API_KEY_COMMAND, or COPILOT_PROVIDER_BEARER_TOKEN).
