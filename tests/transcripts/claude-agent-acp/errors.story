skipped: notification '_auth/status_update'
ready: resumed=False version='@agentclientprotocol/claude-agent-acp 0.101.0' model='' id=True
> STUB:err=401
  started: id=True model='' version='@agentclientprotocol/claude-agent-acp 0.101.0'
  failed: login: The agent is not logged in, or its login expired (Authentication required).
> STUB:err=429
  started: id=True model='' version='@agentclientprotocol/claude-agent-acp 0.101.0'
  failed: quota: The provider's usage limit is reached (API Error: Request rejected (429) · stub error 429).
> STUB:err=500
  started: id=True model='' version='@agentclientprotocol/claude-agent-acp 0.101.0'
  failed: provider: The provider did not give an answer (API Error: 500 stub error 500. This is a server-side issue, usually temporary — try again in a moment. If it persists, check your inference gateway ($STUBHOST)).
> STUB:err=400
  started: id=True model='' version='@agentclientprotocol/claude-agent-acp 0.101.0'
  failed: protocol: The agent reported an error (API Error: 400 stub error 400).
> STUB:err=404
  started: id=True model='' version='@agentclientprotocol/claude-agent-acp 0.101.0'
  failed: model: The provider does not know or does not allow this model (There's an issue with the selected model (claude-sonnet-4-5). It may not exist or you may not have access to it).
> after
  started: id=True model='' version='@agentclientprotocol/claude-agent-acp 0.101.0'
  failed: model: The provider does not know or does not allow this model (There's an issue with the selected model (claude-sonnet-4-5). It may not exist or you may not have access to it).
skipped: an answer to nothing that was asked
skipped: an answer to nothing that was asked
skipped: an answer to nothing that was asked
