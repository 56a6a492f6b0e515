ready: resumed=False version='' model='p/m' id=True
> STUB:status 429
  started: id=True model='p/m' version=''
  limit: The provider did not answer (429: stub says 429); try 1 of 3.
  limit: The provider did not answer (429: stub says 429); try 2 of 3.
  limit: The provider did not answer (429: stub says 429); try 3 of 3.
  failed: quota: The provider's usage limit is reached (429: stub says 429).
> after error
  started: id=True model='p/m' version=''
  text: 'OK 9: after error'
  usage: (109, 7, None, 116) 0.000113
  finished
