ready: resumed=False version='0.171.0' model='gpt-5.5' id=True
> STUB:drop
  started: id=True model='gpt-5.5' version='0.171.0'
  text: 'partial '
  limit: The provider did not answer (stream disconnected before completion: stream closed before response.completed). Reconnecting... 1/5
  limit: The provider did not answer (stream disconnected before completion: stream closed before response.completed). Reconnecting... 2/5
  limit: The provider did not answer (stream disconnected before completion: stream closed before response.completed). Reconnecting... 3/5
  limit: The provider did not answer (stream disconnected before completion: stream closed before response.completed). Reconnecting... 4/5
  limit: The provider did not answer (stream disconnected before completion: stream closed before response.completed). Reconnecting... 5/5
  failed: provider: The provider did not give an answer (stream disconnected before completion: stream closed before response.completed).
> after error
  started: id=True model='gpt-5.5' version='0.171.0'
  text: 'OK 7: after error'
  usage: (107, 7, 258400, 114) None
  finished
