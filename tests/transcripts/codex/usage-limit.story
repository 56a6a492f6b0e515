ready: resumed=False version='0.171.0' model='gpt-5.5' id=True
> STUB:limit=1796062103;;
  started: id=True model='gpt-5.5' version='0.171.0'
  failed: quota: The provider's usage limit is reached (You’ve hit your usage limit. Visit https://chatgpt.com/settings/usage to purchase more credits or try again at 6:08 PM).
> STUB:say=after;;
  started: id=True model='gpt-5.5' version='0.171.0'
  text: 'after'
  usage: (10580, 7, 258400, 10587) None
  finished
