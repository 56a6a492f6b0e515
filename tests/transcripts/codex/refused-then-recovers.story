ready: resumed=False version='0.171.0' model='gpt-5.5' id=True
> hi
  started: id=True model='gpt-5.5' version='0.171.0'
  limit: The provider did not answer (Connection failed: error sending request). Reconnecting... waiting for network
  text: 'OK 1: hi'
  usage: (101, 7, 258400, 108) None
  finished
