ready: resumed=False version='0.171.0' model='gpt-5.5' id=True
> STUB:status 429
  started: id=True model='gpt-5.5' version='0.171.0'
  limit: The provider did not answer (exceeded retry limit, last status: 429 Too Many Requests). Reconnecting... 1/5
  limit: The provider did not answer (exceeded retry limit, last status: 429 Too Many Requests). Reconnecting... 2/5
  limit: The provider did not answer (exceeded retry limit, last status: 429 Too Many Requests). Reconnecting... 3/5
  limit: The provider did not answer (exceeded retry limit, last status: 429 Too Many Requests). Reconnecting... 4/5
  limit: The provider did not answer (exceeded retry limit, last status: 429 Too Many Requests). Reconnecting... 5/5
  failed: quota: The provider's usage limit is reached (exceeded retry limit, last status: 429 Too Many Requests).
> after error
  started: id=True model='gpt-5.5' version='0.171.0'
  text: 'OK 23: after error'
  usage: (123, 7, 258400, 130) None
  finished
