ready: resumed=False version='' model='p/m' id=True
> STUB:drop
  started: id=True model='p/m' version=''
  text: 'partial '
  failed: provider: The provider did not give an answer (Stream ended without finish_reason).
> after error
  started: id=True model='p/m' version=''
  text: 'OK 23: after error'
  usage: (123, 7, None, 130) 0.000127
  finished
