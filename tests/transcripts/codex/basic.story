ready: resumed=False version='0.171.0' model='stub-model' id=True
> hello there
  started: id=True model='stub-model' version='0.171.0'
  text: 'OK 1: hello there'
  usage: (101, 7, 258400, 108) None
  finished
