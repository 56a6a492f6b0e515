ready: resumed=False version='' model='p/m' id=True
> STUB:status 503
  started: id=True model='p/m' version=''
  limit: The provider did not answer (503: stub says 503); try 1 of 3.
skipped: an answer to nothing that was asked
  failed: provider: The provider did not give an answer (503: stub says 503).
