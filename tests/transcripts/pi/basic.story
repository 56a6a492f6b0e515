ready: resumed=False version='' model='stub/stub-model' id=True
> hello pi
  started: id=True model='stub/stub-model' version=''
  text: 'OK 1: hello pi'
  usage: (101, 7, 128000, 108) 0.000105
  finished
