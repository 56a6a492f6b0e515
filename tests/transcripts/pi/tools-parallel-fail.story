ready: resumed=False version='' model='p/m' id=True
> STUB:tools echo one; sleep 0.3||echo two >&2; exit 3
  started: id=True model='p/m' version=''
  tool ll_3_0: bash 'echo one; sleep 0.3'
  tool ll_3_1: bash 'echo two >&2; exit 3'
  tool ll_3_1 failed: 'two\n\n\nCommand exited with code 3'
  tool ll_3_0 ok: 'one\n'
  text: 'TOOL-RESULT: two\n\n\nCommand exited with code 3'
  usage: (207, 14, None, 111) 0.000215
  finished
