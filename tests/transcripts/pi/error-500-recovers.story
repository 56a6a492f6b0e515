ready: resumed=False version='' model='p/m' id=True
> STUB:status 500 1
  started: id=True model='p/m' version=''
  limit: The provider did not answer (500: stub says 500); try 1 of 3.
  text: 'recovered after 1 errors'
  usage: (120, 7, None, 127) 0.000124
  finished
> after error
  started: id=True model='p/m' version=''
  text: 'OK 21: after error'
  usage: (121, 7, None, 128) 0.000125
  finished
