ready: resumed=False version='0.171.0' model='gpt-5.5' id=True
> STUB:status 400
  started: id=True model='gpt-5.5' version='0.171.0'
  failed: protocol: The agent reported an error ({"error": {"message": "stub says 400", "type": "invalid_request_error", "code": "bad_request", "param": null}}).
> after error
  started: id=True model='gpt-5.5' version='0.171.0'
  text: 'OK 16: after error'
  usage: (116, 7, 258400, 123) None
  finished
