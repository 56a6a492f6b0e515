ready: resumed=False version='0.171.0' model='gpt-5.5' id=True
> STUB:status 500
  started: id=True model='gpt-5.5' version='0.171.0'
  limit: The provider did not answer (We’re currently experiencing high demand, which may cause temporary errors). Reconnecting... 1/5
  limit: The provider did not answer (We’re currently experiencing high demand, which may cause temporary errors). Reconnecting... 2/5
  limit: The provider did not answer (We’re currently experiencing high demand, which may cause temporary errors). Reconnecting... 3/5
  limit: The provider did not answer (We’re currently experiencing high demand, which may cause temporary errors). Reconnecting... 4/5
  limit: The provider did not answer (We’re currently experiencing high demand, which may cause temporary errors). Reconnecting... 5/5
  failed: provider: The provider did not give an answer (We’re currently experiencing high demand, which may cause temporary errors).
> after error
  started: id=True model='gpt-5.5' version='0.171.0'
  text: 'OK 56: after error'
  usage: (156, 7, 258400, 163) None
  finished
