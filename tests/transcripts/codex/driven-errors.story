ready: resumed=False version='0.171.0' model='gpt-6.2-sol' id=True
> [Agent: house]

[User's current message - respond to this:]
STUB:err=401
  started: id=True model='gpt-6.2-sol' version='0.171.0'
  limit: The provider did not answer (unexpected status 401 Unauthorized: stub error 401, url: $URL/v1/responses). Reconnecting... 1/1
  failed: login: The agent is not logged in, or its login expired (unexpected status 401 Unauthorized: stub error 401, url: $URL/v1/responses).
> [Agent: house]

[User's current message - respond to this:]
STUB:err=429
  started: id=True model='gpt-6.2-sol' version='0.171.0'
  failed: quota: The provider's usage limit is reached (exceeded retry limit, last status: 429 Too Many Requests).
> [Agent: house]

[User's current message - respond to this:]
STUB:err=500
  started: id=True model='gpt-6.2-sol' version='0.171.0'
  limit: The provider did not answer (We’re currently experiencing high demand, which may cause temporary errors). Reconnecting... 1/1
  failed: provider: The provider did not give an answer (We’re currently experiencing high demand, which may cause temporary errors).
> [Agent: house]

[User's current message - respond to this:]
STUB:drop
  started: id=True model='gpt-6.2-sol' version='0.171.0'
  text: 'partial one partial two '
  limit: The provider did not answer (stream disconnected before completion: stream closed before response.completed). Reconnecting... 1/1
  failed: provider: The provider did not give an answer (stream disconnected before completion: stream closed before response.completed).
> [Agent: house]

[User's current message - respond to this:]
STUB:retry=429*1
  started: id=True model='gpt-6.2-sol' version='0.171.0'
  limit: The provider did not answer (exceeded retry limit, last status: 429 Too Many Requests). Reconnecting... 1/1
  text: 'ok after 1 errors'
  usage: (15952, 7, 475000, 15959) None
  finished
> [Agent: house]

[User's current message - respond to this:]
STUB:err=400
  started: id=True model='gpt-6.2-sol' version='0.171.0'
  failed: protocol: The agent reported an error ({"error": {"message": "stub error 400", "type": "stub_error", "code": "400", "param": null}}).
> [Agent: house]

[User's current message - respond to this:]
STUB:say=fine;;
  started: id=True model='gpt-6.2-sol' version='0.171.0'
  text: 'fine'
  usage: (16094, 7, 475000, 16101) None
  finished
