ready: resumed=False version='' model='p/m' id=True
> hi
  started: id=True model='p/m' version=''
  limit: The provider did not answer (Connection error.: connect ECONNREFUSED 127.0.0.1:$PORT); try 1 of 3.
  limit: The provider did not answer (Connection error.: connect ECONNREFUSED 127.0.0.1:$PORT); try 2 of 3.
  limit: The provider did not answer (Connection error.: connect ECONNREFUSED 127.0.0.1:$PORT); try 3 of 3.
  failed: provider: The provider did not give an answer (Connection error.: connect ECONNREFUSED 127.0.0.1:$PORT).
