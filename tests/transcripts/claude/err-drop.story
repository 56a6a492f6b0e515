ready: resumed=False version='' model='' id=False
> STUB:drop
  started: id=True model='claude-sonnet-4-5' version='2.1.332'
  limit: The provider did not answer (unknown); try 1 of 2.
  limit: The provider did not answer (unknown); try 1 of 2.
  usage: (132819, 38, 200000, None) 0.399027
  failed: provider: The provider did not give an answer (its answer broke off).
> after
  started: id=True model='claude-sonnet-4-5' version=''
  limit: The provider did not answer (unknown); try 1 of 2.
  limit: The provider did not answer (unknown); try 1 of 2.
  usage: (133306, 38, 200000, None) 0.400488
  failed: provider: The provider did not give an answer (its answer broke off).
