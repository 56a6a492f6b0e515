ready: resumed=False version='0.171.0' model='gpt-5.5' id=True
> STUB:empty
  started: id=True model='gpt-5.5' version='0.171.0'
  usage: (115, 7, 258400, 122) None
  failed: empty: The agent ended its turn without an answer.
