ready: resumed=False version='' model='' id=False
> STUB:limit=1796062098;;
  started: id=True model='claude-sonnet-5-5' version='2.1.332'
  limit: The provider's usage limit is reached. 2026-11-30 18:08:18+00:00
  failed: quota: The provider's usage limit is reached (You've hit your 5-hour limit · resets 6:08pm (UTC)).
> STUB:say=after;;
  started: id=True model='claude-sonnet-5-5' version='2.1.332'
  text: 'after'
  usage: (12679, 1, 1000000, 12679) 0.025368
  finished
