ready: resumed=False version='' model='p/m' id=True
> STUB:status 401
  started: id=True model='p/m' version=''
  failed: login: The agent is not logged in, or its login expired (401: stub says 401).
> after error
  started: id=True model='p/m' version=''
  text: 'OK 2: after error'
  usage: (102, 7, None, 109) 0.000106
  finished
