ready: resumed=False version='' model='p/m' id=True
> STUB:status 400
  started: id=True model='p/m' version=''
  failed: protocol: The agent reported an error (400: stub says 400).
> after error
  started: id=True model='p/m' version=''
  text: 'OK 4: after error'
  usage: (104, 7, None, 111) 0.000108
  finished
