ready: resumed=False version='OpenCode 1.18.33' model='' id=True
> STUB:drop
  started: id=True model='' version='OpenCode 1.18.33'
