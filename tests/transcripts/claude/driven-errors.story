ready: resumed=False version='2.1.332' model='' id=False
> STUB:err=401
  started: id=True model='claude-sonnet-4-5' version='2.1.332'
  limit: The provider did not answer (401); try 1 of 2.
  limit: The provider did not answer (401); try 2 of 2.
  failed: login: The agent is not logged in, or its login expired (Failed to authenticate. API Error: 401 stub error 401).
> STUB:err=429
  started: id=True model='claude-sonnet-4-5' version='2.1.332'
  limit: The provider did not answer (429); try 1 of 2.
  limit: The provider did not answer (429); try 2 of 2.
  failed: quota: The provider's usage limit is reached (API Error: Request rejected (429) · stub error 429).
> STUB:err=404
  started: id=True model='claude-sonnet-4-5' version='2.1.332'
  failed: model: The provider does not know or does not allow this model (There's an issue with the selected model (claude-sonnet-4-5). It may not exist or you may not have access to it. Run --model to pick a different model).
> STUB:err=413
  started: id=True model='claude-sonnet-4-5' version='2.1.332'
  failed: context: The conversation is too long for the model (Request too large (max 32MB). Accumulated images and attachments in the conversation pushed the request over the limit. Remove older images or compact the conversation). (session lost)
