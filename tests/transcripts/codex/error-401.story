ready: resumed=False version='0.171.0' model='gpt-5.5' id=True
> STUB:status 401
  started: id=True model='gpt-5.5' version='0.171.0'
  limit: The provider did not answer (unexpected status 401 Unauthorized: stub says 401, url: http://127.0.0.1:$PORT/v1/responses). Reconnecting... 1/5
  limit: The provider did not answer (unexpected status 401 Unauthorized: stub says 401, url: http://127.0.0.1:$PORT/v1/responses). Reconnecting... 2/5
  limit: The provider did not answer (unexpected status 401 Unauthorized: stub says 401, url: http://127.0.0.1:$PORT/v1/responses). Reconnecting... 3/5
  limit: The provider did not answer (unexpected status 401 Unauthorized: stub says 401, url: http://127.0.0.1:$PORT/v1/responses). Reconnecting... 4/5
  limit: The provider did not answer (unexpected status 401 Unauthorized: stub says 401, url: http://127.0.0.1:$PORT/v1/responses). Reconnecting... 5/5
  failed: login: The agent is not logged in, or its login expired (unexpected status 401 Unauthorized: stub says 401, url: http://127.0.0.1:$PORT/v1/responses).
> after error
  started: id=True model='gpt-5.5' version='0.171.0'
  text: 'OK 7: after error'
  usage: (107, 7, 258400, 114) None
  finished
