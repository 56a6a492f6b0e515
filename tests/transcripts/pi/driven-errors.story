ready: resumed=False version='1.6.0' model='stub/stub-model' id=True
> [Agent: house]

[User's current message - respond to this:]
STUB:err=401
  started: id=True model='stub/stub-model' version='1.6.0'
  failed: login: The agent is not logged in, or its login expired (401: stub error 401).
> [Agent: house]

[User's current message - respond to this:]
STUB:err=404
  started: id=True model='stub/stub-model' version='1.6.0'
  failed: model: The provider does not know or does not allow this model (404: stub error 404).
> [Agent: house]

[User's current message - respond to this:]
STUB:err=429
  started: id=True model='stub/stub-model' version='1.6.0'
  limit: The provider did not answer (429: stub error 429); try 1 of 2.
  limit: The provider did not answer (429: stub error 429); try 2 of 2.
  failed: quota: The provider's usage limit is reached (429: stub error 429).
> [Agent: house]

[User's current message - respond to this:]
STUB:err=500*1
  started: id=True model='stub/stub-model' version='1.6.0'
  limit: The provider did not answer (500: stub error 500); try 1 of 2.
  text: 'ok after 1 errors'
  usage: (1477, 7, 128000, 1484) 0.001491
  finished
> [Agent: house]

[User's current message - respond to this:]
STUB:drop
  started: id=True model='stub/stub-model' version='1.6.0'
  text: 'partial one partial two '
  limit: The provider did not answer (Stream ended without finish_reason); try 1 of 2.
  limit: The provider did not answer (Stream ended without finish_reason); try 2 of 2.
  failed: provider: The provider did not give an answer (Stream ended without finish_reason).
> [Agent: house]

[User's current message - respond to this:]
STUB:say=fine;;
  started: id=True model='stub/stub-model' version='1.6.0'
  text: 'fine'
  usage: (1556, 7, 128000, 1563) 0.00157
  finished
