ready: resumed=False version='' model='p/m' id=True
> STUB:patch sub/new.txt
  started: id=True model='p/m' version=''
  tool ll_5_0: write 'sub/new.txt'
  tool ll_5_0 ok: 'Successfully wrote to sub/new.txt'
  text: 'TOOL-RESULT: Successfully wrote to sub/new.txt'
  usage: (211, 14, None, 113) 0.000219
  finished
